"""Numbers that claims ask for and no operation on series gives, exact ones among them."""

import math

from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.series import SeriesQuery
from dpbandits.papers.dp_ts_ucb.analytic import HORIZON, crossover_horizon
from dpbandits.papers.dp_ts_ucb.formulas import EQUAL_BOUND_FACTOR
from dpbandits.privacy.thompson import BUDGET_FACTOR


def equal_privacy_c(*, alpha: float, b: int, root: bool = False) -> Estimate:
    """Return the c by which b pre-pulls have the level of alpha; ``root``: as in Section 5.3."""
    return exact(privacy.equal_privacy_c(float(alpha), b, HORIZON, root=root))


def equal_bound_eta(*, alpha: float, factor: float) -> Estimate:
    """Return the level of M-TS-Gaussian with b = 0 and c = factor ln(T)^alpha (Section 5.2)."""
    return exact(privacy.modified_ts_gdp(0, factor * math.log(HORIZON) ** alpha, HORIZON))


def crossover(*, over: str, phases: int = 2) -> Estimate:
    """Return the first T from which on the level of alpha = 0 is below another algorithm's.

    ``phases``: 2 by Theorem 4.4, 1 for the smaller level.
    """
    divisor = {"ts-gaussian": 2.0, "m-ts-gaussian": EQUAL_BOUND_FACTOR}[over]
    return exact(math.ceil(crossover_horizon(phases, divisor)))


def tuned_over_own(*, alpha: float, horizon: int) -> Estimate:
    """Return the level of M-TS-Gaussian with b + 1 = c = ln(T) over that of DP-TS-UCB."""
    own = privacy.dp_ts_ucb_gdp(float(alpha), horizon)
    return exact(math.sqrt(horizon) / math.log(horizon) / own)


def tuned_crossover() -> Estimate:
    """Return the T from which on ``tuned_over_own`` is above 1 at alpha = 0.

    sqrt(T)/ln(T) = sqrt(2 c0) T^(1/4) ln(T)^(3/4), in logarithms; the ratio falls until T = e^7 and
    rises from there on.
    """

    def excess(log_horizon: float) -> float:
        own = math.log(2.0 * BUDGET_FACTOR) / 2.0
        return log_horizon / 4.0 - 1.75 * math.log(log_horizon) - own

    return exact(math.exp(brentq(excess, 7.0, 100.0, xtol=1e-13)))


def log_bound(*, of: str, gap: float) -> Estimate:
    """Return the logarithm in the order of an algorithm's regret bound at alpha = 0, T = 1e6."""
    powers = {"dp-ts-ucb": (1.5, 2.0), "ts-gaussian": (1.0, 2.0), "ucb1": (1.0, 0.0)}
    of_horizon, of_gap = powers[of]
    return exact(of_horizon * math.log(HORIZON) + of_gap * math.log(gap))


def log_excess(*, over: str, gap: float) -> Estimate:
    """Return the logarithm of DP-TS-UCB's bound minus that of another algorithm's."""
    own, other = log_bound(of="dp-ts-ucb", gap=gap), log_bound(of=over, gap=gap)
    return exact(own.value - other.value)


def equal_gap() -> Estimate:
    """Return the gap at which ln(T^1.5 gap^2) = ln(T)."""
    return exact(HORIZON**-0.25)


def power_of_horizon(*, way: str) -> Estimate:
    """Return the power of T, up to logarithms, that bounds the chance of Lemma 4.1 at alpha = 1.

    There phi = c0 ln(T), and Phi(y)^phi is the chance that all draws miss a mean y sqrt(ln(T)/s)
    above the estimate. ``way``: ``proof`` with y = 1 and 1/2 in place of the 1 of its step (b), or
    ``hoeffding``, for rewards in [0, 1], with a chance of T^(-2 y^2) that the mean is as far above.
    """
    if way == "proof":
        return exact(BUDGET_FACTOR * math.log1p(-0.5 / BUDGET_FACTOR))
    found = minimize_scalar(
        lambda y: 2.0 * y**2 - BUDGET_FACTOR * log_ndtr(y), bounds=(0.0, 3.0), method="bounded"
    )
    return exact(-float(found.fun))


def bound_over(curves: SeriesQuery, *, bound: float) -> Estimate:
    """Return a bound over the largest number of an exact result."""
    return exact(bound / float(curves.rows["y"].max()))
