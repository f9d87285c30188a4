"""The frames that exactly computed results are made of: series, tags, x, y, lo, hi, lo = hi = y."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

MEASURED = ["x", "y", "lo", "hi"]


def curve(series: str, tags: Mapping[str, Any], x: ArrayLike, y: ArrayLike) -> pd.DataFrame:
    """Return one series.

    Args:
        series: its label.
        tags: further columns, a value for all rows or one for each.
        x: where, shape (n,).
        y: what, shape (n,).
    """
    return pd.DataFrame({"series": series, **tags, "x": x, "y": y, "lo": y, "hi": y})


def number(series: str, tags: Mapping[str, Any], y: float, x: float = 0) -> pd.DataFrame:
    """Return a series of one number."""
    return curve(series, tags, [x], [y])


def joined(curves: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return series one below the other; tags that a series does not have are empty there."""
    frame = pd.concat(list(curves), ignore_index=True)
    return frame[[column for column in frame if column not in MEASURED] + MEASURED]
