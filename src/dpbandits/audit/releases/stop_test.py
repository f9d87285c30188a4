"""The witness in the stop test of Phase I of GDP-NCB, Algorithm 1 as written (claim NCB-C15).

A witness is one event, a set of arm sequences, and two reward sequences in [0, 1] that differ in
one round. Theorem 2 of DP-NCB says that the event's probabilities under the two differ by a factor
of exp(epsilon) at most; a larger ratio refutes it. Derived by hand in docs/privacy-witnesses.md.

The noise in a sum of rewards has the Laplace distribution of scale b = L / epsilon, L = ln T
(lines 5 and 20, with both sides multiplied by the number of pulls). F is the standard Laplace
distribution function, TH the threshold of line 2. There are two arms.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.gdp_ncb import C
from dpbandits.audit.releases.laplace import log_cdf

THRESHOLD = 1600.0
"""Constant of the published stop condition."""


@dataclass(frozen=True)
class Witness:
    """One event under two neighbouring reward sequences, X and X'; natural logarithms.

    Attributes:
        log_ratio: of the event's probability under X' to that under X.
        log_probability: of the event under X, given that Phase I pulls the arms it needs.
        log_arms: of the probability that Phase I pulls these arms, the same under X and X'.
    """

    log_ratio: float
    log_probability: float
    log_arms: float


def published_threshold(horizon: float, epsilon: float) -> float:
    """Return TH = 1600 (c^2 L + L^2 / epsilon), the private sum at which Phase I stops.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    log = math.log(horizon)
    return THRESHOLD * (C**2 * log + log**2 / epsilon)


def exploration_witness(threshold: float, scale: float, pulls: int) -> Witness:
    """Return the witness in the stop test of Phase I, Algorithm 1 as written.

    X has reward 1 in odd rounds and 0 in even ones; X' the same, but 0 in round 1. The event: arms
    1, 2, 1, 2, ..., 1 in rounds 1 to 2n + 1. Exact for n >= TH; below, the logarithm of the ratio
    is exact up to 2 exp(-TH/b).

    Args:
        threshold: TH.
        scale: b.
        pulls: n, pulls of arm 1 before the last.
    """
    own_sums = np.arange(1, pulls + 1)
    passed = float(np.sum(log_cdf((threshold - own_sums) / scale)))
    other = pulls * float(log_cdf(threshold / scale))
    ratio = log_cdf(threshold / scale) - log_cdf((threshold - pulls) / scale)
    return Witness(float(ratio), passed + other, -(2 * pulls + 1) * math.log(2.0))


def least_pulls(threshold: float, scale: float, epsilon: float) -> int:
    """Return the fewest pulls n at which ``exploration_witness`` loses more than epsilon.

    Its loss ln F(TH/b) - ln F((TH - n)/b) grows with n.

    Args:
        threshold: TH.
        scale: b.
        epsilon: above 0.
    """
    log_passed = float(log_cdf(threshold / scale)) - epsilon
    half = math.log(0.5)
    # The quantile of F at exp(log_passed).
    quantile = log_passed - half if log_passed < half else half - math.log(-math.expm1(log_passed))
    return math.floor(threshold - scale * quantile) + 1


def anytime_witness(window: int, epsilon: float, pulls: int) -> Witness:
    """Return the witness in one window of the anytime version (Algorithm 3), which is Theorem 4's.

    A share 1/W^2 of the windows of length W is uniform play, in which no reward matters.

    Args:
        window: W.
        epsilon: above 0.
        pulls: n of ``exploration_witness``, whose event begins with the window.
    """
    threshold, scale = published_threshold(window, epsilon), math.log(window) / epsilon
    core = exploration_witness(threshold, scale, pulls)
    uniform, private = -2.0 * math.log(window), math.log1p(-1.0 / window**2)
    unchanged = np.logaddexp(uniform, private + core.log_probability)
    changed = np.logaddexp(uniform, private + core.log_probability + core.log_ratio)
    return Witness(float(changed - unchanged), float(unchanged), core.log_arms)
