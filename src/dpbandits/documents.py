"""Documents with computed parts, which stand between marks and are written by `make publish`."""

import re
from pathlib import Path

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.project import Project
from dpbandits.reporting.markdown import markdown_table

PUBLISHED_TABLES = Path("docs/tables")

_TABLE = re.compile(r"<!-- begin (table ([a-z-]+)/([a-z0-9-]+)) -->")


def with_block(text: str, name: str, content: str) -> str:
    """Return ``text`` with what stands between the marks of the block ``name`` replaced.

    Raises:
        InputError: the marks are missing.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise InputError(f"a document: the marks {begin} and {end} are missing or double")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def with_tables(text: str, project: Project) -> str:
    """Return ``text`` with each block ``table PAPER/NAME`` filled with the published table."""
    for block, paper, name in _TABLE.findall(text):
        path = project.folder / PUBLISHED_TABLES / paper / f"{name}.csv"
        numbers = pd.read_csv(path, keep_default_na=False, na_values=[])
        table = markdown_table(project.table_spec(paper, name), name, numbers)
        text = with_block(text, block, f"\n{table}\n")
    return text


def documents_with_tables(project: Project) -> list[Path]:
    """Return the documents that have such a block."""
    found = sorted((project.folder / "docs").glob("*.md"))
    return [path for path in found if _TABLE.search(path.read_text(encoding="utf-8"))]
