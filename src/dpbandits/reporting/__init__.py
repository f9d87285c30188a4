"""Figures and tables, drawn from results as the experiments file says."""

from dpbandits.reporting.figures import draw_figure
from dpbandits.reporting.specs import figure_reads, figure_stems, panel_stem, parse_figure
from dpbandits.reporting.table_specs import parse_table, table_reads
from dpbandits.reporting.tables import add_statements, write_table

__all__ = [
    "add_statements",
    "draw_figure",
    "figure_reads",
    "figure_stems",
    "panel_stem",
    "parse_figure",
    "parse_table",
    "table_reads",
    "write_table",
]
