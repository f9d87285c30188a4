"""Supplementary diagrams: success over draws of the omegas (E5), and Table 1 as a map."""

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy.stats import binom

from dpbandits.papers.dp_bai import needs_diagrams
from dpbandits.papers.panels import canvas, legend, table
from dpbandits.reporting import style
from dpbandits.reporting.diagrams import Diagram
from dpbandits.reporting.palette import COLOURS
from dpbandits.reporting.points import LEVEL, rate_of

ALGORITHMS = {
    "dp-bai": ("DP-BAI", "blue", "o"),
    "baseline": ("Baseline", "green", "s"),
    "dp-od": ("DP-OD", "vermillion", "^"),
    "od-linbai": ("OD-LinBAI", "black", "D"),
}
"""Id of an algorithm -> its name, colour and marker in every figure of the paper."""

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


def omega_draws(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw success on each draw of the omegas, sorted, beside what chance alone would spread."""
    rows = results[results["metric"] == "success"]
    labels, points = [], []
    with style.context():
        drawn, (axes,) = canvas(style.PAGE_WIDTH, style.PANEL_HEIGHT + 0.3)
        groups = rows.groupby(["algorithm", rows["epsilon"].fillna(0.0)], sort=False)
        for place, ((algorithm, epsilon), group) in enumerate(groups):
            name, colour, marker = ALGORITHMS[str(algorithm)]
            rates = pd.DataFrame(
                [{"x": draw, **rate_of(trials)} for draw, trials in group.groupby("draw")]
            )
            suffix = f", epsilon={epsilon:g}" if epsilon else ""
            points.append(rates.assign(series=name + suffix))
            labels.append(name + (f"\n$\\varepsilon$ = {epsilon:g}" if epsilon else ""))
            _draw_spread(axes, place, rates)
            spread = place + np.linspace(-0.36, 0.36, len(rates))
            look: dict[str, Any] = {"color": COLOURS[colour], "markersize": 2.6}
            axes.plot(spread, np.sort(rates["y"].to_numpy()), marker, label=name, **look)
        axes.set_xticks(range(len(labels)), labels)
        axes.grid(visible=False, axis="x")
        axes.set_xlim(-0.6, len(labels) - 0.4)
        style.style_axis(axes, "y", "linear")
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("Success rate")
        legend(drawn, [axes], 5)
    return drawn, table(pd.concat(points, ignore_index=True))


def _draw_spread(axes: Axes, place: int, rates: pd.DataFrame) -> None:
    """Draw the box that holds 95 % of rates whose chance of success is the mean over all draws."""
    trials = int(rates["runs"].iloc[0])
    chance = float(np.average(rates["y"], weights=rates["runs"]))
    low, high = binom.interval(LEVEL, trials, chance)
    label = "range expected from chance alone (95 %)"
    axes.fill_between(
        [place - 0.42, place + 0.42],
        low / trials,
        high / trials,
        color="#dddddd",
        linewidth=0,
        label="_" if place else label,
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
            axes.set_title(rf"({letter}) {title}, $\varepsilon$ = {epsilon:g}")
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
    ends = (np.full_like(lower, _BUDGETS[0]), lower, upper, np.full_like(lower, _BUDGETS[1]))
    for left, right, (colour, _) in zip(ends, ends[1:], REGIONS.values(), strict=False):
        axes.fill_betweenx(_DELTAS, left, right, where=right > left, color=colour, linewidth=0)
    for budgets, dash in ((lower, "dashed"), (upper, "solid")):
        axes.plot(budgets, _DELTAS, color="black", linewidth=0.8, linestyle=dash)
    style.style_axis(axes, "x", "log")
    style.style_axis(axes, "y", "log")
    axes.set_xlim(*_BUDGETS)
    axes.set_ylim(_DELTAS[0], 1.0)


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
