"""Axes and lines of a panel, as the ``figures:`` section of an experiments file says them."""

from dataclasses import dataclass, field
from typing import Any

from dpbandits.errors import InputError
from dpbandits.reporting.fields import flag, mapping, one_of, require_keys, text
from dpbandits.reporting.nash import ESTIMATES
from dpbandits.reporting.palette import COLOURS, DASHES, MARKERS, NO_LINE, NO_MARKER
from dpbandits.reporting.published import PublishedSpec, parse_published
from dpbandits.reporting.rows import Where

SCALES = ("linear", "log", "categories")


@dataclass(frozen=True)
class AxisSpec:
    """One axis.

    Attributes:
        label: its label; mathtext between dollar signs.
        scale: ``linear``, ``log``, or (x of a kind in ``BY_TAG``) ``categories``, evenly spaced.
        tag: the column that x is read from, for kinds in ``BY_TAG``; ``t`` is the horizon itself.
        limits: lower and upper end; None leaves an end to the data.
        shaded: lower and upper end of a range (of x) that is shaded, and ``shaded_label``, what
            the legend calls it.
    """

    label: str
    scale: str = "linear"
    tag: str | None = None
    limits: tuple[float | None, float | None] = (None, None)
    shaded: tuple[float, float] | None = None
    shaded_label: str | None = None


@dataclass(frozen=True)
class SeriesSpec:
    """One line of a panel, or one for each value of the column ``by``.

    Attributes:
        name: name in the csv, a template over the columns that are constant along the line.
        where: rows that belong to it, column to value or list of values.
        by: ordered column; one line for each of its values.
        label: the same template for the legend (mathtext allowed); by default the name.
        shade: ordered column, whose values colour the lines of a panel that name one.
        colour: a name of ``palette.COLOURS``; by default the next one. Lines of one algorithm have
            the look of ``palette.ALGORITHMS``, whatever colour, line and marker are.
        line: a name of ``palette.DASHES``, or ``none``; by default the next one.
        marker: a name of ``palette.MARKERS``, or ``none``; by default the next one.
        level: for kinds in ``BY_TAG``, a series without a value of the tag on the x axis: a level
            line at every x of the panel's other lines.
        best: for kinds in ``NASH_KINDS``, what Nash regret is taken from; by default mu*, the
            largest mean.
        estimate: for kinds in ``NASH_KINDS``, one of ``nash.ESTIMATES``.
        published: digitised values of the published curve, drawn as marks.
    """

    name: str
    where: Where = field(default_factory=dict)
    by: str | None = None
    label: str | None = None
    shade: str | None = None
    colour: str | None = None
    line: str | None = None
    marker: str | None = None
    level: bool = False
    best: float | None = None
    estimate: str = "plain"
    published: PublishedSpec | None = None


def parse_axis(document: Any, where: str) -> AxisSpec:
    """Return a checked axis; InputError where it is not as it must be."""
    keys = require_keys(AxisSpec, document, where)
    text(keys["label"], f"{where}.label")
    one_of(keys.get("scale", "linear"), SCALES, f"{where}.scale")
    limits = keys.get("limits", [None, None])
    numbers = int | float | None
    if not isinstance(limits, list) or [isinstance(each, numbers) for each in limits] != [True] * 2:
        raise InputError(f"{where}.limits is {limits!r}; allowed: two numbers or nulls")
    keys["limits"] = tuple(limits)
    if keys.get("shaded") is not None:
        keys["shaded"] = _range(keys["shaded"], f"{where}.shaded")
        text(keys.get("shaded_label"), f"{where}.shaded_label")
    return AxisSpec(**keys)


def _range(value: Any, where: str) -> tuple[float, float]:
    numbers = isinstance(value, list) and [isinstance(each, int | float) for each in value]
    if numbers != [True] * 2 or value[0] >= value[1]:
        raise InputError(f"{where} is {value!r}; allowed: two numbers, ascending")
    return value[0], value[1]


def parse_series(document: Any, where: str) -> SeriesSpec:
    """Return a checked line of a panel; InputError where it is not as it must be."""
    keys = require_keys(SeriesSpec, document, where)
    text(keys["name"], f"{where}.name")
    keys["where"] = mapping(keys.get("where", {}), f"{where}.where")
    markers = (*MARKERS, NO_MARKER)
    for key, allowed in (("colour", COLOURS), ("line", (*DASHES, NO_LINE)), ("marker", markers)):
        if keys.get(key) is not None:
            one_of(keys[key], tuple(allowed), f"{where}.{key}")
    flag(keys.get("level", False), f"{where}.level")
    best = keys.get("best")
    if best is not None and not (isinstance(best, int | float) and 0 < best <= 1):
        raise InputError(f"{where}.best is {best!r}; allowed: a number above 0, at most 1")
    one_of(keys.get("estimate", ESTIMATES[0]), ESTIMATES, f"{where}.estimate")
    if keys.get("published") is not None:
        if keys.get("by") is not None:
            raise InputError(f"{where}.published: allowed: only for a single line, without by")
        keys["published"] = parse_published(keys["published"], f"{where}.published")
    return SeriesSpec(**keys)
