"""From names of looks to colours and marks; looks by a parameter's value; the user's own lines."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpbandits.config.looks import (
    ALGORITHMS,
    COLOURS,
    DASHES,
    FILLS,
    MARKERS,
    NO_LINE,
    NO_MARKER,
    STYLED,
    LookNames,
)
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.config.figures import PanelSpec, SeriesSpec

RAMP = (
    *("#e16462", "#d6556d", "#cc4778", "#bf3984", "#b12a90", "#a11b9b", "#8f0da4"),
    *("#7e03a8", "#6a00a8", "#5601a4", "#41049d", "#2a0593", "#0d0887"),
)
"""Steps of the map ``plasma`` from its first colour with a contrast of 3, light to dark."""


@dataclass(frozen=True)
class Look:
    """How one line is drawn; two channels, colour and line style or marker, tell lines apart.

    Colour and marker are as matplotlib takes them, the dash is a key of ``DASHES``, or they are
    ``none``; where it is ``hollow`` there are open marks alone, and no line.
    """

    colour: str
    dash: str
    marker: str
    hollow: bool = False
    fill: str = "full"


OPEN_MARKS = Look(COLOURS["black"], "solid", MARKERS["circle"], hollow=True)
"""What stands for all open marks in a legend."""


_PRE_PULLS: dict[float, int] = {0: 0, 1: 2, 5: 4, 10: 7, 50: 11}
_PRE_PULLS |= {500: 3, 1000: 5, 2000: 7, 5000: 9, 10000: 11, 100000: 12}
_DELTAS = {1e-6: 0, 1e-5: 2, 0.01: 4, 0.1: 6, 0.3: 8, 0.42: 10, 0.5: 10, 0.9: 12}
VALUES: dict[str, dict[float, int]] = {
    "b": _PRE_PULLS,
    # Only c (b + 1) enters the guarantee.
    "c": {b + 1: step for b, step in _PRE_PULLS.items()},
    "alpha": {0: 0, 0.25: 3, 0.5: 6, 0.75: 9, 1: 12},
    "delta": _DELTAS,
    "epsilon": {0.05: 0, 0.1: 2, 0.2: 3, 0.5: 6, 1: 9, 2: 12, math.inf: 12},
    "eta": {1: 0, 2: 6, 5: 12},
    "gap": {0.025: 0, 0.05: 6, 0.1: 12},
    "horizon": {10**7: 0, 10**8: 12},
    "arms": {2: 0, 5: 4, 20: 8, 50: 12},
    "batch": {1: 0, 2: 3, 4: 6, 8: 9, 16: 12},
    "runs_per_curve": {2: 0, 10: 6, 50: 12},
}
"""Ordered parameter -> the values that figures show, each with its step of ``RAMP``.

A value has the same look in every figure: beside the step, the dash and the marker of its place.
"""

_DASHED, _MARKED = [*DASHES], ("s", "^", "D", "v", "X", "P", "<", ">")


def value_looks(column: str, values: Sequence[Any]) -> list[Look]:
    """Return the looks of values of an ordered parameter: those of ``VALUES`` if all are there."""
    known = VALUES.get(column, {})
    if not set(values) <= set(known):
        return ordered_looks(len(values))
    places = [list(known).index(value) for value in values]
    return [
        Look(RAMP[known[value]], _DASHED[place % len(_DASHED)], _MARKED[place % len(_MARKED)])
        for value, place in zip(values, places, strict=True)
    ]


def ordered_looks(count: int) -> list[Look]:
    """Return looks, light to dark, for an ordered parameter; neighbours differ in all they have."""
    steps = (round(index * (len(RAMP) - 1) / max(count - 1, 1)) for index in range(count))
    return [
        Look(RAMP[step], _DASHED[index % len(_DASHED)], _MARKED[index % len(_MARKED)])
        for index, step in enumerate(steps)
    ]


def styled(look: Look, column: str, value: Any) -> Look:
    """Return the look of an algorithm at a value of a second parameter, by the fill of marks."""
    if value not in STYLED[column]:
        allowed = ", ".join(map(str, STYLED[column]))
        raise InputError(f"style: {column} is {value}; allowed: {allowed}")
    return replace(look, fill=FILLS[STYLED[column][value]])


def tell_apart(looks: Sequence[Look], places: Sequence[int] | None = None) -> list[Look]:
    """Return the looks with equal ones told apart, by their ``places``: in line style and fill."""
    if places is None:
        places = [list(looks[:index]).count(look) for index, look in enumerate(looks)]
    dashes = list(DASHES)
    return [
        replace(
            look,
            dash=dashes[(dashes.index(look.dash) + place) % len(dashes)],
            fill=FILLS[place % len(FILLS)],
        )
        for look, place in zip(looks, places, strict=True)
    ]


OWN_COLOUR, OWN_MARKERS = "#E6007E", ("*", "P", "X", "D", "v")
"""Colour of the user's lines, and their markers: stars, and others where there are several."""


def own_look(index: int) -> Look:
    """Return how the ``index``-th of the user's lines is drawn."""
    return _numbered(index, [OWN_COLOUR], OWN_MARKERS)


def _numbered(index: int, colours: Sequence[str], markers: Sequence[str]) -> Look:
    colour, dash, marker = (each[index % len(each)] for each in (colours, [*DASHES], markers))
    return Look(colour, dash, marker)


def look_of(algorithm: str, looks: Mapping[str, LookNames] = ALGORITHMS) -> Look:
    """Return the look that an algorithm has in every figure.

    Of an algorithm without one it follows from the id alone; two such algorithms may look alike,
    until one of them is given its own in ``paper.yaml``, or in `config.looks` if it is registered.
    """
    if algorithm not in looks:
        return own_look(int(hashlib.sha256(algorithm.encode()).hexdigest(), 16))
    colour, dash, marker = looks[algorithm]
    return Look(COLOURS[colour], dash, MARKERS[marker])


VARIANTS = ("as-coded", "as-written", "repaired")
"""Variants of an algorithm, in the order in which their lines are told apart."""


def looks_of(
    panel: "PanelSpec", drawn: Sequence[tuple[int, "pd.DataFrame"]], place: str
) -> list[Look]:
    """Return the looks of the lines of a panel, given as indices into its series and rows.

    A line of one algorithm has the algorithm's, lines by an ordered column have steps of one map,
    others what the file says. A second parameter decides the fill of marks; where two have the same
    look without one, other dashes and open marks tell them apart.
    """
    values = [
        _ordered_value(panel.series[index], rows, f"{place}.series.{index}")
        for index, rows in drawn
    ]
    places = sorted({value for value in values if value is not None})
    columns = {spec.by or spec.shade for spec in panel.series} - {None}
    column = columns.pop() if len(columns) == 1 else ""
    steps = dict(zip(places, value_looks(str(column), places), strict=True))
    looks = [
        steps[value] if value is not None else _look(panel, index, rows, place)
        for value, (index, rows) in zip(values, drawn, strict=True)
    ]
    apart = tell_apart(looks, _places(looks, [rows for _, rows in drawn]))
    specs = [panel.series[index] for index, _ in drawn]
    apart = [
        other if spec.style is None else styled(look, spec.style, rows[spec.style].iloc[0])
        for look, other, spec, (_, rows) in zip(looks, apart, specs, drawn, strict=True)
    ]
    return [
        replace(
            look,
            marker=NO_MARKER if spec.marker == NO_MARKER else look.marker,
            dash=NO_LINE if spec.line == NO_LINE else look.dash,
        )
        for look, spec in zip(apart, specs, strict=True)
    ]


def _places(looks: Sequence[Look], drawn: Sequence["pd.DataFrame"]) -> list[int]:
    """Return the place of each line among those with its look, by its variant or interpretation.

    It is that of its variant where all of them differ in it, so that a variant looks alike in
    every figure; else lines of the default interpretation come first.
    """
    variants, changed = (
        [str(rows[column].iloc[0]) if column in rows else "" for rows in drawn]
        for column in ("variant", "interpretation")
    )
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


def _ordered_value(spec: "SeriesSpec", rows: "pd.DataFrame", place: str) -> Any:
    """Return the value of the column that colours a line; None where there is none."""
    column = spec.by or spec.shade
    if column is None:
        return None
    if column not in rows:
        raise InputError(f"{place}.shade: no column {column!r}; allowed: {', '.join(rows.columns)}")
    return rows[column].iloc[0]


def _look(panel: "PanelSpec", index: int, rows: "pd.DataFrame", place: str) -> Look:
    """Return the look of a line without an ordered column; an algorithm keeps all but its dash."""
    spec, known = panel.series[index], {**panel.looks, **ALGORITHMS}
    algorithms = list(rows["algorithm"].unique()) if "algorithm" in rows else []
    given = {
        key: value
        for key in ("colour", "line", "marker")
        if (value := getattr(spec, key)) not in (None, NO_LINE, NO_MARKER)
    }
    if len(algorithms) == 1 and (algorithms[0] in known or not given):
        look = look_of(algorithms[0], known)
        look = replace(look, dash=given.pop("line", look.dash))
        for key, value in given.items():
            raise InputError(
                f"{place}.series.{index}.{key} is {value!r}; allowed: none, lines of "
                f"{algorithms[0]} have its look"
            )
        return look
    look = _numbered(index, [*COLOURS.values()], [*MARKERS.values()])
    return Look(
        COLOURS.get(given.get("colour", ""), look.colour),
        given.get("line", look.dash),
        MARKERS.get(given.get("marker", ""), look.marker),
    )
