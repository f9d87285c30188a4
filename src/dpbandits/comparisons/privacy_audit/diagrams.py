"""Figures of the audit: bounds along one quantity, and the largest bound of every algorithm."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.curves import (
    budget_curves,
    epsilon_curves,
    modified_curves,
    ratios_by_horizon,
    theorem_3_curves,
)
from dpbandits.auditing.rows import AuditRow, from_frame
from dpbandits.comparisons.privacy_audit.tables import FAILS, NOTHING_CLAIMED, OBSERVABLE, all_rows
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram
from dpbandits.reporting.palette import COLOURS

Curves = pd.DataFrame
"""Columns series, x, y, lo, hi; ``kind`` claimed, lower or ideal; ``log10_chance`` of the event."""


SHARE = ("log", "linear")
"""Axes of a bound over its claim, by T."""

MANY = 30
"""Points from which on a curve has no mark at each."""


@dataclass(frozen=True)
class Panel:
    """One panel: its curves and axes.

    Attributes:
        curves: what is drawn.
        x, y: labels of the axes.
        scales: of x and y, ``linear`` or ``log``.
        title: above it.
        limit: y of the level that a claim allows, or None.
    """

    curves: Curves
    x: str
    y: str
    scales: tuple[str, str] = ("log", "log")
    title: str = ""
    limit: float | None = None


def theorem_3(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return lower bounds on mu of Thompson sampling over T, and their shares of Theorem 3."""
    curves = theorem_3_curves(from_frame(rows))
    above = Panel(curves, "T", r"$\mu$")
    return _figure(
        [above, Panel(_shares(curves), "T", r"bound over $\sqrt{T/2}$", SHARE, limit=1.0)]
    )


def epsilons(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return lower bounds on epsilon at delta of Thompson sampling over T, and their shares."""
    curves = epsilon_curves(from_frame(rows))
    share = Panel(_shares(curves), "T", r"bound over claimed $\epsilon$", SHARE, limit=1.0)
    return _figure([Panel(curves, "T", r"$\epsilon$ at $\delta$"), share])


def trade_off(curves: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the errors of the tests between two inputs of Thompson sampling, T = 100."""
    drawn = curves.assign(kind=curves["series"].map({"claimed": "claimed"}).fillna("lower"))
    drawn["log10_chance"] = 0.0
    panel = Panel(drawn, r"$\alpha$", r"$\beta$", ("linear", "linear"))
    return _figure([panel, Panel(drawn, r"$\alpha$", r"$\beta$", ("log", "log"))])


def modified(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return lower bounds on mu of Modified TS over the claimed eta, by pre-pulls b."""
    curves = modified_curves(from_frame(rows)).assign(kind="lower")
    panels = [
        Panel(
            _unnamed(part), "b", r"bound over $\eta$", ("symlog", "linear"), f"T = {horizon:,}", 1.0
        )
        for horizon, part in curves.groupby("horizon")
    ]
    return _figure(panels)


def budgets(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the bounds of DP-TS-UCB and lower bounds over alpha, a panel for each T."""
    curves = budget_curves(from_frame(rows))
    panels = [
        Panel(_unnamed(part), r"$\alpha$", r"$\mu$", ("linear", "log"), f"T = {horizon:,}")
        for horizon, part in curves.groupby("horizon")
    ]
    return _figure(panels)


def _unnamed(curves: Curves) -> Curves:
    """Return curves without T in their names, which heads their panel."""
    return curves.assign(series=curves["series"].str.replace(r", T=\d+", "", regex=True))


def gdp_ncb(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the bounds of GDP-NCB over epsilon: its releases over T, its stop test over M."""
    alternation = rows[rows["threshold"].notna()]
    bounds: list[AuditRow] = from_frame(rows[rows["statement"].notna()])
    panels = [
        Panel(
            _exact(ratios_by_horizon(bounds, epsilon)),
            "T",
            r"bound over $\epsilon$",
            ("log", "linear"),
            rf"releases of Phase II, $\epsilon$ = {epsilon:g}",
            1.0,
        )
        for epsilon in (0.2, 2.0)
    ]
    stop = Panel(
        _exact(alternation),
        "rounds M",
        r"bound over $\epsilon$",
        ("linear", "linear"),
        "stop test, T = 64",
        1.0,
    )
    return _figure([*panels, stop])


def dp_od(curves: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the bounds of DP-OD over epsilon by the angle of the second arm."""
    panel = Panel(
        _exact(curves),
        "angle of arm 2 in degrees, arm 1 at 46",
        r"bound over $\epsilon$",
        ("linear", "linear"),
        limit=1.0,
    )
    return _figure([panel])


def _exact(curves: Curves) -> Curves:
    chance = curves["log10_alpha"].fillna(0.0)
    kinds = np.where(curves["log10_alpha"].isna(), "claimed", "lower")
    return curves.assign(kind=kinds, log10_chance=chance)


def _shares(curves: Curves) -> Curves:
    """Return the lower bounds over what is claimed."""
    lower = curves[curves["kind"] == "lower"]
    return lower.assign(**{name: lower[name] / lower["claimed"] for name in ("y", "lo", "hi")})


def _figure(panels: Sequence[Panel]) -> tuple[Figure, pd.DataFrame]:
    """Return the panels side by side with one legend, and the drawn numbers."""
    points = []
    with style.context():
        size = (style.PAGE_WIDTH, style.PANEL_HEIGHT + 1.1)
        drawn = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(drawn)
        names = list(dict.fromkeys(name for panel in panels for name in panel.curves["series"]))
        handles: dict[str, Any] = {}
        for letter, axes, panel in zip(
            "abc", drawn.subplots(1, len(panels), squeeze=False)[0], panels, strict=False
        ):
            _draw(axes, panel, names, handles)
            prefix = f"{letter}: " if len(panels) > 1 else ""
            points.append(panel.curves.assign(series=prefix + panel.curves["series"]))
        drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=3)
    table = pd.concat(points, ignore_index=True)
    runs = table["runs"].fillna(0).astype(int) if "runs" in table else 0
    return drawn, table.assign(variant="as-written", interpretation="", runs=runs)


def _draw(axes: Axes, panel: Panel, names: list[str], handles: dict[str, Any]) -> None:
    """Draw claims as lines, observable bounds as filled joined marks, others as hollow marks."""
    if panel.limit is not None:
        axes.axhline(panel.limit, color="black", linewidth=0.8, linestyle=(0, (3, 2)))
    for name, curve in panel.curves.groupby("series", sort=False):
        look = palette.categorical_look(names.index(str(name)))
        curve = curve.sort_values("x")
        if curve["kind"].iloc[0] != "lower":
            line = axes.plot(curve["x"], curve["y"], color=look.colour, linewidth=1.2)[0]
            handles.setdefault(str(name), line)
            continue
        marks: dict[str, Any] = {"color": look.colour, "marker": look.marker}
        is_seen = curve["log10_chance"] >= OBSERVABLE
        rare = curve[~is_seen]
        every = max(len(rare) // MANY, 1)
        hollow: dict[str, Any] = {
            "linestyle": "none",
            "markerfacecolor": "none",
            "markeredgewidth": 0.8,
        }
        axes.plot(rare["x"].iloc[::every], rare["y"].iloc[::every], **marks, **hollow)
        _draw_seen(axes, curve, is_seen, marks)
        shown = marks if is_seen.any() else {**marks, **hollow}
        handles.setdefault(str(name), axes.plot([], [], **shown)[0])
    for which, scale in zip("xy", panel.scales, strict=True):
        if scale == "symlog":
            getattr(axes, f"set_{which}scale")(scale)
        else:
            style.style_axis(axes, which, scale)
    if panel.limit is not None:
        axes.set_ylim(0.0, None)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.set_title(panel.title)


def _draw_seen(
    axes: Axes, curve: Curves, is_seen: "pd.Series[bool]", marks: dict[str, Any]
) -> None:
    """Draw observable bounds, joined where they are neighbours and exact."""
    seen = curve[is_seen]
    if "x_lo" in seen and seen["x_lo"].notna().any():
        x = [seen["x"] - seen["x_lo"], seen["x_hi"] - seen["x"]]
        y = [seen["y"] - seen["lo"], seen["hi"] - seen["y"]]
        look: dict[str, Any] = {"linestyle": "none", "elinewidth": 0.8}
        axes.errorbar(seen["x"], seen["y"], xerr=x, yerr=y, **look, **marks)
    elif "runs" in seen and (seen["runs"] > 0).any():
        axes.plot(seen["x"], seen["y"], linestyle="none", **marks)
    else:
        marker = "" if len(curve) > MANY else marks["marker"]
        axes.plot(
            curve["x"],
            curve["y"].where(is_seen),
            linewidth=1.0,
            color=marks["color"],
            marker=marker,
        )


Draw = Callable[[pd.DataFrame], tuple[Figure, pd.DataFrame]]

CURVES: dict[str, Draw] = {
    "extra-theorem-3": theorem_3,
    "extra-epsilon": epsilons,
    "extra-trade-off": trade_off,
    "extra-modified": modified,
    "extra-budgets": budgets,
    "extra-gdp-ncb": gdp_ncb,
    "extra-dp-od": dp_od,
}
"""Figures by name."""


def _statements(algorithm: str) -> set[str]:
    """Return the audited statements that are an algorithm's guarantee."""
    case = REGISTRY[algorithm].audit
    if case is None:
        return set()
    return {case.statement} if isinstance(case.statement, str) else set(case.statement.values())


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
    for algorithm in REGISTRY:
        statements = _statements(algorithm)
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


DIAGRAMS: dict[str, Diagram] = {"extra-audit": summary, **CURVES}
"""Diagrams by figure, as the experiments file lists them."""
