"""The Python entry point: simulate an algorithm on a bandit, lazily and from the cache."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import Algorithm, find_algorithm
from dpbandits.bandits import Bandit
from dpbandits.engine.cache import Block, Cache, NoCache
from dpbandits.engine.cells import Cell, make_cell, require_curves
from dpbandits.engine.compiling import compilation_shown
from dpbandits.engine.estimates import MEMORY_LIMIT, TIME_LIMIT, Limits, require_affordable
from dpbandits.engine.fan_out import compute
from dpbandits.engine.guaranteed import guarantee_of
from dpbandits.engine.lockstep import memory_needed
from dpbandits.engine.seeds import DEFAULT_ROOT_SEED
from dpbandits.errors import InputError
from dpbandits.metrics import CURVES, NashCurve, require_metric
from dpbandits.metrics.nash import NOMINAL, PARTS
from dpbandits.metrics.nash_curve import require_bias
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.suggestions import suggesting


class Simulation:
    """Runs of one algorithm on one bandit; computed at first access, from the cache where it can.

    Make one with ``dpbandits.simulate``.
    """

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

    def _compute(self, metrics: tuple[str, ...], grid: tuple[int, ...]) -> Block:
        cell = replace(self.cell, metrics=metrics, grid=grid)
        with compilation_shown(cell.definition.id):
            require_affordable(cell, self.workers, self.limits)
            [block] = compute(
                [cell], root_seed=self.root_seed, workers=self.workers, cache=self.cache
            )
        return block

    @cached_property
    def _at_horizon(self) -> Block:
        metrics = ("pseudo_regret", "realised_regret", "pulls")
        return self._compute(metrics, (self.cell.horizon,))

    @property
    def pseudo_regret(self) -> NDArray[np.float64]:
        """Sum of mu* minus the mean of the arm played, at the horizon, shape (runs,)."""
        return self._at_horizon["pseudo_regret"][:, -1]

    @property
    def realised_regret(self) -> NDArray[np.float64]:
        """mu* T minus the rewards received, at the horizon, shape (runs,)."""
        return self._at_horizon["realised_regret"][:, -1]

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Pulls of each arm, shape (runs, K)."""
        return self._at_horizon["pulls"].astype(np.int64)

    def curve(self, *, metric: str, at: Sequence[int]) -> NDArray[np.float64]:
        """Return a metric at the times ``at`` (each in [1, horizon]), shape (runs, len(at)).

        Raises:
            InputError: a metric that is no curve, a time outside the horizon, or a realised regret
                inside an episode, where it does not exist.
        """
        require_metric(metric, tuple(CURVES))
        grid, position = np.unique(self._times(at), return_inverse=True)
        values = self._compute((metric,), tuple(grid.tolist()))[metric]
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
        block = self._compute(cell.metrics, cell.grid)
        curve = NashCurve.of_parts(
            times, block[names[0]][0][:, position], block[names[1]][:, position]
        )
        return curve.with_bias(bias)

    def _times(self, at: Sequence[int]) -> NDArray[np.int64]:
        """Return the times ``at``; InputError unless they are times of the run."""
        try:
            times = np.asarray(at)
        except ValueError:
            times = np.empty(0)
        if times.ndim != 1 or not times.size or not np.issubdtype(times.dtype, np.integer):
            raise InputError(f"at is {at!r}; allowed: a list of whole numbers of rounds")
        if times.min() < 1 or times.max() > self.cell.horizon:
            raise InputError(f"at is {at!r}; allowed: times from 1 to {self.cell.horizon}")
        return times.astype(np.int64)


@suggesting
def simulate(
    *,
    algorithm: str | Algorithm,
    bandit: Bandit,
    horizon: int,
    runs: int,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    cache: bool = True,
    memory_limit: int = MEMORY_LIMIT,
    time_limit: float = TIME_LIMIT,
) -> Simulation:
    """Simulate ``runs`` independent runs of an algorithm on a bandit.

    Everything is validated at once; nothing is computed before a result is asked for.

    Args:
        algorithm: an id (``dpbandits list``) or an Algorithm of your own.
        bandit: the instance, for example ``dpbandits.bernoulli([0.7, 0.5])``.
        horizon: number of rounds, at least 1.
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
    cell = make_cell(
        algorithm=find_algorithm(algorithm),
        parameters=params,
        variant=variant,
        interpretations=interpretations,
        bandit=bandit,
        horizon=horizon,
        runs=runs,
    )
    limits = Limits(memory_limit, time_limit)
    kept = require_cache(cache)
    return Simulation(cell, require_seed(seed), require_workers(workers), kept, limits)


def require_seed(seed: object) -> int:
    """Return the root seed; InputError unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed is {seed!r}; allowed: a whole number of at least 0")
    return int(seed)


def require_memory(limit: object, needed: int) -> None:
    """Raise InputError unless the limit is a number of bytes that is enough."""
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < needed:
        raise InputError(f"memory limit is {limit!r}; allowed: at least {needed} bytes here")


def require_workers(workers: object) -> int:
    """Return the number of worker processes; InputError unless it is at least 1."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers is {workers!r}; allowed: a whole number of at least 1")
    return workers


def require_cache(cache: object) -> Cache:
    """Return the cache to use, the default one or none; InputError unless it is True or False."""
    if not isinstance(cache, bool):
        raise InputError(f"cache is {cache!r}; allowed: True or False")
    return Cache() if cache else NoCache()
