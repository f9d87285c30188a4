"""Figures of the comparison: the map of winners, the price of privacy, bad instances, tuning."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from dpbandits.comparisons.choosing import WINNER, family_scores, mean_scores, tuning, winners
from dpbandits.comparisons.field import APPROXIMATE, DESCRIPTIONS, LOCAL, PLAYERS, PURE, SHOWN
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram
from dpbandits.reporting.palette import look_of
from dpbandits.reporting.style import add_legend

EPSILON = r"$\epsilon$"
PRICE = "regret over the best\nwithout privacy"

MODELS = {"central": (PURE, APPROXIMATE), "local": (LOCAL,)}
"""Row of panels -> the classes of the algorithms that are drawn there."""

WORST_EPSILONS = (0.2, 1.0)
"""Budgets with a row of panels in the figure of bad instances."""

MAP_WIDTH = 5.0
"""Width of the map in inches: it is read on small screens too."""

TIED = "#e0e0e0"
"""Colour of ties."""


def draw_map(rows: pd.DataFrame) -> Drawn:
    """Return the map and its points: series (class, K, T and winner), x epsilon, y the margin."""
    table = winners(mean_scores(family_scores(rows)))
    table = table[table["class"].isin(SHOWN)]
    classes = [name for name in SHOWN if name in set(table["class"])]
    counts = sorted(table["arms"].unique())
    lengths = [sorted(table["horizon"][table["arms"] == count].unique()) for count in counts]
    height = 0.3 * sum(map(len, lengths)) / len(counts) + 0.4
    shape = len(counts), len(classes)
    drawn, panels = _panels(*shape, EPSILON, MAP_WIDTH, height, height_ratios=[*map(len, lengths)])
    for count, horizons, line in zip(counts, lengths, panels, strict=True):
        for name, axes in zip(classes, line, strict=True):
            field = table[(table["class"] == name) & (table["arms"] == count)]
            _draw_cells(axes, field, sorted(table["epsilon"].unique()), horizons)
            axes.set_title(f"{DESCRIPTIONS[name]}: K = {count}", fontsize=7.5)
        line[0].set_ylabel("horizon $T$")
    add_legend(drawn, _map_handles(table))
    won = table["verdict"] == WINNER
    names = table["first"].where(won, "tie of " + table["first"] + " and " + table["second"])
    setting = table["class"] + ", K = " + table["arms"].astype(str)
    series = setting + ", T = " + table["horizon"].astype(str) + ": " + names
    ends = {"lo": "margin_lo", "hi": "margin_hi"}
    values = {"x": table["epsilon"], "y": table["margin"]} | {k: table[v] for k, v in ends.items()}
    return drawn, pd.DataFrame({"series": series, **values, "variant": ""})


def _draw_cells(axes: Axes, field: pd.DataFrame, budgets: list[float], lengths: list[int]) -> None:
    """Draw a cell for each budget and horizon: the winner's colour, or the marks of those tied.

    The number is the second score over the first; ``log`` where open logarithms decide.
    """
    for row in field.to_dict("records"):
        x, y = budgets.index(row["epsilon"]), lengths.index(row["horizon"])
        is_won = row["verdict"] == WINNER
        colour = look_of(row["first"]).colour if is_won else TIED
        cell: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.0}
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1.0, 1.0, **cell))
        if is_won:
            text = f"{row['margin']:.1f}" if row["margin"] < 9.95 else f"{row['margin']:.0f}"
            axes.text(x, y, text, fontsize=7, ha="center", va="center", color="white")
            continue
        for place, name in ((-0.2, row["first"]), (0.2, row["second"])):
            axes.plot(x + place, y + 0.15, **_mark(name), markersize=4.5)
        text = "log" if row["default"] else "="
        axes.text(x, y - 0.27, text, fontsize=7, ha="center", va="center")
    axes.grid(visible=False)
    axes.set_xlim(-0.5, len(budgets) - 0.5)
    axes.set_ylim(-0.5, len(lengths) - 0.5)
    axes.set_xticks(range(len(budgets)), [f"{budget:g}" for budget in budgets])
    axes.set_yticks(range(len(lengths)), [rf"$10^{{{math.log10(t):.0f}}}$" for t in lengths])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _mark(algorithm: str) -> dict[str, Any]:
    look = look_of(algorithm)
    return {"marker": look.marker, "color": look.colour, "linestyle": "none"}


def _map_handles(table: pd.DataFrame) -> dict[str, Artist]:
    """Return the legend: the colour of every winner, the mark of all that tie, and ties."""
    is_won = table["verdict"] == WINNER
    won, tied = set(table["first"][is_won]), {*table["first"][~is_won], *table["second"][~is_won]}
    handles: dict[str, Artist] = {
        PLAYERS[algorithm][0]: Patch(facecolor=look_of(algorithm).colour)
        for algorithm in PLAYERS
        if algorithm in won
    }
    handles |= {
        PLAYERS[algorithm][0]: Line2D([], [], **_mark(algorithm), markersize=5)
        for algorithm in PLAYERS
        if algorithm in tied - won
    }
    return {**handles, "tie of two, or (log) open bases decide": Patch(facecolor=TIED)}


def draw_price(rows: pd.DataFrame) -> Drawn:
    """Return the price of privacy over epsilon, at the longest horizon that all K have."""
    means = at_common_horizon(mean_scores(family_scores(rows)))
    counts = sorted(means["arms"].unique())
    points = []
    drawn, panels = _panels(len(MODELS), len(counts), EPSILON, sharey="row")
    for (model, classes), line in zip(MODELS.items(), panels, strict=True):
        for count, axes in zip(counts, line, strict=True):
            field = means[(means["arms"] == count) & means["kind"].isin(classes)]
            points += _lines(axes, field, f"{model}, K = {count}")
            axes.axhline(1.0, color="black", linewidth=0.8)
            _round_ticks(axes, "y")
            axes.set_title(f"{model}, K = {count}, T = {means['horizon'].iloc[0]:,}")
        line[0].set_ylabel(PRICE)
    return drawn, pd.concat(points, ignore_index=True)


def at_common_horizon(means: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the longest horizon that was played with every number of arms."""
    counts = means.groupby("horizon")["arms"].nunique()
    longest = int(counts[counts == means["arms"].nunique()].index.max())
    return means[means["horizon"] == longest]


def _lines(axes: Axes, field: pd.DataFrame, place: str) -> list[pd.DataFrame]:
    """Draw a line with its interval for each algorithm and default base; return the points."""
    columns = {"epsilon": "x", "price": "y", "price_lo": "lo", "price_hi": "hi"}
    field = field.drop(columns=["lo", "hi"]).rename(columns=columns).sort_values("x")
    points = []
    for algorithm, (name, _) in PLAYERS.items():
        line = field[field["algorithm"] == algorithm]
        if not line.empty:
            _line(axes, line, look_of(algorithm), name)
            points.append(line.assign(series=f"{place}: {name}"))
    _budget_ticks(axes, sorted(field["x"].unique()))
    return points


def _line(axes: Axes, line: pd.DataFrame, look: palette.Look, label: str) -> None:
    axes.plot(line["x"], line["y"], label=label, **style.line_look(look))
    shaded: dict[str, Any] = {"color": look.colour, "alpha": 0.18, "linewidth": 0}
    axes.fill_between(line["x"], line["lo"], line["hi"], **shaded)


def draw_worst(rows: pd.DataFrame) -> Drawn:
    """Return the price of privacy, its mean and what one instance in ten exceeds, by algorithm."""
    means = at_common_horizon(mean_scores(family_scores(rows)))
    counts, points = sorted(means["arms"].unique()), []
    drawn, panels = _panels(len(WORST_EPSILONS), len(counts), PRICE, sharey="row")
    for epsilon, line in zip(WORST_EPSILONS, panels, strict=True):
        private = means[means["epsilon"] == epsilon]
        level = np.log(private["price"]).groupby(private["algorithm"]).mean()
        order = list(level.sort_values(kind="stable").index)
        for count, axes in zip(counts, line, strict=True):
            field = private[private["arms"] == count]
            points += _dumbbells(axes, field, f"K = {count}, epsilon = {epsilon:g}", order)
            axes.set_title(
                f"{EPSILON} = {epsilon:g}, K = {count}, T = {field['horizon'].iloc[0]:,}"
            )
    look: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "none"}
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.8}
    handles = {
        "geometric mean over the instances": Line2D([], [], **look),
        "one instance in ten is worse": Line2D([], [], **look, **hollow),
    }
    add_legend(drawn, handles)
    return drawn, pd.concat(points, ignore_index=True)


def _dumbbells(axes: Axes, field: pd.DataFrame, place: str, order: list[str]) -> list[pd.DataFrame]:
    """Draw a line for each algorithm from the mean (full mark) to the tail (open mark).

    Return the plotted numbers: x the ratio, y the line from the top.
    """
    for row in field.to_dict("records"):
        y, mark = order.index(row["algorithm"]), _mark(row["algorithm"])
        axes.plot([row["price"], row["tail"]], [y] * 2, color=mark["color"], linewidth=0.9)
        axes.plot(row["price"], y, **mark)
        axes.plot(row["tail"], y, **mark, markerfacecolor="white", markeredgewidth=0.8)
    axes.set_yticks(range(len(order)), [PLAYERS[name][0] for name in order], fontsize=7)
    axes.set_ylim(len(order) - 0.4, -0.6)
    _round_ticks(axes, "x")
    lines = field["algorithm"].map(order.index)
    names = field["algorithm"].map(lambda algorithm: PLAYERS[algorithm][0])
    ends = dict.fromkeys(("y", "lo", "hi"), lines)
    return [
        field.assign(x=field[key], **ends, series=f"{place}: " + names + f", {words}")
        for key, words in (("price", "mean"), ("tail", "one in ten"))
    ]


def draw_tuning(frames: pd.DataFrame) -> Drawn:
    """Return the regret of Modified TS without pre-pulls over that with the tuned number."""
    is_untuned = frames["share"].notna()
    table = tuning({"regret": frames[~is_untuned], "untuned": frames[is_untuned]})
    table = table.rename(columns={"epsilon": "x", "gain": "y"})
    counts, horizons = (sorted(table[key].unique()) for key in ("arms", "horizon"))
    points = []
    drawn, panels = _panels(1, len(horizons), EPSILON, sharey=True)
    for horizon, axes in zip(horizons, panels[0], strict=True):
        for count, look in zip(counts, palette.ordered_looks(len(counts)), strict=True):
            line = table[(table["horizon"] == horizon) & (table["arms"] == count)]
            _line(axes, line, look, f"K = {count}")
            named = line.assign(series=f"K = {count}, T = {horizon}")
            points.append(named.assign(variant="as-written", runs=0))
        axes.axhline(1.0, color="black", linewidth=0.8)
        _round_ticks(axes, "y")
        _budget_ticks(axes, sorted(table["x"].unique()))
        axes.set_title(f"T = {horizon:,}")
    panels[0, 0].set_ylabel("regret untuned over tuned")
    return drawn, pd.concat(points, ignore_index=True)


def _panels(
    rows: int, columns: int, x: str, width: float = 0.0, height: float = 1.9, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its panels, of which the lowest have the label of x."""
    width = width or (style.WIDE_PAGE if columns > 2 else style.PAGE_WIDTH)
    drawn, panels = canvas(rows, columns, width, height, **options)
    for axes in panels[-columns:]:
        axes.set_xlabel(x)
    return drawn, np.array(panels).reshape(rows, columns)


def _budget_ticks(axes: Axes, budgets: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    axes.minorticks_off()


def _round_ticks(axes: Axes, which: str) -> None:
    """Give a logarithmic axis few round ticks, as plain numbers, also where it has no decade."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    getattr(axes, f"set_{which}scale")("log")
    low, high = getattr(axes, f"get_{which}lim")()
    subs = (1.0,) if high / low > 50.0 else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(style.thousands))
    axis.set_minor_locator(NullLocator())


DIAGRAMS: dict[str, Diagram] = {
    "extra-map": draw_map,
    "extra-price": draw_price,
    "extra-worst": draw_worst,
    "extra-tuning": draw_tuning,
}
"""Diagrams by figure, as the experiments file lists them."""
