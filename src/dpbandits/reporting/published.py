"""Digitised values of published curves, drawn as marks and compared with ours.

They are reference points, never results.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpbandits.errors import InputError
from dpbandits.reporting.fields import require_keys, text

AGREES, NEARLY, NOT = "agrees", "nearly", "not"
REPRODUCED = "reproduced"
NEARLY_WITHIN = 3.0
"""A digitised value agrees within its allowance, and nearly within three times it."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PublishedSpec:
    """Digitised values of one published curve.

    Attributes:
        panel: the panel of the published figure.
        series: the curve's name in the file of digitised values.
        points: x, y and the digitisation error y, x ascending; from that file.
        slack: what is allowed for chance beside that error, absolute and as a share of y; the
            larger counts.
        before: below this x, another slack: x, absolute and share of y.
    """

    panel: str
    series: str
    points: tuple[tuple[float, float, float], ...]
    slack: tuple[float, float]
    before: tuple[float, float, float] | None = None

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


def parse_published(document: Any, where: str) -> PublishedSpec:
    """Return the checked key ``published`` of a line; InputError where it is not as it must be."""
    keys = require_keys(PublishedSpec, document, where)
    for key in ("panel", "series"):
        text(keys[key], f"{where}.{key}")
    points = keys["points"]
    if not isinstance(points, list) or not points:
        raise InputError(f"{where}.points is {points!r}; allowed: a list of [x, y, tolerance]")
    keys["points"] = tuple(_numbers(each, 3, f"{where}.points") for each in points)
    places = [each[0] for each in keys["points"]]
    if any(first >= second for first, second in pairwise(places)):
        raise InputError(f"{where}.points: x are {places}; allowed: ascending")
    keys["slack"] = _numbers(keys["slack"], 2, f"{where}.slack")
    if keys.get("before") is not None:
        keys["before"] = _numbers(keys["before"], 3, f"{where}.before")
    return PublishedSpec(**keys)


def _numbers(value: Any, count: int, where: str) -> tuple[float, ...]:
    kinds = int | float
    good = isinstance(value, list) and len(value) == count
    if not good or not all(isinstance(each, kinds) and each >= 0 for each in value):
        raise InputError(f"{where} is {value!r}; allowed: lists of {count} numbers of at least 0")
    return tuple(float(each) for each in value)


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
