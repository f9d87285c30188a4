"""Supplementary diagrams on what the bounds say: budgets needed, errors, and the delta needed."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.claims.evidence import Evidence
from dpbandits.papers.dp_bai.error_statistics import log_errors
from dpbandits.papers.dp_bai.fits import (
    EPSILONS,
    GAP,
    HARDNESS_EPSILONS,
    HARDNESS_GAPS,
    RATIOS,
    Values,
    estimated,
    hardness_budgets,
    hardness_fit,
    inflation_fit,
    ratio_budgets,
)
from dpbandits.papers.dp_bai.privacy_tables import CURVE_DELTAS
from dpbandits.papers.panels import (
    Points,
    canvas,
    draw_estimates,
    draw_line,
    point,
    table,
)
from dpbandits.reporting import palette, style
from dpbandits.reporting.legends import shared_legend
from dpbandits.reporting.lines import rate_of
from dpbandits.reporting.palette import DASHES

SEED = 20240124
"""Root of the resamples behind the intervals of these figures."""

ALGORITHMS = (("dp-od", "DP-OD"), ("dp-bai", "DP-BAI"))

DP_BAI = palette.tell_apart([palette.algorithm_look("dp-bai")] * 2)
"""Looks of DP-BAI at two epsilon, the smaller one first."""

BARS: dict[str, Any] = {"capsize": 1.5, "linestyle": "none", "markersize": 4}


def budgets_by_ratio(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw T_0.9 over rho/epsilon, of DP-OD with the affine fit and of DP-BAI."""
    evidence = Evidence.of_frames({"budgets-ratio": results}, root_seed=SEED)
    points: Points = []
    with style.context():
        drawn, (axes,) = panels(1)
        looks = [
            look
            for algorithm, _ in ALGORITHMS
            for look in style.tints(palette.algorithm_look(algorithm), len(EPSILONS))
        ]
        pairs = product(ALGORITHMS, EPSILONS)
        for look, ((algorithm, name), epsilon) in zip(looks, pairs, strict=True):
            budgets = ratio_budgets(evidence, algorithm, [(epsilon, ratio) for ratio in RATIOS])
            x = [ratio / epsilon for ratio in RATIOS]
            label = rf"{name}, $\varepsilon$ = {epsilon:g}"
            marks = {**BARS, "color": look.colour, "marker": look.marker, "label": label}
            points += draw_estimates(
                axes, f"{name}, epsilon={epsilon:g}", x, estimated(*budgets), marks
            )
        a, b = inflation_fit(evidence).coefficients[0]
        fine = np.geomspace(1.0, RATIOS[-1] / EPSILONS[0], 60)
        points += draw_line(axes, "fit", fine, a / GAP**2 + b * fine / GAP, "fit to DP-OD")
        finish(axes, r"$\rho / \varepsilon$", "Budget at 90 % success", "log", "log")
        axes.set_title(r"Two arms, $\Delta$ = 0.05")
        shared_legend(drawn, 4)
    return drawn, table(points)


def budgets_by_hardness(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw T_0.9 of DP-BAI over 1/epsilon, and over 1/Delta, with the fit of two terms."""
    evidence = Evidence.of_frames({"budgets-hardness": results}, root_seed=SEED)
    points: Points = []
    with style.context():
        drawn, (left, right) = panels(2)
        finite = [epsilon for epsilon in reversed(HARDNESS_EPSILONS) if math.isfinite(epsilon)]
        for gap, look in zip(HARDNESS_GAPS, palette.ordered_looks(3), strict=True):
            grid = [(gap, epsilon) for epsilon in finite]
            names = f"a: Delta={gap:g}", rf"$\Delta$ = {gap:g}"
            x = [1.0 / epsilon for epsilon in finite]
            points += _budgets_with_fit(left, evidence, names, look, grid, x)
        for epsilon, look in zip(HARDNESS_EPSILONS, palette.ordered_looks(5), strict=True):
            grid = [(gap, epsilon) for gap in reversed(HARDNESS_GAPS)]
            label = "no noise" if math.isinf(epsilon) else rf"$\varepsilon$ = {epsilon:g}"
            names = f"b: epsilon={epsilon:g}", label
            x = [1.0 / gap for gap, _ in grid]
            points += _budgets_with_fit(right, evidence, names, look, grid, x)
        finish(left, r"$1 / \varepsilon$", "Budget at 90 % success", "log", "log")
        finish(right, r"$1 / \Delta$", "", "log", "log", ticks=(10, 20, 40))
        left.set_title(r"(a) Over $1/\varepsilon$")
        right.set_title(r"(b) Over $1/\Delta$")
        shared_legend(drawn, 4)
    return drawn, table(points)


def _budgets_with_fit(
    axes: Axes,
    evidence: Evidence,
    names: tuple[str, str],
    look: palette.Look,
    grid: Sequence[tuple[float, float]],
    x: Sequence[float],
) -> Points:
    """Draw T_0.9 at each (Delta, epsilon) of a grid, at x, and the fit of the two terms."""
    (series, label), (a, b) = names, hardness_fit(evidence).coefficients[0]
    marks = {**BARS, "color": look.colour, "marker": look.marker, "label": label}
    points = draw_estimates(axes, series, x, estimated(*hardness_budgets(evidence, grid)), marks)
    fit = [a / gap**2 + b / (epsilon * gap) for gap, epsilon in grid]
    return points + draw_line(axes, f"{series}, fit", x, fit, "_", look.colour)


def error_and_bound(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the error of DP-BAI and the bound of Theorem 4.2 over T, by instance."""
    points: Points = []
    with style.context():
        drawn, both = panels(2)
        for axes, letter, (instance, title) in zip(
            both, "ab", (("section5", "Section 5"), ("two-armed", "Two arms")), strict=True
        ):
            for epsilon, look in zip((0.1, 1.0), DP_BAI, strict=True):
                names = (
                    f"{letter}: error, epsilon={epsilon:g}",
                    rf"error, $\varepsilon$ = {epsilon:g}",
                )
                errors = _errors(results, instance, epsilon)
                points += _draw_errors(axes, names, errors, style.line_look(look))
                label = rf"bound, $\varepsilon$ = {epsilon:g}"
                series = f"{letter}: bound, epsilon={epsilon:g}"
                x, y = _bound(results, instance, epsilon)
                points += draw_line(axes, series, x, y, label, dash=DASHES[look.dash])
            finish(axes, "Budget $T$", "Error rate" if letter == "a" else "", "log", "log")
            axes.set_ylim(2e-5, 2.0)
            axes.set_title(f"({letter}) {title}")
        shared_legend(drawn, 4)
    return drawn, table(points)


def log_error(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the error of DP-BAI over T on a log axis, with the linear fits of its logarithm."""
    evidence = Evidence.of_frames({"rare-errors": results}, root_seed=SEED)
    points: Points = []
    with style.context():
        drawn, both = panels(2)
        for axes, letter, epsilon in zip(both, "ab", (0.1, 1), strict=True):
            rows = results[results["epsilon"] == epsilon]
            errors = _rates(rows, "horizon")
            series = f"{letter}: error, epsilon={epsilon:g}"
            look = style.line_look(DP_BAI[0]) | {"linestyle": "none"}
            points += _draw_errors(axes, (series, "DP-BAI"), errors, look)
            logs = log_errors(evidence, epsilon, sorted(map(int, rows["horizon"].unique())))
            # Few trials may leave no errors in the range of the fit.
            if logs.budgets.size > 2:
                intercept, slope = logs.line().coefficients[0]
                x = np.linspace(logs.budgets[0], logs.budgets[-1], 30)
                y = np.exp(intercept + slope * x)
                points += draw_line(axes, f"{series}, fit", x, y, "linear fit of the logarithm")
            finish(axes, "Budget $T$", "Error rate" if letter == "a" else "", "linear", "log")
            axes.set_title(rf"({letter}) Two arms, $\varepsilon$ = {epsilon:g}")
            axes.set_ylim(3e-5, 0.6)
        shared_legend(drawn, 3)
    return drawn, table(points)


def gauss_delta(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the delta that three arms need over the delta claimed, over epsilon, by delta."""
    curves = results[results["epsilons"] == "curve"]
    points: Points = []
    with style.context():
        drawn, (axes,) = panels(1)
        looks = palette.ordered_looks(len(CURVE_DELTAS))
        for look, (delta, rows) in zip(looks, curves.groupby("delta"), strict=True):
            x, y = rows.sort_values("x")[["x", "y"]].to_numpy().T
            axes.plot(x, y, color=look.colour, label=rf"$\delta$ = {delta:g}", linewidth=1.2)
            points += [point(f"delta={delta:g}", *pair) for pair in zip(x, y, strict=True)]
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle="dashed")
        label = r"$\delta$ needed / $\delta$ claimed"
        finish(axes, r"$\varepsilon$", label, "linear", "log", ticks=range(0, 13, 2))
        axes.set_ylim(0.05, 10.0)
        axes.set_xlim(0.0, 12.0)
        axes.set_title("Three arms; above 1 the guarantee fails")
        shared_legend(drawn, 3)
    return drawn, table(points)


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of one panel, or of several side by side, and the panels."""
    width = style.PAGE_WIDTH if count > 1 else 0.75 * style.PAGE_WIDTH
    return canvas(width, style.PANEL_HEIGHT + 0.6, columns=count, sharey=count > 1)


def finish(
    axes: Axes, x: str, y: str, x_scale: str, y_scale: str, ticks: Sequence[float] | None = None
) -> None:
    """Set scales, ticks and labels of both axes."""
    style.style_axis(axes, "x", x_scale, ticks)
    style.style_axis(axes, "y", y_scale)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _draw_errors(
    axes: Axes, names: tuple[str, str], errors: pd.DataFrame, look: dict[str, Any]
) -> Points:
    """Draw the error rates of DP-BAI above 0 with their exact 95 % intervals."""
    seen = errors[errors["y"] > 0.0]
    ends = np.abs(np.stack([seen["lo"], seen["hi"]]) - seen["y"].to_numpy())
    series, label = names
    axes.errorbar(
        seen["x"], seen["y"], yerr=ends, elinewidth=0.8, markersize=4, label=label, **look
    )
    rows = errors[["x", "y", "lo", "hi", "runs"]].itertuples(index=False)
    return [point(series, *row) for row in rows]


def _errors(results: pd.DataFrame, instance: str, epsilon: float) -> pd.DataFrame:
    """Return error rates of DP-BAI by T, of the instance whose rows have a ratio or none."""
    simulated = results[(results["metric"] == "success") & (results["algorithm"] == "dp-bai")]
    ratio = simulated["ratio"]
    is_there = ratio.isna() if instance == "section5" else ratio == 2
    return _rates(simulated[is_there & (simulated["epsilon"] == epsilon)], "t")


def _rates(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return error rates with their exact 95 % intervals, by a column."""
    errors = []
    for budget, trials in rows[rows["metric"] == "success"].groupby(by):
        won = rate_of(trials)
        ends = {"lo": 1.0 - won["hi"], "hi": 1.0 - won["lo"]}
        errors.append({"x": budget, "y": 1.0 - won["y"], **ends, "runs": won["runs"]})
    return pd.DataFrame(errors)


def _bound(results: pd.DataFrame, instance: str, epsilon: float) -> tuple[Values, Values]:
    """Return the bound of Theorem 4.2 at many T, from the row of the largest one."""
    chosen = {"bound": "theorem", "instance": instance, "against": "budget", "epsilon": epsilon}
    for column, value in chosen.items():
        results = results[results[column] == value]
    last = results.sort_values("x").iloc[-1]
    budgets = np.geomspace(100.0, last["x"], 80)
    rate = math.log(last["y"]) / last["effective_budget"]
    return budgets, np.exp(rate * (budgets - last["x"] + last["effective_budget"]))
