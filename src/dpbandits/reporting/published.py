"""Digitised values of published curves, drawn as marks and compared with ours.

They are reference points, never results.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from dpbandits.config.documents import AtLeastZero, Spec, Text
from dpbandits.errors import InputError

AGREES, BY_CHANCE, DIFFERS = "agrees", "with our interval", "differs"
REPRODUCED = "reproduced"
SHARE_REPRODUCED = 0.95
"""A 95 % interval misses one value in twenty: a curve or panel is reproduced where no more do."""

_ROUNDING = 1e-12

Point = tuple[AtLeastZero, AtLeastZero, AtLeastZero]
"""x, y and the digitisation error of y."""


def _ascends(points: tuple[Point, ...]) -> tuple[Point, ...]:
    places = [point[0] for point in points]
    if any(first >= second for first, second in pairwise(places)):
        raise ValueError("x should ascend")
    return points


class PublishedSpec(Spec):
    """Digitised values of one published curve.

    Attributes:
        panel: the panel of the published figure.
        series: the curve's name in the file of digitised values.
        points: x, y and the digitisation error y, x ascending; from that file.
    """

    panel: Text
    series: Text
    points: Annotated[tuple[Point, ...], Field(min_length=1), AfterValidator(_ascends)] = ()


def has_published(document: Mapping[str, Any]) -> bool:
    """Return whether a figure is compared with digitised values.

    Other figures may show them; they are compared once.

    Args:
        document: its entry in the ``figures:`` section of an experiments file.
    """
    return document.get("residuals") is True


def allowance(ours: float, lo: float, hi: float, published: float, tolerance: float) -> float:
    """Return how far off ours may be: the digitisation error, and our interval on that side."""
    return tolerance + (hi - ours if published > ours else ours - lo)


def agreement(difference: float, tolerance: float, allowed: float) -> str:
    """Return whether a number of ours agrees with a digitised one.

    Args:
        difference: ours minus the digitised value.
        tolerance: the digitisation error, within which it ``agrees``.
        allowed: see ``allowance``; within it is ``with our interval``, beyond it ``differs``.
    """
    distance = abs(difference) - _ROUNDING
    if distance <= tolerance:
        return AGREES
    return BY_CHANCE if distance <= allowed else DIFFERS


def is_reproduced(found: Sequence[str]) -> bool:
    """Return whether at least ``SHARE_REPRODUCED`` of the values are within what is allowed."""
    return found.count(DIFFERS) <= (1.0 - SHARE_REPRODUCED) * len(found) + _ROUNDING


def reached_points(
    published: PublishedSpec, known: Mapping[float, Any], place: str
) -> list[tuple[float, float, float]]:
    """Return the digitised points as far as our curve goes, at each of which it must be recorded.

    Args:
        published: the digitised values.
        known: x to what is known of our curve there.
        place: what this is, for error messages.

    Raises:
        InputError: our curve is not recorded at the x of a point.
    """
    reached = [point for point in published.points if point[0] <= max(known)]
    missing = [x for x, _, _ in reached if x not in known]
    if missing:
        raise InputError(f"{place}: x is {missing[0]:g}; allowed: an x at which ours is recorded")
    return reached
