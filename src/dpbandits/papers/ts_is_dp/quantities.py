"""Numbers that claims ask for and no operation on series gives: slopes, levels, exact numbers.

Series are of Modified Thompson sampling on the arms that their tag ``family`` names, with ``b``
pre-pulls. A realised level is what a run's own counts charge (Remark 2, Lemma 5); one that depends
on the rewards describes a run and is no guarantee.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.bandits import Bandit, bernoulli, truncated_exponential
from dpbandits.claims.estimates import (
    Estimate,
    Measured,
    as_measured,
    distance_of_lowest,
    exact,
    largest,
    mean,
    relative_error,
)
from dpbandits.claims.series import SeriesQuery
from dpbandits.papers.ts_is_dp.analytic import (
    ANALYSIS_HORIZON,
    EXPERIMENT_HORIZON,
    MANY,
    RATES,
    deltas,
    plain_levels,
    sampled_levels,
    two_armed_choice,
)

FAMILIES: dict[str, Bandit] = {
    "bernoulli": bernoulli([0.75, 0.625, 0.5, 0.375, 0.25]),
    "truncated-exponential": truncated_exponential(RATES),
}
"""Arms of Sections 5.1 and 5.2."""

ROUND_DELTAS = (1e-8, 1e-6, 1e-4, 1e-2)
"""Delta of one choice at which Theorems 6 and 7 are checked."""

QUOTED_EPSILON, QUOTED_DELTA = 1.0, 1e-6
"""Epsilon and delta at which Lemma 13 is checked."""

Values = NDArray[np.float64]


def _gaps(series: SeriesQuery) -> Values:
    return FAMILIES[series.selection.where["family"]].gaps


def _slopes(series: SeriesQuery, begin: int, end: int) -> Values:
    """Return the pseudo-regret per round between two times, one number a run."""
    before, after = (series.having(t=t, metric="pseudo_regret").per_run() for t in (begin, end))
    return (after - before) / (end - begin)


def slope_after_prepulls(series: SeriesQuery, *, phases: int = 0) -> Measured:
    """Return the regret per round after the pre-pulls over that during them, the mean gap.

    Up to the horizon, or over so many times as many rounds as the pre-pulls took.
    """
    gaps = _gaps(series)
    begin = int(series.selection.where["b"]) * gaps.size
    end = (1 + phases) * begin if phases else series.times[-1]
    return mean(_slopes(series, begin, end) / gaps.mean())


def final_regret_per_round(series: SeriesQuery) -> Measured:
    """Return the pseudo-regret per round over the last fifth of the rounds."""
    horizon = series.having(metric="pseudo_regret").times[-1]
    return mean(_slopes(series, horizon * 4 // 5, horizon))


def final_share_of_uniform(series: SeriesQuery) -> Measured:
    """Return the regret per round over the last fifth of the rounds over that of uniform play."""
    return final_regret_per_round(series) * (1.0 / float(_gaps(series).mean()))


def best_b_shift(strict: SeriesQuery, weak: SeriesQuery, *, b: Sequence[int]) -> Estimate:
    """Return how many places of the grid are between the best b of two levels."""
    one, other = ([level.having(b=each).number() for each in b] for level in (strict, weak))
    return distance_of_lowest(one, other, lambda first, second: float(abs(first - second)))


def largest_relative_error(
    series: SeriesQuery, *, eta: Sequence[int], b: Sequence[int], runs: int
) -> Estimate:
    """Return the largest standard error of a mean over some runs over the mean, of all pairs."""
    every = [series.having(eta=one, b=other) for one, other in itertools.product(eta, b)]
    return largest(relative_error(each.per_run(), runs) for each in every)


def lead_change(tuned: SeriesQuery, *rivals: SeriesQuery, eta: Sequence[int]) -> Estimate:
    """Return how a regret over that of the better rival changes from one level to another."""

    def ratio(level: int) -> Measured:
        regret, *others = (as_measured(one.having(eta=level).number()) for one in (tuned, *rivals))
        return max((regret / other for other in others), key=lambda one: one.value)

    strict, weak = map(ratio, eta)
    return weak - strict


def realised_level(series: SeriesQuery) -> Estimate:
    """Return the mean realised level over that of Lemma 4, or of Lemma 5 where b and c are given.

    Pre-pulls depend on no reward and are left out.
    """
    block, where = series.block("inverse_counts"), series.selection.where
    sums, horizon = block.values[:, -1], int(block.times[-1])
    if "b" not in where:
        return mean(plain_levels(sums, horizon))
    return mean(sampled_levels(sums, int(where["b"]), float(series.parameters["c"]), horizon))


def uniform_regret(*, family: str) -> Estimate:
    """Return the expected final regret of playing all arms equally often."""
    return exact(EXPERIMENT_HORIZON * float(FAMILIES[family].gaps.mean()))


def epsilon_of_level(*, eta: float) -> Estimate:
    """Return the epsilon of eta-Gaussian DP at delta = 1e-6."""
    return exact(privacy.epsilon(1e-6, float(eta)))


def level_of_pair(*, b: int, c: float, accounting: str = "lemma5", over: float = 1) -> Estimate:
    """Return the GDP parameter of (b, c) at T = 1e5 by Lemma 4 or 5, over a level."""
    level = privacy.modified_ts_gdp(b, c, EXPERIMENT_HORIZON, interpretation=accounting)
    return exact(level / over)


def epsilon_of_pair(*, b: int, c: float, delta: float) -> Estimate:
    """Return the epsilon of (b, c) at T = 1000 by Theorem 4."""
    return exact(privacy.epsilon(delta, privacy.modified_ts_gdp(b, c, ANALYSIS_HORIZON)))


def epsilon_over_plain(*, b: int, c: float, baseline: str) -> Estimate:
    """Return the largest ratio of epsilon of (b, c) to that of (0, 1) over delta at T = 1000.

    ``baseline``: the guarantee of (0, 1), ``lemma5`` (Theorem 4) or ``theorem3``.
    """
    plain = {
        "lemma5": privacy.modified_ts_gdp(0, 1, ANALYSIS_HORIZON),
        "theorem3": privacy.ts_gaussian_gdp(ANALYSIS_HORIZON),
    }[baseline]
    x = deltas()
    raised = privacy.epsilon(x, privacy.modified_ts_gdp(b, c, ANALYSIS_HORIZON))
    return exact(float((raised / privacy.epsilon(x, plain)).max()))


def arm_mean_deviation(*, printed: Sequence[float]) -> Mapping[str, Estimate]:
    """Return the mean of each exponential arm on [0, 1] minus the printed one (Section 5.2)."""
    means = FAMILIES["truncated-exponential"].means
    return {
        f"rate {rate:g}": exact(mean - value)
        for rate, mean, value in zip(RATES, means, printed, strict=True)
    }


def quoted_shift() -> Estimate:
    """Return the longest shift of a unit normal variable that Lemma 13 admits."""
    return exact(2 * QUOTED_EPSILON / math.sqrt(-math.log(2 * QUOTED_DELTA)))


def quoted_delta() -> Estimate:
    """Return the exact delta of that shift."""
    return exact(privacy.delta(QUOTED_EPSILON, quoted_shift().value))


def true_over_claimed_delta(*, means: str) -> Mapping[str, Estimate]:
    """Return the exact delta of one choice between two over the delta that Theorem 6 or 7 claims.

    ``means``: ``any`` two functions (Theorem 6), or ``reachable`` by rewards in [0, 1] (Theorem 7).
    """
    names = {
        "any": {1: "equal noise", MANY: "vanishing noise of the second"},
        "reachable": {MANY: "pulls (1, many)", 1: "pulls (1, 1)"},
    }[means]
    ratios = {}
    for delta, (others, name) in itertools.product(ROUND_DELTAS, names.items()):
        shift, lowest = two_armed_choice(1, others)
        bound = lowest if means == "reachable" else -np.inf
        epsilon = privacy.ts_round_epsilon(delta, 2)
        true = privacy.report_noisy_max_true_delta(epsilon, shift, bound)
        ratios[f"{name}, delta {delta:g}"] = exact(true / delta)
    return ratios


def choice_chances(*, delta: float) -> Mapping[str, Estimate]:
    """Return log10 of the chances of the choice that contradicts Theorem 6 at a delta.

    Of two functions of equal noise, under both inputs. The exact delta is the largest
    Phi(x + shift) - e^epsilon Phi(x).
    """
    shift, _ = two_armed_choice(1, 1)
    x = -privacy.ts_round_epsilon(delta, 2) / shift - shift / 2.0
    return {
        name: exact(float(log_ndtr(end)) / math.log(10.0))
        for name, end in (("more likely", x + shift), ("less likely", x))
    }


def share_of_epsilon(series: SeriesQuery, *, analysis: str) -> Estimate:
    """Return the largest epsilon at a delta of two arms that an audit shows over another claim.

    ``analysis``: ``standard-dp`` (Corollary 1, best split) or ``rdp`` (Theorem 8, best order).
    """
    rows = series.rows
    given = rows["parameters"].str.removeprefix("delta=").astype(float)
    shares = [
        lower / _epsilon_by(analysis, delta, int(horizon))
        for lower, delta, horizon in zip(rows["lower"], given, rows["horizon"], strict=True)
    ]
    return exact(max(shares))


def _epsilon_by(analysis: str, delta: float, horizon: int) -> float:
    if analysis == "rdp":
        return float(privacy.ts_gaussian_rdp_epsilon(delta, horizon))
    return float(privacy.ts_standard_epsilon(delta, horizon, 2))


def epsilon_seen_from(series: SeriesQuery, *, analysis: str) -> Estimate:
    """Return how many times that claim an algorithm would have to lose for the audit to see it."""
    return exact(1.0 / share_of_epsilon(series, analysis=analysis).value)
