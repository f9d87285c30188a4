"""Name the best arm within a budget, lazily and from the cache."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms import IdentificationAlgorithm, find_identification
from dpbandits.algorithms.base import Outcome, Trial
from dpbandits.bandits import LinearBandit
from dpbandits.engine.arguments import (
    merged_parameters,
    require_cache,
    require_seed,
    require_workers,
    whole_number,
)
from dpbandits.engine.cache import Block
from dpbandits.engine.cells import make_cell
from dpbandits.engine.compiling import compilation_shown
from dpbandits.engine.estimates import MEMORY_LIMIT, TIME_LIMIT, Limits, require_affordable
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.engine.outcomes import outcomes
from dpbandits.engine.progress import progress
from dpbandits.metrics.intervals import mean_interval, rate_interval
from dpbandits.metrics.names import IDENTIFIED
from dpbandits.play.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Identification(Runs):
    """Trials of one algorithm on one linear bandit; computed at first access.

    Make one with ``dpbandits.identify``. Printed, or shown by a notebook, it is its summary.
    """

    horizon_name = "budget"

    @cached_property
    def _block(self) -> Block:
        return self._computed(IDENTIFIED, self.cell.grid)

    @property
    def recommended(self) -> NDArray[np.int64]:
        """The arm returned, numbered from 0, shape (runs,)."""
        return self._block["recommended"][:, 0].astype(np.int64)

    @property
    def success(self) -> NDArray[np.bool_]:
        """Whether it is the best arm, shape (runs,)."""
        return self._block["success"][:, 0] > 0

    @property
    def total_pulls(self) -> NDArray[np.int64]:
        """Pulls of all arms together, shape (runs,); may exceed the budget, as rounds round up."""
        return self._block["total_pulls"][:, 0].astype(np.int64)

    @cached_property
    def _outcomes(self) -> list[Outcome]:
        """The trials in full, played anew; too large for the cache where arms are many."""
        name = self.cell.definition.id
        with compilation_shown(name):
            require_affordable(self.cell, self.workers, self.limits)
            played = outcomes(self.cell, self.root_seed)
            return list(progress(played, len(self.cell.blocks()), f"playing {name} in full"))

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Pulls of each arm, shape (runs, K)."""
        return np.concatenate([each.pulls for each in self._outcomes])[: self.cell.runs]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Whether all searches for arms to pull were exhaustive, shape (runs,).

        Where they were not, the Max-Det collection is one that no single exchange improves.
        """
        return np.concatenate([each.exact for each in self._outcomes])[: self.cell.runs]

    @property
    def trace(self) -> Trial:
        """The first trial, phase by phase; a copy, since what was played is shown again."""
        return deepcopy(self._outcomes[0].first)

    def frame(self) -> pd.DataFrame:
        """Return every metric of every trial, as a tidy table.

        Its columns are algorithm, parameters (as text), run (from 0), t (the budget), metric
        (``success``, ``recommended``, ``total_pulls``) and value.
        """
        block = self._block
        times = np.array([self.cell.horizon])
        return self._tidy(times, {name: block[name][:, :1] for name in IDENTIFIED})

    def summary(self) -> pd.DataFrame:
        """Return the share of successes and the pulls of a trial: metric, mean, low, high.

        Low and high are the ends of the 95 % interval: Clopper-Pearson of the share, t of the
        pulls.
        """
        rows = [
            ("success", *rate_interval(self.success.sum(), self.cell.runs)),
            ("total_pulls", *mean_interval(self.total_pulls)),
        ]
        table = pd.DataFrame(rows, columns=["metric", "mean", "low", "high"])
        return table.astype({"mean": float, "low": float, "high": float})

    def plot(self, *, axes: "Axes | None" = None) -> "Axes":
        """Draw how often each arm was returned, with its 95 % interval (Clopper-Pearson).

        Args:
            axes: where to draw; by default new ones.
        """
        # Identifying does without the plotting libraries.
        from dpbandits.play.plots import plot_shares

        arms = len(self.cell.bandit.arms)
        counts = np.bincount(self.recommended, minlength=arms)
        shares = rate_interval(counts, np.full(arms, self.cell.runs))
        labels = [f"arm {arm}" for arm in range(arms)]
        algorithms = [self.cell.definition.id] * arms
        return plot_shares(labels, algorithms, shares, "share of trials that return it", axes)


def identify(
    *,
    algorithm: str | IdentificationAlgorithm,
    bandit: LinearBandit,
    budget: float,
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
) -> Identification:
    """Validate at once, and return trials that are computed when they are first asked for.

    Args:
        algorithm: an id of ``dpbandits list``, or an ``IdentificationAlgorithm`` of your own.
        bandit: such as ``dpbandits.linear([[1, 0], [0, 1]], [0.5, 0.4])``.
        budget: number of pulls allowed, at least what the algorithm needs once.
        runs: number of independent trials, at least 1.
        params: the algorithm's parameters; ``epsilon`` infinite adds no noise.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        interpretations: named interpretations that depart from their defaults.
        seed: root of all random streams, a whole number of at least 0.
        workers: processes to compute with; results do not depend on it.
        cache: whether results are taken from the cache and kept there; without it they are computed
            anew by every call.
        memory_limit: bytes that results may take by an estimate; more is rejected before anything
            is simulated.
        time_limit: hours that the trials may take by an estimate.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: anything unknown or out of range, in one line.

    Example:
        >>> import dpbandits
        >>> bandit = dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
        >>> trials = dpbandits.identify(
        ...     algorithm="dp-bai", params={"epsilon": 1.0}, bandit=bandit, budget=400, runs=5
        ... )
        >>> trials.success.shape
        (5,)
    """
    definition = find_identification(algorithm)
    cell = make_cell(
        algorithm=definition,
        parameters=merged_parameters(definition, params, parameters, ARGUMENTS),
        variant=variant,
        interpretations=interpretations,
        bandit=bandit,
        horizon=whole_number(budget),
        runs=whole_number(runs),
        horizon_name="budget",
    )
    limits = Limits(whole_number(memory_limit), time_limit)
    kept = require_cache(cache)
    return Identification(cell, require_seed(seed), require_workers(workers), kept, limits)


ARGUMENTS = [name for name in signature(identify).parameters if name != "parameters"]
"""What ``identify`` takes beside the parameters of algorithms."""
