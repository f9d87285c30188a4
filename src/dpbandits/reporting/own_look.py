"""The look of user-defined algorithms, and of others without one: a colour that no line has."""

import hashlib

from dpbandits.reporting.palette import ALGORITHMS, DASHES
from dpbandits.reporting.style import Look, algorithm_look

OWN_COLOUR = "#E6007E"
"""Colour of the user's lines."""

OWN_MARKERS = ("*", "P", "X", "D", "v")
"""Their markers: stars, and others where there are several."""


def own_look(index: int) -> Look:
    """Return how the ``index``-th of the user's lines is drawn."""
    dashes = list(DASHES)
    marker = OWN_MARKERS[index % len(OWN_MARKERS)]
    return Look(OWN_COLOUR, dashes[index % len(dashes)], marker)


def look_of(algorithm: str) -> Look:
    """Return the look that an algorithm has in every figure.

    It is that of ``palette.ALGORITHMS``. Of an algorithm that is not there it follows from the id
    alone; two such algorithms may have one look, until one of them is given its own there.

    Args:
        algorithm: any id.
    """
    if algorithm in ALGORITHMS:
        return algorithm_look(algorithm)
    return own_look(int(hashlib.sha256(algorithm.encode()).hexdigest(), 16))
