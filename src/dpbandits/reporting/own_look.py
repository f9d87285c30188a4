"""The look of user-defined algorithms: one colour that no other line has."""

from dpbandits.reporting.palette import DASHES
from dpbandits.reporting.style import Look

OWN_COLOUR = "#E6007E"
"""Colour of the user's lines."""

OWN_MARKERS = ("*", "P", "X", "D", "v")
"""Their markers: stars, and others where there are several."""


def own_look(index: int) -> Look:
    """Return how the ``index``-th of the user's lines is drawn."""
    dashes = list(DASHES)
    marker = OWN_MARKERS[index % len(OWN_MARKERS)]
    return Look(OWN_COLOUR, dashes[index % len(dashes)], marker)
