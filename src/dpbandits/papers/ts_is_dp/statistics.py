"""Statistics of Figures 2 to 5 and 8: regrets, slopes, realised privacy levels.

``family`` names the arms of Section 5.1 or 5.2; regret is read from the simulation
``FAMILY-verdicts``. ``b_grid`` is the grid of pre-pulls, increasing, its ends being the extremes.

A realised level is what a run's own counts charge (Remark 2, Lemma 5). A level that depends on the
rewards describes a run and is no guarantee.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, bernoulli, truncated_exponential
from dpbandits.claims.evidence import Evidence, Sample, from_means
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    RandomEstimate,
    exact,
    largest,
    mean,
    rank_correlation,
    smallest,
    welch_difference,
)
from dpbandits.papers.ts_is_dp.analytic import RATES
from dpbandits.privacy import instance_specific_gdp, modified_ts_gdp, ts_gaussian_gdp

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


def _countable(slopes: Sample) -> Measured:
    """Return a mean slope, and 0 for a negligible one."""
    return 0.0 * slopes.measured if slopes.mean < NEGLIGIBLE_SLOPE else slopes.measured


@dataclass(frozen=True, eq=False)
class NegligibleStep(RandomEstimate):
    """The change, which is 0, from a slope that does not count to another one.

    Attributes:
        slopes: the two slopes.
    """

    slopes: tuple[Measured, ...] = ()

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return 0 where both are certainly negligible, otherwise the ends of their difference."""
        if all(slope.interval(alpha)[1] < NEGLIGIBLE_SLOPE for slope in self.slopes):
            return 0.0, 0.0
        before, after = self.slopes
        return (after - before).interval(alpha)


def _countable_step(before: Sample, after: Sample) -> Estimate:
    """Return the change of countable slopes."""
    step = _countable(after) - _countable(before)
    if max(before.mean, after.mean) < NEGLIGIBLE_SLOPE:
        return NegligibleStep(step.value, step.runs, (before.measured, after.measured))
    return step


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
        f"b={b} to {following}": _countable_step(slopes[b], slopes[following])
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
    return rank_correlation(list(slopes), [_countable(one) for one in slopes.values()])


def final_slope(evidence: Evidence, *, family: str, eta: int, b: int) -> Measured:
    """Return the slope over the last fifth, over the mean gap (1 under uniform play)."""
    slopes = slope(evidence, family, eta, b, _last_fifth(evidence, family))
    return mean(slopes.values / FAMILIES[family].gaps.mean())


def zero_slope_ratio(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Estimate:
    """Return the slope over the last fifth at b = 0 over the largest at another b of the grid."""
    slopes = _final_slopes(evidence, family, eta, b_grid)
    others = [slopes[b].measured for b in slopes if b > 0 and slopes[b].mean > 0.0]
    return smallest(slopes[0].measured / other for other in others)


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

    The spread of the runs is estimated from all of them, with an interval of its own. Runs
    that all agree have none.
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


PLAIN = "plain-levels"


def plain_levels(sums: Values, horizon: int) -> Values:
    """Return the realised level of runs of plain Thompson sampling over sqrt(T/2) (Lemma 4).

    Args:
        sums: for each run and arm the sum of 1/(n + 1) over the rounds after the arm's first pull,
            shape (runs, arms).
        horizon: number of rounds T, 1 or above.
    """
    return np.atleast_1d(instance_specific_gdp(sums, 1.0)) / ts_gaussian_gdp(horizon)


def plain_level(evidence: Evidence, *, horizon: int) -> Estimate:
    """Return the mean over runs of the realised level of plain Thompson sampling over Lemma 4's."""
    return mean(_plain(evidence, horizon))


def largest_plain_level(evidence: Evidence, *, horizon: int) -> Estimate:
    """Return the largest realised level of any run over Lemma 4's."""
    levels = _plain(evidence, horizon)
    return exact(levels.max() if levels.size else np.nan, levels.size)


def _plain(evidence: Evidence, horizon: int) -> Values:
    return plain_levels(evidence.per_arm(PLAIN, "inverse_counts", horizon=horizon), horizon)


def realised_levels(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the mean realised level of the rounds that sample over Lemma 5's, for each b.

    Args:
        evidence: the results.
        family: the arms.
        eta: the level that set c.
        b_grid: pre-pulls. Their rounds depend on no reward and are left out.
    """
    return {f"b={b}": mean(_modified(evidence, family, eta, b)) for b in b_grid}


def largest_realised_levels(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the largest realised level of any run over Lemma 5's, for each b."""
    levels = {b: _modified(evidence, family, eta, b) for b in b_grid}
    return {f"b={b}": exact(level.max(), level.size) for b, level in levels.items()}


def _modified(evidence: Evidence, family: str, eta: int, b: int) -> Values:
    simulation, horizon = f"{family}-verdicts", horizon_of(evidence, family)
    where: dict[str, Any] = {"eta": eta, "b": b}
    sums = evidence.per_arm(simulation, "inverse_counts", **where)
    sampled = np.maximum(sums - prepull_sums(b, sums.shape[1], horizon), 0.0)
    c = evidence.parameter(simulation, "c", **where)
    return np.atleast_1d(instance_specific_gdp(sampled, c)) / modified_ts_gdp(b, c, horizon)


def prepull_sums(b: int, arms: int, horizon: int) -> Values:
    """Return the part of the sums of 1/(n + 1) that the pre-pulls add, for each arm."""
    index = np.arange(arms)
    first = np.clip(horizon - b * index, 0, b)
    later = np.clip(horizon - b * (index + 1), 0, b * (arms - 1 - index))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, b + 1.0))])
    return np.asarray(np.maximum(harmonic[first] - 1.0, 0.0) + later / (b + 1))


COMPARISON = "comparison-verdicts"
SMALL_STEPS = "small-steps"
SAME_ALGORITHM = "same-algorithm"

TIGHTER_PAIRS = ((2, 1), (5, 1), (10, 1), (39, 1), (1, 2))
"""Pairs (b, c) near (0, 1) with c (b + 1) above 2, whose level is below Lemma 4's of (0, 1)."""

EQUAL_PAIRS = ((1, 1), (0, 2))
"""Pairs with c (b + 1) = 2, whose level by Lemma 5 is the one of (0, 1) by Lemma 4."""


def _contender(evidence: Evidence, algorithm: str, eta: int, log: str) -> Sample:
    """Return final regret of an algorithm of Figure 8 at eta, or at the epsilon printed for it."""
    interpretations = {
        "anytime-lazy-ucb": {"log": log},
        "m-ts-gaussian": {"c_range": "at-least-1"},
    }
    tags: dict[str, Any] = {
        "algorithm": algorithm,
        "eta": eta,
        **interpretations.get(algorithm, {}),
    }
    return evidence.sample(COMPARISON, "pseudo_regret", **tags)


def ratio_to_best_baseline(evidence: Evidence, *, eta: int, log: str) -> Estimate:
    """Return the final regret of tuned Modified TS over that of the better baseline."""
    return largest(_ratios_to_baselines(evidence, eta, log))


def _ratios_to_baselines(evidence: Evidence, eta: int, log: str) -> list[Measured]:
    tuned, *baselines = (
        _contender(evidence, name, eta, log).measured
        for name in ("m-ts-gaussian", "anytime-lazy-ucb", "dp-se")
    )
    return [tuned / baseline for baseline in baselines]


def ratio_change(evidence: Evidence, *, eta: int, weaker_eta: int, log: str) -> Estimate:
    """Return the same ratio at a weaker level minus the one at ``eta``."""
    strict, weak = (
        max(_ratios_to_baselines(evidence, level, log), key=lambda ratio: ratio.value)
        for level in (eta, weaker_eta)
    )
    return weak - strict


def differing_runs(evidence: Evidence) -> Estimate:
    """Return in how many runs TS-Gaussian and M-TS-Gaussian at (0, 1) differ on one stream."""
    names = ("ts-gaussian", "m-ts-gaussian")
    one, other = (_everything(evidence, name) for name in names)
    if np.isnan(one).any() or np.isnan(other).any():
        return exact(np.nan, len(one))
    return exact((one != other).any(axis=1).sum(), len(one))


def _everything(evidence: Evidence, algorithm: str) -> Values:
    """Return the all that is recorded of an algorithm on the shared stream, one row a run."""
    curves = [
        evidence.table(SAME_ALGORITHM, metric, algorithm=algorithm).to_numpy()
        for metric in ("pseudo_regret", "realised_regret")
    ]
    return np.hstack([*curves, evidence.per_arm(SAME_ALGORITHM, "pulls", algorithm=algorithm)])


def level_of_pair(evidence: Evidence, *, b: int, c: float) -> Estimate:
    """Return the GDP parameter of a pair over the horizon of the simulation (Lemma 5)."""
    return exact(modified_ts_gdp(b, c, evidence.horizon(SMALL_STEPS)))
