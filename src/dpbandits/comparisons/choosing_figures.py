"""Figures of the comparison: the maps of winners, what constants change, and bad instances."""

import math
from collections.abc import Collection
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from dpbandits.comparisons.choosing import BINARY, WINNER, constants, mean_scores, winners
from dpbandits.comparisons.field import AS_PRINTED, LOCAL, NAMES, NONE, PURE, TUNED
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram

EPSILON = r"$\varepsilon$"
PRICE = "Regret / that without privacy"

ANSWERS = (AS_PRINTED, TUNED)

HORIZON = 100_000
"""Horizon of the panels on constants and on bad instances, at which every constant is played."""

MAP_WIDTH = 5.0
"""Width of a map in inches: it is read on small screens too."""

TIED = "#e0e0e0"
"""Colour of ties."""

HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.8}


def draw_map(rows: pd.DataFrame, privacy: str = PURE) -> Drawn:
    """Return a map and its points: series (answer, K, T and winner), x epsilon, y the margin."""
    table = winners(mean_scores(rows))
    table = table[(table["privacy"] == privacy) & (table["family"] == BINARY)]
    lengths = {count: sorted(set(part["horizon"])) for count, part in table.groupby("arms")}
    tall = [*map(len, lengths.values())]
    size = MAP_WIDTH, 0.3 * sum(tall) / len(tall) + 0.4
    labels = EPSILON, "Horizon $T$"
    drawn, panels = _panels(lengths, ANSWERS, labels, size, height_ratios=tall)
    for (count, answer), axes in panels.items():
        field = table[(table["answer"] == answer) & (table["arms"] == count)]
        _draw_cells(axes, field, sorted(table["epsilon"].unique()), lengths[count])
        axes.set_title(f"K = {count}, {answer}", fontsize=7.5)
    style.add_legend(drawn, *_map_handles(table))
    names = table["first"].where(
        table["verdict"] == WINNER, "tie of " + table["first"] + " and " + table["second"]
    )
    place = table["answer"] + ", K = " + table["arms"].astype(str)
    series = place + ", T = " + table["horizon"].astype(str) + ": " + names
    columns = {"epsilon": "x", "margin": "y", "margin_lo": "lo", "margin_hi": "hi"}
    return drawn, table.rename(columns=columns).assign(series=series, variant="")


def _draw_cells(axes: Axes, field: pd.DataFrame, budgets: list[float], lengths: list[int]) -> None:
    """Draw a cell for each budget and horizon: the winner's mark on its colour, or those tied."""
    for row in field.to_dict("records"):
        x, y = budgets.index(row["epsilon"]), lengths.index(row["horizon"])
        is_won = row["verdict"] == WINNER
        colour = palette.look_of(row["first"]).colour if is_won else TIED
        cell: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.0}
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1.0, 1.0, **cell))
        if is_won:
            text = f"{row['margin']:.1f}" if row["margin"] < 9.95 else f"{row['margin']:.0f}"
            axes.plot(x - 0.2, y, **_mark(row["first"]) | {"color": "white"}, markersize=4.5)
            axes.text(x + 0.1, y, text, fontsize=7, ha="center", va="center", color="white")
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


def _map_handles(table: pd.DataFrame) -> tuple[dict[str, Artist], dict[str, str]]:
    """Return the legend, and what each entry belongs to: colours, marks, what a cell says."""
    is_won = table["verdict"] == WINNER
    won, shown = set(table["first"][is_won]), {*table["first"], *table["second"][~is_won]}
    handles: dict[str, Artist] = {
        f"{NAMES[name]} wins": Patch(facecolor=palette.look_of(name).colour)
        for name in NAMES
        if name in won
    }
    for name in NAMES:
        if name in shown:
            handles[NAMES[name]] = Line2D([], [], **_mark(name), markersize=5)
    said = {"1.8": "the second has 1.8 times the regret"}
    if not is_won.all():
        said["="] = "tie of the two that are marked"
    if (~is_won & (table["as_ranked"] != "")).any():
        said["log"] = "another base of a logarithm decides"
    for text, words in said.items():
        look: dict[str, Any] = {"marker": f"${text}$", "markersize": 5.0 * len(text) ** 0.5 + 4.0}
        handles[words] = Line2D(
            [], [], **look, color="black", markeredgewidth=0.1, linestyle="none"
        )
    kinds = {label: "Marks" if label in NAMES.values() else "Colours" for label in handles}
    return handles, kinds | dict.fromkeys(said.values(), "In a cell")


def _price_panels(count: int, columns: Collection[Any], rows: Collection[Any]) -> Any:
    """Return panels of prices, high enough for this number of algorithms in each."""
    size = style.WIDE_PAGE if len(columns) > 2 else style.PAGE_WIDTH, 0.16 * count + 0.6
    return _panels(rows, columns, (PRICE, ""), size, sharey="row", sharex=True)


def _private(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the ranked scores of private algorithms with 5 and 20 arms, and their order."""
    means = mean_scores(rows[rows["answer"].isin(ANSWERS)])
    means = means[means["ranked"] & (means["privacy"] != NONE) & (means["family"] == BINARY)]
    means = means[(means["horizon"] == min(HORIZON, means["horizon"].max()))]
    means = means[means["arms"].isin([5, 20])]
    level = means[means["answer"] == TUNED].groupby("algorithm")["level"].mean()
    return means, list(level.sort_values(kind="stable").index)


def draw_constants(rows: pd.DataFrame) -> Drawn:
    """Return the price with the printed and with the tuned constant, and with the best of all."""
    means, order = _private(rows)
    frames = {name: rows[rows["answer"] == name] for name in ("tuning", "grid")}
    table = constants({**frames, "check": rows.iloc[:0]})
    names = ["algorithm", "arms", "horizon", "epsilon"]
    means = means.merge(table[[*names, "missed"]], on=names, how="left")
    drawn, panels = _price_panels(
        len(order), sorted(set(means["epsilon"])), sorted(set(means["arms"]))
    )
    points = []
    for (count, epsilon), axes in panels.items():
        field = means[(means["arms"] == count) & (means["epsilon"] == epsilon)]
        printed, own = (field[field["answer"] == name] for name in ANSWERS)
        best = own.assign(price=own["price"] / own["missed"])
        parts = {"as printed": printed, "tuned": own, "best constant here": best}
        points += _dumbbells(axes, parts, f"K = {count}, epsilon = {epsilon:g}", order)
        axes.set_title(f"K = {count}, {EPSILON} = {epsilon:g}")
    return _with_marks(drawn, ("as printed", "tuned", "best constant here")), pd.concat(points)


def draw_worst(rows: pd.DataFrame) -> Drawn:
    """Return the price, what one run in ten exceeds, and the worst instance, at epsilon 1."""
    means, order = _private(rows)
    means = means[means["epsilon"] == 1.0]
    labels = ("one run in ten is worse", "geometric mean over instances", "worst instance")
    drawn, panels = _price_panels(len(order), sorted(set(means["arms"])), ANSWERS)
    points = []
    for (answer, count), axes in panels.items():
        field = means[(means["arms"] == count) & (means["answer"] == answer)]
        keys = ("tail", "price", "worst")
        parts = {
            label: field.assign(price=field[key]) for label, key in zip(labels, keys, strict=True)
        }
        points += _dumbbells(axes, parts, f"K = {count}, {answer}", order)
        axes.set_title(f"K = {count}, {EPSILON} = 1, {answer}")
    return _with_marks(drawn, labels), pd.concat(points)


LOOKS: tuple[dict[str, Any], ...] = (
    HOLLOW,
    {},
    {"marker": "|", "markersize": 7, "markeredgewidth": 1.2},
)
"""Looks of the three marks of an algorithm: open, full, and a stroke."""


def _dumbbells(
    axes: Axes, parts: dict[str, pd.DataFrame], place: str, order: list[str]
) -> list[pd.DataFrame]:
    """Draw a line for each algorithm through its three marks; return the ratios as x."""
    points = []
    for (label, part), look in zip(parts.items(), LOOKS, strict=True):
        for row in part.to_dict("records"):
            axes.plot(row["price"], order.index(row["algorithm"]), **_mark(row["algorithm"]) | look)
        lines = part["algorithm"].map(order.index)
        ends = dict.fromkeys(("y", "lo", "hi"), lines)
        series = f"{place}: " + part["algorithm"].map(NAMES) + f", {label}"
        points.append(part.assign(x=part["price"], **ends, series=series))
    for name, own in pd.concat(parts.values()).groupby("algorithm"):
        whole = [own["price"].min(), own["price"].max()]
        axes.plot(whole, [order.index(str(name))] * 2, color=_mark(str(name))["color"], lw=0.9)
    axes.set_yticks(range(len(order)), [NAMES[name] for name in order], fontsize=7)
    axes.set_ylim(len(order) - 0.4, -0.6)
    _round_ticks(axes)
    return points


def _with_marks(drawn: Figure, labels: tuple[str, ...]) -> Figure:
    """Return a figure with a legend of the three marks."""
    base: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "none"}
    handles = {
        label: Line2D([], [], **base | look) for label, look in zip(labels, LOOKS, strict=True)
    }
    style.add_legend(drawn, handles)
    return drawn


def _panels(
    rows: Collection[Any],
    columns: Collection[Any],
    labels: tuple[str, str],
    size: tuple[float, float],
    **options: Any,
) -> tuple[Figure, dict[tuple[Any, Any], Axes]]:
    """Return a figure and its panels by row and column; labels are below and to the left."""
    drawn, panels = canvas(len(rows), len(columns), *size, **options)
    for axes in panels[-len(columns) :]:
        axes.set_xlabel(labels[0])
    for axes in panels[:: len(columns)]:
        axes.set_ylabel(labels[1])
    return drawn, dict(zip(product(rows, columns), panels, strict=True))


def _round_ticks(axes: Axes) -> None:
    """Give a logarithmic x axis few round ticks, as plain numbers, also where it has no decade."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1.0,) if high / low > 50.0 else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(style.thousands))
    axes.xaxis.set_minor_locator(NullLocator())


DIAGRAMS: dict[str, Diagram] = {
    "extra-map": draw_map,
    "extra-map-local": partial(draw_map, privacy=LOCAL),
    "extra-constants": draw_constants,
    "extra-worst": draw_worst,
}
"""Diagrams by figure, as the experiments file lists them."""
