"""Statistics that fit success counts: errors of DP-BAI over T, and the T at which success is 0.9.

``bound`` is ``theorem``, or ``union``, which we derive for d = 2: the printed proof leaves it out
(BAI-E21).
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Counted, Estimate, Measured, exact, rate, slope, smooth
from dpbandits.errors import InputError
from dpbandits.papers.dp_bai import grid
from dpbandits.papers.dp_bai.fits import (
    EPSILONS,
    HARDNESS_EPSILONS,
    HARDNESS_GAPS,
    RATIOS,
    LinearFit,
    hardness_budgets,
    hardness_fit,
    inflation_fit,
    linear_fit,
    ratio_budgets,
)

Values = NDArray[np.float64]

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
        logs: k log errors.
        weights: precision; the variance of a log rate is (1 - p) / (p n). Shape (k,).
    """

    budgets: Values
    logs: list[Measured]
    weights: Values

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
        return LogErrors(self.budgets[half], self.logs[half], self.weights[half])

    def _fit(self, design: Values) -> LinearFit:
        if len(design) > design.shape[1]:
            return linear_fit(design, self.logs, self.weights)
        nothing = Measured(math.nan, min((one.runs for one in self.logs), default=0))
        return LinearFit([nothing] * design.shape[1], nothing)


def log_errors(
    evidence: Evidence, epsilon: float, simulated: Iterable[int] | None = None
) -> LogErrors:
    """Return the log errors of DP-BAI at an epsilon.

    Args:
        evidence: the results.
        epsilon: a key of ``RARE_BUDGETS``.
        simulated: budgets T; all of ``RARE_BUDGETS`` where None. A small scale has fewer.
    """
    budgets, logs, weights = [], [], []
    for budget in RARE_BUDGETS[epsilon] if simulated is None else simulated:
        won, trials = evidence.counts("rare-errors", epsilon=epsilon, horizon=budget)
        failed = rate((trials - won, trials))
        if ERRORS[0] <= failed.value <= ERRORS[1]:
            budgets.append(float(budget))
            logs.append(failed.measured(("rare-errors", epsilon, budget)).log())
            weights.append(trials * failed.value / (1.0 - failed.value))
    return LogErrors(np.array(budgets), logs, np.array(weights))


def error_decay(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Return the slope of -log(error) over T on the larger half of T, in units of 1 / 1000."""
    return -1000.0 * log_errors(evidence, epsilon).larger_half().line().coefficients[1]


def error_quality(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Return R^2 of the log error of DP-BAI as a linear function of T, by its precision."""
    return log_errors(evidence, epsilon).line().quality


def error_slope_change(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Return the slope of the log error at the largest T over that at the smallest, minus 1.

    By a quadratic fit, which on [-1, 1] has the slopes b - 2c and b + 2c at the ends.
    """
    _, steep, bend = log_errors(evidence, epsilon).parabola().coefficients
    ends = [steep - 2.0 * bend, steep + 2.0 * bend]
    return smooth(lambda slopes: slopes[:, 1] / slopes[:, 0] - 1.0, ends)


def inflation_quality(evidence: Evidence) -> Estimate:
    """Return R^2 of T_0.9 of DP-OD as an affine function of rho/epsilon, rho = y/x."""
    return inflation_fit(evidence).quality


def inflation_slope(evidence: Evidence) -> Estimate:
    """Return the slope b of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    return inflation_fit(evidence).coefficients[1]


def budget_change(evidence: Evidence) -> Estimate:
    """Return the relative change of T_0.9 of DP-BAI from y/x = 1 to 50.

    By one slope of log T_0.9 in log y/x for all epsilon, with an intercept for each: the largest
    of six over the smallest is above 1 by chance alone.
    """
    grid = list(product(EPSILONS, RATIOS))
    logs = [budget.log() for budget in ratio_budgets(evidence, "dp-bai", grid)]
    design = np.array(
        [[math.log(ratio), *(epsilon == other for other in EPSILONS)] for epsilon, ratio in grid]
    )
    steep, *_ = linear_fit(design, logs, np.ones(len(grid))).coefficients
    return (math.log(RATIOS[-1] / RATIOS[0]) * steep).exp() - 1.0


def hardness_quality(evidence: Evidence) -> Estimate:
    """Return R^2 of T_0.9 of DP-BAI as a Delta^-2 + b (epsilon Delta)^-1."""
    return hardness_fit(evidence).quality


def hardness_coefficients(evidence: Evidence) -> dict[str, Estimate]:
    """Return the two coefficients of that fit."""
    return dict(zip("ab", hardness_fit(evidence).coefficients, strict=True))


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
            np.log(chosen), ratio_budgets(evidence, algorithm, [(epsilon, y) for y in chosen])
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
            -np.log(epsilons), hardness_budgets(evidence, [(gap, epsilon) for epsilon in epsilons])
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
            -np.log(gaps), hardness_budgets(evidence, [(gap, epsilon) for gap in gaps])
        )
        for epsilon in HARDNESS_EPSILONS
    }


def _slope(scores: Values, budgets: list[Measured]) -> Estimate:
    """Return the least-squares slope of log T_0.9 over scores."""
    return slope(scores, [budget.log() for budget in budgets])
