"""From results to the lines of a panel: which rows each has, its name and its looks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.errors import InputError
from dpbandits.reporting.fields import fill
from dpbandits.reporting.nash import nash_quantities
from dpbandits.reporting.numbers import readable
from dpbandits.reporting.own_look import look_of
from dpbandits.reporting.palette import ALGORITHMS, COLOURS, MARKERS, NO_LINE, NO_MARKER
from dpbandits.reporting.points import POINTS
from dpbandits.reporting.published import PublishedSpec, reached_points
from dpbandits.reporting.rows import read_rows, require_column, select
from dpbandits.reporting.series_specs import NASH_METRICS, SeriesSpec
from dpbandits.reporting.specs import PanelSpec
from dpbandits.reporting.style import (
    OPEN_MARKS,
    Look,
    categorical_look,
    ordered_looks,
    tell_apart,
)

PUBLISHED = "published"
PUBLISHED_LABEL = "published, digitised"
"""The variant of digitised values in a csv, and what the legend calls them."""

VARIANTS = ("as-coded", "as-written", "repaired")
"""Variants of an algorithm, in the order in which their lines are told apart."""

Frames = Callable[[str], pd.DataFrame]
"""From the name of results to their table."""

Derived = Mapping[str, Callable[[Frames], pd.DataFrame]]
"""A paper's functions that make the rows of panels of kind ``derived``, by name."""


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a panel.

    Attributes:
        name: name in the csv.
        label: text in the legend.
        look: how it is drawn.
        points: columns variant, interpretation, x, y, lo, hi, runs; x ascending.
        published: digitised values of the published curve.
    """

    name: str
    label: str
    look: Look
    points: pd.DataFrame
    published: PublishedSpec | None = None


def panel_rows(panel: PanelSpec, frames: Frames, derived: Derived, place: str) -> pd.DataFrame:
    """Return the rows that a panel reads, or that a function of the paper makes of them.

    Args:
        panel: what it shows.
        frames: from the name of results to their table.
        derived: the paper's functions.
        place: figure and panel, for error messages.

    Raises:
        InputError: there is no such function, or it asks for results that the panel does not read.
    """
    if panel.compute is None:
        return read_rows(panel.reads, frames, f"{place}.reads")
    if panel.compute not in derived:
        allowed = ", ".join(derived) or "none"
        raise InputError(f"{place}.compute is {panel.compute!r}; allowed: {allowed}")

    def declared(name: str) -> pd.DataFrame:
        if name not in panel.reads:
            allowed = f"with {name}, which {panel.compute} asks for"
            raise InputError(f"{place}.reads is {', '.join(panel.reads)}; allowed: {allowed}")
        return frames(name)

    return derived[panel.compute](declared)


def panel_lines(panel: PanelSpec, frame: pd.DataFrame, place: str) -> list[Line]:
    """Return the lines of a panel, then the digitised values of those that have some.

    Args:
        panel: what it shows.
        frame: the results that it reads, in the long form of ``engine.results``; for kind
            ``analytic`` with columns x and y, for kind ``derived`` with lo, hi and runs, too.
        place: figure and panel, for error messages.

    Raises:
        InputError: a column is unknown, no row is left, or a line is not one curve.
    """
    rows = select(frame, panel.where, f"{place}.where")
    if panel.metric is not None:
        in_nash = panel.metric in NASH_METRICS
        recorded = nash_quantities(panel.metric) if in_nash else panel.metric
        rows = select(rows, {"metric": recorded}, f"{place}.metric")
    own = [
        select(rows, spec.where, f"{place}.series.{index}.where")
        for index, spec in enumerate(panel.series)
    ]
    levels = [spec.level for spec in panel.series]
    if any(levels):
        own = _spread_levels(str(panel.x.tag), own, levels, place)
    drawn = [
        (index, rows)
        for index, chosen in enumerate(own)
        for rows in _split(chosen, panel.series[index].by, f"{place}.series.{index}")
    ]
    lines = [
        _line(panel, panel.series[index], look, rows, f"{place}.series.{index}")
        for look, (index, rows) in zip(_looks(panel, drawn, place), drawn, strict=True)
    ]
    lines += [_marks(line, place) for line in lines if _reaches_a_interpretation(line)]
    names = [line.name for line in lines]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{place}.series: two lines are {name!r}; allowed: one each")
    return lines


def _spread_levels(
    tag: str, own: Sequence[pd.DataFrame], levels: Sequence[bool], place: str
) -> list[pd.DataFrame]:
    """Repeat the rows of level series, which have no value of the tag, at every value of others."""
    others = [rows for rows, level in zip(own, levels, strict=True) if not level]
    grid = sorted({value for rows in others if tag in rows for value in rows[tag].dropna()})
    if not grid:
        raise InputError(f"{place}.series: level lines alone; allowed: beside one with {tag}")
    spread = []
    for index, (rows, level) in enumerate(zip(own, levels, strict=True)):
        if level and tag in rows and rows[tag].notna().any():
            raise InputError(
                f"{place}.series.{index}.level is true; allowed: false, its rows have {tag}"
            )
        repeated = [rows.assign(**{tag: value}) for value in grid] if level else [rows]
        spread.append(pd.concat(repeated, ignore_index=True))
    return spread


def _split(frame: pd.DataFrame, by: str | None, place: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of each value of the column ``by``, ascending; all rows where it is None."""
    if by is None:
        yield frame
        return
    require_column(frame, by, f"{place}.by")
    for value in sorted(frame[by].dropna().unique()):
        yield frame[frame[by] == value]


def _looks(panel: PanelSpec, drawn: Sequence[tuple[int, pd.DataFrame]], place: str) -> list[Look]:
    """Return the looks of the lines of a panel, given as indices into its series and rows.

    A line of one algorithm has the algorithm's, lines by an ordered column have steps of one map,
    others what the file says. Where two have the same, open markers and another dash tell them
    apart.
    """
    values = [
        _ordered_value(panel.series[index], rows, f"{place}.series.{index}")
        for index, rows in drawn
    ]
    places = sorted({value for value in values if value is not None})
    steps = dict(zip(places, ordered_looks(len(places)), strict=True))
    looks = [
        steps[value] if value is not None else _look(panel.series[index], rows, index, place)
        for value, (index, rows) in zip(values, drawn, strict=True)
    ]
    apart = tell_apart(looks, _places(looks, [rows for _, rows in drawn]))
    series = (panel.series[index] for index, _ in drawn)
    return [_reduced(look, spec) for look, spec in zip(apart, series, strict=True)]


def _places(looks: Sequence[Look], tables: Sequence[pd.DataFrame]) -> list[int]:
    """Return the place of each line among those with its look.

    It is that of its variant where all of them differ in it, so that a variant looks alike in
    every figure; else lines of the default interpretation come first.
    """
    variants, changed = (_constants(tables, each) for each in ("variant", "interpretation"))
    places = []
    for index, look in enumerate(looks):
        alike = [other for other, known in enumerate(looks) if known == look]
        theirs = {variants[other] for other in alike}
        if len(alike) > 1 and len(theirs) == len(alike) and theirs <= set(VARIANTS):
            places.append(VARIANTS.index(variants[index]))
        else:
            alike.sort(key=lambda other: (changed[other] != "", other))
            places.append(alike.index(index))
    return places


def _constants(tables: Sequence[pd.DataFrame], column: str) -> list[str]:
    return [str(rows[column].iloc[0]) if column in rows else "" for rows in tables]


def _reduced(look: Look, spec: SeriesSpec) -> Look:
    """Return a look without markers, or without a line, where the file says so."""
    if spec.level or spec.marker == NO_MARKER:
        look = replace(look, marker=NO_MARKER)
    return replace(look, dash=NO_LINE) if spec.line == NO_LINE else look


def _ordered_value(spec: SeriesSpec, rows: pd.DataFrame, place: str) -> Any:
    """Return the value of the ordered column that colours a line; None where there is none."""
    column = spec.by or spec.shade
    if column is None:
        return None
    require_column(rows, column, f"{place}.shade")
    return rows[column].iloc[0]


def _look(spec: SeriesSpec, rows: pd.DataFrame, index: int, place: str) -> Look:
    """Return the look of a line that is not coloured by an ordered column.

    Raises:
        InputError: the file gives a line of one algorithm another look than the algorithm's.
    """
    algorithms = list(rows["algorithm"].unique()) if "algorithm" in rows else []
    given = {
        key: value
        for key in ("colour", "line", "marker")
        if (value := getattr(spec, key)) not in (None, NO_LINE, NO_MARKER)
    }
    if len(algorithms) == 1 and algorithms[0] in ALGORITHMS:
        for key, value in given.items():
            raise InputError(
                f"{place}.series.{index}.{key} is {value!r}; allowed: none, lines of "
                f"{algorithms[0]} have its look"
            )
    if len(algorithms) == 1 and not given:
        return look_of(algorithms[0])
    look = categorical_look(index)
    colour = look.colour if spec.colour is None else COLOURS[spec.colour]
    marker = look.marker if spec.marker in (None, NO_MARKER) else MARKERS[str(spec.marker)]
    dash = look.dash if spec.line in (None, NO_LINE) else str(spec.line)
    return replace(look, colour=colour, dash=dash, marker=marker)


def _line(panel: PanelSpec, spec: SeriesSpec, look: Look, rows: pd.DataFrame, place: str) -> Line:
    points = POINTS[panel.kind](panel, spec, rows, place)
    constant = {
        str(column): rows[column].iloc[0]
        for column in rows
        if rows[column].nunique(dropna=False) == 1
    }
    name = fill(spec.name, constant, f"{place}.name")
    label = readable(fill(spec.label or spec.name, constant, f"{place}.label"))
    for column, default in (("variant", "as-written"), ("interpretation", "")):
        points[column] = constant.get(column, default)
    if not np.isfinite(points["y"].to_numpy(dtype=float)).all():
        raise InputError(f"{place}: line {name!r} has values that are not finite; allowed: numbers")
    return Line(name, label, look, points, spec.published)


def _reaches_a_interpretation(line: Line) -> bool:
    """Return whether a digitised value has an x that the line reaches; small scales end before."""
    return line.published is not None and line.published.points[0][0] <= line.points["x"].max()


def _marks(line: Line, place: str) -> Line:
    """Return the digitised values of a line, as far as it goes, as open marks.

    Their lo and hi are the digitisation error.
    """
    assert line.published is not None
    known = dict(zip(line.points["x"], line.points["y"], strict=True))
    name = f"published {line.name}"
    rows = reached_points(line.published, known, f"{place}: {name}")
    points = pd.DataFrame(rows, columns=["x", "y", "tolerance"])
    low, high = points["y"] - points["tolerance"], points["y"] + points["tolerance"]
    points = points.assign(lo=low, hi=high, runs=0, variant=PUBLISHED, interpretation="")
    return Line(name, PUBLISHED_LABEL, replace(OPEN_MARKS, colour=line.look.colour), points)
