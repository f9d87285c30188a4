"""Numbers that claims ask for and no operation on series gives.

Which points can tell algorithms apart, margins, trial by trial comparisons, errors beside their
bounds, slopes of log errors over T, and T_0.9, the budget at which success is 0.9.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.designs import max_det, rank_of
from dpbandits.auditing.best_arm import deviation
from dpbandits.claims.evidence import Series
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    Rate,
    exact,
    mean,
    rate,
    smooth,
)
from dpbandits.claims.statistics import Point
from dpbandits.claims.verdict import decide, deciding_alpha, holm_levels, region_of
from dpbandits.papers.dp_bai import analytic
from dpbandits.papers.dp_bai.fits import LogErrors, counted, crossing, linear_fit, log_errors
from dpbandits.papers.dp_bai.instances import LARGEST_OMEGA, section5, sphere, two_armed
from dpbandits.papers.dp_bai.schedules import design_rounds
from dpbandits.papers.dp_bai.theory import Bounds, bounds

Values = NDArray[np.float64]

CEILING = 0.98
"""Success rate from which a point is at the ceiling."""

FLOOR = 0.02
"""How near a success rate lies to its pure-noise limit at the floor."""

LIMITS = {
    "dp-bai": 3 / 8,
    "dp-bai-gauss": 3 / 8,
    "dp-od": 21 / 44,
    "baseline": 1 / 30,
    "sequential-halving": 1 / 30,
}
"""Success on the 30 arms where noise drowns all; Gaussian noise is as symmetric as Laplace."""

TWO_ARMED_LIMIT = 1 / 2

RANGE = (0.6, 0.98)
"""Success rates, on two arms, at which algorithms can be told apart."""


def _share(series: Series) -> float:
    successes, trials = counted(series)
    return successes / max(trials, 1)


def difficulty(*series: Series) -> str:
    """Return ``ceiling``, ``floor`` or ``informative``, by the success rates of several series.

    At the ceiling where all are 0.98 or more, and at the floor where each is within 0.02 of what
    noise alone gives.
    """
    shares = [_share(one) for one in series]
    limits = [
        TWO_ARMED_LIMIT if one.has("ratio") else LIMITS[str(one.tags["algorithm"])]
        for one in series
    ]
    if min(shares) >= CEILING:
        return "ceiling"
    near = (abs(share - limit) <= FLOOR for share, limit in zip(shares, limits, strict=True))
    return "floor" if all(near) else "informative"


def told_apart(first: Series, *_: Series) -> str:
    """Return ``informative`` where the success of the first series lies in [0.6, 0.98]."""
    return "informative" if RANGE[0] <= _share(first) <= RANGE[1] else "out of range"


def errors(failures: Series, *_: Series) -> str:
    """Return whether the first series has ``some`` errors or ``none``."""
    successes, trials = counted(failures)
    return "some" if successes < trials else "none"


_BISECTIONS = 14
"""Down to a ten-thousandth."""


def turning_margin(
    points: Sequence[Point], *, kind: str, level: float, family: int = 1
) -> Estimate:
    """Return the margin at which it turns whether all points are decided for the claim.

    Each is judged at its share of the level by Holm; ``family``: how many comparisons the claim has
    for each point, of which no margin decides the others.
    """
    numbers = [point.number for point in points]

    def all_are_for(margin: float) -> bool:
        region = region_of(kind, margin)
        p_values = [deciding_alpha(number, region) for number in numbers]
        levels = holm_levels([*p_values, *[1.0] * (family - 1) * len(numbers)], level)
        pairs = zip(numbers, levels, strict=False)
        return all(decide(*number.interval(share), region) == "for" for number, share in pairs)

    low, high = (-1.0 if kind == "greater" else 0.0), 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        is_low = all_are_for(middle) == (kind == "greater")
        low, high = (middle, high) if is_low else (low, middle)
    return exact(low if kind == "greater" else high)


def similar_from(points: Sequence[Point], *, margin: float, alpha: float) -> Estimate:
    """Return the smallest place from which on all differences are within a margin, or NaN."""
    smallest = math.nan
    for point in reversed(points):
        low, high = point.number.interval(alpha)
        if low < -margin or high > margin:
            break
        smallest = point.x
    return exact(smallest, min(point.number.runs for point in points))


def best_returned(trials: Series) -> Measured:
    """Return how often arm 0, the best one, is returned; NaN where a trial is not recorded.

    All series of such results have one stream.
    """
    arms = trials.having(metric="recommended").per_run()
    return mean(np.where(np.isnan(arms), np.nan, arms == 0.0), trials.place[0])


def mismatches(first: Series, second: Series) -> Estimate:
    """Return in how many trials two series return different arms; NaN where one is not recorded."""
    one, other = (series.having(metric="recommended").per_run() for series in (first, second))
    is_lost = one.size == 0 or np.isnan(one).any() or np.isnan(other).any()
    return exact(math.nan if is_lost else float((one != other).sum()), one.size)


def error_rate(trials: Series) -> Rate:
    """Return how often another arm than the best one is returned."""
    won, count = counted(trials)
    return rate((count - won, count))


def theorem_bound(trials: Series) -> Estimate:
    """Return the bound of Theorem 4.2 on the error of a series of DP-BAI."""
    of_series, budget = _bounds(trials)
    return exact(of_series.theorem(budget))


def union_bound(trials: Series) -> Estimate:
    """Return ours for d = 2, which the printed proof leaves out (BAI-E21)."""
    of_series, budget = _bounds(trials)
    return exact(of_series.union(budget))


def _bounds(trials: Series) -> tuple[Bounds, float]:
    """Return the bounds at the tags of a series, and T; where no tag says T, it is one for all."""
    tags = trials.parameters
    instance = "two-armed" if "ratio" in tags else "section5"
    budget = float(tags.get("horizon", trials.recorded.horizon))
    return bounds(instance, float(tags["epsilon"])), budget


def first_budget(*, source: str) -> Mapping[str, Estimate]:
    """Return the smallest T from which the theorem follows at epsilon = 1, by instance.

    ``source`` is ``proof``, the constants of the printed proof, or ``union``.
    """
    attribute = {"proof": "applies_from", "union": "follows_from"}[source]
    names = {"30 arms": "section5", "two arms": "two-armed"}
    return {
        name: exact(getattr(bounds(instance, 1.0), attribute)) for name, instance in names.items()
    }


def error_decay(trials: Series) -> Measured:
    """Return the slope of -log(error) over T on the larger half of T, in units of 1 / 1000."""
    every = log_errors(trials)
    half = slice(every.budgets.size // 2, None)
    larger = LogErrors(every.budgets[half], every.logs[half], every.weights[half])
    return -1000.0 * larger.line().coefficients[1]


def error_quality(trials: Series) -> Measured:
    """Return R^2 of the log error as a linear function of T, by its precision."""
    return log_errors(trials).line().quality


def error_slope_change(trials: Series) -> Measured:
    """Return the slope of the log error at the largest T over that at the smallest, minus 1.

    By a quadratic fit on T scaled to [-1, 1], which has the slopes b - 2c and b + 2c at the ends.
    """
    every = log_errors(trials)
    scaled = every.budgets
    if scaled.size:
        middle, half = (scaled[0] + scaled[-1]) / 2.0, (scaled[-1] - scaled[0]) / 2.0
        scaled = (scaled - middle) / (half or 1.0)
    fit = linear_fit(np.vander(scaled, 3, increasing=True), every.logs, every.weights)
    _, steep, bend = fit.coefficients
    ends = [steep - 2.0 * bend, steep + 2.0 * bend]
    return smooth(lambda slopes: slopes[:, 1] / slopes[:, 0] - 1.0, ends)


def budget_90(trials: Series) -> Measured:
    """Return the T at which a probit fit of the success rate on sqrt(T) reaches 0.9.

    Of the T that results have under their tag ``multiple``. Not rounded to whole pulls; NaN where
    success does not rise with T, and without trials.
    """
    at = [trials.having(multiple=multiple) for multiple in trials.values_of("multiple")]
    budgets = [one.parameters["horizon"] for one in at]
    rates = [rate(counted(one)).measured(one.key) for one in at]
    return crossing(np.sqrt(np.array(budgets, dtype=int)), rates)


GAP = 0.05
"""Delta of the two-armed instance where it does not vary."""


def inflation(trials: Series, *, number: str) -> Measured:
    """Return ``a``, ``b`` or ``R^2`` of the fit T_0.9 = a/Delta^2 + b rho/(epsilon Delta).

    rho = y/x.
    """
    grid = list(product(trials.values_of("epsilon"), trials.values_of("ratio")))
    design = np.array([[GAP**-2, ratio / (epsilon * GAP)] for epsilon, ratio in grid])
    budgets = [budget_90(trials.having(epsilon=epsilon, ratio=ratio)) for epsilon, ratio in grid]
    return _of_two_terms(design, budgets)[number]


def hardness(trials: Series, *, number: str) -> Measured:
    """Return ``a``, ``b`` or ``R^2`` of the fit T_0.9 = a Delta^-2 + b (epsilon Delta)^-1."""
    grid = list(product(trials.values_of("gap"), trials.values_of("epsilon")))
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    budgets = [budget_90(trials.having(gap=gap, epsilon=epsilon)) for gap, epsilon in grid]
    return _of_two_terms(design, budgets)[number]


def _of_two_terms(design: Values, budgets: Sequence[Measured]) -> dict[str, Measured]:
    fit = linear_fit(design, budgets, np.ones(len(budgets)))
    a, b = fit.coefficients
    return {"a": a, "b": b, "R^2": fit.quality}


def budget_change(trials: Series) -> Measured:
    """Return the relative change of T_0.9 from the smallest y/x to the largest.

    By one slope of log T_0.9 in log y/x for all epsilon, with an intercept for each: the largest
    of six over the smallest is above 1 by chance alone.
    """
    epsilons, ratios = trials.values_of("epsilon"), trials.values_of("ratio")
    grid = list(product(epsilons, ratios))
    logs = [budget_90(trials.having(epsilon=epsilon, ratio=ratio)).log() for epsilon, ratio in grid]
    design = np.array(
        [[math.log(ratio), *(epsilon == other for other in epsilons)] for epsilon, ratio in grid]
    )
    steep, *_ = linear_fit(design, logs, np.ones(len(grid))).coefficients
    return (math.log(ratios[-1] / ratios[0]) * steep).exp() - 1.0


def needed_delta(
    *,
    epsilon: float,
    delta: float,
    calibration: str = "classical",
    instance: str = "witness",
    tables: str = "all",
) -> Estimate:
    """Return the largest ``analytic.needed_delta`` of two budgets."""
    return exact(
        max(
            analytic.needed_delta(epsilon, delta, budget, calibration, instance, tables)
            for budget in analytic.WITNESS_BUDGETS
        )
    )


def refuted_from(*, delta: float = 0.0) -> Estimate:
    """Return the smallest epsilon at which three arms need more than this delta; 0 for any."""
    return exact(analytic.refuted_from(delta) if delta else analytic.smallest_refuted())


def noise_limit(*, algorithm: str) -> Estimate:
    """Return the success rate on the instance of Section 5 as epsilon goes to 0."""
    features = section5().feature_matrix
    if algorithm == "baseline":
        return exact(analytic.uniform_limit(len(features)))
    # The noise on theta of DP-OD has one scale, and arm 3's feature is ten times as long.
    first, second = max_det(features).arms
    scales = {"dp-bai": (1.0, 1.0), "dp-od": (10.0, 1.0)}[algorithm]
    return exact(analytic.linear_limit(features, (first, second), scales))


def collection_volume(*, starts: int = 0) -> Estimate:
    """Return the volume of DP-BAI's first collection on the 200 arms.

    With ``starts`` that of the largest collection which exchanges reach from random ones.
    """
    features = sphere().feature_matrix
    generator, (arms, rank) = np.random.default_rng(0), features.shape
    drawn = [generator.permutation(arms)[:rank].tolist() for _ in range(starts)]
    collections = [_grown(features, members) for members in drawn] or [max_det(features).arms]
    return exact(max(abs(np.linalg.det(features[[*members]])) for members in collections))


def _grown(features: Values, members: list[int]) -> tuple[int, ...]:
    """Exchange members for arms while that enlarges the volume, by the largest factor each time."""
    while True:
        factors = np.abs(np.linalg.solve(features[members].T, features.T))
        place, arm = np.unravel_index(factors.argmax(), factors.shape)
        if factors[place, arm] <= 1.0 + 1e-9:
            return tuple(members)
        members[place] = int(arm)


def crossing_error(*, delta: float) -> Estimate:
    """Return the error below which pure noise misleads DP-BAI more than DP-BAI-Gauss."""
    return exact(math.exp(analytic.crossing(delta)))


def deviation_ratio(*, delta: float) -> Estimate:
    """Return the deviation of the noise of DP-BAI-Gauss over that of DP-BAI."""
    return exact(deviation(1.0, delta, "classical") / math.sqrt(2.0))


DRAWS = 1000
"""Draws of the omegas of Section 5 that are checked, the one of the figures first."""


def of_section5(*, number: str, drawn: str) -> Estimate:
    """Return a number of the 30 arms over ``section5 draws``, or at the end of their range."""
    end = [[0.0, 1.0], [0.0, 0.9], [10.0, 0.0], [1.0, LARGEST_OMEGA], [1.0, 0.0]]
    is_drawn = drawn == "section5 draws"
    draws = [section5(draw=draw).means for draw in range(DRAWS)] if is_drawn else []
    means = np.array(draws or [np.array(end) @ [0.045, 0.5]])
    gaps = means.max(axis=1, keepdims=True) - means
    numbers = {
        "gap 2": np.abs(gaps[:, 1] - 0.05).max(),
        "gap 3": np.abs(gaps[:, 2] - 0.05).max(),
        "smallest other gap": gaps[:, 3:].min(),
        "smallest mean": means.min(),
        "largest reward": 2.0 * means.max(),
    }
    return exact(numbers[number])


def rounds_of_dp_od(*, ratio: float = 0.0, draws: int = 1) -> Estimate:
    """Return the most rounds of DP-OD on two arms; without a ratio, on draws of the 30 arms."""
    bandits = [two_armed(ratio=ratio)] if ratio else [section5(draw=draw) for draw in range(draws)]
    return exact(max(design_rounds(rank_of(bandit.feature_matrix)) for bandit in bandits))
