"""Statistics of Figures 2 to 5: slopes and final regrets of modified Thompson sampling.

``family`` names the arms of Section 5.1 or 5.2; regret is read from the simulation
``FAMILY-verdicts``. ``b_grid`` is the grid of pre-pulls, increasing, its ends being the extremes.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, bernoulli, truncated_exponential
from dpbandits.claims.bootstrap import Sample, from_means, kendall_tau
from dpbandits.claims.estimates import (
    Estimate,
    StudentEstimate,
    exact,
    largest,
    mean,
    welch_difference,
)
from dpbandits.claims.evidence import Evidence
from dpbandits.papers.ts_is_dp.analytic import RATES

FAMILIES: dict[str, Bandit] = {
    "bernoulli": bernoulli([0.75, 0.625, 0.5, 0.375, 0.25]),
    "truncated-exponential": truncated_exponential(RATES),
}

ETAS = (1, 2, 5)
"""Privacy levels of Figures 2 to 5."""

NEGLIGIBLE_SLOPE = 1e-4
"""Pseudo-regret per round below which a slope counts as 0."""

Values = NDArray[np.float64]


def final_regret(
    evidence: Evidence, family: str, eta: int, b: int, metric: str = "pseudo_regret"
) -> Sample:
    """Return the regret at the horizon, one number a run."""
    return evidence.sample(f"{family}-verdicts", metric, eta=eta, b=b)


def slope(evidence: Evidence, family: str, eta: int, b: int, rounds: tuple[int, int]) -> Sample:
    """Return the pseudo-regret per round over rounds [start, end], one number a run."""
    start, end = rounds
    simulation = f"{family}-verdicts"
    before = evidence.sample(simulation, "pseudo_regret", start, eta=eta, b=b)
    after = evidence.values(simulation, "pseudo_regret", end, eta=eta, b=b)
    return before.derive((after - before.values) / (end - start))


def horizon_of(evidence: Evidence, family: str) -> int:
    """Return the horizon T of the runs on the arms of a family."""
    return evidence.horizon(f"{family}-verdicts")


def _last_fifth(evidence: Evidence, family: str) -> tuple[int, int]:
    horizon = horizon_of(evidence, family)
    return horizon * 4 // 5, horizon


def _with_sampling(evidence: Evidence, family: str, b_grid: Sequence[int]) -> list[int]:
    """Return the values of b whose pre-pull phase ends before the horizon."""
    arms, horizon = len(FAMILIES[family].arms), horizon_of(evidence, family)
    return [b for b in b_grid if b * arms < horizon]


def _prepulled(evidence: Evidence, family: str, eta: int, b: int) -> tuple[Values, Values]:
    """Return times recorded in the pre-pull phase, and pseudo-regret then, shape (runs, times)."""
    table = evidence.table(f"{family}-verdicts", "pseudo_regret", eta=eta, b=b)
    times = table.columns.to_numpy(np.float64)
    inside = times <= b * len(FAMILIES[family].arms)
    return times[inside], table.to_numpy()[:, inside]


def prepull_deviation(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the largest deviation of pseudo-regret from b pulls of each arm in turn, for each b.

    The maximum is over runs and recorded times of the pre-pull phase.
    """
    gaps = FAMILIES[family].gaps
    deviations = {}
    for b in b_grid:
        times, regret = _prepulled(evidence, family, eta, b)
        if times.size:
            pulls = np.clip(times[:, None] - b * np.arange(gaps.size), 0, b)
            deviations[f"b={b}"] = exact(np.abs(regret - pulls @ gaps).max(), len(regret))
    return deviations


def prepull_bend(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the smallest change of slope between recorded times of the pre-pull phase."""
    bends = {}
    for b in b_grid:
        times, regret = _prepulled(evidence, family, eta, b)
        if times.size >= 2:
            slopes = np.diff(regret, prepend=0.0, axis=1) / np.diff(times, prepend=0.0)
            bends[f"b={b}"] = exact(np.diff(slopes, axis=1).min(), len(regret))
    return bends


def slope_after_prepulls(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the slope from the end of the pre-pulls to the horizon over the mean gap, b > 0."""
    gaps, horizon = FAMILIES[family].gaps, horizon_of(evidence, family)
    return {
        f"b={b}": mean(
            slope(evidence, family, eta, b, (b * gaps.size, horizon)).values / gaps.mean()
        )
        for b in _with_sampling(evidence, family, b_grid)
        if b > 0
    }


def slope_soon_after_prepulls(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the slope over as many rounds after the pre-pulls as these took, over the mean gap."""
    gaps, horizon = FAMILIES[family].gaps, horizon_of(evidence, family)
    return {
        f"b={b}": mean(
            slope(evidence, family, eta, b, (b * gaps.size, 2 * b * gaps.size)).values / gaps.mean()
        )
        for b in _with_sampling(evidence, family, b_grid)
        if b > 0 and 2 * b * gaps.size <= horizon
    }


def _countable(slopes: Values) -> Values:
    return np.where(slopes < NEGLIGIBLE_SLOPE, 0.0, slopes)


def _final_slopes(
    evidence: Evidence, family: str, eta: int, b_grid: Sequence[int]
) -> dict[int, Sample]:
    rounds = _last_fifth(evidence, family)
    sampling = _with_sampling(evidence, family, b_grid)
    return {b: slope(evidence, family, eta, b, rounds) for b in sampling}


def final_slope_steps(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the change of the slope over the last fifth of the rounds from one b to the next."""
    slopes = _final_slopes(evidence, family, eta, b_grid)
    return {
        f"b={b} to {following}": from_means(
            [slopes[b], slopes[following]], lambda m: _countable(m[:, 1]) - _countable(m[:, 0])
        )
        for b, following in itertools.pairwise(slopes)
    }


def final_slope_falls(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the same steps where the slope at the larger b is not negligible."""
    slopes = _final_slopes(evidence, family, eta, b_grid)
    return {
        f"b={b} to {following}": welch_difference(slopes[following].values, slopes[b].values)
        for b, following in itertools.pairwise(slopes)
        if not slopes[following].mean < NEGLIGIBLE_SLOPE
    }


def final_slope_trend(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Estimate:
    """Return Kendall's tau between b and the slope over the last fifth of the rounds."""
    slopes = _final_slopes(evidence, family, eta, b_grid)
    return from_means(list(slopes.values()), lambda m: kendall_tau(list(slopes), _countable(m)))


def final_slope(evidence: Evidence, *, family: str, eta: int, b: int) -> StudentEstimate:
    """Return the slope over the last fifth, over the mean gap (1 under uniform play)."""
    slopes = slope(evidence, family, eta, b, _last_fifth(evidence, family))
    return mean(slopes.values / FAMILIES[family].gaps.mean())


def zero_slope_ratio(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Estimate:
    """Return the slope over the last fifth at b = 0 over the largest at another b of the grid."""
    slopes = _final_slopes(evidence, family, eta, b_grid)
    others = [slopes[b] for b in slopes if b > 0]
    return from_means([slopes[0], *others], lambda m: m[:, 0] / m[:, 1:].max(axis=1))


def largest_relative_error(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], metric: str, averaged_runs: int
) -> Estimate:
    """Return the largest ``relative_error`` over the levels and the grid, at the horizon."""
    return largest(
        relative_error(final_regret(evidence, family, eta, b, metric), averaged_runs)
        for eta in ETAS
        for b in b_grid
    )


def relative_error(regret: Sample, averaged_runs: int) -> Estimate:
    """Return the standard error of a mean over some runs, over the mean regret.

    The spread of the runs is estimated from all of them, its interval by the bootstrap. Runs that
    all agree have none.
    """
    if regret.values.size >= 2 and np.ptp(regret.values) == 0.0:
        return exact(0.0, regret.values.size)
    # Centred, so that the variance is no difference of large numbers.
    centre, runs = regret.mean, regret.values.size
    centred = regret.derive(regret.values - centre)

    def error(means: Values) -> Values:
        variance = np.maximum(means[:, 1] - means[:, 0] ** 2, 0.0) * runs / (runs - 1)
        return np.asarray(np.sqrt(variance / averaged_runs) / (centre + means[:, 0]))

    return from_means([centred, centred.derive(centred.values**2)], error)
