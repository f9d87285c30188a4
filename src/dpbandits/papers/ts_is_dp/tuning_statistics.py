"""Statistics of Figures 3 and 5: how the final regret depends on b and on the privacy level.

Arguments as in ``statistics``. ``c_range`` keeps every b of the grid (``any``) or those
whose c is not below 1 (``at-least-1``), as Algorithm 2 asks.
"""

import math
from collections.abc import Sequence

from dpbandits.claims.evidence import Evidence, Sample
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    distance_of_lowest,
    exact,
    largest,
    ratio_of_means,
    smallest,
    welch_difference,
)
from dpbandits.errors import InputError
from dpbandits.papers.ts_is_dp.statistics import ETAS, FAMILIES, final_regret, horizon_of
from dpbandits.privacy import required_c


def _over_grid(
    evidence: Evidence,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    metric: str = "pseudo_regret",
) -> list[Sample]:
    return [final_regret(evidence, family, eta, b, metric) for b in b_grid]


def _ends_and_interior(
    evidence: Evidence,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    c_range: str,
    metric: str = "pseudo_regret",
) -> tuple[tuple[Sample, Sample], list[Sample]]:
    """Return regret at the ends of the grid, and between; ``at-least-1`` leaves c below 1 out."""
    horizon = horizon_of(evidence, family)
    chosen = [b for b in b_grid if c_range == "any" or required_c(b, eta, horizon) >= 1.0]
    if len(chosen) < 3:
        raise InputError(
            f"b_grid: {len(chosen)} values with c of at least 1 at eta={eta}, T={horizon}; "
            f"allowed: at least 3, two ends and at least one between them"
        )
    first, *interior, last = _over_grid(evidence, family, eta, chosen, metric)
    return (first, last), interior


def interior_gain(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    c_range: str = "any",
    metric: str = "pseudo_regret",
) -> Estimate:
    """Return the regret of the better end of the grid minus that of the best b in between."""
    ends, interior = _ends_and_interior(evidence, family, eta, b_grid, c_range, metric)
    return largest(
        smallest(welch_difference(end.values, inner.values) for end in ends) for inner in interior
    )


def interior_ratio(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    c_range: str = "any",
    metric: str = "pseudo_regret",
) -> Estimate:
    """Return the regret of the best b between the ends over that of the better end."""
    ends, interior = _ends_and_interior(evidence, family, eta, b_grid, c_range, metric)
    return smallest(
        largest(ratio_of_means(inner.values, end.values) for end in ends) for inner in interior
    )


def extremes_margin(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Estimate:
    """Return the regret of the better end minus that of the worst b between the ends.

    Above 0 exactly if both ends have more regret than every other b of the grid.
    """
    first, *interior, last = _over_grid(evidence, family, eta, b_grid)
    return smallest(
        welch_difference(end.values, inner.values) for end in (first, last) for inner in interior
    )


def uniform_regret(evidence: Evidence, *, family: str) -> Estimate:
    """Return the expected final regret of playing all arms equally often."""
    return exact(horizon_of(evidence, family) * float(FAMILIES[family].gaps.mean()))


def best_b_shift(evidence: Evidence, *, family: str, b_grid: Sequence[int]) -> Estimate:
    """Return how many places of the grid are between the best b at eta = 1 and at eta = 5."""
    strict, weak = _at_both_levels(evidence, family, b_grid)
    return distance_of_lowest(strict, weak, lambda one, other: float(abs(one - other)))


def best_b_fall(evidence: Evidence, *, family: str, b_grid: Sequence[int]) -> Estimate:
    """Return the place in the grid of the best b at eta = 1 minus that at eta = 5."""
    strict, weak = _at_both_levels(evidence, family, b_grid)
    return distance_of_lowest(strict, weak, lambda one, other: float(one - other))


def _at_both_levels(
    evidence: Evidence, family: str, b_grid: Sequence[int]
) -> tuple[list[Measured], list[Measured]]:
    """Return the grid at the strictest level, and at the weakest."""
    strict, weak = (
        [sample.measured for sample in _over_grid(evidence, family, eta, b_grid)]
        for eta in (ETAS[0], ETAS[-1])
    )
    return strict, weak


def drop_margin(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], largest_b: int
) -> Estimate:
    """Return the least drop of regret at a b up to ``largest_b`` minus the largest beyond."""
    drops = {b: _drop(evidence, family, b) for b in b_grid}
    return smallest(
        drop - drops[beyond]
        for b, drop in drops.items()
        for beyond in b_grid
        if b <= largest_b < beyond
    )


def _drop(evidence: Evidence, family: str, b: int) -> Measured:
    strict, weak = (final_regret(evidence, family, eta, b).measured for eta in (ETAS[0], ETAS[-1]))
    return strict - weak


def prepull_share(evidence: Evidence, *, family: str, eta: int, b: int) -> Estimate:
    """Return the regret of the pre-pulls over the final regret."""
    prepulls = float(b * FAMILIES[family].gaps.sum())
    regret = final_regret(evidence, family, eta, b).measured
    return (-regret.log() + math.log(prepulls)).exp()


def zero_over_largest(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Estimate:
    """Return the regret at b = 0 over the largest at another b of the grid."""
    zero = final_regret(evidence, family, eta, 0).measured
    return smallest(zero / final_regret(evidence, family, eta, b).measured for b in b_grid if b > 0)


def best_over_single(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b: int,
    b_grid: Sequence[int],
    c_range: str = "any",
) -> Estimate:
    """Return the regret of the best b between the ends over that at ``b``, one parameter alone.

    b = 0 tunes c alone. b alone has c = 1, so that b = T/eta^2 - 1.
    """
    single = final_regret(evidence, family, eta, b)
    _, interior = _ends_and_interior(evidence, family, eta, b_grid, c_range)
    return smallest(ratio_of_means(inner.values, single.values) for inner in interior)


def best_minus_single(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b: int,
    b_grid: Sequence[int],
    c_range: str = "any",
) -> Estimate:
    """Return the regret of the best b between the ends minus that at ``b``; see above."""
    single = final_regret(evidence, family, eta, b)
    _, interior = _ends_and_interior(evidence, family, eta, b_grid, c_range)
    return smallest(welch_difference(inner.values, single.values) for inner in interior)
