"""Metrics of identification: was the best arm named, and with how many pulls."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import LinearBandit

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
Metric = Callable[[Counts, Counts, LinearBandit], Values]
"""(arms returned, shape (trials,); pulls, shape (trials, K); instance) -> (trials, 1)."""


def success(recommended: Counts, pulls: Counts, bandit: LinearBandit) -> Values:
    """1 where the arm returned is the best one, else 0."""
    return np.asarray(recommended == bandit.best_arm, np.float64)[:, None]


def total_pulls(recommended: Counts, pulls: Counts, bandit: LinearBandit) -> Values:
    """Pulls of all arms together; they may exceed the budget (BAI-E3)."""
    return np.asarray(pulls.sum(axis=1, keepdims=True), np.float64)


def recommended_arm(recommended: Counts, pulls: Counts, bandit: LinearBandit) -> Values:
    """The arm returned."""
    return np.asarray(recommended, np.float64)[:, None]


COUNTED: dict[str, Metric] = {"success": success, "total_pulls": total_pulls}
"""Metrics that results keep as sums over blocks of trials."""

IDENTIFIED = {**COUNTED, "recommended": recommended_arm}
"""Every metric of identification by name."""
