"""Pairs of success rates: which points tell algorithms apart, and how differences are labelled.

``points`` is ``informative`` or ``other`` (ceiling and floor), which never counts for or against.
"""

from collections.abc import Mapping

from dpbandits.claims import Estimate, Evidence, exact, rate_difference
from dpbandits.claims.rates import Counted
from dpbandits.papers.dp_bai.points import Point, class_of, is_chosen, share, successes

RANGE = (0.6, 0.98)
"""Success rates, on two arms, at which algorithms can be told apart."""

Differences = dict[str, Estimate]


def is_in_range(counted: Counted) -> bool:
    """Return whether a success rate on two arms is neither near chance nor near 1."""
    return RANGE[0] <= share(counted) <= RANGE[1]


def pair_at(
    evidence: Evidence, algorithms: tuple[str, str], point: Point
) -> tuple[Counted, Counted]:
    """Return successes and trials of two algorithms at a point."""
    first, second = (successes(evidence, name, point) for name in algorithms)
    return first, second


def add_difference(
    found: Differences,
    label: str,
    pair: tuple[Counted, Counted],
    limits: tuple[float, float],
    points: str,
) -> None:
    """Add the difference at a point if the point is of the class asked for."""
    kind = class_of(pair, limits)
    if is_chosen(kind, points):
        found[labelled(label, kind)] = rate_difference(*pair)


def labelled(label: str, kind: str) -> str:
    """Return the label of a point, with its class unless it is informative."""
    return label if kind == "informative" else f"{label}: {kind}"


def turning_margin(differences: Mapping[str, Estimate], level: float) -> Estimate:
    """Return the largest margin that all differences exceed.

    The smallest lower end of their intervals, each at an equal share of the level.
    """
    ends = [each.interval(level / len(differences))[0] for each in differences.values()]
    return exact(min(ends, default=float("nan")))


def summary(differences: Mapping[str, Estimate], quantity: str) -> Estimate:
    """Return the ``smallest``, the ``median`` or the ``largest`` of some differences."""
    values = sorted(each.value for each in differences.values())
    if not values:
        return exact(float("nan"))
    places = {"smallest": 0, "median": len(values) // 2, "largest": -1}
    return exact(values[places[quantity]], min(each.runs for each in differences.values()))
