"""The figure of the audit: the largest bound of every algorithm beside its claim."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.blackbox import COUNTEREXAMPLE, NOTHING_CLAIMED
from dpbandits.comparisons.privacy_audit import all_rows
from dpbandits.config.looks import COLOURS
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import style
from dpbandits.reporting.draw import Diagram

CHOICES: dict[str, tuple[str, ...]] = {
    "dp-od": ("norm=l2", "norm=l1"),
    "dp-bai-gauss": ("calibration=classical", "calibration=analytic"),
}
"""Algorithm -> interpretations with a line of their own; of the others the default counts."""

VARIANTS = {
    "as-written": ("o", COLOURS["blue"]),
    "as-coded": ("s", COLOURS["vermillion"]),
    "repaired": ("D", COLOURS["green"]),
}
"""Variant -> marker and colour."""

SEEN, RARE = "filled: seen in 1 of a million runs or more", "hollow: rarer, exact"
"""What the legend calls filled and hollow marks."""

GREY: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "#555555", "markersize": 4.2}

LEAST, MOST, ARROW = 0.05, 1e6, 3e5
"""Ends of the axis, and the x of bounds that exceed every finite claim."""

_HEIGHT = 0.205
"""Inches of one line."""


def summary(rows: pd.DataFrame) -> Drawn:
    """Return the figure and its points: series, variant, interpretation, x (ratio), y (line)."""
    points = ratios(all_rows({"rows": rows}))
    places, names = pd.factorize(points["name"])
    points = points.assign(x=points["ratio"], **dict.fromkeys(("y", "lo", "hi"), places))
    drawn, (axes,) = canvas(height=_HEIGHT * len(names) + 0.5)
    claiming = points["name"][points["verdict"] != NOTHING_CLAIMED].nunique() - 0.5
    refuted: dict[str, Any] = {
        "color": COLOURS["vermillion"],
        "alpha": 0.07,
        "linewidth": 0,
    }
    axes.fill_betweenx([-0.6, claiming], 1.0, MOST, zorder=0, **refuted)
    axes.plot([1.0, 1.0], [-0.6, claiming], color="black", linewidth=0.9, zorder=1)
    for point in points.to_dict("records"):
        (marker, colour), filled = VARIANTS[point["variant"]], point["kind"] == "observable"
        unbounded = np.isinf(point["x"])
        axes.plot(
            ARROW if unbounded else max(point["x"], LEAST),
            point["y"] + 0.24 * (list(VARIANTS).index(point["variant"]) - 1),
            marker=">" if unbounded else marker,
            color=colour,
            markerfacecolor=colour if filled else "none",
            markeredgewidth=0.9,
            markersize=4.6 if point["verdict"] == COUNTEREXAMPLE else 3.8,
            linestyle="none",
            zorder=3 if filled else 2,
            clip_on=False,
        )
    ticks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 1e2, 1e3, 1e4, 1e5]
    axes.set(xscale="log", xlim=(LEAST, MOST), ylim=(len(names) - 0.4, -0.6))
    axes.set_xticks(ticks, [style.thousands(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("Certified lower bound over the claimed bound")
    axes.text(1.15, -0.75, "the bound exceeds the claim", fontsize=7, va="bottom")
    axes.text(0.87, -0.75, "not contradicted", fontsize=7, va="bottom", ha="right")
    variants = {
        variant.replace("-", " "): Line2D([], [], **GREY | {"marker": marker, "color": colour})
        for variant, (marker, colour) in VARIANTS.items()
    }
    marks = {
        SEEN: Line2D([], [], **GREY),
        RARE: Line2D([], [], **GREY, markerfacecolor="none", markeredgewidth=0.8),
        "unbounded": Line2D([], [], **GREY | {"marker": ">"}),
    }
    lists = dict.fromkeys(variants, "Variant") | dict.fromkeys(marks, "Event")
    style.add_legend(drawn, variants | marks, lists)
    return drawn, points.assign(series=points["name"] + ", " + points["kind"])


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the largest ratio of each line, variant and kind of event.

    Where nothing is claimed the bound itself stands for the ratio, infinite where that is proved.
    """
    found = []
    rows = rows.assign(ratio=rows["ratio"].where(np.isfinite(rows["claimed"]), rows["lower"]))
    for algorithm, audit in ((name, one.audit) for name, one in REGISTRY.items() if one.audit):
        stated = audit.statement
        statements = [stated] if isinstance(stated, str) else [*stated.values()]
        is_own = (rows["algorithm"] == algorithm) & rows["statement"].isin(statements)
        own = rows[is_own & ~rows["scaled"].astype(bool)]
        choices = CHOICES.get(algorithm, ("",))
        # The black box plays the default, which is the first.
        choice_of = own["interpretation"].mask(own["interpretation"] == "", choices[0])
        for choice in choices:
            chosen = own[choice_of == choice]
            norm = choice.partition("=")[2]
            norm = {"l1": r"$\ell_1$", "l2": r"$\ell_2$"}.get(norm, norm)
            name = ", ".join(filter(None, [REGISTRY[algorithm].name, norm]))
            name += " (claims nothing)" if (chosen["claimed"] == np.inf).all() else ""
            for _, part in chosen.groupby("variant", sort=False):
                for kind, group in (("observable", part[part["observable"]]), ("any event", part)):
                    if len(group):
                        row = group.loc[[group["ratio"].idxmax()]]
                        found.append(row.assign(name=name, kind=kind))
    return pd.concat(found, ignore_index=True)


DIAGRAMS: dict[str, Diagram] = {"extra-audit": summary}
"""Diagrams by figure, as the experiments file lists them."""
