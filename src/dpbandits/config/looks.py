"""Looks of lines by the names that the config has for them, and the look of each algorithm."""

from collections.abc import Mapping
from typing import Any

COLOURS = {
    "blue": "#0173b2",
    "orange": "#c07800",
    "green": "#0a9a5e",
    "vermillion": "#d55e00",
    "purple": "#4e2a78",
    "brown": "#583f22",
    "grey": "#7e7e7e",
    "sky": "#3596d8",
    "black": "#000000",
    "wine": "#882255",
    "olive": "#4d4d00",
    "indigo": "#332288",
    "teal": "#2a8c7d",
    "rose": "#a5304a",
    "forest": "#117733",
}
"""Colours of lines: with a contrast of 3 or more on white, those that meet in one panel apart for
colour-blind readers (a test says how far)."""

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
"""The word of an experiments file for markers without a line, and for a line without markers."""

LookNames = tuple[str, str, str]
"""Names of a colour, a line style and a marker."""

ALGORITHMS: Mapping[str, LookNames] = {
    # Gaussian DP.
    "m-ts-gaussian": ("orange", "dashed", "circle"),
    "dp-ts-ucb": ("sky", "solid", "square"),
    # Pure DP.
    "dp-se": ("brown", "dash-dot", "diamond"),
    "anytime-lazy-ucb": ("green", "solid", "triangle"),
    "lazy-dp-ts": ("purple", "solid", "triangle-down"),
    "dp-ts": ("grey", "dotted", "cross"),
    "adap-ucb": ("vermillion", "dashed", "square"),
    "gdp-ncb": ("blue", "solid", "circle"),
    "anytime-gdp-ncb": ("blue", "dash-dot", "hexagon"),
    # Local DP.
    "ldp-ucb-l": ("wine", "long", "pentagon"),
    "ldp-ncb": ("olive", "dotted", "triangle-left"),
    "anytime-ldp-ncb": ("olive", "dash-dot-dot", "triangle-right"),
    # Not private: black.
    "ts-gaussian": ("black", "dotted", "star"),
    "ucb1": ("black", "long", "plus"),
    "ncb": ("black", "dash-dot", "diamond"),
    "kl-ucb": ("black", "dashed", "square"),
    "ts-beta": ("black", "solid", "circle"),
    # Best arms.
    "dp-bai": ("indigo", "solid", "circle"),
    "baseline": ("teal", "dashed", "square"),
    "dp-od": ("rose", "dash-dot", "triangle"),
    "dp-bai-gauss": ("forest", "dotted", "pentagon"),
    "od-linbai": ("black", "long", "diamond"),
    "sequential-halving": ("black", "dash-dot-dot", "cross"),
}
"""Id of an algorithm -> its colour, line style and marker in every figure.

A colour is of one algorithm, except that those that are not private are black and that the two
forms, with and without a known horizon, of one algorithm share theirs; lines and markers differ.
"""

FILLS = ("full", "open", "half")
"""How markers are filled."""

STYLED: dict[str, dict[float, int]] = {"epsilon": {0.1: 0, 1: 1, 0.5: 2}}
"""Parameter by which lines of one algorithm differ -> an index in ``FILLS`` for each value."""
