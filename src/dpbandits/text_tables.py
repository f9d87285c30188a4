"""Results as text: tables with words to the left and numbers to the right, and as HTML."""

import math
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def short(value: object) -> str:
    """Return a cell as text: a number with up to six digits, and nothing where it has none."""
    import pandas as pd

    if value is None or value is pd.NA:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def aligned(table: "pd.DataFrame") -> str:
    """Return a table in aligned lines, its header first, without an index."""
    columns = [_column(name, table[name]) for name in table]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _column(name: Hashable, values: "pd.Series") -> list[str]:
    import pandas as pd

    cells = [str(name), *map(short, values.tolist())]
    width = max(map(len, cells))
    is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    return [cell.rjust(width) if is_number else cell.ljust(width) for cell in cells]


def interval_text(
    value: float, low: float, high: float, number: Callable[[float], str] = "{:.4g}".format
) -> str:
    """Return a value with its interval, as ``12.3 [11.8, 12.9]``, or ``12.3 (no interval)``.

    An exact value stands alone; without a value the text is empty.
    """
    if math.isnan(value):
        return ""
    if low == high or math.isnan(low) or math.isnan(high):
        return number(value)
    if math.isinf(low) and math.isinf(high):
        return f"{number(value)} (no interval)"
    return f"{number(value)} [{number(low)}, {number(high)}]"


def html_table(frame: "pd.DataFrame") -> str:
    """Return a table as HTML, numbers with up to six digits."""
    return str(frame.to_html(index=False, float_format=short, border=0))
