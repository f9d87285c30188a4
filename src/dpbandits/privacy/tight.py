"""Renyi DP to (epsilon, delta): the conversions that are tighter than Mironov's.

`improved` is that of Canonne, Kamath and Steinke (2020, Proposition 12), which Balle et al. (2020)
found too; `tight` that of Asoodeh, Liao, Calmon, Kosut and Sankar (2021), the best that
follows from Renyi DP at one order. Mironov's is `rdp_to_dp_at_order` in `renyi`.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from dpbandits.privacy._checks import above_one, non_negative, probability, scalar

_ROUNDING = 1e-11
"""Relative; added to what is found, so that no guarantee is promised that does not follow."""

_NEAR_ONE = 1e-4

_LOGITS = (-25.0, 25.0)
"""Logarithms of alpha - 1 between which the best order is sought; every order is valid."""


def improved_rdp_to_dp(gamma: float, alpha: float, delta: float) -> float:
    """Return the epsilon at delta that (alpha, gamma)-RDP implies by the improved conversion.

    gamma + ln((alpha - 1)/alpha) - ln(alpha delta)/(alpha - 1), or 0 if that is negative.

    Source: Canonne, Kamath and Steinke (2020), Proposition 12; Balle et al. (2020), Theorem 21.

    Args:
        gamma: RDP parameter at the order alpha, 0 or above.
        alpha: Order, above 1.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
    """
    level, order, wanted = _checked(gamma, alpha, delta)
    return max(_improved(level, order, math.log(wanted)), 0.0)


def _improved(gamma: float, alpha: float, log_delta: float) -> float:
    return gamma + math.log1p(-1.0 / alpha) - (log_delta + math.log(alpha)) / (alpha - 1.0)


def tight_rdp_to_dp(gamma: float, alpha: float, delta: float) -> float:
    """Return the smallest epsilon at delta that (alpha, gamma)-RDP implies.

    The smallest epsilon above which every pair (P, Q) on two points that needs a larger delta has
    a Renyi divergence of P from Q of more than gamma; rounded up.

    Source: Asoodeh, Liao, Calmon, Kosut and Sankar (2021).

    Args:
        gamma: RDP parameter at the order alpha, 0 or above.
        alpha: Order, above 1.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
    """
    level, order, wanted = _checked(gamma, alpha, delta)

    def missing(epsilon: float) -> float:
        # Less what rounding may have added to the divergence.
        rounding = 1e-15 * order / max(order - 1.0, _NEAR_ONE) * (1.0 - math.log(wanted) + epsilon)
        return least_divergence(epsilon, wanted, order) - rounding - level

    if missing(0.0) >= 0.0:
        return 0.0
    upper = max(_improved(level, order, math.log(wanted)), 0.0)
    if missing(upper) <= 0.0:
        # Rounding; the improved conversion is valid by itself.
        return upper
    found, result = brentq(
        *(missing, 0.0, upper), xtol=1e-300, rtol=1e-13, full_output=True, disp=False
    )
    if not result.converged:
        return upper
    return min(float(found) * (1.0 + _ROUNDING) + _ROUNDING * level, upper)


def least_divergence(epsilon: float, delta: float, alpha: float) -> float:
    """Return the least Renyi divergence of order alpha of a pair that needs delta at epsilon.

    Of P = (p, 1 - p) against Q = (q, 1 - q) with p - e^epsilon q = delta, over p. Up to
    alpha = 1.0001 that of order 1, which is no larger and loses no digits.

    Args:
        epsilon: 0 or above.
        delta: Strictly between 0 and 1.
        alpha: Order, above 1.
    """
    log_most = math.log1p(-delta)

    def divergence(logit: float) -> float:
        # p between delta and 1, by the logit of its place there.
        log_share, log_rest = -math.log1p(math.exp(-logit)), -math.log1p(math.exp(logit))
        log_p = math.log(delta + math.exp(log_most + log_share))
        log_q = log_most + log_share - epsilon
        log_other_q = math.log1p(-math.exp(log_q)) if log_q < 0.0 else -math.inf
        if alpha - 1.0 < _NEAR_ONE:
            log_other_p = log_rest + log_most
            other = math.exp(log_other_p) * (log_other_p - log_other_q)
            return math.exp(log_p) * (log_p - log_q) + other
        first = alpha * log_p + (1.0 - alpha) * log_q
        second = alpha * (log_rest + log_most) + (1.0 - alpha) * log_other_q
        return float(np.logaddexp(first, second)) / (alpha - 1.0)

    return _minimum(divergence, -700.0, 36.0)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon at delta that rho-zCDP implies by `tight_rdp_to_dp` at the best order.

    The order is sought around that of the improved conversion; every order is valid.

    Args:
        rho: 0 or above: Renyi DP with rho alpha at every order alpha.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
    """
    slope = scalar("rho", non_negative("rho", rho))
    scalar("delta", probability("delta", delta))
    if slope == 0.0:
        return 0.0

    def at(logit: float) -> float:
        return tight_rdp_to_dp(slope * _order(logit), _order(logit), delta)

    near = _best(lambda logit: _improved(slope * _order(logit), _order(logit), math.log(delta)))
    around = (near - 1.0, near + 1.0)
    found = minimize_scalar(at, bounds=around, method="bounded", options={"xatol": 1e-5})
    return float(min(found.fun, at(near)))


def improved_zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the smallest epsilon at delta over all orders, each by `improved_rdp_to_dp`.

    Args:
        rho: 0 or above: Renyi DP with rho alpha at every order alpha.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
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

    Raises:
        InputError: An argument is outside its range.
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


def _checked(gamma: float, alpha: float, delta: float) -> tuple[float, float, float]:
    return (
        scalar("gamma", non_negative("gamma", gamma)),
        scalar("alpha", above_one("alpha", alpha)),
        scalar("delta", probability("delta", delta)),
    )


def _best(
    function: Callable[[float], float], low: float = _LOGITS[0], high: float = _LOGITS[1]
) -> float:
    """Return where a function with one valley is least: on a grid, then around its best point."""
    grid = np.linspace(low, high, 101)
    values = [function(float(place)) for place in grid]
    best = int(np.argmin(values))
    around = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, grid.size - 1)]))
    found = minimize_scalar(function, bounds=around, method="bounded", options={"xatol": 1e-9})
    return float(found.x if found.fun < values[best] else grid[best])


def _minimum(
    function: Callable[[float], float], low: float = _LOGITS[0], high: float = _LOGITS[1]
) -> float:
    return function(_best(function, low, high))
