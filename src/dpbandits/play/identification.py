"""Name the best arm within a budget, lazily and from the cache."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import IdentificationAlgorithm, find_identification
from dpbandits.algorithms.base import Outcome, Trial
from dpbandits.bandits import LinearBandit
from dpbandits.engine.cells import MAXIMAL_HORIZON, make_cell
from dpbandits.engine.compilation import compilation_shown
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, stream_key
from dpbandits.engine.play import play_outcome
from dpbandits.engine.progress import progress
from dpbandits.errors import require_count
from dpbandits.metrics import IDENTIFIED
from dpbandits.metrics.intervals import rate_interval, runs_interval
from dpbandits.own.cells import cell_kind
from dpbandits.play.simulation import PlayedRuns

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Identification(PlayedRuns):
    """Trials of one algorithm on one linear bandit; played at first access.

    Make one with ``dpbandits.identify``. Printed, or shown by a notebook, it is its summary.
    """

    horizon_sign = "budget"
    metrics = IDENTIFIED

    @property
    def recommended(self) -> NDArray[np.int64]:
        """The arm returned, numbered from 0, shape (runs,)."""
        return self._recorded()["recommended"][:, 0].astype(np.int64)

    @property
    def success(self) -> NDArray[np.bool_]:
        """Whether it is the best arm, shape (runs,)."""
        return self._recorded()["success"][:, 0] > 0

    @property
    def total_pulls(self) -> NDArray[np.int64]:
        """Pulls of all arms together, shape (runs,); may exceed the budget, as rounds round up."""
        return self._recorded()["total_pulls"][:, 0].astype(np.int64)

    @cached_property
    def _outcomes(self) -> list[Outcome]:
        """The trials in full, played anew; too large for the cache where arms are many."""
        cell, name = self.cell, self.cell.definition.id
        key, starts = stream_key(cell.stream_description), range(0, self.runs, cell.batch)
        with compilation_shown(name):
            return [
                play_outcome(cell.player, cell.settings, self.root_seed, key, first)
                for first in progress(starts, f"playing {name} in full")
            ]

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Pulls of each arm, shape (runs, K)."""
        return np.concatenate([batch.pulls for batch in self._outcomes])[: self.runs]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Whether all searches for arms to pull were exhaustive, shape (runs,).

        Where they were not, the Max-Det collection is one that no single exchange improves.
        """
        return np.concatenate([batch.exact for batch in self._outcomes])[: self.runs]

    @property
    def trace(self) -> Trial:
        """The first trial, phase by phase; a copy, because the trial itself is shown again."""
        return deepcopy(self._outcomes[0].first)

    def frame(self) -> "pd.DataFrame":
        """Return every metric of every trial, as a tidy table.

        Its columns are algorithm, parameters (as text), run (from 0), t (the budget), metric
        (``success``, ``recommended``, ``total_pulls``) and value.
        """
        return self._tidy(np.array([self.cell.horizon]), self._recorded())

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return the share of successes (Clopper-Pearson) and the pulls of a trial (t)."""
        return [
            ("success", *rate_interval(self.success.sum(), self.runs)),
            ("total_pulls", *runs_interval(self.total_pulls)),
        ]

    def plot(self, *, axes: "Axes | None" = None) -> "Axes":
        """Draw how often each arm was returned, with its 95 % interval (Clopper-Pearson).

        Args:
            axes: where to draw; by default new ones.
        """
        # Identifying needs no plotting libraries.
        from dpbandits.play.plots import plot_shares

        arms = len(self.cell.bandit.arms)
        counts = np.bincount(self.recommended, minlength=arms)
        shares = rate_interval(counts, np.full(arms, self.runs))
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
    **parameters: Any,
) -> Identification:
    """Validate at once, and return trials that are computed when they are first asked for.

    Args:
        algorithm: an id of ``dpbandits list``, or an ``IdentificationAlgorithm`` of your own.
        bandit: such as ``dpbandits.linear([[1, 0], [0, 1]], [0.5, 0.4])``.
        budget: number of pulls allowed, at least what the algorithm needs once.
        runs: number of independent trials, at least 1.
        params: the algorithm's parameters; ``epsilon`` infinite adds no noise.
        variant: this and the arguments below as for ``simulate``.
        interpretations: named interpretations that depart from their defaults.
        seed: root of all random streams.
        workers: processes to compute with.
        cache: whether results are taken from the cache and kept there.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: an argument is unknown or out of range.

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
    arguments = [*signature(identify).parameters][:-1]
    cell = make_cell(
        kind=cell_kind(definition, bandit),
        algorithm=definition,
        bandit=bandit,
        horizon=require_count("budget", budget, 1, MAXIMAL_HORIZON),
        parameters=definition.merged_parameters(params, parameters, arguments),
        variant=variant,
        interpretations=interpretations,
    )
    return Identification(cell, runs=runs, seed=seed, workers=workers, cache=cache)
