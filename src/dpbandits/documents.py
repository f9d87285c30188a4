"""Documents that show published tables, between marks in what was written by hand."""

import re
from pathlib import Path

import pandas as pd

from dpbandits.blocks import with_block
from dpbandits.project import Project
from dpbandits.reporting.markdown import markdown_table

PUBLISHED_TABLES = Path("docs/tables")

_TABLE = re.compile(r"<!-- begin (table ([a-z-]+)/([a-z0-9-]+)) -->")


def with_tables(project: Project, text: str) -> str:
    """Return a document with each block ``table PAPER/NAME`` filled with the published table."""
    for block, paper, name in _TABLE.findall(text):
        path = project.folder / PUBLISHED_TABLES / paper / f"{name}.csv"
        numbers = pd.read_csv(path, keep_default_na=False, na_values=[])
        table = markdown_table(project.table_spec(paper, name), name, numbers)
        text = with_block(text, block, f"\n{table}\n")
    return text
