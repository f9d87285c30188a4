"""Numbers that claims ask for and no operation on series gives: times, orders, exact numbers.

Numbers of the theory are on the fifty arms, at epsilon = 0.2 unless said.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpbandits.auditing.gdp_ncb import exploration_witness, in_window, least_pulls
from dpbandits.claims.estimates import Estimate, Measured, StudentEstimate, average, exact
from dpbandits.claims.series import SeriesQuery, nash_regret
from dpbandits.metrics import NASH_REGRET
from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.analytic import WEAK_SHARE
from dpbandits.papers.dp_ncb.instances import ARMS, drawn_means, weak_arms
from dpbandits.papers.dp_ncb.theory import EPSILON, GLOBAL, PHASE_ONE_RANGE, capped_phase_one
from dpbandits.privacy.witnesses import stop_rules

Values = NDArray[np.float64]

PUBLISHED_RUNS = 500
"""Number of runs of the ten published curves of panel (a)."""

SMALLEST_RISE = 1e-3
"""A bin of time whose mean has left that of uniform play by this share of the best is no longer all
Phase I; the few pulls of Phase I that are recorded by arm, just before its end, move it by less."""

EXPLORING_SHARE = 0.85
"""In each bin of Phase I a larger share of the pulls is of weak arms, which are 45 of 50."""

NO_SHARE = 1e-6
"""Less than one pull of a bin, more than rounding."""

MOST_AT_THREE = 1.0 - (2.0 * math.e) ** -2
"""No run of AdaP-UCB on the two arms of panel (a) has more Nash regret at T = 3.

Its first two rounds pull each arm once. So of the expected means of the three rounds one is 1 and
the others are at least the smaller mean, (2e)^-3, whatever is drawn and in whatever order. Their
geometric mean is at least (2e)^-2."""

BEST_MEAN = max(drawn_means())


def two_arm_regret(series: SeriesQuery) -> Measured:
    """Return the mean Nash regret of curves of 50 runs on the two arms, which are the sample.

    A limit below the 500 runs of the ten published curves is one of other panels: all are read.
    """
    results, where = series.selection
    evidence, one = series.evidence, series.having(metric=NASH_REGRET)
    if evidence.limit is not None and evidence.limit < PUBLISHED_RUNS:
        one = replace(one, evidence=replace(evidence, limit=None))
    regrets = [nash_regret({key: curve}, -1) for key, curve in one.curves.items()]
    value = average(regrets).value
    sample = (results.name, *map(str, where.values()))
    return Measured.of(value, {sample: np.array([one.value for one in regrets]) - value})


def rise_since_three(series: SeriesQuery) -> Measured:
    """Return the Nash regret of AdaP-UCB on the two arms minus the most that it can be at T = 3."""
    return two_arm_regret(series) - MOST_AT_THREE


def crossing_time(first: SeriesQuery, second: SeriesQuery) -> Estimate:
    """Return the last time at which one Nash regret falls below another; NaN if it ends above.

    Between recorded times their difference is taken to be linear in log t.
    """
    (times, one), (_, other) = first.regrets, second.regrets
    differences = [above - below for above, below in zip(one, other, strict=True)]
    if not differences or differences[-1].value > 0.0:
        return StudentEstimate(math.nan)
    return _last_fall(times, differences).exp()


def time_below(series: SeriesQuery, *, level: float) -> Estimate:
    """Return the last time at which a Nash regret falls below a level; T if it is not below."""
    return _time_below(series, level).exp()


def time_below_ratio(first: SeriesQuery, second: SeriesQuery, *, level: float) -> Estimate:
    """Return the time at which one Nash regret falls below a level over another's.

    One that does not fall below it by T counts as falling below it at T; NaN where neither does.
    """
    one, other = (_time_below(series, level) for series in (first, second))
    if not one.influences and not other.influences:
        return StudentEstimate(math.nan)
    return (one - other).exp()


def _time_below(series: SeriesQuery, level: float) -> Measured:
    """Return the logarithm of the time at which a Nash regret falls below a level."""
    times, regrets = series.regrets
    return _last_fall(times, [regret - level for regret in regrets])


def _last_fall(times: list[int], differences: list[Measured]) -> Measured:
    """Return the logarithm of the last time at which differences fall below 0.

    The first time where none is above 0 and the last one where the last is, without influences:
    these are bounds on it, which hold whatever the runs. NaN without any time.
    """
    if not differences:
        return Measured(math.nan)
    above = np.flatnonzero([difference.value > 0.0 for difference in differences])
    if above.size == 0:
        return Measured(math.log(times[0]))
    last = int(above[-1])
    if last == len(times) - 1:
        return Measured(math.log(times[-1]))
    return _zero(np.log(times[last : last + 2]), differences[last], differences[last + 1])


def _zero(logs: Values, before: Measured, after: Measured) -> Measured:
    """Return the logarithm of time where the line between two differences is 0."""
    begin, span = float(logs[0]), float(logs[1] - logs[0])
    drop = before.value - after.value
    change = (after * before.value - before * after.value) * (span / drop**2)
    return Measured.of(begin + span * before.value / drop, change.influences)


def phase_one_outside(series: SeriesQuery) -> Estimate:
    """Return the number of runs whose Phase I lasts less than 512 k S, or over 3872 k S.

    NaN where an end of the range lies within the bin of time in which Phase I ends.
    """
    ratios = _phase_one_ratios(series)
    outside = [not _is_inside(low, high) for low, high in ratios]
    unclear = any(_is_inside(low, low) != _is_inside(high, high) for low, high in ratios)
    return exact(math.nan if unclear or not outside else float(sum(outside)), len(outside))


def _is_inside(low: float, high: float) -> bool:
    return PHASE_ONE_RANGE[0] <= low and high <= PHASE_ONE_RANGE[1]


def phase_one_length(series: SeriesQuery, *, which: str) -> Estimate:
    """Return the ``shortest`` or the ``longest`` Phase I of the runs over k S, by its bins."""
    ratios = _phase_one_ratios(series)
    ends = {"shortest": np.min, "longest": np.max}
    return exact(float(ends[which](ratios)) if ratios else math.nan, len(ratios))


def _phase_one_ratios(series: SeriesQuery) -> list[tuple[float, float]]:
    """Return between what multiples of k S Phase I as written ends in each run, by its bins."""
    bins, where = series.block("nash_bins"), series.selection.where
    scale = theory.scale(where["algorithm"], where["horizon"], where["epsilon"], BEST_MEAN)
    edges = np.concatenate([[0.0], bins.times]) / (ARMS * scale)
    uniform = np.array(drawn_means()).mean()
    ratios = []
    for run in (bins.values[:, :, 0] - uniform) / BEST_MEAN > SMALLEST_RISE:
        first = int(run.argmax()) if run.any() else run.size - 1
        ratios.append((edges[first], edges[first + 1]))
    return ratios


def runs_with_later_weak_pulls(series: SeriesQuery, *, weak: float, best: float) -> Estimate:
    """Return the number of runs that pull weak arms in Phase II, on arms of two means.

    There the mean of a bin of time tells the share of weak arms in it. Phase I ends in the first
    bin with a smaller share than Phase I has, and all later bins are of Phase II.
    """
    shares = (best - series.block("nash_bins").values[:, :, 0]) / (best - weak)
    is_over = np.logical_or.accumulate(shares < EXPLORING_SHARE, axis=1)
    violated = (is_over[:, :-1] & (shares[:, 1:] > NO_SHARE)).any(axis=1)
    return exact(float(np.sum(violated)) if is_over[:, -1].all() else math.nan, violated.size)


def runs_with_weak_pulls(series: SeriesQuery) -> Estimate:
    """Return the number of runs that pull arms of at most mu*/256 more often than Phase I lasts.

    Of so many pulls some are of Phase II, whose pulls are not recorded apart.
    """
    pulls, means = series.block("pulls").values[:, -1], weak_arms().means
    weak = pulls[:, means <= means.max() / WEAK_SHARE].sum(axis=1)
    explored = capped_phase_one(series.times[-1]) + (series.selection.where["algorithm"] != GLOBAL)
    return exact(float(np.sum(weak > explored)) if weak.size else math.nan, weak.size)


def bound_over_best_mean(
    *, horizon: int, is_mended: bool = False, is_base2: bool = False
) -> Estimate:
    """Return the bound of Theorem 1 over mu*, which says nothing from 1 on; see its formula.

    With a natural log(256 k), or to base 2, which the proof's step to a power of 1/2 needs.
    """
    bound = theory.theorem_1(horizon, EPSILON, BEST_MEAN, ARMS, is_mended=is_mended)
    if is_base2:
        bound += 4000.0 * _more_by_base2(horizon, is_mended)
    return exact(bound / BEST_MEAN)


def _more_by_base2(horizon: int, is_mended: bool) -> float:
    """Return what log2 in place of ln adds to log(256 k) L^2/(epsilon T), or k times that."""
    logs = math.log2(256.0 * ARMS) - math.log(256.0 * ARMS)
    lost = ARMS if is_mended else 1
    return lost * logs * math.log(horizon) ** 2 / (EPSILON * horizon)


def first_term_over_best_mean(*, horizon: int) -> Estimate:
    """Return the first term of both bounds (Theorems 1, 3) over mu*, 4000 c sqrt(k L/(mu* T))."""
    return exact(theory.theorem_1(horizon, math.inf, BEST_MEAN, ARMS) / BEST_MEAN)


def premise(*, horizon: int, is_mended: bool = False, is_base2: bool = False) -> Estimate:
    """Return the mu* that the proof of Theorem 1 needs as printed, or with the k that it loses."""
    needed = theory.theorem_1_premise(horizon, EPSILON, ARMS, is_mended=is_mended)
    if is_base2:
        needed += 10000.0 * _more_by_base2(horizon, is_mended)
    return exact(needed)


def first_informative_horizon() -> Estimate:
    """Return the smallest T at which the bound of Theorem 1 is below mu*."""

    def excess(log_horizon: float) -> float:
        return theory.theorem_1(math.exp(log_horizon), EPSILON, BEST_MEAN, ARMS) - BEST_MEAN

    return exact(math.exp(brentq(excess, math.log(1e6), math.log(1e25), xtol=1e-12)))


def privacy_term(*, horizon: int, epsilon: float) -> Estimate:
    """Return the privacy term of the order of Theorem 1, k L^2/(epsilon T)."""
    return exact(ARMS * math.log(horizon) ** 2 / (epsilon * horizon))


def term_ratio(*, horizon: int, epsilon: float) -> Estimate:
    """Return the privacy term of the order of Theorem 1 over the other one."""
    return exact(theory.term_ratio(horizon, epsilon, ARMS))


def balancing_epsilon(*, horizon: int) -> Estimate:
    """Return the epsilon of Remark 2, sqrt(k/T) log^1.5 T, below which privacy dominates."""
    return exact(math.sqrt(ARMS / horizon) * math.pow(math.log(horizon), 1.5))


def ratio_at_balance(*, horizon: int) -> Estimate:
    """Return the ratio of the terms at that epsilon."""
    return term_ratio(horizon=horizon, epsilon=balancing_epsilon(horizon=horizon).value)


def composed_loss(*, horizon: int, release_log: str = "natural") -> Estimate:
    """Return the composed loss over epsilon of the releases that a reward of Phase I enters.

    By basic composition, of the released code and of the least repair, whose noise has a ``base2``
    logarithm: Phase I has W rounds, and Phase II begins with zeros, which release nothing.
    """
    explored = capped_phase_one(horizon)
    return exact(theory.composed_loss(horizon, explored, release_log=release_log))


def chance_given_arms(*, horizon: int, is_window: bool = False) -> Estimate:
    """Return log10 of the chance of the event of NCB-C15, given the arms of its rounds.

    The shortest one that loses more than epsilon, under the input where it is less likely; of a
    whole play, or in one window of the anytime form.
    """
    rules = stop_rules(horizon, EPSILON)
    witness = exploration_witness(*rules, least_pulls(*rules, EPSILON))
    if is_window:
        witness = in_window(witness, horizon)
    return exact(min(witness.log_p, witness.log_q) / math.log(10.0))
