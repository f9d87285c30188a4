"""Published tables in documents, between marks in what was written by hand."""

import re

import pandas as pd

from dpbandits.pages.regions import with_region
from dpbandits.pipeline.project import TABLES, Project
from dpbandits.reporting.tables import markdown_table

_TABLE = re.compile(r"<!-- begin (table ([a-z-]+)/([a-z0-9-]+)) -->")


def published_digitised(project: Project, paper: str) -> pd.DataFrame | None:
    """Return the published comparison with a paper's digitised values; None where it has none."""
    path = project.folder / TABLES / paper / "digitised.csv"
    return pd.read_csv(path) if path.exists() else None


def with_tables(project: Project, text: str) -> str:
    """Return a document with each region ``table PAPER/NAME`` filled with the published table."""
    for region, paper, name in _TABLE.findall(text):
        path = project.folder / TABLES / paper / f"{name}.csv"
        numbers = pd.read_csv(path, keep_default_na=False, na_values=[])
        table = markdown_table(project.study(paper).table_entries[name], name, numbers)
        text = with_region(text, region, f"\n{table}\n")
    return text
