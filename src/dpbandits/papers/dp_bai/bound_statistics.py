"""Statistics of the claim on the error bound (Theorem 4.2): error minus bound, point by point.

``bound`` is ``theorem`` or ``union``, ours for d = 2, which the printed proof leaves out (BAI-E21).
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from dpbandits.claims import Estimate, Evidence, exact, rate
from dpbandits.claims.rates import Counted
from dpbandits.errors import InputError
from dpbandits.papers.dp_bai.points import (
    CORNER_EPSILONS,
    PAIR_BUDGETS,
    PAIR_EPSILONS,
    RATIOS,
    Point,
    corner_point,
    figure1_points,
    pair_point,
    successes,
)

FAR = {
    "section5": Point("verdicts-far-section5", {"epsilon": 1, "horizon": 400_000}, "T=400000"),
    "two-armed": Point("verdicts-far-two-armed", {"epsilon": 1, "horizon": 80_000}, "T=80000"),
}
"""Points at which the bound of the theorem follows from the union bound."""

NAMES = {"section5": "I-A", "two-armed": "I-B"}


def error_excess(evidence: Evidence, *, bound: str, budgets: str) -> dict[str, Estimate]:
    """Error rate of DP-BAI minus the bound.

    Args:
        evidence: the results.
        bound: see above.
        budgets: ``figures`` (points of Figures 1 and 2 and of the corner) or ``far`` (points at
            which the bound of the theorem follows from the union bound).

    Raises:
        InputError: at a far point it does not follow.
    """
    return {
        label: rate(failed, limit)
        for label, failed, limit in _errors_and_bounds(evidence, bound, budgets)
    }


def largest_bound_over_error(evidence: Evidence, *, bound: str) -> Estimate:
    """Largest ratio of bound and error rate over the points of figures with at least one error."""
    found = _errors_and_bounds(evidence, bound, "figures")
    ratios = [(limit * trials / failed, trials) for _, (failed, trials), limit in found if failed]
    return exact(*max(ratios)) if ratios else exact(float("nan"))


def smallest_bound(evidence: Evidence, *, bound: str) -> Estimate:
    """Smallest bound over the points of figures: near 1, or above, it says nothing."""
    return exact(min(limit for _, _, limit in _errors_and_bounds(evidence, bound, "figures")))


def first_budget(evidence: Evidence, *, source: str) -> dict[str, Estimate]:
    """Smallest T from which the theorem follows at epsilon = 1, by instance.

    Args:
        evidence: the results.
        source: ``proof``, the constants of the printed proof, or ``union``.
    """
    column = {"proof": "applies_from", "union": "follows_from"}[source]
    return {
        name: exact(_bound_row(evidence, "theorem", instance, FAR[instance].tags)[column])
        for instance, name in NAMES.items()
    }


def _errors_and_bounds(
    evidence: Evidence, bound: str, budgets: str
) -> Iterator[tuple[str, Counted, float]]:
    """Return label, errors and trials, and the bound of each point."""
    for instance, point in _far_points() if budgets == "far" else _figure_points():
        won, trials = successes(evidence, "dp-bai", point)
        row = _bound_row(evidence, bound, instance, point.tags)
        if budgets == "far" and row["horizon"] < row["follows_from"]:
            raise InputError(
                f"{instance}: T is {row['horizon']:g}; allowed: from {row['follows_from']:,.0f}"
            )
        yield f"{NAMES[instance]}, {point.label}", (trials - won, trials), float(row["y"])


def _far_points() -> Iterator[tuple[str, Point]]:
    yield from FAR.items()


def _figure_points() -> Iterator[tuple[str, Point]]:
    for point in (*figure1_points(), *map(corner_point, CORNER_EPSILONS)):
        yield "section5", point
    for ratio, epsilon, budget in product(RATIOS, PAIR_EPSILONS, PAIR_BUDGETS):
        yield "two-armed", pair_point(ratio, epsilon, budget)


def _bound_row(evidence: Evidence, bound: str, instance: str, tags: Any) -> dict[str, Any]:
    """Return the row of a bound at a point; points over epsilon have T = 1000."""
    where = {"epsilon": tags["epsilon"], "horizon": tags.get("horizon", 1000)}
    frame = evidence.analytic("bounds", bound=bound, instance=instance, against="budget", **where)
    (row,) = frame.to_dict("records")
    return {str(key): value for key, value in row.items()}
