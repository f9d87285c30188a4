"""Figures of the audit: bounds along one quantity, and the largest bound of every algorithm."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.curves import (
    TRADEOFF_HORIZON,
    budget_curves,
    epsilon_curves,
    modified_curves,
    ratios_by_horizon,
    theorem_3_curves,
)
from dpbandits.auditing.rows import AuditRow, from_frame
from dpbandits.comparisons.privacy_audit.tables import FAILS, NOTHING_CLAIMED, OBSERVABLE, all_rows
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram, add_legend, write_note
from dpbandits.reporting.palette import COLOURS

Curves = pd.DataFrame
"""Columns series, x, y, lo, hi; ``kind`` claimed, lower or ideal; ``log10_chance`` of the event."""


SHARE = ("log", "linear")
"""Axes of a bound over its claim, by T."""

MANY = 30
"""Points from which on a curve has no mark at each."""

SEEN, RARE = "filled: seen in 1 of a million runs or more", "hollow: rarer, exact"
"""What the legends call filled and hollow marks."""

WEAKER = "A bound that falls with $T$ is a weaker\nsearch, not better privacy"

COLOURS_OF = {
    "claimed": "black",
    "exact lattice": "blue",
    "exact sequence": "vermillion",
    "likelihood": "green",
    "exact": "blue",
    "simulated": "orange",
    "Theorem 4.4": "black",
    "tight version": "grey",
    "ideal competitor": "purple",
    "as coded": "vermillion",
    "repaired": "green",
    "Phase I of fixed length, natural logarithm": "blue",
    "number of releases / ln T": "black",
    "noise by the l1 norm": "blue",
    "noise by the l2 norm": "vermillion",
}
"""What the name of a curve begins with -> its colour; variants have those of ``LOOKS``."""

SIGNS = {
    r"sqrt\((.*)\)": r"$\\sqrt{\1}$",
    "(delta|eta)=": r"$\\\1$ = ",
    "K=": "$K$ = ",
    "1e-06": "10⁻⁶",
    r"\bl(\d) norm": r"$\\ell_\1$ norm",
}
"""Patterns in the names of curves -> what the legend has."""


@dataclass(frozen=True)
class Panel:
    """One panel: its curves and axes.

    Attributes:
        curves: what is drawn.
        x, y: labels of the axes.
        scales: of x and y, ``linear`` or ``log``.
        title: above it.
        limit: y of the level that a claim allows, or None.
        ticks: places of ticks of x, or None for a few round ones.
        note: text and place of a sentence in it.
        steps: whether the curves are steps of a parameter, named in the panel.
    """

    curves: Curves
    x: str
    y: str
    scales: tuple[str, str] = ("log", "log")
    title: str = ""
    limit: float | None = None
    ticks: Sequence[float] | None = None
    note: tuple[str, str] | None = None
    steps: bool = False

    @property
    def looks(self) -> dict[str, palette.Look]:
        """Looks by series: colours by how names begin, markers and dashes by how they end."""
        kinds = dict(zip(self.curves["series"], self.curves["kind"], strict=True))
        if self.steps:
            return dict(zip(kinds, palette.ordered_looks(len(kinds)), strict=True))
        dashes, markers = list(palette.DASHES), list(palette.MARKERS.values())
        ends: dict[str, list[str]] = {}
        found = {}
        for name, kind in kinds.items():
            head, end = _split(name)
            known = ends.setdefault(kind, [])
            known += [] if end in known else [end]
            place = known.index(end)
            found[name] = palette.Look(COLOURS[COLOURS_OF[head]], dashes[place], markers[place])
        return found


def _split(name: str) -> tuple[str, str]:
    """Return the method or variant of a curve, and what follows it."""
    if name in COLOURS_OF:
        return name, ""
    head, _, end = name.rpartition(", ")
    return head, end


def theorem_3(rows: pd.DataFrame) -> Drawn:
    """Return lower bounds on mu of Thompson sampling over T, and their shares of Theorem 3."""
    curves = theorem_3_curves(from_frame(rows))
    above = Panel(curves, "$T$", r"$\mu$ of Gaussian DP", title="Claims and lower bounds")
    share = r"Lower bound / $\sqrt{T/2}$"
    note = WEAKER, "middle right"
    return _figure(
        [above, Panel(_shares(curves), "$T$", share, SHARE, "Over the claim", 1.0, note=note)]
    )


def epsilons(rows: pd.DataFrame) -> Drawn:
    """Return lower bounds on epsilon at delta of Thompson sampling over T, and their shares."""
    curves = epsilon_curves(from_frame(rows))
    above = Panel(curves, "$T$", r"$\varepsilon$ at $\delta$", title="Claims and lower bounds")
    share = r"Lower bound / claimed $\varepsilon$"
    note = WEAKER, "middle right"
    return _figure(
        [above, Panel(_shares(curves), "$T$", share, SHARE, "Over the claim", 1.0, note=note)]
    )


def trade_off(curves: pd.DataFrame) -> Drawn:
    """Return the errors of the tests between two inputs of Thompson sampling, T = 100."""
    drawn = curves.assign(kind=curves["series"].map({"claimed": "claimed"}).fillna("lower"))
    drawn["log10_chance"] = 0.0
    labels = r"False alarm $\alpha$", r"Miss $\beta$"
    title = f"Thompson sampling, $T$ = {TRADEOFF_HORIZON}"
    note = "The claimed curve is\nthat close to the axes", "upper right"
    linear = Panel(drawn, *labels, ("linear", "linear"), title, note=note)
    return _figure([linear, Panel(drawn, *labels, ("log", "log"), f"{title}, log axes")])


def modified(rows: pd.DataFrame) -> Drawn:
    """Return lower bounds on mu of Modified TS over the claimed eta, by pre-pulls b."""
    curves = modified_curves(from_frame(rows)).assign(kind="lower")
    panels = [
        Panel(
            _unnamed(part),
            "Pre-pulls $b$ of every arm",
            r"Lower bound / claimed $\eta$",
            ("symlog", "linear"),
            f"$T$ = {horizon:,}",
            1.0,
        )
        for horizon, part in curves.groupby("horizon")
    ]
    return _figure(panels)


def budgets(rows: pd.DataFrame) -> Drawn:
    """Return the bounds of DP-TS-UCB and lower bounds over alpha, a panel for each T."""
    curves = budget_curves(from_frame(rows))
    scales = "linear", "log"
    panels = [
        Panel(
            _unnamed(part),
            r"$\alpha$ of DP-TS-UCB",
            r"$\mu$ of Gaussian DP",
            scales,
            f"$T$ = {horizon:,}",
        )
        for horizon, part in curves.groupby("horizon")
    ]
    return _figure(panels)


def _unnamed(curves: Curves) -> Curves:
    """Return curves without T in their names, which heads their panel."""
    return curves.assign(series=curves["series"].str.replace(r", T=\d+", "", regex=True))


def gdp_ncb(rows: pd.DataFrame) -> Drawn:
    """Return the bounds of GDP-NCB over epsilon: its releases over T, its stop test over M."""
    alternation = rows[rows["threshold"].notna()]
    bounds: list[AuditRow] = from_frame(rows[rows["statement"].notna()])
    label = r"Lower bound / claimed $\varepsilon$"
    panels = [
        Panel(
            _exact(ratios_by_horizon(bounds, epsilon)),
            "$T$",
            label,
            ("log", "linear"),
            rf"Releases, $\varepsilon$ = {epsilon:g}",
            1.0,
        )
        for epsilon in (0.2, 2.0)
    ]
    stop = Panel(
        _exact(alternation),
        "Rounds $M$ of alternation",
        label,
        ("linear", "linear"),
        "Stop test as printed, $T$ = 64",
        1.0,
        steps=True,
    )
    return _figure([*panels, stop], foot=WEAKER.replace("\n", " "))


def dp_od(curves: pd.DataFrame) -> Drawn:
    """Return the bounds of DP-OD over epsilon by the angle of the second arm."""
    panel = Panel(
        _exact(curves),
        "Angle of arm 2 in degrees, arm 1 at 46",
        r"Lower bound / claimed $\varepsilon$",
        ("linear", "linear"),
        limit=1.0,
        ticks=range(0, 361, 60),
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


def _figure(panels: Sequence[Panel], foot: str = "") -> Drawn:
    """Return the panels side by side with one legend, and the drawn numbers.

    Args:
        panels: from left to right.
        foot: a sentence below them.
    """
    points = []
    drawn, all_axes = canvas(columns=len(panels))
    handles: dict[str, Any] = {}
    is_seen: set[bool] = set()
    for letter, axes, panel in zip("abc", all_axes, panels, strict=False):
        own = _draw(axes, panel, is_seen)
        if panel.steps:
            axes.legend(own.values(), own.keys(), loc="upper left")
        else:
            handles = own | handles
        several = len(panels) > 1
        axes.set_title(f"({letter}) {panel.title}" if several else panel.title)
        prefix = f"{letter}: " if several else ""
        points.append(panel.curves.assign(series=prefix + panel.curves["series"]))
    grey: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "#555555"}
    if False in is_seen:
        handles[SEEN] = Line2D([], [], **grey)
        handles[RARE] = Line2D([], [], **grey, **HOLLOW)
    if foot:
        drawn.supxlabel(foot, fontsize=7)
    add_legend(drawn, _by_channel(panels[0], handles))
    table = pd.concat(points, ignore_index=True)
    runs = table["runs"].fillna(0).astype(int) if "runs" in table else 0
    return drawn, table.assign(variant="as-written", interpretation="", runs=runs)


def _by_channel(panel: Panel, handles: dict[str, Any]) -> dict[str, Any]:
    """Return a legend of colours and of markers apart, where every colour has every marker."""
    looks = {_split(name): look for name, look in panel.looks.items()}
    heads, ends = ({parts[place]: None for parts in looks if parts[1]} for place in (0, 1))
    if len(heads) * len(ends) != sum(bool(end) for _, end in looks) or len(heads) * len(ends) < 6:
        return handles
    colours = {
        head: Line2D([], [], color=looks[head, end].colour) for end in ends for head in heads
    }
    grey: dict[str, Any] = {"linestyle": "none", "color": "#555555"}
    markers = {
        _label(end): Line2D([], [], marker=looks[head, end].marker, **grey)
        for head in heads
        for end in ends
    }
    joined = {_label(f"{head}, {end}") for head in heads for end in ends}
    return colours | markers | {name: line for name, line in handles.items() if name not in joined}


def _label(name: str) -> str:
    """Return what the legend calls a curve."""
    for pattern, sign in SIGNS.items():
        name = re.sub(pattern, sign, name)
    return name


HOLLOW: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 0.8}


def _draw(axes: Axes, panel: Panel, is_seen: set[bool]) -> dict[str, Any]:
    """Draw claims as lines, observable bounds as filled joined marks, others as hollow marks.

    Args:
        axes: where.
        panel: what is drawn.
        is_seen: to which is added whether bounds are observable.

    Returns:
        What stands for the curves in a legend.
    """
    handles: dict[str, Any] = {}
    if panel.limit is not None:
        axes.axhline(panel.limit, color="black", linewidth=0.8, linestyle=(0, (3, 2)))
    for name, curve in panel.curves.groupby("series", sort=False):
        look, label, curve = panel.looks[str(name)], _label(str(name)), curve.sort_values("x")
        if curve["kind"].iloc[0] != "lower":
            line = {"color": look.colour, "linestyle": palette.DASHES[look.dash], "linewidth": 1.2}
            handles[label] = axes.plot(curve["x"], curve["y"], clip_on=False, **line)[0]
            continue
        marks: dict[str, Any] = {"color": look.colour, "marker": look.marker}
        seen = curve["log10_chance"] >= OBSERVABLE
        is_seen |= set(seen)
        rare = curve[~seen]
        every = max(len(rare) // MANY, 1)
        hollow: dict[str, Any] = {"linestyle": "none", **HOLLOW}
        axes.plot(rare["x"].iloc[::every], rare["y"].iloc[::every], **marks, **hollow)
        handles[label] = _draw_seen(axes, curve, seen, marks)
    for which, scale in zip("xy", panel.scales, strict=True):
        if scale == "symlog":
            getattr(axes, f"set_{which}scale")(scale)
        else:
            style.style_axis(axes, which, scale, panel.ticks if which == "x" else None)
    if panel.limit is not None:
        axes.set_ylim(0.0, None)
    axes.set(xlabel=panel.x, ylabel=panel.y)
    if panel.note is not None:
        write_note(axes, *panel.note)
    return handles


def _draw_seen(
    axes: Axes, curve: Curves, is_seen: "pd.Series[bool]", marks: dict[str, Any]
) -> Line2D:
    """Draw observable bounds, joined where they are neighbours and exact; return their handle."""
    seen = curve[is_seen]
    lone: dict[str, Any] = {"linestyle": "none", **marks}
    if "x_lo" in seen and seen["x_lo"].notna().any():
        x = [seen["x"] - seen["x_lo"], seen["x_hi"] - seen["x"]]
        y = [seen["y"] - seen["lo"], seen["hi"] - seen["y"]]
        axes.errorbar(seen["x"], seen["y"], xerr=x, yerr=y, elinewidth=0.8, **lone)
    elif "runs" in seen and (seen["runs"] > 0).any():
        axes.plot(seen["x"], seen["y"], **lone)
    else:
        joined = {**marks, "marker": ""} if len(curve) > MANY else marks
        heights = curve["y"].where(is_seen)
        axes.plot(curve["x"], heights, linewidth=1.0, **joined)
        lone = joined if 2 * len(seen) > len(curve) else lone
    return Line2D([], [], **lone)


Draw = Callable[[pd.DataFrame], Drawn]

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


def summary(rows: pd.DataFrame) -> Drawn:
    """Return the figure and its points: series, variant, interpretation, x (ratio), y (line).

    Args:
        rows: all rows of the audit.
    """
    points = ratios(all_rows({"rows": rows}))
    names = list(dict.fromkeys(points["name"]))
    drawn, (axes,) = canvas(height=_HEIGHT * len(names) + 0.5)
    claiming = len(set(points["name"][points["verdict"] != NOTHING_CLAIMED])) - 0.5
    refuted: dict[str, Any] = {"color": COLOURS["vermillion"], "alpha": 0.07, "linewidth": 0}
    axes.fill_betweenx([-0.6, claiming], 1.0, MOST, zorder=0, **refuted)
    axes.plot([1.0, 1.0], [-0.6, claiming], color="black", linewidth=0.9, zorder=1)
    for _, point in points.iterrows():
        _mark(axes, point, names.index(point["name"]))
    _finish(axes, names)
    add_legend(drawn, _handles())
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


def _finish(axes: Axes, names: list[str]) -> None:
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
    axes.text(1.15, -0.75, "the bound exceeds the claim", fontsize=7, va="bottom")
    axes.text(0.87, -0.75, "not contradicted", fontsize=7, va="bottom", ha="right")


def _handles() -> dict[str, Line2D]:
    look: dict[str, Any] = {"linestyle": "none", "markersize": 4.2}
    grey: dict[str, Any] = {"marker": "o", "color": "#555555", **look}
    variants = {
        variant: Line2D([], [], marker=marker, color=colour, **look)
        for variant, (marker, colour) in LOOKS.items()
    }
    return variants | {
        SEEN: Line2D([], [], **grey),
        RARE: Line2D([], [], **HOLLOW, **grey),
        "unbounded": Line2D([], [], **{**grey, "marker": ">"}),
    }


DIAGRAMS: dict[str, Diagram] = {"extra-audit": summary, **CURVES}
"""Diagrams by figure, as the experiments file lists them."""
