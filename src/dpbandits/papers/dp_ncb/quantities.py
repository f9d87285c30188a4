"""Numbers that claims ask for and no operation on series gives: times, orders, the two arms."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Series, nash_curves, nash_regret
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    StudentEstimate,
    as_measured,
    average,
    ratio,
)

Values = NDArray[np.float64]

PUBLISHED_RUNS = 500
"""How many runs the ten published curves of panel (a) have."""

SURE = 0.01
"""Level at which the order of two curves of panel (e) has to be clear."""


def two_arm_regret(series: Series) -> Measured:
    """Return the mean Nash regret of curves of 50 runs on the two arms, which are the sample.

    A limit below the 500 runs of the ten published curves is one of other panels: all are read.
    """
    name, where = series.place
    evidence = series.evidence
    if evidence.limit is not None and evidence.limit < PUBLISHED_RUNS:
        evidence = replace(evidence, limit=None, skip=0)
    curves = nash_curves(evidence, name, **where)
    regrets = [nash_regret({key: curve}, -1) for key, curve in curves.items()]
    value = average(regrets).value
    sample = (name, *map(str, where.values()))
    return Measured.of(value, {sample: np.array([one.value for one in regrets]) - value})


def crossing_time(first: Series, second: Series) -> Estimate:
    """Return the last time at which one Nash regret falls below another; NaN if it ends above.

    Between recorded times their difference is taken to be linear in log t.
    """
    (times, one), (_, other) = first.regrets, second.regrets
    differences = [above - below for above, below in zip(one, other, strict=True)]
    if not differences or differences[-1].value > 0.0:
        return StudentEstimate(math.nan)
    return _last_fall(times, differences).exp()


def time_below(series: Series, *, level: float) -> Estimate:
    """Return the last time at which a Nash regret falls below a level; T if it is not below."""
    return _time_below(series, level).exp()


def time_below_ratio(first: Series, second: Series, *, level: float) -> Estimate:
    """Return the time at which one Nash regret falls below a level over another's.

    One that does not fall below it by T counts as falling below it at T; NaN where neither does.
    """
    one, other = (_time_below(series, level) for series in (first, second))
    if not one.influences and not other.influences:
        return StudentEstimate(math.nan)
    return (one - other).exp()


def _time_below(series: Series, level: float) -> Measured:
    """Return the logarithm of the time at which a Nash regret falls below a level."""
    times, regrets = series.regrets
    return _last_fall(times, [regret - level for regret in regrets])


def _last_fall(times: list[int], differences: list[Measured]) -> Measured:
    """Return the logarithm of the last time at which differences fall below 0.

    The first time where none is above 0 and the last one where the last is, without influences:
    these are bounds on it, which hold whatever the runs. NaN without any time.
    """
    if not differences:
        return Measured(math.nan)
    above = np.flatnonzero([difference.value > 0.0 for difference in differences])
    if above.size == 0:
        return Measured(math.log(times[0]))
    last = int(above[-1])
    if last == len(times) - 1:
        return Measured(math.log(times[-1]))
    return _zero(np.log(times[last : last + 2]), differences[last], differences[last + 1])


def _zero(logs: Values, before: Measured, after: Measured) -> Measured:
    """Return the logarithm of time where the line between two differences is 0."""
    begin, span = float(logs[0]), float(logs[1] - logs[0])
    drop = before.value - after.value
    change = (after * before.value - before * after.value) * (span / drop**2)
    return Measured.of(begin + span * before.value / drop, change.influences)


def order_ratios(*series: Series) -> Mapping[str, Estimate]:
    """Return the Nash regret of each curve over that of the next in the order of other curves.

    NaN for two whose order there is not clear at the level ``SURE``.

    Args:
        series: curves whose order it is, then the curves of the same algorithms.
    """
    half = len(series) // 2
    names = [str(one.tags["algorithm"]) for one in series[:half]]
    regrets = [as_measured(one.number()) for one in series]
    ordered, compared = (
        dict(zip(names, part, strict=True)) for part in (regrets[:half], regrets[half:])
    )
    points: dict[str, Estimate] = {}
    for low, high in itertools.pairwise(sorted(names, key=lambda name: ordered[name].value)):
        is_clear = ratio(ordered[low], ordered[high]).interval(SURE)[1] < 1.0
        quotient = ratio(compared[low], compared[high])
        unclear = StudentEstimate(math.nan, quotient.runs)
        points[f"{low} over {high}"] = quotient if is_clear else unclear
    return points
