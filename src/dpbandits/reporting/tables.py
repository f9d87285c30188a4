"""Write a table: LaTeX to input, and the numbers as csv."""

import itertools
import string
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.config.figures import (
    READS_CLAIMS,
    ColumnSpec,
    DifferenceSpec,
    RowsSpec,
    TableSpec,
)
from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import difference_interval
from dpbandits.reporting.lines import computed_by, final_values, read_rows, require_column, select
from dpbandits.reporting.text import (
    NUMBER_FORMAT,
    fill,
    fragment,
    readable,
    unmarked,
)
from dpbandits.text_tables import interval_text

ADDED = ["difference", "difference_lo", "difference_hi"]
"""Columns that are added, with Newcombe's 95 % interval."""


def add_differences(rates: pd.DataFrame, spec: DifferenceSpec, place: str) -> pd.DataFrame:
    """Return rates of independent rows with the columns ``ADDED``, NaN in the default rows."""
    for column in spec.same:
        require_column(rates, column, f"{place}.same")
    same = list(spec.same)
    defaults = select(rates, spec.where, f"{place}.where")
    found = []
    for index, row in rates.iterrows():
        own = defaults[(defaults[same] == row[same]).all(axis=1)]
        if len(own) != 1:
            named = " and ".join(f"{column} {row[column]}" for column in same)
            raise InputError(f"{place}: {len(own)} default rows have {named}; allowed: one")
        default = own.iloc[0]
        counted, other = (
            (round(each["y"] * each["runs"]), int(each["runs"])) for each in (row, default)
        )
        is_default = index == own.index[0]
        found.append((np.nan,) * 3 if is_default else difference_interval(counted, other))
    return rates.assign(**dict(zip(ADDED, np.array(found).T, strict=True)))


Computed = Callable[[Mapping[str, pd.DataFrame]], pd.DataFrame]
"""From results by name to the rows of a table."""


def write_table(
    table: TableSpec,
    name: str,
    frames: Callable[[str], pd.DataFrame],
    folder: Path,
    computed: Mapping[str, Computed] | None = None,
) -> list[Path]:
    """Write ``NAME.tex`` (to input) and ``NAME.csv``; return them.

    Nothing is written where a result is wrong.
    """
    place = f"tables.{name}"
    numbers = select(_rows_of(table, frames, computed or {}, place), table.where, f"{place}.where")
    if table.metric is not None:
        numbers = final_values(numbers, table.metric, place)
    if table.difference_from is not None:
        numbers = add_differences(numbers, table.difference_from, f"{place}.difference_from")
    if table.rows:
        numbers, texts = _spread(table, numbers, place)
    else:
        texts = _cells(table, select(numbers, table.prints, f"{place}.prints"), place)
    types = ["l"] * len(table.rows) + [_type(each.width, each.align) for each in table.columns]
    if table.reads == READS_CLAIMS:
        # The sentence of a claim stands in its first row alone.
        texts = texts.assign(Sentence=texts["Sentence"].mask(texts["Claim"].duplicated(), ""))
    label, form = f"tab:{folder.name}:{name}", "".join(types)
    files = {
        ".tex": fragment(texts, table.caption, label, form, long=table.long),
        ".csv": numbers.to_csv(index=False, float_format=NUMBER_FORMAT, lineterminator="\n"),
    }
    for suffix, content in files.items():
        write_text(folder / f"{name}{suffix}", content)
    return [folder / f"{name}{suffix}" for suffix in files]


def _type(width: float | None, align: str = "left") -> str:
    """Return the type of a LaTeX column; text breaks at a width, in millimetres."""
    return align[0] if width is None else rf">{{\raggedright\arraybackslash}}p{{{width:g}mm}}"


def _rows_of(
    table: TableSpec,
    frames: Callable[[str], pd.DataFrame],
    computed: Mapping[str, Computed],
    place: str,
) -> pd.DataFrame:
    if table.compute is None:
        return read_rows(table.reads, frames, f"{place}.reads")
    function = computed_by(table.compute, computed, place)
    return function({name: frames(name) for name in table.reads})


def cells_of(table: TableSpec, frame: pd.DataFrame, place: str) -> pd.DataFrame:
    """Return the texts of a table without ``rows``, one column for each head."""
    return _unmarked(_cells(table, frame, place))


def _unmarked(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.map(unmarked).rename(columns=unmarked)


def _cells(table: TableSpec, frame: pd.DataFrame, place: str) -> pd.DataFrame:
    """Return the texts of ``cells_of``, their formulas between dollar signs."""
    for column in table.columns:
        require_column(frame, column.name, f"{place}.columns")
    rows = frame.to_dict("records")
    cells = [[_cell(column, column.name, row, place) for column in table.columns] for row in rows]
    return pd.DataFrame(cells, columns=[column.label for column in table.columns], dtype=object)


def _spread(table: TableSpec, frame: pd.DataFrame, place: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers and cells of a table that is spread out from long results."""
    combinations = _combinations(table.rows, frame, place)
    numbers: dict[str, list[Any]] = {}
    cells = []
    for index, rows in enumerate(table.rows):
        numbers[rows.name] = [values[index] for values in combinations]
        filled = (fill(rows.text, {rows.column: value}, place) for value in numbers[rows.name])
        cells.append([readable(text) for text in filled])
    keys = [rows.column for rows in table.rows]
    for column in table.columns:
        key = "given"
        found: list[Mapping[Any, Any]] = [{key: value} for value in column.given or ()]
        if column.column is not None:
            key = column.column
            own = select(frame, column.where, f"{place}.{column.name}.where")
            require_column(own, key, f"{place}.{column.name}.column")
            wanted = (dict(zip(keys, values, strict=True)) for values in combinations)
            found = [_row_at(own, each, f"{place}.{column.name}") for each in wanted]
        numbers[column.name] = [row[key] for row in found]
        cells.append([_cell(column, key, row, place) for row in found])
    labels = [rows.label for rows in table.rows] + [column.label for column in table.columns]
    texts = pd.DataFrame(list(zip(*cells, strict=True)), columns=labels, dtype=object)
    return pd.DataFrame(numbers), texts


def _combinations(
    rows: Sequence[RowsSpec], frame: pd.DataFrame, place: str
) -> list[tuple[Any, ...]]:
    """Return what heads each row: all combinations of the listed values, or those of the frame."""
    listed = [each.values for each in rows if each.values is not None]
    if listed:
        return list(itertools.product(*listed))
    for each in rows:
        require_column(frame, each.column, f"{place}.rows")
    found = frame[[each.column for each in rows]].dropna().drop_duplicates()
    return list(found.itertuples(index=False, name=None))


def _row_at(frame: pd.DataFrame, wanted: Mapping[str, Any], place: str) -> Mapping[Any, Any]:
    rows = frame
    for column, value in wanted.items():
        require_column(frame, column, place)
        if rows[column].isna().all():
            # What has no value of it, as UCB1 has no epsilon, is the same in each row.
            continue
        if isinstance(value, str):
            rows = rows[rows[column] == value]
        else:
            # Grids are computed, so that their values are those of the file up to rounding only.
            rows = rows[np.isclose(rows[column], value, rtol=1e-9, atol=0.0)]
    if len(rows) != 1:
        named = " and ".join(f"{column} {value}" for column, value in wanted.items())
        raise InputError(f"{place}: {len(rows)} rows have {named}; allowed: one")
    return rows.iloc[0].to_dict()


def _cell(column: ColumnSpec, key: str, row: Mapping[Any, Any], place: str) -> str:
    """Return the text of a cell, empty where a number that it prints is missing."""
    template = column.text or f"{{{key}}}"
    used = [name for _, name, _, _ in string.Formatter().parse(template) if name]
    if any(pd.isna(row.get(name)) for name in used if name in row):
        return ""
    return readable(fill(template, row, f"{place}.{column.name}.text"))


def with_sentences(ledger: pd.DataFrame, says: Mapping[str, str]) -> pd.DataFrame:
    """Return the verdicts with more columns: ``says``, ``choice``, ``interval``, ``played``."""
    rows = ledger.fillna({"interpretation": ""}).to_dict("records")
    return ledger.assign(
        says=[says[claim] for claim in ledger["claim"]],
        choice=[variant_text(row, default="as-written") for row in rows],
        interval=[interval(row) for row in rows],
        played=[_runs_text(row["runs"]) for row in rows],
    )


def _runs_text(runs: float) -> str:
    """Return how many runs a row has, in words: ``exact`` for 0, nothing where there is none."""
    return "" if pd.isna(runs) else str(int(runs)) if runs else "exact"


def variant_text(row: Mapping[Any, Any], default: str) -> str:
    """Return variant (unless the default) and interpretations of a row, with spaces to break at."""
    variant = "" if row["variant"] == default else row["variant"]
    return ", ".join(filter(None, [variant, row["interpretation"].replace(",", ", ")]))


def interval(row: Mapping[Any, Any], number: Callable[[float], str] = "{:.4g}".format) -> str:
    """Return the estimate of a row with its interval; nothing where there is none."""
    value, low, high = (float(row[key]) for key in ("estimate", "lo", "hi"))
    return readable(interval_text(value, low, high, number))
