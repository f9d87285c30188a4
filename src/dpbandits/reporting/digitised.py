"""Digitised values: numbers from a paper's published figure, in its ``digitised.csv``.

A series of the experiments file names one digitised curve by its panel and its name in the file;
the values are filled in when the experiments file is read, so that they are part of its figures.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
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


COLUMNS = ("panel", "series", "x", "y", "tolerance")
"""Columns of a file: panel and curve as published, the point, and the digitisation error y."""

Digitised = dict[tuple[str, str], list[list[float]]]
"""(panel, series) -> its points as x, y and tolerance, x ascending."""


def digitised_path(experiments: Path) -> Path:
    """Return the file of digitised values that belongs to an experiments file."""
    return experiments.with_name("digitised.csv")


def read_digitised(path: Path) -> Digitised:
    """Return the digitised curves of a file.

    Raises:
        InputError: the file is missing, or a line of it is not as it must be.
    """
    found: Digitised = {}
    for number, row in _rows(path):
        point = [_number(row[column], f"{path}: line {number}: {column}") for column in COLUMNS[2:]]
        found.setdefault((row["panel"], row["series"]), []).append(point)
    if not found:
        raise InputError(f"{path}: has no values; allowed: one or more below the head")
    for (panel, series), points in found.items():
        if any(one[0] >= other[0] for one, other in pairwise(points)):
            raise InputError(
                f"{path}: x of {series!r} of panel {panel!r} do not ascend; allowed: ascending"
            )
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line below the head, and its fields."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise InputError(f"{path}: cannot be read ({reason})") from None
    head = ",".join(COLUMNS)
    if not lines or lines[0] != head:
        raise InputError(f"{path}: line 1 is {lines[:1]}; allowed: {head}")
    for number, fields in enumerate(csv.reader(lines[1:]), start=2):
        if len(fields) != len(COLUMNS) or not all(field.strip() for field in fields):
            raise InputError(f"{path}: line {number} is {fields}; allowed: {len(COLUMNS)} fields")
        yield number, dict(zip(COLUMNS, fields, strict=True))


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(f"{where} is {text!r}; allowed: a number of at least 0")
    return value


def with_digitised(figures: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the figures of an experiments file, every key ``published`` with its points.

    Args:
        figures: the section ``figures``; it is not changed.
        path: the experiments file.

    Raises:
        InputError: a curve is named that is not in the file of digitised values, or one of the
            file is named nowhere.
    """
    if not any(True for _ in _references(figures)):
        return dict(figures)
    values = read_digitised(digitised_path(path))
    named = {_curve(reference) for reference in _references(figures)}
    for panel, series in named - set(values):
        allowed = ", ".join(f"{one} of {panel}" for panel, one in values)
        raise InputError(
            f"{path}: published: {digitised_path(path)} has no series {series!r} of panel "
            f"{panel!r}; allowed: {allowed}"
        )
    for panel, series in values.keys() - named:
        raise InputError(
            f"{digitised_path(path)}: {series!r} of panel {panel!r} is drawn nowhere; allowed: "
            f"curves that a key published in {path} names"
        )
    return {name: _filled(figure, values) for name, figure in figures.items()}


def _curve(reference: Mapping[str, Any]) -> tuple[str, str]:
    return str(reference.get("panel")), str(reference.get("series"))


def _references(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping under a key ``published``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "published" and isinstance(inner, Mapping):
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _filled(value: Any, values: Digitised) -> Any:
    """Return a copy in which what ``_references`` yields has the key ``points``."""
    if isinstance(value, list):
        return [_filled(each, values) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: {**inner, "points": values[_curve(inner)]}
        if key == "published" and isinstance(inner, Mapping)
        else _filled(inner, values)
        for key, inner in value.items()
    }
