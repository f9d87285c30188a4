"""What figures and tables show, as the sections ``figures:`` and ``tables:`` say it."""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationInfo,
    model_validator,
)

from dpbandits.config.digitised import Digitised, PublishedCurve, PublishedPoint
from dpbandits.config.documents import (
    Choice,
    Name,
    Names,
    Number,
    Spec,
    Text,
    Values,
    as_list,
    naming,
    one_of,
    validated,
)
from dpbandits.config.looks import COLOURS, DASHES, MARKERS, NO_LINE, NO_MARKER, STYLED
from dpbandits.config.numbers import NumbersOfClaims
from dpbandits.errors import InputError
from dpbandits.metrics import CURVES, NASH_REGRET, NOMINAL

NASH_METRICS = (NASH_REGRET, NOMINAL + NASH_REGRET)
"""What is shown of Nash curves: scored by the true means, or by the nominal ones."""

Estimate = Literal["plain", "corrected", "binned"]
"""plain: the average over runs, as published curves show it. corrected: that average less its bias
of first order in 1/runs. binned: from means over bins of time, which have hardly any bias."""

Where = dict[str, Choice]
"""Rows that are chosen, column to value or list of values."""


def _ascend(ends: tuple[float, float]) -> tuple[float, float]:
    if ends[0] >= ends[1]:
        raise ValueError("Numbers should ascend")
    return ends


class AxisSpec(Spec):
    label: Text
    """Its label; mathematics stands between dollar signs."""
    scale: Literal["linear", "log"] = "linear"
    """`linear` or `log`."""
    tag: Name | None = None
    """For `x` of kinds `final`, `rate` and `nash-final`: the column along the axis; `t` is the
    horizon of a series."""
    limits: tuple[Number | None, Number | None] = (None, None)
    """Its two ends; `null` takes that end from the data."""
    shaded: Annotated[tuple[Number, Number], AfterValidator(_ascend)] | None = None
    """A range of x that is shaded."""
    shaded_label: Text | None = None
    """The name of that range in the legend."""
    marked: tuple[Number, ...] = ()
    """Values of x that get a tick, and a marker on lines of exact results."""

    @model_validator(mode="after")
    def _is_labelled(self) -> "AxisSpec":
        if self.shaded is not None and self.shaded_label is None:
            raise InputError("key shaded_label is missing, beside shaded")
        return self


class CrossingSpec(Spec):
    """Where two lines of a panel cross, marked at the first such x and computed from the lines."""

    of: tuple[Text, Text]
    """The two lines, by name."""
    label: Text
    """The text beside the crossing, such as `"$T$ = {x:.1e}"`."""
    below: Text | None = None
    """The name in the legend of the range left of the crossing, which is then shaded."""


class PublishedSpec(Spec):
    """A published curve, as the paper's digitised values name it, with its points."""

    panel: Text
    """The name of its panel in `digitised.csv`."""
    series: Text
    """The name of the curve in `digitised.csv`."""
    points: tuple[PublishedPoint, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _take_points(cls, keys: Any, info: ValidationInfo) -> Any:
        """Add the points of the digitised values that the context has."""
        if info.context is None or not isinstance(keys, Mapping):
            return keys
        curve = panel, series = str(keys.get("panel")), str(keys.get("series"))
        if curve not in info.context:
            allowed = ", ".join(f"{one} of {where}" for where, one in info.context) or "none"
            raise InputError(
                f"no digitised values are of {series!r} of panel {panel!r}; allowed: {allowed}"
            )
        return {**keys, "points": info.context[curve]}


class SeriesSpec(Spec):
    """One line of a panel, or one for each value of the column ``by`` or ``style``."""

    name: Text
    """Its name in the csv; `{column}` stands for the value of a column that is the same along the
    line."""
    exact: Name | None = None
    """An exact result that is drawn beside simulations, such as a bound."""
    where: Where = {}
    """The rows that it shows, out of those of the panel."""
    by: Name | None = None
    """Draws one line for each value of this column, from light to dark."""
    label: Text | None = None
    """Its name in the legend; by default that in the csv."""
    shade: Name | None = None
    """The column whose value decides how light or dark the line is."""
    style: Annotated[str, one_of(STYLED)] | None = None
    """Draws one line for each value of this column (`epsilon`), which differ in how markers are
    filled."""
    colour: Annotated[str, one_of(COLOURS)] | None = None
    """The colour of a line that belongs to no algorithm; each algorithm has its own."""
    line: Annotated[str, one_of((*DASHES, NO_LINE))] | None = None
    """The line style, such as `solid` or `dashed`; `none` draws markers alone."""
    marker: Annotated[str, one_of((*MARKERS, NO_MARKER))] | None = None
    """The marker of a line that belongs to no algorithm; `none` draws the line alone."""
    guide: StrictBool = False
    """`true` draws a thin line behind the data."""
    level: StrictBool = False
    """`true` draws a horizontal line for results that have no value on the x axis, as UCB1 has no
    epsilon."""
    best: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    """For Nash regret: the best mean that it is measured against; by default the largest mean."""
    estimate: Estimate = "plain"
    """For Nash regret: `plain` as papers plot it, `corrected` for its bias in 1/runs, or `binned`
    over time."""
    published: PublishedSpec | None = None
    """The curve of `digitised.csv` that is drawn as open markers."""

    @model_validator(mode="after")
    def _is_one_line(self) -> "SeriesSpec":
        if self.published is not None and self.split_by is not None:
            raise InputError("published and by; allowed: published for a single line, without by")
        return self

    @property
    def split_by(self) -> str | None:
        """The column of which each value has a line of its own."""
        return self.by or self.style


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
"""Kinds of panels, and the metrics that each shows.

``analytic`` shows exact results alone; beside simulations they are under the key ``exact``.
"""

BY_TAG = ("final", "rate", "nash-final")
"""Kinds of panels whose x axis is a tag of the series."""

DERIVED = "derived"
"""Kind of a panel whose values a function of the paper derives from simulations."""

NASH_KINDS = ("nash", "nash-final")
"""Kinds of panels that show Nash regret."""

GivenLook = tuple[
    Annotated[str, one_of(COLOURS)],
    Annotated[str, one_of(DASHES)],
    Annotated[str, one_of(MARKERS)],
]
Looks = dict[Text, GivenLook]
"""Id of an algorithm -> its colour, line style and marker."""

MAXIMAL_POINTS = 400
"""Most points that one series of a figure may have."""

MOST_TICKS = 8
"""Up to this many points of a line get a tick on the axis or a marker each."""

Kind = Annotated[str, one_of(KINDS)]
Lines = Annotated[tuple[SeriesSpec, ...], Field(min_length=1)]


class PanelSpec(Spec):
    """One panel, with its own keys and those that hold for all panels."""

    kind: Kind
    """`curve` (mean over runs against time), `final` (mean at the horizon against a column), `nash`
    and `nash-final` (the same for Nash regret), `rate` (share of successful trials against a
    column), `analytic` (an exact result), `derived` (numbers that `compute` returns), or for a
    whole figure `diagram` (drawn by the paper's code)."""
    reads: Names
    """The results that it shows."""
    x: AxisSpec
    """The x axis."""
    y: AxisSpec
    """The y axis."""
    series: Lines
    """The lines."""
    metric: Text | None = None
    """`pseudo_regret` or `realised_regret` for `curve` and `final`, `success` for `rate`,
    `nash_regret` or `nominal_nash_regret` for `nash` and `nash-final`."""
    compute: Name | None = None
    """For kind `derived`: the function of the paper's module `derived` that computes the numbers
    from simulations."""
    where: Where = {}
    """The rows of the results that it shows, column to value or list of values; `largest` is the
    largest value, `null` no value."""
    title: Text | None = None
    """The heading of the panel; beside `panels` it is that of the figure."""
    note: Text | None = None
    """A sentence between that heading and the panel."""
    crossings: tuple[CrossingSpec, ...] = ()
    """Pairs of lines; the first point at which each pair crosses is marked."""
    looks: Looks = {}

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "PanelSpec":
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
        for index, series in enumerate(self.series):
            if series.exact and not metrics:
                raise InputError(f"series.{index}.exact is {series.exact!r}; allowed: {none}")
            if series.level and not by_tag:
                raise InputError(
                    f"series.{index}.level is true; allowed: false, kind is {self.kind}"
                )
            is_plain = series.best is None and series.estimate == "plain"
            if not is_plain and self.kind not in NASH_KINDS:
                raise InputError(f"series.{index}: keys best and estimate; allowed: {none}")
        return self

    @property
    def exact(self) -> list[str]:
        """Names of the exact results that are shown beside simulations."""
        return list(dict.fromkeys(each.exact for each in self.series if each.exact))

    def ticks(self, places: Iterable[float]) -> list[float] | None:
        """Return these places, ascending, if each gets a tick on the x axis."""
        if self.x.marked:
            return list(self.x.marked)
        different = sorted(set(places))
        # A logarithmic axis shows horizons, which are powers of ten, by itself.
        by_value = self.kind == DERIVED or (self.kind in BY_TAG and self.x.tag != "t")
        return different if by_value and len(different) <= MOST_TICKS else None


def _at_most(words: int) -> AfterValidator:
    def check(text: str) -> str:
        if sum(any(map(str.isalnum, word)) for word in text.split()) > words:
            raise ValueError(f"Text should have at most {words} words")
        return " ".join(text.split())

    return AfterValidator(check)


Title = Annotated[Text, _at_most(10)]
"""What came out, as a heading."""

Message = Annotated[Text, _at_most(25)]
"""One sentence on what to see in a figure, true of its published numbers."""


Caption = Annotated[Text, _at_most(80)]
"""What is drawn, on one line."""


class Texts(Spec):
    """What every figure says: title and message say what came out, the caption what is drawn."""

    title: Title
    """What came out, in at most 10 words without `{names}`: it is drawn before anything is
    judged."""
    message: Message
    """What came out, in one sentence of at most 25 words, with `{names}` of numbers."""
    numbers: NumbersOfClaims = {}
    """The numbers that the message names, as in a claim; each has its `claim` or `file`."""
    caption: Caption
    """What is drawn, in at most 80 words; `{horizon}` and `{runs}` are those of the simulations
    that it reads."""
    chosen: Caption | None = None
    """What we chose because the paper does not state it."""


class FigureEntry(Texts):
    """An entry of ``figures:``; keys of a panel beside ``panels`` hold for all panels."""

    model_config = ConfigDict(extra="allow")
    more = tuple(key for key in PanelSpec.model_fields if key not in Texts.model_fields)

    supplements: Text | None = None
    """What a supplementary figure belongs to, such as `Figure 1(b)` or `Theorem 4`."""
    share_y: StrictBool = False
    """`true` gives all panels of a row one y axis."""
    residuals: StrictBool = False
    """`true` draws differences from digitised values in strips below the panels, for each curve in
    one figure alone."""
    direct_labels: StrictBool = False
    """`true` writes names beside the lines instead of in a legend."""
    panels: dict[str, dict[str, Any]] = {}
    """The panels `a`, `b`, ... in reading order, at least two; keys beside `panels` hold for all of
    them."""

    @model_validator(mode="after")
    def _panels_are_in_order(self) -> "FigureEntry":
        letters = list(string.ascii_lowercase[: len(self.panels)])
        if list(self.panels) != letters or len(letters) == 1:
            given = ", ".join(self.panels)
            raise InputError(f"panels is {given}; allowed: a, b, ... in order, at least two")
        return self


class DiagramEntry(Texts):
    """An entry of ``figures:`` of kind ``diagram``, which a function of the paper draws."""

    kind: Literal["diagram"]
    supplements: Text | None = None
    reads: Names


@dataclass(frozen=True)
class FigureSpec:
    """A whole figure: its panels by letter, or one without a letter.

    A diagram has no panels: the paper's module ``diagrams`` draws it from ``diagram_reads``.
    """

    name: str
    title: str
    message: str
    caption: str
    numbers: NumbersOfClaims = field(default_factory=dict)
    chosen: str | None = None
    supplements: str | None = None
    share_y: bool = False
    residuals: bool = False
    direct_labels: bool = False
    panels: Mapping[str, PanelSpec] = field(default_factory=dict)
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
        exact = [each for panel in self.panels.values() for each in panel.exact]
        return list(dict.fromkeys([*self.diagram_reads, *of_panels, *exact]))


def parse_figure(
    name: str, document: Any, digitised: Digitised | None = None, looks: Looks | None = None
) -> FigureSpec:
    """Return the entry of one figure; InputError names figure, panel and key.

    Published curves take their points from the ``digitised`` values; ``looks`` are those of the
    paper's own algorithms.
    """
    place = f"figures.{name}"
    if isinstance(document, Mapping) and document.get("kind") == "diagram":
        diagram = validated(DiagramEntry, document, place)
        keys = {key: getattr(diagram, key) for key in (*Texts.model_fields, "supplements")}
        return FigureSpec(name, **keys, diagram_reads=diagram.reads)
    entry = validated(FigureEntry, document, place)
    shared = {"looks": looks or {}, **(entry.model_extra or {})}
    panels = {
        letter: validated(
            PanelSpec,
            {**shared, **panel},
            f"{place}.panels.{letter}" if letter else place,
            digitised,
        )
        for letter, panel in (entry.panels or {"": {}}).items()
    }
    keys = {key: getattr(entry, key) for key in FigureEntry.model_fields if key != "panels"}
    return FigureSpec(name, **keys, panels=panels)


def check_compared_once(figures: Iterable[FigureSpec], digitised: Digitised) -> None:
    """Raise InputError unless each digitised curve is in one figure with ``residuals``."""
    drawn: dict[PublishedCurve, list[str]] = {curve: [] for curve in digitised}
    compared: dict[PublishedCurve, list[str]] = {curve: [] for curve in digitised}
    for figure in figures:
        series = [each for panel in figure.panels.values() for each in panel.series]
        published = [each.published for each in series if each.published is not None]
        if figure.residuals and not published:
            raise InputError(
                f"figures.{figure.name}.residuals is true; allowed: with lines that have published"
            )
        for each in published:
            drawn[each.panel, each.series].append(figure.name)
            if figure.residuals:
                compared[each.panel, each.series].append(figure.name)
    for (panel, name), among in compared.items():
        if len(among) != 1:
            what = "compared" if drawn[panel, name] else "drawn"
            where = f"in {', '.join(among)}, more than once" if among else "nowhere"
            raise InputError(
                f"{name!r} of panel {panel!r} of the digitised values is {what} {where}; allowed: "
                f"curves that one key published names, below a figure with residuals: true"
            )


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a figure or panel: picture, vector graphic and plotted numbers."""
    return tuple(path.with_name(f"{path.name}.{suffix}") for suffix in ("png", "pdf", "csv"))


def panel_stem(figure: str, letter: str) -> str:
    """Return the file name of a panel: ``fig1b``, ``fig1b-repaired``, ``extra-NAME-b``."""
    if not letter:
        return figure
    numbered = re.fullmatch(r"(fig\d+)(-.+)?", figure)
    if numbered is None:
        return f"{figure}-{letter}"
    return f"{numbered[1]}{letter}{numbered[2] or ''}"


METRICS = (*CURVES, *RATE_METRICS)
"""Metrics of simulations that a table may show."""

READS_DIGITISED, READS_CLAIMS = ("digitised",), ("claims",)
"""What a table of digitised values reads, and what one of verdicts reads."""


class RowsSpec(Spec):
    """Rows of a table that is spread out from a long one: one for each value of a column."""

    name: Name
    """The name of the column in the csv that has these values."""
    label: Text
    """Its heading."""
    column: Name
    """The column of the results that has these values."""
    text: Text
    """What the table says for a value, such as `{epsilon}`."""
    values: Values | None = None
    """Its values in order, for all of `rows` or none; by default all that the results have."""


class ColumnSpec(Spec):
    name: Name
    """Its name in the csv; without `rows` also in the results."""
    label: Text
    """Its heading."""
    text: Text | None = None
    """What a cell says, such as `{y:.1f} ({lo:.1f} to {hi:.1f})`; by default the value."""
    where: Where = {}
    """The rows of the results that it shows, column to value."""
    column: Name | None = None
    """With `rows`: the column of the results that it shows, of simulations `y`. Results that do not
    differ by row, as UCB1 has no epsilon, are repeated in each row."""
    given: Values | None = None
    """With `rows`: one typed value a row, such as a number that the paper prints."""
    align: Literal["left", "right"] = "left"
    """`left` or `right`."""
    width: Annotated[float, Field(strict=True, gt=0)] | None = None
    """The width in millimetres at which long text breaks."""

    def check(self, rows: int | None) -> None:
        """Raise InputError unless its keys fit a table with this number of listed rows.

        0 where the rows are not listed, None where the table has no key ``rows``.
        """
        chosen = bool(self.where) or self.column is not None
        if rows is None and (chosen or self.given is not None):
            raise InputError("keys where, column and given; allowed: only in a table with rows")
        if rows is None or (self.given is None and self.column is not None):
            return
        if self.given is None:
            raise InputError("key column is missing; allowed: column or given")
        if chosen or len(self.given) != rows:
            allowed = f"one for each of the {rows} listed rows, without where and column"
            raise InputError(f"given has {len(self.given)} values; allowed: {allowed}")


class DifferenceSpec(Spec):
    """The row that each row is compared with."""

    where: Where
    """The rows that all others are compared with."""
    same: Names
    """The columns in which a row and what it is compared with agree."""


class TableSpec(Spec):
    """One table: the rows of the results as they are, or (with ``rows``) spread out."""

    caption: Caption
    """What the table shows, as for a figure."""
    reads: Names
    """The results that it shows; `claims` are the verdicts, `digitised` the digitised values beside
    those that we computed."""
    columns: Annotated[tuple[ColumnSpec, ...], Field(min_length=1)]
    """The columns."""
    where: Where = {}
    """The rows of the results that it shows, as for a panel."""
    compute: Name | None = None
    """The function of the paper's module `tables` that makes its rows."""
    rows: Annotated[tuple[RowsSpec, ...], BeforeValidator(as_list)] = ()
    """Gives the table a row for each value of a column, or with a list for each combination;
    without it the rows are those of the results."""
    metric: Annotated[str, one_of(METRICS)] | None = None
    """For simulations: `{y}` is its mean at the horizon, or for `success` the share of successful
    trials, with `{pulls}` as their mean number of pulls."""
    difference_from: DifferenceSpec | None = None
    """With `success`: `{y}` is the difference from other rows, with intervals of Newcombe."""
    long: StrictBool = False
    """`true` lets the table break over pages."""
    prints: Where = {}
    """The rows that are printed; the csv has all."""

    @model_validator(mode="after")
    def _fits_together(self) -> "TableSpec":
        if self.difference_from is not None and self.metric not in RATE_METRICS:
            allowed = f"{', '.join(RATE_METRICS)} with difference_from"
            raise InputError(f"metric is {self.metric!r}; allowed: {allowed}")
        listed = [rows.values for rows in self.rows if rows.values is not None]
        if listed and len(listed) < len(self.rows):
            raise InputError("rows: some without values; allowed: all of them, or none")
        count = math.prod(map(len, listed)) if listed else 0
        for index, column in enumerate(self.columns):
            with naming(f"columns.{index}"):
                column.check(count if self.rows else None)
        names = Counter([each.name for each in self.rows] + [each.name for each in self.columns])
        for name, uses in names.items():
            if uses > 1:
                raise InputError(f"two columns are named {name!r}; allowed: one each")
        return self


def parse_table(name: str, document: Any) -> TableSpec:
    """Return the entry of one table; InputError names the table and the key."""
    return validated(TableSpec, document, f"tables.{name}")
