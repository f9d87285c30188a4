"""Made-up results of a paper: the series that its experiments plan, with values by a law.

Each paper has its law in `PAPER_results`; what is made up is what claims read. The columns and tags
are those of the engine, so that the claims' whole path is exercised without a simulation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.engine.cells import Series
from dpbandits.engine.results import results_frame
from synthetic_results import PAPERS

SEED = 20250505
"""Of made-up results."""

Values = NDArray[np.float64]


@cache
def planned(paper: str, name: str) -> tuple[Series, ...]:
    """Return the series of a simulation; what tunes it is made up."""
    plan = PAPERS[paper].plan(name)
    tuned = PAPERS[paper].frame(plan.tuned_by) if plan.tuned_by else None
    return tuple(plan.series(tuned))


def at_most(series: Series, runs: int, grid: Sequence[int] = ()) -> Series:
    """Return a series with at most so many runs, recorded at other times where some are given."""
    cell = replace(series.cell, grid=tuple(grid) or series.cell.grid)
    fewer = series.runs[:runs]
    runs_per_curve = min(series.runs_per_curve, len(fewer))
    return replace(series, cell=cell, runs=fewer, runs_per_curve=runs_per_curve)


def frame_of(
    name: str,
    series: Sequence[Series],
    law: Callable[[Series, np.random.Generator], Mapping[str, Values]],
) -> pd.DataFrame:
    """Return results whose values come from a law, each series with a stream of its own.

    Args:
        name: of the results.
        series: what is planned.
        law: returns the values of each metric, shape (runs, times or arms).
    """
    blocks: Any = [
        law(each, np.random.default_rng([SEED, *f"{name} {each.label}".encode()]))
        for each in series
    ]
    return results_frame(list(series), blocks)


@dataclass(frozen=True)
class Where:
    """What a made-up number belongs to.

    Attributes:
        simulation: name of the results.
        algorithm: id.
        tags: of the series.
        horizon: of the series.
        share: time over the horizon.
        nominal: whether it is scored by nominal means.
        start: number of the trials before it.
    """

    simulation: str
    algorithm: str
    tags: Mapping[str, Any]
    horizon: int
    share: float = 1.0
    nominal: bool = False
    start: int = 0

    @property
    def epsilon(self) -> float:
        """Epsilon of the series, infinite without one."""
        return float(self.tags.get("epsilon", np.inf))

    def matches(self, **tags: Any) -> bool:
        """Whether it has these tags, or these attributes."""
        known = {**self.tags, **{key: getattr(self, key) for key in self.__dataclass_fields__}}
        return all(known.get(key) == value for key, value in tags.items())


def where(simulation: str, series: Series, **attributes: Any) -> Where:
    """Return what the numbers of a series belong to."""
    cell = series.cell
    tags = {"variant": cell.variant, **series.tags}
    return Where(simulation, cell.definition.id, tags, cell.horizon, **attributes)


Change = Callable[[Where, float], float]
"""A number in place of the one that was made up."""


def unchanged(where: Where, value: float) -> float:
    """Return the number that was made up."""
    return value


def at(value: float | Callable[[Where], float], **tags: object) -> Change:
    """Return the change that gives what has these tags another number."""

    def change(where: Where, old: float) -> float:
        if not where.matches(**tags):
            return old
        return value(where) if callable(value) else value

    return change


def times(factor: float, **tags: object) -> Change:
    """Return the change that multiplies what has these tags."""
    return lambda where, old: factor * old if where.matches(**tags) else old


def in_turn(*changes: Change) -> Change:
    """Return one change after the other."""

    def change(where: Where, value: float) -> float:
        for each in changes:
            value = each(where, value)
        return value

    return change
