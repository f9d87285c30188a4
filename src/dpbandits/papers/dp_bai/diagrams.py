"""Supplementary diagrams: success over draws of the omegas (BAI-E5), and Table 1 as a map."""

import math
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
from dpbandits.papers.dp_bai import needs_diagrams
from dpbandits.papers.panels import canvas, table
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram
from dpbandits.reporting.lines import LEVEL, rate_of

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
    "extra-budgets-ratio": needs_diagrams.budgets_by_ratio,
    "extra-budgets-hardness": needs_diagrams.budgets_by_hardness,
    "extra-bound": needs_diagrams.error_and_bound,
    "extra-log-error": needs_diagrams.log_error,
    "extra-gauss-delta": needs_diagrams.gauss_delta,
}
"""Diagrams by figure, as the experiments file lists them."""
