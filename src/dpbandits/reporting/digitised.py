"""Digitised values compared with those that we computed."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from dpbandits.config.figures import FigureSpec, panel_stem
from dpbandits.errors import InputError
from dpbandits.reporting.text import NUMBER_FORMAT

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.reporting.lines import Derived

AGREES, BY_CHANCE, DIFFERS = "agrees", "agrees with our interval", "differs"
SHARE_REPRODUCED = 0.95
"""A 95 % interval misses one value in twenty: a curve or panel is reproduced where no more do."""

_ROUNDING = 1e-12


def is_reproduced(found: Sequence[str]) -> bool:
    """Return whether at least ``SHARE_REPRODUCED`` of the values are within what is allowed."""
    return found.count(DIFFERS) <= (1.0 - SHARE_REPRODUCED) * len(found) + _ROUNDING


COMPARED = (
    *("panel", "series", "variant", "interpretation", "x", "published", "tolerance", "allowance"),
    *("rebuilt", "lo", "hi", "difference", "agreement"),
)
"""Columns of ``digitised.csv``: ``panel`` is the stem of the drawn one, ``rebuilt`` our value."""

NOT_REACHED = "not-reached"
"""Agreement of digitised values beyond the horizon of a small scale."""

NAMED_SHARE = 0.5
"""A curve is named where more than this share of its values differ."""

SHARP = 0.1
"""Half of our interval over the digitisation error; below it chance hardly matters."""


def compare_digitised(
    figures: Iterable[FigureSpec],
    frames: "Callable[[str], pd.DataFrame]",
    derived: "Derived",
    *,
    is_whole: bool = False,
) -> "pd.DataFrame":
    """Return the columns ``COMPARED`` of all digitised values of some figures.

    Where the results are ``is_whole``, not of a small scale, lines have to reach all values.
    """
    import pandas as pd

    from dpbandits.reporting.lines import compared_points, panel_lines, panel_rows

    sources = cache(frames)
    tables = [pd.DataFrame(columns=list(COMPARED))]
    for figure in figures:
        for letter, panel in figure.panels.items():
            stem = panel_stem(figure.name, letter)
            rows = panel_rows(panel, sources, derived, f"figures.{stem}")
            for line in panel_lines(panel, rows, f"figures.{stem}"):
                if line.published is not None:
                    first = line.points.iloc[0]
                    points = compared_points(line, stem).rename(columns={"y": "rebuilt"})
                    if is_whole and (missed := points["x"][points["rebuilt"].isna()].tolist()):
                        raise InputError(
                            f"figures.{stem}: published x is {missed[0]:g}, beyond the end of "
                            f"{line.name!r}; allowed: an x that it has"
                        )
                    named = {key: first[key] for key in ("variant", "interpretation")}
                    named |= {"panel": stem, "series": line.name}
                    tables.append(with_agreement(points.assign(**named)))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def with_agreement(points: "pd.DataFrame") -> "pd.DataFrame":
    """Return compared points with their difference, what is allowed, and whether they agree.

    Allowed is the digitisation error and our interval, where there is one, on the side of the
    published value.
    """
    import numpy as np  # Targets are listed without it, and this file is read for them.

    ours, published, tolerance = (points[name] for name in ("rebuilt", "published", "tolerance"))
    difference = ours - published
    half = np.where(published > ours, points["hi"] - ours, ours - points["lo"])
    # One run has no interval, and excuses nothing.
    half = np.where(np.isfinite(half), half, 0.0)
    distance = difference.abs() - _ROUNDING
    words = np.select(
        [difference.isna(), distance <= tolerance, distance <= tolerance + half],
        [NOT_REACHED, AGREES, BY_CHANCE],
        DIFFERS,
    )
    points = points.assign(difference=difference, allowance=tolerance + half, agreement=words)
    return points[list(COMPARED)]


def count_agreement(values: "pd.DataFrame") -> dict[str, object]:
    """Return how many digitised values agree with what we computed, and how far they are off.

    ``above`` is the mean of published minus rebuilt, ``sharp`` counts the values at which our
    interval is below a tenth of the digitisation error; ``reproduced`` is empty unless all are
    reached.
    """
    words = list(values["agreement"])
    reached = values[values["agreement"] != NOT_REACHED]
    above = reached["published"] - reached["rebuilt"]
    is_sharp = reached["hi"] - reached["lo"] < 2 * SHARP * reached["tolerance"]
    reproduced = {True: "yes", False: "no"}[is_reproduced(words)]
    return {
        "values": len(values),
        "reached": len(reached),
        "within_error": words.count(AGREES),
        "agrees": words.count(AGREES) + words.count(BY_CHANCE),
        "differs": words.count(DIFFERS),
        "above": float(above.mean()),
        "sharp": int(is_sharp.sum()),
        "sharp_above": float(above[is_sharp].mean()),
        "reproduced": reproduced if len(reached) == len(values) else "",
    }


def reproduced_as_drawn(values: "pd.DataFrame", stem: str) -> str:
    """Return whether a figure or panel, or all ("fig"), is reproduced as drawn, in words.

    An empty text where no value of it was digitised.
    """
    # Figure 1 is no part of Figure 10.
    rows = values[values["panel"].str.match(rf"{stem}(?!(?<=\d)\d)")]
    if not len(rows):
        return ""
    counts = count_agreement(rows)
    if not counts["reproduced"]:
        return "not reached at this scale"
    answers: dict[str, list[str]] = {"yes": [], "no": []}
    for panel, of_panel in rows.groupby("panel", sort=False):
        letter = re.sub("([a-j])$", r"(\1)", str(panel).removeprefix(stem))
        answers[str(count_agreement(of_panel)["reproduced"])].append(letter)
    agreeing = f"{counts['agrees']} of {counts['values']} digitised values"
    if len(answers["yes"]) > 1 and not answers["no"]:
        return f"all {len(answers['yes'])} panels agree with the published ones ({agreeing})"
    differing = [
        str(series)
        for series, line in rows.groupby("series", sort=False)
        if answers["no"] and line["agreement"].eq(DIFFERS).mean() > NAMED_SHARE
    ]
    but = f" in {', '.join(differing)}" if differing else ""
    said = {"yes": "as published", "no": f"not as published{but}"}
    words = []
    for answer, panels in answers.items():
        verb = " are " if len(panels) > 1 else " is " if panels != [""] else ""
        words += [f"{', '.join(panels)}{verb}{said[answer]}"] * bool(panels)
    return f"{', '.join(words)}: {agreeing} agree"


def digitised_csv(values: "pd.DataFrame") -> str:
    return values.to_csv(index=False, float_format=NUMBER_FORMAT, lineterminator="\n")
