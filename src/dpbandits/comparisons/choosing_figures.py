"""Figures of the comparison: the map of winners, the price of privacy, bad instances, tuning."""

import math
from collections.abc import Collection
from itertools import product
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
from dpbandits.comparisons.field import APPROXIMATE, DESCRIPTIONS, LOCAL, NAMES, PURE, SHOWN
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram

EPSILON = r"$\epsilon$"
PRICE = "regret over the best\nwithout a budget"

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
    lengths = {count: sorted(set(part["horizon"])) for count, part in table.groupby("arms")}
    tall = [*map(len, lengths.values())]
    size = MAP_WIDTH, 0.3 * sum(tall) / len(tall) + 0.4
    labels = EPSILON, "horizon $T$"
    drawn, panels = _panels(lengths, classes, labels, size, height_ratios=tall)
    for (count, name), axes in panels.items():
        field = table[(table["class"] == name) & (table["arms"] == count)]
        _draw_cells(axes, field, sorted(table["epsilon"].unique()), lengths[count])
        axes.set_title(f"{DESCRIPTIONS[name]}: K = {count}", fontsize=7.5)
    style.add_legend(drawn, _map_handles(table))
    won = table["verdict"] == WINNER
    names = table["first"].where(won, "tie of " + table["first"] + " and " + table["second"])
    setting = table["class"] + ", K = " + table["arms"].astype(str)
    series = setting + ", T = " + table["horizon"].astype(str) + ": " + names
    columns = {"epsilon": "x", "margin": "y", "margin_lo": "lo", "margin_hi": "hi"}
    return drawn, table.rename(columns=columns).assign(series=series, variant="")


def _draw_cells(axes: Axes, field: pd.DataFrame, budgets: list[float], lengths: list[int]) -> None:
    """Draw a cell for each budget and horizon: the winner's colour, or the marks of those tied.

    The number is the second score over the first; ``log`` where open logarithms decide.
    """
    for row in field.to_dict("records"):
        x, y = budgets.index(row["epsilon"]), lengths.index(row["horizon"])
        is_won = row["verdict"] == WINNER
        colour = palette.look_of(row["first"]).colour if is_won else TIED
        cell: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.0}
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1.0, 1.0, **cell))
        if is_won:
            text = f"{row['margin']:.1f}" if row["margin"] < 9.95 else f"{row['margin']:.0f}"
            axes.text(x, y, text, fontsize=7, ha="center", va="center", color="white")
            continue
        for place, name in ((-0.2, row["first"]), (0.2, row["second"])):
            axes.plot(x + place, y + 0.15, **_mark(name), markersize=4.5)
        text = "log" if row["as_ranked"] else "="
        axes.text(x, y - 0.27, text, fontsize=7, ha="center", va="center")
    axes.grid(visible=False)
    axes.set(xlim=(-0.5, len(budgets) - 0.5), ylim=(-0.5, len(lengths) - 0.5))
    axes.set_xticks(range(len(budgets)), [f"{budget:g}" for budget in budgets])
    axes.set_yticks(range(len(lengths)), [rf"$10^{{{math.log10(t):.0f}}}$" for t in lengths])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _mark(algorithm: str) -> dict[str, Any]:
    look = palette.look_of(algorithm)
    return {"marker": look.marker, "color": look.colour, "linestyle": "none"}


def _map_handles(table: pd.DataFrame) -> dict[str, Artist]:
    """Return the legend: the colour of every winner, the mark of all that tie, and ties."""
    is_won = table["verdict"] == WINNER
    won, tied = set(table["first"][is_won]), {*table["first"][~is_won], *table["second"][~is_won]}
    patches = {name: Patch(facecolor=palette.look_of(name).colour) for name in NAMES if name in won}
    marks = {
        name: Line2D([], [], **_mark(name), markersize=5) for name in NAMES if name in tied - won
    }
    named = {NAMES[name]: handle for name, handle in (patches | marks).items()}
    return {**named, "tie of two, or (log) open bases decide": Patch(facecolor=TIED)}


def draw_price(rows: pd.DataFrame) -> Drawn:
    """Return the price of privacy over epsilon, at the longest horizon that all K have."""
    means = common_means(rows)
    columns = {"epsilon": "x", "price": "y", "price_lo": "lo", "price_hi": "hi"}
    means = means.drop(columns=["lo", "hi"]).rename(columns=columns).sort_values("x")
    points = []
    drawn, panels = _panels(MODELS, sorted(set(means["arms"])), (EPSILON, PRICE), sharey="row")
    for (model, count), axes in panels.items():
        field = means[(means["arms"] == count) & means["kind"].isin(MODELS[model])]
        for algorithm in [name for name in NAMES if name in set(field["algorithm"])]:
            line, name = field[field["algorithm"] == algorithm], NAMES[algorithm]
            _draw_line(axes, line, palette.look_of(algorithm), name)
            points.append(line.assign(series=f"{model}, K = {count}: {name}"))
        _finish(axes, field["x"], f"{model}, K = {count}, T = {means['horizon'].iloc[0]:,}")
    return drawn, pd.concat(points, ignore_index=True)


def common_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ranked scores at the longest horizon that all numbers of arms were played at."""
    means = mean_scores(family_scores(rows))
    means = means[means["ranked"]]
    counts = means.groupby("horizon")["arms"].nunique()
    longest = int(counts[counts == means["arms"].nunique()].index.max())
    return means[means["horizon"] == longest]


def _draw_line(axes: Axes, line: pd.DataFrame, look: palette.Look, label: str) -> None:
    """Draw ratios over epsilon with their intervals."""
    axes.plot(line["x"], line["y"], label=label, **style.line_look(look))
    shaded: dict[str, Any] = {"color": look.colour, "alpha": 0.18, "linewidth": 0}
    axes.fill_between(line["x"], line["lo"], line["hi"], **shaded)


def _finish(axes: Axes, budgets: "pd.Series[float]", title: str) -> None:
    """Set the axes of ratios over epsilon, and the level 1."""
    axes.set_xscale("log")
    ticks = sorted(budgets.unique())
    axes.set_xticks(ticks, [f"{budget:g}" for budget in ticks])
    axes.minorticks_off()
    axes.axhline(1.0, color="black", linewidth=0.8)
    _round_ticks(axes, "y")
    axes.set_title(title)


def draw_worst(rows: pd.DataFrame) -> Drawn:
    """Return the price of privacy, its mean and what one instance in ten exceeds, by algorithm."""
    means = common_means(rows)
    points = []
    drawn, panels = _panels(WORST_EPSILONS, sorted(set(means["arms"])), (PRICE, ""), sharey="row")
    for (epsilon, count), axes in panels.items():
        private = means[means["epsilon"] == epsilon]
        level = np.log(private["price"]).groupby(private["algorithm"]).mean()
        order = list(level.sort_values(kind="stable").index)
        field = private[private["arms"] == count]
        points += _dumbbells(axes, field, f"K = {count}, epsilon = {epsilon:g}", order)
        title = f"{EPSILON} = {epsilon:g}, K = {count}, T = {field['horizon'].iloc[0]:,}"
        axes.set_title(title)
    look: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "none"}
    handles = {
        "geometric mean over the instances": Line2D([], [], **look),
        "one instance in ten is worse": Line2D([], [], **look | HOLLOW),
    }
    style.add_legend(drawn, handles)
    return drawn, pd.concat(points, ignore_index=True)


HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.8}


def _dumbbells(axes: Axes, field: pd.DataFrame, place: str, order: list[str]) -> list[pd.DataFrame]:
    """Draw a line for each algorithm from the mean (full mark) to the tail (open mark).

    Return the plotted numbers: x the ratio, y the line from the top.
    """
    for row in field.to_dict("records"):
        y, mark = order.index(row["algorithm"]), _mark(row["algorithm"])
        axes.plot([row["price"], row["tail"]], [y] * 2, color=mark["color"], linewidth=0.9)
        axes.plot(row["price"], y, **mark)
        axes.plot(row["tail"], y, **mark | HOLLOW)
    axes.set_yticks(range(len(order)), [NAMES[name] for name in order], fontsize=7)
    axes.set_ylim(len(order) - 0.4, -0.6)
    _round_ticks(axes, "x")
    lines = field["algorithm"].map(order.index)
    names = field["algorithm"].map(NAMES)
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
    labels = EPSILON, "regret untuned over tuned"
    points = []
    drawn, panels = _panels([""], horizons, labels, sharey=True)
    for (_, horizon), axes in panels.items():
        for count, look in zip(counts, palette.ordered_looks(len(counts)), strict=True):
            line = table[(table["horizon"] == horizon) & (table["arms"] == count)]
            _draw_line(axes, line, look, f"K = {count}")
            points.append(line.assign(series=f"K = {count}, T = {horizon}"))
        _finish(axes, table["x"], f"T = {horizon:,}")
    return drawn, pd.concat(points, ignore_index=True)


def _panels(
    rows: Collection[Any],
    columns: Collection[Any],
    labels: tuple[str, str],
    size: tuple[float, float] | None = None,
    **options: Any,
) -> tuple[Figure, dict[tuple[Any, Any], Axes]]:
    """Return a figure and its panels by row and column; labels stand below and to the left."""
    usual = (style.WIDE_PAGE if len(columns) > 2 else style.PAGE_WIDTH, 1.9)
    drawn, panels = canvas(len(rows), len(columns), *(size or usual), **options)
    for axes in panels[-len(columns) :]:
        axes.set_xlabel(labels[0])
    for axes in panels[:: len(columns)]:
        axes.set_ylabel(labels[1])
    return drawn, dict(zip(product(rows, columns), panels, strict=True))


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
