"""What is published in `docs/`: verdicts and digitised values, and the numbers that texts name.

In a text `{name}` is filled in: the estimate of a comparison (in the paper's `evidence.csv` or
`findings-evidence.csv`), or a column of the one row of a csv where others have given values. The
`{ID}` of a claim is its verdict.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.tables import JUDGED
from dpbandits.config.claims import SHOWN, StatedEntry
from dpbandits.config.numbers import NAMED, NumberSource
from dpbandits.errors import InputError
from dpbandits.pipeline.project import PUBLISHED_FIGURES, Project, read_verdicts
from dpbandits.pipeline.targets import CLAIMS, DIGITISED, VERDICT_FILES
from dpbandits.reporting.digitised import COMPARED


def published_papers(project: Project, papers: Iterable[str]) -> list[str]:
    """Return the papers whose verdicts are published."""
    folder = project.folder / PUBLISHED_FIGURES
    return [paper for paper in papers if (folder / paper / f"{CLAIMS}.csv").exists()]


def published_digitised(project: Project, paper: str) -> pd.DataFrame:
    """Return the published comparison with a paper's digitised values; no rows without any."""
    path = project.folder / PUBLISHED_FIGURES / paper / f"{DIGITISED}.csv"
    if not path.is_file():
        return pd.DataFrame({column: pd.Series(dtype=object) for column in COMPARED})
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def read_table(path: Path) -> pd.DataFrame:
    """Return the csv of a table, a column of numbers as numbers.

    A column has texts where one of them is no number, or a probability below all floats, such as
    1e-620236; or where all are empty.
    """
    return pd.read_csv(path, keep_default_na=False, dtype=str).apply(_column)


def _column(texts: "pd.Series[str]") -> "pd.Series[Any]":
    numbers = pd.to_numeric(texts.replace("", None), errors="coerce")
    is_text = numbers.isna() & (texts != "")
    is_rounded = (numbers == 0) & texts.str.contains("[1-9].*e", regex=True)
    return texts if (is_text | is_rounded).any() or numbers.isna().all() else numbers


def evidence_paths(project: Project, paper: str) -> list[Path]:
    """Return the published files of the comparisons behind a paper's claims and findings."""
    paths = (
        project.folder / PUBLISHED_FIGURES / paper / f"{files[-1]}.csv"
        for files in VERDICT_FILES.values()
    )
    return [path for path in paths if path.is_file()]


def number_text(value: float, form: str = ".3g") -> str:
    """Return a number in a format, below a million without an exponent, else as ``1.2e8``.

    A number that is 0 but for rounding is written as 0, without a sign.
    """
    text = re.sub(r"^-(?=[0.]+%?$)", "", format(value if abs(value) > 1e-15 else 0.0, form))
    if "e+" in text and abs(value) < 1e6:
        return f"{float(text):,.0f}"
    return re.sub(r"e\+?(-?)0*(\d)", r"e\1\2", text)


def fill_numbers(
    project: Project,
    paper: str,
    place: str,
    numbers: Mapping[str, NumberSource],
    *texts: str,
    entry: StatedEntry | None = None,
) -> list[str]:
    """Return texts about a paper with published numbers and verdicts in the place of ``{names}``.

    A number that names no claim is one of the ``entry`` that the texts belong to. InputError, which
    names the ``place``, where a number is not defined, not used or not published.
    """
    named = NAMED.findall(" ".join(texts))
    is_judged = any("-" in name for name in named)
    words = verdicts_in(project.folder / PUBLISHED_FIGURES / paper) if is_judged else {}
    found = words | {
        key: _number(project, paper, f"{place}.numbers.{key}", source, entry)
        for key, source in numbers.items()
    }
    try:
        answers = [" ".join(text.format(**found).split()) for text in texts]
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{place}: the text asks for {error}; allowed: {', '.join(found) or 'no name'}"
        ) from None
    if idle := [key for key in numbers if key not in named]:
        raise InputError(f"{place}: the text leaves out {', '.join(idle)}")
    return answers


def verdicts_in(folder: Path) -> dict[str, str]:
    """Return the verdicts on the claims of a paper that are in a folder."""
    path = folder / f"{VERDICT_FILES[CLAIMS][0]}.csv"
    if not path.is_file():
        return {}
    rows = read_verdicts(path)
    judged = rows[rows["role"] == JUDGED]
    return dict(zip(judged["claim"], judged["verdict"], strict=True))


def _number(
    project: Project, paper: str, place: str, source: NumberSource, entry: StatedEntry | None
) -> str:
    """Return a published number as text with its interval, or how many points came out so."""
    paths, column = [project.folder / "docs" / source.file], source.column
    where: Mapping[str, object] = source.where
    if not source.file:
        paths, column = evidence_paths(project, paper), "estimate"
        where = _comparison(project, paper, place, source, entry)
    rows = _rows(place, paths, where, column)
    if source.count:
        begun = [row for row in rows if row["comparison"].startswith(source.comparison)]
        deciding = [row for row in begun if row["kind"] != SHOWN and row["ours"] == "False"]
        if not deciding:
            raise InputError(
                f"{place}: no point of {where['claim']} that begins with {source.comparison!r} "
                f"decides; allowed: one or more"
            )
        is_meant = [source.count in ("points", row["decided"]) for row in deciding]
        return str(sum(is_meant))
    if len(rows) != 1:
        named = ", ".join(map(str, paths))
        raise InputError(f"{place}: {len(rows)} rows of {named} are meant; allowed: one")
    [row] = rows
    prefix = "" if column in ("estimate", "y") else f"{column}_"
    ends = [row.get(f"{prefix}{end}", "") for end in ("lo", "hi")]
    text = number_text(float(row[column]), source.format)
    if not source.interval or "" in ends or not all(math.isfinite(float(end)) for end in ends):
        return text
    low, high = (number_text(float(end), source.format) for end in ends)
    return text if low == high else f"{text} [{low}, {high}]"


def _comparison(
    project: Project, paper: str, place: str, source: NumberSource, entry: StatedEntry | None
) -> Mapping[str, str]:
    """Return the row of its comparison, by default that of the entry's first reading."""
    if source.claim:
        stated = {each.id: each for each in project.study(paper).stated}
        if source.claim not in stated:
            raise InputError.unknown(f"{place}: claim", source.claim, stated)
        entry = stated[source.claim]
    if entry is None:
        raise InputError(f"{place}: key claim is missing; allowed: the claim of the comparison")
    readings = [
        each
        for each in (*entry.readings, *entry.beside)
        if source.variant in (None, each.variant) and source.interpretation in ("", each.label)
    ]
    if not readings:
        raise InputError(f"{place}: 0 readings of {entry.id} are meant; allowed: one of them")
    reading = readings[0]
    where = {"claim": entry.id, "variant": reading.variant, "interpretation": reading.label}
    return where if source.count else {**where, "comparison": source.comparison}


def _rows(
    place: str, paths: list[Path], where: Mapping[str, object], column: str
) -> Sequence[Mapping[Any, str]]:
    """Return the rows of some csvs, as texts, that have given values."""
    path = ", ".join(map(str, paths))
    try:
        columns, rows = _read(tuple(paths), tuple(path.stat().st_mtime_ns for path in paths))
    except (OSError, ValueError):
        raise InputError(f"{place}: {path} is not there; allowed: a published csv") from None
    for key in (*where, column):
        if key not in columns:
            raise InputError(f"{place}: {path} has no {key}; allowed: {', '.join(columns)}")
    for key, value in where.items():
        text, number = str(value), _number_of(str(value))
        rows = [
            row
            for row in rows
            if row[key] == text or (number is not None and _number_of(row[key]) == number)
        ]
    return rows


def _number_of(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@cache
def _read(
    paths: tuple[Path, ...], changed: tuple[int, ...]
) -> tuple[list[str], Sequence[Mapping[Any, str]]]:
    """Return columns and rows of csvs, read once for all their numbers; ``changed``: file times."""
    table = pd.concat([pd.read_csv(path, keep_default_na=False, dtype=str) for path in paths])
    return [*table.columns], table.to_dict("records")
