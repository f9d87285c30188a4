"""Digitised values of published curves compared with ours, one row each, and counted."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from dpbandits.reporting.figure_files import NUMBER_FORMAT
from dpbandits.reporting.panels import Line, panel_lines
from dpbandits.reporting.published import AGREES, NEARLY, NOT, agreement, series_agreement
from dpbandits.reporting.rows import read_rows
from dpbandits.reporting.specs import panel_stem, parse_figure

COLUMNS = (
    *("panel", "series", "variant", "interpretation", "x", "published", "tolerance", "allowance"),
    *("ours", "lo", "hi", "difference", "agreement", "series_agreement"),
)
"""Columns of ``digitised.csv``.

``panel`` is the stem of the drawn panel; ``tolerance`` the digitisation error, ``allowance`` the
same with the slack for chance; ``lo`` and ``hi`` a 95 % interval of ours; ``agreement`` that of
the one value, ``series_agreement`` that of all of a series.
"""

NOT_REACHED = "not-reached"
"""Said of digitised values beyond the horizon of a small scale."""

ALL = "all"
"""Stands for all panels in the column ``panel`` of counts."""


def compare_digitised(
    documents: Mapping[str, Mapping[str, Any]], frames: Callable[[str], pd.DataFrame]
) -> pd.DataFrame:
    """Return the columns ``COLUMNS`` of all digitised values of some figures.

    Args:
        documents: name of a figure to its entry in the experiments file.
        frames: from the name of results to their table.

    Raises:
        InputError: an entry, or what it asks of the results, is wrong.
    """
    sources = cache(frames)
    found = []
    for name, document in documents.items():
        for letter, panel in parse_figure(name, document).panels.items():
            stem = panel_stem(name, letter)
            rows = read_rows(panel.reads, sources, f"figures.{stem}.reads")
            for line in panel_lines(panel, rows, f"figures.{stem}"):
                found += _compared(line, stem)
    return pd.DataFrame(found, columns=list(COLUMNS))


def _compared(line: Line, stem: str) -> list[dict[str, Any]]:
    """Return one row for each digitised value of a line, none where it has none."""
    if line.published is None:
        return []
    ours = {x: own for x, *own in line.points[["x", "y", "lo", "hi"]].itertuples(index=False)}
    rows: list[dict[str, Any]] = []
    for x, published, tolerance in line.published.points:
        allowance = line.published.allowance(x, published, tolerance)
        y, low, high = ours.get(x, [math.nan] * 3)
        row: dict[str, Any] = {
            "x": x,
            "published": published,
            "tolerance": tolerance,
            "allowance": allowance,
        }
        row |= {"ours": y, "lo": low, "hi": high, "difference": y - published}
        found = agreement(y, published, allowance) if x in ours else NOT_REACHED
        rows.append(row | {"agreement": found})
    every = [str(row["agreement"]) for row in rows]
    whole = NOT_REACHED if NOT_REACHED in every else series_agreement(every)
    first = line.points.iloc[0]
    named = {"panel": stem, "series": line.name, "variant": first["variant"]}
    named |= {"interpretation": first["interpretation"], "series_agreement": whole}
    return [named | row for row in rows]


def count_agreement(values: pd.DataFrame) -> pd.DataFrame:
    """Return how many digitised values agree with ours, panel by panel and, last, in all.

    Args:
        values: as ``compare_digitised`` returns them.

    Returns:
        Columns panel, values, reached (those that our curve reaches), agrees, nearly, not and
        largest_difference (of those reached, without its sign; NaN where none is reached).
    """
    parts = [*values.groupby("panel", sort=False), (ALL, values)]
    return pd.DataFrame([{"panel": str(panel), **_counts(own)} for panel, own in parts])


def _counts(values: pd.DataFrame) -> dict[str, float]:
    words = values["agreement"]
    reached = values[words != NOT_REACHED]
    counts = {"values": len(values), "reached": len(reached)}
    counts |= {each: int((words == each).sum()) for each in (AGREES, NEARLY, NOT)}
    return {**counts, "largest_difference": float(reached["difference"].abs().max())}


def digitised_csv(values: pd.DataFrame) -> str:
    """Return the text of ``digitised.csv``; the same values give the same bytes."""
    return values.to_csv(index=False, float_format=NUMBER_FORMAT, lineterminator="\n")
