"""Digitised values of published curves, drawn as marks and compared with ours.

They are reference points, never results.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from dpbandits.engine.models import Allowed, AtLeastZero, Spec, Text, wrong
from dpbandits.errors import InputError

AGREES, NEARLY, NOT = "agrees", "nearly", "not"
REPRODUCED = "reproduced"
NEARLY_WITHIN = 3.0
"""A digitised value agrees within its allowance, and nearly within three times it."""

_ROUNDING = 1e-12

Point = tuple[AtLeastZero, AtLeastZero, AtLeastZero]
"""x, y and the digitisation error of y."""


def _ascends(points: tuple[Point, ...]) -> tuple[Point, ...]:
    places = [point[0] for point in points]
    if any(first >= second for first, second in pairwise(places)):
        raise wrong(places, "ascending x")
    return points


class PublishedSpec(Spec):
    """Digitised values of one published curve.

    Attributes:
        panel: the panel of the published figure.
        series: the curve's name in the file of digitised values.
        slack: what is allowed for chance beside that error, absolute and as a share of y; the
            larger counts.
        before: below this x, another slack: x, absolute and share of y.
        points: x, y and the digitisation error y, x ascending; from that file.
    """

    panel: Text
    series: Text
    slack: Annotated[tuple[AtLeastZero, AtLeastZero], Allowed("lists of 2 numbers of at least 0")]
    before: Annotated[Point, Allowed("lists of 3 numbers of at least 0")] | None = None
    points: SkipJsonSchema[
        Annotated[
            tuple[Annotated[Point, Allowed("lists of 3 numbers of at least 0")], ...],
            Field(min_length=1),
            Allowed("a list of [x, y, tolerance]", has_entries=True),
            AfterValidator(_ascends),
        ]
    ] = ()

    def allowance(self, x: float, y: float, tolerance: float) -> float:
        """Return how far off ours may be: the digitisation error and the slack for chance."""
        absolute, share = self.slack
        if self.before is not None and x < self.before[0]:
            absolute, share = self.before[1:]
        return tolerance + max(absolute, share * y)


def has_published(document: Mapping[str, Any]) -> bool:
    """Return whether a figure is compared with digitised values.

    Other figures may show them; they are compared once.

    Args:
        document: its entry in the ``figures:`` section of an experiments file.
    """
    return document.get("residuals") is True


def agreement(ours: float, published: float, allowance: float) -> str:
    """Return whether a number of ours agrees with a digitised one.

    The words are ``agrees``, ``nearly`` and ``not``.
    """
    distance = abs(ours - published) - _ROUNDING
    if distance <= allowance:
        return AGREES
    return NEARLY if distance <= NEARLY_WITHIN * allowance else NOT


def series_agreement(found: list[str]) -> str:
    """Return ``reproduced`` where all values of a series agree, else ``nearly`` or ``not``."""
    if all(each == AGREES for each in found):
        return REPRODUCED
    return NOT if NOT in found else NEARLY


def reached_points(
    published: PublishedSpec, known: Mapping[float, float], place: str
) -> list[tuple[float, float, float]]:
    """Return the digitised points as far as our curve goes, at each of which it must be recorded.

    Args:
        published: the digitised values.
        known: x to y of our curve.
        place: what this is, for error messages.

    Raises:
        InputError: our curve is not recorded at the x of a point.
    """
    reached = [point for point in published.points if point[0] <= max(known)]
    missing = [x for x, _, _ in reached if x not in known]
    if missing:
        raise InputError(f"{place}: x is {missing[0]:g}; allowed: an x at which ours is recorded")
    return reached
