"""Metrics of one run, each a function of its ledger; no algorithm computes its own."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit
from dpbandits.errors import InputError
from dpbandits.metrics.ledger import Ledger

Values = NDArray[np.float64]


def pseudo_regret(ledger: Ledger, bandit: Bandit) -> Values:
    """Sum over the rounds of mu* minus the mean of the arm played, on the grid, shape (G,).

    TS-is-DP, Equation 2. Counts times gaps, so that nothing is rounded round by round; summed row
    by row, since the last bits of a matrix product depend on the other times of the grid.
    """
    return np.asarray((ledger.pulls_at * bandit.gaps).sum(axis=1))


def realised_regret(ledger: Ledger, bandit: Bandit) -> Values:
    """mu* t minus the rewards received, on the grid, shape (G,) (TS-is-DP, Equation 3).

    NaN at times inside an episode, whose rewards are known as one sum only.
    """
    return np.asarray(bandit.means.max() * ledger.grid - ledger.rewards_at)


def pulls(ledger: Ledger, bandit: Bandit) -> Values:
    """Pulls of each arm at the horizon, shape (K,)."""
    return ledger.pulls.astype(np.float64)


def inverse_counts(ledger: Ledger, bandit: Bandit) -> Values:
    """Per arm the sum of 1/(n + 1) over the rounds after its first pull, at the horizon, (K,).

    Divided by c, and its root taken, it is the realised Gaussian-DP loss of a change in that arm's
    first reward (TS-is-DP, Remark 2).
    """
    return ledger.inverse_counts.copy()


CURVES: dict[str, Callable[[Ledger, Bandit], Values]] = {
    "pseudo_regret": pseudo_regret,
    "realised_regret": realised_regret,
}
"""Metrics with one value for each time of the grid."""

PER_ARM: dict[str, Callable[[Ledger, Bandit], Values]] = {
    "pulls": pulls,
    "inverse_counts": inverse_counts,
}
"""Metrics with one value for each arm, at the horizon."""

METRICS = {**CURVES, **PER_ARM}
"""Every metric by name."""


def require_metric(name: str, allowed: tuple[str, ...] = tuple(METRICS)) -> str:
    """Return ``name`` if it is allowed; InputError otherwise."""
    if name not in allowed:
        raise InputError.unknown("metric", name, allowed)
    return name
