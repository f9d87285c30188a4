"""Statistics of slopes and ratios: how Nash regret falls over time, with the horizon, with epsilon.

Slopes are of log Nash regret, by least squares. ``variant``, ``ncb`` and ``bias`` are those of
``comparison_statistics``.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpbandits.claims import Estimate, Evidence, StudentEstimate
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
"""Horizons of a slope over horizons, each with runs of its own."""

LARGE_EPSILONS = (2, 10, 100)
SMALL_EPSILONS = (0.1, 0.2, 0.5)

LARGEST_REGRET = 0.3
"""Above it Nash regret is too near to that of uniform play to scale with 1/epsilon."""

WINDOWS = tuple(2**m - 1 for m in range(17, 24))
"""Ends of windows of the anytime wrapper."""


def _over_time(evidence: Evidence, line_: Line, bias: str) -> Measure:
    regrets = line_.regrets(evidence, SHARES, bias)
    return slope(np.log(SHARES), [each.log() for each in regrets])


def _over_horizons(evidence: Evidence, lines: list[Line], bias: str) -> Measure:
    logs = [each.regret(evidence, bias).log() for each in lines]
    return slope([math.log(each.horizon) for each in lines], logs)


def _slope(
    evidence: Evidence, algorithm: str, variant: str, over: str, horizon: int, ncb: str, bias: str
) -> Measure:
    if over == "time":
        return _over_time(evidence, line(algorithm, variant, horizon, ncb=ncb), bias)
    lines = [line(algorithm, variant, each, ncb=ncb) for each in HORIZONS]
    return _over_horizons(evidence, lines, bias)


def slope_of_regret(
    evidence: Evidence,
    *,
    variant: str,
    algorithm: str,
    over: str,
    horizon: int = TEN_MILLION,
    ncb: str = "own",
    bias: str = "kept",
) -> Estimate:
    """Slope over log t on [0.3 T, T] (``over: time``), or of final values over log T (``horizon``).

    Over the horizon, T is 1e6, 1e7 and 1e8.
    """
    return _slope(evidence, algorithm, variant, over, horizon, ncb, bias).estimate()


def slope_difference(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    over: str,
    horizon: int = TEN_MILLION,
    ncb: str = "own",
    bias: str = "kept",
) -> Estimate:
    """Slope of the first algorithm minus that of the second."""
    one, other = (
        _slope(evidence, name, variant, over, horizon, ncb, bias) for name in (first, second)
    )
    return (one - other).estimate()


def _privacy_cost(evidence: Evidence, variant: str, horizon: int, bias: str) -> Measure:
    """Return log of the Nash regret of GDP-NCB over that of NCB at T, epsilon = 0.2."""
    private = Line(GLOBAL, variant, horizon).regret(evidence, bias)
    return private.log() - ncb_line(variant, "own", horizon).regret(evidence, bias).log()


def cost_of_privacy(
    evidence: Evidence, *, variant: str, horizon: int, bias: str = "kept"
) -> Estimate:
    """Nash regret of GDP-NCB over that of NCB at T, epsilon = 0.2."""
    return exponential(_privacy_cost(evidence, variant, horizon, bias))


def cost_steps(evidence: Evidence, *, variant: str, bias: str = "kept") -> Mapping[str, Estimate]:
    """Factor by which that ratio changes from each T to ten times it."""
    costs = {each: _privacy_cost(evidence, variant, each, bias) for each in HORIZONS}
    return {
        f"T={low:.0e} to {high:.0e}": exponential(costs[high] - costs[low])
        for low, high in itertools.pairwise(HORIZONS)
    }


def cost_at_epsilon(
    evidence: Evidence, *, variant: str, epsilon: float, ncb: str = "matched", bias: str = "kept"
) -> Estimate:
    """Nash regret of GDP-NCB at an epsilon over that of NCB, T = 1e7."""
    private = Line(GLOBAL, variant, epsilon=epsilon).regret(evidence, bias)
    return ratio_of(private, ncb_line(variant, ncb).regret(evidence, bias))


def epsilon_cost_steps(
    evidence: Evidence, *, variant: str, bias: str = "kept"
) -> Mapping[str, Estimate]:
    """Factor by which the Nash regret of GDP-NCB changes from one large epsilon to the next."""
    regrets = {
        epsilon: Line(GLOBAL, variant, epsilon=epsilon).regret(evidence, bias)
        for epsilon in LARGE_EPSILONS
    }
    return {
        f"epsilon={low:g} to {high:g}": ratio_of(regrets[high], regrets[low])
        for low, high in itertools.pairwise(LARGE_EPSILONS)
    }


def slope_in_epsilon(evidence: Evidence, *, variant: str, bias: str = "kept") -> Estimate:
    """Slope of log Nash regret of LDP-NCB over log epsilon, T = 1e7; NaN unless all are below 0.3.

    As written NaN, since LDP-NCB explores to the end of T = 1e7 whatever epsilon is.
    """
    if variant == "as-written":
        return StudentEstimate(math.nan)
    lines = [Line(LOCAL, variant, epsilon=epsilon) for epsilon in SMALL_EPSILONS]
    regrets = [each.regret(evidence, bias) for each in lines]
    if not all(regret.value < LARGEST_REGRET for regret in regrets):
        return StudentEstimate(math.nan)
    return slope(np.log(SMALL_EPSILONS), [each.log() for each in regrets]).estimate()


def _anytime_costs(
    evidence: Evidence, algorithm: str, variant: str, bias: str
) -> dict[int, Measure]:
    """Return log of the anytime Nash regret over that with known horizon, at ends of windows."""
    tags: dict[str, Any] = {"variant": variant, "epsilon": EPSILON}
    wrapper = nash_curves(evidence, "anytime", algorithm=f"anytime-{algorithm}", **tags)
    subtract = bias == "subtracted"
    costs = {}
    for end in WINDOWS:
        fixed = nash_curves(evidence, "known-horizon", algorithm=algorithm, horizon=end, **tags)
        [index] = positions(wrapper, [end / WINDOWS[-1]])
        unaware = nash_regret(wrapper, index, subtract_bias=subtract)
        costs[end] = unaware.log() - nash_regret(fixed, -1, subtract_bias=subtract).log()
    return costs


def anytime_cost(
    evidence: Evidence, *, variant: str, algorithm: str, bias: str = "kept"
) -> Mapping[str, Estimate]:
    """Anytime Nash regret over that with known horizon, over log t, at t = 2^17 - 1 to 2^23 - 1.

    NaN as written, where both explore to the end below T = 1e9 and the cost cannot be seen.
    """
    if variant == "as-written":
        return {"T below 1e9": StudentEstimate(math.nan)}
    costs = _anytime_costs(evidence, algorithm, variant, bias)
    return {f"t={end}": exponential(cost - math.log(math.log(end))) for end, cost in costs.items()}


def anytime_growth(
    evidence: Evidence, *, variant: str, algorithm: str, bias: str = "kept"
) -> Estimate:
    """Slope of the log of that ratio over log log t; NaN as written."""
    if variant == "as-written":
        return StudentEstimate(math.nan)
    costs = _anytime_costs(evidence, algorithm, variant, bias)
    return slope([math.log(math.log(end)) for end in costs], costs.values()).estimate()
