"""Results as text: tables with words to the left and numbers to the right, and as HTML."""

import math
from collections.abc import Hashable

import pandas as pd


def short(value: object) -> str:
    """Return a cell as text: a number with up to six digits, and nothing where it has none."""
    if value is None or value is pd.NA:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def aligned(table: pd.DataFrame) -> str:
    """Return a table in aligned lines, its header first, without an index."""
    columns = [_column(name, table[name]) for name in table]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _column(name: Hashable, values: pd.Series) -> list[str]:
    cells = [str(name), *map(short, values.tolist())]
    width = max(map(len, cells))
    is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    return [cell.rjust(width) if is_number else cell.ljust(width) for cell in cells]


def interval_text(mean: float, low: float, high: float) -> str:
    """Return a mean with its interval, as ``12.3 [11.8, 12.9]``; without one where it has none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{mean:.4g}"
    return f"{mean:.4g} [{low:.4g}, {high:.4g}]"


def html_table(frame: pd.DataFrame) -> str:
    """Return a table as HTML, numbers with up to six digits."""
    return str(frame.to_html(index=False, float_format=short, border=0))
