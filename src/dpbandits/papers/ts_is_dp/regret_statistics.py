"""Statistics of Figures 2 to 5: slopes and final regrets of modified Thompson sampling.

``family`` names the arms of Section 5.1 or 5.2; regret is read from the simulation
``FAMILY-verdicts``. ``b_grid`` is the grid of pre-pulls, increasing, its ends being the extremes.
``accounting`` is the lemma that sets c at b = 0 (spec erratum E2); for b > 0 the two agree.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, bernoulli, truncated_exponential
from dpbandits.claims import (
    Estimate,
    Evidence,
    StudentEstimate,
    exact,
    mean,
)
from dpbandits.claims.bootstrap import Sample, from_means, kendall_tau
from dpbandits.papers.ts_is_dp.analytic import RATES
from dpbandits.privacy import instance_specific_gdp, modified_ts_gdp

FAMILIES: dict[str, Bandit] = {
    "bernoulli": bernoulli([0.75, 0.625, 0.5, 0.375, 0.25]),
    "truncated-exponential": truncated_exponential(RATES),
}

ETAS = (1, 2, 5)
"""Privacy levels of Figures 2 to 5."""

NEGLIGIBLE_SLOPE = 1e-4
"""Slopes below count as 0 (spec 5.0)."""

Values = NDArray[np.float64]


def final_regret(
    evidence: Evidence,
    family: str,
    eta: int,
    b: int,
    accounting: str = "lemma5",
    metric: str = "pseudo_regret",
) -> Sample:
    """Return the regret at the horizon, one number a run."""
    return evidence.sample(f"{family}-verdicts", metric, **_tags(eta, b, accounting))


def slope(
    evidence: Evidence,
    family: str,
    eta: int,
    b: int,
    rounds: tuple[int, int],
    accounting: str = "lemma5",
) -> Sample:
    """Return the pseudo-regret per round over rounds [start, end], one number a run."""
    start, end = rounds
    simulation, tags = f"{family}-verdicts", _tags(eta, b, accounting)
    before = evidence.sample(simulation, "pseudo_regret", start, **tags)
    after = evidence.values(simulation, "pseudo_regret", end, **tags)
    return before.derive((after - before.values) / (end - start))


def _tags(eta: int, b: int, accounting: str) -> dict[str, Any]:
    return {"eta": eta, "b": b, "accounting": accounting if b == 0 else "lemma5"}


def _horizon(evidence: Evidence, family: str) -> int:
    return evidence.horizon(f"{family}-verdicts")


def _last_fifth(evidence: Evidence, family: str) -> tuple[int, int]:
    horizon = _horizon(evidence, family)
    return horizon * 4 // 5, horizon


def _with_sampling(evidence: Evidence, family: str, b_grid: Sequence[int]) -> list[int]:
    """Values of b whose pre-pull phase ends before the horizon."""
    arms, horizon = len(FAMILIES[family].arms), _horizon(evidence, family)
    return [b for b in b_grid if b * arms < horizon]


def _prepulled(evidence: Evidence, family: str, eta: int, b: int) -> tuple[Values, Values]:
    """Times recorded in the pre-pull phase, and pseudo-regret then, shape (runs, times)."""
    table = evidence.table(f"{family}-verdicts", "pseudo_regret", **_tags(eta, b, "lemma5"))
    times = table.columns.to_numpy(np.float64)
    inside = times <= b * len(FAMILIES[family].arms)
    return times[inside], table.to_numpy()[:, inside]


def prepull_deviation(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Largest deviation of pseudo-regret from b pulls of each arm in turn, over runs and times."""
    gaps = FAMILIES[family].gaps
    found = {}
    for b in b_grid:
        times, regret = _prepulled(evidence, family, eta, b)
        if times.size:
            pulls = np.clip(times[:, None] - b * np.arange(gaps.size), 0, b)
            found[f"b={b}"] = exact(np.abs(regret - pulls @ gaps).max(), len(regret))
    return found


def prepull_bend(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Smallest change of slope between successive recorded times of the pre-pull phase."""
    found = {}
    for b in b_grid:
        times, regret = _prepulled(evidence, family, eta, b)
        if times.size >= 2:
            slopes = np.diff(regret, prepend=0.0, axis=1) / np.diff(times, prepend=0.0)
            found[f"b={b}"] = exact(np.diff(slopes, axis=1).min(), len(regret))
    return found


def slope_after_prepulls(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int], smallest_b: int
) -> Mapping[str, Estimate]:
    """Slope from the end of the pre-pull phase to the horizon, over the mean gap."""
    gaps, horizon = FAMILIES[family].gaps, _horizon(evidence, family)
    return {
        f"b={b}": mean(
            slope(evidence, family, eta, b, (b * gaps.size, horizon)).values / gaps.mean()
        )
        for b in _with_sampling(evidence, family, b_grid)
        if b >= smallest_b
    }


def slope_soon_after_prepulls(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int], smallest_b: int
) -> Mapping[str, Estimate]:
    """Slope over as many rounds after the pre-pull phase as it took, over the mean gap."""
    gaps, horizon = FAMILIES[family].gaps, _horizon(evidence, family)
    return {
        f"b={b}": mean(
            slope(evidence, family, eta, b, (b * gaps.size, 2 * b * gaps.size)).values / gaps.mean()
        )
        for b in _with_sampling(evidence, family, b_grid)
        if b >= smallest_b and 2 * b * gaps.size <= horizon
    }


def _countable(slopes: Values) -> Values:
    return np.where(slopes < NEGLIGIBLE_SLOPE, 0.0, slopes)


def final_slope_steps(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Change of the slope over the last fifth of the rounds from one b to the next."""
    kept, rounds = _with_sampling(evidence, family, b_grid), _last_fifth(evidence, family)
    slopes = {b: slope(evidence, family, eta, b, rounds) for b in kept}
    return {
        f"b={b} to {following}": from_means(
            [slopes[b], slopes[following]], lambda m: _countable(m[:, 1]) - _countable(m[:, 0])
        )
        for b, following in itertools.pairwise(kept)
    }


def final_slope_trend(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Estimate:
    """Kendall's tau between b and the slope over the last fifth of the rounds."""
    kept, rounds = _with_sampling(evidence, family, b_grid), _last_fifth(evidence, family)
    slopes = [slope(evidence, family, eta, b, rounds) for b in kept]
    return from_means(slopes, lambda m: kendall_tau(kept, _countable(m)))


def final_slope(
    evidence: Evidence, *, family: str, eta: int, b: int, accounting: str = "lemma5"
) -> StudentEstimate:
    """Slope over the last fifth of the rounds, over the mean gap (1 under uniform play)."""
    rounds = _last_fifth(evidence, family)
    slopes = slope(evidence, family, eta, b, rounds, accounting)
    return mean(slopes.values / FAMILIES[family].gaps.mean())


def relative_errors(
    evidence: Evidence, *, family: str, b_grid: Sequence[int], metric: str, averaged_runs: int
) -> Mapping[str, Estimate]:
    """Standard error of an average over ``averaged_runs`` runs, over the regret, at the horizon."""
    return {
        f"eta={eta}, b={b}": _relative_error(
            final_regret(evidence, family, eta, b, metric=metric), averaged_runs
        )
        for eta in ETAS
        for b in b_grid
    }


def _relative_error(regret: Sample, averaged_runs: int) -> Estimate:
    # Centred, so that the variance is no difference of large numbers.
    centre, runs = regret.mean, regret.values.size
    centred = regret.derive(regret.values - centre)

    def error(means: Values) -> Values:
        variance = np.maximum(means[:, 1] - means[:, 0] ** 2, 0.0) * runs / (runs - 1)
        return np.asarray(np.sqrt(variance / averaged_runs) / (centre + means[:, 0]))

    return from_means([centred, centred.derive(centred.values**2)], error)


def realised_levels(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int], rounds: str
) -> Mapping[str, Estimate]:
    """Realised eta of a run over the worst case of Lemma 5 (Remark 2, spec erratum E3).

    Args:
        evidence: the results.
        family: the arms.
        eta: the level that set c.
        b_grid: pre-pulls.
        rounds: ``all`` charges every round after the first pull of an arm, as the spec's formula
            reads; ``sampled`` leaves out the pre-pulls, which do not depend on any reward.
    """
    simulation, horizon = f"{family}-verdicts", _horizon(evidence, family)
    found = {}
    for b in b_grid:
        tags = _tags(eta, b, "lemma5")
        sums = evidence.per_arm(simulation, "inverse_counts", **tags)
        if rounds == "sampled":
            sums = np.maximum(sums - _prepull_sums(b, sums.shape[1], horizon), 0.0)
        c = evidence.parameter(simulation, "c", **tags)
        worst = modified_ts_gdp(b, c, horizon)
        found[f"b={b}"] = mean(np.atleast_1d(instance_specific_gdp(sums, c)) / worst)
    return found


def _prepull_sums(b: int, arms: int, horizon: int) -> Values:
    """Part of ``inverse_counts`` that the pre-pull phase adds, for each arm."""
    index = np.arange(arms)
    own = np.clip(horizon - b * index, 0, b)
    later = np.clip(horizon - b * (index + 1), 0, b * (arms - 1 - index))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, b + 1.0))])
    return np.asarray(np.maximum(harmonic[own] - 1.0, 0.0) + later / (b + 1))
