"""Axes and lines of a panel, as the ``figures:`` section of an experiments file says them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, model_validator

from dpbandits.config.documents import Choice, Name, Number, Spec, Text, one_of
from dpbandits.errors import InputError
from dpbandits.reporting.palette import COLOURS, DASHES, MARKERS, NO_LINE, NO_MARKER
from dpbandits.reporting.published import PublishedSpec

NASH_REGRET = "nash_regret"
NASH_METRICS = (NASH_REGRET, f"nominal_{NASH_REGRET}")
"""What is shown of Nash curves: scored by the true means, or by the nominal ones."""

Estimate = Literal["plain", "corrected", "binned"]
"""The plain average over runs, as published curves show it; with the bias of first order in 1/runs
subtracted, an estimate of Nash regret; from means over bins of time, which have hardly any bias."""

Where = dict[str, Choice]
"""Rows that are chosen, column to value or list of values."""


def _ascend(ends: tuple[float, float]) -> tuple[float, float]:
    if ends[0] >= ends[1]:
        raise ValueError("Numbers should ascend")
    return ends


class AxisSpec(Spec):
    """One axis.

    Attributes:
        label: its label; mathtext between dollar signs.
        scale: ``linear``, ``log``, or (x of a kind in ``BY_TAG``) ``categories``, evenly spaced.
        tag: the column that x is read from, for kinds in ``BY_TAG``; ``t`` is the horizon itself.
        limits: lower and upper end; None leaves an end to the data.
        shaded: lower and upper end of a range (of x) that is shaded, and ``shaded_label``, what
            the legend calls it.
    """

    label: Text
    scale: Literal["linear", "log", "categories"] = "linear"
    tag: Name | None = None
    limits: tuple[Number | None, Number | None] = (None, None)
    shaded: Annotated[tuple[Number, Number], AfterValidator(_ascend)] | None = None
    shaded_label: Text | None = None

    @model_validator(mode="after")
    def _is_labelled(self) -> "AxisSpec":
        if self.shaded is not None and self.shaded_label is None:
            raise InputError("key shaded_label is missing, beside shaded")
        return self


class SeriesSpec(Spec):
    """One line of a panel, or one for each value of the column ``by``.

    Attributes:
        name: name in the csv, a template over the columns that are constant along the line.
        where: rows that belong to it, column to value or list of values.
        by: ordered column; one line for each of its values.
        label: the same template for the legend (mathtext allowed); by default the name.
        shade: ordered column, whose values colour the lines of a panel that name one.
        colour: a name of ``palette.COLOURS``; by default the next one. Lines of one algorithm have
            the look of ``palette.ALGORITHMS``, whatever colour, line and marker are.
        line: a name of ``palette.DASHES``, or ``none``; by default the next one.
        marker: a name of ``palette.MARKERS``, or ``none``; by default the next one.
        level: for kinds in ``BY_TAG``, a series without a value of the tag on the x axis: a level
            line at every x of the panel's other lines.
        best: for kinds in ``NASH_KINDS``, what Nash regret is taken from; by default mu*, the
            largest mean.
        estimate: for kinds in ``NASH_KINDS``, one of ``Estimate``.
        published: digitised values of the published curve, drawn as marks.
    """

    name: Text
    where: Where = {}
    by: Name | None = None
    label: Text | None = None
    shade: Name | None = None
    colour: Annotated[str, one_of(COLOURS)] | None = None
    line: Annotated[str, one_of((*DASHES, NO_LINE))] | None = None
    marker: Annotated[str, one_of((*MARKERS, NO_MARKER))] | None = None
    level: StrictBool = False
    best: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    estimate: Estimate = "plain"
    published: PublishedSpec | None = None

    @model_validator(mode="after")
    def _is_one_line(self) -> "SeriesSpec":
        if self.published is not None and self.by is not None:
            raise InputError("published and by; allowed: published for a single line, without by")
        return self
