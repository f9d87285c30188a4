"""What a figure shows, as the ``figures:`` section of an experiments file says it."""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from dpbandits.errors import InputError
from dpbandits.metrics import CURVES
from dpbandits.reporting.fields import flag, mapping, names, one_of, require_keys, text
from dpbandits.reporting.nash import ESTIMATES, NASH_METRICS
from dpbandits.reporting.rows import Where
from dpbandits.reporting.series_specs import AxisSpec, SeriesSpec, parse_axis, parse_series

RATE_METRICS = ("success",)
"""Metrics counted over trials whose share is shown."""

KINDS: dict[str, tuple[str, ...]] = {
    "curve": tuple(CURVES),
    "final": tuple(CURVES),
    "rate": RATE_METRICS,
    "nash": NASH_METRICS,
    "nash-final": NASH_METRICS,
    "analytic": (),
    "derived": (),
}
"""Kinds of panels, and the metrics that each shows."""

BY_TAG = ("final", "rate", "nash-final")
"""Kinds of panels whose x axis is a tag of the series."""

DERIVED = "derived"
"""Kind of a panel whose values a function of the paper derives from simulations."""

NASH_KINDS = ("nash", "nash-final")
"""Kinds of panels that show Nash regret."""

DIAGRAM = "diagram"
"""Kind of a whole figure that a function of the paper draws."""


@dataclass(frozen=True)
class PanelSpec:
    """One panel.

    Attributes:
        kind: ``curve`` (mean of a metric over t), ``final`` (mean at the horizon of the series
            against a tag), ``rate`` (share of successful trials against a tag), ``nash`` (Nash
            regret over t), ``nash-final`` (at the horizon of the series against a tag),
            ``analytic`` (exact values) or ``derived`` (values that ``compute`` returns).
        reads: names of the simulations or exact results, whose rows are put together.
        x, y: the axes.
        series: the lines.
        metric: what is averaged over runs, for kinds ``curve`` and ``final``, counted over trials,
            for kind ``rate``, or the means that score, for kinds in ``NASH_KINDS``.
        compute: for kind ``derived``, a function of the paper's module ``derived``, which makes
            the rows from the results.
        where: rows that the panel shows, column to value or list of values.
        title: text above the panel.
    """

    kind: str
    reads: tuple[str, ...]
    x: AxisSpec
    y: AxisSpec
    series: tuple[SeriesSpec, ...]
    metric: str | None = None
    compute: str | None = None
    where: Where = field(default_factory=dict)
    title: str | None = None


@dataclass(frozen=True)
class FigureSpec:
    """A whole figure: its panels by letter (one without a letter where there are none).

    A diagram (``kind: diagram``) has no panels: the paper's module ``diagrams`` draws it from
    the results ``diagram_reads``. With ``residuals`` the lines are compared with the digitised
    values of the published ones, in a strip below each panel. With ``direct_labels`` lines that
    not all panels have are named at their right ends, not in a legend.
    """

    name: str
    caption: str
    panels: Mapping[str, PanelSpec]
    share_y: bool = False
    residuals: bool = False
    direct_labels: bool = False
    diagram_reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class _FigureKeys:
    """Keys of an entry of ``figures:`` that are not keys of a panel."""

    caption: str
    panels: Mapping[str, Any] = field(default_factory=dict)
    share_y: bool = False
    residuals: bool = False
    direct_labels: bool = False


@dataclass(frozen=True)
class _DiagramKeys:
    """Keys of an entry of ``figures:`` of kind ``diagram``."""

    kind: str
    caption: str
    reads: str | list[str]


def parse_figure(name: str, document: Mapping[str, Any]) -> FigureSpec:
    """Return the checked entry of one figure.

    Keys of a panel that stand beside ``panels`` hold for all panels; a panel may override them.

    Args:
        name: key of the entry, such as ``fig2`` or ``extra-fig6-corrected``.
        document: the entry.

    Raises:
        InputError: a key is unknown, missing or not allowed, naming figure, panel and key.
    """
    where = f"figures.{name}"
    given = mapping(document, where)
    if given.get("kind") == DIAGRAM:
        keys = require_keys(_DiagramKeys, given, where)
        caption = _caption(keys["caption"], where)
        return FigureSpec(name, caption, {}, diagram_reads=names(keys["reads"], f"{where}.reads"))
    own = [each.name for each in fields(_FigureKeys)]
    shared = [each.name for each in fields(PanelSpec)]
    unknown = [str(key) for key in given if key not in [*own, *shared]]
    if unknown:
        allowed = ", ".join([*own, *shared])
        raise InputError(f"{where}: unknown key {', '.join(unknown)}; allowed: {allowed}")
    keys = require_keys(_FigureKeys, {k: v for k, v in given.items() if k in own}, where)
    defaults = {key: value for key, value in given.items() if key in shared}
    return FigureSpec(
        name,
        _caption(keys["caption"], where),
        _panels(mapping(keys.get("panels", {}), f"{where}.panels"), defaults, where),
        flag(keys.get("share_y", False), f"{where}.share_y"),
        flag(keys.get("residuals", False), f"{where}.residuals"),
        flag(keys.get("direct_labels", False), f"{where}.direct_labels"),
    )


def _caption(value: Any, where: str) -> str:
    return " ".join(text(value, f"{where}.caption").split())


def _panels(
    panels: Mapping[str, Any], defaults: Mapping[str, Any], where: str
) -> dict[str, PanelSpec]:
    if not panels:
        return {"": _panel(defaults, where)}
    letters = list(string.ascii_lowercase[: len(panels)])
    if list(panels) != letters or len(panels) < 2:
        found = ", ".join(map(str, panels))
        raise InputError(f"{where}.panels is {found}; allowed: a, b, ... in order, at least two")
    return {
        letter: _panel({**defaults, **mapping(panels[letter], place)}, place)
        for letter, place in ((letter, f"{where}.panels.{letter}") for letter in letters)
    }


def _panel(document: Mapping[str, Any], where: str) -> PanelSpec:
    keys = require_keys(PanelSpec, document, where)
    kind = one_of(keys["kind"], tuple(KINDS), f"{where}.kind")
    keys["reads"] = names(keys["reads"], f"{where}.reads")
    if keys.get("title") is not None:
        text(keys["title"], f"{where}.title")
    keys["x"] = parse_axis(keys["x"], f"{where}.x")
    keys["y"] = parse_axis(keys["y"], f"{where}.y")
    keys["where"] = mapping(keys.get("where", {}), f"{where}.where")
    if not isinstance(keys["series"], list) or not keys["series"]:
        raise InputError(f"{where}.series is {keys['series']!r}; allowed: a list of lines")
    keys["series"] = tuple(
        parse_series(each, f"{where}.series.{index}") for index, each in enumerate(keys["series"])
    )
    _require_fitting(kind, keys, where)
    return PanelSpec(**keys)


def _require_fitting(kind: str, keys: Mapping[str, Any], where: str) -> None:
    """Raise InputError where keys do not fit the kind of panel."""
    if KINDS[kind]:
        one_of(keys.get("metric"), KINDS[kind], f"{where}.metric")
    elif "metric" in keys:
        raise InputError(f"{where}.metric is {keys['metric']!r}; allowed: none, kind is {kind}")
    if (keys.get("compute") is not None) != (kind == DERIVED):
        allowed = "a function of the paper" if kind == DERIVED else f"none, kind is {kind}"
        raise InputError(f"{where}.compute is {keys.get('compute')!r}; allowed: {allowed}")
    by_tag = kind in BY_TAG
    if (keys["x"].tag is not None) != by_tag:
        allowed = "a column" if by_tag else f"none, kind is {kind}"
        raise InputError(f"{where}.x.tag is {keys['x'].tag!r}; allowed: {allowed}")
    for axis in ("x", "y"):
        if keys[axis].scale == "categories" and not (by_tag and axis == "x"):
            raise InputError(f"{where}.{axis}.scale is 'categories'; allowed: linear, log")
    for index, series in enumerate(keys["series"]):
        if series.level and not by_tag:
            raise InputError(
                f"{where}.series.{index}.level is true; allowed: false, kind is {kind}"
            )
        own = (series.best, series.estimate) != (None, ESTIMATES[0])
        if own and kind not in NASH_KINDS:
            raise InputError(
                f"{where}.series.{index}: keys best and estimate; allowed: none, kind is {kind}"
            )


def panel_stem(figure: str, letter: str) -> str:
    """Return the file name of a panel: ``fig1b``, ``fig1b-repaired``, ``extra-NAME-b``."""
    if not letter:
        return figure
    numbered = re.fullmatch(r"(fig\d+)(-.+)?", figure)
    if numbered is None:
        return f"{figure}-{letter}"
    return f"{numbered[1]}{letter}{numbered[2] or ''}"


def figure_stems(name: str, document: Mapping[str, Any]) -> list[str]:
    """Return the file names, without suffix, that drawing a figure writes: panels, then whole."""
    panels = parse_figure(name, document).panels
    return list(dict.fromkeys([*(panel_stem(name, letter) for letter in panels), name]))


def figure_reads(name: str, document: Mapping[str, Any]) -> list[str]:
    """Return the names of the simulations and exact results that a figure reads."""
    figure = parse_figure(name, document)
    of_panels = [each for panel in figure.panels.values() for each in panel.reads]
    return list(dict.fromkeys([*figure.diagram_reads, *of_panels]))
