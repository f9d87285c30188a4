"""Statistics of slopes, and of ratios as the horizon, epsilon or time grow.

Slopes are of log Nash regret, by least squares. ``variant`` and ``ncb`` are those of
``comparison_statistics``.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpbandits.claims.estimates import Estimate, largest, smallest
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.jackknife import Measure, exponential, ratio_of, slope
from dpbandits.claims.nash import nash_curves, nash_regret
from dpbandits.papers.dp_ncb.curves import (
    EPSILON,
    GLOBAL,
    HUNDRED_MILLION,
    LOCAL,
    TEN_MILLION,
    Line,
    line,
    ncb_line,
    positions,
)

SHARES = tuple(float(share) for share in np.geomspace(0.3, 1.0, 20))
"""Times of a slope over time, as shares of the horizon."""

HORIZONS = (10**6, TEN_MILLION, HUNDRED_MILLION)
"""Horizons over which the cost of privacy is followed, each with runs of its own."""

WINDOWS = tuple(2**m - 1 for m in range(17, 24))
"""Ends of windows of the anytime wrapper."""


def _slope(evidence: Evidence, chosen: Line) -> Measure:
    regrets = chosen.regrets(evidence, SHARES)
    return slope(np.log(SHARES), [regret.log() for regret in regrets])


def slope_of_regret(
    evidence: Evidence,
    *,
    variant: str,
    algorithm: str,
    horizon: int = TEN_MILLION,
    ncb: str = "own",
) -> Estimate:
    """Return the slope of log Nash regret over log t on [0.3 T, T], epsilon = 0.2."""
    return _slope(evidence, line(algorithm, variant, horizon, ncb=ncb)).estimate()


def slope_difference(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    horizon: int = TEN_MILLION,
    ncb: str = "own",
) -> Estimate:
    """Return the slope of the first algorithm minus that of the second."""
    lines = [line(name, variant, horizon, ncb=ncb) for name in (first, second)]
    one, other = (_slope(evidence, curve) for curve in lines)
    return (one - other).estimate()


def cost_steps(evidence: Evidence, *, variant: str) -> Mapping[str, Estimate]:
    """Return GDP-NCB's Nash regret over NCB's at ten times a T, over the same ratio at T."""
    costs = {
        horizon: Line(GLOBAL, variant, horizon).regret(evidence).log()
        - ncb_line(variant, "own", horizon).regret(evidence).log()
        for horizon in HORIZONS
    }
    return {
        f"T={high:.0e} over {low:.0e}": exponential(costs[high] - costs[low])
        for low, high in itertools.pairwise(HORIZONS)
    }


def cost_at_epsilon(evidence: Evidence, *, variant: str, epsilon: float) -> Estimate:
    """Return the Nash regret of GDP-NCB at an epsilon over that of NCB, T = 1e7."""
    private = Line(GLOBAL, variant, epsilon=epsilon).regret(evidence)
    return ratio_of(private, ncb_line(variant, "own").regret(evidence))


def slope_in_epsilon(evidence: Evidence, *, variant: str, epsilons: Sequence[float]) -> Estimate:
    """Return the slope of log Nash regret of LDP-NCB over log epsilon, T = 1e7."""
    regrets = [Line(LOCAL, variant, epsilon=epsilon).regret(evidence).log() for epsilon in epsilons]
    return slope(np.log(epsilons), regrets).estimate()


def _anytime_costs(evidence: Evidence, variant: str, algorithm: str) -> dict[int, Measure]:
    """Return log of the anytime Nash regret over that with known horizon, at ends of windows."""
    tags: dict[str, Any] = {"variant": variant, "epsilon": EPSILON}
    wrapper = nash_curves(evidence, "anytime", algorithm=f"anytime-{algorithm}", **tags)
    costs = {}
    for end in WINDOWS:
        fixed = nash_curves(evidence, "known-horizon", algorithm=algorithm, horizon=end, **tags)
        [index] = positions(wrapper, [end / WINDOWS[-1]])
        unaware = nash_regret(wrapper, index, subtract_bias=True)
        costs[end] = unaware.log() - nash_regret(fixed, -1, subtract_bias=True).log()
    return costs


def anytime_cost(evidence: Evidence, *, variant: str, algorithm: str, extreme: str) -> Estimate:
    """Return the anytime wrapper's Nash regret over that with known horizon, at ends of windows.

    ``extreme``: the ``smallest`` or the ``largest`` of them.
    """
    pick = {"smallest": smallest, "largest": largest}[extreme]
    return pick(map(exponential, _anytime_costs(evidence, variant, algorithm).values()))


def anytime_growth(evidence: Evidence, *, variant: str, algorithm: str) -> Estimate:
    """Return anytime wrapper's cost at the end of the last window over that of the one before."""
    *_, before, last = _anytime_costs(evidence, variant, algorithm).values()
    return exponential(last - before)
