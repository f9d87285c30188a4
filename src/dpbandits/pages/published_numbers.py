"""Published numbers in a text: `{name}` is filled in from the csv files under `docs`.

A number is the estimate of a comparison of a claim or finding (in the paper's `evidence.csv`), or a
column of the one row of a csv where other columns have given values.
"""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.docket import NumberSource
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project

PUBLISHED = Path("docs/figures")


def evidence_path(project: Project, paper: str) -> Path:
    """Return the published file of all comparisons behind a paper's claims and findings."""
    return project.folder / PUBLISHED / paper / "evidence.csv"


def filled(
    project: Project, paper: str, text: str, numbers: Mapping[str, NumberSource], place: str
) -> str:
    """Return a text with the published numbers filled in, on one line.

    Args:
        project: the project.
        paper: short name of the paper that it is about.
        text: with ``{names}``.
        numbers: name -> where its number is published.
        place: what this is, for error messages: file and key.

    Raises:
        InputError: the text names a number that is not given, or the reverse, or a number is not
            published.
    """
    found = {
        key: _number(project, paper, source, f"{place}.numbers.{key}")
        for key, source in numbers.items()
    }
    idle = [key for key in found if f"{{{key}}}" not in text]
    try:
        answer = text.format(**found)
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{place}: the text asks for {error}; allowed: {', '.join(found) or 'no name'}"
        ) from None
    if idle:
        raise InputError(f"{place}: the text leaves out {', '.join(idle)}")
    return " ".join(answer.split())


def link(source: NumberSource) -> str:
    """Return a link from a page in ``docs/`` to where a number is published."""
    # Here: numbers are filled in without the library of pages, too.
    from dpbandits.pages.render import claim

    if source.claim:
        return claim(source.claim)
    return f"[{Path(source.file).stem}]({source.file})"


@cache
def _read(path: Path, changed: int) -> pd.DataFrame:
    """Return a csv as texts, read once for all numbers that it has; ``changed`` is its time."""
    return pd.read_csv(path, keep_default_na=False, dtype=str)


def _number(project: Project, paper: str, source: NumberSource, place: str) -> str:
    """Return a published number as text, with its interval where it has one."""
    path, where, column = _row(project, paper, source)
    try:
        frame = _read(path, path.stat().st_mtime_ns)
    except OSError:
        raise InputError(f"{place}: {path} is not there; allowed: a published csv") from None
    for key in (*where, column):
        if key not in frame:
            raise InputError(f"{place}: {path} has no {key}; allowed: {', '.join(frame.columns)}")
    for key, value in where.items():
        frame = frame.loc[[_equals(cell, value) for cell in frame[key]]]
    if len(frame) != 1:
        raise InputError(f"{place}: {len(frame)} rows of {path} are meant; allowed: one")
    row = frame.iloc[0].to_dict()
    return _formatted(row, column, source.format, with_interval=source.interval)


def _row(project: Project, paper: str, source: NumberSource) -> tuple[Path, dict[str, Any], str]:
    """Return the file, what its row is known by, and the column."""
    if source.file:
        return project.folder / "docs" / source.file, source.where, source.column
    keys = ("claim", "variant", "interpretation", "comparison")
    where = {key: getattr(source, key) for key in keys}
    return evidence_path(project, paper), where, "estimate"


def _equals(cell: str, value: object) -> bool:
    try:
        return float(cell) == float(str(value))
    except ValueError:
        return cell == str(value)


def _formatted(row: Mapping[Any, str], column: str, form: str, *, with_interval: bool) -> str:
    """Return the number of a column, and the ends of its interval where they differ."""
    prefix = "" if column in ("estimate", "y") else f"{column}_"
    ends = [row.get(f"{prefix}{end}", "") for end in ("lo", "hi")]
    text = format(float(row[column]), form)
    if not with_interval or "" in ends or not all(math.isfinite(float(end)) for end in ends):
        return text
    low, high = (format(float(end), form) for end in ends)
    return text if low == high else f"{text} [{low}, {high}]"
