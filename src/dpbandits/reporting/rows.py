"""Choosing rows of a table of results; an unknown column or value is said in one line."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpbandits.errors import InputError


def select(frame: pd.DataFrame, where: Mapping[str, Any], place: str) -> pd.DataFrame:
    """Return the rows whose columns have the given values.

    Args:
        frame: the results.
        where: column to value, or to a list of values of which one is enough.
        place: where this stands in the file, for error messages.

    Raises:
        InputError: a column is unknown, or no row is left.
    """
    for column, value in where.items():
        require_column(frame, column, place)
        kept = frame[frame[column].isin(value if isinstance(value, list) else [value])]
        if kept.empty:
            allowed = ", ".join(str(each) for each in frame[column].dropna().unique()[:20])
            raise InputError(f"{place}: no row has {column} {value!r}; allowed: {allowed}")
        frame = kept
    return frame


def require_column(frame: pd.DataFrame, column: str, place: str) -> None:
    """Raise InputError unless the column is there."""
    if column not in frame:
        raise InputError(f"{place}: no column {column!r}; allowed: {', '.join(frame.columns)}")
