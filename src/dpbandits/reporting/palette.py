"""Colours, dashes and markers by name, known without loading the plotting library."""

from typing import Any

COLOURS = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "orange": "#E69F00",
    "black": "#000000",
}
"""Colours that colour-blind readers tell apart (Okabe and Ito, 2008; without its yellow)."""

STEPS = {
    "step-1": "#fdae32",
    "step-2": "#d8576b",
    "step-3": "#8e0ca4",
    "step-4": "#20068f",
}
"""Four steps of one sequential map, light to dark as a parameter grows."""

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
}
"""Markers by name."""

NO_MARKER = "none"
