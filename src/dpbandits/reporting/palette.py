"""Looks of lines, known without loading the plotting library: one for each algorithm."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.reporting.spec import PanelSpec, SeriesSpec

COLOURS = {
    "blue": "#0173b2",
    "orange": "#de8f05",
    "green": "#029e73",
    "vermillion": "#d55e00",
    "purple": "#cc78bc",
    "brown": "#ca9161",
    "grey": "#949494",
    "sky": "#56b4e9",
    "black": "#000000",
    "wine": "#882255",
    "olive": "#999933",
    "indigo": "#332288",
    "teal": "#44aa99",
    "rose": "#cc6677",
    "forest": "#117733",
}
"""Colours of seaborn's palette ``colorblind``, without its yellow and its pink, black, and six of
Paul Tol's palette ``muted``, which stay apart from them for colour-blind readers."""

_ORDERED = (
    "f69c73f69b71f59970f5976ef5966cf5946bf59269f59067f58f66f58d64f58b63f58a61f58860f4865ef4845d"
    "f4835bf4815af47f58f47d57f47c55f47a54f37852f37651f37450f3734ef3714df26f4cf26d4bf26b49f26948"
    "f26747f16646f16445f16244f06043f05e42f05c42ef5a41ef5840ef5640ee543fee523fed503eed4e3eec4c3e"
    "ec4a3eeb483eeb463eea443ee9423ee8403ee83f3fe73d3fe63b40e53940e43841e33641e23442e13342e03143"
    "df2f44de2e44dd2c45dc2b46db2946d92847d82748d72549d62449d5224ad3214bd2204cd11f4ccf1e4dce1d4e"
    "cd1c4ecb1b4fca1a50c81951c71951c51852c41753c21753c11754bf1654bd1655bc1656ba1656b91657b71657"
    "b51657b41658b21758b01759af1759ad1759ab185aaa185aa8185aa6195aa4195ba3195ba11a5b9f1a5b9e1a5b"
    "9c1b5b9a1b5b981b5b971c5b951c5b931c5b921c5b901d5b8e1d5b8c1d5b8b1d5b891e5b871e5b861e5b841e5a"
    "821e5a811e5a7f1e5a7d1f5a7b1f597a1f59781f59761f58751f58731f58711f57701f576e1f576d1f566b1f56"
    "691f55681f55661f54641f54631f53611f53601f525e1f525c1e515b1e51591e50581e4f561e4f541e4e531e4d"
    "511e4d501d4c4e1d4b4c1d4b4b1d4a491d49481c48461c48451c47431c46421b45401b443f1b433d1a423c1a42"
    "3a1a41381a4037193f35193e34193d"
)

ORDERED = tuple(f"#{_ORDERED[i : i + 6]}" for i in range(0, len(_ORDERED), 6))
"""Colours 51 to 220 of the 256 of seaborn's map ``rocket_r``, light to dark.

The ends are too light and too dark to be told apart. Importing it takes longer than drawing.
"""

DASHES: dict[str, Any] = {
    "solid": "solid",
    "dashed": (0, (4.5, 1.5)),
    "dotted": (0, (1.2, 1.2)),
    "dash-dot": (0, (5, 1.4, 1.2, 1.4)),
    "long": (0, (8, 2)),
    "dash-dot-dot": (0, (5, 1.4, 1.2, 1.4, 1.2, 1.4)),
}

MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "X",
    "plus": "P",
    "triangle-left": "<",
    "triangle-right": ">",
    "pentagon": "p",
    "hexagon": "h",
    "star": "*",
}

NO_MARKER = "none"
NO_LINE = "none"
"""What an experiments file says of a line without markers, and of markers without a line."""

Names = tuple[str, str, str]
"""Of a colour, a line style and a marker."""

_LOOKS = yaml.safe_load(Path(__file__).with_name("looks.yaml").read_text("utf-8"))
ALGORITHMS: Mapping[str, Names] = {algorithm: (*names,) for algorithm, names in _LOOKS.items()}
"""Id of an algorithm -> its colour, line style and marker in every figure of the project.

They are in a file that is no source, so that a figure depends on the looks of what it draws alone
(``Study.figure_entries``).

A colour is of one algorithm, except that those that are not private are black and that the two
forms, with and without a known horizon, of one algorithm share theirs; lines and markers differ.
"""

FILLS = ("full", "open", "half")
"""How markers are filled."""


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


def ordered_looks(count: int) -> list[Look]:
    """Return looks, light to dark, for an ordered parameter; neighbours differ in all they have."""
    places = [0.2 + index * ((0.86 - 0.2) / max(count - 1, 1)) for index in range(count)]
    colours = [ORDERED[int(place * 256) - 51] for place in places]
    # From the second marker on: the first, on a solid line, is an algorithm's.
    markers = itertools.cycle([*MARKERS.values()][1:])
    dashes = itertools.cycle([*DASHES][:3])
    return [Look(*look) for look in zip(colours, dashes, markers, strict=False)]


def tell_apart(looks: Sequence[Look], places: Sequence[int] | None = None) -> list[Look]:
    """Return the looks, equal ones apart by their ``places``: by line style and fill of marks."""
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


def look_of(algorithm: str, looks: Mapping[str, Names] = ALGORITHMS) -> Look:
    """Return the look that an algorithm has in every figure.

    Of an algorithm without one it follows from the id alone; two such algorithms may look alike,
    until one of them is given its own in ``paper.yaml``, or in ``looks.yaml`` if it is registered.
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
        steps[value] if value is not None else _look(panel, index, rows, place)
        for value, (index, rows) in zip(values, drawn, strict=True)
    ]
    apart = tell_apart(looks, _places(looks, [rows for _, rows in drawn]))
    specs = (panel.series[index] for index, _ in drawn)
    return [
        replace(
            look,
            marker=NO_MARKER if spec.level or spec.marker == NO_MARKER else look.marker,
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
    """Return the look of a line without an ordered column; an algorithm's cannot be overruled."""
    spec, known = panel.series[index], panel.looks or ALGORITHMS
    algorithms = list(rows["algorithm"].unique()) if "algorithm" in rows else []
    given = {
        key: value
        for key in ("colour", "line", "marker")
        if (value := getattr(spec, key)) not in (None, NO_LINE, NO_MARKER)
    }
    if len(algorithms) == 1 and (algorithms[0] in known or not given):
        for key, value in given.items():
            raise InputError(
                f"{place}.series.{index}.{key} is {value!r}; allowed: none, lines of "
                f"{algorithms[0]} have its look"
            )
        return look_of(algorithms[0], known)
    look = _numbered(index, [*COLOURS.values()], [*MARKERS.values()])
    return Look(
        COLOURS.get(given.get("colour", ""), look.colour),
        given.get("line", look.dash),
        MARKERS.get(given.get("marker", ""), look.marker),
    )
