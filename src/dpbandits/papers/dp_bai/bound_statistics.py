"""Statistics of the claim on the error bound (Theorem 4.2): error minus bound, point by point.

``bound`` is ``theorem`` or ``union``, ours for d = 2, which the printed proof leaves out (spec
erratum E21); ``schedule`` is the reading of the schedule (E1).
"""

from collections.abc import Iterator
from itertools import product

import pandas as pd

from dpbandits.claims import Estimate, Evidence, exact, rate
from dpbandits.claims.rates import Counted
from dpbandits.papers.dp_bai.points import (
    CORNER_EPSILONS,
    PAIR_BUDGETS,
    PAIR_EPSILONS,
    RATIOS,
    corner_point,
    figure1_points,
    pair_point,
    successes,
)


def error_excess(evidence: Evidence, *, bound: str, schedule: str) -> dict[str, Estimate]:
    """Error rate of DP-BAI minus the bound at each point of Figures 1 and 2 and of the corner."""
    return {
        label: rate(failed, limit)
        for label, failed, limit in _errors_and_bounds(evidence, bound, schedule)
    }


def largest_bound_over_error(evidence: Evidence, *, bound: str, schedule: str) -> Estimate:
    """Largest ratio of bound and error rate over the points with at least one error."""
    found = _errors_and_bounds(evidence, bound, schedule)
    ratios = [(limit * trials / failed, trials) for _, (failed, trials), limit in found if failed]
    return exact(*max(ratios)) if ratios else exact(float("nan"))


def smallest_bound(evidence: Evidence, *, bound: str, schedule: str) -> Estimate:
    """Smallest bound over the points: near 1, or above, it says nothing."""
    return exact(min(limit for _, _, limit in _errors_and_bounds(evidence, bound, schedule)))


def first_budget_of_theorem(evidence: Evidence, *, schedule: str) -> dict[str, Estimate]:
    """Smallest T, over epsilon, from which the theorem follows from its proof, by instance."""
    found = evidence.analytic("bounds", bound="theorem", schedule=schedule, against="budget")
    smallest = found.groupby("instance")["applies_from"].min()
    return {str(instance): exact(budget) for instance, budget in smallest.items()}


def _errors_and_bounds(
    evidence: Evidence, bound: str, schedule: str
) -> Iterator[tuple[str, Counted, float]]:
    """Return label, errors and trials, and the bound of each point."""
    frame = evidence.analytic("bounds", bound=bound, schedule=schedule, against="budget")
    limits = _limits(frame)
    for point in (*figure1_points(), *map(corner_point, CORNER_EPSILONS)):
        won, trials = successes(evidence, "dp-bai", point, schedule)
        budget = point.tags.get("horizon", 1000)
        limit = limits["section5", point.tags["epsilon"], budget]
        yield f"I-A, {point.label}", (trials - won, trials), limit
    if schedule != "consistent":
        # The two-armed instance is simulated under the consistent schedule alone.
        return
    for ratio, epsilon, budget in product(RATIOS, PAIR_EPSILONS, PAIR_BUDGETS):
        point = pair_point(ratio, epsilon, budget)
        won, trials = successes(evidence, "dp-bai", point)
        limit = limits["two-armed", epsilon, budget]
        yield f"I-B, {point.label}", (trials - won, trials), limit


def _limits(frame: pd.DataFrame) -> dict[tuple[str, float, float], float]:
    """Return the bound by instance, epsilon and T."""
    columns = (frame[column].tolist() for column in ("instance", "epsilon", "horizon", "y"))
    return {(name, epsilon, budget): y for name, epsilon, budget, y in zip(*columns, strict=True)}
