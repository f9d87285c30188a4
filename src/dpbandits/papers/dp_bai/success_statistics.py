"""Statistics of the claims that compare success rates with those of DP-BAI, point by point."""

import math
from collections.abc import Iterator

from dpbandits.claims.estimates import Estimate, exact, mean
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.rates import rate_difference
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
