"""Choosing rows of a table of results; an unknown column or value is said in one line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpbandits.errors import InputError

Where = Mapping[str, Any]
"""Rows that are chosen, column to value or list of values."""

LARGEST = "largest"
"""Stands for the largest value of a column of numbers."""


def read_rows(
    reads: Sequence[str], frames: Callable[[str], pd.DataFrame], place: str
) -> pd.DataFrame:
    """Return the rows of one or more results, one below the other.

    Columns that only some of them have are empty in the rows of the others.

    Args:
        reads: names of the results.
        frames: from a name to its table.
        place: where this stands in the file, for error messages.

    Raises:
        InputError: a column holds numbers in one and text in another, or a series stands in two.
    """
    found = [frames(name) for name in reads]
    if len(found) == 1:
        return found[0]
    for column in dict.fromkeys(column for frame in found for column in frame):
        types = {_is_number(frame[column]) for frame in found if column in frame and len(frame)}
        if len(types) > 1:
            raise InputError(
                f"{place}: column {column!r} holds numbers in one of {', '.join(reads)} and text "
                f"in another; allowed: one of them"
            )
    series = [name for frame in found for name in frame["series"].unique()]
    for name in series:
        if series.count(name) > 1:
            raise InputError(
                f"{place}: series {name!r} stands in two of {', '.join(reads)}; allowed: in one"
            )
    return pd.concat([frame for frame in found if len(frame)], ignore_index=True)


def select(frame: pd.DataFrame, where: Where, place: str) -> pd.DataFrame:
    """Return the rows whose columns have the given values.

    Args:
        frame: the results.
        where: column to value, or to a list of values of which one is enough; ``largest`` is the
            largest value of a column of numbers.
        place: where this stands in the file, for error messages.

    Raises:
        InputError: a column is unknown, or no row is left.
    """
    for column, value in where.items():
        require_column(frame, column, place)
        if value == LARGEST and _is_number(frame[column]):
            value = frame[column].max()
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


def _is_number(column: "pd.Series[Any]") -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))
