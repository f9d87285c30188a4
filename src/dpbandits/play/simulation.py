"""Simulate a regret algorithm on a bandit, lazily and from the cache."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms import Algorithm, find_algorithm
from dpbandits.bandits import Bandit
from dpbandits.engine.arguments import (
    merged_parameters,
    require_cache,
    require_memory,
    require_seed,
    require_workers,
    whole_number,
)
from dpbandits.engine.cache import Block
from dpbandits.engine.cells import make_cell, require_curves
from dpbandits.engine.estimates import MEMORY_LIMIT, TIME_LIMIT, Limits
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.engine.lockstep import memory_needed
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import Curve, mean_interval
from dpbandits.metrics.names import CURVES, NOMINAL, PARTS, require_metric
from dpbandits.metrics.nash_curve import NashCurve, require_bias
from dpbandits.play.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIMES = 100
"""Number of times at which frames and plots show a curve unless others are asked for."""

ROW_BYTES = 96
"""Bytes of a row of a frame while it is made: six columns, twice."""


class Simulation(Runs):
    """Runs of one algorithm on one bandit; computed at first access, from the cache where it can.

    Make one with ``dpbandits.simulate``. Printed, or shown by a notebook, it is its summary.
    """

    @cached_property
    def _block(self) -> Block:
        metrics = ("pseudo_regret", "realised_regret", "pulls")
        return self._computed(metrics, (self.cell.horizon,))

    @property
    def pseudo_regret(self) -> NDArray[np.float64]:
        """Sum of mu* minus the mean of the arm played, at the horizon, shape (runs,)."""
        return self._block["pseudo_regret"][:, -1]

    @property
    def realised_regret(self) -> NDArray[np.float64]:
        """mu* T minus the rewards received, at the horizon, shape (runs,)."""
        return self._block["realised_regret"][:, -1]

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Pulls of each arm, shape (runs, K)."""
        return self._block["pulls"].astype(np.int64)

    def curve(self, *, metric: str, at: Sequence[int]) -> NDArray[np.float64]:
        """Return a metric at the times ``at`` (each in [1, horizon]), shape (runs, len(at)).

        Args:
            metric: ``pseudo_regret``, for short ``regret``, or ``realised_regret``.
            at: numbers of rounds.

        Raises:
            InputError: a metric that is no curve, a time outside the horizon, or a realised regret
                inside an episode, where it does not exist.
        """
        metric = _full_name(metric)
        grid, position = np.unique(self._times(at), return_inverse=True)
        values = self._computed((metric,), tuple(grid.tolist()))[metric]
        if np.isnan(values).any():
            raise InputError(
                f"metric {metric} of {self.cell.definition.id} exists at the horizon only; "
                f"allowed along t: pseudo_regret"
            )
        return values[:, position]

    def nash_regret(
        self,
        *,
        at: Sequence[int],
        nominal: bool = False,
        bias: str = "subtracted",
        memory_limit: int | None = None,
    ) -> NashCurve:
        """Return the Nash regret of all runs together at the times ``at`` (each in [1, horizon]).

        Its ``standard_error`` and ``bias`` come from the same pass; as an array it is the Nash
        regret, shape (len(at),).

        Args:
            at: numbers of rounds.
            nominal: whether arms are scored by the bandit's nominal means.
            bias: ``subtracted``, an estimate of the Nash regret, which takes two runs at least; or
                ``kept``, the plain average over runs, as published curves show it.
            memory_limit: bytes that the process may take, or None for those of the simulation.

        Raises:
            InputError: a time outside the horizon, an unknown ``bias``, one run whose bias is to be
                subtracted, more runs or rounds than can be counted, or a memory limit that is too
                small.

        Example:
            >>> import dpbandits
            >>> curve = dpbandits.simulate(
            ...     algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=50, runs=9
            ... ).nash_regret(at=[2, 50])
            >>> curve.nash_regret.round(4)
            array([0.1084, 0.0661])
        """
        times = self._times(at)
        if require_bias(bias) == "subtracted" and self.cell.runs < 2:
            raise InputError("runs is 1; allowed: at least 2 for a bias, or bias='kept'")
        grid, position = np.unique(times, return_inverse=True)
        names = [(NOMINAL if nominal else "") + part for part in PARTS[:2]]
        cell = replace(self.cell, metrics=tuple(names), grid=tuple(grid.tolist()))
        require_curves(cell)
        limit = self.limits.memory if memory_limit is None else memory_limit
        arms = len(cell.bandit.arms)
        require_memory(limit, memory_needed(cell.runs, arms, len(cell.grid), nominal))
        block = self._computed(cell.metrics, cell.grid)
        curve = NashCurve.of_parts(
            times, block[names[0]][0][:, position], block[names[1]][:, position]
        )
        return replace(curve, keeps_bias=bias == "kept")

    def frame(
        self, *, metric: str | Sequence[str] = "regret", at: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Return metrics of every run along time, as a tidy table.

        Its columns are algorithm, parameters (as text), run (from 0), t (rounds), metric and value.

        Args:
            metric: ``pseudo_regret``, for short ``regret``, ``realised_regret``, or a list of them.
            at: numbers of rounds; by default up to 100 even steps to the horizon.

        Raises:
            InputError: as ``curve``.

        Example:
            >>> import dpbandits
            >>> simulation = dpbandits.simulate(
            ...     algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=50, runs=2
            ... )
            >>> simulation.frame(at=[10, 50])[["run", "t", "metric"]].to_numpy().tolist()[:2]
            [[0, 10, 'pseudo_regret'], [0, 50, 'pseudo_regret']]
        """
        times = self._times(self.times if at is None else at)
        metrics = [metric] if isinstance(metric, str) else list(metric)
        names = [_full_name(each) for each in metrics]
        rows = self.cell.runs * times.size * len(names)
        require_memory(self.limits.memory, rows * ROW_BYTES)
        curves = {name: self.curve(metric=name, at=times.tolist()) for name in names}
        return self._tidy(times, curves)

    def summary(self) -> pd.DataFrame:
        """Return regrets at the horizon and pulls of each arm: metric, mean, low, high.

        Low and high are the ends of the 95 % t interval of the mean over runs, infinite for one.
        """
        names = [f"pulls of arm {arm}" for arm in range(len(self.cell.bandit.arms))]
        pulls = zip(names, self.pulls.T, strict=True)
        regrets = {
            "pseudo_regret": self.pseudo_regret,
            "realised_regret": self.realised_regret,
        }
        rows = [(name, *mean_interval(values)) for name, values in (*regrets.items(), *pulls)]
        table = pd.DataFrame(rows, columns=["metric", "mean", "low", "high"])
        return table.astype({"mean": float, "low": float, "high": float})

    def plot(
        self,
        *,
        metric: str = "regret",
        at: Sequence[int] | None = None,
        axes: "Axes | None" = None,
    ) -> "Axes":
        """Draw the mean of a metric over runs along time, over its 95 % interval.

        Args:
            metric: ``pseudo_regret``, for short ``regret``, ``realised_regret`` or ``nash_regret``.
            at: numbers of rounds; by default up to 100 even steps to the horizon.
            axes: where to draw; by default new ones.

        Returns:
            The axes, to change or to save (``axes.figure.savefig``).

        Raises:
            InputError: as ``curve``.
        """
        # Simulating does without the plotting libraries.
        from dpbandits.play.plots import plot_curves

        return plot_curves([self.mean_curve(metric=metric, at=at)], axes)

    def mean_curve(self, *, metric: str = "regret", at: Sequence[int] | None = None) -> Curve:
        """Return the mean of a metric over runs, with its 95 % interval, as ``plot`` shows it.

        Args:
            metric: as for ``plot``.
            at: numbers of rounds; by default up to 100 even steps to the horizon.
        """
        times = self._times(self.times if at is None else at)
        label = f"{self.cell.definition.name}{f', {self.parameters}' if self.parameters else ''}"
        if metric == "nash_regret":
            return self.nash_regret(at=times.tolist()).mean_curve(label, self.cell.definition.id)
        name = _full_name(metric, "nash_regret")
        numbers = mean_interval(self.curve(metric=name, at=times.tolist()))
        return Curve(label, self.cell.definition.id, name, times, *numbers)

    @property
    def times(self) -> list[int]:
        """The times that frames and plots show unless others are asked for."""
        steps = np.linspace(0, self.cell.horizon, min(TIMES, self.cell.horizon) + 1)
        return [int(t) for t in steps.round()[1:]]

    def _times(self, at: Sequence[int]) -> NDArray[np.int64]:
        """Return the times ``at``; InputError unless they are times of the run."""
        try:
            times = np.asarray(at)
        except ValueError:
            times = np.empty(0)
        if np.issubdtype(times.dtype, np.floating) and np.array_equal(times, times.round()):
            times = times.astype(np.int64)
        if times.ndim != 1 or not times.size or not np.issubdtype(times.dtype, np.integer):
            raise InputError(f"at is {at!r}; allowed: a list of whole numbers of rounds")
        if times.min() < 1 or times.max() > self.cell.horizon:
            raise InputError(f"at is {at!r}; allowed: times from 1 to {self.cell.horizon}")
        return times.astype(np.int64)


def _full_name(metric: str, *others: str) -> str:
    """Return the name of a metric along time, of which ``regret`` is short for one."""
    return "pseudo_regret" if metric == "regret" else require_metric(metric, (*CURVES, *others))


def simulate(
    *,
    algorithm: str | Algorithm,
    bandit: Bandit,
    horizon: float,
    runs: float,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    cache: bool = True,
    memory_limit: float = MEMORY_LIMIT,
    time_limit: float = TIME_LIMIT,
    **parameters: Any,
) -> Simulation:
    """Simulate ``runs`` independent runs of an algorithm on a bandit.

    Everything is validated at once; nothing is computed before a result is asked for.

    Args:
        algorithm: an id (``dpbandits list``) or an Algorithm of your own.
        bandit: the instance, for example ``dpbandits.bernoulli([0.7, 0.5])``.
        horizon: number of rounds, a whole number of at least 1, such as 10_000 or 1e4.
        runs: number of runs, at least 1.
        params: the algorithm's parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        interpretations: named interpretations that depart from their defaults.
        seed: root of all random streams, a whole number of at least 0.
        workers: processes to compute with; results do not depend on it.
        cache: whether results are taken from the cache and kept there; without it they are computed
            anew by every call.
        memory_limit: bytes that results may take by an estimate; more is rejected before anything
            is simulated.
        time_limit: hours that the simulation may take by an estimate.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: anything unknown or out of range, in one line.

    Example:
        >>> import dpbandits
        >>> simulation = dpbandits.simulate(
        ...     algorithm="m-ts-gaussian",
        ...     params={"b": 10, "c": 1.0},
        ...     bandit=dpbandits.bernoulli([0.7, 0.5]),
        ...     horizon=50,
        ...     runs=3,
        ... )
        >>> simulation.pulls.sum(axis=1)
        array([50, 50, 50])
    """
    definition = find_algorithm(algorithm)
    cell = make_cell(
        algorithm=definition,
        parameters=merged_parameters(definition, params, parameters, ARGUMENTS),
        variant=variant,
        interpretations=interpretations,
        bandit=bandit,
        horizon=whole_number(horizon),
        runs=whole_number(runs),
    )
    limits = Limits(whole_number(memory_limit), time_limit)
    kept = require_cache(cache)
    return Simulation(cell, require_seed(seed), require_workers(workers), kept, limits)


ARGUMENTS = [name for name in signature(simulate).parameters if name != "parameters"]
"""What ``simulate`` takes beside the parameters of algorithms."""
