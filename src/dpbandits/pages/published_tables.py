"""Published tables in documents, between marks in what was written by hand."""

import re
from pathlib import Path

import pandas as pd

from dpbandits.pages.regions import with_region
from dpbandits.project.config import Project
from dpbandits.reporting.agreement import count_agreement
from dpbandits.reporting.markdown import markdown_table

PUBLISHED_TABLES = Path("docs/tables")

_TABLE = re.compile(r"<!-- begin (table ([a-z-]+)/([a-z0-9-]+)) -->")


def digitised_counts(project: Project, paper: str) -> tuple[int, int]:
    """Return how many digitised values of a paper agree with ours, and how many there are.

    They agree within the digitisation error and chance; both are counted in the published table
    ``digitised`` of the paper.
    """
    path = project.folder / PUBLISHED_TABLES / paper / "digitised.csv"
    total = count_agreement(pd.read_csv(path)).iloc[-1]
    return int(total["agrees"]), int(total["values"])


def with_tables(project: Project, text: str) -> str:
    """Return a document with each region ``table PAPER/NAME`` filled with the published table."""
    for region, paper, name in _TABLE.findall(text):
        path = project.folder / PUBLISHED_TABLES / paper / f"{name}.csv"
        numbers = pd.read_csv(path, keep_default_na=False, na_values=[])
        table = markdown_table(project.table_spec(paper, name), name, numbers)
        text = with_region(text, region, f"\n{table}\n")
    return text
