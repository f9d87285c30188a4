"""Statistics of the claims that compare success rates: differences, point by point.

``points`` is ``informative`` or ``other`` (ceiling and floor), which never counts for or against.
``schedule`` is the reading of the schedule of DP-BAI and Baseline (spec erratum E1).
"""

import math
from collections.abc import Iterator
from typing import Any

from dpbandits.claims import Estimate, Evidence, exact, rate_difference
from dpbandits.claims.rates import Counted
from dpbandits.papers.dp_bai.points import (
    BUDGETS,
    CORNER_EPSILONS,
    EPSILONS,
    MORE_RATIOS,
    PAIR_BUDGETS,
    PAIR_EPSILONS,
    RATIOS,
    SECTION5_LIMITS,
    TWO_ARMED_LIMIT,
    Point,
    budget_point,
    class_of,
    corner_point,
    epsilon_point,
    figure1_points,
    is_chosen,
    pair_point,
    share,
    successes,
    weak_point,
)

MARGIN = 0.03
"""Success rates that differ by less are similar."""

RANGE = (0.6, 0.98)
"""Success rates, on two arms, at which algorithms can be told apart."""

LARGE_BUDGET = 800
"""From there on T is in the upper half of the grid of Figure 1."""

GAUSS_EPSILONS = (0.1, 0.5)
GAUSS_DELTAS = {"large": (0.5, 0.9), "small": (0.00001, 0.01)}
GAUSS_RATIO = 3

Differences = dict[str, Estimate]


def advantage(evidence: Evidence, *, over: str, points: str, schedule: str) -> Differences:
    """Success of DP-BAI minus that of ``over``, Baseline or DP-OD, on the grid of Figure 1."""
    limits = SECTION5_LIMITS["dp-bai"], SECTION5_LIMITS[over]
    found: Differences = {}
    for point in figure1_points():
        pair = _pair(evidence, ("dp-bai", over), point, schedule)
        _add(found, point.label, pair, limits, points)
    return found


def corner_advantage(evidence: Evidence, *, over: str, schedule: str) -> Differences:
    """The same at T = 100 where T epsilon is below 10; at the floor too."""
    return {
        point.label: rate_difference(*_pair(evidence, ("dp-bai", over), point, schedule))
        for point in map(corner_point, CORNER_EPSILONS)
    }


def ratio_advantage(evidence: Evidence, *, points: str) -> Differences:
    """Success of DP-BAI minus that of DP-OD on two arms, for all y/x of 2 and above.

    Informative are the points where DP-BAI lies in [0.6, 0.98].
    """
    found: Differences = {}
    for point in _pair_points():
        pair = _pair(evidence, ("dp-bai", "dp-od"), point)
        kind = "informative" if is_in_range(pair[0]) else "out of range"
        if is_chosen(kind, points):
            found[_labelled(point.label, kind)] = rate_difference(*pair)
    return found


def is_in_range(counted: Counted) -> bool:
    """Return whether a success rate on two arms is neither near chance nor near 1."""
    return RANGE[0] <= share(counted) <= RANGE[1]


def _pair_points() -> Iterator[Point]:
    for ratio in (each for each in RATIOS if each >= 2):
        for epsilon in PAIR_EPSILONS:
            yield from (pair_point(ratio, epsilon, budget) for budget in PAIR_BUDGETS)
    yield from (pair_point(ratio, 0.5, 1000) for ratio in MORE_RATIOS if ratio >= 2)


def lead_of_private(evidence: Evidence, *, algorithm: str, schedule: str) -> Differences:
    """Success of a private algorithm minus that of OD-LinBAI, on the grid of Figure 1."""
    return {
        point.label: rate_difference(*_pair(evidence, (algorithm, "od-linbai"), point, schedule))
        for point in figure1_points()
    }


def gap_at_weak_privacy(evidence: Evidence, *, schedule: str) -> Differences:
    """Success of DP-BAI at epsilon = 100 minus that of OD-LinBAI, at each T of Figure 1."""
    return {
        f"T={budget}": rate_difference(
            successes(evidence, "dp-bai", weak_point(budget), schedule),
            successes(evidence, "od-linbai", budget_point(budget, 100)),
        )
        for budget in BUDGETS
    }


def gap_by_epsilon(evidence: Evidence, *, schedule: str) -> Differences:
    """Success of DP-BAI minus that of OD-LinBAI at T = 1000, at each epsilon of Figure 1."""
    return {
        f"epsilon={epsilon:g}": rate_difference(
            *_pair(evidence, ("dp-bai", "od-linbai"), epsilon_point(epsilon), schedule)
        )
        for epsilon in EPSILONS
    }


def smallest_similar_epsilon(evidence: Evidence, *, schedule: str, alpha: float) -> Estimate:
    """Smallest epsilon of Figure 1 from which on DP-BAI is similar to OD-LinBAI; NaN if none is.

    Similar is a difference whose interval of coverage 1 - alpha lies within the margin.
    """
    found, runs = math.nan, 0
    gaps = gap_by_epsilon(evidence, schedule=schedule)
    for epsilon, gap in reversed(list(zip(EPSILONS, gaps.values(), strict=True))):
        runs = gap.runs
        low, high = gap.interval(alpha)
        if low < -MARGIN or high > MARGIN:
            break
        found = epsilon
    return exact(found, runs)


def gauss_advantage(evidence: Evidence, *, deltas: str, budgets: str, points: str) -> Differences:
    """Success of DP-BAI-Gauss minus that of DP-BAI, on both instances.

    Args:
        evidence: the results.
        deltas: ``large`` (0.5 and 0.9) or ``small`` (1e-5 and 0.01).
        budgets: ``large`` (800 and above) or ``small``.
        points: see above.
    """
    found: Differences = {}
    for label, plain, limit, where in _gauss_points(budgets):
        for delta in GAUSS_DELTAS[deltas]:
            tags: dict[str, Any] = {**where.tags, "delta": delta}
            noisy = evidence.counts(where.simulation, algorithm="dp-bai-gauss", **tags)
            pair = noisy, successes(evidence, "dp-bai", plain)
            _add(found, f"{label}, delta={delta:g}", pair, (limit, limit), points)
    return found


def _gauss_points(budgets: str) -> Iterator[tuple[str, Point, float, Point]]:
    """Return label, where DP-BAI stands, its pure-noise limit and where DP-BAI-Gauss stands."""
    for budget in (each for each in BUDGETS if (each >= LARGE_BUDGET) == (budgets == "large")):
        for epsilon in GAUSS_EPSILONS:
            plain = budget_point(budget, epsilon)
            own = Point("verdicts-gauss-section5", plain.tags, plain.label)
            first = plain if epsilon == GAUSS_EPSILONS[0] else own
            yield f"I-A, {plain.label}", first, SECTION5_LIMITS["dp-bai"], own
            tags = {"ratio": GAUSS_RATIO, **plain.tags}
            own = Point("verdicts-gauss-two-armed", tags, plain.label)
            yield f"I-B, {plain.label}", own, TWO_ARMED_LIMIT, own


def halving_difference(evidence: Evidence, *, first: str, second: str, points: str) -> Differences:
    """Difference of two algorithms without noise at each T of Figure 1.

    Args:
        evidence: the results.
        first: ``stated`` or ``halving`` (Baseline with those sizes), ``textbook`` (Sequential
            Halving).
        second: the one that is subtracted.
        points: see above.
    """
    limit = SECTION5_LIMITS["baseline"]
    found: Differences = {}
    for budget in BUDGETS:
        pair = _halved(evidence, first, budget), _halved(evidence, second, budget)
        _add(found, f"T={budget}", pair, (limit, limit), points)
    return found


def _halved(evidence: Evidence, which: str, budget: int) -> Counted:
    if which == "textbook":
        return evidence.counts("halving", algorithm="sequential-halving", horizon=budget)
    return evidence.counts("halving", algorithm="baseline", horizon=budget, sizes=which)


def _pair(
    evidence: Evidence, algorithms: tuple[str, str], point: Point, schedule: str = "consistent"
) -> tuple[Counted, Counted]:
    first, second = (successes(evidence, name, point, schedule) for name in algorithms)
    return first, second


def _add(
    found: Differences,
    label: str,
    pair: tuple[Counted, Counted],
    limits: tuple[float, float],
    points: str,
) -> None:
    """Add the difference at a point if it is of the class asked for."""
    kind = class_of(pair, limits)
    if is_chosen(kind, points):
        found[_labelled(label, kind)] = rate_difference(*pair)


def _labelled(label: str, kind: str) -> str:
    return label if kind == "informative" else f"{label}: {kind}"
