"""Statistics on success rates: beside DP-BAI, as trends, and of the findings."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import (
    Counted,
    Estimate,
    exact,
    mean,
    rate,
    rate_difference,
    rate_trend,
)
from dpbandits.papers.dp_bai import grid

MARGIN = 0.03
"""Success rates that differ by less are similar."""

LEVEL = 0.02
"""Of the claims on success rates: one-sided 1 %."""

NEGLIGIBLE = 1e9
"""Epsilon whose noise moves no mean by more than about 1e-9."""

PANELS = {
    "T": tuple(
        grid.budget_point(budget, epsilon)
        for epsilon in grid.BUDGET_EPSILONS
        for budget in grid.BUDGETS
    ),
    "epsilon": tuple(map(grid.epsilon_point, grid.EPSILONS)),
}
"""Points of the two panels of Figure 1, by what is on the horizontal axis."""


def advantage(evidence: Evidence, *, over: str, panel: str, points: str) -> grid.Differences:
    """Return success of DP-BAI minus that of ``over``, Baseline or DP-OD, in a panel of Figure 1.

    Args:
        evidence: the results.
        over: the other algorithm.
        panel: a key of ``PANELS``.
        points: see ``comparing``.
    """
    limits = grid.SECTION5_LIMITS["dp-bai"], grid.SECTION5_LIMITS[over]
    differences: grid.Differences = {}
    for point in PANELS[panel]:
        pair = grid.pair_at(evidence, ("dp-bai", over), point)
        grid.add_difference(differences, point.label, pair, limits, points)
    return differences


def advantage_summary(evidence: Evidence, *, over: str, quantity: str) -> Estimate:
    """Return smallest, median or largest of these at informative points, or the turning margin."""
    return _summed(_advantages(evidence, over), quantity)


def _advantages(evidence: Evidence, over: str) -> grid.Differences:
    differences: grid.Differences = {}
    for panel in PANELS:
        differences |= advantage(evidence, over=over, panel=panel, points="informative")
    return differences


def _summed(differences: grid.Differences, quantity: str) -> Estimate:
    if quantity == "turning margin":
        return grid.turning_margin(differences, "greater", LEVEL)
    return grid.summary(differences, quantity)


def ratio_advantage(evidence: Evidence, *, points: str) -> grid.Differences:
    """Return the success of DP-BAI minus that of DP-OD on two arms, for all y/x above 1.

    Informative are the points where DP-BAI lies in [0.6, 0.98].
    """
    differences: grid.Differences = {}
    for point in _pair_points():
        pair = grid.pair_at(evidence, ("dp-bai", "dp-od"), point)
        kind = "informative" if grid.is_in_range(pair[0]) else "out of range"
        if grid.is_chosen(kind, points):
            differences[grid.labelled(point.label, kind)] = rate_difference(*pair)
    return differences


def ratio_advantage_summary(evidence: Evidence, *, quantity: str) -> Estimate:
    """Return smallest, median or largest of these at informative points, or the turning margin."""
    return _summed(ratio_advantage(evidence, points="informative"), quantity)


def _pair_points() -> Iterator[grid.Point]:
    for ratio in (y for y in grid.RATIOS if y > 1):
        for epsilon in grid.PAIR_EPSILONS:
            yield from (grid.pair_point(ratio, epsilon, budget) for budget in grid.PAIR_BUDGETS)
    yield from (grid.pair_point(ratio, 0.5, 1000) for ratio in grid.MORE_RATIOS)


def lead_of_private(evidence: Evidence, *, algorithm: str) -> grid.Differences:
    """Return success of a private algorithm minus that of OD-LinBAI, on the grid of Figure 1."""
    return {
        point.label: rate_difference(*grid.pair_at(evidence, (algorithm, "od-linbai"), point))
        for point in grid.figure1_points()
    }


def largest_lead(evidence: Evidence, *, algorithm: str, quantity: str) -> Estimate:
    """Return the ``largest`` of these, or the ``turning margin`` below which all of them are."""
    leads = lead_of_private(evidence, algorithm=algorithm)
    if quantity == "turning margin":
        # The claim asks of each point too that it is not above 0, which no margin decides.
        return grid.turning_margin(leads, "less", LEVEL, others=len(leads))
    return grid.summary(leads, quantity)


def gap_at_weak_privacy(evidence: Evidence) -> grid.Differences:
    """Return success of DP-BAI at epsilon = 100 minus that of OD-LinBAI, at each T of Figure 1."""
    return {
        f"T={budget}": rate_difference(
            grid.successes(evidence, "dp-bai", grid.weak_point(budget)),
            grid.successes(evidence, "od-linbai", grid.budget_point(budget, 100)),
        )
        for budget in grid.BUDGETS
    }


def largest_gap_at_weak_privacy(evidence: Evidence, *, level: float) -> Estimate:
    """Return smallest margin within which all these differences are, at the level of the claim."""
    return grid.turning_margin(gap_at_weak_privacy(evidence), "equivalent", level)


def gap_on_common_rewards(evidence: Evidence) -> dict[str, Estimate]:
    """Return success of DP-BAI at epsilon = 100 minus that without noise on the same rewards.

    Epsilon = 1e9 represents no noise, which takes as many random numbers.
    """
    gaps: dict[str, Estimate] = {}
    for budget in grid.BUDGETS:
        noisy, plain = (
            evidence.values("weak-privacy-stream", "recommended", horizon=budget, epsilon=epsilon)
            for epsilon in (100.0, NEGLIGIBLE)
        )
        gaps[f"T={budget}"] = mean((noisy == 0.0).astype(float) - (plain == 0.0))
    return gaps


def gap_by_epsilon(evidence: Evidence) -> grid.Differences:
    """Return success of DP-BAI minus that of OD-LinBAI at T = 1000, at each epsilon of Figure 1."""
    return {
        f"epsilon={epsilon:g}": rate_difference(
            *grid.pair_at(evidence, ("dp-bai", "od-linbai"), grid.epsilon_point(epsilon))
        )
        for epsilon in grid.EPSILONS
    }


def smallest_similar_epsilon(evidence: Evidence, *, alpha: float) -> Estimate:
    """Return the smallest epsilon from which on DP-BAI is similar to OD-LinBAI; NaN if none is.

    Similar is a difference whose interval of coverage 1 - alpha lies within the margin.
    """
    smallest, runs = math.nan, 0
    gaps = gap_by_epsilon(evidence)
    for epsilon, gap in reversed(list(zip(grid.EPSILONS, gaps.values(), strict=True))):
        runs = gap.runs
        low, high = gap.interval(alpha)
        if low < -MARGIN or high > MARGIN:
            break
        smallest = epsilon
    return exact(smallest, runs)


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


WEAK_SIGNAL = 2.0
"""T epsilon up to which there is almost no signal."""

GAUSS_EPSILONS = (0.1, 0.5)
GAUSS_RATIO = 3

DRAWS = range(1, 51)
"""Draws of the omegas that are simulated."""


def corner_advantage(evidence: Evidence, *, signal: str) -> grid.Differences:
    """Return the success of DP-BAI minus that of DP-OD at T = 100 with T epsilon below 10.

    Args:
        evidence: the results.
        signal: ``weak`` (T epsilon of 2 or less) or ``strong``.
    """
    chosen = (
        epsilon
        for epsilon in grid.CORNER_EPSILONS
        if (100 * epsilon <= WEAK_SIGNAL) == (signal == "weak")
    )
    return {
        point.label: rate_difference(*grid.pair_at(evidence, ("dp-bai", "dp-od"), point))
        for point in map(grid.corner_point, chosen)
    }


SPHERE: dict[str, tuple[str, dict[str, Any]]] = {
    "dp-od": ("dp-od", {"norm": "l2"}),
    "dp-od-l1": ("dp-od", {"norm": "l1"}),
    "dp-bai-silent": ("dp-bai", {"epsilon": math.inf}),
}
"""Names of algorithms on 200 arms in six dimensions that are more than an id -> id and tags.

DP-OD with L by the Euclidean norm or by l1, and DP-BAI without noise.
"""


def sphere_rate(
    evidence: Evidence, *, algorithm: str, budget: int, epsilon: float = math.nan
) -> Estimate:
    """Return the success rate on 200 arms in six dimensions.

    Args:
        evidence: the results.
        algorithm: an id, or a key of ``SPHERE``.
        budget: T.
        epsilon: not asked for by ``dp-bai-silent`` and ``od-linbai``.
    """
    return rate(_sphere(evidence, algorithm, budget, epsilon))


def sphere_difference(
    evidence: Evidence, *, first: str, second: str, budgets: list[int], epsilon: float
) -> grid.Differences:
    """Return the rate of one algorithm minus that of another there, at each budget."""
    return {
        f"T={budget}, epsilon={epsilon:g}": rate_difference(
            *(_sphere(evidence, name, budget, epsilon) for name in (first, second))
        )
        for budget in budgets
    }


def _sphere(evidence: Evidence, algorithm: str, budget: int, epsilon: float) -> Counted:
    name, more = SPHERE.get(algorithm, (algorithm, {}))
    tags: dict[str, Any] = {"horizon": budget, "epsilon": epsilon, **more}
    if name == "od-linbai":
        del tags["epsilon"]
    return evidence.counts("verdicts-sphere", algorithm=name, **tags)


def basis_difference(evidence: Evidence, *, first: str, second: str) -> Estimate:
    """Return the largest difference, either way, of two success rates on eight orthonormal arms.

    Over all T and epsilon that are simulated there.
    """
    differences, runs = [], []
    for budget in (500, 1000, 2000, 4000, 8000, 16000, 32000):
        for epsilon in (0.1, 1, math.inf):
            tags: dict[str, Any] = {"horizon": budget, "epsilon": epsilon}
            pair = [
                evidence.counts("phases-basis", algorithm=name, **tags) for name in (first, second)
            ]
            differences.append(abs(grid.share(pair[0]) - grid.share(pair[1])))
            runs.append(min(trials for _, trials in pair))
    return exact(max(differences), min(runs))


def gauss_advantage(
    evidence: Evidence,
    *,
    deltas: list[float],
    epsilons: list[float],
    budgets: list[int],
    points: str,
) -> grid.Differences:
    """Return the success of DP-BAI-Gauss minus that of DP-BAI, on both instances of the paper.

    Args:
        evidence: the results.
        deltas: of DP-BAI-Gauss.
        epsilons: of both, out of 0.1 and 0.5.
        budgets: smallest and largest T.
        points: see ``comparing``.
    """
    differences: grid.Differences = {}
    for label, plain, limit, where in _gauss_points(budgets, epsilons):
        for delta in deltas:
            tags: dict[str, Any] = {**where.tags, "delta": delta}
            noisy = evidence.counts(where.simulation, algorithm="dp-bai-gauss", **tags)
            pair = noisy, grid.successes(evidence, "dp-bai", plain)
            grid.add_difference(
                differences, f"{label}, delta={delta:g}", pair, (limit, limit), points
            )
    return differences


def _gauss_points(
    budgets: list[int], epsilons: list[float]
) -> Iterator[tuple[str, grid.Point, float, grid.Point]]:
    """Return label, where DP-BAI is, its pure-noise limit and where DP-BAI-Gauss is."""
    smallest, largest = budgets
    for budget, epsilon in itertools.product(grid.BUDGETS, epsilons):
        if smallest <= budget <= largest:
            plain = grid.budget_point(budget, epsilon)
            noisy = grid.Point("verdicts-gauss-section5", plain.tags, plain.label)
            first = plain if epsilon == GAUSS_EPSILONS[0] else noisy
            yield f"I-A, {plain.label}", first, grid.SECTION5_LIMITS["dp-bai"], noisy
            tags = {"ratio": GAUSS_RATIO, **plain.tags}
            pair = grid.Point("verdicts-gauss-two-armed", tags, plain.label)
            yield f"I-B, {plain.label}", pair, grid.TWO_ARMED_LIMIT, pair


def halving_difference(
    evidence: Evidence, *, first: str, second: str, points: str
) -> grid.Differences:
    """Return the difference of two algorithms without noise at each T of Figure 1.

    Args:
        evidence: the results.
        first: ``stated`` or ``halving`` (Baseline with those sizes), ``textbook`` (Sequential
            Halving).
        second: the one that is subtracted.
        points: see ``comparing``.
    """
    limit = grid.SECTION5_LIMITS["baseline"]
    differences: grid.Differences = {}
    for budget in grid.BUDGETS:
        pair = _halved(evidence, first, budget), _halved(evidence, second, budget)
        grid.add_difference(differences, f"T={budget}", pair, (limit, limit), points)
    return differences


def _halved(evidence: Evidence, which: str, budget: int) -> Counted:
    if which == "textbook":
        return evidence.counts("halving", algorithm="sequential-halving", horizon=budget)
    return evidence.counts("halving", algorithm="baseline", horizon=budget, sizes=which)


def omega_range(evidence: Evidence, *, algorithm: str, epsilon: float) -> dict[str, Estimate]:
    """Return the lowest and highest success rate over fifty draws of the omegas."""
    rates = []
    for draw in DRAWS:
        counted = evidence.counts("omega-draws", algorithm=algorithm, epsilon=epsilon, draw=draw)
        rates.append((grid.share(counted), counted[1]))
    return {"lowest": exact(*min(rates)), "highest": exact(*max(rates))}
