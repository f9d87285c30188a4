"""Figures 1 and 2: how DP-TS-UCB draws and how it batches, on the run of ``trace``."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from dpbandits.config.looks import COLOURS
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import palette
from dpbandits.reporting.draw import Diagram

SHOWN_ARM = 1
"""The arm of Figure 1."""


def draws(trace: pd.DataFrame) -> Drawn:
    """Figure 1: fresh draws of one arm, its largest draw once they are used up, its renewals."""
    rows = trace[(trace["arm"] == SHOWN_ARM) & (trace["event"] != "start")]
    epoch = rows["completed"].shift(fill_value=0).cumsum()
    parts = {
        "fresh draw": rows[rows["event"] == "fresh"],
        "largest draw again": rows[rows["event"] == "reuse"],
        "estimate": rows.assign(y=rows["estimate"]),
        # It begins at 0 behind each full batch.
        "largest draw": rows.assign(y=rows["y"].groupby(epoch).cummax().clip(lower=0.0)),
        "pull": rows[rows["pulled"] == 1],
        "batch full": rows[rows["completed"] == 1],
    }
    drawn, (axes,) = canvas()
    label = "batch full: budget and largest draw renewed"
    for x in parts["batch full"]["x"]:
        look: dict[str, Any] = {"color": "#777777", "linewidth": 0.8, "linestyle": (0, (3, 2))}
        axes.axvline(x + 0.5, label=label, **look)
        label = "_"
    for name, colour, label in (
        ("estimate", "black", r"estimate $\hat\mu$ of the last full batch"),
        ("largest draw", "orange", "largest draw since the renewal"),
    ):
        x, y = parts[name]["x"], parts[name]["y"]
        axes.step(x, y, where="mid", label=label, color=COLOURS[colour], linewidth=1.0)
    below = rows["y"].min() - 0.12 * (rows["y"].max() - rows["y"].min())
    for points, marker, colour, label in (
        (parts["fresh draw"], "o", "blue", r"fresh draw $\theta$"),
        (
            parts["largest draw again"],
            "s",
            "vermillion",
            "budget used up: largest draw reused",
        ),
        (parts["pull"].assign(y=below), "^", "green", "round in which the arm is pulled"),
    ):
        look = {"color": COLOURS[colour], "markersize": 3.2}
        axes.plot(points["x"], points["y"], marker, label=label, **look)
    axes.set_ylabel(rf"Value $\theta$ of arm {SHOWN_ARM}")
    axes.set(xlim=(0, trace["x"].max() + 1), xlabel="Round $t$")
    return drawn, _points(parts)


def batches(trace: pd.DataFrame) -> Drawn:
    """Figure 2: which rounds' rewards each estimate of each arm is the mean of."""
    pulled = trace[trace["pulled"] == 1].sort_values(["arm", "x"])
    full_at = pulled["x"].where(pulled["completed"] == 1).groupby(pulled["arm"]).bfill()
    pulled = pulled.assign(full_at=full_at, y=pulled["arm"])
    sizes = sorted(pulled.loc[pulled["full_at"].notna(), "batch"].unique())
    parts = {}
    drawn, (axes,) = canvas()
    for size, look in zip(sizes, palette.value_looks("batch", sizes), strict=True):
        full = pulled[(pulled["batch"] == size) & pulled["full_at"].notna()]
        _draw_squares(axes, full, facecolor=look.colour, label=f"batch of {size}")
        _mark_estimates(axes, full)
        for arm, rows in full.groupby("arm"):
            parts[f"arm {arm!s}, batch of {size}"] = rows
    waiting = pulled[pulled["full_at"].isna()]
    _draw_squares(axes, waiting, facecolor="none", label="batch not full at T: in no estimate")
    for arm, rows in waiting.groupby("arm"):
        parts[f"arm {arm!s}, in no estimate"] = rows
    arms = sorted(trace["arm"].unique())
    axes.set_ylim(max(arms) + 0.6, min(arms) - 0.75)
    axes.set_yticks(arms, [f"arm {arm}" for arm in arms])
    axes.grid(visible=False)
    axes.set(xlim=(0, trace["x"].max() + 1), xlabel="Round $t$")
    return drawn, _points(parts)


def _draw_squares(axes: Axes, rows: pd.DataFrame, *, facecolor: str, label: str) -> None:
    """Draw a box over every round of the rows, on the line of its arm."""
    boxes = [
        [(x - 0.5, y - 0.22), (x + 0.5, y - 0.22), (x + 0.5, y + 0.22), (x - 0.5, y + 0.22)]
        for x, y in zip(rows["x"], rows["y"], strict=True)
    ]
    edge = "#555555" if facecolor == "none" else "white"
    look: dict[str, Any] = {"facecolor": facecolor, "edgecolor": edge, "linewidth": 0.5}
    axes.add_collection(PolyCollection(boxes, label=label, **look))


def _mark_estimates(axes: Axes, rows: pd.DataFrame) -> None:
    """Write over the round that fills a batch how many rewards the estimate behind it has."""
    full = rows[rows["completed"] == 1]
    for x, y, size in zip(full["x"], full["y"], full["batch"], strict=True):
        axes.plot([x + 0.5] * 2, [y - 0.34, y + 0.22], color="black", linewidth=0.9)
        axes.text(x + 0.5, y - 0.38, str(size), ha="center", va="bottom", fontsize=7.0)


def _points(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    tables = [
        pd.DataFrame({"series": name, "x": rows["x"], "y": rows["y"]}).sort_values("x")
        for name, rows in parts.items()
    ]
    points = pd.concat(tables, ignore_index=True)
    return points.assign(runs=1)


DIAGRAMS: dict[str, Diagram] = {"fig1": draws, "fig2": batches}
