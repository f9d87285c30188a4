"""Play a best-arm algorithm many times on a fixed table of rewards.

An output is the arm recommended and the pulls of every arm, which the sequence of arms shows.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.base import IdentificationAlgorithm, Task
from dpbandits.audit.blackbox.play import Outputs
from dpbandits.audit.tables import Pair
from dpbandits.bandits import Bernoulli, LinearBandit
from dpbandits.bandits.draws import TABLE
from dpbandits.engine.checks import is_user_defined, place_of, refuse_hidden_randomness
from dpbandits.errors import InputError, user_code


@dataclass(frozen=True)
class TableBandit(LinearBandit):
    """A linear bandit whose rewards are a table; of it, algorithms see the features alone.

    Attributes:
        table: rows as kernels draw from them, shape (K, 2 + N).
    """

    table: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, 3)), compare=False)

    @cached_property
    def laws(self) -> NDArray[np.int64]:
        """The code of tables for every arm, shape (K,)."""
        return np.full(len(self.arms), TABLE)

    @cached_property
    def law_parameters(self) -> NDArray[np.float64]:
        """The rows of the table, shape (K, 2 + N)."""
        return self.table


def table_bandit(features: ArrayLike | None, pair: Pair, second: bool = False) -> TableBandit:
    """Return the instance that pays x, or x'.

    Args:
        features: one row an arm, shape (K, d), finite and not all 0; None for the unit vectors.
        pair: the tables.
        second: whether it pays x'.

    Raises:
        InputError: the features have another shape, or are not finite, or all 0.
    """
    allowed = f"allowed: {pair.arms} rows of finite numbers of one length, not all 0"
    try:
        rows = np.eye(pair.arms) if features is None else np.array(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"features are no table of numbers; {allowed}") from None
    if rows.ndim != 2 or len(rows) != pair.arms or not np.isfinite(rows).all() or not rows.any():
        raise InputError(f"features have shape {' x '.join(map(str, rows.shape))}; {allowed}")
    # The means of the laws are used nowhere: rewards come from the table.
    laws = (Bernoulli(0.5),) * pair.arms
    vectors = tuple(tuple(map(float, row)) for row in rows)
    return TableBandit(laws, vectors, (0.0,) * rows.shape[1], table=pair.rows(second))


@dataclass(frozen=True)
class Trials:
    """A best-arm algorithm on a pair of tables.

    Attributes:
        algorithm: the algorithm, of the registry or of the user's own.
        parameters: its validated parameters.
        interpretations: every interpretation with its value.
        features: one row an arm, or None for the unit vectors.
        budget: number of pulls T.
        pair: the tables, by pulls.
    """

    algorithm: IdentificationAlgorithm
    parameters: Any
    interpretations: dict[str, str]
    features: ArrayLike | None
    budget: int
    pair: Pair

    def task(self, second: bool = False) -> Task:
        """Return what the algorithm is asked on x, or on x'."""
        bandit = table_bandit(self.features, self.pair, second)
        return Task(self.parameters, self.interpretations, bandit, self.budget)

    def __call__(self, second: bool, generator: np.random.Generator, runs: int) -> Outputs:
        """Return arm recommended and pulls of every arm, shape (runs, 1 + K).

        Args:
            second: whether x' is played, else x.
            generator: the stream that all runs draw from.
            runs: number of runs.

        Raises:
            InputError: the user's own algorithm fails.
        """
        if not is_user_defined(self.algorithm):
            outcome = self.algorithm.play(self.task(second), generator, runs)
        else:
            place = place_of(self.algorithm.id)
            with refuse_hidden_randomness(place), user_code(place, "play"):
                outcome = self.algorithm.play(self.task(second), generator, runs)
        return np.column_stack([outcome.recommended, outcome.pulls])
