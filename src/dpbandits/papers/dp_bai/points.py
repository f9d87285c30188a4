"""Grid points of the simulated claims, and the successes counted there.

Algorithms go by their id.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpbandits.claims import Evidence
from dpbandits.claims.rates import Counted
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

_WITH_SCHEDULES = ("verdicts-weak-privacy",)


@dataclass(frozen=True)
class Point:
    """A point of a grid.

    Attributes:
        simulation: where its series stand.
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
    """Return a point at epsilon = 100, where DP-BAI alone stands."""
    tags = {"horizon": budget, "epsilon": 100}
    return Point("verdicts-weak-privacy", tags, f"T={budget}, epsilon=100")


def pair_point(ratio: float, epsilon: float, budget: int) -> Point:
    """Return a point on the two-armed instance."""
    simulation = "verdicts-fig2" if ratio in RATIOS else "verdicts-ratios"
    tags = {"ratio": ratio, "epsilon": epsilon, "horizon": budget}
    return Point(simulation, tags, f"y/x={ratio:g}, T={budget}, epsilon={epsilon:g}")


def successes(
    evidence: Evidence, algorithm: str, point: Point, schedule: str = "consistent"
) -> Counted:
    """Return successes and trials of an algorithm at a point.

    Args:
        evidence: the results.
        algorithm: its id.
        point: where.
        schedule: interpretation of the phases (BAI-E1), where the point has more than one.
    """
    tags: dict[str, Any] = dict(point.tags)
    if algorithm == "od-linbai":
        tags.pop("epsilon", None)
    if point.simulation in _WITH_SCHEDULES:
        tags["schedule"] = schedule
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
    if all(abs(each - limit) <= FLOOR for each, limit in zip(shares, limits, strict=True)):
        return "floor"
    return "informative"


def is_chosen(found: str, points: str) -> bool:
    """Return whether a point of class ``found`` is among ``points``: ``informative`` or ``other``.

    Raises:
        InputError: points are neither.
    """
    if points not in ("informative", "other"):
        raise InputError(f"points is {points!r}; allowed: informative, other")
    return (found == "informative") == (points == "informative")
