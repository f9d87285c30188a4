"""Numbers that claims ask for and no operation on series gives: slopes, levels, exact numbers.

Series are of Modified Thompson sampling on the arms that their tag ``family`` names, with ``b``
pre-pulls. A realised level is what a run's own counts charge (Remark 2, Lemma 5); one that depends
on the rewards describes a run and is no guarantee.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtrit

from dpbandits import privacy
from dpbandits.bandits import Bandit, bernoulli, clipped_exponential, truncated_exponential
from dpbandits.claims.evidence import Series
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    RandomEstimate,
    as_measured,
    distance_of_lowest,
    exact,
    largest,
    mean,
    relative_error,
    smallest,
)
from dpbandits.claims.statistics import Point
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

NEGLIGIBLE_SLOPE = 1e-4
"""Pseudo-regret per round below which a slope counts as 0."""

DRAMATIC_RATIO = 0.6
"""Epsilon over that of (0, 1) up to which TSDP-C4 calls a guarantee dramatically tighter."""

ROUND_DELTAS = (1e-6, 1e-4, 1e-2)
"""Delta of one choice at which Theorems 6 and 7 are checked."""

QUOTED_EPSILON, QUOTED_DELTA = 1.0, 1e-6
"""Epsilon and delta at which Lemma 13 is checked."""

Values = NDArray[np.float64]


def _gaps(series: Series) -> Values:
    return FAMILIES[series.place[1]["family"]].gaps


def _pulls_before(series: Series) -> tuple[int, int]:
    """Return b, and the rounds of the pre-pulls."""
    b = int(series.place[1]["b"])
    return b, b * _gaps(series).size


def _prepulled(series: Series) -> tuple[Values, Values]:
    """Return times recorded in the pre-pull phase, and pseudo-regret then, shape (runs, times)."""
    block = series.block("pseudo_regret")
    inside = block.times <= _pulls_before(series)[1]
    return block.times[inside].astype(float), block.values[:, inside, 0]


def prepull_deviation(series: Series) -> Estimate:
    """Return the largest deviation of pseudo-regret from b pulls of each arm in turn.

    The maximum is over runs and recorded times of the pre-pull phase.
    """
    (times, regret), gaps = _prepulled(series), _gaps(series)
    b, _ = _pulls_before(series)
    pulls = np.clip(times[:, None] - b * np.arange(gaps.size), 0, b)
    return exact(np.abs(regret - pulls @ gaps).max(), len(regret))


def prepull_bend(series: Series) -> Estimate:
    """Return the smallest change of slope between recorded times of the pre-pull phase."""
    times, regret = _prepulled(series)
    slopes = np.diff(regret, prepend=0.0, axis=1) / np.diff(times, prepend=0.0)
    return exact(np.diff(slopes, axis=1).min(), len(regret))


def prepull_share(series: Series) -> Estimate:
    """Return the regret of the pre-pulls over the final regret."""
    prepulls = float(_pulls_before(series)[0] * _gaps(series).sum())
    return (-as_measured(series.number()).log() + math.log(prepulls)).exp()


def _slopes(series: Series, begin: int, end: int) -> Values:
    """Return the pseudo-regret per round between two times, one number a run."""
    before, after = (series.having(t=t).per_run() for t in (begin, end))
    return (after - before) / (end - begin)


def slope_after_prepulls(series: Series, *, phases: int = 0) -> Measured:
    """Return the slope from the end of the pre-pulls on over the mean gap (1 in uniform play).

    Up to the horizon, or over so many times as many rounds as the pre-pulls took.
    """
    _, begin = _pulls_before(series)
    end = (1 + phases) * begin if phases else series.times[-1]
    return mean(_slopes(series, begin, end) / _gaps(series).mean())


def _final_slopes(series: Series) -> Values:
    horizon = series.times[-1]
    return _slopes(series, horizon * 4 // 5, horizon)


def final_slope(series: Series) -> Measured:
    """Return the slope over the last fifth of the rounds, over the mean gap."""
    return mean(_final_slopes(series) / _gaps(series).mean())


def countable_slope(series: Series) -> Measured:
    """Return the slope over the last fifth of the rounds, and 0 for a negligible one."""
    return _countable(mean(_final_slopes(series)))


def _countable(slope: Measured) -> Measured:
    return 0.0 * slope if slope.value < NEGLIGIBLE_SLOPE else slope


@dataclass(frozen=True, eq=False)
class NegligibleStep(RandomEstimate):
    """The change, which is 0, from a slope that does not count to another one."""

    slopes: tuple[Measured, ...] = ()

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return 0 where both are certainly negligible, otherwise the ends of their difference."""
        if all(slope.interval(alpha)[1] < NEGLIGIBLE_SLOPE for slope in self.slopes):
            return 0.0, 0.0
        before, after = self.slopes
        return (after - before).interval(alpha)


def slope_steps(series: Series, *, b: Sequence[int]) -> Mapping[str, Estimate]:
    """Return the change of the slope over the last fifth of the rounds from one b to the next."""
    return {
        label: NegligibleStep(0.0, min(before.runs, after.runs), (before, after))
        if max(before.value, after.value) < NEGLIGIBLE_SLOPE
        else _countable(after) - _countable(before)
        for label, before, after in _slope_pairs(series, b)
    }


def slope_falls(series: Series, *, b: Sequence[int]) -> Mapping[str, Estimate]:
    """Return the same steps where the slope at the larger b is not negligible."""
    return {
        label: after - before
        for label, before, after in _slope_pairs(series, b)
        if not after.value < NEGLIGIBLE_SLOPE
    }


def _slope_pairs(series: Series, b: Sequence[int]) -> list[tuple[str, Measured, Measured]]:
    slopes = {one: mean(_final_slopes(series.having(b=one))) for one in b}
    return [
        (f"b={one} to {following}", slopes[one], slopes[following])
        for one, following in itertools.pairwise(b)
    ]


def slope_over_largest(series: Series, *, b: Sequence[int]) -> Estimate:
    """Return the slope over the last fifth of the rounds over the largest of those at others b."""
    others = [mean(_final_slopes(series.having(b=one))) for one in b]
    slope = mean(_final_slopes(series))
    return smallest(slope / other for other in others if other.value > 0.0)


def best_b_shift(strict: Series, weak: Series, *, b: Sequence[int]) -> Estimate:
    """Return how many places of the grid are between the best b of two levels."""
    return _between_best(strict, weak, b, lambda one, other: float(abs(one - other)))


def best_b_fall(strict: Series, weak: Series, *, b: Sequence[int]) -> Estimate:
    """Return by how many places of the grid the best b is smaller at the weaker level."""
    return _between_best(strict, weak, b, lambda one, other: float(one - other))


def _between_best(
    strict: Series, weak: Series, b: Sequence[int], distance: Callable[[int, int], float]
) -> Estimate:
    one, other = ([level.having(b=each).number() for each in b] for level in (strict, weak))
    return distance_of_lowest(one, other, distance)


def largest_relative_error(
    series: Series, *, eta: Sequence[int], b: Sequence[int], runs: int
) -> Estimate:
    """Return the largest standard error of a mean over some runs over the mean, of all pairs."""
    every = [series.having(eta=one, b=other) for one, other in itertools.product(eta, b)]
    return largest(relative_error(each.per_run(), runs) for each in every)


def increase_in_half_widths(regret: Series, other: Series, *, runs: int) -> Estimate:
    """Return an increase over the half-width of its 95 % interval at some runs.

    The half-width is that of the difference of two independent means, from the spread of all runs.
    """
    first, second = regret.per_run(), other.per_run()
    variance = (first.var(ddof=1) + second.var(ddof=1)) / runs
    half_width = float(stdtrit(2 * runs - 2, 0.975)) * math.sqrt(variance)
    return (as_measured(regret.number()) - as_measured(other.number())) / half_width


def lead_change(tuned: Series, *rivals: Series, eta: Sequence[int]) -> Estimate:
    """Return how a regret over that of the better rival changes from one level to another."""

    def ratio(level: int) -> Measured:
        regret, *others = (as_measured(one.having(eta=level).number()) for one in (tuned, *rivals))
        return max((regret / other for other in others), key=lambda one: one.value)

    strict, weak = map(ratio, eta)
    return weak - strict


def differing_runs(first: Series, second: Series) -> Estimate:
    """Return in how many runs of two series on one random stream any recorded number differs."""
    one, other = map(_everything, (first, second))
    if np.isnan(one).any() or np.isnan(other).any():
        return exact(np.nan, len(one))
    return exact((one != other).any(axis=1).sum(), len(one))


def _everything(series: Series) -> Values:
    """Return all that is recorded of a series, one row a run."""
    curves = [series.block(of).values[:, :, 0] for of in ("pseudo_regret", "realised_regret")]
    return np.hstack([*curves, series.block("pulls").values[:, -1]])


def realised_level(series: Series) -> Estimate:
    """Return the mean realised level over that of Lemma 4, or of Lemma 5 where b and c are given.

    Pre-pulls depend on no reward and are left out.
    """
    return mean(_realised(series))


def largest_realised_level(series: Series) -> Estimate:
    """Return the largest realised level of any run over that of the lemma."""
    levels = _realised(series)
    return exact(levels.max() if levels.size else np.nan, levels.size)


def _realised(series: Series) -> Values:
    block, where = series.block("inverse_counts"), series.place[1]
    sums, horizon = block.values[:, -1], int(block.times[-1])
    if "b" not in where:
        return plain_levels(sums, horizon)
    return sampled_levels(sums, int(where["b"]), float(series.parameters["c"]), horizon)


def reached_on_half(points: Sequence[Point]) -> Estimate:
    """Return the largest number that half of the points reach."""
    values = np.sort([point.number.value for point in points])[::-1]
    return exact(np.nan if np.isnan(values).any() else values[(values.size + 1) // 2 - 1])


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


def arm_mean_deviation(*, law: str, printed: Sequence[float]) -> Mapping[str, Estimate]:
    """Return the mean of each exponential arm on [0, 1] minus the printed one (Section 5.2)."""
    make = {"conditional": truncated_exponential, "clipped": clipped_exponential}[law]
    return {
        f"rate {rate:g}": exact(mean - value)
        for rate, mean, value in zip(RATES, make(RATES).means, printed, strict=True)
    }


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-12))


def turning_product(*, baseline: str) -> Estimate:
    """Return the c (b + 1) at which a guarantee is dramatically tighter than that of (0, 1)."""
    levels = {
        "lemma5": privacy.modified_ts_gdp(0, 1, ANALYSIS_HORIZON),
        "theorem3": privacy.ts_gaussian_gdp(ANALYSIS_HORIZON),
    }
    x = deltas()
    standard = privacy.epsilon(x, levels[baseline])

    def above(product: float) -> float:
        raised = privacy.epsilon(x, privacy.modified_ts_gdp(0, product, ANALYSIS_HORIZON))
        return float((raised / standard).max()) - DRAMATIC_RATIO

    return exact(_root(above, 1.0, 10.0))


def turning_order(*, by: str) -> Estimate:
    """Return the Renyi order up to which the lead of Gaussian DP is larger at the smallest delta.

    ``by``: ``difference`` or ``ratio`` of the epsilons.
    """
    ends = np.array([1e-10, 1e-1])
    gdp = privacy.epsilon(ends, privacy.ts_gaussian_gdp(ANALYSIS_HORIZON))
    compare = {"difference": np.subtract, "ratio": np.divide}[by]

    def turned(order: float) -> float:
        renyi = privacy.ts_gaussian_rdp_epsilon(ends, ANALYSIS_HORIZON, order)
        small, large = compare(renyi, gdp)
        return float(small - large)

    return exact(_root(turned, 1.01, 2.0))


def least_epsilon(*, arms: int) -> Estimate:
    """Return the epsilon of Corollary 1 at the largest delta below 1."""
    below = float(np.nextafter(1.0, 0.0))
    return exact(privacy.ts_standard_epsilon(below, ANALYSIS_HORIZON, arms))


def crossing_delta(*, arms: int) -> Estimate:
    """Return the delta at which Corollary 1 meets the basic composition of exact rounds."""

    def excess(logarithm: float) -> float:
        delta = math.exp(logarithm)
        printed = privacy.ts_standard_epsilon(delta, ANALYSIS_HORIZON, arms)
        return float(printed - privacy.ts_basic_standard_epsilon(delta, ANALYSIS_HORIZON))

    return exact(math.exp(_root(excess, math.log(1e-10), math.log(0.9))))


def quoted_shift() -> Estimate:
    """Return the longest shift of a unit normal variable that Lemma 13 admits."""
    return exact(2 * QUOTED_EPSILON / math.sqrt(-math.log(2 * QUOTED_DELTA)))


def quoted_delta() -> Estimate:
    """Return the exact delta of that shift."""
    return exact(privacy.delta(QUOTED_EPSILON, quoted_shift().value))


def true_over_claimed_delta(*, calibration: str, means: str) -> Mapping[str, Estimate]:
    """Return the exact delta of one choice between two over the delta claimed for it."""
    names = {
        "any": {MANY: "second function of vanishing noise", 1: "both noisy"},
        "reachable": {MANY: "pulls (1, many)", 1: "pulls (1, 1)"},
    }[means]
    ratios = {}
    for delta, (others, name) in itertools.product(ROUND_DELTAS, names.items()):
        shift, lowest = two_armed_choice(1, others)
        bound = lowest if means == "reachable" else -np.inf
        # Two arms, or Lemma 3 with the duality.
        epsilon = (
            privacy.ts_round_epsilon(delta, 2)
            if calibration == "printed"
            else privacy.epsilon(delta, privacy.ts_round_gdp(1))
        )
        true = privacy.report_noisy_max_true_delta(epsilon, shift, bound)
        ratios[f"{name}, delta {delta:g}"] = exact(true / delta)
    return ratios
