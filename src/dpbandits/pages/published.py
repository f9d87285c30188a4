"""Published numbers, tables and verdicts, read from the csv files under `docs`.

In a text `{name}` is filled in: a number is the estimate of a comparison of a claim or finding (in
the paper's `evidence.csv` or `findings-evidence.csv`), or a column of the one row of a csv where
other columns have given values.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.docket import Claim, NumberSource
from dpbandits.claims.ledger import join
from dpbandits.errors import InputError
from dpbandits.pages.render import with_region
from dpbandits.pipeline.project import TABLES, Project, read_verdicts
from dpbandits.pipeline.publish import claim_figures
from dpbandits.pipeline.targets import VERDICTS
from dpbandits.reporting.tables import markdown_table

PUBLISHED = Path("docs/figures")


def evidence_paths(project: Project, paper: str) -> list[Path]:
    """Return the published files of the comparisons behind a paper's claims and findings."""
    paths = (project.folder / PUBLISHED / paper / f"{files[-1]}.csv" for files in VERDICTS.values())
    return [path for path in paths if path.is_file()]


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


@cache
def _read(path: Path, changed: int) -> pd.DataFrame:
    """Return a csv as texts, read once for all numbers that it has; ``changed`` is its time."""
    return pd.read_csv(path, keep_default_na=False, dtype=str)


def _number(project: Project, paper: str, source: NumberSource, place: str) -> str:
    """Return a published number as text, with its interval where it has one."""
    paths, where, column = _row(project, paper, source)
    path = ", ".join(map(str, paths))
    try:
        frame = pd.concat([_read(path, path.stat().st_mtime_ns) for path in paths])
    except (OSError, ValueError):
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


def _row(
    project: Project, paper: str, source: NumberSource
) -> tuple[list[Path], dict[str, Any], str]:
    """Return the files, what its row is known by, and the column."""
    if source.file:
        return [project.folder / "docs" / source.file], source.where, source.column
    keys = ("claim", "variant", "interpretation", "comparison")
    where = {key: getattr(source, key) for key in keys}
    return evidence_paths(project, paper), where, "estimate"


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


_TABLE = re.compile(r"<!-- begin (table ([a-z-]+)/([a-z0-9-]+)) -->")


def published_digitised(project: Project, paper: str) -> pd.DataFrame | None:
    """Return the published comparison with a paper's digitised values; None where it has none."""
    path = project.folder / TABLES / paper / "digitised.csv"
    return pd.read_csv(path) if path.exists() else None


def read_table(path: Path) -> pd.DataFrame:
    """Return the csv of a table, a column of numbers as numbers.

    A column has texts where one of them is no number, or a chance below all floats: 1e-620236; or
    where all are empty.
    """
    return pd.read_csv(path, keep_default_na=False, dtype=str).apply(_column)


def _column(texts: "pd.Series[str]") -> "pd.Series[Any]":
    numbers = pd.to_numeric(texts.replace("", None), errors="coerce")
    is_text = numbers.isna() & (texts != "")
    is_rounded = (numbers == 0) & texts.str.contains("[1-9].*e", regex=True)
    return texts if (is_text | is_rounded).any() or numbers.isna().all() else numbers


def with_tables(project: Project, text: str) -> str:
    """Return a document with each region ``table PAPER/NAME`` filled with the published table."""
    for region, paper, name in _TABLE.findall(text):
        path = project.folder / TABLES / paper / f"{name}.csv"
        numbers = read_table(path)
        table = markdown_table(project.study(paper).table_entries[name], name, numbers)
        text = with_region(text, region, f"\n{table}\n")
    return text


REPAIRED = "repaired"
"""The variant that is no statement on a paper, and so counted and shown apart."""


def published_papers(project: Project, papers: Iterable[str]) -> list[str]:
    """Return those papers whose verdicts are there."""
    folder = project.folder / PUBLISHED
    return [paper for paper in papers if (folder / paper / "simultaneous.csv").exists()]


def published_ledger(project: Project, paper: str) -> pd.DataFrame:
    """Return the published verdicts on a paper's claims, as rows of the ledger of all papers."""
    claims = project.study(paper).claims
    figures = {claim.id: published_figures(project, paper, claim) for claim in claims}
    folder = project.folder / PUBLISHED / paper
    verdicts, both = (read_verdicts(folder / f"{name}.csv") for name in ("claims", "simultaneous"))
    return join(paper, claims, verdicts, both, figures)


def published_figures(project: Project, paper: str, claim: Claim) -> list[str]:
    """Return the published copy of each figure, panel and table that a claim is about."""
    built = (Path(path) for path in claim_figures(project, paper, claim))
    return [
        ((PUBLISHED if path.suffix == ".png" else TABLES) / paper / path.name).as_posix()
        for path in built
    ]
