"""The filters of figures and tables, tried on results before these are simulated."""

import pandas as pd

from dpbandits.reporting.nash import nash_quantities
from dpbandits.reporting.rows import require_column, select
from dpbandits.reporting.series_specs import NASH_METRICS
from dpbandits.reporting.specs import BY_TAG, PanelSpec
from dpbandits.reporting.table_specs import TableSpec


def check_panel_filters(panel: PanelSpec, frame: pd.DataFrame, place: str) -> None:
    """Raise InputError where a line of a panel has no row, or a column that it names is unknown.

    Args:
        panel: what it shows.
        frame: results with the columns and series of those that it reads, whatever their values.
        place: figure and panel, for the message.
    """
    rows = select(frame, panel.where, f"{place}.where")
    if panel.metric is not None:
        in_nash = panel.metric in NASH_METRICS
        recorded = nash_quantities(panel.metric) if in_nash else panel.metric
        rows = select(rows, {"metric": recorded}, f"{place}.metric")
    for index, spec in enumerate(panel.series):
        line = select(rows, spec.where, f"{place}.series.{index}.where")
        if spec.by is not None:
            require_column(line, spec.by, f"{place}.series.{index}.by")
        if panel.kind in BY_TAG and not spec.level:
            require_column(line, str(panel.x.tag), f"{place}.x.tag")


def check_table_filters(table: TableSpec, frame: pd.DataFrame, place: str) -> None:
    """Raise InputError where a table, or a column of it, has no row; as for panels."""
    rows = select(frame, table.where, f"{place}.where")
    if table.metric is not None:
        rows = select(rows, {"metric": table.metric}, f"{place}.metric")
    if table.difference_from is not None:
        select(rows, table.difference_from.where, f"{place}.difference_from.where")
    for column in table.columns:
        if table.rows and column.column is not None:
            select(rows, column.where, f"{place}.{column.name}.where")
