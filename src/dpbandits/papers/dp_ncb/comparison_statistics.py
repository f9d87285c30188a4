"""Statistics that compare Nash regrets at one time, or the times at which they fall below a level.

``variant`` is the claim's; ``scored``, ``adap_ucb``, ``ldp_ucb`` and ``ncb`` are its
values of the curves (see ``curves``). epsilon is 0.2; ``share`` is a time as a share of
the horizon.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, StudentEstimate, smallest
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.jackknife import Measure, exponential, ratio_of
from dpbandits.papers.dp_ncb.curves import GLOBAL, HUNDRED_MILLION, TEN_MILLION, Line, line

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
    return chosen.regret(evidence, share).estimate()


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
    return ratio_of(one, other)


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
    return smallest(ratio_of(above, below) for above, below in zip(one, other, strict=True))


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
    return exponential(_last_fall(times, differences))


def time_below(
    evidence: Evidence, *, variant: str, algorithm: str, level: float, ncb: str = "own"
) -> Estimate:
    """Return the last time at which a Nash regret of panel (e) is below a level; T if it is not."""
    return exponential(_time_below(evidence, line(algorithm, variant, TEN_MILLION, ncb=ncb), level))


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
    return exponential(one - other)


def _time_below(evidence: Evidence, chosen: Line, level: float) -> Measure:
    """Return the logarithm of the time at which a Nash regret falls below a level."""
    times, regrets = chosen.history(evidence)
    return _last_fall(times, [regret - level for regret in regrets])


def _last_fall(times: Values, differences: list[Measure]) -> Measure:
    """Return the logarithm of the last time at which differences fall below 0.

    The first time where none is above 0 and the last one where the last is, without influences:
    these are bounds on it, which hold whatever the runs. NaN without any time.
    """
    if not differences:
        return Measure(math.nan)
    above = np.flatnonzero([difference.value > 0.0 for difference in differences])
    if above.size == 0:
        return Measure(math.log(times[0]))
    last = int(above[-1])
    if last == times.size - 1:
        return Measure(math.log(times[-1]))
    return _zero(np.log(times[last : last + 2]), differences[last], differences[last + 1])


def _zero(logs: Values, before: Measure, after: Measure) -> Measure:
    """Return the logarithm of time where the line between two differences is 0."""
    begin, span = float(logs[0]), float(logs[1] - logs[0])
    drop = before.value - after.value
    change = (after * before.value - before * after.value) * (span / drop**2)
    return Measure(begin + span * before.value / drop, change.influences)
