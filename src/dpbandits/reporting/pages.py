"""A table as a page of HTML that stands alone: its rows can be searched and chosen from."""

from typing import Any

import pandas as pd

from dpbandits.reporting.templates import render

MOST_CHOICES = 12
"""A column with more values than that is searched, not chosen from."""

ROWS_A_CHOICE = 3
"""Rows that a value has on average, at least, where there is something to choose from."""


def page(cells: pd.DataFrame, title: str, caption: str) -> str:
    """Return a complete page with one table and its filters; it loads nothing from elsewhere.

    Args:
        cells: plain text; the column names are the head of the table.
        title: plain text, the head of the page.
        caption: plain text.
    """
    return render(
        "table.html",
        title=title,
        caption=caption,
        choices=_choices(cells),
        columns=list(cells.columns),
        rows=cells.to_numpy().tolist(),
    )


def _choices(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the columns of few values: name, place among the columns, the values sorted."""
    found = [sorted(set(cells.iloc[:, index]) - {""}) for index in range(cells.shape[1])]
    return [
        {"name": name, "index": index, "found": values}
        for index, (name, values) in enumerate(zip(cells.columns, found, strict=True))
        if 2 <= len(values) <= min(MOST_CHOICES, len(cells) / ROWS_A_CHOICE)
    ]
