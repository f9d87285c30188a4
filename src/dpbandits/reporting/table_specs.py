"""What a table shows, as the ``tables:`` section of an experiments file says it."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, model_validator

from dpbandits.config.documents import (
    Name,
    Names,
    Spec,
    Text,
    Values,
    as_list,
    naming,
    one_of,
    validated,
)
from dpbandits.errors import InputError
from dpbandits.metrics.names import CURVES
from dpbandits.reporting.series_specs import Where
from dpbandits.reporting.specs import RATE_METRICS

METRICS = (*CURVES, *RATE_METRICS)
"""Metrics of simulations that a table may show."""

DIGITISED = ("digitised",)
"""What a table reads that shows digitised values beside ours."""

LEDGER = ("claims",)
"""What a table reads that shows the verdicts."""


class RowsSpec(Spec):
    """Rows of a table that is spread out from a long one: one for each listed value.

    Attributes:
        name: name of the column in the csv that the values are in.
        label: its head in the table.
        column: column of the results whose values head the rows.
        text: template of its cells.
        values: those values, numbers or texts, in order; None for all that the results have.
    """

    name: Name
    label: Text
    column: Name
    text: Text
    values: Values | None = None


class ColumnSpec(Spec):
    """One column of a table.

    Attributes:
        name: the column of the results; in a table with ``rows``, its name in the csv.
        label: its head in the table.
        text: template of its cells, over the columns of the results; by default the value.
        where: in a table with ``rows``, the rows of the results that it shows.
        column: in a table with ``rows``, the column of the results that it shows.
        given: in a table with ``rows``, its values row by row, in place of ``where`` and
            ``column``: numbers or texts that are not computed, such as published ones.
        align: ``left`` or ``right``.
        width: in millimetres, for text that breaks over lines; None for one line.
    """

    name: Name
    label: Text
    text: Text | None = None
    where: Where = {}
    column: Name | None = None
    given: Values | None = None
    align: Literal["left", "right"] = "left"
    width: Annotated[float, Field(strict=True, gt=0)] | None = None

    def check(self, rows: int | None) -> None:
        """Raise InputError where its keys do not fit the rows of the table.

        Args:
            rows: number of listed rows, 0 where they are left to the results; None without rows.
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
    """From which row of a table of rates each row's difference is taken.

    Attributes:
        where: the default rows, column to value or list of values.
        same: columns in which a row and its default agree; they name one default each.
    """

    where: Where
    same: Names


class TableSpec(Spec):
    """One table: the rows of the results as they are, or (with ``rows``) spread out.

    Attributes:
        caption: plain text.
        reads: names of the results, whose rows are put together.
        columns: from left to right.
        where: rows of the results that it is made from, column to value or list of values.
        compute: a function of the paper's module ``tables``, which makes the rows from the results
            by name; by default they are put together as they are.
        rows: one row for each value, of several lists for each combination of their values (where
            the values are left to the results, each that is there); empty for the results as
            they are.
        metric: for simulations, what is shown: its mean over runs at the horizon of each series,
            or its share of trials, as y, with its 95 % interval as lo and hi.
        difference_from: with a metric that is a share, adds differences from default rows.
        long: whether it may break over pages.
        prints: rows that are printed, column to value or list of values; the csv has all.
    """

    caption: Annotated[Text, AfterValidator(lambda caption: " ".join(caption.split()))]
    reads: Names
    columns: Annotated[tuple[ColumnSpec, ...], Field(min_length=1)]
    where: Where = {}
    compute: Name | None = None
    rows: Annotated[tuple[RowsSpec, ...], BeforeValidator(as_list)] = ()
    metric: Annotated[str, one_of(METRICS)] | None = None
    difference_from: DifferenceSpec | None = None
    long: StrictBool = False
    prints: Where = {}

    @model_validator(mode="after")
    def _fits_together(self) -> "TableSpec":
        """Raise where rows, columns and metric do not fit each other."""
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


def parse_table(name: str, document: Mapping[str, Any]) -> TableSpec:
    """Return the entry of one table.

    Raises:
        InputError: a key is unknown, missing or not allowed, naming the table and the key.
    """
    return validated(TableSpec, document, f"tables.{name}")
