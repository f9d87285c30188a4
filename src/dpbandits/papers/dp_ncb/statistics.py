"""Statistics of simulated curves: at one time, of whole panels, and of slopes.

``variant`` is the claim's; ``scored``, ``adap_ucb``, ``ldp_ucb`` and ``ncb`` are its
values of the curves (see ``curves``). epsilon is 0.2; ``share`` is a time as a share of
the horizon.

Slopes are of log Nash regret, by least squares.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Evidence, nash_curves, nash_regret
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    StudentEstimate,
    average,
    largest,
    ratio,
    slope,
    smallest,
)
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

Values = NDArray[np.float64]


def regret(
    evidence: Evidence,
    *,
    variant: str,
    algorithm: str,
    horizon: int = TEN_MILLION,
    share: float = 1.0,
    scored: str = "equation-2",
    adap_ucb: str = "own",
    ncb: str = "own",
) -> Estimate:
    """Return the Nash regret of an algorithm at a share of T."""
    chosen = line(algorithm, variant, horizon, scored=scored, adap_ucb=adap_ucb, ncb=ncb)
    return chosen.regret(evidence, share)


def regret_ratio(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    horizon: int = TEN_MILLION,
    share: float = 1.0,
    scored: str = "equation-2",
    adap_ucb: str = "own",
    ldp_ucb: str = "own",
    ncb: str = "own",
) -> Estimate:
    """Return the Nash regret of the first algorithm over that of the second at a share of T."""
    interpretations = {"scored": scored, "adap_ucb": adap_ucb, "ldp_ucb": ldp_ucb, "ncb": ncb}
    one, other = (
        line(name, variant, horizon, **interpretations).regret(evidence, share)
        for name in (first, second)
    )
    return ratio(one, other)


def smallest_ratio(
    evidence: Evidence,
    *,
    variant: str,
    first: str,
    second: str,
    horizon: int,
    scored: str = "equation-2",
) -> Estimate:
    """Return smallest ratio of the first algorithm's Nash regret to the second's at any time."""
    lines = [line(name, variant, horizon, scored=scored) for name in (first, second)]
    (_, one), (_, other) = (curve.history(evidence) for curve in lines)
    if not one or not other:
        return StudentEstimate(math.nan)
    return smallest(ratio(above, below) for above, below in zip(one, other, strict=True))


def crossing_time(
    evidence: Evidence, *, variant: str, scored: str = "equation-2", adap_ucb: str = "own"
) -> Estimate:
    """Return last time in panel (b) at which GDP-NCB falls below AdaP-UCB; NaN if it ends above.

    Between recorded times their difference is taken to be linear in log t.
    """
    interpretations = {"scored": scored, "adap_ucb": adap_ucb}
    lines = [
        line(name, variant, HUNDRED_MILLION, **interpretations) for name in (GLOBAL, "adap-ucb")
    ]
    (times, one), (_, other) = (curve.history(evidence) for curve in lines)
    differences = [first - second for first, second in zip(one, other, strict=True)]
    if not differences or differences[-1].value > 0.0:
        return StudentEstimate(math.nan)
    return _last_fall(times, differences).exp()


def time_below(
    evidence: Evidence, *, variant: str, algorithm: str, level: float, ncb: str = "own"
) -> Estimate:
    """Return the last time at which a Nash regret of panel (e) is below a level; T if it is not."""
    return _time_below(evidence, line(algorithm, variant, TEN_MILLION, ncb=ncb), level).exp()


def time_below_ratio(
    evidence: Evidence, *, variant: str, first: str, second: str, level: float, ncb: str = "own"
) -> Estimate:
    """Return the time at which one Nash regret of panel (e) falls below a level over another's.

    One that does not fall below it by T counts as falling below it at T; NaN where neither does.
    """
    lines = [line(name, variant, TEN_MILLION, ncb=ncb) for name in (first, second)]
    one, other = (_time_below(evidence, curve, level) for curve in lines)
    if not one.influences and not other.influences:
        return StudentEstimate(math.nan)
    return (one - other).exp()


def _time_below(evidence: Evidence, chosen: Line, level: float) -> Measured:
    """Return the logarithm of the time at which a Nash regret falls below a level."""
    times, regrets = chosen.history(evidence)
    return _last_fall(times, [regret - level for regret in regrets])


def _last_fall(times: Values, differences: list[Measured]) -> Measured:
    """Return the logarithm of the last time at which differences fall below 0.

    The first time where none is above 0 and the last one where the last is, without influences:
    these are bounds on it, which hold whatever the runs. NaN without any time.
    """
    if not differences:
        return Measured.of(math.nan)
    above = np.flatnonzero([difference.value > 0.0 for difference in differences])
    if above.size == 0:
        return Measured.of(math.log(times[0]))
    last = int(above[-1])
    if last == times.size - 1:
        return Measured.of(math.log(times[-1]))
    return _zero(np.log(times[last : last + 2]), differences[last], differences[last + 1])


def _zero(logs: Values, before: Measured, after: Measured) -> Measured:
    """Return the logarithm of time where the line between two differences is 0."""
    begin, span = float(logs[0]), float(logs[1] - logs[0])
    drop = before.value - after.value
    change = (after * before.value - before * after.value) * (span / drop**2)
    return Measured.of(begin + span * before.value / drop, change.influences)


EPSILONS = (0.2, 0.5, 1, 2)
"""Epsilon of panels (c) and (d)."""

TWO_ARMS = "panel-a-verdicts"
PUBLISHED_RUNS = 500
"""Where the claims read the two arms, and how many runs the ten published curves have."""

SURE = 0.01
"""Level at which the order of two curves of panel (e) has to be clear."""

ALGORITHMS = ("ncb", GLOBAL, LOCAL)
"""Those of panels (e) and (f)."""


def _two_arm_regret(
    evidence: Evidence,
    variant: str,
    algorithm: str,
    horizon: int,
    epsilon: float,
    order: str = "index",
) -> Measured:
    """Return the mean Nash regret of curves of 50 runs on the two arms, which are the sample.

    A limit below the 500 runs of the ten published curves is one of other panels: all are read.
    """
    if evidence.limit is not None and evidence.limit < PUBLISHED_RUNS:
        evidence = replace(evidence, limit=None, skip=0)
    tags: dict[str, Any] = {"algorithm": algorithm, "variant": variant, "horizon": horizon}
    tags["epsilon"] = epsilon
    if algorithm == "adap-ucb":
        tags["order"] = None if order == "index" else order
    curves = nash_curves(evidence, TWO_ARMS, **tags)
    regrets = [nash_regret({key: curve}, -1, subtract_bias=True) for key, curve in curves.items()]
    mean = average(regrets).value
    values = np.array([curve.value for curve in regrets])
    return Measured.of(mean, {(TWO_ARMS, *map(str, tags.values())): values - mean})


def two_arm_regret(
    evidence: Evidence,
    *,
    variant: str,
    algorithm: str,
    horizon: int,
    epsilon: float,
    order: str = "index",
) -> Estimate:
    """Return the Nash regret at T in panel (a); ``order`` is that of AdaP-UCB's first pulls."""
    return _two_arm_regret(evidence, variant, algorithm, horizon, epsilon, order)


def two_arm_difference(
    evidence: Evidence, *, variant: str, first: str, second: str, horizon: int, epsilon: float
) -> Estimate:
    """Return the Nash regret at T of one algorithm minus that of another, in panel (a)."""
    one, other = (
        _two_arm_regret(evidence, variant, algorithm, horizon, epsilon)
        for algorithm in (first, second)
    )
    return one - other


def two_arm_growth(
    evidence: Evidence, *, variant: str, algorithm: str, begin: int, end: int, epsilon: float
) -> Estimate:
    """Return the Nash regret at one T over that at a smaller one, on the two arms of panel (a)."""
    last, first = (
        _two_arm_regret(evidence, variant, algorithm, horizon, epsilon) for horizon in (end, begin)
    )
    return ratio(last, first)


def epsilon_ratios(
    evidence: Evidence,
    *,
    variant: str,
    algorithm: str,
    share: float = 1.0,
    epsilons: Sequence[float] = EPSILONS,
) -> Mapping[str, Estimate]:
    """Return the Nash regret at each epsilon over that at the next smaller one, T = 1e7."""
    regrets = {
        epsilon: Line(algorithm, variant, epsilon=epsilon).regret(evidence, share)
        for epsilon in epsilons
    }
    return {
        f"epsilon={higher:g} over {lower:g}": ratio(regrets[higher], regrets[lower])
        for lower, higher in itertools.pairwise(epsilons)
    }


def ncb_ratios(
    evidence: Evidence, *, variant: str, algorithm: str, share: float, ncb: str = "own"
) -> Mapping[str, Estimate]:
    """Return Nash regret of NCB over that of a private algorithm at each epsilon of its panel."""
    plain = ncb_line(variant, ncb).regret(evidence, share)
    return {
        f"epsilon={epsilon:g}": ratio(
            plain, Line(algorithm, variant, epsilon=epsilon).regret(evidence, share)
        )
        for epsilon in EPSILONS
    }


def _panel_regret(
    evidence: Evidence, variant: str, algorithm: str, share: float, scored: str
) -> Measured:
    """Return a Nash regret of panel (f), by ``true`` or ``nominal`` means, or of (e), by none."""
    chosen = Line(algorithm, variant, mixed=scored != "", nominal=scored == "nominal")
    return chosen.regret(evidence, share)


def order_ratios(
    evidence: Evidence, *, variant: str, share: float, scored: str
) -> Mapping[str, Estimate]:
    """Return the Nash regret in panel (f) of each curve over that of the next in the order of (e).

    NaN for two curves whose order in (e) is not clear at the level ``SURE``.

    Args:
        evidence: the results.
        variant: of the claim.
        share: time as a share of T.
        scored: of panel (f), by ``true`` or ``nominal`` means (D24).
    """
    homogeneous, mixed = (
        {name: _panel_regret(evidence, variant, name, share, which) for name in ALGORITHMS}
        for which in ("", scored)
    )
    points: dict[str, Estimate] = {}
    order = sorted(ALGORITHMS, key=lambda name: homogeneous[name].value)
    for low, high in itertools.pairwise(order):
        _, largest = ratio(homogeneous[low], homogeneous[high]).interval(SURE)
        is_clear = largest < 1.0
        quotient = ratio(mixed[low], mixed[high])
        points[f"{low} over {high}"] = (
            quotient if is_clear else StudentEstimate(math.nan, quotient.runs)
        )
    return points


def falls(
    evidence: Evidence, *, variant: str, begin: float, end: float, scored: str
) -> Mapping[str, Estimate]:
    """Return the Nash regret of each curve of panel (f) at a share of T over an earlier one."""
    points: dict[str, Estimate] = {}
    for name in ALGORITHMS:
        first, last = (
            _panel_regret(evidence, variant, name, share, scored) for share in (begin, end)
        )
        points[name] = ratio(last, first)
    return points


SHARES = tuple(float(share) for share in np.geomspace(0.3, 1.0, 20))
"""Times of a slope over time, as shares of the horizon."""

HORIZONS = (10**6, TEN_MILLION, HUNDRED_MILLION)
"""Horizons over which the cost of privacy is followed, each with runs of its own."""

WINDOWS = tuple(2**m - 1 for m in range(17, 24))
"""Ends of windows of the anytime wrapper."""


def _slope(evidence: Evidence, chosen: Line) -> Measured:
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
    return _slope(evidence, line(algorithm, variant, horizon, ncb=ncb))


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
    return one - other


def cost_steps(evidence: Evidence, *, variant: str) -> Mapping[str, Estimate]:
    """Return GDP-NCB's Nash regret over NCB's at ten times a T, over the same ratio at T."""
    costs = {
        horizon: Line(GLOBAL, variant, horizon).regret(evidence).log()
        - ncb_line(variant, "own", horizon).regret(evidence).log()
        for horizon in HORIZONS
    }
    return {
        f"T={high:.0e} over {low:.0e}": (costs[high] - costs[low]).exp()
        for low, high in itertools.pairwise(HORIZONS)
    }


def cost_at_epsilon(evidence: Evidence, *, variant: str, epsilon: float) -> Estimate:
    """Return the Nash regret of GDP-NCB at an epsilon over that of NCB, T = 1e7."""
    private = Line(GLOBAL, variant, epsilon=epsilon).regret(evidence)
    return ratio(private, ncb_line(variant, "own").regret(evidence))


def slope_in_epsilon(evidence: Evidence, *, variant: str, epsilons: Sequence[float]) -> Estimate:
    """Return the slope of log Nash regret of LDP-NCB over log epsilon, T = 1e7."""
    regrets = [Line(LOCAL, variant, epsilon=epsilon).regret(evidence).log() for epsilon in epsilons]
    return slope(np.log(epsilons), regrets)


def _anytime_costs(evidence: Evidence, variant: str, algorithm: str) -> dict[int, Measured]:
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
    return pick(cost.exp() for cost in _anytime_costs(evidence, variant, algorithm).values())


def anytime_growth(evidence: Evidence, *, variant: str, algorithm: str) -> Estimate:
    """Return anytime wrapper's cost at the end of the last window over that of the one before."""
    *_, before, last = _anytime_costs(evidence, variant, algorithm).values()
    return (last - before).exp()
