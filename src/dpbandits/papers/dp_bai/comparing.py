"""Pairs of success rates: which points tell algorithms apart, and how differences are labelled.

``points`` is ``informative`` or ``other`` (ceiling and floor), which never counts for or against.
"""

from collections.abc import Mapping

from dpbandits.claims import Estimate, Evidence, decide, exact, rate_difference
from dpbandits.claims.rates import Counted
from dpbandits.claims.regions import region_of
from dpbandits.claims.verdict import deciding_alpha, holm_levels
from dpbandits.papers.dp_bai.points import Point, class_of, is_chosen, share, successes

RANGE = (0.6, 0.98)
"""Success rates, on two arms, at which algorithms can be told apart."""

Differences = dict[str, Estimate]

_BISECTIONS = 14
"""Down to a ten-thousandth."""


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


def turning_margin(
    differences: Mapping[str, Estimate], kind: str, level: float, others: int = 0
) -> Estimate:
    """Return the margin at which it turns whether all differences are decided for the claim.

    Args:
        differences: the estimates.
        kind: ``greater`` than the margin (the largest margin), ``less`` than it or ``equivalent``
            up to it (the smallest margin).
        level: of the claim; each is judged at its share by Holm.
        others: further comparisons of the family, which no margin decides.
    """

    def all_are_for(margin: float) -> bool:
        region = region_of(kind, margin)
        p_values = [deciding_alpha(each, region) for each in differences.values()]
        levels = holm_levels([*p_values, *[1.0] * others], level)
        pairs = zip(differences.values(), levels, strict=False)
        return all(decide(*each.interval(share), region) == "for" for each, share in pairs)

    low, high = (-1.0 if kind == "greater" else 0.0), 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        is_low = all_are_for(middle) == (kind == "greater")
        low, high = (middle, high) if is_low else (low, middle)
    return exact(low if kind == "greater" else high)


def summary(differences: Mapping[str, Estimate], quantity: str) -> Estimate:
    """Return the ``smallest``, the ``median`` or the ``largest`` of some differences."""
    values = sorted(each.value for each in differences.values())
    if not values:
        return exact(float("nan"))
    places = {"smallest": 0, "median": len(values) // 2, "largest": -1}
    return exact(values[places[quantity]], min(each.runs for each in differences.values()))
