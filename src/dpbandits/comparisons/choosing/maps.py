"""The map of winners: a panel for each class of privacy and number of arms."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from dpbandits.comparisons.choosing.players import DESCRIPTIONS, PLAYERS, SHOWN
from dpbandits.comparisons.choosing.scores import family_scores, mean_scores
from dpbandits.comparisons.choosing.winners import WINNER, winners
from dpbandits.reporting import style
from dpbandits.reporting.palette import look_of

FULL = 4.0
"""Ratio of the second score to the first from which on a colour is full."""

PALEST = 0.25
"""Strength of the colour of a winner whose score is that of the second."""

TIED = "#eeeeee"
"""Colour of ties."""


def draw_map(rows: pd.DataFrame, length: str) -> tuple[Figure, pd.DataFrame]:
    """Return the map and its points: series (class, K, T and winner), x epsilon, y the margin.

    It has those questions alone that all algorithms were played at.

    Args:
        rows: results of a comparison.
        length: what a horizon is called on the y axis.
    """
    table = winners(mean_scores(family_scores(rows)))
    table = table[table["class"].isin(SHOWN) & (table["left_out"] == "")]
    classes = [each for each in SHOWN if each in set(table["class"])]
    counts = sorted(table["arms"].unique())
    lengths = {count: sorted(table["horizon"][table["arms"] == count].unique()) for count in counts}
    budgets = sorted(table["epsilon"].unique())
    with style.context():
        height = 0.3 * max(map(len, lengths.values())) + 0.55
        size = (style.WIDE_PAGE, height * len(classes) + 1.1)
        drawn = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(drawn)
        panels = drawn.subplots(len(classes), len(counts), squeeze=False)
        for name, line in zip(classes, panels, strict=True):
            for count, axes in zip(counts, line, strict=True):
                own = table[(table["class"] == name) & (table["arms"] == count)]
                _draw_panel(axes, own, budgets, lengths[count])
                axes.set_title(f"K = {count}: {DESCRIPTIONS[name]}", fontsize=7)
        for axes in panels[-1]:
            axes.set_xlabel(r"$\epsilon$")
        for axes in panels[:, 0]:
            axes.set_ylabel(length)
        handles = _handles(table)
        drawn.legend(handles=handles, loc="outside upper center", ncols=5)
    return drawn, _points(table)


def _draw_panel(axes: Axes, own: pd.DataFrame, budgets: list[float], lengths: list[int]) -> None:
    """Draw a cell for each budget and horizon: the winner's colour and mark, or those tied.

    Where the winner depends on open logarithms, ``log`` is in the place of the sign of a tie.
    """
    for row in own.to_dict("records"):
        x, y = budgets.index(row["epsilon"]), lengths.index(row["horizon"])
        is_won = row["verdict"] == WINNER
        colour = shade(row["first"], row["margin"]) if is_won else TIED
        cell: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.0}
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1.0, 1.0, **cell))
        if is_won:
            _mark(axes, row["first"], (x, y + 0.17), "black")
            text = f"{row['margin']:.1f}" if row["margin"] < 9.95 else f"{row['margin']:.0f}"
            text = text if math.isfinite(row["margin"]) else ""
        else:
            for place, each in enumerate((row["first"], row["second"])):
                _mark(axes, each, (x - 0.2 + 0.4 * place, y + 0.17), look_of(each).colour)
            text = "log" if row["default"] else "="
        axes.text(x, y - 0.24, text, fontsize=5.5, ha="center", va="center")
    axes.grid(False)
    axes.set_xlim(-0.5, len(budgets) - 0.5)
    axes.set_ylim(-0.5, len(lengths) - 0.5)
    axes.set_xticks(range(len(budgets)), [f"{each:g}" for each in budgets])
    axes.set_yticks(range(len(lengths)), [rf"$10^{{{math.log10(each):.0f}}}$" for each in lengths])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def shade(algorithm: str, margin: float) -> tuple[float, float, float]:
    """Return the colour of an algorithm, paler where its margin over the second is smaller.

    Args:
        algorithm: any id.
        margin: the second score over its own, at least 1; NaN where its own is 0.
    """
    share = min(math.log(margin) / math.log(FULL), 1.0) if math.isfinite(margin) else 1.0
    strength = PALEST + (1.0 - PALEST) * share
    colour = np.array(to_rgb(look_of(algorithm).colour))
    red, green, blue = (1.0 - strength * (1.0 - colour)).tolist()
    return red, green, blue


def _mark(axes: Axes, algorithm: str, place: tuple[float, float], colour: str) -> None:
    axes.plot(
        *place, marker=look_of(algorithm).marker, color=colour, markersize=4.0, linestyle="none"
    )


def _handles(table: pd.DataFrame) -> list[Any]:
    """Return what the legend shows: every algorithm that is first anywhere, and ties."""
    shown = {*table["first"], *table["second"][table["verdict"] != WINNER]}
    handles: list[Any] = [
        Line2D(
            [],
            [],
            label=name,
            marker=look_of(each).marker,
            markersize=5,
            linestyle="none",
            color=look_of(each).colour,
        )
        for each, (name, _) in PLAYERS.items()
        if each in shown
    ]
    depends = (table["verdict"] != WINNER) & (table["default"] != "")
    more = ", or (log) the logarithm decides" if depends.any() else ""
    handles.append(Patch(facecolor=TIED, label=f"tie of the two best{more}"))
    return handles


def _points(table: pd.DataFrame) -> pd.DataFrame:
    """Return the plotted numbers."""
    won = table["verdict"] == WINNER
    names = table["first"].where(won, "tie of " + table["first"] + " and " + table["second"])
    setting = table["class"] + ", K = " + table["arms"].astype(str)
    series = setting + ", T = " + table["horizon"].astype(str) + ": " + names
    points = pd.DataFrame({"series": series, "variant": "", "interpretation": ""})
    margin = dict.fromkeys(("y", "lo", "hi"), table["margin"])
    return points.assign(x=table["epsilon"], **margin, runs=0)
