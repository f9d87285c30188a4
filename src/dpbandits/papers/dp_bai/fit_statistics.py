"""Statistics that fit success counts: errors of DP-BAI over T, and the T at which success is 0.9.

Resampling the trials of a series with replacement is drawing its successes from the binomial law
of its rate. Row 0 of every array of resamples is the counts themselves.

``bound`` is ``theorem``, or ``union``, which we derive for d = 2: the printed proof leaves it out
(BAI-E21).
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import (
    Counted,
    Estimate,
    PercentileEstimate,
    exact,
    from_resamples,
    rate,
)
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.errors import InputError
from dpbandits.papers.dp_bai import grid

Values = NDArray[np.float64]

RESAMPLES = 4000
"""Resolves level 0.01 with Holm over a dozen comparisons."""

LEVEL = 0.9
"""T_0.9 is where a probit fit of success on sqrt(T) crosses this rate, not rounded to even T."""

MULTIPLES = (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.5)
RATIOS = (1, 2, 5, 10, 20, 50)
EPSILONS = (0.1, 0.5, 1)
GAP = 0.05

HARDNESS_GAPS = (0.025, 0.05, 0.1)
HARDNESS_EPSILONS = (0.05, 0.1, 0.5, 1, math.inf)

_STEPS = 25
_STEPS_FROM_FIT = 5
_FARTHEST = 6.0


def resampled_rates(
    counted: Sequence[Counted], key: Hashable, root_seed: int, resamples: int
) -> Values:
    """Return success rates and their resamples, shape (1 + resamples, k).

    Args:
        counted: successes and trials of k series.
        key: names the draws.
        root_seed: root of the random streams.
        resamples: number of resamples.
    """
    successes, trials = np.asarray(counted, dtype=np.int64).T
    generator = run_generator(root_seed, stream_key({"binomial": str(key)}), 0)
    shape = (resamples, trials.size)
    drawn = generator.binomial(trials, successes / trials, size=shape)
    return np.asarray(np.vstack([successes, drawn]) / trials)


@lru_cache(maxsize=256)
def crossing_budgets(
    counted: tuple[Counted, ...],
    budgets: tuple[int, ...],
    level: float,
    key: Hashable,
    root_seed: int,
    resamples: int,
) -> Values:
    """Return the T at which a probit fit of the success rate on sqrt(T) reaches a level.

    Args:
        counted: successes and trials at each budget.
        budgets: T, at least two.
        level: the success rate, in (0, 1).
        key: names the draws.
        root_seed: root of the random streams.
        resamples: number of resamples.

    Returns:
        Shape (1 + resamples,), not rounded to whole pulls; NaN where success does not rise with T.
    """
    rates = resampled_rates(counted, key, root_seed, resamples)
    trials = np.array([number for _, number in counted], dtype=np.float64)
    roots = np.sqrt(np.array(budgets, dtype=np.float64))
    start = least_squares(roots, ndtri((rates[:1] * trials + 0.5) / (trials + 1.0)), trials)
    fit = _probit(rates[:1], trials, roots, start, _STEPS)
    fits = _probit(rates, trials, roots, np.repeat(fit, len(rates), axis=0), _STEPS_FROM_FIT)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = (ndtri(level) - fits[:, 0]) / fits[:, 1]
    return np.where((fits[:, 1] > 0.0) & (root > 0.0), root**2, np.nan)


def _probit(rates: Values, trials: Values, x: Values, start: Values, steps: int) -> Values:
    """Return intercepts and slopes of maximum likelihood, by iterated weighted least squares."""
    fit = start
    for _ in range(steps):
        line = np.clip(fit[:, :1] + fit[:, 1:] * x, -_FARTHEST, _FARTHEST)
        mean = ndtr(line)
        density = np.exp(-0.5 * line**2) / np.sqrt(2.0 * np.pi)
        weights = trials * density**2 / (mean * (1.0 - mean))
        fit = least_squares(x, line + (rates - mean) / density, weights)
    return fit


def least_squares(x: Values, y: Values, weights: Values) -> Values:
    """Return intercept and slope of weighted lines, shape (n, 2).

    Args:
        x: shape (k,).
        y: shape (n, k).
        weights: shape (k,) or (n, k).
    """
    total = weights.sum(axis=-1)
    centre = (weights * x).sum(axis=-1) / total
    middle = (weights * y).sum(axis=-1) / total
    offset = x - np.expand_dims(centre, -1)
    slope = (weights * offset * y).sum(axis=-1) / (weights * offset**2).sum(axis=-1)
    intercept = middle - slope * centre
    return np.stack(np.broadcast_arrays(intercept, slope), axis=-1)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model fitted to a response and to its resamples.

    Attributes:
        coefficients: shape (1 + resamples, p).
        explained: share of the variance of the response that the model explains (R^2), weighted
            as the fit is, shape (1 + resamples,).
        runs: trials behind each number of the response.
    """

    coefficients: Values
    explained: Values
    runs: int

    def coefficient(self, index: int) -> PercentileEstimate:
        """Return a coefficient with its bootstrap interval."""
        return self.estimate(self.coefficients[:, index])

    def quality(self) -> PercentileEstimate:
        """Return R^2 with its bootstrap interval."""
        return self.estimate(self.explained)

    def estimate(self, values: Values) -> PercentileEstimate:
        """Return a function of the fit, shape (1 + resamples,), with its bootstrap interval."""
        return from_resamples(values[0], values[1:], self.runs)


def linear_fit(design: Values, response: Values, weights: Values, runs: int) -> LinearFit:
    """Return the fit a linear model by weighted least squares, the same weights for all resamples.

    Args:
        design: shape (k, p).
        response: shape (1 + resamples, k).
        weights: inverse variances up to a factor, shape (k,).
        runs: trials behind each number of the response.
    """
    roots = np.sqrt(weights)
    inverse = np.linalg.pinv(design * roots[:, None])
    coefficients = (response * roots) @ inverse.T
    residuals = response - coefficients @ design.T
    centred = response - (response @ weights / weights.sum())[:, None]
    # A response that does not vary leaves nothing to explain.
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = 1.0 - (residuals**2 @ weights) / (centred**2 @ weights)
    return LinearFit(coefficients, explained, runs)


def estimated(budgets: Values, runs: int) -> list[PercentileEstimate]:
    """Return T_0.9 with their intervals, of values and resamples, shape (1 + resamples, k)."""
    return [from_resamples(column[0], column[1:], runs) for column in budgets.T]


def inflation_fit(evidence: Evidence) -> LinearFit:
    """Return the fit of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    grid = list(product(EPSILONS, RATIOS))
    design = np.array([[GAP**-2, ratio / (epsilon * GAP)] for epsilon, ratio in grid])
    budgets, runs = ratio_budgets(evidence, "dp-od", grid)
    return linear_fit(design, budgets, np.ones(len(grid)), runs)


def hardness_fit(evidence: Evidence) -> LinearFit:
    """Return the fit of T_0.9 = a Delta^-2 + b (epsilon Delta)^-1, DP-BAI."""
    grid = list(product(HARDNESS_GAPS, HARDNESS_EPSILONS))
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    budgets, runs = hardness_budgets(evidence, grid)
    return linear_fit(design, budgets, np.ones(len(grid)), runs)


def ratio_budgets(
    evidence: Evidence, algorithm: str, grid: Sequence[tuple[float, float]]
) -> tuple[Values, int]:
    """Return T_0.9 and its resamples at each (epsilon, y/x), shape (1 + resamples, k), and runs."""
    tags = [{"algorithm": algorithm, "epsilon": epsilon, "ratio": ratio} for epsilon, ratio in grid]
    return _budgets(evidence, "budgets-ratio", tags)


def hardness_budgets(evidence: Evidence, grid: Sequence[tuple[float, float]]) -> tuple[Values, int]:
    """Return the same of DP-BAI at each (Delta, epsilon)."""
    tags = [{"gap": gap, "epsilon": epsilon} for gap, epsilon in grid]
    return _budgets(evidence, "budgets-hardness", tags)


def _budgets(
    evidence: Evidence, simulation: str, tags: Sequence[dict[str, Any]]
) -> tuple[Values, int]:
    columns = [_budget(evidence, simulation, where) for where in tags]
    return np.stack([budgets for budgets, _ in columns], axis=1), min(runs for _, runs in columns)


def _budget(evidence: Evidence, simulation: str, tags: dict[str, Any]) -> tuple[Values, int]:
    """Return T_0.9 of one series of budgets with its resamples, and its trials."""
    counted, budgets = [], []
    for multiple in MULTIPLES:
        where = {**tags, "multiple": multiple}
        counted.append(evidence.counts(simulation, **where))
        budgets.append(int(evidence.parameter(simulation, "horizon", **where)))
    runs = min(trials for _, trials in counted)
    if runs == 0:
        return np.full(1 + resamples_of(evidence), np.nan), 0
    key = (simulation, *tags.values())
    draws = evidence.resampler.root_seed, resamples_of(evidence)
    return crossing_budgets(tuple(counted), tuple(budgets), LEVEL, key, *draws), runs


def resamples_of(evidence: Evidence) -> int:
    """Return how many resamples a fit is repeated on."""
    return min(RESAMPLES, evidence.resampler.resamples)


FAR = {
    "section5": grid.Point("verdicts-far-section5", {"epsilon": 1, "horizon": 400_000}, "T=400000"),
    "two-armed": grid.Point("verdicts-far-two-armed", {"epsilon": 1, "horizon": 80_000}, "T=80000"),
}
"""Points at which the bound of the theorem follows from the union bound."""

NAMES = {"section5": "I-A", "two-armed": "I-B"}


def error_excess(evidence: Evidence, *, bound: str, budgets: str) -> dict[str, Estimate]:
    """Return the error rate of DP-BAI minus the bound.

    Args:
        evidence: the results.
        bound: see above.
        budgets: ``figures`` (points of Figures 1 and 2 and of the corner) or ``far`` (points at
            which the bound of the theorem follows from the union bound).

    Raises:
        InputError: at a far point it does not follow.
    """
    return {
        label: rate(failed, limit)
        for label, failed, limit in _errors_and_bounds(evidence, bound, budgets)
    }


def largest_bound_over_error(evidence: Evidence, *, bound: str) -> Estimate:
    """Return the largest bound over error rate, at points of figures with at least one error."""
    points = _errors_and_bounds(evidence, bound, "figures")
    ratios = [(limit * trials / failed, trials) for _, (failed, trials), limit in points if failed]
    return exact(*max(ratios)) if ratios else exact(float("nan"))


def smallest_bound(evidence: Evidence, *, bound: str) -> Estimate:
    """Return the smallest bound over the points of figures: near 1, or above, it says nothing."""
    return exact(min(limit for _, _, limit in _errors_and_bounds(evidence, bound, "figures")))


def first_budget(evidence: Evidence, *, source: str) -> dict[str, Estimate]:
    """Return the smallest T from which the theorem follows at epsilon = 1, by instance.

    Args:
        evidence: the results.
        source: ``proof``, the constants of the printed proof, or ``union``.
    """
    column = {"proof": "applies_from", "union": "follows_from"}[source]
    return {
        name: exact(_bound_row(evidence, "theorem", instance, FAR[instance].tags)[column])
        for instance, name in NAMES.items()
    }


def _errors_and_bounds(
    evidence: Evidence, bound: str, budgets: str
) -> Iterator[tuple[str, Counted, float]]:
    """Return label, errors and trials, and the bound of each point."""
    for instance, point in _far_points() if budgets == "far" else _figure_points():
        won, trials = grid.successes(evidence, "dp-bai", point)
        row = _bound_row(evidence, bound, instance, point.tags)
        if budgets == "far" and row["horizon"] < row["follows_from"]:
            raise InputError(
                f"{instance}: T is {row['horizon']:g}; allowed: from {row['follows_from']:,.0f}"
            )
        yield f"{NAMES[instance]}, {point.label}", (trials - won, trials), float(row["y"])


def _far_points() -> Iterator[tuple[str, grid.Point]]:
    yield from FAR.items()


def _figure_points() -> Iterator[tuple[str, grid.Point]]:
    for point in (*grid.figure1_points(), *map(grid.corner_point, grid.CORNER_EPSILONS)):
        yield "section5", point
    for ratio, epsilon, budget in product(grid.RATIOS, grid.PAIR_EPSILONS, grid.PAIR_BUDGETS):
        yield "two-armed", grid.pair_point(ratio, epsilon, budget)


def _bound_row(evidence: Evidence, bound: str, instance: str, tags: Any) -> dict[str, Any]:
    """Return the row of a bound at a point; points over epsilon have T = 1000."""
    where = {"epsilon": tags["epsilon"], "horizon": tags.get("horizon", 1000)}
    frame = evidence.analytic("bounds", bound=bound, instance=instance, against="budget", **where)
    (row,) = frame.to_dict("records")
    return {str(key): value for key, value in row.items()}


RARE_BUDGETS = {
    1: (200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
    0.1: (800, 1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000, 4400),
}
"""T of the rare errors, by epsilon."""

ERRORS = (1e-4, 0.2)
"""Error rates that enter a fit."""


@dataclass(frozen=True, eq=False)
class LogErrors:
    """Log errors at the T where the error lies in [1e-4, 0.2].

    Attributes:
        budgets: T, shape (k,).
        logs: log errors and their resamples, shape (1 + resamples, k).
        weights: precision; the variance of a log rate is (1 - p) / (p n). Shape (k,).
        runs: trials at each T.
    """

    budgets: Values
    logs: Values
    weights: Values
    runs: int

    def line(self) -> LinearFit:
        """Return the weighted linear fit on 1 and T; NaN where there are not enough T."""
        return self._fit(np.stack([np.ones_like(self.budgets), self.budgets], axis=1))

    def parabola(self) -> LinearFit:
        """Return the weighted quadratic fit on T, scaled to [-1, 1]."""
        budgets = self.budgets
        if budgets.size:
            middle, half = (budgets[0] + budgets[-1]) / 2.0, (budgets[-1] - budgets[0]) / 2.0
            budgets = (budgets - middle) / (half or 1.0)
        return self._fit(np.vander(budgets, 3, increasing=True))

    def larger_half(self) -> "LogErrors":
        """Return the larger half of T, the middle one among them."""
        half = slice(self.budgets.size // 2, None)
        return LogErrors(self.budgets[half], self.logs[:, half], self.weights[half], self.runs)

    def _fit(self, design: Values) -> LinearFit:
        if len(design) > design.shape[1]:
            return linear_fit(design, self.logs, self.weights, self.runs)
        nothing = np.full((len(self.logs), design.shape[1]), np.nan)
        return LinearFit(nothing, nothing[:, 0], self.runs)


def log_errors(
    evidence: Evidence, epsilon: float, simulated: Iterable[int] | None = None
) -> LogErrors:
    """Return the log errors of DP-BAI at an epsilon.

    Args:
        evidence: the results.
        epsilon: a key of ``RARE_BUDGETS``.
        simulated: budgets T; all of ``RARE_BUDGETS`` where None. A small scale has fewer.
    """
    budgets, failed = [], []
    for budget in RARE_BUDGETS[epsilon] if simulated is None else simulated:
        won, trials = evidence.counts("rare-errors", epsilon=epsilon, horizon=budget)
        if ERRORS[0] <= 1.0 - grid.share((won, trials)) <= ERRORS[1]:
            budgets.append(budget)
            failed.append((trials - won, trials))
    if not failed:
        return LogErrors(np.empty(0), np.empty((1 + resamples_of(evidence), 0)), np.empty(0), 0)
    draws = evidence.resampler.root_seed, resamples_of(evidence)
    rates = resampled_rates(failed, ("rare-errors", epsilon), *draws)
    logs = np.log(np.where(rates > 0.0, rates, np.nan))
    totals = np.array([number for _, number in failed], dtype=np.float64)
    weights = totals * rates[0] / (1.0 - rates[0])
    return LogErrors(np.array(budgets, dtype=np.float64), logs, weights, int(totals.min()))


def error_decay(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Return the slope of -log(error) over T on the larger half of T, in units of 1 / 1000."""
    fit = log_errors(evidence, epsilon).larger_half().line()
    return fit.estimate(-1000.0 * fit.coefficients[:, 1])


def error_quality(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Return R^2 of the log error of DP-BAI as a linear function of T, by its precision."""
    return log_errors(evidence, epsilon).line().quality()


def error_slope_change(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Return the slope of the log error at the largest T over that at the smallest, minus 1.

    By a quadratic fit, which on [-1, 1] has the slopes b - 2c and b + 2c at the ends.
    """
    fit = log_errors(evidence, epsilon).parabola()
    slope, bend = fit.coefficients[:, 1], 2.0 * fit.coefficients[:, 2]
    return fit.estimate((slope + bend) / (slope - bend) - 1.0)


def inflation_quality(evidence: Evidence) -> Estimate:
    """Return R^2 of T_0.9 of DP-OD as an affine function of rho/epsilon, rho = y/x."""
    return inflation_fit(evidence).quality()


def inflation_slope(evidence: Evidence) -> Estimate:
    """Return the slope b of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    return inflation_fit(evidence).coefficient(1)


def budget_change(evidence: Evidence) -> Estimate:
    """Return the relative change of T_0.9 of DP-BAI from y/x = 1 to 50.

    By one slope of log T_0.9 in log y/x for all epsilon, with an intercept for each: the largest
    of six over the smallest is above 1 by chance alone.
    """
    grid = list(product(EPSILONS, RATIOS))
    budgets, runs = ratio_budgets(evidence, "dp-bai", grid)
    design = np.array(
        [[math.log(ratio), *(epsilon == other for other in EPSILONS)] for epsilon, ratio in grid]
    )
    fit = linear_fit(design, np.log(budgets), np.ones(len(grid)), runs)
    return fit.estimate(np.expm1(fit.coefficients[:, 0] * math.log(RATIOS[-1] / RATIOS[0])))


def hardness_quality(evidence: Evidence) -> Estimate:
    """Return R^2 of T_0.9 of DP-BAI as a Delta^-2 + b (epsilon Delta)^-1."""
    return hardness_fit(evidence).quality()


def hardness_coefficients(evidence: Evidence) -> dict[str, Estimate]:
    """Return the two coefficients of that fit."""
    fit = hardness_fit(evidence)
    return {"a": fit.coefficient(0), "b": fit.coefficient(1)}


def ratio_growth(evidence: Evidence, *, algorithm: str, ratios: str) -> dict[str, Estimate]:
    """Return the slope of log T_0.9 over log(y/x), at each epsilon.

    Args:
        evidence: the results.
        algorithm: ``dp-bai`` or ``dp-od``.
        ratios: ``largest`` (between the two largest) or ``all`` (least squares).
    """
    chosen = RATIOS[-2:] if ratios == "largest" else RATIOS
    return {
        f"epsilon={epsilon:g}": _slope(
            np.log(chosen), *ratio_budgets(evidence, algorithm, [(epsilon, y) for y in chosen])
        )
        for epsilon in EPSILONS
    }


def privacy_growth(evidence: Evidence) -> dict[str, Estimate]:
    """Return the slope of log T_0.9 of DP-BAI over log(1/epsilon), at each Delta.

    Between the two smallest epsilon.
    """
    epsilons = HARDNESS_EPSILONS[:2]
    return {
        f"Delta={gap:g}": _slope(
            -np.log(epsilons), *hardness_budgets(evidence, [(gap, epsilon) for epsilon in epsilons])
        )
        for gap in HARDNESS_GAPS
    }


def gap_growth(evidence: Evidence) -> dict[str, Estimate]:
    """Return the slope of log T_0.9 of DP-BAI over log(1/Delta), at each epsilon.

    Between the two smallest Delta.
    """
    gaps = HARDNESS_GAPS[:2]
    return {
        f"epsilon={epsilon:g}": _slope(
            -np.log(gaps), *hardness_budgets(evidence, [(gap, epsilon) for gap in gaps])
        )
        for epsilon in HARDNESS_EPSILONS
    }


def _slope(scores: Values, budgets: Values, runs: int) -> Estimate:
    """Return the least-squares slope of log T_0.9, shape (1 + resamples, k), over k scores."""
    fit = least_squares(scores, np.log(budgets), np.ones(scores.size))
    return from_resamples(fit[0, 1], fit[1:, 1], runs)
