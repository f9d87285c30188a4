"""Supplementary figures of what is no mean of a metric: errors, prices, realised levels."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dpbandits.claims.numbers import Estimate, exact, mean, ratio_of_means
from dpbandits.claims.resampling import Resampler, Sample
from dpbandits.papers.panels import Points, canvas, draw_estimates, table
from dpbandits.papers.ts_is_dp.statistics import (
    EQUAL_PAIRS,
    ETAS,
    TIGHTER_PAIRS,
    TUNED_ETAS,
    plain_levels,
    relative_error,
)
from dpbandits.privacy import modified_ts_gdp
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram, shared_legend
from dpbandits.reporting.lines import select
from dpbandits.reporting.palette import COLOURS, DASHES, MARKERS

FAMILIES = {"bernoulli": "Bernoulli", "truncated-exponential": "Truncated-exponential"}
METRICS = {"realised_regret": "realised regret", "pseudo_regret": "pseudo-regret"}
SHOWN_B = (0, 500, 1000, 2000, 5000, 10000)
AVERAGED_RUNS = 10

_SIDE = 0.2
"""How far from the place of a category the outer ones of its marks stand."""

_HEIGHT = style.PANEL_HEIGHT + 0.45
"""Of a diagram in inches, with its legend."""

Values = NDArray[np.float64]

_RESAMPLES = 2_000


class _Curve(NamedTuple):
    """One line: its name in the csv, its numbers by x, and how it is drawn."""

    series: str
    x: Sequence[float]
    estimates: Sequence[Estimate]
    look: dict[str, Any]


def _draw(axes: Axes, curve: _Curve, places: Sequence[float] | Values | None = None) -> Points:
    """Draw a line with its intervals, at x or at other places, and return its points."""
    look = {"capsize": 2, **curve.look}
    return draw_estimates(
        axes, curve.series, curve.x, curve.estimates, look, places, only_finite=False
    )


def ten_runs(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the standard error of a mean over ten runs over the regret, against b, by level."""
    points: Points = []
    with style.context():
        drawn, grid = canvas(style.PAGE_WIDTH, _HEIGHT, columns=len(FAMILIES), sharey=True)
        places = np.arange(len(SHOWN_B))
        for axes, letter, (family, title) in zip(grid, "ab", FAMILIES.items(), strict=True):
            curves = list(_error_curves(results, family))
            # Side by side, level by level.
            shifts = np.repeat(np.linspace(-_SIDE, _SIDE, len(ETAS)), len(METRICS))
            for curve, shift in zip(curves, shifts, strict=True):
                points += _draw(axes, curve, places + shift)
            axes.set_title(f"({letter}) {title} arms")
            axes.set_xticks(places, [style.thousands(b) for b in SHOWN_B])
            axes.set_xlabel("Pre-pulls $b$ of every arm")
            style.style_axis(axes, "y", "linear")
            axes.set_ylim(0, None)
        grid[0].set_ylabel("Standard error of a mean\nof ten runs over the regret")
        shared_legend(drawn, 3)
    return drawn, table(points)


def _error_curves(results: pd.DataFrame, family: str) -> Iterator[_Curve]:
    # Level by level: a legend of three columns then has a row for each kind of regret.
    for eta, look in zip(ETAS, palette.ordered_looks(len(ETAS)), strict=True):
        for metric, text in METRICS.items():
            yield _Curve(
                f"{FAMILIES[family]}, {text}, eta={eta}",
                SHOWN_B,
                [_error(results, metric, family=family, eta=eta, b=b) for b in SHOWN_B],
                {
                    "color": look.colour,
                    "marker": look.marker,
                    # b = 0 has no place on a logarithmic axis: evenly spaced, and not joined.
                    "linestyle": "none",
                    "markerfacecolor": look.colour if metric == "realised_regret" else "white",
                    "markeredgewidth": 0.8,
                    "label": rf"$\eta$ = {eta}, {text}",
                },
            )


def _error(results: pd.DataFrame, metric: str, **where: Any) -> Estimate:
    key = tuple(f"{name}={value}" for name, value in where.items())
    values = _finals(results, metric, **where)
    sample = Sample(values, ("ten-runs", *key), Resampler(0, _RESAMPLES))
    return relative_error(sample, AVERAGED_RUNS)


def price_of_levels(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the regret of the best pair over that of (0, 1) against its level, and of small b."""
    plain = _finals(results, "pseudo_regret", b=0, c=1.0)
    curves = [
        _Curve(
            f"best pair, {text}",
            TUNED_ETAS,
            [
                ratio_of_means(_finals(results, "pseudo_regret", eta=eta, c_range=c_range), plain)
                for eta in TUNED_ETAS
            ],
            {**style.line_look(look), "label": f"best pair of our grid, {text}"},
        )
        for look, (c_range, text) in zip(
            palette.tell_apart([palette.algorithm_look("m-ts-gaussian")] * 2),
            (("any", "any c"), ("at-least-1", "c of at least 1")),
            strict=True,
        )
    ]
    curves += [
        _near_plain(results, plain, c, marker) for c, marker in ((1, "diamond"), (2, "triangle"))
    ]
    with style.context():
        drawn, (axes,) = canvas(style.PANEL_WIDTH * 1.35, _HEIGHT)
        axes.axhline(1.0, color="#777777", linewidth=0.8, linestyle=DASHES["dotted"])
        points = [point for curve in curves for point in _draw(axes, curve)]
        style.style_axis(axes, "x", "log", [1, 2, 5, 10, 20, 50, 100, 200])
        style.style_axis(axes, "y", "log", [0.2, 0.5, 1, 2, 5, 10, 20])
        axes.set_xlabel(r"Level $\eta$ (privacy weakens to the right)")
        axes.set_ylabel("Regret at $T$ over that of $(0, 1)$")
        shared_legend(drawn, 1)
    return drawn, table(points)


def _near_plain(results: pd.DataFrame, plain: Values, c: int, marker: str) -> _Curve:
    """The pairs near (0, 1) with this c, by level."""
    horizon = int(results["t"].max())
    own = sorted((b for b, factor in (*TIGHTER_PAIRS, *EQUAL_PAIRS) if factor == c), reverse=True)
    return _Curve(
        f"pairs near (0, 1), c={c}",
        [modified_ts_gdp(b, c, horizon) for b in own],
        [ratio_of_means(_finals(results, "pseudo_regret", b=b, c=c), plain) for b in own],
        {
            "color": COLOURS["black"],
            "marker": MARKERS[marker],
            "linestyle": "none",
            "label": f"pairs with small b, c = {c}, not tuned",
        },
    )


def realised_level(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the realised level of plain Thompson sampling over Lemma 4's, against the horizon."""
    horizons = sorted(results["horizon"].unique())
    levels = {horizon: _plain_levels(results, int(horizon)) for horizon in horizons}
    first, second = palette.tell_apart([palette.algorithm_look("ts-gaussian")] * 2)
    curves = [
        _Curve(
            "mean over runs",
            horizons,
            [mean(each) for each in levels.values()],
            {**style.line_look(first), "label": "mean over runs"},
        ),
        _Curve(
            "largest of any run",
            horizons,
            [exact(each.max(), 1) for each in levels.values()],
            {**style.line_look(second), "label": "largest of any run"},
        ),
    ]
    with style.context():
        drawn, (axes,) = canvas(style.PANEL_WIDTH, _HEIGHT)
        axes.axhline(1.0, color="#777777", linewidth=0.8, linestyle=DASHES["dotted"])
        points = [point for curve in curves for point in _draw(axes, curve)]
        style.style_axis(axes, "x", "log")
        style.style_axis(axes, "y", "linear")
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("Horizon $T$")
        axes.set_ylabel("Realised level over Lemma 4's")
        shared_legend(drawn, 2)
    return drawn, table(points)


def _plain_levels(results: pd.DataFrame, horizon: int) -> Values:
    own = results[(results["horizon"] == horizon) & (results["metric"] == "inverse_counts")]
    sums = own.pivot(index="run", columns="arm", values="value").to_numpy()
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
"""Diagrams by figure, as the experiments file lists them."""
