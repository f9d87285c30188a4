"""Markdown from Jinja templates, filled with published numbers, tables and verdicts.

In a text `{name}` is filled in: the estimate of a comparison (in the paper's `evidence.csv` or
`findings-evidence.csv`), or a column of the one row of a csv where others have given values. The
`{ID}` of a claim is its verdict.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpbandits.claims.tables import JUDGED
from dpbandits.config.claims import SHOWN, Entry
from dpbandits.config.numbers import NAMED, NumberSource
from dpbandits.errors import InputError
from dpbandits.pages.verdicts import begun, number_text
from dpbandits.pipeline.project import FIGURES, Project, read_verdicts
from dpbandits.pipeline.targets import CLAIMS, DIGITISED, VERDICTS
from dpbandits.reporting.digitised import COMPARED
from dpbandits.reporting.text import plain_label as plain

if TYPE_CHECKING:
    from jinja2 import Environment


def one_line(text: object) -> str:
    """Return a text with every run of white space replaced by one space."""
    return " ".join(str(text).split())


def without_elements(text: str) -> str:
    """Return a text of Markdown in which nothing is an element of HTML."""
    return re.sub(r"<(?=[A-Za-z/])", "&lt;", text)


def prose(text: object) -> str:
    """Return a text of the config as Markdown, on one line and without elements of HTML."""
    return without_elements(one_line(plain(str(text))))


def cell(text: object) -> str:
    """Return a text as a cell of a Markdown table."""
    return prose(text).replace("|", "\\|")


def claim(identifier: str) -> str:
    """Return a link to a claim or finding from a page in ``docs/``."""
    return f"[{identifier}](claims.md#{identifier.lower()})"


MOST_WORDS = 6
"""So many words of a claim are in the table of all claims."""


def shortened(text: str) -> str:
    """Return the first words of a claim."""
    words = text.split()
    return " ".join(words[:MOST_WORDS]) + " ..." * (len(words) > MOST_WORDS)


@cache
def _documents() -> "Environment":
    # A wheel without extras explains published verdicts, and has no templates.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "begun": begun,
        "cell": cell,
        "claim": claim,
        "prose": prose,
        "shortened": shortened,
    }
    return templates


def render(template: str, /, **values: Any) -> str:
    """Return a document or a region of one: a template with a value for each of its names."""
    return _documents().get_template(template).render(values)


def with_region(text: str, name: str, content: str) -> str:
    """Return ``text`` with what is between the marks of the region ``name`` replaced."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        first = text.partition("\n")[0]
        raise InputError(f"document {first!r}: the marks {begin} and {end} are missing or double")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], texts: int) -> str:
    """Return a table in Markdown, of which so many columns have texts and those right numbers."""
    sides = ["---"] * texts + ["---:"] * (len(head) - texts)
    lines = [f"| {' | '.join(map(cell, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(sides)}|", *lines[1:]])


def evidence_paths(project: Project, paper: str) -> list[Path]:
    """Return the published files of the comparisons behind a paper's claims and findings."""
    paths = (project.folder / FIGURES / paper / f"{files[-1]}.csv" for files in VERDICTS.values())
    return [path for path in paths if path.is_file()]


def filled(
    project: Project,
    paper: str,
    place: str,
    numbers: Mapping[str, NumberSource],
    *texts: str,
    entry: Entry | None = None,
) -> list[str]:
    """Return texts about a paper with published numbers and verdicts in the place of ``{names}``.

    A number that names no claim is one of the ``entry`` that the texts belong to. InputError where
    a number is not given, not used or not published names the ``place``.
    """
    named = NAMED.findall(" ".join(texts))
    is_judged = any("-" in name for name in named)
    words = verdicts_in(project.folder / FIGURES / paper) if is_judged else {}
    found = words | {
        key: _number(project, paper, f"{place}.numbers.{key}", source, entry)
        for key, source in numbers.items()
    }
    try:
        answers = [one_line(text.format(**found)) for text in texts]
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{place}: the text asks for {error}; allowed: {', '.join(found) or 'no name'}"
        ) from None
    if idle := [key for key in numbers if key not in named]:
        raise InputError(f"{place}: the text leaves out {', '.join(idle)}")
    return answers


def verdicts_in(folder: Path) -> dict[str, str]:
    """Return the verdicts on the claims of a paper that are in a folder."""
    path = folder / f"{VERDICTS[CLAIMS][0]}.csv"
    if not path.is_file():
        return {}
    rows = read_verdicts(path)
    judged = rows[rows["role"] == JUDGED]
    return dict(zip(judged["claim"], judged["verdict"], strict=True))


@cache
def _read(paths: tuple[Path, ...], changed: tuple[int, ...]) -> pd.DataFrame:
    """Return csvs as texts, read once for all numbers of theirs; ``changed`` are their times."""
    return pd.concat([pd.read_csv(path, keep_default_na=False, dtype=str) for path in paths])


def _number(
    project: Project, paper: str, place: str, source: NumberSource, entry: Entry | None
) -> str:
    """Return a published number as text, with its interval where it has one."""
    if source.count:
        return _count(project, paper, place, source, entry)
    if source.file:
        paths, column = [project.folder / "docs" / source.file], source.column
        where: Mapping[str, object] = source.where
    else:
        paths, column = evidence_paths(project, paper), "estimate"
        where = _comparison(project, paper, place, source, entry)
    path = ", ".join(map(str, paths))
    try:
        frame = _read(tuple(paths), tuple(path.stat().st_mtime_ns for path in paths))
    except (OSError, ValueError):
        raise InputError(f"{place}: {path} is not there; allowed: a published csv") from None
    for key in (*where, column):
        if key not in frame:
            raise InputError(f"{place}: {path} has no {key}; allowed: {', '.join(frame.columns)}")
    for key, value in where.items():
        frame = frame.loc[[_equals(text, value) for text in frame[key]]]
    if len(frame) != 1:
        raise InputError(f"{place}: {len(frame)} rows of {path} are meant; allowed: one")
    row = frame.iloc[0].to_dict()
    prefix = "" if column in ("estimate", "y") else f"{column}_"
    ends = [row.get(f"{prefix}{end}", "") for end in ("lo", "hi")]
    text = number_text(float(row[column]), source.format)
    if not source.interval or "" in ends or not all(math.isfinite(float(end)) for end in ends):
        return text
    low, high = (number_text(float(end), source.format) for end in ends)
    return text if low == high else f"{text} [{low}, {high}]"


def _count(
    project: Project, paper: str, place: str, source: NumberSource, entry: Entry | None
) -> str:
    """Return how many points of a reading came out so, of those that decide."""
    where = _comparison(project, paper, place, source, entry)
    del where["comparison"]
    paths = evidence_paths(project, paper)
    frame = _read(tuple(paths), tuple(path.stat().st_mtime_ns for path in paths))
    deciding = frame[(frame["kind"] != SHOWN) & (frame["ours"] == "False")]
    for key, value in where.items():
        deciding = deciding[deciding[key] == value]
    is_meant = (source.count == "points") | (deciding["decided"] == source.count)
    return str(int(is_meant.sum()))


def _comparison(
    project: Project, paper: str, place: str, source: NumberSource, entry: Entry | None
) -> dict[str, str]:
    """Return what the row of a comparison has: by default of the first reading of its entry."""
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
    return {
        "claim": entry.id,
        "variant": readings[0].variant,
        "interpretation": readings[0].label,
        "comparison": source.comparison,
    }


def _equals(text: str, value: object) -> bool:
    try:
        return float(text) == float(str(value))
    except ValueError:
        return text == str(value)


def published_digitised(project: Project, paper: str) -> pd.DataFrame:
    """Return the published comparison with a paper's digitised values; no rows without any."""
    path = project.folder / FIGURES / paper / f"{DIGITISED}.csv"
    if not path.is_file():
        return pd.DataFrame({column: pd.Series(dtype=object) for column in COMPARED})
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


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


def published_papers(project: Project, papers: Iterable[str]) -> list[str]:
    """Return those papers whose verdicts are there."""
    folder = project.folder / FIGURES
    return [paper for paper in papers if (folder / paper / "claims.csv").exists()]
