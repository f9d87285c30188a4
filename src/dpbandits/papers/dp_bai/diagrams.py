"""Supplementary diagrams: what the bounds say, draws of the omegas (BAI-E5), Table 1 as a map."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import binom

from dpbandits.algorithms import IDENTIFICATION
from dpbandits.claims.evidence import Evidence
from dpbandits.metrics.intervals import LEVEL
from dpbandits.papers.dp_bai.fit_statistics import Values, log_errors
from dpbandits.papers.dp_bai.fits import (
    EPSILONS,
    GAP,
    HARDNESS_EPSILONS,
    HARDNESS_GAPS,
    RATIOS,
    estimated,
    hardness_budgets,
    hardness_fit,
    inflation_fit,
    ratio_budgets,
)
from dpbandits.papers.dp_bai.privacy import CURVE_DELTAS
from dpbandits.papers.panels import (
    Points,
    canvas,
    draw_estimates,
    draw_line,
    point,
    table,
)
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram, shared_legend
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


pass

INSTANCES = {"section5": "Section 5", "two-armed": "two arms"}
MAPPED_EPSILONS = (0.01, 0.1, 0.5)
REGIONS = {
    "B < C": ("#9cc7e4", r"$B < C$: DP-BAI (ticked)"),
    "C <= B < A": ("#f3e3ec", r"$C \leq B < A$: DP-BAI-Gauss (tick not legible)"),
    "B >= A": ("#dda5c4", r"$B \geq A$: DP-BAI-Gauss (ticked)"),
}
"""Conditions of Table 1 -> colour, and which bound is the tighter one."""

_BUDGETS = (1e2, 1e6)
_DELTAS = np.logspace(-12, 0, 97)
_CELLS = 193
"""Budgets at which the map is computed."""


def omega_draws(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw success on each draw of the omegas beside what chance alone would spread."""
    rows = results[results["metric"] == "success"]
    tables = [
        _rates_by_draw(own, str(algorithm), float(str(epsilon)))
        for (algorithm, epsilon), own in rows.groupby(
            ["algorithm", rows["epsilon"].fillna(0.0)], sort=False
        )
    ]
    points = pd.concat(tables, ignore_index=True)
    with style.context():
        drawn, (axes,) = canvas(style.PAGE_WIDTH, style.PANEL_HEIGHT + 0.3)
        names = dict(zip(points["algorithm"], points["name"], strict=True))
        colours = {name: palette.algorithm_look(key).colour for key, name in names.items()}
        swarm: dict[str, Any] = {"hue": "name", "palette": colours, "legend": False}
        # Where all draws succeed alike there is no room for marks side by side: they overlap.
        sns.swarmplot(points, x="label", y="y", ax=axes, size=2.4, warn_thresh=1.0, **swarm)
        for place, rates in enumerate(tables):
            _draw_spread(axes, place, rates)
        style.style_axis(axes, "y", "linear")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("")
        axes.set_ylabel("Success rate")
        mark: dict[str, Any] = {"marker": "o", "linestyle": "none"}
        marks = [Line2D([], [], color=colours[name], label=name, **mark) for name in colours]
        spread = axes.get_legend_handles_labels()[0]
        drawn.legend(handles=[*marks, *spread], loc="outside upper center", ncols=5)
    return drawn, table(points)


def _rates_by_draw(rows: pd.DataFrame, algorithm: str, epsilon: float) -> pd.DataFrame:
    """Return the success rates of one algorithm on each draw, and what it is called."""
    rates = pd.DataFrame([{"x": draw, **rate_of(own)} for draw, own in rows.groupby("draw")])
    name = IDENTIFICATION[algorithm].name
    return rates.assign(
        algorithm=algorithm,
        name=name,
        series=name + (f", epsilon={epsilon:g}" if epsilon else ""),
        label=name + (f"\n$\\varepsilon$ = {epsilon:g}" if epsilon else ""),
    )


def _draw_spread(axes: Axes, place: int, rates: pd.DataFrame) -> None:
    """Draw the box that holds 95 % of rates whose chance of success is the mean over all draws."""
    trials = int(rates["runs"].iloc[0])
    chance = float(np.average(rates["y"], weights=rates["runs"]))
    low, high = binom.interval(LEVEL, trials, chance)
    axes.fill_between(
        [place - 0.42, place + 0.42],
        low / trials,
        high / trials,
        color="#dddddd",
        linewidth=0,
        zorder=0.5,
        label="_" if place else "range expected from chance alone (95 %)",
    )


def regime_map(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw which row of Table 1 holds at each budget and delta, by instance and epsilon."""
    points = []
    with style.context():
        rows, columns = len(INSTANCES), len(MAPPED_EPSILONS)
        size = style.PAGE_WIDTH, 2 * style.PANEL_HEIGHT
        drawn, panels = canvas(*size, rows, columns, sharex=True, sharey=True)
        grid = product(INSTANCES.items(), MAPPED_EPSILONS)
        for axes, letter, ((instance, title), epsilon) in zip(panels, "abcdef", grid, strict=True):
            rows_of = (results["instance"] == instance) & (results["epsilon"] == epsilon)
            lower, upper = (_budgets(results[rows_of], quantity) for quantity in ("T_C", "T_A"))
            _draw_regions(axes, lower, upper)
            axes.set_title(
                rf"({letter}) {title[0].upper()}{title[1:]}, $\varepsilon$ = {epsilon:g}"
            )
            for name, budgets in (("B = C", lower), ("B = A", upper)):
                curve = pd.DataFrame({"x": budgets, "y": _DELTAS}).sort_values("x")
                series = f"{letter}: {name}, {title}, epsilon={epsilon:g}"
                points.append(curve.assign(series=series, lo=curve["y"], hi=curve["y"], runs=0))
        for axes in panels[::columns]:
            axes.set_ylabel(r"$\delta$")
        for axes in panels[-columns:]:
            axes.set_xlabel("Budget $T$")
        patches = [Patch(facecolor=colour, label=label) for colour, label in REGIONS.values()]
        drawn.legend(handles=patches, loc="outside upper center", ncols=3)
    return drawn, table(pd.concat(points, ignore_index=True))


def _budgets(rows: pd.DataFrame, quantity: str) -> Any:
    """Return the boundary ``T_A`` or ``T_C`` at every drawn delta.

    It is proportional to log(1.25/delta), so that the rows of one delta give it.
    """
    known = rows[rows["quantity"] == quantity].iloc[0]
    return known["y"] / math.log(1.25 / known["x"]) * np.log(1.25 / _DELTAS)


def _draw_regions(axes: Axes, lower: Any, upper: Any) -> None:
    """Draw the regions as a heat map over budgets and deltas, and the lines between them."""
    budgets = np.geomspace(*_BUDGETS, _CELLS)
    rows = [np.digitize(budgets, ends) for ends in zip(lower, upper, strict=True)]
    regions = pd.DataFrame(rows, index=_DELTAS, columns=budgets)
    colours = [colour for colour, _ in REGIONS.values()]
    look: dict[str, Any] = {"cmap": colours, "vmin": 0, "vmax": 2, "cbar": False}
    sns.heatmap(regions, ax=axes, rasterized=True, xticklabels=False, yticklabels=False, **look)
    axes.invert_yaxis()
    # Cells are evenly spaced in log T and log delta: place i is the middle of cell i - 1/2.
    decade = (_CELLS - 1) / math.log10(_BUDGETS[1] / _BUDGETS[0])
    for boundary, dash in ((lower, "dashed"), (upper, "solid")):
        places = 0.5 + decade * np.log10(boundary / _BUDGETS[0])
        rows_of = np.arange(len(_DELTAS)) + 0.5
        axes.plot(places, rows_of, color="black", linewidth=0.8, linestyle=dash)
    axes.set_xlim(0, _CELLS)
    axes.set_ylim(0, len(_DELTAS))
    tens = range(int(math.log10(_BUDGETS[0])), int(math.log10(_BUDGETS[1])) + 1)
    axes.set_xticks([0.5 + decade * (each - tens[0]) for each in tens], [_power(n) for n in tens])
    below = range(-12, 1, 3)
    eighth = (len(_DELTAS) - 1) / 12
    axes.set_yticks([0.5 + eighth * (each + 12) for each in below], [_power(n) for n in below])
    axes.tick_params(labelrotation=0)


def _power(exponent: int) -> str:
    return f"$10^{{{exponent}}}$"


DIAGRAMS: dict[str, Diagram] = {
    "extra-omega": omega_draws,
    "extra-regimes": regime_map,
    "extra-budgets-ratio": budgets_by_ratio,
    "extra-budgets-hardness": budgets_by_hardness,
    "extra-bound": error_and_bound,
    "extra-log-error": log_error,
    "extra-gauss-delta": gauss_delta,
}
"""Diagrams by figure, as the experiments file lists them."""
