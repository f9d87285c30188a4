"""Figures of the audit: bounds along one quantity, and the largest bound of every algorithm."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
from numpy.typing import ArrayLike

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.blackbox import COUNTEREXAMPLE, NOTHING_CLAIMED
from dpbandits.auditing.gdp_ncb import FIXED_LENGTH
from dpbandits.comparisons.privacy_audit import (
    LOG10_OBSERVABLE,
    TRADEOFF_HORIZON,
    all_rows,
    ideal_mu,
)
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.panels import Drawn, canvas
from dpbandits.reporting import palette, style
from dpbandits.reporting.draw import Diagram
from dpbandits.reporting.palette import COLOURS

Curves = pd.DataFrame
"""Columns series, x, y, lo, hi, runs; ``log10_chance`` of the event, NaN for what is claimed."""

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

MU, EPSILON = r"$\mu$ of Gaussian DP", r"claimed $\varepsilon$"
"""A measure, and what bounds are divided by."""


@dataclass(frozen=True)
class Panel:
    """One panel: its curves and axes.

    Attributes:
        is_share: whether the bounds are divided by what is claimed, which is then the level 1.
        steps: whether the curves are steps of a parameter, named in the panel.
    """

    curves: Curves
    x: str
    y: str
    scales: tuple[str, str] = ("log", "log")
    title: str = ""
    is_share: bool = False
    steps: bool = False

    @cached_property
    def looks(self) -> dict[str, palette.Look]:
        """Looks by series: colours by how names begin, markers and dashes by how they end."""
        is_claimed = self.curves["log10_chance"].isna()
        kinds = dict(zip(self.curves["series"], is_claimed, strict=True))
        if self.steps:
            return dict(zip(kinds, palette.ordered_looks(len(kinds)), strict=True))
        dashes, markers = list(palette.DASHES), list(palette.MARKERS.values())
        ends: dict[bool, dict[str, int]] = {True: {}, False: {}}
        found = {}
        for name, kind in kinds.items():
            head, end = _split(name)
            place = ends[kind].setdefault(end, len(ends[kind]))
            found[name] = palette.Look(COLOURS[COLOURS_OF[head]], dashes[place], markers[place])
        return found


def _split(name: str) -> tuple[str, str]:
    """Return the method or variant of a curve, and what follows it."""
    if name in COLOURS_OF:
        return name, ""
    head, _, end = name.rpartition(", ")
    return head, end


def _share(
    curves: Curves, x: str, claim: str, scale: str, title: str = "", steps: bool = False
) -> Panel:
    """Return a panel of bounds over a claim."""
    return Panel(curves, x, f"Lower bound / {claim}", (scale, "linear"), title, True, steps)


def theorem_3(rows: pd.DataFrame) -> Drawn:
    """Return lower bounds on mu of Thompson sampling over T, and their shares of Theorem 3."""
    chosen = rows[rows["statement"] == "AUD-2"]
    horizons = np.unique(chosen["horizon"])
    names = chosen["engine"] + ", K=" + chosen["arms"].astype(str)
    curves = [
        _claims("claimed, sqrt(T/2)", horizons, np.sqrt(horizons / 2.0)),
        _claims("claimed, sqrt(T)", horizons, np.sqrt(horizons)),
        _bounds(chosen, names, "horizon"),
    ]
    return _beside_shares(curves, MU, r"$\sqrt{T/2}$")


def epsilons(rows: pd.DataFrame) -> Drawn:
    """Return lower bounds on epsilon at delta of Thompson sampling over T, and their shares."""
    curves = []
    for delta, part in rows[rows["statement"] == "AUD-4"].groupby("parameters", sort=False):
        curves.append(_claims(f"claimed, {delta}", part["horizon"], part["claimed"]))
        curves.append(_bounds(part, part["engine"] + f", {delta}", "horizon"))
    return _beside_shares(curves, r"$\varepsilon$ at $\delta$", EPSILON)


def _beside_shares(curves: list[Curves], y: str, claim: str) -> Drawn:
    """Return curves over T and, beside them, the lower bounds over what is claimed."""
    above = joined(curves)
    lower = above[above["log10_chance"].notna()]
    shares = _share(_over(lower, lower["claimed"]), "$T$", claim, "log", "Over the claim")
    drawn, table = _figure([Panel(above, "$T$", y, title="Claims and lower bounds"), shares])
    style.write_note(drawn.axes[1], WEAKER, "middle right")
    return drawn, table


def trade_off(curves: pd.DataFrame) -> Drawn:
    """Return the errors of the tests between two inputs of Thompson sampling, T = 100."""
    curves = curves.assign(log10_chance=np.where(curves["series"] == "claimed", np.nan, 0.0))
    labels = r"False alarm $\alpha$", r"Miss $\beta$"
    title = f"Thompson sampling, $T$ = {TRADEOFF_HORIZON}"
    linear = Panel(curves, *labels, ("linear", "linear"), title)
    drawn, table = _figure([linear, Panel(curves, *labels, title=f"{title}, log axes")])
    style.write_note(drawn.axes[0], "The claimed curve is\nthat close to the axes")
    return drawn, table


def modified(rows: pd.DataFrame) -> Drawn:
    """Return lower bounds on mu of Modified TS over the claimed eta, by pre-pulls b."""
    chosen = rows[rows["statement"] == "AUD-3"]
    eta = chosen["claimed"].round(9)
    curves = _over(_bounds(chosen, chosen["engine"] + eta.map(", eta={:g}".format), "b"), eta)
    label, claim = "Pre-pulls $b$ of every arm", r"claimed $\eta$"
    return _figure(
        [
            _share(part, label, claim, "symlog", f"$T$ = {horizon:,}")
            for horizon, part in curves.groupby("horizon")
        ]
    )


def budgets(rows: pd.DataFrame) -> Drawn:
    """Return the bounds of DP-TS-UCB and lower bounds over alpha, a panel for each T.

    Beside both stands the best that the first epoch can leak against a known threshold.
    """
    panels = []
    for horizon, field in rows[rows["statement"].isin(["AUD-7", "AUD-8"])].groupby("horizon"):
        own = field[field["statement"] == "AUD-7"].sort_values("engine", kind="stable")
        lattices = field[field["engine"] == "exact lattice"].groupby("statement")
        exact, tight = (part for _, part in lattices)
        alphas = _parameter(exact, "alpha")
        ideal = [ideal_mu(*each) for each in zip(alphas, exact["horizon"], strict=True)]
        curves = [
            _claims("Theorem 4.4", alphas, exact["claimed"]),
            _claims("tight version", _parameter(tight, "alpha"), tight["claimed"]),
            _bounds(own, own["engine"], "alpha"),
            _claims("ideal competitor", alphas, ideal),
        ]
        axes = r"$\alpha$ of DP-TS-UCB", MU, ("linear", "log")
        panels.append(Panel(joined(curves), *axes, f"$T$ = {horizon:,}"))
    return _figure(panels)


RELEASES = {
    ("AUD-13", ""): "as coded",
    ("AUD-14", FIXED_LENGTH): "Phase I of fixed length, natural logarithm",
    ("AUD-15", ""): "repaired",
}
"""(Statement, interpretation) of the curves over T -> their names."""


def _by_horizon(rows: pd.DataFrame, epsilon: float) -> Curves:
    """Return the bound of GDP-NCB's releases over its claim, by T.

    Beside them stands what all releases would cost if each lost the whole of its share,
    floor(log2((T - W)/2 + 1)) / ln T.
    """
    keys = zip(rows["statement"], rows["interpretation"], strict=True)
    named = rows.assign(series=[RELEASES.get(key, "") for key in keys])
    is_own = (named["algorithm"] == "gdp-ncb") & (named["claimed"] == epsilon)
    own = named[is_own & (named["series"] != "")].sort_values(["statement", "scaled", "horizon"])
    is_scaled = own["scaled"].astype(bool)
    names = own["series"] + np.where(is_scaled, ", small constants", ", published constants")
    lengths = [*map(int, np.unique(own["horizon"][~is_scaled]))]
    shares = [math.floor(math.log2((t - math.isqrt(t) - 1) / 2 + 1)) / math.log(t) for t in lengths]
    bounds = _bounds(own, names, "horizon", "ratio")
    return joined([bounds, _claims("number of releases / ln T", lengths, shares)])


def gdp_ncb(rows: pd.DataFrame) -> Drawn:
    """Return the bounds of GDP-NCB over epsilon: its releases over T, its stop test over M."""
    bounds, stop = rows[rows["statement"].notna()], rows[rows["threshold"].notna()]
    panels = []
    for epsilon in (0.2, 2.0):
        title = rf"Releases, $\varepsilon$ = {epsilon:g}"
        panels.append(_share(_by_horizon(bounds, epsilon), "$T$", EPSILON, "log", title))
    label, title = "Rounds $M$ of alternation", "Stop test as printed, $T$ = 64"
    panels.append(_share(_exact(stop), label, EPSILON, "linear", title, steps=True))
    return _figure(panels, foot=WEAKER.replace("\n", " "))


def dp_od(curves: pd.DataFrame) -> Drawn:
    """Return the bounds of DP-OD over epsilon by the angle of the second arm."""
    label = "Angle of arm 2 in degrees, arm 1 at 46"
    drawn, table = _figure([_share(_exact(curves), label, EPSILON, "linear")])
    style.style_axis(drawn.axes[0], "x", "linear", range(0, 361, 60))
    return drawn, table


def _claims(series: str, x: ArrayLike, y: ArrayLike) -> Curves:
    """Return what is claimed."""
    return curve(series, {"runs": 0}, np.asarray(x, float), np.asarray(y, float))


def _bounds(rows: pd.DataFrame, series: "pd.Series[str]", by: str, bound: str = "lower") -> Curves:
    """Return lower bounds by a column or parameter, with the smaller of both errors as chance."""
    x = rows[by] if by in rows else _parameter(rows, by)
    chance = rows[["log10_alpha", "log10_beta"]].min(axis=1)
    ends = dict.fromkeys(("y", "lo", "hi"), rows[bound])
    return rows.assign(series=series, x=x.astype(float), **ends, log10_chance=chance)


def _exact(curves: Curves) -> Curves:
    """Return curves of exact bounds."""
    return curves.assign(log10_chance=curves["log10_alpha"], runs=0)


def _over(curves: Curves, claim: "pd.Series[float]") -> Curves:
    """Return curves over a claim."""
    return curves.assign(**{key: curves[key] / claim for key in ("y", "lo", "hi")})


def _parameter(rows: pd.DataFrame, name: str) -> "pd.Series[float]":
    """Return a number from the parameters of rows, such as ``b=10, c=2``."""
    return rows["parameters"].str.extract(rf"\b{name}=([^,]+)")[0].astype(float)


def _figure(panels: Sequence[Panel], foot: str = "") -> Drawn:
    """Return the panels side by side with one legend, and the drawn numbers."""
    points: list[Curves] = []
    drawn, all_axes = canvas(columns=len(panels))
    handles: dict[str, Any] = {}
    for letter, axes, panel in zip("abc", all_axes, panels, strict=False):
        own = _draw(axes, panel)
        if panel.steps:
            axes.legend(own.values(), own.keys(), loc="upper left")
        else:
            handles = own | handles
        is_alone = len(panels) == 1
        axes.set_title(panel.title if is_alone else f"({letter}) {panel.title}")
        prefix = "" if is_alone else f"{letter}: "
        for name, part in panel.curves.groupby("series", sort=False):
            points.append(part.assign(series=f"{prefix}{name}"))
    table = pd.concat(points, ignore_index=True)
    if (table["log10_chance"] < LOG10_OBSERVABLE).any():
        handles |= _seen_and_rare()
    if foot:
        drawn.supxlabel(foot, fontsize=7)
    style.add_legend(drawn, _by_channel(panels[0], handles))
    runs = table["runs"].fillna(0).astype(int)
    return drawn, table.assign(variant="as-written", interpretation="", runs=runs)


def _by_channel(panel: Panel, handles: dict[str, Any]) -> dict[str, Any]:
    """Return a legend of colours and of markers apart, where every colour has every marker."""
    looks = {name: look for name, look in panel.looks.items() if _split(name)[1]}
    colours = {_split(name)[0]: look.colour for name, look in looks.items()}
    markers = {_split(name)[1]: look.marker for name, look in looks.items()}
    if len(looks) < 6 or len(looks) != len(colours) * len(markers):
        return handles
    heads = {head: Line2D([], [], color=colour) for head, colour in colours.items()}
    ends = {_label(end): Line2D([], [], **GREY | {"marker": markers[end]}) for end in markers}
    others = handles.keys() - {_label(name) for name in looks}
    return heads | ends | {name: line for name, line in handles.items() if name in others}


def _label(name: str) -> str:
    """Return what the legend calls a curve."""
    for pattern, sign in SIGNS.items():
        name = re.sub(pattern, sign, name)
    return name


HOLLOW: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 0.8}
GREY: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "#555555"}


def _seen_and_rare(**look: Any) -> dict[str, Line2D]:
    """Return the legend of filled and hollow marks."""
    grey = GREY | look
    return {SEEN: Line2D([], [], **grey), RARE: Line2D([], [], **grey, **HOLLOW)}


def _draw(axes: Axes, panel: Panel) -> dict[str, Any]:
    """Draw claims as lines and bounds as marks; return the handles of a legend."""
    handles: dict[str, Any] = {}
    if panel.is_share:
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle=(0, (3, 2)))
    for name, part in panel.curves.groupby("series", sort=False):
        look, drawn = panel.looks[str(name)], part.sort_values("x")
        if drawn["log10_chance"].isna().all():
            line = {"color": look.colour, "linestyle": palette.DASHES[look.dash], "linewidth": 1.2}
            [handle] = axes.plot(drawn["x"], drawn["y"], clip_on=False, **line)
        else:
            handle = _draw_bounds(axes, drawn, {"color": look.colour, "marker": look.marker})
        handles[_label(str(name))] = handle
    for which, scale in zip("xy", panel.scales, strict=True):
        if scale == "symlog":
            axes.set(**{f"{which}scale": scale})
        else:
            style.style_axis(axes, which, scale)
    if panel.is_share:
        axes.set_ylim(0.0, None)
    axes.set(xlabel=panel.x, ylabel=panel.y)
    return handles


def _draw_bounds(axes: Axes, bounds: Curves, marks: dict[str, Any]) -> Line2D:
    """Draw rare bounds as hollow marks, others as filled ones, joined where neighbours are exact.

    Return the handle of the latter.
    """
    is_seen = bounds["log10_chance"] >= LOG10_OBSERVABLE
    seen, rare = bounds[is_seen], bounds[~is_seen]
    lone = {"linestyle": "none", **marks}
    rare = rare[:: max(len(rare) // MANY, 1)]
    axes.plot(rare["x"], rare["y"], **lone, **HOLLOW)
    if "x_lo" in seen and seen["x_lo"].notna().any():
        x = [seen["x"] - seen["x_lo"], seen["x_hi"] - seen["x"]]
        y = [seen["y"] - seen["lo"], seen["hi"] - seen["y"]]
        axes.errorbar(seen["x"], seen["y"], xerr=x, yerr=y, elinewidth=0.8, **lone)
    elif (seen["runs"] > 0).any():
        axes.plot(seen["x"], seen["y"], **lone)
    else:
        joined = {**marks, "marker": ""} if len(bounds) > MANY else marks
        axes.plot(bounds["x"], bounds["y"].where(is_seen), linewidth=1.0, **joined)
        lone = joined if 2 * len(seen) > len(bounds) else lone
    return Line2D([], [], **lone)


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
        (marker, colour), filled = LOOKS[point["variant"]], point["kind"] == "observable"
        unbounded = np.isinf(point["x"])
        axes.plot(
            ARROW if unbounded else max(point["x"], LEAST),
            point["y"] + 0.24 * (list(LOOKS).index(point["variant"]) - 1),
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
    axes.set_xlabel("certified lower bound over the claimed bound")
    axes.text(1.15, -0.75, "the bound exceeds the claim", fontsize=7, va="bottom")
    axes.text(0.87, -0.75, "not contradicted", fontsize=7, va="bottom", ha="right")
    look: dict[str, Any] = {"linestyle": "none", "markersize": 4.2}
    variants = {
        variant: Line2D([], [], marker=marker, color=colour, **look)
        for variant, (marker, colour) in LOOKS.items()
    }
    arrow = Line2D([], [], **GREY | look | {"marker": ">"})
    style.add_legend(drawn, variants | _seen_and_rare(**look) | {"unbounded": arrow})
    return drawn, points.assign(series=points["name"] + ", " + points["kind"])


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the largest ratio of each line, variant and kind of event.

    Where nothing is claimed and a loss is unbounded by proof, the ratio is infinite.
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
            name = ", ".join(filter(None, [REGISTRY[algorithm].name, choice.partition("=")[2]]))
            name += " (claims nothing)" if (chosen["claimed"] == np.inf).all() else ""
            for _, part in chosen.groupby("variant", sort=False):
                for kind, group in (("observable", part[part["observable"]]), ("any event", part)):
                    if len(group):
                        row = group.loc[[group["ratio"].idxmax()]]
                        found.append(row.assign(name=name, kind=kind))
    return pd.concat(found, ignore_index=True)


DIAGRAMS: dict[str, Diagram] = {
    "extra-audit": summary,
    "extra-theorem-3": theorem_3,
    "extra-epsilon": epsilons,
    "extra-trade-off": trade_off,
    "extra-modified": modified,
    "extra-budgets": budgets,
    "extra-gdp-ncb": gdp_ncb,
    "extra-dp-od": dp_od,
}
"""Diagrams by figure, as the experiments file lists them."""
