"""From a budget (epsilon, delta) to the parameters of the Gaussian algorithms.

The algorithms of pure epsilon-DP take the tag epsilon as it is.
"""

import math
from functools import cache

from dpbandits.config import Context, Formula
from dpbandits.errors import InputError
from dpbandits.privacy.gaussian import eta_from
from dpbandits.privacy.thompson import dp_ts_ucb_gdp, required_c

DELTA = 1e-6
"""Delta of the Gaussian algorithms; the others have none."""


@cache
def level(epsilon: float) -> float:
    """Return the eta of Gaussian DP that is worth (epsilon, ``DELTA``)-DP, no less and no more."""
    return float(eta_from(epsilon, DELTA))


def least_alpha(context: Context) -> float:
    """Return the smallest alpha of DP-TS-UCB that meets the budget by Theorem 4.4.

    The theorem's eta is sqrt(2 phi / ln(T)^alpha) = sqrt(2 c0) X^((1 - alpha)/2) with
    X = sqrt(T) ln(T)^1.5, which falls in alpha; a smaller alpha has the smaller regret bound.

    Raises:
        InputError: not even alpha = 1 meets the budget.
    """
    epsilon, horizon = context.tags["epsilon"], context.horizon
    weakest, strongest = (dp_ts_ucb_gdp(alpha, horizon) for alpha in (0.0, 1.0))
    alpha = math.log(weakest / level(epsilon)) / math.log(weakest / strongest)
    if alpha > 1:
        raise InputError(
            f"epsilon is {epsilon}: DP-TS-UCB is {strongest:.4g}-Gaussian DP at alpha = 1, its "
            f"most private; allowed: epsilon whose level at delta = {DELTA} is at least that"
        )
    return max(alpha, 0.0)


def share_b(context: Context) -> int:
    """Return b pre-pulls of every arm: the tag ``share`` of the T/K that fit, rounded down.

    At most T/K: beyond it the arms that come first would be pulled more than the others.
    """
    return int(context.tags["share"] * (context.horizon // context.arms))


def share_c(context: Context) -> float:
    """Return the variance factor that makes these pre-pulls meet the budget by Lemma 5."""
    eta = level(context.tags["epsilon"])
    return float(required_c(share_b(context), eta, context.horizon))


def tuned(context: Context) -> tuple[int, float]:
    """Return b and c of the smallest mean final pseudo-regret on the tuning seeds.

    The grid of b goes from none to pure pre-pulling, so that its ends are natural.

    Raises:
        InputError: the simulation names no ``tuned_by``.
    """
    if context.tuned is None:
        raise InputError("a tuned parameter needs the key tuned_by")
    frame = context.tuned
    own = frame[(frame["metric"] == "pseudo_regret") & (frame["t"] == context.horizon)]
    own = own[own["epsilon"] == context.tags["epsilon"]]
    regret = own.groupby(["b", "c"], as_index=False)["value"].mean()
    best = regret.loc[regret["value"].idxmin()]
    return int(best["b"]), float(best["c"])


def tuned_b(context: Context) -> int:
    """Return the pre-pulls of the tuned pair."""
    return tuned(context)[0]


def tuned_c(context: Context) -> float:
    """Return the variance factor of the tuned pair."""
    return tuned(context)[1]


FORMULAS: dict[str, Formula] = {
    "least_alpha": least_alpha,
    "share_b": share_b,
    "share_c": share_c,
    "tuned_b": tuned_b,
    "tuned_c": tuned_c,
}
