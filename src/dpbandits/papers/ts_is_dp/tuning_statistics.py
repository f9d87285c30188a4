"""Statistics of Figures 3 and 5: how the final regret depends on b and on the privacy level.

Arguments as in ``regret_statistics``.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import (
    Estimate,
    Evidence,
    largest,
    ratio_of_means,
    smallest,
    welch_difference,
)
from dpbandits.claims.bootstrap import Sample, argmin, from_means, kendall_tau, ratio
from dpbandits.errors import InputError
from dpbandits.papers.ts_is_dp.regret_statistics import ETAS, FAMILIES, final_regret
from dpbandits.privacy import required_c

Values = NDArray[np.float64]


def _over_grid(
    evidence: Evidence,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    accounting: str = "lemma5",
    metric: str = "pseudo_regret",
) -> list[Sample]:
    return [final_regret(evidence, family, eta, b, accounting, metric) for b in b_grid]


def _kept(
    evidence: Evidence, family: str, eta: int, b_grid: Sequence[int], c_range: str
) -> list[int]:
    """The grid, or with ``at-least-1`` the b whose c is not below 1 (spec erratum E10)."""
    horizon = evidence.horizon(f"{family}-verdicts")
    kept = [b for b in b_grid if c_range == "any" or required_c(b, eta, horizon) >= 1.0]
    if len(kept) < 3:
        raise InputError(
            f"b_grid: {len(kept)} values with c of at least 1 at eta={eta}, T={horizon}; "
            f"allowed: at least 3, two ends and what lies between"
        )
    return kept


def interior_gain(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    accounting: str,
    metric: str,
    c_range: str = "any",
) -> Estimate:
    """Regret of the better end of the grid minus that of the best b between the ends."""
    kept = _kept(evidence, family, eta, b_grid, c_range)
    first, *interior, last = _over_grid(evidence, family, eta, kept, accounting, metric)
    return largest(
        smallest(welch_difference(end.values, each.values) for end in (first, last))
        for each in interior
    )


def interior_ratio(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    accounting: str,
    metric: str,
    c_range: str = "any",
) -> Estimate:
    """Regret of the best b between the ends over that of the better end."""
    kept = _kept(evidence, family, eta, b_grid, c_range)
    first, *interior, last = _over_grid(evidence, family, eta, kept, accounting, metric)
    return smallest(
        largest(ratio_of_means(each.values, end.values) for end in (first, last))
        for each in interior
    )


def extremes_margin(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    accounting: str,
    metric: str,
    c_range: str = "any",
) -> Estimate:
    """Regret of the better end minus that of the worst b between the ends.

    Above 0 exactly if the better end lies above the third largest regret of the grid.
    """
    kept = _kept(evidence, family, eta, b_grid, c_range)
    first, *interior, last = _over_grid(evidence, family, eta, kept, accounting, metric)
    return smallest(
        welch_difference(end.values, each.values) for end in (first, last) for each in interior
    )


def best_b_shift(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], accounting: str
) -> Estimate:
    """Absolute difference of the places in the grid of the best b at eta = 1 and at eta = 5."""
    regrets, size = _at_both_levels(evidence, family, b_grid, accounting), len(b_grid)
    return from_means(regrets, lambda m: np.abs(argmin(m[:, :size]) - argmin(m[:, size:])))


def best_b_fall(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], accounting: str
) -> Estimate:
    """Place in the grid of the best b at eta = 1 minus that at eta = 5."""
    regrets, size = _at_both_levels(evidence, family, b_grid, accounting), len(b_grid)
    return from_means(regrets, lambda m: argmin(m[:, :size]) - argmin(m[:, size:]))


def _at_both_levels(
    evidence: Evidence, family: str, b_grid: Sequence[int], accounting: str = "lemma5"
) -> list[Sample]:
    """The grid at the strictest level, then at the weakest."""
    return [
        each
        for eta in (ETAS[0], ETAS[-1])
        for each in _over_grid(evidence, family, eta, b_grid, accounting)
    ]


def regret_rises(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], accounting: str
) -> Mapping[str, Estimate]:
    """Change of the regret from one level to the next weaker one, at each b."""
    return {
        f"b={b}, eta={eta} to {weaker}": welch_difference(
            final_regret(evidence, family, weaker, b, accounting).values,
            final_regret(evidence, family, eta, b, accounting).values,
        )
        for b in b_grid
        for eta, weaker in itertools.pairwise(ETAS)
    }


def regret_changes(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], accounting: str, largest_b: int
) -> Mapping[str, Estimate]:
    """Change of the regret from the strictest to the weakest level, at each b up to a largest."""
    return {
        f"b={b}": welch_difference(
            final_regret(evidence, family, ETAS[-1], b, accounting).values,
            final_regret(evidence, family, ETAS[0], b, accounting).values,
        )
        for b in b_grid
        if b <= largest_b
    }


def drop_trend(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], relative: bool = False
) -> Estimate:
    """Kendall's tau between b > 0 and the drop of regret from strictest to weakest level.

    ``relative`` divides each drop by the regret at the strictest level.
    """
    kept = [b for b in b_grid if b > 0]

    def tau(means: Values) -> Values:
        strict, weak = means[:, : len(kept)], means[:, len(kept) :]
        return kendall_tau(kept, 1.0 - weak / strict if relative else strict - weak)

    return from_means(_at_both_levels(evidence, family, kept), tau)


def zero_drop_margin(
    evidence: Evidence, *, family: str, accounting: str, b: int, relative: bool = False
) -> Estimate:
    """Drop of the regret from the strictest to the weakest level at b = 0 minus that at ``b``."""
    regrets = [
        final_regret(evidence, family, eta, each, accounting)
        for each in (0, b)
        for eta in (ETAS[0], ETAS[-1])
    ]

    def margin(means: Values) -> Values:
        strict, weak = means[:, 0::2], means[:, 1::2]
        drops = 1.0 - weak / strict if relative else strict - weak
        return np.asarray(drops[:, 0] - drops[:, 1])

    return from_means(regrets, margin)


def zero_ratios(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int], accounting: str
) -> Mapping[str, Estimate]:
    """Regret at b = 0 over the regret at each other b."""
    zero = final_regret(evidence, family, eta, 0, accounting)
    return {f"b={b}": ratio(zero, final_regret(evidence, family, eta, b)) for b in b_grid if b > 0}


def joint_over_single(
    evidence: Evidence,
    *,
    family: str,
    eta: int,
    b_grid: Sequence[int],
    accounting: str,
    c_range: str = "any",
) -> Mapping[str, Estimate]:
    """Regret of the best b between the ends over that of tuning c alone, and of tuning b alone.

    c alone: b = 0. b alone: c = 1, so b = T/eta^2 - 1; where that leaves no round to sample in
    (spec erratum E16), the largest b of the grid stands in.
    """
    kept = _kept(evidence, family, eta, b_grid, c_range)
    interior = _over_grid(evidence, family, eta, kept[1:-1])
    horizon = evidence.horizon(f"{family}-verdicts")
    alone = round(horizon / eta**2) - 1
    is_feasible = alone * len(FAMILIES[family].arms) < horizon
    b = alone if is_feasible else b_grid[-1]
    name = f"b alone, b={b}" if is_feasible else f"b alone, b={b} in place of {alone}"
    singles = {
        "c alone": final_regret(evidence, family, eta, 0, accounting),
        name: final_regret(evidence, family, eta, b),
    }
    return {
        each: smallest(ratio_of_means(joint.values, single.values) for joint in interior)
        for each, single in singles.items()
    }
