"""`docs/errata.md`: what is printed wrong or left open, with the published numbers that show it."""

import math
from collections.abc import Mapping
from os.path import relpath
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.blocks import table_row, with_block
from dpbandits.engine.documents import load_document
from dpbandits.errors import InputError
from dpbandits.papers import PAPERS
from dpbandits.project import Project

PAGE = Path("docs/errata.md")
ERRATA = Path("config/errata.yaml")
SCHEMA = Path("workflow/schemas/errata.schema.yaml")

_KINDS = {"error": "printed error", "open": "left open", "code": "text and code differ"}
_FORMAT = ".4g"


def load_errata(project: Project) -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of `config/errata.yaml` by id, checked.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    path = project.folder / ERRATA
    entries: Mapping[str, Mapping[str, Any]] = load_document(path, project.folder / SCHEMA)[
        "errata"
    ]
    for name, entry in entries.items():
        if entry["paper"] not in PAPERS:
            allowed = ", ".join(PAPERS)
            raise InputError(f"{path}: {name}.paper is {entry['paper']!r}; allowed: {allowed}")
    return entries


def errata_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published numbers have them.

    Args:
        project: the project.
        text: the page as it is.

    Raises:
        InputError: the marks of a block are missing, or a number is not published.
    """
    entries = load_errata(project)
    published = [paper for paper in PAPERS if _evidence(paper, project).exists()]
    for paper in published:
        own = {name: entry for name, entry in entries.items() if entry["paper"] == paper}
        text = with_block(text, f"errata {paper}", _table(project, own))
    return text


def _table(project: Project, entries: Mapping[str, Mapping[str, Any]]) -> str:
    head = ["id", "where", "kind", "what is printed", "what is computed", "taken here", "evidence"]
    lines = [table_row(head), "|---" * len(head) + "|"]
    for name, entry in entries.items():
        cells = [
            f'<a id="{name.lower()}"></a>{name}',
            entry["place"],
            _KINDS[entry["kind"]],
            _plain(entry["printed"]),
            found_text(project, name, entry),
            _plain(entry["taken"]),
            " ".join(dict.fromkeys(_link(entry, each) for each in entry["numbers"].values())),
        ]
        lines.append(table_row(cells))
    return "\n".join(lines)


def found_text(project: Project, name: str, entry: Mapping[str, Any]) -> str:
    """Return what is computed, in words, with the published numbers filled in.

    Raises:
        InputError: the text names a number that is not given, or the reverse, or a number is not
            published.
    """
    numbers = {
        key: _number(project, f"{project.folder / ERRATA}: {name}.numbers.{key}", entry, given)
        for key, given in entry["numbers"].items()
    }
    idle = [key for key in numbers if f"{{{key}}}" not in entry["found"]]
    try:
        text = entry["found"].format(**numbers)
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{project.folder / ERRATA}: {name}.found asks for {error}; "
            f"allowed: {', '.join(numbers)}"
        ) from None
    if idle:
        raise InputError(f"{project.folder / ERRATA}: {name}.found leaves out {', '.join(idle)}")
    return _plain(text)


def _number(
    project: Project, place: str, entry: Mapping[str, Any], given: Mapping[str, Any]
) -> str:
    """Return a published number as text, with its interval where it has one."""
    path, where, column = _source(project, entry, given)
    try:
        frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    except OSError:
        raise InputError(f"{place}: {path} is not there; allowed: a published csv") from None
    for key in (*where, column):
        if key not in frame:
            raise InputError(f"{place}: {path} has no {key}; allowed: {', '.join(frame.columns)}")
    for key, value in where.items():
        frame = frame[[_equals(cell, value) for cell in frame[key]]]
    if len(frame) != 1:
        raise InputError(f"{place}: {len(frame)} rows of {path} are meant; allowed: one")
    return _formatted(frame.iloc[0].to_dict(), column, given.get("format", _FORMAT))


def _source(
    project: Project, entry: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Path, dict[str, Any], str]:
    """Return the file, what its row is known by, and the column."""
    if "file" in given:
        return project.folder / "docs" / given["file"], dict(given["where"]), given["column"]
    where = {
        "claim": given["claim"],
        "variant": given.get("variant", "as-written"),
        "reading": given.get("reading", ""),
        "comparison": given["comparison"],
    }
    return _evidence(entry["paper"], project), where, "estimate"


def _evidence(paper: str, project: Project) -> Path:
    return project.folder / "docs/figures" / paper / "evidence.csv"


def _equals(cell: str, value: object) -> bool:
    try:
        return float(cell) == float(str(value))
    except ValueError:
        return cell == str(value)


def _formatted(row: Mapping[Any, str], column: str, form: str) -> str:
    """Return the number of a column, and the ends of its interval where they differ."""
    prefix = "" if column in ("estimate", "y") else f"{column}_"
    ends = [row.get(f"{prefix}{end}", "") for end in ("lo", "hi")]
    text = format(float(row[column]), form)
    if "" in ends or not all(math.isfinite(float(end)) for end in ends):
        return text
    low, high = (format(float(end), form) for end in ends)
    return text if low == high else f"{text} [{low}, {high}]"


def _link(entry: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    if "claim" in given:
        return f"[{given['claim']}](claims.md#{given['claim'].lower()})"
    return f"[{Path(given['file']).stem}]({relpath('docs/' + given['file'], PAGE.parent)})"


def _plain(text: str) -> str:
    return " ".join(text.split())
