"""Statistics of the findings: settings and questions that are not the paper's.

``points`` is as in ``comparing``.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.rates import Counted, rate, rate_difference
from dpbandits.papers.dp_bai import grid

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
