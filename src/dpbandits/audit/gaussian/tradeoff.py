"""Bounds on the privacy loss from the exact law of a statistic under both inputs.

Every tail is summed from its small end, and quantiles are taken from whichever of a chance and its
complement is smaller, so that no digit is lost.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpbandits.audit.gaussian.lattice import LossLaw

Values = NDArray[np.float64]

OBSERVABLE = 1e-6
"""An event and its complement with such chances under both inputs can be seen in simulations."""

_SMALLEST = 1e-200
"""Far above the subnormal numbers, so that tails keep their digits."""


@dataclass(frozen=True)
class Threshold:
    """The event that the ratio is at least ``ratio``.

    Attributes:
        mu: lower bound on mu from this event; 0 if there is none.
        ratio: threshold on the log-likelihood ratio.
        alpha: chance of the event under x.
        beta: chance of its complement under x'.
    """

    mu: float
    ratio: float
    alpha: float
    beta: float


def best_threshold(law: LossLaw, least: float = OBSERVABLE) -> Threshold:
    """Return the threshold with the largest bound on mu.

    Args:
        law: of the ratio.
        least: smallest chance of the event and of its complement, under both inputs.
    """
    upper, lower = _tails(law)
    # upper[:, k] = mass of cells k and above, lower[:, k] = mass of cells below k; P first.
    allowed = (np.minimum(upper, lower) >= max(least, _SMALLEST)).all(axis=0)
    if not allowed.any():
        return Threshold(0.0, math.inf, 0.0, 1.0)
    places = np.flatnonzero(allowed)
    high, low = upper[:, places], lower[:, places]
    mu = _quantile(high[1], low[1]) - _quantile(high[0], low[0])
    best = int(mu.argmax())
    k = int(places[best])
    return Threshold(
        max(float(mu[best]), 0.0), float(law.ratios[k]), float(upper[0, k]), float(lower[1, k])
    )


def tradeoff_curve(law: LossLaw) -> tuple[Values, Values]:
    """Return alpha, ascending, and beta of all thresholds on the ratio."""
    upper, lower = _tails(law)
    return upper[0, ::-1], lower[1, ::-1]


def delta_at(law: LossLaw, epsilon: float, *, reverse: bool = False) -> float:
    """Return the delta that the pair needs at epsilon: the sum of max(Q - exp(epsilon) P, 0).

    Args:
        law: of the ratio.
        epsilon: 0 or above.
        reverse: whether x, not x', is the input that makes the event more likely.
    """
    likely, unlikely = (law.p, law.q) if reverse else (law.q, law.p)
    return float(np.maximum(likely - math.exp(min(epsilon, 700.0)) * unlikely, 0.0).sum())


def epsilon_at(law: LossLaw, delta: float, *, reverse: bool = False) -> float:
    """Return the largest epsilon at which the pair needs more than delta; 0 if there is none.

    Args:
        law: of the ratio.
        delta: strictly between 0 and 1.
        reverse: as in ``delta_at``.
    """
    low, high = 0.0, 700.0
    if not delta_at(law, low, reverse=reverse) > delta:
        return 0.0
    for _ in range(80):
        middle = (low + high) / 2.0
        needs_more = delta_at(law, middle, reverse=reverse) > delta
        low, high = (middle, high) if needs_more else (low, middle)
    return low


def _tails(law: LossLaw) -> tuple[Values, Values]:
    """Return the masses of cells k and above, and of cells below k, shape (2, cells)."""
    masses = np.stack([law.p, law.q])
    upper = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
    lower = np.zeros_like(upper)
    np.cumsum(masses[:, :-1], axis=1, out=lower[:, 1:])
    return upper, lower


def _quantile(chance: Values, complement: Values) -> Values:
    """Return the standard normal quantile of a chance, from the smaller of both."""
    return np.where(chance <= 0.5, ndtri(chance), -ndtri(np.minimum(complement, 1.0)))
