"""Figures of the comparison: curves over epsilon, the map of winners, the worst family."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from dpbandits.comparisons.choosing.scores import (
    APPROXIMATE,
    DESCRIPTIONS,
    LOCAL,
    NONE,
    PLAYERS,
    PURE,
    SHOWN,
    WINNER,
    family_scores,
    full_field,
    mean_scores,
    winners,
)
from dpbandits.comparisons.choosing.tables import tuning
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram, shared_legend
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
                _draw_map(axes, own, budgets, lengths[count])
                axes.set_title(f"K = {count}: {DESCRIPTIONS[name]}", fontsize=7)
        for axes in panels[-1]:
            axes.set_xlabel(r"$\epsilon$")
        for axes in panels[:, 0]:
            axes.set_ylabel(length)
        handles = _map_handles(table)
        drawn.legend(handles=handles, loc="outside upper center", ncols=5)
    return drawn, _map_points(table)


def _draw_map(axes: Axes, own: pd.DataFrame, budgets: list[float], lengths: list[int]) -> None:
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


def _map_handles(table: pd.DataFrame) -> list[Any]:
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


def _map_points(table: pd.DataFrame) -> pd.DataFrame:
    """Return the plotted numbers."""
    won = table["verdict"] == WINNER
    names = table["first"].where(won, "tie of " + table["first"] + " and " + table["second"])
    setting = table["class"] + ", K = " + table["arms"].astype(str)
    series = setting + ", T = " + table["horizon"].astype(str) + ": " + names
    points = pd.DataFrame({"series": series, "variant": "", "interpretation": ""})
    margin = dict.fromkeys(("y", "lo", "hi"), table["margin"])
    return points.assign(x=table["epsilon"], **margin, runs=0)


WORST_EPSILONS = (0.2, 1.0, 5.0)
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
        if each in set(private["algorithm"][private["epsilon"].isin(WORST_EPSILONS)])
    ]
    points = []
    with style.context():
        size = (style.WIDE_PAGE, (0.155 * len(shown) + 0.5) * len(WORST_EPSILONS) + 0.6)
        drawn = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(drawn)
        panels = drawn.subplots(
            len(WORST_EPSILONS), len(counts), squeeze=False, sharey=True, sharex="col"
        )
        for epsilon, line in zip(WORST_EPSILONS, panels, strict=True):
            for count, axes in zip(counts, line, strict=True):
                horizon = full_horizon(means, count)
                is_here = (private["arms"] == count) & (private["horizon"] == horizon)
                own = private[is_here & (private["epsilon"] == epsilon)]
                _draw_worst(axes, own, shown)
                round_ticks(axes, "x")
                axes.set_title(
                    rf"K = {count}, T = {horizon:,}, $\epsilon$ = {epsilon:g}", fontsize=7
                )
                points.append(
                    _worst_points(own, f"K = {count}, T = {horizon}, epsilon = {epsilon:g}")
                )
        for axes in panels[-1]:
            axes.set_xlabel("regret over the best without privacy", fontsize=7)
        drawn.legend(handles=_worst_handles(), loc="outside upper center", ncols=2)
    return drawn, pd.concat(points, ignore_index=True)


def _draw_worst(axes: Axes, own: pd.DataFrame, shown: list[str]) -> None:
    """Draw a line for each algorithm from the mean (full mark) to the worst family (open)."""
    for row in own.to_dict("records"):
        place, look = shown.index(row["algorithm"]), look_of(row["algorithm"])
        drawn: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "none"}
        axes.plot([row["price"], row["worst"]], [place, place], color=look.colour, linewidth=0.9)
        axes.plot(row["price"], place, **drawn)
        axes.plot(row["worst"], place, **drawn, markerfacecolor="white", markeredgewidth=0.8)
    axes.set_yticks(range(len(shown)), [PLAYERS[each][0] for each in shown], fontsize=6)
    axes.set_ylim(len(shown) - 0.4, -0.6)


def _worst_handles() -> list[Line2D]:
    look: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "none"}
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.8}
    return [
        Line2D([], [], label="mean over the families", **look),
        Line2D([], [], label="worst family", **look, **hollow),
    ]


def _worst_points(own: pd.DataFrame, place: str) -> pd.DataFrame:
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


DIAGRAMS: dict[str, Diagram] = {
    "extra-map": partial(draw_map, length="horizon $T$"),
    "extra-price": draw_price,
    "extra-worst": draw_worst,
    "extra-tuning": draw_tuning,
    "extra-best-arm": draw_success,
    "extra-best-arm-map": partial(draw_map, length="pulls"),
}
"""Diagrams by figure, as the experiments file lists them."""
