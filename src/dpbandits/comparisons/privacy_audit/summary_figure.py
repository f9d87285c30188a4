"""The largest certified lower bound of every algorithm and variant, over what is claimed."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from dpbandits.algorithms import REGISTRY
from dpbandits.comparisons.privacy_audit.tables import all_rows
from dpbandits.comparisons.privacy_audit.verdicts import FAILS, NOTHING_CLAIMED
from dpbandits.reporting import style
from dpbandits.reporting.palette import COLOURS

CLAIMS: dict[str, tuple[str, ...]] = {
    "ts-gaussian": ("AUD-2",),
    "m-ts-gaussian": ("AUD-3",),
    "dp-ts-ucb": ("AUD-7",),
    "dp-bai": ("AUD-9",),
    "baseline": ("AUD-9",),
    "dp-od": ("AUD-11",),
    "dp-bai-gauss": ("AUD-12",),
    "gdp-ncb": ("AUD-13", "AUD-14", "AUD-15"),
    "anytime-gdp-ncb": ("AUD-13", "AUD-14", "AUD-15"),
    "ldp-ncb": ("AUD-16",),
    "anytime-ldp-ncb": ("AUD-16",),
    "adap-ucb": ("AUD-17",),
    "anytime-lazy-ucb": ("AUD-18",),
    "lazy-dp-ts": ("AUD-18",),
    "dp-ts": ("AUD-18",),
    "dp-se": ("AUD-18",),
    "ldp-ucb-l": ("AUD-18",),
    "ucb1": ("AUD-19",),
    "ncb": ("AUD-19",),
    "od-linbai": ("AUD-19",),
    "sequential-halving": ("AUD-19",),
}
"""Algorithm -> the audited statements that are its guarantee, in the order of the figure."""

CHOICES: dict[str, tuple[str, ...]] = {
    "dp-od": ("norm=l2", "norm=l1"),
    "dp-bai-gauss": ("calibration=classical", "calibration=analytic"),
}
"""Algorithm -> interpretations with a line of their own; of the others the default counts."""

LOOKS = {
    "as-written": ("o", COLOURS["blue"]),
    "as-coded": ("s", COLOURS["vermillion"]),
    "repaired": ("D", COLOURS["green"]),
}
"""Variant -> marker and colour."""

LEAST, MOST, ARROW = 0.05, 1e6, 3e5
"""Ends of the axis, and where bounds stand that no finite claim covers."""

_HEIGHT = 0.205
"""Inches of one line."""


def summary(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the figure and its points: series, variant, interpretation, x (ratio), y (line).

    Args:
        rows: all rows of the audit.
    """
    points = ratios(all_rows({"rows": rows}))
    names = list(dict.fromkeys(points["name"]))
    with style.context():
        drawn = Figure(figsize=(style.PAGE_WIDTH, _HEIGHT * len(names) + 0.9), layout="constrained")
        FigureCanvasAgg(drawn)
        axes = drawn.subplots()
        claiming = len(set(points["name"][points["verdict"] != NOTHING_CLAIMED])) - 0.5
        refuted: dict[str, Any] = {"color": COLOURS["vermillion"], "alpha": 0.07, "linewidth": 0}
        axes.fill_betweenx([-0.6, claiming], 1.0, MOST, zorder=0, **refuted)
        axes.plot([1.0, 1.0], [-0.6, claiming], color="black", linewidth=0.9, zorder=1)
        for _, point in points.iterrows():
            _mark(axes, point, names.index(point["name"]))
        _finish(drawn, axes, names)
    places = [names.index(name) for name in points["name"]]
    drawn_points = points.assign(series=points["name"] + ", " + points["kind"], y=places)
    return drawn, drawn_points.assign(x=points["ratio"], lo=places, hi=places)


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the largest ratio of each line, variant and kind of event.

    Columns: name, variant, interpretation, kind (``observable`` or ``any event``), ratio, verdict,
    engine, runs. Where nothing is claimed and a loss is unbounded by proof, the ratio is infinite.

    Args:
        rows: judged rows.
    """
    found = []
    for algorithm, statements in CLAIMS.items():
        own = rows[(rows["algorithm"] == algorithm) & rows["statement"].isin(statements)]
        own = own[~own["scaled"].astype(bool)]
        own = own.assign(ratio=own["ratio"].where(np.isfinite(own["claimed"]), own["lower"]))
        for choice in CHOICES.get(algorithm, ("",)):
            # The black box plays the default, which is the first.
            is_first = choice == CHOICES.get(algorithm, ("",))[0]
            chosen = own[own["interpretation"].isin([choice, ""] if is_first else [choice])]
            name = ", ".join(filter(None, [REGISTRY[algorithm].name, choice.partition("=")[2]]))
            name += " (claims nothing)" if (chosen["claimed"] == np.inf).all() else ""
            for variant, part in chosen.groupby("variant", sort=False):
                for kind, group in (("observable", part[part["observable"]]), ("any event", part)):
                    found += [_largest(group, name, str(variant), kind)] if len(group) else []
    return pd.DataFrame(found)


def _largest(group: pd.DataFrame, name: str, variant: str, kind: str) -> dict[str, Any]:
    row = group.iloc[int(group["ratio"].to_numpy().argmax())]
    columns = ("interpretation", "ratio", "verdict", "engine", "runs")
    return {"name": name, "variant": variant, "kind": kind, **{key: row[key] for key in columns}}


def _mark(axes: Axes, point: "pd.Series[Any]", place: int) -> None:
    marker, colour = LOOKS[point["variant"]]
    x = ARROW if np.isinf(point["ratio"]) else max(point["ratio"], LEAST)
    y = place + 0.24 * (list(LOOKS).index(point["variant"]) - 1)
    filled = point["kind"] == "observable"
    axes.plot(
        [x],
        [y],
        marker=">" if np.isinf(point["ratio"]) else marker,
        color=colour,
        markerfacecolor=colour if filled else "none",
        markeredgewidth=0.9,
        markersize=4.6 if point["verdict"] == FAILS else 3.8,
        linestyle="none",
        zorder=3 if filled else 2,
        clip_on=False,
    )


def _finish(drawn: Figure, axes: Axes, names: list[str]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(LEAST, MOST)
    axes.set_ylim(len(names) - 0.4, -0.6)
    ticks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 1e2, 1e3, 1e4, 1e5]
    labels = [style.thousands(tick) for tick in ticks]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter(labels))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("certified lower bound over the claimed bound")
    look: dict[str, Any] = {"linestyle": "none", "markersize": 4.2}
    handles = [
        Line2D([], [], marker=marker, color=colour, label=variant, **look)
        for variant, (marker, colour) in LOOKS.items()
    ]
    grey: dict[str, Any] = {"marker": "o", "color": "#555555", **look}
    handles += [
        Line2D([], [], label="seen in 1 of a million runs or more", **grey),
        Line2D([], [], label="rarer, exact", markerfacecolor="none", markeredgewidth=0.9, **grey),
        Line2D([], [], label="unbounded", **{**grey, "marker": ">"}),
    ]
    drawn.legend(handles=handles, loc="outside upper center", ncols=3)
    axes.text(1.15, -0.75, "the bound exceeds the claim", fontsize=6.5, va="bottom")
    axes.text(0.87, -0.75, "not contradicted", fontsize=6.5, va="bottom", ha="right")
