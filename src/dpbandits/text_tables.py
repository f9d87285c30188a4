"""Tables as plain text: words to the left, numbers to the right, with up to six digits."""

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
