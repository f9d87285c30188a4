"""The Python entry point: name the best arm within a budget, lazily and from the cache."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import IdentificationAlgorithm, find_identification
from dpbandits.algorithms.base import Outcome, Trial
from dpbandits.bandits import LinearBandit
from dpbandits.engine.cache import Block, Cache
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.compiling import compilation_shown
from dpbandits.engine.estimates import MEMORY_LIMIT, TIME_LIMIT, Limits, require_affordable
from dpbandits.engine.fan_out import compute
from dpbandits.engine.guaranteed import guarantee_of
from dpbandits.engine.seeds import DEFAULT_ROOT_SEED, stream_key
from dpbandits.engine.simulation import require_cache, require_seed, require_workers
from dpbandits.engine.trials import play_outcome
from dpbandits.metrics import IDENTIFIED
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.suggestions import suggesting


class Identification:
    """Trials of one algorithm on one linear bandit; computed at first access.

    Make one with ``dpbandits.identify``.
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

    @cached_property
    def _block(self) -> Block:
        cell = replace(self.cell, metrics=tuple(IDENTIFIED))
        with compilation_shown(cell.definition.id):
            require_affordable(cell, self.workers, self.limits)
            [block] = compute(
                [cell], root_seed=self.root_seed, workers=self.workers, cache=self.cache
            )
        return block

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
        algorithm = self.cell.player
        assert isinstance(algorithm, IdentificationAlgorithm)
        key = stream_key(self.cell.stream_description)
        with compilation_shown(algorithm.id):
            require_affordable(self.cell, self.workers, self.limits)
            return [
                play_outcome(algorithm, self.cell.task, self.root_seed, key, block.first_run)
                for block in self.cell.blocks()
            ]

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
        """The first trial, phase by phase."""
        return self._outcomes[0].first


@suggesting
def identify(
    *,
    algorithm: str | IdentificationAlgorithm,
    bandit: LinearBandit,
    budget: int,
    runs: int,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    cache: bool = True,
    memory_limit: int = MEMORY_LIMIT,
    time_limit: float = TIME_LIMIT,
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
    cell = make_cell(
        algorithm=find_identification(algorithm),
        parameters=params,
        variant=variant,
        interpretations=interpretations,
        bandit=bandit,
        horizon=budget,
        runs=runs,
        horizon_name="budget",
    )
    limits = Limits(memory_limit, time_limit)
    kept = require_cache(cache)
    return Identification(cell, require_seed(seed), require_workers(workers), kept, limits)
