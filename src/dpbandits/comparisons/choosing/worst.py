"""The worst family of instances beside the mean over the families."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.comparisons.choosing.curves import full_horizon, round_ticks
from dpbandits.comparisons.choosing.players import NONE, PLAYERS
from dpbandits.comparisons.choosing.scores import family_scores, mean_scores
from dpbandits.reporting import style
from dpbandits.reporting.palette import look_of

SHOWN = (0.2, 1.0, 5.0)
"""Budgets with a row of panels."""


def draw_worst(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return regret over that of the best algorithm without privacy: mean, and worst family.

    Args:
        rows: the comparison of regret.
    """
    means = mean_scores(family_scores(rows))
    private = means[means["kind"] != NONE]
    counts = sorted(private["arms"].unique())
    shown = [
        each
        for each in PLAYERS
        if each in set(private["algorithm"][private["epsilon"].isin(SHOWN)])
    ]
    points = []
    with style.context():
        size = (style.WIDE_PAGE, (0.155 * len(shown) + 0.5) * len(SHOWN) + 0.6)
        drawn = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(drawn)
        panels = drawn.subplots(len(SHOWN), len(counts), squeeze=False, sharey=True, sharex="col")
        for epsilon, line in zip(SHOWN, panels, strict=True):
            for count, axes in zip(counts, line, strict=True):
                horizon = full_horizon(means, count)
                is_here = (private["arms"] == count) & (private["horizon"] == horizon)
                own = private[is_here & (private["epsilon"] == epsilon)]
                _draw_panel(axes, own, shown)
                round_ticks(axes, "x")
                axes.set_title(
                    rf"K = {count}, T = {horizon:,}, $\epsilon$ = {epsilon:g}", fontsize=7
                )
                points.append(_points(own, f"K = {count}, T = {horizon}, epsilon = {epsilon:g}"))
        for axes in panels[-1]:
            axes.set_xlabel("regret over the best without privacy", fontsize=7)
        drawn.legend(handles=_handles(), loc="outside upper center", ncols=2)
    return drawn, pd.concat(points, ignore_index=True)


def _draw_panel(axes: Axes, own: pd.DataFrame, shown: list[str]) -> None:
    """Draw a line for each algorithm from the mean (full mark) to the worst family (open)."""
    for row in own.to_dict("records"):
        place, look = shown.index(row["algorithm"]), look_of(row["algorithm"])
        drawn: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "none"}
        axes.plot([row["price"], row["worst"]], [place, place], color=look.colour, linewidth=0.9)
        axes.plot(row["price"], place, **drawn)
        axes.plot(row["worst"], place, **drawn, markerfacecolor="white", markeredgewidth=0.8)
    axes.set_yticks(range(len(shown)), [PLAYERS[each][0] for each in shown], fontsize=6)
    axes.set_ylim(len(shown) - 0.4, -0.6)


def _handles() -> list[Line2D]:
    look: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "none"}
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.8}
    return [
        Line2D([], [], label="mean over the families", **look),
        Line2D([], [], label="worst family", **look, **hollow),
    ]


def _points(own: pd.DataFrame, place: str) -> pd.DataFrame:
    """Return the plotted numbers: x the ratio, y the line from the top."""
    names = [PLAYERS[each][0] for each in own["algorithm"]]
    worst = own["worst_instance"].tolist()
    order = np.array([list(PLAYERS).index(each) for each in own["algorithm"]])
    shared = {
        "variant": own["variant"],
        "interpretation": own["interpretation"],
        "runs": own["runs"],
    }
    ends = dict.fromkeys(("y", "lo", "hi"), order)
    mean = pd.DataFrame({**shared, **ends, "x": own["price"]})
    mean["series"] = [f"{place}: {name}, mean" for name in names]
    most = pd.DataFrame({**shared, **ends, "x": own["worst"]})
    most["series"] = [f"{place}: {name}, {each}" for name, each in zip(names, worst, strict=True)]
    return pd.concat([mean, most], ignore_index=True)
