"""What a paper's config says, and what its formulas are given.

This module imports nothing, so that formulas depend on nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Context:
    """What a formula of a paper may use.

    Attributes:
        tags: tags of the series, such as eta and b.
        horizon: number of rounds T of the series.
        arms: number of arms K.
        tuned: results of the simulation that its own names as ``tuned_by``.
    """

    tags: Mapping[str, Any]
    horizon: int
    arms: int
    tuned: "pd.DataFrame | None" = None


Formula = Callable[[Context], Any]
"""Computes one parameter of one series."""
