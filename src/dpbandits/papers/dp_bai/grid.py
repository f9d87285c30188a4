"""Grid points of the simulated claims, successes counted there, and differences of their rates.

Algorithms go by their id. ``points`` is ``informative`` or ``other`` (ceiling and floor), which
never counts for or against a claim.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Counted, Estimate, exact, rate_difference
from dpbandits.claims.verdict import decide, deciding_alpha, holm_levels, region_of
from dpbandits.errors import InputError

BUDGETS = (100, 200, 400, 800, 1600, 3200, 6400)
"""T of Figure 1, first panel."""

BUDGET_EPSILONS = (0.1, 1)
"""Epsilon there."""

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
"""Epsilon of Figure 1, second panel, T = 1000."""

CORNER_EPSILONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Epsilon at T = 100 where T epsilon is below 10."""

PAIR_BUDGETS = (200, 500, 1000, 2000, 5000, 10000)
"""T of Figure 2."""

PAIR_EPSILONS = (0.1, 0.5, 1)
"""Epsilon there."""

RATIOS = (1, 1.5, 2, 5, 10, 20)
"""y/x of Figure 2, and 1 and 1.5."""

MORE_RATIOS = (50, 100)
"""y/x at T = 1000, epsilon = 0.5 alone."""

CEILING = 0.98
"""Success rate from which a point is at the ceiling."""

FLOOR = 0.02
"""How near a success rate lies to its pure-noise limit at the floor."""

SECTION5_LIMITS = {
    "dp-bai": 3 / 8,
    "dp-bai-gauss": 3 / 8,
    "dp-od": 21 / 44,
    "baseline": 1 / 30,
    "sequential-halving": 1 / 30,
}
"""Success on I-A where noise drowns all; Gaussian noise is as symmetric as Laplace."""

TWO_ARMED_LIMIT = 1 / 2


@dataclass(frozen=True)
class Point:
    """A point of a grid.

    Attributes:
        simulation: the results that have its series.
        tags: what tells them from the others there.
        label: what it is called.
    """

    simulation: str
    tags: Mapping[str, float]
    label: str


def budget_point(budget: int, epsilon: float) -> Point:
    """Return a point of Figure 1, first panel."""
    tags = {"horizon": budget, "epsilon": epsilon}
    return Point("verdicts-budget", tags, f"T={budget}, epsilon={epsilon:g}")


def epsilon_point(epsilon: float) -> Point:
    """Return a point of Figure 1, second panel."""
    return Point("verdicts-epsilon", {"epsilon": epsilon}, f"T=1000, epsilon={epsilon:g}")


def figure1_points() -> Iterator[Point]:
    """Return the points of both panels of Figure 1."""
    for epsilon in BUDGET_EPSILONS:
        yield from (budget_point(budget, epsilon) for budget in BUDGETS)
    yield from map(epsilon_point, EPSILONS)


def corner_point(epsilon: float) -> Point:
    """Return a point of the corner."""
    tags = {"horizon": 100, "epsilon": epsilon}
    return Point("corner", tags, f"T=100, epsilon={epsilon:g}")


def weak_point(budget: int) -> Point:
    """Return a point at epsilon = 100, where DP-BAI alone is simulated."""
    tags = {"horizon": budget, "epsilon": 100}
    return Point("verdicts-weak-privacy", tags, f"T={budget}, epsilon=100")


def pair_point(ratio: float, epsilon: float, budget: int) -> Point:
    """Return a point on the two-armed instance."""
    simulation = "verdicts-fig2" if ratio in RATIOS else "verdicts-ratios"
    tags = {"ratio": ratio, "epsilon": epsilon, "horizon": budget}
    return Point(simulation, tags, f"y/x={ratio:g}, T={budget}, epsilon={epsilon:g}")


def successes(evidence: Evidence, algorithm: str, point: Point) -> Counted:
    """Return successes and trials of an algorithm at a point."""
    tags: dict[str, Any] = dict(point.tags)
    if algorithm == "od-linbai":
        tags.pop("epsilon", None)
    return evidence.counts(point.simulation, algorithm=algorithm, **tags)


def share(counted: Counted) -> float:
    """Return the success rate."""
    return counted[0] / max(counted[1], 1)


def class_of(pair: tuple[Counted, Counted], limits: tuple[float, float]) -> str:
    """Return ``ceiling``, ``floor`` or ``informative``, by the two rates that are compared.

    Args:
        pair: successes and trials of both.
        limits: their pure-noise limits.
    """
    shares = [share(counted) for counted in pair]
    if min(shares) >= CEILING:
        return "ceiling"
    if all(abs(rate - limit) <= FLOOR for rate, limit in zip(shares, limits, strict=True)):
        return "floor"
    return "informative"


def is_chosen(kind: str, points: str) -> bool:
    """Return whether a point of class ``found`` is among ``points``: ``informative`` or ``other``.

    Raises:
        InputError: points are neither.
    """
    if points not in ("informative", "other"):
        raise InputError(f"points is {points!r}; allowed: informative, other")
    return (kind == "informative") == (points == "informative")


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
    differences: Differences,
    label: str,
    pair: tuple[Counted, Counted],
    limits: tuple[float, float],
    points: str,
) -> None:
    """Add the difference at a point if the point is of the class asked for."""
    kind = class_of(pair, limits)
    if is_chosen(kind, points):
        differences[labelled(label, kind)] = rate_difference(*pair)


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
        p_values = [deciding_alpha(difference, region) for difference in differences.values()]
        levels = holm_levels([*p_values, *[1.0] * others], level)
        pairs = zip(differences.values(), levels, strict=False)
        return all(
            decide(*difference.interval(share), region) == "for" for difference, share in pairs
        )

    low, high = (-1.0 if kind == "greater" else 0.0), 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        is_low = all_are_for(middle) == (kind == "greater")
        low, high = (middle, high) if is_low else (low, middle)
    return exact(low if kind == "greater" else high)


def summary(differences: Mapping[str, Estimate], quantity: str) -> Estimate:
    """Return the ``smallest``, the ``median`` or the ``largest`` of some differences."""
    values = [difference.value for difference in differences.values()]
    if not values:
        return exact(float("nan"))
    found = {"smallest": min(values), "median": median(values), "largest": max(values)}
    return exact(found[quantity], min(difference.runs for difference in differences.values()))
