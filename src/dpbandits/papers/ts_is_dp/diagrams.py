"""Supplementary figures of what is no mean of a metric: errors, prices, realised levels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dpbandits.claims import Estimate, exact, mean, ratio_of_means
from dpbandits.claims.bootstrap import Resampler, Sample
from dpbandits.papers.panels import Points, canvas, draw_estimates, legend, table
from dpbandits.papers.ts_is_dp.comparison_statistics import EQUAL_PAIRS, TIGHTER_PAIRS, TUNED_ETAS
from dpbandits.papers.ts_is_dp.level_statistics import plain_levels
from dpbandits.papers.ts_is_dp.regret_statistics import ETAS, relative_error
from dpbandits.privacy import modified_ts_gdp
from dpbandits.reporting import style
from dpbandits.reporting.diagrams import Diagram
from dpbandits.reporting.palette import COLOURS, DASHES, MARKERS
from dpbandits.reporting.rows import select

FAMILIES = {"bernoulli": "Bernoulli", "truncated-exponential": "Truncated-exponential"}
METRICS = {"realised_regret": "realised regret", "pseudo_regret": "pseudo-regret"}
SHOWN_B = (0, 500, 1000, 2000, 5000, 10000)
AVERAGED_RUNS = 10

Values = NDArray[np.float64]

_RESAMPLES = 2_000


def ten_runs(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the standard error of a mean over ten runs over the regret, against b, by level."""
    points: Points = []
    with style.context():
        height = style.PANEL_HEIGHT + 0.45
        drawn, panels = canvas(style.PAGE_WIDTH, height, columns=len(FAMILIES), sharey=True)
        for axes, letter, (family, title) in zip(panels, "ab", FAMILIES.items(), strict=True):
            points += _draw_errors(axes, results, family)
            axes.set_title(f"({letter}) {title} arms")
            axes.set_xticks(range(len(SHOWN_B)), [style.thousands(b) for b in SHOWN_B])
            axes.set_xlabel("Pre-pulls $b$ of every arm")
            style.style_axis(axes, "y", "linear")
            axes.set_ylim(0, None)
        panels[0].set_ylabel("Standard error of a mean\nof ten runs over the regret")
        legend(drawn, panels, 3)
    return drawn, table(points)


def _draw_errors(axes: Axes, results: pd.DataFrame, family: str) -> Points:
    points: Points = []
    # Level by level: a legend of three columns then has a row for each kind of regret.
    for eta, look in zip(ETAS, style.ordered_looks(len(ETAS)), strict=True):
        for metric, text in METRICS.items():
            is_realised = metric == "realised_regret"
            marks = {
                "color": look.colour,
                "marker": look.marker,
                "linestyle": DASHES["solid" if is_realised else "dotted"],
                "markerfacecolor": look.colour if is_realised else "white",
                "markeredgewidth": 0.8,
                "label": rf"$\eta$ = {eta}, {text}",
            }
            errors = [_error(results, metric, family=family, eta=eta, b=b) for b in SHOWN_B]
            series = f"{FAMILIES[family]}, {text}, eta={eta}"
            points += _draw(axes, series, SHOWN_B, errors, marks, range(len(SHOWN_B)))
    return points


def _error(results: pd.DataFrame, metric: str, **where: Any) -> Estimate:
    key = tuple(f"{name}={value}" for name, value in where.items())
    values = _finals(results, metric, **where)
    sample = Sample(values, ("ten-runs", *key), Resampler(0, _RESAMPLES))
    return relative_error(sample, AVERAGED_RUNS)


def price_of_levels(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the regret of the best pair over that of (0, 1) against its level, and of small b."""
    points: Points = []

    def price(**where: Any) -> Estimate:
        plain = _finals(results, "pseudo_regret", b=0, c=1.0)
        return ratio_of_means(_finals(results, "pseudo_regret", **where), plain)

    with style.context():
        drawn, (axes,) = _panel(style.PANEL_WIDTH * 1.35)
        for c_range, text, colour, marker in (
            ("any", "any c", "blue", "circle"),
            ("at-least-1", "c of at least 1", "vermillion", "square"),
        ):
            look = _look(colour, marker, "solid", f"best pair of our grid, {text}")
            prices = [price(eta=eta, c_range=c_range) for eta in TUNED_ETAS]
            points += _draw(axes, f"best pair, {text}", TUNED_ETAS, prices, look)
        horizon = int(results["t"].max())
        for c, marker in ((1, "diamond"), (2, "triangle")):
            pairs = (*TIGHTER_PAIRS, *EQUAL_PAIRS)
            near = sorted((b for b, factor in pairs if factor == c), reverse=True)
            look = _look("black", marker, "none", f"pairs with small b, c = {c}, not tuned")
            levels = [float(modified_ts_gdp(b, c, horizon)) for b in near]
            prices = [price(b=b, c=c) for b in near]
            points += _draw(axes, f"pairs near (0, 1), c={c}", levels, prices, look)
        style.style_axis(axes, "x", "log", [1, 2, 5, 10, 20, 50, 100, 200])
        style.style_axis(axes, "y", "log", [0.2, 0.5, 1, 2, 5, 10, 20])
        axes.set_xlabel(r"Level $\eta$ (privacy weakens to the right)")
        axes.set_ylabel("Regret at $T$ over that of $(0, 1)$")
        legend(drawn, [axes], 1)
    return drawn, table(points)


def realised_level(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the realised level of plain Thompson sampling over Lemma 4's, against the horizon."""
    horizons = sorted(results["horizon"].unique())
    levels = [_plain_levels(results, int(horizon)) for horizon in horizons]
    means = [mean(level) for level in levels]
    largest = [exact(level.max(), 1) for level in levels]
    points: Points = []
    with style.context():
        drawn, (axes,) = _panel(style.PANEL_WIDTH)
        for label, estimates, look in (
            ("mean over runs", means, ("blue", "circle", "solid")),
            ("largest of any run", largest, ("vermillion", "square", "dashed")),
        ):
            points += _draw(axes, label, horizons, estimates, _look(*look, label))
        style.style_axis(axes, "x", "log")
        style.style_axis(axes, "y", "linear")
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("Horizon $T$")
        axes.set_ylabel("Realised level over Lemma 4's")
        legend(drawn, [axes], 2)
    return drawn, table(points)


def _plain_levels(results: pd.DataFrame, horizon: int) -> Values:
    rows = results[(results["horizon"] == horizon) & (results["metric"] == "inverse_counts")]
    sums = rows.pivot(index="run", columns="arm", values="value").to_numpy()
    return plain_levels(sums, horizon)


def _finals(results: pd.DataFrame, metric: str, **where: Any) -> Values:
    """Return a metric at the horizon of the one series with these tags, one number a run."""
    rows = select(results, {"metric": metric, "t": int(results["t"].max()), **where}, "figures")
    return rows.sort_values("run")["value"].to_numpy(np.float64)


def _look(colour: str, marker: str, line: str, label: str) -> dict[str, Any]:
    dash = DASHES.get(line, "none")
    return {"color": COLOURS[colour], "marker": MARKERS[marker], "linestyle": dash, "label": label}


def _panel(width: float) -> tuple[Figure, list[Axes]]:
    """Return a figure of one panel with a dotted line at 1."""
    drawn, (axes,) = canvas(width, style.PANEL_HEIGHT + 0.45)
    axes.axhline(1.0, color="#777777", linewidth=0.8, linestyle=DASHES["dotted"])
    return drawn, [axes]


def _draw(
    axes: Axes,
    series: str,
    x: Sequence[float],
    estimates: Sequence[Estimate],
    look: dict[str, Any],
    places: Sequence[float] | None = None,
) -> Points:
    bars = {"capsize": 2, **look}
    return draw_estimates(axes, series, x, estimates, bars, places, only_finite=False)


DIAGRAMS: dict[str, Diagram] = {
    "extra-ten-runs": ten_runs,
    "extra-price-of-levels": price_of_levels,
    "extra-realised-level": realised_level,
}
"""Diagrams by figure, as the experiments file lists them."""
