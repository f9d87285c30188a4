"""Supplementary diagrams: what the bounds say, draws of the omegas, Table 1 as a map."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import binom

from dpbandits.algorithms import IDENTIFICATION
from dpbandits.claims.estimates import Measured
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.config.looks import DASHES
from dpbandits.metrics.intervals import COVERAGE
from dpbandits.papers.dp_bai.fits import Values, log_errors
from dpbandits.papers.dp_bai.quantities import GAP, budget_90, hardness, inflation
from dpbandits.papers.dp_bai.theory import FAR, bounds
from dpbandits.papers.panels import (
    Drawn,
    Points,
    canvas,
    draw_line,
    draw_marks,
    estimated,
    finish,
    point,
)
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram
from dpbandits.reporting.lines import rate_of
from dpbandits.reporting.style import add_legend
from dpbandits.reporting.text import mathtext

DP_BAI = [palette.styled(palette.look_of("dp-bai"), "epsilon", epsilon) for epsilon in (0.1, 1)]
"""Looks of DP-BAI at two epsilon."""

BARS: dict[str, Any] = {"capsize": 1.5, "linestyle": "none", "markersize": 4}

BUDGET = ("Budget $T$", "log")
BUDGET_90 = ("Budget at 90 % success", "log")

TITLES = {"section5": "Section 5", "two-armed": "Two arms"}


def series_of(name: str, results: pd.DataFrame, **tags: Any) -> SeriesQuery:
    """Return the series of a simulation with these tags."""
    return SeriesQuery(Evidence.of_frames({name: results}), {"in": name, **tags})


def budgets_by_ratio(results: pd.DataFrame) -> Drawn:
    """Draw T_0.9 over rho/epsilon, of DP-OD with the affine fit and of DP-BAI."""
    trials = {
        algorithm: series_of("budgets-ratio", results, algorithm=algorithm)
        for algorithm in ("dp-od", "dp-bai")
    }
    ratios, epsilons = (trials["dp-od"].values_of(tag) for tag in ("ratio", "epsilon"))
    drawn, (axes,) = canvas(width=0.75 * style.PAGE_WIDTH)
    points: Points = []
    for algorithm, simulated in trials.items():
        name = IDENTIFICATION[algorithm].name
        for epsilon in epsilons:
            look = palette.styled(palette.look_of(algorithm), "epsilon", epsilon)
            budgets = [budget_90(simulated.having(epsilon=epsilon, ratio=y)) for y in ratios]
            x = [ratio / epsilon for ratio in ratios]
            label = rf"{name}, $\varepsilon$ = {epsilon:g}"
            points += _draw_budgets(axes, f"{name}, epsilon={epsilon:g}", label, look, x, budgets)
    a, b = (inflation(trials["dp-od"], number=number).value for number in "ab")
    fine = np.geomspace(1.0, ratios[-1] / epsilons[0], 60)
    points += draw_line(axes, "fit", fine, a / GAP**2 + b * fine / GAP, "fit to DP-OD")
    finish(axes, (r"$\rho / \varepsilon$", "log"), BUDGET_90, r"Two arms, $\Delta$ = 0.05")
    return drawn, points


def _draw_budgets(
    axes: Axes,
    series: str,
    label: str,
    look: palette.Look,
    x: Sequence[float],
    budgets: list[Measured],
) -> Points:
    """Draw T_0.9 at x where trials enough leave it a finite interval."""
    points = estimated(series, x, budgets)
    points = [row for row in points if np.isfinite([row["y"], row["lo"], row["hi"]]).all()]
    draw_marks(axes, points, {**style.line_look(look), **BARS, "label": label})
    return points


def budgets_by_hardness(results: pd.DataFrame) -> Drawn:
    """Draw T_0.9 of DP-BAI over 1/epsilon by gap, with the fit of two terms."""
    trials = series_of("budgets-hardness", results)
    gaps, epsilons = (trials.values_of(tag) for tag in ("gap", "epsilon"))
    private = [epsilon for epsilon in reversed(epsilons) if math.isfinite(epsilon)]
    x = [1.0 / epsilon for epsilon in private]
    drawn, (axes,) = canvas(width=0.75 * style.PAGE_WIDTH)
    a, b = (hardness(trials, number=number).value for number in "ab")
    points: Points = []
    for gap, look in zip(gaps, palette.value_looks("gap", gaps), strict=True):
        budgets = [budget_90(trials.having(gap=gap, epsilon=epsilon)) for epsilon in private]
        series, label = f"Delta={gap:g}", rf"$\Delta$ = {gap:g}"
        points += _draw_budgets(axes, series, label, look, x, budgets)
        fit = [a / gap**2 + b * place / gap for place in x]
        dash = {"color": look.colour, "linestyle": DASHES[look.dash]}
        points += draw_line(axes, f"{series}, fit", x, fit, "_", **dash)
    finish(axes, (r"$1 / \varepsilon$", "log"), BUDGET_90, "Lines: one fit to all marks", x)
    return drawn, points


def error_and_bound(results: pd.DataFrame) -> Drawn:
    """Draw the error of DP-BAI and the bound of Theorem 4.2 over T, by instance."""
    simulated = results[(results["metric"] == "success") & (results["algorithm"] == "dp-bai")]
    of_instance = {"section5": simulated["ratio"].isna(), "two-armed": simulated["ratio"] == 2}

    drawn, panels = canvas(columns=2, sharey=True)
    points: Points = []
    for axes, letter, (instance, title) in zip(panels, "ab", TITLES.items(), strict=True):
        rows = simulated[of_instance[instance]]
        for epsilon, look, dash in zip((0.1, 1.0), DP_BAI, ("solid", "dashed"), strict=True):
            text = rf", $\varepsilon$ = {epsilon:g}"
            series = f"{letter}: error, epsilon={epsilon:g}"
            errors = _errors(series, rows[rows["epsilon"] == epsilon], "t")
            points += _draw_errors(axes, errors, style.line_look(look), f"error{text}")
            budgets = np.geomspace(100.0, FAR[instance], 80)
            bound = [bounds(instance, epsilon).theorem(budget) for budget in budgets]
            line = f"{letter}: bound, epsilon={epsilon:g}", budgets, bound
            points += draw_line(axes, *line, f"bound{text}", linestyle=DASHES[dash])
        label = "Error rate" if letter == "a" else ""
        finish(axes, BUDGET, (label, "log"), f"({letter}) {title}")
        axes.set_ylim(2e-5, 2.0)
    return drawn, points


def _errors(series: str, rows: pd.DataFrame, by: str) -> Points:
    """Return error rates with their exact 95 % intervals, by a column."""
    points = []
    for budget, trials in rows[rows["metric"] == "success"].groupby(by):
        won = rate_of(trials)
        ends = 1.0 - won["hi"], 1.0 - won["lo"]
        points.append(point(series, float(str(budget)), 1.0 - won["y"], *ends, won["runs"]))
    return points


def _draw_errors(axes: Axes, errors: Points, look: dict[str, Any], label: str) -> Points:
    """Draw the error rates above 0, and return all."""
    seen = [row for row in errors if row["y"] > 0.0]
    draw_marks(axes, seen, {"markersize": 4, "label": label, **look})
    return errors


def log_error(results: pd.DataFrame) -> Drawn:
    """Draw the error of DP-BAI over T on a log axis, with the linear fits of its logarithm."""
    drawn, panels = canvas(columns=2, sharey=True)
    points: Points = []
    for axes, letter, epsilon in zip(panels, "ab", (0.1, 1), strict=True):
        rows = results[results["epsilon"] == epsilon]
        series = f"{letter}: error, epsilon={epsilon:g}"
        look = style.line_look(DP_BAI[0]) | {"linestyle": "none"}
        points += _draw_errors(axes, _errors(series, rows, "horizon"), look, "DP-BAI")
        logs = log_errors(series_of("rare-errors", results, epsilon=epsilon))
        # Few trials may leave no errors in the range of the fit.
        if logs.budgets.size > 2:
            intercept, slope = (number.value for number in logs.line().coefficients)
            x = np.linspace(logs.budgets[0], logs.budgets[-1], 30)
            y, label = np.exp(intercept + slope * x), "linear fit of the logarithm"
            points += draw_line(axes, f"{series}, fit", x, y, label)
        title = rf"({letter}) Two arms, $\varepsilon$ = {epsilon:g}"
        label = "Error rate" if letter == "a" else ""
        step = 1000 if epsilon == 0.1 else 500
        ticks = range(step, int(rows["horizon"].max()) + 1, step)
        finish(axes, ("Budget $T$", "linear"), (label, "log"), title, ticks=ticks)
        axes.set_ylim(3e-5, 0.6)
    return drawn, points


def gauss_delta(results: pd.DataFrame) -> Drawn:
    """Draw the delta that three arms need over the delta claimed, over epsilon, by delta."""
    rows_of = {float(str(delta)): rows for delta, rows in results.groupby("delta")}

    drawn, (axes,) = canvas(width=0.75 * style.PAGE_WIDTH)
    points: Points = []
    looks = palette.value_looks("delta", list(rows_of))
    for look, (delta, rows) in zip(looks, rows_of.items(), strict=True):
        x, y = rows.sort_values("x")[["x", "y"]].to_numpy().T
        line = {"color": look.colour, "linestyle": DASHES[look.dash], "linewidth": 1.2, "zorder": 2}
        points += draw_line(
            axes, f"delta={delta:g}", x, y, mathtext(rf"$\delta$ = {delta:g}"), **line
        )
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle="dashed")
    y_axis, title = (
        r"$\delta$ needed / $\delta$ claimed",
        "Three arms; above 1 the guarantee fails",
    )
    finish(axes, (r"$\varepsilon$", "linear"), (y_axis, "log"), title, ticks=range(0, 13, 2))
    axes.set(xlim=(0.0, 12.0), ylim=(0.05, 10.0))
    return drawn, points


def omega_draws(results: pd.DataFrame) -> Drawn:
    """Draw success on each draw of the omegas beside what chance alone would spread."""
    rows = results[results["metric"] == "success"]
    grouped = rows.groupby(["algorithm", rows["epsilon"].fillna(0.0)], sort=False)
    tables = [
        _rates_by_draw(str(algorithm), float(str(epsilon)), group)
        for (algorithm, epsilon), group in grouped
    ]
    points = pd.concat(tables, ignore_index=True)
    drawn, (axes,) = canvas()
    names = dict(zip(points["algorithm"], points["name"], strict=True))
    colours = {name: palette.look_of(key).colour for key, name in names.items()}
    swarm: dict[str, Any] = {"hue": "name", "palette": colours, "legend": False}
    # Where all draws succeed alike there is no room for marks side by side: they overlap.
    sns.swarmplot(points, x="label", y="y", ax=axes, size=2.4, warn_thresh=1.0, **swarm)
    for place, rates in enumerate(tables):
        _draw_spread(axes, place, rates)
    style.style_axis(axes, "y", "linear")
    axes.set(ylim=(0, 1.02), xlabel="", ylabel="Success rate")
    mark: dict[str, Any] = {"marker": "o", "linestyle": "none"}
    marks = {name: Line2D([], [], color=colour, **mark) for name, colour in colours.items()}
    (spread,), (label,) = axes.get_legend_handles_labels()
    add_legend(drawn, {**marks, label: spread})
    return drawn, points


def _rates_by_draw(algorithm: str, epsilon: float, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the success rates of one algorithm on each draw, and what it is called."""
    rates = pd.DataFrame([{"x": draw, **rate_of(trials)} for draw, trials in rows.groupby("draw")])
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
    low, high = binom.interval(COVERAGE, trials, chance)
    label = "_" if place else "range expected from chance alone (95 %)"
    look: dict[str, Any] = {"color": "#dddddd", "linewidth": 0, "zorder": 0.5, "label": label}
    axes.fill_between([place - 0.42, place + 0.42], low / trials, high / trials, **look)


MAPPED_EPSILONS = (0.01, 0.1)
REGIONS = {
    "#8d83c0": r"$B < C$: that of DP-BAI is tighter",
    "#dbebe0": r"$C \leq B < A$: that of DP-BAI-Gauss",
    "#94c2a3": r"$B \geq A$: that of DP-BAI-Gauss",
}
"""Colours of the conditions of Table 1, tints of the algorithms' -> which bound is tighter."""

EXPONENTS = (
    r"Exponents of the bounds (Table 1): $A = T/(H_{\mathrm{BAI}}\,\log d)$,   "
    r"$B = (T/(H_{\mathrm{pri}}\,\log d\,\sqrt{\log(1.25/\delta)}))^2$,   $C = T/(H\,\log d)$"
)
"""What A, B and C are."""

_BUDGETS = (1e2, 1e6)
_DELTAS = np.logspace(-12, 0, 97)
_CELLS = 193
"""Budgets at which the map is computed."""


def regime_map(results: pd.DataFrame) -> Drawn:
    """Draw which row of Table 1 holds at each budget and delta, by instance and epsilon."""
    points = []
    rows, columns = len(TITLES), len(MAPPED_EPSILONS)
    drawn, panels = canvas(rows, columns, sharex=True, sharey=True)
    grid = product(TITLES.items(), MAPPED_EPSILONS)
    for axes, letter, ((instance, title), epsilon) in zip(panels, "abcd", grid, strict=True):
        there = results[(results["instance"] == instance) & (results["epsilon"] == epsilon)]
        boundaries = {name: _boundary(there, f"T_{name}") for name in ("C", "A")}
        _draw_regions(axes, *boundaries.values())
        axes.set_title(rf"({letter}) {title}, $\varepsilon$ = {epsilon:g}")
        for name, budgets in boundaries.items():
            curve = pd.DataFrame({"x": budgets, "y": _DELTAS}).sort_values("x")
            words = title.replace("Two", "two")
            series = f"{letter}: B = {name}, {words}, epsilon={epsilon:g}"
            points.append(curve.assign(series=series))
    for axes in panels[::columns]:
        axes.set_ylabel(r"$\delta$")
    for axes in panels[-columns:]:
        axes.set_xlabel("Budget $T$")
    drawn.supxlabel(EXPONENTS, fontsize=7)
    add_legend(drawn, {label: Patch(facecolor=colour) for colour, label in REGIONS.items()})
    return drawn, pd.concat(points, ignore_index=True)


def _boundary(rows: pd.DataFrame, quantity: str) -> Values:
    """Return T_A or T_C at every drawn delta: it is proportional to log(1.25/delta)."""
    first = rows[rows["quantity"] == quantity].iloc[0]
    return np.asarray(first["y"] / math.log(1.25 / first["x"]) * np.log(1.25 / _DELTAS))


def _draw_regions(axes: Axes, lower: Values, upper: Values) -> None:
    """Draw the regions as a heat map over budgets and deltas, and the lines between them."""
    budgets = np.geomspace(*_BUDGETS, _CELLS)
    rows = [np.digitize(budgets, ends) for ends in zip(lower, upper, strict=True)]
    regions = pd.DataFrame(rows, index=_DELTAS, columns=budgets)
    look: dict[str, Any] = {"cmap": list(REGIONS), "vmin": 0, "vmax": 2, "cbar": False}
    sns.heatmap(regions, ax=axes, rasterized=True, xticklabels=False, yticklabels=False, **look)
    axes.invert_yaxis()
    # Cells are evenly spaced in log T and log delta: place i is the middle of cell i - 1/2.
    decade = (_CELLS - 1) / math.log10(_BUDGETS[1] / _BUDGETS[0])
    for boundary, dash in ((lower, "dashed"), (upper, "solid")):
        places = 0.5 + decade * np.log10(boundary / _BUDGETS[0])
        rows_of = np.arange(len(_DELTAS)) + 0.5
        axes.plot(places, rows_of, color="black", linewidth=0.8, linestyle=dash)
    axes.set(xlim=(0, _CELLS), ylim=(0, len(_DELTAS)))
    _set_powers(axes.set_xticks, decade, range(2, 7))
    _set_powers(axes.set_yticks, (len(_DELTAS) - 1) / 12, range(-12, 1, 3))
    axes.tick_params(labelrotation=0)


def _set_powers(set_ticks: Callable[..., Any], decade: float, powers: Iterable[int]) -> None:
    """Label powers of ten on an axis of cells, of which ``decade`` make a decade."""
    labels = {power: f"$10^{{{power}}}$" for power in powers}
    first = min(labels)
    set_ticks([0.5 + decade * (power - first) for power in labels], list(labels.values()))


DIAGRAMS: dict[str, Diagram] = {
    "extra-omega": omega_draws,
    "extra-regimes": regime_map,
    "extra-budgets-ratio": budgets_by_ratio,
    "extra-budgets-hardness": budgets_by_hardness,
    "extra-bound": error_and_bound,
    "extra-log-error": log_error,
    "extra-gauss-delta": gauss_delta,
}
