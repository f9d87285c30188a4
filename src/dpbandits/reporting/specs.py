"""What a figure shows, as the ``figures:`` section of an experiments file says it."""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, model_validator

from dpbandits.config.documents import Name, Names, Spec, Text, one_of, validated
from dpbandits.errors import InputError
from dpbandits.metrics.names import CURVES
from dpbandits.reporting.series_specs import (
    NASH_METRICS,
    AxisSpec,
    SeriesSpec,
    Where,
)

RATE_METRICS = ("success",)
"""Metrics counted over trials whose share is shown."""

KINDS: dict[str, tuple[str, ...]] = {
    "curve": CURVES,
    "final": CURVES,
    "rate": RATE_METRICS,
    "nash": NASH_METRICS,
    "nash-final": NASH_METRICS,
    "analytic": (),
    "derived": (),
}
"""Kinds of panels, and the metrics that each shows."""

BY_TAG = ("final", "rate", "nash-final")
"""Kinds of panels whose x axis is a tag of the series."""

DERIVED = "derived"
"""Kind of a panel whose values a function of the paper derives from simulations."""

NASH_KINDS = ("nash", "nash-final")
"""Kinds of panels that show Nash regret."""

DIAGRAM = "diagram"
"""Kind of a whole figure that a function of the paper draws."""

Kind = Annotated[str, one_of(KINDS)]
Lines = Annotated[tuple[SeriesSpec, ...], Field(min_length=1)]


class PanelKeys(Spec):
    """Keys of a panel, beside ``panels`` or in one of them.

    Attributes:
        kind: ``curve`` (mean of a metric over t), ``final`` (mean at the horizon of the series
            against a tag), ``rate`` (share of successful trials against a tag), ``nash`` (Nash
            regret over t), ``nash-final`` (at the horizon of the series against a tag),
            ``analytic`` (exact values) or ``derived`` (values that ``compute`` returns).
        reads: names of the simulations or exact results, whose rows are put together.
        x, y: the axes.
        series: the lines.
        metric: what is averaged over runs, for kinds ``curve`` and ``final``, counted over trials,
            for kind ``rate``, or the means that score, for kinds in ``NASH_KINDS``.
        compute: for kind ``derived``, a function of the paper's module ``derived``, which makes
            the rows from the results.
        where: rows that the panel shows, column to value or list of values.
        title: text above the panel.
    """

    kind: Kind | None = None
    reads: Names | None = None
    x: AxisSpec | None = None
    y: AxisSpec | None = None
    series: Lines | None = None
    metric: Text | None = None
    compute: Name | None = None
    where: Where = {}
    title: Text | None = None


class PanelSpec(PanelKeys):
    """One panel, with its own keys and those that hold for all panels."""

    kind: Kind
    reads: Names
    x: AxisSpec
    y: AxisSpec
    series: Lines

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "PanelSpec":
        """Raise where keys do not fit the kind of panel."""
        metrics, by_tag = KINDS[self.kind], self.kind in BY_TAG
        none = f"none, kind is {self.kind}"
        if self.metric not in (metrics or [None]):
            allowed = ", ".join(metrics) or none
            raise InputError(f"metric is {self.metric!r}; allowed: {allowed}")
        if (self.compute is not None) != (self.kind == DERIVED):
            allowed = "a function of the paper" if self.kind == DERIVED else none
            raise InputError(f"compute is {self.compute!r}; allowed: {allowed}")
        if (self.x.tag is not None) != by_tag:
            raise InputError(f"x.tag is {self.x.tag!r}; allowed: {'a column' if by_tag else none}")
        for axis, spec in (("x", self.x), ("y", self.y)):
            if spec.scale == "categories" and not (by_tag and axis == "x"):
                raise InputError(f"{axis}.scale is 'categories'; allowed: linear, log")
        for index, series in enumerate(self.series):
            if series.level and not by_tag:
                raise InputError(
                    f"series.{index}.level is true; allowed: false, kind is {self.kind}"
                )
            is_plain = series.best is None and series.estimate == "plain"
            if not is_plain and self.kind not in NASH_KINDS:
                raise InputError(f"series.{index}: keys best and estimate; allowed: {none}")
        return self


class FigureKeys(PanelKeys):
    """An entry of ``figures:``; keys of a panel beside ``panels`` hold for all panels."""

    caption: Text
    panels: dict[str, PanelKeys] = {}
    share_y: StrictBool = False
    residuals: StrictBool = False
    direct_labels: StrictBool = False

    @model_validator(mode="after")
    def _panels_are_in_order(self) -> "FigureKeys":
        letters = list(string.ascii_lowercase[: len(self.panels)])
        if list(self.panels) != letters or len(letters) == 1:
            given = ", ".join(self.panels)
            raise InputError(f"panels is {given}; allowed: a, b, ... in order, at least two")
        return self


class DiagramKeys(Spec):
    """An entry of ``figures:`` of kind ``diagram``."""

    kind: Literal["diagram"]
    caption: Text
    reads: Names


@dataclass(frozen=True)
class FigureSpec:
    """A whole figure: its panels by letter (one without a letter where there are none).

    A diagram (``kind: diagram``) has no panels: the paper's module ``diagrams`` draws it from
    the results ``diagram_reads``. With ``residuals`` the lines are compared with the digitised
    values of the published ones, in a strip below each panel. With ``direct_labels`` lines that
    not all panels have are named at their right ends, not in a legend.
    """

    name: str
    caption: str
    panels: Mapping[str, PanelSpec]
    share_y: bool = False
    residuals: bool = False
    direct_labels: bool = False
    diagram_reads: tuple[str, ...] = ()

    @property
    def is_diagram(self) -> bool:
        """Whether a function of the paper draws the whole of it."""
        return not self.panels

    @property
    def stems(self) -> list[str]:
        """The file names, without suffix, that drawing it writes: panels, then the whole."""
        panels = (panel_stem(self.name, letter) for letter in self.panels)
        return list(dict.fromkeys([*panels, self.name]))

    @property
    def reads(self) -> list[str]:
        """Names of the simulations and exact results that it reads."""
        of_panels = [each for panel in self.panels.values() for each in panel.reads]
        return list(dict.fromkeys([*self.diagram_reads, *of_panels]))


def parse_figure(name: str, document: Mapping[str, Any]) -> FigureSpec:
    """Return the entry of one figure.

    Args:
        name: key of the entry, such as ``fig2`` or ``extra-fig6-corrected``.
        document: the entry. A key of a panel beside ``panels`` holds for the panels without it.

    Raises:
        InputError: a key is unknown, missing or not allowed, naming figure, panel and key.
    """
    place = f"figures.{name}"
    if isinstance(document, Mapping) and document.get("kind") == DIAGRAM:
        diagram = validated(DiagramKeys, document, place)
        return FigureSpec(name, _one_line(diagram.caption), {}, diagram_reads=diagram.reads)
    keys = validated(FigureKeys, document, place)
    shared = {key: value for key, value in document.items() if key in PanelKeys.model_fields}
    panels = document.get("panels") or {"": {}}
    return FigureSpec(
        name,
        _one_line(keys.caption),
        {
            letter: validated(
                PanelSpec, {**shared, **panel}, f"{place}.panels.{letter}" if letter else place
            )
            for letter, panel in panels.items()
        },
        keys.share_y,
        keys.residuals,
        keys.direct_labels,
    )


def _one_line(caption: str) -> str:
    return " ".join(caption.split())


def panel_stem(figure: str, letter: str) -> str:
    """Return the file name of a panel: ``fig1b``, ``fig1b-repaired``, ``extra-NAME-b``."""
    if not letter:
        return figure
    numbered = re.fullmatch(r"(fig\d+)(-.+)?", figure)
    if numbered is None:
        return f"{figure}-{letter}"
    return f"{numbered[1]}{letter}{numbered[2] or ''}"
