"""Looks by name, known without loading the plotting library: one look for each algorithm."""

from typing import Any

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
}
"""Colours of seaborn's palette ``colorblind``, without its yellow and its pink, and black."""

DASHES: dict[str, Any] = {
    "solid": "solid",
    "dashed": (0, (4.5, 1.5)),
    "dotted": (0, (1.2, 1.2)),
    "dash-dot": (0, (5, 1.4, 1.2, 1.4)),
    "long": (0, (8, 2)),
    "dash-dot-dot": (0, (5, 1.4, 1.2, 1.4, 1.2, 1.4)),
}
"""Line styles by name."""

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
"""Markers by name."""

NO_MARKER = "none"
NO_LINE = "none"
"""What an experiments file says of a line without markers, and of markers without a line."""

ALGORITHMS = {
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
    "ldp-ucb-l": ("purple", "long", "pentagon"),
    "ldp-ncb": ("green", "dotted", "triangle-left"),
    "anytime-ldp-ncb": ("green", "dash-dot-dot", "triangle-right"),
    # Not private: black.
    "ts-gaussian": ("black", "dotted", "star"),
    "ucb1": ("black", "long", "plus"),
    "ncb": ("black", "dash-dot", "diamond"),
    # Best arms, which no figure draws beside regret.
    "dp-bai": ("blue", "solid", "circle"),
    "baseline": ("green", "dashed", "square"),
    "dp-od": ("vermillion", "dash-dot", "triangle"),
    "dp-bai-gauss": ("purple", "dotted", "pentagon"),
    "od-linbai": ("black", "long", "diamond"),
    "sequential-halving": ("grey", "dash-dot-dot", "cross"),
}
"""Id of an algorithm -> its colour, line style and marker in every figure of the project.

Two algorithms of one colour are never in one panel, except those that are not private and the two
forms, with and without a known horizon, of one algorithm; their lines and markers differ.
"""
