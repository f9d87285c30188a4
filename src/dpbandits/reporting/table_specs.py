"""What a table shows, as the ``tables:`` section of an experiments file says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpbandits.errors import InputError
from dpbandits.reporting.fields import flag, mapping, one_of, require_keys, text

ALIGNMENTS = ("left", "right")


@dataclass(frozen=True)
class RowsSpec:
    """Rows of a table that is spread out from a long one: one for each listed value.

    Attributes:
        name: name of the first column in the csv.
        label: its head in the table.
        column: column of the results whose values head the rows.
        values: those values, in order.
        text: template of the first cell.
    """

    name: str
    label: str
    column: str
    values: tuple[float, ...]
    text: str


@dataclass(frozen=True)
class ColumnSpec:
    """One column of a table.

    Attributes:
        name: the column of the results; in a table with ``rows``, its name in the csv.
        label: its head in the table.
        text: template of its cells, over the columns of the results; by default the value.
        where: in a table with ``rows``, the rows of the results that it shows.
        column: in a table with ``rows``, the column of the results that it shows.
        align: ``left`` or ``right``.
        width: in millimetres, for text that breaks over lines; None for one line.
    """

    name: str
    label: str
    text: str | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    column: str | None = None
    align: str = "left"
    width: float | None = None


@dataclass(frozen=True)
class TableSpec:
    """One table: the rows of the results as they are, or (with ``rows``) spread out.

    Attributes:
        caption: plain text.
        reads: name of the results.
        columns: from left to right.
        rows: which rows, or None for the results as they are.
        long: whether it may break over pages.
    """

    caption: str
    reads: str
    columns: tuple[ColumnSpec, ...]
    rows: RowsSpec | None = None
    long: bool = False


def parse_table(name: str, document: Mapping[str, Any]) -> TableSpec:
    """Return the checked entry of one table.

    Raises:
        InputError: a key is unknown, missing or not allowed, naming the table and the key.
    """
    where = f"tables.{name}"
    keys = require_keys(TableSpec, document, where)
    text(keys["reads"], f"{where}.reads")
    keys["caption"] = " ".join(text(keys["caption"], f"{where}.caption").split())
    keys["long"] = flag(keys.get("long", False), f"{where}.long")
    if keys.get("rows") is not None:
        keys["rows"] = _rows(keys["rows"], f"{where}.rows")
    columns = keys["columns"]
    if not isinstance(columns, list) or not columns:
        raise InputError(f"{where}.columns is {columns!r}; allowed: a list of columns")
    keys["columns"] = tuple(
        _column(each, "rows" in keys, f"{where}.columns.{index}")
        for index, each in enumerate(columns)
    )
    return TableSpec(**keys)


def _rows(document: Any, where: str) -> RowsSpec:
    keys = require_keys(RowsSpec, document, where)
    for key in ("name", "label", "column", "text"):
        text(keys[key], f"{where}.{key}")
    values = keys["values"]
    if not isinstance(values, list) or not all(isinstance(each, int | float) for each in values):
        raise InputError(f"{where}.values is {values!r}; allowed: a list of numbers")
    return RowsSpec(**{**keys, "values": tuple(values)})


def _column(document: Any, spread: bool, where: str) -> ColumnSpec:
    keys = require_keys(ColumnSpec, document, where)
    for key in ("name", "label"):
        text(keys[key], f"{where}.{key}")
    one_of(keys.get("align", "left"), ALIGNMENTS, f"{where}.align")
    width = keys.get("width")
    if width is not None and not (isinstance(width, int | float) and width > 0):
        raise InputError(f"{where}.width is {width!r}; allowed: a number above 0 (mm)")
    keys["where"] = mapping(keys.get("where", {}), f"{where}.where")
    if spread:
        text(keys.get("column"), f"{where}.column")
    elif keys["where"] or keys.get("column") is not None:
        raise InputError(f"{where}: keys where and column; allowed: only in a table with rows")
    return ColumnSpec(**keys)


def table_reads(name: str, document: Mapping[str, Any]) -> str:
    """Return the name of the results that a table reads."""
    return parse_table(name, document).reads
