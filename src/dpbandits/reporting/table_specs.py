"""What a table shows, as the ``tables:`` section of an experiments file says it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpbandits.errors import InputError
from dpbandits.metrics import CURVES
from dpbandits.reporting.fields import flag, mapping, names, one_of, require_keys, text
from dpbandits.reporting.rows import Where
from dpbandits.reporting.specs import RATE_METRICS

METRICS = (*CURVES, *RATE_METRICS)
"""Metrics of simulations that a table may show."""

ALIGNMENTS = ("left", "right")

DIGITISED = ("digitised",)
"""What a table reads that shows digitised values beside ours."""

LEDGER = ("claims",)
"""What a table reads that shows the verdicts."""


@dataclass(frozen=True)
class RowsSpec:
    """Rows of a table that is spread out from a long one: one for each listed value.

    Attributes:
        name: name of the column in the csv that the values stand in.
        label: its head in the table.
        column: column of the results whose values head the rows.
        text: template of its cells.
        values: those values, numbers or texts, in order; None for all that the results have.
    """

    name: str
    label: str
    column: str
    text: str
    values: tuple[float | str, ...] | None = None


@dataclass(frozen=True)
class ColumnSpec:
    """One column of a table.

    Attributes:
        name: the column of the results; in a table with ``rows``, its name in the csv.
        label: its head in the table.
        text: template of its cells, over the columns of the results; by default the value.
        where: in a table with ``rows``, the rows of the results that it shows.
        column: in a table with ``rows``, the column of the results that it shows.
        given: in a table with ``rows``, its values row by row, in place of ``where`` and
            ``column``: numbers or texts that are not ours, such as published ones.
        align: ``left`` or ``right``.
        width: in millimetres, for text that breaks over lines; None for one line.
    """

    name: str
    label: str
    text: str | None = None
    where: Where = field(default_factory=dict)
    column: str | None = None
    given: tuple[float | str, ...] | None = None
    align: str = "left"
    width: float | None = None


@dataclass(frozen=True)
class DifferenceSpec:
    """From which row of a table of rates each row's difference is taken.

    Attributes:
        where: the default rows, column to value or list of values.
        same: columns in which a row and its default agree; they name one default each.
    """

    where: Where
    same: tuple[str, ...]


@dataclass(frozen=True)
class TableSpec:
    """One table: the rows of the results as they are, or (with ``rows``) spread out.

    Attributes:
        caption: plain text.
        reads: names of the results, whose rows are put together.
        columns: from left to right.
        where: rows of the results that it is made from, column to value or list of values.
        compute: a function of the paper's module ``tables``, which makes the rows from the results
            by name; by default they are put together as they are.
        rows: one row for each value, of several lists for each combination of their values (where
            the values are left to the results, each that stands there); empty for the results as
            they are.
        metric: for simulations, what is shown: its mean over runs at the horizon of each series,
            or its share of trials, as y, with its 95 % interval as lo and hi.
        difference_from: with a metric that is a share, adds differences from default rows.
        long: whether it may break over pages.
    """

    caption: str
    reads: tuple[str, ...]
    columns: tuple[ColumnSpec, ...]
    where: Where = field(default_factory=dict)
    compute: str | None = None
    rows: tuple[RowsSpec, ...] = ()
    metric: str | None = None
    difference_from: DifferenceSpec | None = None
    long: bool = False


def parse_table(name: str, document: Mapping[str, Any]) -> TableSpec:
    """Return the checked entry of one table.

    Raises:
        InputError: a key is unknown, missing or not allowed, naming the table and the key.
    """
    where = f"tables.{name}"
    keys = require_keys(TableSpec, document, where)
    keys["reads"] = names(keys["reads"], f"{where}.reads")
    keys["caption"] = " ".join(text(keys["caption"], f"{where}.caption").split())
    keys["long"] = flag(keys.get("long", False), f"{where}.long")
    keys["where"] = mapping(keys.get("where", {}), f"{where}.where")
    if keys.get("compute") is not None:
        text(keys["compute"], f"{where}.compute")
    if keys.get("metric") is not None:
        one_of(keys["metric"], METRICS, f"{where}.metric")
    if keys.get("difference_from") is not None:
        one_of(keys.get("metric"), RATE_METRICS, f"{where}.metric (with difference_from)")
        keys["difference_from"] = _difference(keys["difference_from"], f"{where}.difference_from")
    if "rows" in keys:
        listed = keys["rows"] if isinstance(keys["rows"], list) else [keys["rows"]]
        keys["rows"] = tuple(_rows(each, f"{where}.rows") for each in listed)
    columns = keys["columns"]
    if not isinstance(columns, list) or not columns:
        raise InputError(f"{where}.columns is {columns!r}; allowed: a list of columns")
    count = _row_count(keys.get("rows", ()), where)
    keys["columns"] = tuple(
        _column(each, count, f"{where}.columns.{index}") for index, each in enumerate(columns)
    )
    used = [each.name for each in (*keys.get("rows", ()), *keys["columns"])]
    for name in used:
        if used.count(name) > 1:
            raise InputError(f"{where}: two columns are named {name!r}; allowed: one each")
    return TableSpec(**keys)


def _row_count(rows: tuple[RowsSpec, ...], where: str) -> int | None:
    """Return how many rows are listed, 0 where they are left to the results; None without rows."""
    if not rows:
        return None
    listed = [each.values for each in rows if each.values is not None]
    if listed and len(listed) < len(rows):
        raise InputError(f"{where}.rows: some without values; allowed: all of them, or none")
    return math.prod(len(values) for values in listed) if listed else 0


def _difference(document: Any, where: str) -> DifferenceSpec:
    keys = require_keys(DifferenceSpec, document, where)
    chosen = mapping(keys["where"], f"{where}.where")
    return DifferenceSpec(chosen, names(keys["same"], f"{where}.same"))


def _rows(document: Any, where: str) -> RowsSpec:
    keys = require_keys(RowsSpec, document, where)
    for key in ("name", "label", "column", "text"):
        text(keys[key], f"{where}.{key}")
    if keys.get("values") is not None:
        keys["values"] = _values(keys["values"], f"{where}.values")
    return RowsSpec(**keys)


def _values(values: Any, where: str) -> tuple[float | str, ...]:
    numbers = int | float | str
    if not isinstance(values, list) or not all(isinstance(each, numbers) for each in values):
        raise InputError(f"{where} is {values!r}; allowed: a list of numbers or texts")
    return tuple(values)


def _column(document: Any, rows: int | None, where: str) -> ColumnSpec:
    keys = require_keys(ColumnSpec, document, where)
    for key in ("name", "label"):
        text(keys[key], f"{where}.{key}")
    one_of(keys.get("align", "left"), ALIGNMENTS, f"{where}.align")
    width = keys.get("width")
    if width is not None and not (isinstance(width, int | float) and width > 0):
        raise InputError(f"{where}.width is {width!r}; allowed: a number above 0 (mm)")
    keys["where"] = mapping(keys.get("where", {}), f"{where}.where")
    given = keys.get("given")
    if rows is None:
        if keys["where"] or keys.get("column") is not None or given is not None:
            raise InputError(
                f"{where}: keys where, column and given; allowed: only in a table with rows"
            )
    elif given is None:
        text(keys.get("column"), f"{where}.column")
    else:
        keys["given"] = _values(given, f"{where}.given")
        if not rows:
            raise InputError(
                f"{where}.given has {len(given)} values; allowed: none, the rows list no values"
            )
        if len(given) != rows or keys["where"] or keys.get("column") is not None:
            raise InputError(
                f"{where}.given has {len(given)} values; allowed: one for each of the {rows} rows, "
                f"without where and column"
            )
    return ColumnSpec(**keys)


def table_reads(name: str, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the results that a table reads."""
    return parse_table(name, document).reads
