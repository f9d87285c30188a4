"""Statistics on trends: success of DP-OD over y/x, of DP-BAI over T and epsilon."""

import itertools
import math
from collections.abc import Iterator

from dpbandits.claims import Estimate, Evidence, rate_difference, rate_trend
from dpbandits.claims.rates import Counted
from dpbandits.papers.dp_bai.comparing import is_in_range, summary
from dpbandits.papers.dp_bai.points import (
    BUDGET_EPSILONS,
    BUDGETS,
    CEILING,
    CORNER_EPSILONS,
    EPSILONS,
    FLOOR,
    MORE_RATIOS,
    PAIR_BUDGETS,
    PAIR_EPSILONS,
    RATIOS,
    SECTION5_LIMITS,
    Point,
    budget_point,
    corner_point,
    epsilon_point,
    pair_point,
    share,
    successes,
    weak_point,
)

Ordered = list[tuple[float, Counted]]
"""Successes and trials along a parameter, which increases."""


def success_trends(evidence: Evidence) -> dict[str, Estimate]:
    """Slope of the success of DP-BAI in log T, or in log epsilon, of each series on I-A.

    Series that lie at the floor, or at the ceiling, all along are left out.
    """
    found: dict[str, Estimate] = {}
    for name, series in _series(evidence):
        scores = [math.log(x) for x, _ in series]
        found[name] = rate_trend([counted for _, counted in series], scores)
    return found


def success_steps(evidence: Evidence) -> dict[str, Estimate]:
    """Change of the success of DP-BAI from each T, or epsilon, to the next, in the same series."""
    return {
        f"{name}, {lower:g} to {higher:g}": rate_difference(after, before)
        for name, series in _series(evidence)
        for (lower, before), (higher, after) in itertools.pairwise(series)
    }


def lowest_step(evidence: Evidence) -> Estimate:
    """The lowest of these steps."""
    return summary(success_steps(evidence), "smallest")


def ratio_trends(evidence: Evidence) -> dict[str, Estimate]:
    """Slope of the success of DP-OD in log y/x, at each (T, epsilon) of Figure 2.

    Points where its success at y/x = 1 is not in [0.6, 0.98] are left out.
    """
    found: dict[str, Estimate] = {}
    for epsilon, budget in itertools.product(PAIR_EPSILONS, PAIR_BUDGETS):
        more = MORE_RATIOS if (epsilon, budget) == (0.5, 1000) else ()
        ratios = sorted((*RATIOS, *more))
        counted = [
            successes(evidence, "dp-od", pair_point(ratio, epsilon, budget)) for ratio in ratios
        ]
        if is_in_range(counted[0]):
            label = f"T={budget}, epsilon={epsilon:g}"
            found[label] = rate_trend(counted, [math.log(ratio) for ratio in ratios])
    return found


def _series(evidence: Evidence) -> Iterator[tuple[str, Ordered]]:
    for name, points in _points().items():
        series = [(x, successes(evidence, "dp-bai", point)) for x, point in points]
        shares = [share(counted) for _, counted in series]
        is_floor = all(abs(each - SECTION5_LIMITS["dp-bai"]) <= FLOOR for each in shares)
        if not is_floor and min(shares) < CEILING:
            yield name, series


def _points() -> dict[str, list[tuple[float, Point]]]:
    found: dict[str, list[tuple[float, Point]]] = {
        f"over T, epsilon={epsilon:g}": [(each, budget_point(each, epsilon)) for each in BUDGETS]
        for epsilon in BUDGET_EPSILONS
    }
    found["over T, epsilon=100"] = [(each, weak_point(each)) for each in BUDGETS]
    found["over epsilon, T=1000"] = [(each, epsilon_point(each)) for each in EPSILONS]
    corner = [(each, corner_point(each)) for each in CORNER_EPSILONS]
    rest = [(each, budget_point(100, each)) for each in BUDGET_EPSILONS]
    found["over epsilon, T=100"] = corner + rest
    return found
