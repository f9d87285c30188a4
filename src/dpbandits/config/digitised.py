"""Digitised values: numbers from a paper's published figures, as ``digitised.csv`` has them."""

import csv
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from dpbandits.config.documents import Spec, Text, validated
from dpbandits.errors import InputError

AtLeastZero = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class DigitisedRow(Spec):
    """A line of a file: panel and curve as published, the point, and the digitisation error y."""

    panel: Text
    series: Text
    x: AtLeastZero
    y: AtLeastZero
    tolerance: AtLeastZero


COLUMNS = (*DigitisedRow.model_fields,)


class PublishedPoint(NamedTuple):
    """A point of a published curve, and the digitisation error of y."""

    x: float
    y: float
    tolerance: float


PublishedCurve = tuple[str, str]
"""Names a published curve: its panel and its series."""

Digitised = dict[PublishedCurve, list[PublishedPoint]]


def read_digitised(path: Path) -> Digitised:
    """Return the digitised curves of a file; InputError where a line is wrong."""
    try:
        head, *lines = csv.reader(path.read_text(encoding="utf-8").splitlines() or [""])
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise InputError(f"{path}: cannot be read ({reason})") from None
    if tuple(head) != COLUMNS:
        raise InputError(f"{path}: line 1 is {head}; allowed: {','.join(COLUMNS)}")
    found: Digitised = {}
    for number, fields in enumerate(lines, start=2):
        if len(fields) != len(COLUMNS):
            raise InputError(f"{path}: line {number} is {fields}; allowed: {len(COLUMNS)} fields")
        row = validated(
            DigitisedRow, dict(zip(COLUMNS, fields, strict=True)), f"{path}: line {number}"
        )
        points = found.setdefault((row.panel, row.series), [])
        if points and row.x <= points[-1].x:
            raise InputError(f"{path}: line {number}: x is {row.x:g}; allowed: x that ascends")
        points.append(PublishedPoint(row.x, row.y, row.tolerance))
    if not found:
        raise InputError(f"{path}: has no values; allowed: one or more below the head")
    return found
