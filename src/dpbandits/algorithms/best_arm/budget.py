"""Budgets that are too small, and the parameters that these algorithms have in common."""

import math

import numpy as np

from dpbandits.algorithms.base import Outcome, Task, Trial
from dpbandits.errors import InputError
from dpbandits.privacy.guarantee import Guarantee

SMALLEST_EPSILON = 1e-100
"""Below it noise would leave the range of doubles."""

TIES_AND_BUDGET = {"ties": ("index", "random"), "small_budget": ("raise", "random")}
"""Interpretations of every algorithm for best-arm identification."""


def require_epsilon(owner: str, value: object) -> float:
    """Return ``value`` as a float if it is a privacy parameter; infinity means "no noise".

    Raises:
        InputError: It is not a number of at least ``SMALLEST_EPSILON``.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not value >= SMALLEST_EPSILON:  # type: ignore[operator]
        raise InputError(
            f"{owner}: epsilon is {value!r}; allowed: a number above 0 "
            f"(at least {SMALLEST_EPSILON:g}), or infinity for no noise"
        )
    return float(value)  # type: ignore[arg-type]


def require_delta(owner: str, value: object) -> float:
    """Return ``value`` as a float if it is strictly between 0 and 1.

    Raises:
        InputError: It does not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"{owner}: delta is {value!r}; allowed: a number strictly between 0 and 1")
    return float(value)


def pure_guarantee(epsilon: float) -> Guarantee:
    """Return epsilon-DP, or no guarantee where there is no noise."""
    return Guarantee("none") if math.isinf(epsilon) else Guarantee("pure", epsilon)


def sensitivity_of(task: Task) -> float:
    """Return the largest reward that noise is scaled to (BAI-E7): 1, or the instance's."""
    return task.bandit.largest_reward if task.interpretations["sensitivity"] == "support" else 1.0


def require_budget(owner: str, task: Task, smallest: int) -> None:
    """Raise InputError for a budget below ``smallest``, unless it is to return a random arm (not
    in the paper).

    Raises:
        InputError: The budget is smaller, and the interpretation ``small_budget`` is ``raise``.
    """
    if task.budget < smallest and task.interpretations["small_budget"] == "raise":
        arms, dimension = task.bandit.feature_matrix.shape
        raise InputError(
            f"{owner}: budget is {task.budget}; allowed: at least {smallest} for K={arms}, "
            f"d={dimension}"
        )


def random_trial(task: Task, generator: np.random.Generator) -> Trial:
    """Return any arm with equal probability, without a single pull."""
    return Trial(int(generator.integers(len(task.bandit.arms))), ())


def random_outcome(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Return a block of random trials."""
    played = [random_trial(task, generator) for _ in range(trials)]
    return Outcome(
        np.array([trial.recommended for trial in played]),
        np.zeros((trials, len(task.bandit.arms)), np.int64),
        np.ones(trials, np.bool_),
        played[0],
    )
