"""Statistics on trends: success over y/x, T and epsilon, and decisions on a common stream."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, exact, mean
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.rates import Counted, rate_difference, rate_trend
from dpbandits.papers.dp_bai import grid

Values = NDArray[np.float64]

PAIRED_EPSILONS = (0.1, 0.5)
PAIRED_BUDGETS = (200, 1000)

Ordered = list[tuple[float, Counted]]
"""Successes and trials along a parameter, which increases."""


def success_trends(evidence: Evidence) -> dict[str, Estimate]:
    """Return the slope of the success of DP-BAI in log T, or in log epsilon, of each series on I-A.

    Series that lie at the floor, or at the ceiling, all along are left out.
    """
    trends: dict[str, Estimate] = {}
    for name, series in _series(evidence):
        scores = [math.log(x) for x, _ in series]
        trends[name] = rate_trend([counted for _, counted in series], scores)
    return trends


def success_steps(evidence: Evidence) -> dict[str, Estimate]:
    """Return the change of success of DP-BAI from each T, or epsilon, to the next, by series."""
    return {
        f"{name}, {lower:g} to {higher:g}": rate_difference(after, before)
        for name, series in _series(evidence)
        for (lower, before), (higher, after) in itertools.pairwise(series)
    }


def lowest_step(evidence: Evidence) -> Estimate:
    """Return the lowest of these steps."""
    return grid.summary(success_steps(evidence), "smallest")


def ratio_trends(evidence: Evidence) -> dict[str, Estimate]:
    """Return the slope of the success of DP-OD in log y/x, at each (T, epsilon) of Figure 2.

    Points where its success at y/x = 1 is not in [0.6, 0.98] are left out.
    """
    trends: dict[str, Estimate] = {}
    for epsilon, budget in itertools.product(grid.PAIR_EPSILONS, grid.PAIR_BUDGETS):
        more = grid.MORE_RATIOS if (epsilon, budget) == (0.5, 1000) else ()
        ratios = sorted((*grid.RATIOS, *more))
        counted = [
            grid.successes(evidence, "dp-od", grid.pair_point(ratio, epsilon, budget))
            for ratio in ratios
        ]
        if grid.is_in_range(counted[0]):
            label = f"T={budget}, epsilon={epsilon:g}"
            trends[label] = rate_trend(counted, [math.log(ratio) for ratio in ratios])
    return trends


def _series(evidence: Evidence) -> Iterator[tuple[str, Ordered]]:
    for name, points in _points().items():
        series = [(x, grid.successes(evidence, "dp-bai", point)) for x, point in points]
        shares = [grid.share(counted) for _, counted in series]
        is_floor = all(abs(rate - grid.SECTION5_LIMITS["dp-bai"]) <= grid.FLOOR for rate in shares)
        if not is_floor and min(shares) < grid.CEILING:
            yield name, series


def _points() -> dict[str, list[tuple[float, grid.Point]]]:
    points: dict[str, list[tuple[float, grid.Point]]] = {
        f"over T, epsilon={epsilon:g}": [(t, grid.budget_point(t, epsilon)) for t in grid.BUDGETS]
        for epsilon in grid.BUDGET_EPSILONS
    }
    points["over T, epsilon=100"] = [(t, grid.weak_point(t)) for t in grid.BUDGETS]
    points["over epsilon, T=1000"] = [
        (epsilon, grid.epsilon_point(epsilon)) for epsilon in grid.EPSILONS
    ]
    points["over epsilon, T=100"] = [
        *((epsilon, grid.corner_point(epsilon)) for epsilon in grid.CORNER_EPSILONS),
        *((epsilon, grid.budget_point(100, epsilon)) for epsilon in grid.BUDGET_EPSILONS),
    ]
    return points


def ratio_gaps(evidence: Evidence) -> dict[str, Estimate]:
    """Return success of DP-BAI minus that at y/x = 1 on one stream, for each y/x, T and epsilon.

    Arm 0 is the better one.
    """
    gaps: dict[str, Estimate] = {}
    for label, first, other in _paired(evidence):
        is_lost = np.isnan(first).any() or np.isnan(other).any()
        gap = (other == 0.0).astype(float) - (first == 0.0)
        gaps[label] = exact(math.nan, gap.size) if is_lost else mean(gap)
    return gaps


def ratio_mismatches(evidence: Evidence) -> dict[str, Estimate]:
    """Return trials in which DP-BAI returns another arm than at y/x = 1, by y/x, T and epsilon."""
    return {label: _mismatches(first, other) for label, first, other in _paired(evidence)}


def _paired(evidence: Evidence) -> Iterator[tuple[str, Values, Values]]:
    """Return label, arms returned at y/x = 1, and arms returned at another y/x."""
    for epsilon, budget in itertools.product(PAIRED_EPSILONS, PAIRED_BUDGETS):
        tags: dict[str, Any] = {"epsilon": epsilon, "horizon": budget}
        first = evidence.values("common-stream", "recommended", ratio=1, **tags)
        for ratio in sorted({*grid.RATIOS, *grid.MORE_RATIOS} - {1}):
            other = evidence.values("common-stream", "recommended", ratio=ratio, **tags)
            yield f"y/x={ratio:g}, T={budget}, epsilon={epsilon:g}", first, other


def noiseless_mismatches(evidence: Evidence) -> dict[str, Estimate]:
    """Return trials in which DP-BAI without noise and OD-LinBAI differ in the arm, at each T."""
    mismatches = {}
    for budget in grid.BUDGETS:
        private = evidence.values(
            "noiseless", "recommended", algorithm="dp-bai", horizon=budget, epsilon=math.inf
        )
        other = evidence.values("noiseless", "recommended", algorithm="od-linbai", horizon=budget)
        mismatches[f"T={budget}"] = _mismatches(private, other)
    return mismatches


def _mismatches(first: Values, second: Values) -> Estimate:
    is_lost = first.size == 0 or np.isnan(first).any() or np.isnan(second).any()
    return exact(math.nan if is_lost else float((first != second).sum()), first.size)
