"""Tables as Markdown, for the documents that show what is published."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.reporting.table_specs import parse_table
from dpbandits.reporting.tables import cells_of


def markdown_table(spec: Mapping[str, Any], name: str, numbers: pd.DataFrame) -> str:
    """Return a table whose rows are those of its csv, with the texts that its LaTeX has.

    Args:
        spec: its entry in the ``tables:`` section of an experiments file, without ``rows``.
        name: its key there.
        numbers: the csv that was written for it.

    Raises:
        InputError: the entry spreads its rows out.
    """
    table = parse_table(name, spec)
    if table.rows:
        raise InputError(f"tables.{name}: has rows; allowed: in a document, tables without")
    texts = cells_of(table, numbers, f"tables.{name}")
    sides = ["---:" if column.align == "right" else "---" for column in table.columns]
    rows = [list(texts.columns), sides, *texts.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(_escaped(each) for each in row) + " |" for row in rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
