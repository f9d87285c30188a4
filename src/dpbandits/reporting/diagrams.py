"""Figures of kind ``diagram``: a function of the paper draws them, the files are as ever."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpbandits.errors import InputError
from dpbandits.reporting import style
from dpbandits.reporting.figure_files import rounded, write_figure
from dpbandits.reporting.legends import add_heading, heading
from dpbandits.reporting.rows import read_rows
from dpbandits.reporting.specs import parse_figure

Diagram = Callable[[pd.DataFrame], tuple[Figure, pd.DataFrame]]
"""From results to the drawn figure and the plotted numbers (columns of ``figure_files``)."""


def draw_diagram(
    spec: Mapping[str, Any],
    name: str,
    frames: Callable[[str], pd.DataFrame],
    folder: Path,
    diagrams: Mapping[str, Diagram],
    paper: str = "",
) -> list[Path]:
    """Draw one diagram as pdf, png and csv.

    Args:
        spec: its entry in the ``figures:`` section of an experiments file.
        name: its key there.
        frames: from the name of results to their table.
        folder: where the files go.
        diagrams: the paper's functions, by figure.
        paper: short name of the paper, which the heading begins with.

    Returns:
        The files written.

    Raises:
        InputError: the entry is wrong, or the paper has no such diagram.
    """
    figure = parse_figure(name, spec)
    if name not in diagrams:
        allowed = ", ".join(diagrams)
        raise InputError(f"figures.{name}.kind is 'diagram'; allowed: only for {allowed}")
    rows = read_rows(figure.diagram_reads, frames, f"figures.{name}.reads")
    _, points = diagrams[name](rows)
    drawn, _ = diagrams[name](rounded(rows))
    with style.context():
        add_heading(drawn, heading(paper, name))
    return write_figure(folder / name, drawn, points)
