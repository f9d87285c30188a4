"""What simulations and identifications share: computing, naming and showing their runs."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.bandits import read_only
from dpbandits.engine.cache import Block, Cache
from dpbandits.engine.cells import Cell, parameter_values
from dpbandits.engine.compiling import compilation_shown
from dpbandits.engine.estimates import Limits, require_space, require_time
from dpbandits.engine.fan_out import compute
from dpbandits.engine.guaranteed import guarantee_of
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.text_tables import aligned, html_table, interval_text, short


class Runs:
    """Runs of one algorithm on one bandit; computed at first access, from the cache where it can.

    Attributes:
        cell: the algorithm, its parameters, the bandit, the horizon or budget, and the runs.
        root_seed: root of all random streams.
        workers: processes to compute with.
        cache: where results are kept.
        limits: memory and time that may be taken.
    """

    horizon_name = "T"

    def __init__(
        self,
        cell: Cell,
        root_seed: int,
        workers: int,
        cache: Cache | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Keep what is to be simulated, where results are kept, and what may be taken."""
        self.cell = cell
        self.root_seed = root_seed
        self.workers = workers
        self.cache = cache or Cache()
        self.limits = limits or Limits()

    @property
    def guarantee(self) -> Guarantee:
        """What the algorithm guarantees as it is played here, and what is known of that."""
        return guarantee_of(self.cell)

    @property
    def parameters(self) -> str:
        """Parameters, variant and interpretations, as ``epsilon=1, log=natural``; or ``""``."""
        cell = self.cell
        preset = cell.definition.interpretations_from({}, cell.variant)
        values = parameter_values(cell.parameters)
        words = [f"{key}={short(value)}" for key, value in values.items()]
        words += [cell.variant] if cell.variant != "as-written" else []
        words += [f"{key}={value}" for key, value in cell.interpretations if value != preset[key]]
        return ", ".join(words)

    def summary(self) -> pd.DataFrame:
        """Return the results in a few rows: metric, mean, low and high (95 % interval)."""
        raise NotImplementedError

    def _computed(self, metrics: tuple[str, ...], grid: tuple[int, ...]) -> Block:
        """Return some metrics of all runs at the times of a grid."""
        cell = replace(self.cell, metrics=metrics, grid=grid)
        name = cell.definition.id
        with compilation_shown(name):
            require_space(cell, self.limits)
            [block] = compute(
                [cell],
                root_seed=self.root_seed,
                workers=self.workers,
                cache=self.cache,
                title=f"simulating {name}",
                before=lambda _: require_time(cell, self.workers, self.limits),
            )
        return {metric: read_only(values) for metric, values in block.items()}

    def _tidy(self, times: NDArray[np.int64], values: Mapping[str, NDArray[Any]]) -> pd.DataFrame:
        """Return a row for each metric, run and time.

        Args:
            times: of the values, shape (G,).
            values: metric -> values, shape (runs, G).
        """
        runs = self.cell.runs
        frames = [
            pd.DataFrame(
                {
                    "algorithm": self.cell.definition.id,
                    "parameters": self.parameters,
                    "run": np.repeat(np.arange(runs), times.size),
                    "t": np.tile(times, runs),
                    "metric": metric,
                    "value": recorded.ravel(),
                }
            )
            for metric, recorded in values.items()
        ]
        return pd.concat(frames, ignore_index=True)

    @property
    def setting(self) -> str:
        """Arms, horizon or budget, and runs, in words."""
        cell = self.cell
        runs = f"{cell.runs:,} run{'s' if cell.runs > 1 else ''}"
        return f"{len(cell.bandit.arms)} arms, {self.horizon_name} = {cell.horizon:,}, {runs}"

    @property
    def guarantee_in_brief(self) -> str:
        """Kind and parameter of the guarantee, its model, and what is known of it."""
        found = self.guarantee
        if found.kind == "none":
            return found.name
        return f"{found.name}, {found.model}, {found.status}"

    @property
    def _heading(self) -> str:
        """What is played, in one line."""
        given = f" ({self.parameters})" if self.parameters else ""
        return f"{self.cell.definition.id}{given} on {self.setting}"

    def __repr__(self) -> str:
        """Return one line, with the first metric and its interval once they are computed."""
        found = "not computed yet"
        if is_computed(self):
            first = self.summary().iloc[0]
            found = f"{first['metric']} {interval_text(first['mean'], first['low'], first['high'])}"
        return f"<{type(self).__name__} of {self._heading}: {found}>"

    def __str__(self) -> str:
        """Return the summary in a few lines, and the guarantee."""
        return f"{self._heading}\n{aligned(self.summary())}\nguarantee: {self.guarantee.describe()}"

    def _repr_html_(self) -> str:
        """Return the summary as a table for notebooks, and the guarantee."""
        table = html_table(self.summary())
        guarantee = escape(self.guarantee.describe())
        return f"<b>{escape(self._heading)}</b>{table}guarantee: {guarantee}"


def is_computed(runs: Runs) -> bool:
    """Return whether the summary of some runs is known in this process."""
    return "_block" in vars(runs)
