"""Supplementary figures of what is no mean of a metric: errors, prices, realised levels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, exact, mean, relative_error
from dpbandits.config.looks import COLOURS, DASHES, MARKERS
from dpbandits.papers.panels import Drawn, Points, canvas, draw_marks, estimated, finish
from dpbandits.papers.ts_is_dp.analytic import plain_levels
from dpbandits.privacy import modified_ts_gdp
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram
from dpbandits.reporting.lines import select
from dpbandits.reporting.style import add_legend

FAMILIES = {"bernoulli": "Bernoulli", "truncated-exponential": "Truncated-exponential"}
METRICS = {"realised_regret": "realised regret", "pseudo_regret": "pseudo-regret"}
SHOWN_B = (0, 500, 1000, 2000, 5000, 10000)
AVERAGED_RUNS = 10

NEAR_PLAIN = {1: (39, 10, 5, 2, 1), 2: (1, 0)}
"""Values of b near (0, 1), by c: all but (1, 1) and (0, 2) have a level below Lemma 4's of it."""

_SIDE = 0.2
"""How far from the place of a category the outer ones of its marks stand."""

Values = NDArray[np.float64]


def ten_runs(results: pd.DataFrame) -> Drawn:
    """Draw the standard error of a mean over ten runs over the regret, against b, by level."""
    points: Points = []
    drawn, panels = canvas(columns=len(FAMILIES), sharey=True)
    for axes, letter, (family, title) in zip(panels, "ab", FAMILIES.items(), strict=True):
        points += _draw_errors(axes, results, family)
        label = "" if letter == "b" else "Standard error of a mean\nof ten runs over the regret"
        # b = 0 has no place on a logarithmic axis: evenly spaced, and not joined.
        x_axis = "Pre-pulls $b$ of every arm", "linear"
        finish(axes, x_axis, (label, "linear"), f"({letter}) {title} arms")
        axes.set_xticks(range(len(SHOWN_B)), [style.thousands(b) for b in SHOWN_B])
        axes.set_ylim(0, None)
    bars: Any = zip(*panels[0].get_legend_handles_labels(), strict=True)
    # A row for each kind of regret.
    by_metric = sorted(bars, key=lambda each: "pseudo" in each[1])
    add_legend(drawn, {label: parts[0] for parts, label in by_metric})
    return drawn, points


def _draw_errors(axes: Axes, results: pd.DataFrame, family: str) -> Points:
    etas = sorted(results["eta"].dropna().unique().astype(int))
    shifts = iter(np.repeat(np.linspace(-_SIDE, _SIDE, len(etas)), len(METRICS)))
    drawn: Points = []
    for eta, look in zip(etas, palette.value_looks("eta", etas), strict=True):
        for metric, text in METRICS.items():
            errors = []
            for b in SHOWN_B:
                where = {"family": family, "eta": eta, "b": b}
                errors.append(relative_error(_finals(results, metric, **where), AVERAGED_RUNS))
            points = estimated(f"{FAMILIES[family]}, {text}, eta={eta}", SHOWN_B, errors)
            marks = {
                "capsize": 2,
                "color": look.colour,
                "marker": look.marker,
                "linestyle": "none",
                "markerfacecolor": look.colour if metric == "realised_regret" else "white",
                "markeredgewidth": 0.8,
                # Whole marks at 0, too.
                "clip_on": False,
                "label": rf"$\eta$ = {eta}, {text}",
            }
            draw_marks(axes, points, marks, np.arange(len(SHOWN_B)) + next(shifts))
            drawn += points
    return drawn


def price_of_levels(results: pd.DataFrame) -> Drawn:
    """Draw the regret of the best pair over that of (0, 1) against its level, and of small b."""
    plain = _finals(results, "pseudo_regret", b=0, c=1.0)
    horizon = int(results["t"].max())
    etas = sorted(results["eta"].dropna().unique().astype(int))
    looks = palette.tell_apart([palette.look_of("m-ts-gaussian")] * 2)
    points: Points = []

    def add(
        axes: Axes,
        series: str,
        numbers: dict[float, Values],
        places: Sequence[float] | None = None,
        **look: Any,
    ) -> None:
        prices = [mean(values) / mean(plain) for values in numbers.values()]
        own = estimated(series, numbers, prices)
        draw_marks(axes, own, {"capsize": 2, **look}, places)
        points.extend(own)

    drawn, (axes,) = canvas(width=style.PANEL_WIDTH * 1.5)
    axes.axhline(1.0, color="#777777", linewidth=0.8, linestyle=DASHES["dotted"])
    for look, (c_range, text) in zip(
        looks, (("any", "any c"), ("at-least-1", "c of at least 1")), strict=True
    ):
        where = {"c_range": c_range}
        tuned = {eta: _finals(results, "pseudo_regret", eta=eta, **where) for eta in etas}
        # Side by side, since up to eta = 20 they are the same.
        places = [eta * (0.96 if c_range == "any" else 1.04) for eta in tuned]
        label = f"tuned pair, {text}"
        marks = {**style.line_look(look), "label": label, "places": places}
        add(axes, f"best pair, {text}", tuned, **marks)
    for (c, few), marker in zip(NEAR_PLAIN.items(), ("diamond", "triangle"), strict=True):
        near = {
            modified_ts_gdp(b, c, horizon): _finals(results, "pseudo_regret", b=b, c=c) for b in few
        }
        marks = {"color": COLOURS["black"], "marker": MARKERS[marker], "linestyle": "none"}
        label = f"untuned pairs near (0, 1), c = {c}"
        add(axes, f"pairs near (0, 1), c={c}", near, **marks, label=label)
    x_axis = r"Level $\eta$ (privacy weakens to the right)", "log"
    finish(axes, x_axis, ("Regret / that of plain TS, $(b, c) = (0, 1)$", "log"))
    style.style_axis(axes, "x", "log", [1, 2, 5, 10, 20, 50, 100, 200])
    style.style_axis(axes, "y", "log", [0.2, 0.5, 1, 2, 5, 10, 20])
    return drawn, points


def realised_level(results: pd.DataFrame) -> Drawn:
    """Draw the realised level of plain Thompson sampling over Lemma 4's, against the horizon."""
    horizons = sorted(results["horizon"].unique())
    levels = [_plain_levels(results, int(horizon)) for horizon in horizons]
    series: dict[str, list[Estimate]] = {
        "mean over runs": [mean(values) for values in levels],
        "largest of any run": [exact(values.max(), 1) for values in levels],
    }
    looks = palette.tell_apart([palette.look_of("ts-gaussian")] * 2)
    points: Points = []
    drawn, (axes,) = canvas(width=style.PANEL_WIDTH)
    axes.axhline(1.0, color="#777777", linewidth=0.8, linestyle=DASHES["dotted"])
    for look, (name, estimates) in zip(looks, series.items(), strict=True):
        own = estimated(name, horizons, estimates)
        draw_marks(axes, own, {"capsize": 2, **style.line_look(look), "label": name})
        points += own
    finish(axes, ("Horizon $T$", "log"), ("Realised level over Lemma 4's", "linear"))
    axes.set_ylim(0, 1.05)
    return drawn, points


def _plain_levels(results: pd.DataFrame, horizon: int) -> Values:
    rows = results[(results["horizon"] == horizon) & (results["metric"] == "inverse_counts")]
    sums = rows.pivot(index="run", columns="arm", values="value").to_numpy()
    return plain_levels(sums, horizon)


def _finals(results: pd.DataFrame, metric: str, **where: Any) -> Values:
    """Return a metric at the horizon of the one series with these tags, one number a run."""
    rows = select(results, {"metric": metric, "t": int(results["t"].max()), **where}, "figures")
    return rows.sort_values("run")["value"].to_numpy(np.float64)


DIAGRAMS: dict[str, Diagram] = {
    "extra-ten-runs": ten_runs,
    "extra-price-of-levels": price_of_levels,
    "extra-realised-level": realised_level,
}
