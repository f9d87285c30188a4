"""Digitised values of published curves compared with ours, one row each, and counted."""

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from dpbandits.reporting.digitised import (
    AGREES,
    BY_CHANCE,
    DIFFERS,
    agreement,
    allowance,
    is_reproduced,
)
from dpbandits.reporting.lines import Line, panel_lines, read_rows
from dpbandits.reporting.spec import panel_stem, parse_figure
from dpbandits.reporting.text import NUMBER_FORMAT

COLUMNS = (
    *("panel", "series", "variant", "interpretation", "x", "published", "tolerance", "allowance"),
    *("ours", "lo", "hi", "difference", "agreement"),
)
"""Columns of ``digitised.csv``.

``panel`` is the stem of the drawn panel; ``tolerance`` the digitisation error; ``lo`` and ``hi`` a
95 % interval of ours; ``allowance`` the digitisation error and that interval's half on the side of
the published value.
"""

NOT_REACHED = "not-reached"
"""Said of digitised values beyond the horizon of a small scale."""

MOST = 0.5
"""Share of the values of a curve that differ, from which on it is named."""

SHARP = 0.1
"""Half of our interval over the digitisation error, below which chance hardly adds to it."""


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
        y, low, high = ours.get(x, [math.nan] * 3)
        allowed = allowance(y, low, high, published, tolerance)
        row = {"x": x, "published": published, "tolerance": tolerance, "allowance": allowed}
        row |= {"ours": y, "lo": low, "hi": high, "difference": y - published}
        found = agreement(y - published, tolerance, allowed) if x in ours else NOT_REACHED
        rows.append(row | {"agreement": found})
    first = line.points.iloc[0]
    named = {"panel": stem, "series": line.name, "variant": first["variant"]}
    named |= {"interpretation": first["interpretation"]}
    return [named | row for row in rows]


def count_agreement(values: pd.DataFrame) -> dict[str, object]:
    """Return how many digitised values agree with ours, and how far they are off.

    Args:
        values: rows as ``compare_digitised`` returns them.

    Returns:
        values; reached (those that our curve reaches); agrees (within the digitisation error);
        within_interval (within that and our 95 % interval); differs; above, the mean of published
        minus ours; sharp, the values at which our interval is below a tenth of the digitisation
        error, and sharp_above, that mean over them; reproduced, ``yes`` or ``no``, empty where not
        all are reached. Means are NaN over no value.
    """
    words = list(values["agreement"])
    reached = values[values["agreement"] != NOT_REACHED]
    above = reached["published"] - reached["ours"]
    is_sharp = reached["hi"] - reached["lo"] < 2 * SHARP * reached["tolerance"]
    reproduced = {True: "yes", False: "no"}[is_reproduced(words)]
    return {
        "values": len(values),
        "reached": len(reached),
        "agrees": words.count(AGREES),
        "within_interval": words.count(AGREES) + words.count(BY_CHANCE),
        "differs": words.count(DIFFERS),
        "above": float(above.mean()),
        "sharp": int(is_sharp.sum()),
        "sharp_above": float(above[is_sharp].mean()),
        "reproduced": reproduced if len(reached) == len(values) else "",
    }


def reproduced_as_drawn(values: pd.DataFrame | None, stem: str) -> str:
    """Return whether a figure or panel of a paper is reproduced as drawn, in words.

    Args:
        values: rows as ``compare_digitised`` returns them; None where a paper has none.
        stem: the figure, as ``fig1``, or the panel, as ``fig1b``.
    """
    if values is None or not values["panel"].str.startswith(stem).any():
        return "the paper prints no numbers to compare with"
    rows = values[values["panel"].str.startswith(stem)]
    counts = count_agreement(rows)
    if not counts["reproduced"]:
        return "not reached at this scale"
    answers: dict[object, list[str]] = {"yes": [], "no": []}
    for panel, of_panel in rows.groupby("panel", sort=False):
        letter = re.sub("([a-j])$", r"(\1)", str(panel).removeprefix(stem))
        answers[count_agreement(of_panel)["reproduced"]].append(f" {letter}".rstrip())
    words = [f"{word}{','.join(panels)}" for word, panels in answers.items() if panels]
    differing = [
        str(series)
        for series, line in rows.groupby("series", sort=False)
        if answers["no"] and line["agreement"].eq(DIFFERS).mean() > MOST
    ]
    but = f" (not {', '.join(differing)})" if differing else ""
    share = f"{counts['within_interval']} of {counts['values']} digitised values"
    return f"{'; '.join(words)}{but}: {share}"


def digitised_csv(values: pd.DataFrame) -> str:
    """Return the text of ``digitised.csv``; the same values give the same bytes."""
    return values.to_csv(index=False, float_format=NUMBER_FORMAT, lineterminator="\n")
