"""Diagrams of ours on what the bounds say: budgets needed, errors, and the delta needed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpbandits.claims import Estimate, Evidence
from dpbandits.papers.dp_bai.budget_statistics import (
    EPSILONS,
    GAP,
    HARDNESS_EPSILONS,
    HARDNESS_GAPS,
    RATIOS,
    estimated,
    fitted_hardness,
    fitted_inflation,
    hardness_budgets,
    needed_budgets,
)
from dpbandits.papers.dp_bai.error_statistics import log_errors
from dpbandits.papers.dp_bai.fits import Values
from dpbandits.papers.dp_bai.gauss_audit import CURVE_DELTAS
from dpbandits.reporting import style
from dpbandits.reporting.palette import COLOURS, DASHES
from dpbandits.reporting.points import LEVEL, rate_of

SEED = 20240124
"""Root of the resamples behind the intervals of these figures."""

ALGORITHMS = (("dp-od", "DP-OD", "vermillion"), ("dp-bai", "DP-BAI", "blue"))
EPSILON_COLOURS = ("vermillion", "orange", "green", "sky", "black")

MARKS: dict[float, str] = {0.1: "o", 0.5: "s", 1: "D"}
"""Marker by epsilon."""

Points = list[dict[str, Any]]


def budgets_by_ratio(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw T_0.9 over rho/epsilon, of DP-OD with the affine fit and of DP-BAI."""
    evidence = Evidence.of_frames({"budgets-ratio": results}, root_seed=SEED)
    points: Points = []
    with style.context():
        drawn, (axes,) = _panels(1)
        for (algorithm, name, colour), epsilon in product(ALGORITHMS, EPSILONS):
            found = needed_budgets(evidence, algorithm, [(epsilon, each) for each in RATIOS])
            x = [ratio / epsilon for ratio in RATIOS]
            label = rf"{name}, $\varepsilon$ = {epsilon:g}"
            look = {"color": COLOURS[colour], "marker": MARKS[epsilon], "label": label}
            points += _draw_estimates(axes, f"{name}, epsilon={epsilon:g}", x, found, look)
        a, b = fitted_inflation(evidence)
        fine = np.geomspace(1.0, RATIOS[-1] / EPSILONS[0], 60)
        points += _draw_line(axes, "fit", fine, a / GAP**2 + b * fine / GAP, "fit to DP-OD")
        _finish(axes, r"$\rho / \varepsilon$", "Budget at 90 % success", "log", "log")
        axes.set_title(r"Two arms, $\Delta$ = 0.05")
        _legend(drawn, [axes], 4)
    return drawn, _table(points)


def budgets_by_hardness(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw T_0.9 of DP-BAI over 1/epsilon, and over 1/Delta, with the fit of two terms."""
    evidence = Evidence.of_frames({"budgets-hardness": results}, root_seed=SEED)
    points: Points = []
    with style.context():
        drawn, (left, right) = _panels(2)
        finite = [each for each in reversed(HARDNESS_EPSILONS) if math.isfinite(each)]
        for gap, colour in zip(HARDNESS_GAPS, ("purple", "blue", "green"), strict=True):
            grid = [(gap, each) for each in finite]
            names = f"a: Delta={gap:g}", rf"$\Delta$ = {gap:g}", colour
            points += _budgets_with_fit(
                left, evidence, names, grid, [1.0 / each for each in finite]
            )
        for epsilon, colour in zip(HARDNESS_EPSILONS, EPSILON_COLOURS, strict=True):
            grid = [(gap, epsilon) for gap in reversed(HARDNESS_GAPS)]
            label = "no noise" if math.isinf(epsilon) else rf"$\varepsilon$ = {epsilon:g}"
            names = f"b: epsilon={epsilon:g}", label, colour
            x = [1.0 / gap for gap, _ in grid]
            points += _budgets_with_fit(right, evidence, names, grid, x)
        _finish(left, r"$1 / \varepsilon$", "Budget at 90 % success", "log", "log")
        _finish(right, r"$1 / \Delta$", "", "log", "log", ticks=(10, 20, 40))
        left.set_title(r"(a) over $1/\varepsilon$")
        right.set_title(r"(b) over $1/\Delta$")
        _legend(drawn, [left, right], 4)
    return drawn, _table(points)


def _budgets_with_fit(
    axes: Axes,
    evidence: Evidence,
    names: tuple[str, str, str],
    grid: Sequence[tuple[float, float]],
    x: Sequence[float],
) -> Points:
    """Draw T_0.9 at each (Delta, epsilon) of a grid, at x, and the fit of the two terms."""
    (series, label, colour), (a, b) = names, fitted_hardness(evidence)
    look = {"color": COLOURS[colour], "marker": "o", "label": label}
    found = estimated(*hardness_budgets(evidence, grid))
    points = _draw_estimates(axes, series, x, found, look)
    fit = [a / gap**2 + b / (epsilon * gap) for gap, epsilon in grid]
    return points + _draw_line(axes, f"{series}, fit", x, fit, "_", colour)


def error_and_bound(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the error of DP-BAI and the bound of Theorem 4.2 over T, by instance."""
    points: Points = []
    with style.context():
        drawn, panels = _panels(2)
        for axes, letter, (instance, title) in zip(
            panels, "ab", (("section5", "Section 5"), ("two-armed", "two arms")), strict=True
        ):
            for epsilon, dash in ((0.1, "dashed"), (1.0, "solid")):
                names = (
                    f"{letter}: error, epsilon={epsilon:g}",
                    rf"error, $\varepsilon$ = {epsilon:g}",
                )
                errors = _errors(results, instance, epsilon)
                points += _draw_errors(axes, names, errors, MARKS[epsilon], DASHES[dash])
                bound = _bounds(results, instance, epsilon)
                label = rf"bound, $\varepsilon$ = {epsilon:g}"
                series = f"{letter}: bound, epsilon={epsilon:g}"
                x, y = bound["x"].to_numpy(), bound["y"].to_numpy()
                points += _draw_line(axes, series, x, y, label, dash=DASHES[dash])
            _finish(axes, "Budget $T$", "Error rate" if letter == "a" else "", "log", "log")
            axes.set_ylim(2e-5, 2.0)
            axes.set_title(f"({letter}) {title}")
        _legend(drawn, panels, 4)
    return drawn, _table(points)


def log_error(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the error of DP-BAI over T on a log axis, with the linear fits of its logarithm."""
    evidence = Evidence.of_frames({"rare-errors": results}, root_seed=SEED)
    points: Points = []
    with style.context():
        drawn, panels = _panels(2)
        for axes, letter, epsilon in zip(panels, "ab", (0.1, 1), strict=True):
            own = results[results["epsilon"] == epsilon]
            errors = _rates(own, "horizon")
            series = f"{letter}: error, epsilon={epsilon:g}"
            points += _draw_errors(axes, (series, "DP-BAI"), errors, MARKS[epsilon], "none")
            found = log_errors(evidence, epsilon)
            # Few trials may leave no errors in the range of the fit.
            if found.budgets.size > 2:
                intercept, slope = found.line().coefficients[0]
                x = np.linspace(found.budgets[0], found.budgets[-1], 30)
                y = np.exp(intercept + slope * x)
                points += _draw_line(axes, f"{series}, fit", x, y, "linear fit of the logarithm")
            _finish(axes, "Budget $T$", "Error rate" if letter == "a" else "", "linear", "log")
            axes.set_title(rf"({letter}) two arms, $\varepsilon$ = {epsilon:g}")
            axes.set_ylim(3e-5, 0.6)
        _legend(drawn, panels, 3)
    return drawn, _table(points)


def gauss_delta(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the delta that three arms need over the delta claimed, over epsilon, by delta."""
    curves = results[results["epsilons"] == "curve"]
    points: Points = []
    with style.context():
        drawn, (axes,) = _panels(1)
        looks = style.ordered_looks(len(CURVE_DELTAS))
        for look, (delta, own) in zip(looks, curves.groupby("delta"), strict=True):
            own = own.sort_values("x")
            axes.plot(
                own["x"], own["y"], color=look.colour, label=rf"$\delta$ = {delta:g}", linewidth=1.2
            )
            series = f"delta={delta:g}"
            points += [_point(series, x, y) for x, y in zip(own["x"], own["y"], strict=True)]
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle="dashed")
        label = r"$\delta$ needed / $\delta$ claimed"
        _finish(axes, r"$\varepsilon$", label, "linear", "log", ticks=range(0, 13, 2))
        axes.set_ylim(0.05, 10.0)
        axes.set_xlim(0.0, 12.0)
        axes.set_title("Three arms; above 1 the guarantee fails")
        _legend(drawn, [axes], 6)
    return drawn, _table(points)


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    width = style.PAGE_WIDTH if count > 1 else 0.75 * style.PAGE_WIDTH
    drawn = Figure(figsize=(width, style.PANEL_HEIGHT + 0.6), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn, list(drawn.subplots(1, count, squeeze=False, sharey=count > 1)[0])


def _draw_estimates(
    axes: Axes,
    series: str,
    x: Sequence[float],
    found: Iterable[Estimate],
    look: Mapping[str, Any],
) -> Points:
    """Draw estimates with their 95 % intervals."""
    points = []
    for place, each in zip(x, found, strict=True):
        low, high = each.interval(1.0 - LEVEL)
        points.append(_point(series, place, each.value, low, high, each.runs))
    y = np.array([point["y"] for point in points])
    ends = np.array([[point["lo"] for point in points], [point["hi"] for point in points]])
    bars: dict[str, Any] = {"elinewidth": 0.8, "capsize": 1.5, "markersize": 4, **look}
    axes.errorbar(x, y, yerr=np.abs(ends - y), linestyle="none", **bars)
    return points


def _draw_line(
    axes: Axes,
    series: str,
    x: Sequence[float] | Values,
    y: Sequence[float] | Values,
    label: str,
    colour: str = "black",
    dash: Any = "solid",
) -> Points:
    axes.plot(x, y, color=COLOURS[colour], linewidth=0.9, linestyle=dash, label=label, zorder=1)
    return [_point(series, *each) for each in zip(x, y, strict=True)]


def _draw_errors(
    axes: Axes, names: tuple[str, str], errors: pd.DataFrame, marker: str, dash: Any
) -> Points:
    """Draw the error rates of DP-BAI above 0 with their exact 95 % intervals."""
    seen = errors[errors["y"] > 0.0]
    ends = np.abs(np.stack([seen["lo"], seen["hi"]]) - seen["y"].to_numpy())
    look: dict[str, Any] = {"color": COLOURS["blue"], "marker": marker, "linestyle": dash}
    series, label = names
    axes.errorbar(
        seen["x"], seen["y"], yerr=ends, elinewidth=0.8, markersize=4, label=label, **look
    )
    rows = errors[["x", "y", "lo", "hi", "runs"]].itertuples(index=False)
    return [_point(series, *row) for row in rows]


def _errors(results: pd.DataFrame, instance: str, epsilon: float) -> pd.DataFrame:
    """Return error rates of DP-BAI by T, of the instance whose rows have a ratio or none."""
    simulated = results[(results["metric"] == "success") & (results["algorithm"] == "dp-bai")]
    own = simulated["ratio"].isna() if instance == "section5" else simulated["ratio"] == 2
    return _rates(simulated[own & (simulated["epsilon"] == epsilon)], "t")


def _rates(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    found = []
    for budget, own in rows[rows["metric"] == "success"].groupby(by):
        won = rate_of(own)
        low, high = 1.0 - won["hi"], 1.0 - won["lo"]
        found.append({"x": budget, "y": 1.0 - won["y"], "lo": low, "hi": high, "runs": won["runs"]})
    return pd.DataFrame(found)


def _bounds(results: pd.DataFrame, instance: str, epsilon: float) -> pd.DataFrame:
    chosen = {"bound": "theorem", "instance": instance, "against": "budget", "epsilon": epsilon}
    for column, value in chosen.items():
        results = results[results[column] == value]
    return results.sort_values("x")


def _finish(
    axes: Axes,
    x: str,
    y: str,
    x_scale: str,
    y_scale: str,
    ticks: Sequence[float] | None = None,
) -> None:
    style.style_axis(axes, "x", x_scale, ticks)
    style.style_axis(axes, "y", y_scale)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _legend(drawn: Figure, panels: Sequence[Axes], columns: int) -> None:
    """Put one legend above the panels, each label once."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=columns)


def _point(
    series: str,
    x: float,
    y: float,
    low: float | None = None,
    high: float | None = None,
    runs: int = 0,
) -> dict[str, Any]:
    ends = {"lo": y if low is None else low, "hi": y if high is None else high}
    return {"series": series, "x": x, "y": y, **ends, "runs": runs}


def _table(points: Points) -> pd.DataFrame:
    return pd.DataFrame(points).assign(variant="as-written", reading="")
