"""Statistics of whole panels: the two arms of (a), epsilon in (c) and (d), the four laws of (f).

``variant`` and ``ncb`` are those of ``comparison_statistics``; ``share`` is a time as a share of T.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpbandits.claims.estimates import Estimate, StudentEstimate
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.jackknife import Measure, average, ratio_of
from dpbandits.claims.nash import nash_curves, nash_regret
from dpbandits.papers.dp_ncb.curves import GLOBAL, LOCAL, Line, ncb_line

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
) -> Measure:
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
    return Measure(mean, {(TWO_ARMS, *map(str, tags.values())): values - mean})


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
    return _two_arm_regret(evidence, variant, algorithm, horizon, epsilon, order).estimate()


def two_arm_difference(
    evidence: Evidence, *, variant: str, first: str, second: str, horizon: int, epsilon: float
) -> Estimate:
    """Return the Nash regret at T of one algorithm minus that of another, in panel (a)."""
    one, other = (
        _two_arm_regret(evidence, variant, algorithm, horizon, epsilon)
        for algorithm in (first, second)
    )
    return (one - other).estimate()


def two_arm_growth(
    evidence: Evidence, *, variant: str, algorithm: str, begin: int, end: int, epsilon: float
) -> Estimate:
    """Return the Nash regret at one T over that at a smaller one, on the two arms of panel (a)."""
    last, first = (
        _two_arm_regret(evidence, variant, algorithm, horizon, epsilon) for horizon in (end, begin)
    )
    return ratio_of(last, first)


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
        f"epsilon={higher:g} over {lower:g}": ratio_of(regrets[higher], regrets[lower])
        for lower, higher in itertools.pairwise(epsilons)
    }


def ncb_ratios(
    evidence: Evidence, *, variant: str, algorithm: str, share: float, ncb: str = "own"
) -> Mapping[str, Estimate]:
    """Return Nash regret of NCB over that of a private algorithm at each epsilon of its panel."""
    plain = ncb_line(variant, ncb).regret(evidence, share)
    return {
        f"epsilon={epsilon:g}": ratio_of(
            plain, Line(algorithm, variant, epsilon=epsilon).regret(evidence, share)
        )
        for epsilon in EPSILONS
    }


def _panel_regret(
    evidence: Evidence, variant: str, algorithm: str, share: float, scored: str
) -> Measure:
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
        _, largest = ratio_of(homogeneous[low], homogeneous[high]).interval(SURE)
        is_clear = largest < 1.0
        ratio = ratio_of(mixed[low], mixed[high])
        points[f"{low} over {high}"] = ratio if is_clear else StudentEstimate(math.nan, ratio.runs)
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
        points[name] = ratio_of(last, first)
    return points
