"""Figures of bounds along one quantity: T, b, alpha, the angle, or the other error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpbandits.auditing.curves import (
    budget_curves,
    epsilon_curves,
    modified_curves,
    ratios_by_horizon,
    theorem_3_curves,
)
from dpbandits.auditing.rows import AuditRow, from_frame
from dpbandits.comparisons.privacy_audit.verdicts import OBSERVABLE
from dpbandits.reporting import palette, style

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
