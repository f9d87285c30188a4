"""Conversions of pure and Renyi DP: to GDP, to Renyi DP, and to (epsilon, delta)-DP.

Renyi DP is converted as in Mironov (2017), or by the smaller bound of Canonne, Kamath and Steinke
(2020), which Balle et al. (2020) found too. The Renyi curve of a Gaussian mechanism, and of any
composition of them, is a straight line gamma(alpha) = slope * alpha (zCDP, slope = rho).

An argument outside its range is an InputError.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpbandits.privacy._checks import (
    Numbers,
    above_one,
    non_negative,
    positive,
    probability,
    scalar,
    unwrap,
)

_ROUNDING = 1e-11
"""Relative; added to a delta, so that no guarantee is promised that does not follow."""

_LOGITS = (-25.0, 25.0)
"""Logarithms of alpha - 1 between which the best order is sought; every order is valid."""


def pure_to_gdp(epsilon: float) -> float:
    """Return the smallest eta of the eta-GDP that epsilon-DP implies.

    2 Phi^-1(e^epsilon/(1 + e^epsilon)): the Gaussian trade-off curve through the kink of that of
    randomised response, which is above it elsewhere by convexity.

    Args:
        epsilon: 0 or above.
    """
    level = scalar("epsilon", non_negative("epsilon", epsilon))
    # Phi(-eta/2) = 1/(1 + e^epsilon), which is erf(eta/(2 sqrt 2)) = tanh(epsilon/2).
    if level < 1.0:
        found = 2.0 * math.sqrt(2.0) * float(scipy.special.erfinv(math.tanh(level / 2.0)))
    else:
        found = -2.0 * float(scipy.special.ndtri_exp(-level - math.log1p(math.exp(-level))))
    return found * (1.0 + 1e-14)


def pure_to_rdp(epsilon: float, alpha: float) -> float:
    """Return the smallest gamma of the (alpha, gamma)-RDP that epsilon-DP implies.

    The Renyi divergence of randomised response, which is the worst case of epsilon-DP:
    ln((e^(alpha epsilon) + e^((1 - alpha) epsilon))/(1 + e^epsilon))/(alpha - 1).

    Source: Mironov (2017), Proposition 5; Kairouz, Oh and Viswanath (2015) that it is the worst.

    Args:
        epsilon: 0 or above.
        alpha: Order, above 1.
    """
    level = scalar("epsilon", non_negative("epsilon", epsilon))
    order = scalar("alpha", above_one("alpha", alpha))
    if order * level > 500.0:
        grown = np.logaddexp(order * level, (1.0 - order) * level)
        excess = float(grown - np.logaddexp(0.0, level))
    else:
        # The same by cosh x - cosh y = 2 sinh((x + y)/2) sinh((x - y)/2), which loses no digits.
        product = math.sinh(order * level / 2.0) * math.sinh((order - 1.0) * level / 2.0)
        excess = math.log1p(2.0 * product / math.cosh(level / 2.0))
    return min(excess / (order - 1.0) * (1.0 + 1e-12), level)


def rdp_to_dp_at_order(gamma: ArrayLike, alpha: ArrayLike, delta: ArrayLike) -> Numbers:
    """Return the epsilon that (alpha, gamma)-RDP implies at delta.

    Source: ts-is-dp, appendix C.2 (from Mironov, 2017): gamma + log(1/delta) / (alpha - 1).

    Args:
        gamma: RDP parameter at the order alpha, 0 or above.
        alpha: Order, above 1.
        delta: Strictly between 0 and 1.
    """
    gammas, orders = non_negative("gamma", gamma), above_one("alpha", alpha)
    return unwrap(gammas - np.log(probability("delta", delta)) / (orders - 1))


def rdp_to_dp(slope: ArrayLike, delta: ArrayLike) -> Numbers:
    """Return the smallest epsilon over all orders that a straight RDP curve implies at delta.

    slope * alpha + log(1/delta)/(alpha - 1) is convex in alpha, with its derivative zero at
    alpha = 1 + sqrt(log(1/delta) / slope), where it is slope + 2 sqrt(slope * log(1/delta)).

    Source: derived; ts-is-dp, Theorem 8, for the slope T/4.

    Args:
        slope: Slope of the RDP curve, above 0.
        delta: Strictly between 0 and 1.
    """
    slopes = positive("slope", slope)
    return unwrap(slopes + 2 * np.sqrt(-slopes * np.log(probability("delta", delta))))


def improved_rdp_to_dp(gamma: float, alpha: float, delta: float) -> float:
    """Return the epsilon at delta that (alpha, gamma)-RDP implies by the improved conversion.

    gamma + ln((alpha - 1)/alpha) - ln(alpha delta)/(alpha - 1), or 0 if that is negative.

    Source: Canonne, Kamath and Steinke (2020), Proposition 12; Balle et al. (2020), Theorem 21.

    Args:
        gamma: RDP parameter at the order alpha, 0 or above.
        alpha: Order, above 1.
        delta: Strictly between 0 and 1.
    """
    level, order = scalar("gamma", non_negative("gamma", gamma)), above_one("alpha", alpha)
    wanted = scalar("delta", probability("delta", delta))
    return max(_improved(level, scalar("alpha", order), math.log(wanted)), 0.0)


def _improved(gamma: float, alpha: float, log_delta: float) -> float:
    return gamma + math.log1p(-1.0 / alpha) - (log_delta + math.log(alpha)) / (alpha - 1.0)


def improved_zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the smallest epsilon at delta over all orders, each by `improved_rdp_to_dp`.

    Args:
        rho: 0 or above: Renyi DP with rho alpha at every order alpha.
        delta: Strictly between 0 and 1.
    """
    slope = scalar("rho", non_negative("rho", rho))
    log_delta = math.log(scalar("delta", probability("delta", delta)))
    if slope == 0.0:
        return 0.0
    found = _minimum(lambda logit: _improved(slope * _order(logit), _order(logit), log_delta))
    return max(found, 0.0)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the smallest delta at epsilon over all orders, each by the improved conversion.

    exp((alpha - 1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1), at most 1.

    Source: Canonne, Kamath and Steinke (2020), Corollary 13.

    Args:
        rho: 0 or above.
        epsilon: 0 or above.
    """
    slope = scalar("rho", non_negative("rho", rho))
    wanted = scalar("epsilon", non_negative("epsilon", epsilon))
    if slope == 0.0:
        return 0.0

    def log_delta(logit: float) -> float:
        order = _order(logit)
        gain = (order - 1.0) * (order * slope - wanted)
        return gain + order * math.log1p(-1.0 / order) - math.log(order - 1.0)

    return min(math.exp(min(_minimum(log_delta), 0.0)) * (1.0 + _ROUNDING), 1.0)


def _order(logit: float) -> float:
    return 1.0 + math.exp(logit)


def _minimum(function: Callable[[float], float]) -> float:
    """Return the least value of a function with one valley: on a grid, then near its best point."""
    from scipy.optimize import minimize_scalar  # Slow to import, and needed here alone.

    grid = np.linspace(*_LOGITS, 101)
    values = [function(float(place)) for place in grid]
    best = int(np.argmin(values))
    around = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, grid.size - 1)]))
    found = minimize_scalar(function, bounds=around, method="bounded", options={"xatol": 1e-9})
    return float(min(found.fun, values[best]))
