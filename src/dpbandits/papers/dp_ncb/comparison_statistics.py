"""Statistics that compare two Nash regrets: which is lower, by how much, and from when on.

A lead is the difference of two Nash regrets over the second one, or over 0.1 where that is less:
below -0.01 it is more than max(0.001, 1 % of the second), the margin of the specification's section
10.1. ``variant`` is the claim's; ``best_mean``, ``baseline`` and ``ncb`` are readings of the curves
(see ``curves``); ``bias`` is ``kept`` or ``subtracted`` (first order in 1/R).
"""

import math

import numpy as np

from dpbandits.claims import Estimate, Evidence, StudentEstimate, smallest
from dpbandits.claims.jackknife import Measure, ratio_of
from dpbandits.papers.dp_ncb.curves import GLOBAL, HUNDRED_MILLION, line

SMALLEST_SCALE = 0.1
"""The margin is 1 % of a Nash regret, of at least so much."""


def lead_of(first: Measure, second: Measure) -> StudentEstimate:
    """Return the lead of the first Nash regret over the second; below 0 where it is lower."""
    below = second.value
    if below < SMALLEST_SCALE:
        return ((first - second) * (1.0 / SMALLEST_SCALE)).estimate()
    ratio = first.value / below
    change = first * (1.0 / below) - second * (ratio / below)
    return Measure(ratio - 1.0, change.influences).estimate()


def lead(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    horizon: int,
    best_mean: str = "as-plotted",
    baseline: str = "own",
    ncb: str = "own",
    bias: str = "kept",
) -> Estimate:
    """Lead of the first algorithm over the second at T, epsilon = 0.2."""
    readings = {"best_mean": best_mean, "baseline": baseline, "ncb": ncb}
    one, other = (line(name, variant, horizon, **readings) for name in (first, second))
    return lead_of(one.regret(evidence, bias), other.regret(evidence, bias))


def lead_at_best(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    horizons: list[int],
    best_mean: str = "as-plotted",
    baseline: str = "own",
    bias: str = "kept",
) -> Estimate:
    """Smallest of the leads at several T: below the margin if the first is lower at one of them."""
    readings = {"best_mean": best_mean, "baseline": baseline, "bias": bias}
    pair = {"variant": variant, "first": first, "second": second}
    return smallest(lead(evidence, horizon=each, **pair, **readings) for each in horizons)


def regret_ratio(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    horizon: int,
    best_mean: str = "as-plotted",
    baseline: str = "own",
    ncb: str = "own",
    bias: str = "kept",
) -> Estimate:
    """Nash regret of the first algorithm over that of the second at T, epsilon = 0.2."""
    readings = {"best_mean": best_mean, "baseline": baseline, "ncb": ncb}
    one, other = (line(name, variant, horizon, **readings) for name in (first, second))
    return ratio_of(one.regret(evidence, bias), other.regret(evidence, bias))


def crossing_time(
    evidence: Evidence,
    *,
    variant: str,
    best_mean: str = "as-plotted",
    baseline: str = "own",
    bias: str = "kept",
) -> Estimate:
    """Last time in panel (b) at which GDP-NCB falls below AdaP-UCB; NaN where it ends above.

    Between recorded times their difference is taken to be linear in log t.
    """
    readings = {"best_mean": best_mean, "baseline": baseline}
    lines = [line(name, variant, HUNDRED_MILLION, **readings) for name in (GLOBAL, "adap-ucb")]
    curves = lines[0].curves(evidence)
    if not curves:
        return StudentEstimate(math.nan)
    times = next(iter(curves.values())).times
    regrets = (each.regrets(evidence, times / times[-1], bias) for each in lines)
    differences = [one - other for one, other in zip(*regrets, strict=True)]
    above = np.flatnonzero([each.value > 0.0 for each in differences])
    if above.size == 0 or above[-1] == times.size - 1:
        return StudentEstimate(math.nan)
    last = int(above[-1])
    return _zero(np.log(times[last : last + 2]), differences[last], differences[last + 1])


def _zero(logs: np.ndarray, before: Measure, after: Measure) -> StudentEstimate:
    """Return the time at which the line between two differences is 0, by the chain rule."""
    begin, span = float(logs[0]), float(logs[1] - logs[0])
    drop = before.value - after.value
    time = math.exp(begin + span * before.value / drop)
    change = (after * before.value - before * after.value) * (time * span / drop**2)
    return Measure(time, change.influences).estimate()
