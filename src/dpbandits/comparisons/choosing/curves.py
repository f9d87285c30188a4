"""Curves over epsilon: regret with the price of privacy, success, and what tuning gains."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from dpbandits.comparisons.choosing.players import (
    APPROXIMATE,
    DESCRIPTIONS,
    LOCAL,
    NONE,
    PLAYERS,
    PURE,
)
from dpbandits.comparisons.choosing.scores import family_scores, full_field, mean_scores
from dpbandits.comparisons.choosing.tables import tuning
from dpbandits.reporting import palette, style
from dpbandits.reporting.legends import shared_legend
from dpbandits.reporting.palette import look_of

EPSILON = r"$\epsilon$"


def full_horizon(means: pd.DataFrame, arms: int) -> int:
    """Return the longest horizon at which nearly all algorithms were played with these arms."""
    return int(full_field(means[means["arms"] == arms])["horizon"].max())


def draw_price(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return regret over epsilon; the axis on the right has it over the best without privacy.

    Args:
        rows: the comparison of regret.
    """
    means = mean_scores(family_scores(rows))
    counts = sorted(means["arms"].unique())
    classes, points = (PURE, APPROXIMATE, LOCAL), []
    with style.context():
        drawn, panels = _panels(len(classes), len(counts), share_y=False)
        for name, line in zip(classes, panels, strict=True):
            for count, axes in zip(counts, line, strict=True):
                horizon = full_horizon(means, count)
                own = means[(means["arms"] == count) & (means["horizon"] == horizon)]
                drawn_rows = own[own["kind"].isin((name, NONE))]
                points += _lines(axes, drawn_rows, f"{name}, K = {count}, T = {horizon}")
                round_ticks(axes, "y")
                base = float(own["score"][own["kind"] == NONE].min())
                _price_axis(axes, base, is_last=count == counts[-1])
                axes.set_title(f"K = {count}, T = {horizon:,}")
            line[0].set_ylabel(f"Pseudo-regret at $T$,\n{DESCRIPTIONS[name]}")
        _label(panels)
        shared_legend(drawn, 5)
    return drawn, pd.concat(points, ignore_index=True)


def _price_axis(axes: Axes, base: float, *, is_last: bool) -> None:
    """Add the axis of the price of privacy: regret over the best regret without privacy."""

    def over_base(regret: NDArray[np.float64]) -> NDArray[np.float64]:
        return regret / base

    def of_ratio(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio * base

    # The stubs of matplotlib allow bytes and text here.
    right = axes.secondary_yaxis("right", functions=(over_base, of_ratio))  # type: ignore[arg-type]
    low, high = (value / base for value in axes.get_ylim())
    right.yaxis.set_major_locator(_locator(low, high))
    right.yaxis.set_major_formatter(FuncFormatter(style.thousands))
    right.yaxis.set_minor_locator(NullLocator())
    if is_last:
        right.set_ylabel("price of privacy")


def round_ticks(axes: Axes, which: str) -> None:
    """Give a logarithmic axis few round ticks, as plain numbers, also where it has no decade."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    getattr(axes, f"set_{which}scale")("log")
    axis.set_major_locator(_locator(*getattr(axes, f"get_{which}lim")()))
    axis.set_major_formatter(FuncFormatter(style.thousands))
    axis.set_minor_locator(NullLocator())


def _locator(low: float, high: float) -> LogLocator:
    """Return the decades, or also twice and five times them where there are few."""
    subs = (1.0,) if high / low > 300.0 else (1.0, 2.0, 5.0)
    return LogLocator(subs=subs, numticks=12)


def draw_success(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the share of trials that find the best arm over epsilon, a row for each budget.

    Args:
        rows: the comparison of best arms.
    """
    means = mean_scores(family_scores(rows))
    found = {"score": 1.0 - means["score"], "lo": 1.0 - means["hi"], "hi": 1.0 - means["lo"]}
    means = means.assign(**found)
    counts, budgets = (sorted(means[key].unique()) for key in ("arms", "horizon"))
    points = []
    with style.context():
        drawn, panels = _panels(len(budgets), len(counts), share_y=True)
        for budget, line in zip(budgets, panels, strict=True):
            for count, axes in zip(counts, line, strict=True):
                own = means[(means["arms"] == count) & (means["horizon"] == budget)]
                axes.set_title(f"K = {count}, {budget:,} pulls", fontsize=8)
                if own.empty:
                    axes.set_xscale("log")
                    axes.text(0.5, 0.5, "not played", transform=axes.transAxes, ha="center")
                    axes.set_xticks([])
                    continue
                points += _lines(axes, own, f"K = {count}, T = {budget}")
                axes.set_ylim(0.0, 1.03)
            line[0].set_ylabel("success")
        _label(panels)
        shared_legend(drawn, 6)
    return drawn, pd.concat(points, ignore_index=True)


def draw_tuning(frames: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the regret of Modified TS without pre-pulls over that with the tuned number.

    Args:
        frames: the comparison and the untuned runs, which have a share of pre-pulls.
    """
    is_untuned = frames["share"].notna()
    table = tuning({"regret": frames[~is_untuned], "untuned": frames[is_untuned]})
    horizons = sorted(table["horizon"].unique())
    counts = sorted(table["arms"].unique())
    points = []
    with style.context():
        drawn, panels = _panels(1, len(horizons), share_y=True)
        for horizon, axes in zip(horizons, panels[0], strict=True):
            for count, look in zip(counts, palette.ordered_looks(len(counts)), strict=True):
                own = table[(table["horizon"] == horizon) & (table["arms"] == count)]
                own = own.rename(columns={"epsilon": "x", "gain": "y"})
                _line(axes, own, look, f"K = {count}")
                named = own.assign(series=f"K = {count}, T = {horizon}")
                points.append(_as_points(named.assign(variant="as-written", runs=0)))
            axes.axhline(1.0, color="black", linewidth=0.8)
            round_ticks(axes, "y")
            _budget_ticks(axes, sorted(table["epsilon"].unique()))
            axes.set_title(f"T = {horizon:,}")
        panels[0, 0].set_ylabel("regret untuned over tuned")
        _label(panels)
        shared_legend(drawn, 4)
    return drawn, pd.concat(points, ignore_index=True)


def _panels(rows: int, columns: int, *, share_y: bool) -> tuple[Figure, np.ndarray]:
    width = style.WIDE_PAGE if columns > 2 else style.PAGE_WIDTH
    drawn = Figure(figsize=(width, 1.75 * rows + 0.8), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn, drawn.subplots(rows, columns, squeeze=False, sharey=share_y)


def _label(panels: np.ndarray) -> None:
    for axes in panels[-1]:
        axes.set_xlabel(EPSILON)


def _budget_ticks(axes: Axes, budgets: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(budgets, [f"{each:g}" for each in budgets])
    axes.minorticks_off()


def _lines(axes: Axes, means: pd.DataFrame, place: str) -> list[pd.DataFrame]:
    """Draw a line for each algorithm, level where it has no budget; return the points."""
    budgets = sorted(means["epsilon"].dropna().unique())
    points = []
    for algorithm, (name, _) in PLAYERS.items():
        own = means[means["algorithm"] == algorithm]
        if own.empty:
            continue
        if own["epsilon"].isna().all():
            own = own.loc[own.index.repeat(len(budgets))].assign(epsilon=budgets)
        own = own.rename(columns={"epsilon": "x", "score": "y"}).sort_values("x")
        _line(axes, own, look_of(algorithm), name)
        points.append(_as_points(own.assign(series=f"{place}: {name}")))
    _budget_ticks(axes, budgets)
    return points


def _line(axes: Axes, own: pd.DataFrame, look: palette.Look, label: str) -> None:
    """Draw one line with its interval."""
    axes.plot(own["x"], own["y"], label=label, **style.line_look(look))
    shaded: dict[str, Any] = {"color": look.colour, "alpha": 0.18, "linewidth": 0}
    axes.fill_between(own["x"], own["lo"], own["hi"], **shaded)
    axes.set_xscale("log")


def _as_points(own: pd.DataFrame) -> pd.DataFrame:
    kept = own if "interpretation" in own else own.assign(interpretation="")
    return kept[["series", "variant", "interpretation", "x", "y", "lo", "hi", "runs"]]
