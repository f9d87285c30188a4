"""Statistics of whole panels: the two arms of panel (a), and orders among the curves of the others.

Leads, ``variant`` and ``bias`` are those of ``comparison_statistics``. ``share`` is a time as a
share of the horizon.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpbandits.claims import Estimate, Evidence
from dpbandits.claims.jackknife import Measure
from dpbandits.claims.nash import nash_curves
from dpbandits.papers.dp_ncb.comparison_statistics import lead_of
from dpbandits.papers.dp_ncb.curves import (
    GLOBAL,
    LOCAL,
    PRIVATE,
    TEN_MILLION,
    Line,
    adap_ucb_line,
    ldp_ucb_l_line,
    ncb_line,
)

EPSILONS = (0.2, 0.5, 1, 2)
"""Epsilon of panels (c) and (d)."""


def _two_arm_regret(
    evidence: Evidence, variant: str, algorithm: str, horizon: int, epsilon: float, order: str
) -> Measure:
    """Return the mean Nash regret of all curves of panel (a), which are the sample: ten of 50 runs.

    They are read whatever the limit of runs, as the published numbers are of ten curves too.
    """
    tags: dict[str, Any] = {"algorithm": algorithm, "variant": variant, "horizon": horizon}
    tags["epsilon"] = epsilon
    if algorithm == "adap-ucb":
        tags["order"] = None if order == "index" else order
    curves = nash_curves(replace(evidence, limit=None, skip=0), "panel-a", **tags)
    values = np.array([curve.nash_regret[-1] for curve in curves.values()])
    average = float(values.mean()) if values.size else math.nan
    return Measure(average, {("panel-a", *map(str, tags.values())): values - average})


def two_arm_regret(
    evidence: Evidence,
    *,
    variant: str,
    algorithm: str,
    horizon: int,
    epsilon: float,
    order: str = "index",
) -> Estimate:
    """Nash regret at T on the two arms of panel (a); order: of the first pulls of AdaP-UCB."""
    return _two_arm_regret(evidence, variant, algorithm, horizon, epsilon, order).estimate()


def two_arm_change(
    evidence: Evidence, *, variant: str, algorithm: str, begin: int, end: int, epsilon: float
) -> Estimate:
    """Relative change of the Nash regret on the two arms of panel (a) from one T to another."""
    first, last = (
        _two_arm_regret(evidence, variant, algorithm, horizon, epsilon, "index")
        for horizon in (begin, end)
    )
    return lead_of(last, first)


def epsilon_leads(
    evidence: Evidence, *, variant: str, algorithm: str, share: float, bias: str = "kept"
) -> Mapping[str, Estimate]:
    """Lead of each epsilon over the next smaller one, T = 1e7 (panels (c) and (d))."""
    regrets = {
        epsilon: Line(algorithm, variant, epsilon=epsilon).regret(evidence, bias, share)
        for epsilon in EPSILONS
    }
    return {
        f"epsilon={higher:g} against {lower:g}": lead_of(regrets[higher], regrets[lower])
        for lower, higher in itertools.pairwise(EPSILONS)
    }


def ncb_leads(
    evidence: Evidence, *, variant: str, share: float, ncb: str = "own", bias: str = "kept"
) -> Mapping[str, Estimate]:
    """Lead of NCB over every private curve of panels (c) to (f), T = 1e7.

    Panel (f) is scored by nominal means as coded (D24).
    """
    nominal = variant == "as-coded"
    pairs = {
        f"{algorithm}, epsilon={epsilon:g}": (
            ncb_line(variant, ncb),
            Line(algorithm, variant, epsilon=epsilon),
        )
        for algorithm in PRIVATE
        for epsilon in EPSILONS
    }
    for algorithm in PRIVATE:
        pairs[f"{algorithm}, four laws"] = (
            ncb_line(variant, ncb, mixed=True, nominal=nominal),
            Line(algorithm, variant, mixed=True, nominal=nominal),
        )
    return {
        name: lead_of(one.regret(evidence, bias, share), other.regret(evidence, bias, share))
        for name, (one, other) in pairs.items()
    }


def rival_leads(
    evidence: Evidence,
    *,
    variant: str,
    horizon: int,
    rivals: str = "all",
    ncb: str = "own",
    bias: str = "kept",
) -> Mapping[str, Estimate]:
    """Lead of NCB over every other algorithm of panel (b) at T.

    Args:
        evidence: the results.
        variant: of the claim.
        horizon: T.
        rivals: ``plotted`` in panel (b), or ``all``: with UCB1 (T = 1e7), and, as coded, with
            AdaP-UCB scored by the true best mean besides 1 (D17).
        ncb: version of NCB, see ``curves.ncb_line``.
        bias: of the estimates.
    """
    others = {
        GLOBAL: Line(GLOBAL, variant, horizon),
        LOCAL: Line(LOCAL, variant, horizon),
        "ldp-ucb-l": ldp_ucb_l_line(variant, horizon),
        "adap-ucb": adap_ucb_line(variant, horizon, "as-plotted"),
    }
    if rivals == "all" and variant == "as-coded":
        others["adap-ucb, true best mean"] = adap_ucb_line(variant, horizon, "true")
    if rivals == "all" and horizon == TEN_MILLION:
        # As coded UCB1 hides an arm's first mean, which changes nothing that could be seen.
        others["ucb1"] = Line("ucb1", "repaired", horizon)
    own = ncb_line(variant, ncb, horizon).regret(evidence, bias)
    return {name: lead_of(own, each.regret(evidence, bias)) for name, each in others.items()}


def order_leads(
    evidence: Evidence,
    *,
    variant: str,
    panel: str,
    share: float,
    scoring: str = "true",
    ncb: str = "own",
    bias: str = "kept",
) -> Mapping[str, Estimate]:
    """Lead of NCB over GDP-NCB, and of GDP-NCB over LDP-NCB, epsilon = 0.2, T = 1e7.

    Args:
        evidence: the results.
        variant: of the claim.
        panel: ``e``, or ``f`` with its four laws.
        share: time as a share of T.
        scoring: of panel (f), by ``true`` or ``nominal`` means (D24).
        ncb: version of NCB, see ``curves.ncb_line``.
        bias: of the estimates.
    """
    where: dict[str, Any] = {
        "mixed": panel == "f",
        "nominal": panel == "f" and scoring == "nominal",
    }
    lines = {
        "NCB": ncb_line(variant, ncb, **where),
        "GDP-NCB": Line(GLOBAL, variant, **where),
        "LDP-NCB": Line(LOCAL, variant, **where),
    }
    regrets = {name: each.regret(evidence, bias, share) for name, each in lines.items()}
    return {
        f"{one} against {other}": lead_of(regrets[one], regrets[other])
        for one, other in itertools.pairwise(regrets)
    }
