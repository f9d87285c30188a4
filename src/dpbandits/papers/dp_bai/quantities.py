"""Numbers that claims ask for and no operation on series gives.

Trial by trial comparisons, errors beside their bounds, what would be seen, slopes of log errors
over T, and T_0.9, the budget at which success is 0.9.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.auditing.best_arm import deviation, gaussian_witness, pulls_of
from dpbandits.claims.estimates import (
    Estimate,
    Measured,
    Rate,
    exact,
    mean,
    rate,
    rate_difference,
    smooth,
)
from dpbandits.claims.series import SeriesQuery
from dpbandits.papers.dp_bai import analytic
from dpbandits.papers.dp_bai.fits import (
    LogErrors,
    linear_fit,
    log_errors,
    squared_crossing,
    successes_and_trials,
)
from dpbandits.papers.dp_bai.instances import LARGEST_OMEGA, section5, sphere
from dpbandits.papers.dp_bai.theory import Bounds, bounds

Values = NDArray[np.float64]


def best_returned(trials: SeriesQuery) -> Measured:
    """Return how often arm 0, the best one, is returned; NaN where a trial is not recorded.

    All series of such results have one stream.
    """
    arms = trials.having(metric="recommended").per_run()
    return mean(np.where(np.isnan(arms), np.nan, arms == 0.0), trials.selection.results.name)


def mismatches(first: SeriesQuery, second: SeriesQuery) -> Estimate:
    """Return in how many trials two series return different arms; NaN where one is not recorded."""
    one, other = (series.having(metric="recommended").per_run() for series in (first, second))
    is_lost = one.size == 0 or np.isnan(one).any() or np.isnan(other).any()
    return exact(math.nan if is_lost else float((one != other).sum()), one.size)


def error_rate(trials: SeriesQuery) -> Rate:
    """Return how often another arm than the best one is returned."""
    won, count = successes_and_trials(trials)
    return rate((count - won, count))


def theorem_bound(trials: SeriesQuery) -> Estimate:
    """Return the bound of Theorem 4.2 on the error of a series of DP-BAI."""
    of_series, budget = _bounds(trials)
    return exact(of_series.theorem(budget))


def union_bound(trials: SeriesQuery) -> Estimate:
    """Return our bound for d = 2, which the printed proof leaves out (BAI-E21)."""
    of_series, budget = _bounds(trials)
    return exact(of_series.union(budget))


def _bounds(trials: SeriesQuery) -> tuple[Bounds, float]:
    """Return the bounds at the tags of a series, and T; where no tag says T, it is one for all."""
    tags = trials.parameters
    instance = "two-armed" if "ratio" in tags else "section5"
    budget = float(tags.get("horizon", trials.recorded.horizon))
    return bounds(instance, float(tags["epsilon"])), budget


CHANCE = 0.05
"""Chance that an interval misses, shared by the points at which an excess is looked for."""


def visible_lead(trials: SeriesQuery, *, points: int) -> Estimate:
    """Return how much larger a success rate has to be for the lead to be seen at one of the points.

    The other rate is of as many trials. NaN where no rate is large enough.
    """
    won, count = successes_and_trials(trials)

    def is_seen(more: int) -> bool:
        return rate_difference((won + more, count), (won, count)).interval(CHANCE / points)[0] > 0.0

    return exact(_first(is_seen, count - won) / count, count)


def visible_excess(trials: SeriesQuery, *, points: int) -> Estimate:
    """Return how many times its bound an error rate has to be for that to be seen at a point."""
    _, count = successes_and_trials(trials)
    bound = theorem_bound(trials).value

    def is_seen(errors: int) -> bool:
        return rate((errors, count)).interval(CHANCE / points)[0] > bound

    return exact(_first(is_seen, count) / (count * bound), count)


def _first(is_so: Callable[[int], bool], most: int) -> float:
    """Return the smallest number from which on it is so, by bisection; NaN without one."""
    numbers = range(1, most + 1)
    place = bisect_left(numbers, True, key=is_so)
    return float(numbers[place]) if place < most else math.nan


def first_budget(*, source: str) -> Mapping[str, Estimate]:
    """Return the smallest T from which the theorem follows at epsilon = 1, by instance.

    ``source`` is ``proof``, the constants of the printed proof, or ``union``.
    """
    attribute = {"proof": "applies_from", "union": "follows_from"}[source]
    names = {"30 arms": "section5", "two arms": "two-armed"}
    return {
        name: exact(getattr(bounds(instance, 1.0), attribute)) for name, instance in names.items()
    }


def error_decay(trials: SeriesQuery) -> Measured:
    """Return the slope of -log(error) over T on the larger half of T, in units of 1 / 1000."""
    every = log_errors(trials)
    half = slice(every.budgets.size // 2, None)
    larger = LogErrors(every.budgets[half], every.logs[half], every.weights[half])
    return -1000.0 * larger.line().coefficients[1]


def error_quality(trials: SeriesQuery) -> Measured:
    """Return R^2 of the log error as a linear function of T, by its precision."""
    return log_errors(trials).line().quality


def error_slope_change(trials: SeriesQuery) -> Measured:
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


def budget_90(trials: SeriesQuery) -> Measured:
    """Return the T at which a probit fit of the success rate on sqrt(T) reaches 0.9.

    Of the T that results have under their tag ``multiple``. Not rounded to whole pulls; NaN where
    success does not rise with T, and without trials.
    """
    at = [trials.having(multiple=multiple) for multiple in trials.values_of("multiple")]
    budgets = [one.parameters["horizon"] for one in at]
    rates = [rate(successes_and_trials(one)).measured(one.key) for one in at]
    return squared_crossing(np.sqrt(np.array(budgets, dtype=int)), rates)


GAP = 0.05
"""Delta of the two-armed instance where it does not vary."""


def inflation(trials: SeriesQuery, *, number: str) -> Measured:
    """Return ``a``, ``b`` or ``R^2`` of the fit T_0.9 = a/Delta^2 + b rho/(epsilon Delta).

    rho = y/x.
    """
    grid = list(product(trials.values_of("epsilon"), trials.values_of("ratio")))
    design = np.array([[GAP**-2, ratio / (epsilon * GAP)] for epsilon, ratio in grid])
    budgets = [budget_90(trials.having(epsilon=epsilon, ratio=ratio)) for epsilon, ratio in grid]
    return _of_two_terms(design, budgets)[number]


def hardness(trials: SeriesQuery, *, number: str) -> Measured:
    """Return ``a``, ``b`` or ``R^2`` of the fit T_0.9 = a Delta^-2 + b (epsilon Delta)^-1."""
    grid = list(product(trials.values_of("gap"), trials.values_of("epsilon")))
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    budgets = [budget_90(trials.having(gap=gap, epsilon=epsilon)) for gap, epsilon in grid]
    return _of_two_terms(design, budgets)[number]


def _of_two_terms(design: Values, budgets: Sequence[Measured]) -> dict[str, Measured]:
    fit = linear_fit(design, budgets, np.ones(len(budgets)))
    a, b = fit.coefficients
    return {"a": a, "b": b, "R^2": fit.quality}


def budget_change(trials: SeriesQuery) -> Measured:
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


def witness_chances(*, epsilon: float, delta: float) -> Mapping[str, Estimate]:
    """Return the chances of the event behind ``needed_delta`` under both tables of rewards.

    At the larger of its budgets, and their logarithms to base 10.
    """
    witness = gaussian_witness(
        epsilon,
        deviation(epsilon, delta, "classical"),
        pulls_of("witness", analytic.WITNESS_BUDGETS[-1]),
        two_sums=False,
        binary=False,
    )
    logs = {
        "under the first table": witness.log_likely,
        "under the second table": witness.log_unlikely,
    }
    chances = {table: exact(math.exp(log)) for table, log in logs.items()}
    return chances | {f"log10 {table}": exact(log / math.log(10.0)) for table, log in logs.items()}


def loss_seen_from(losses: SeriesQuery) -> Estimate:
    """Return by how much a guarantee would have to be exceeded to be seen at every epsilon.

    If its loss were larger by this factor, the worst of the tables would use up its whole epsilon.
    """
    largest = losses.rows.groupby("epsilon")["y"].max()
    return exact(max(1.0, 1.0 / float(largest.min())))


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


def of_section5(*, number: str) -> Estimate:
    """Return a number of the 30 arms at the ends of what their random coordinates may be."""
    ends = [[0.0, 1.0], [0.0, 0.9], [10.0, 0.0], [1.0, LARGEST_OMEGA], [1.0, 0.0]]
    means = np.array(ends) @ [0.045, 0.5]
    gaps = means.max() - means
    numbers = {
        "gap 2": abs(gaps[1] - 0.05),
        "gap 3": abs(gaps[2] - 0.05),
        "smallest other gap": gaps[3:].min(),
        "smallest mean": means.min(),
        "largest reward": 2.0 * means.max(),
    }
    return exact(numbers[number])
