"""What a panel depends on: its curves as played, and each switch between paper and code alone.

A paper has such a page where it has a file ``switches.yaml``.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from dpbandits.algorithms import REGISTRY
from dpbandits.config.documents import Name, Sentence, Spec, Text, load_document
from dpbandits.errors import InputError
from dpbandits.pages.site.charts import Json, look
from dpbandits.pages.site.content import Charts, Page, table_cells
from dpbandits.pages.site.model import Site, figure_address
from dpbandits.pages.verdicts import VARIANTS, Values
from dpbandits.reporting.lines import PUBLISHED
from dpbandits.reporting.palette import look_of, tell_apart
from dpbandits.reporting.text import readable

CHANGES = 0.05
"""A switch that changes its number by a larger share is listed first."""


class SwitchesFile(Spec):
    """config/papers/PAPER/switches.yaml: a page of the site on what one panel depends on.

    Attributes:
        paper: short name of the paper.
        title: head of the page.
        panel: the panel, in the variant that is drawn first.
        table: the table of one-switch effects: columns id, algorithm, switch, paper, code, coded
            and changed (each with _lo and _hi), change and factor.
        number: what the table's numbers are.
        scoring: value of the column algorithm in the row of a switch of scoring, which moves every
            number of its algorithm by the same amount; the panel is drawn with it as coded.
        pairs: algorithms of which the first is compared with the second.
    """

    paper: Name
    title: Sentence
    panel: Name
    table: Name
    number: Text
    scoring: Text | None = None
    pairs: Annotated[tuple[tuple[Name, Name], ...], Field(min_length=1)]


def switches_pages(site: Site, charts: Charts) -> Iterator[Page]:
    """Yield each such page."""
    for paper in site.papers:
        path = site.project.study(paper).config_path("switches")
        if not path.exists():
            continue
        spec = load_document(path, SwitchesFile)
        groups = [each for each in site.figures(paper) if spec.panel in each.stems]
        views = charts[figure_address(groups[0])] if groups else []
        if not views or spec.table not in site.tables(paper):
            continue
        panel = _panel(spec, views)
        lines = panel["series"]
        numbers, cells = table_cells(site, paper, spec.table)
        algorithms = _algorithms(spec, numbers, [line["algorithm"] for line in lines])
        crossings = [_crossings(pair, lines) for pair in spec.pairs]
        values = {
            "title": spec.title,
            "paper": paper,
            "group": groups[0],
            "answer": [*map(_answer, crossings), _largest(algorithms)],
            "embedded": {
                "figure-data": [{"name": spec.panel, "label": "", "panels": [panel]}],
                "switch-data": {"x": "Algorithm", "y": spec.number, "algorithms": algorithms},
            },
            "scripts": ["charts.js", "switches.js"],
            "crossings": crossings,
            "algorithms": algorithms,
            "caption": site.project.study(paper).tables[spec.table].caption,
            "table": f"tables/{paper}/{spec.table}.html",
            "columns": list(cells.columns),
            "rows": cells.to_numpy().tolist(),
            "changes": CHANGES,
        }
        yield "switches.html", f"switches/{paper}.html", values


def _panel(spec: SwitchesFile, views: list[Json]) -> Json:
    """Return a panel with its curves in every variant, hidden but for those drawn first."""
    panels = [panel for view in views if "residuals" not in view for panel in view["panels"]]
    first = next(panel for panel in panels if panel["stem"] == spec.panel)
    lines = [
        line
        | {"hidden": panel is not first}
        | {"label": f"{line['label']}, {VARIANTS.get(line['variant'], line['variant'])}"}
        for panel in panels
        if panel["letter"] == first["letter"]
        for line in panel["series"]
        if line["variant"] != PUBLISHED or panel is first
    ]
    known = [line for line in lines if line["algorithm"] in REGISTRY]
    looks = tell_apart([look_of(line["algorithm"]) for line in known])
    for line, its_look in zip(known, looks, strict=True):
        line |= look(its_look)
    return {**first, "title": "", "series": lines}


def _crossings(pair: tuple[str, str], lines: Sequence[Json]) -> Values:
    """Return from which drawn time on each curve of one algorithm is below each of another."""
    one, other = ([line for line in lines if line["algorithm"] == name] for name in pair)
    return {
        "names": [REGISTRY[name].name for name in pair],
        "columns": [line["label"] for line in one],
        "rows": [(theirs["label"], [crossing(line, theirs) for line in one]) for theirs in other],
    }


def _answer(crossings: Values) -> str:
    """Return in how many combinations of how two algorithms are played one ends below another."""
    one, other = crossings["names"]
    cells = [cell for _, row in crossings["rows"] for cell in row]
    below, (word, x) = sum(word != "never" for word, _ in cells), cells[0]
    when = {"always": "at every drawn time", "never": "never"}.get(word) or f"from t = {x:.3g} on"
    return (
        f"{one} ends below {other} in {below} of {len(cells)} combinations of how both are "
        f"played. As drawn it is below {readable(when)}."
    )


def _largest(algorithms: Sequence[Json]) -> str:
    """Return which switch alone changes the number of its algorithm most."""
    alone = [
        (own["name"], switch)
        for own in algorithms
        for switch in own["switches"]
        if len(switch["ids"]) == 1
    ]
    name, switch = max(alone, key=lambda pair: abs(math.log(pair[1]["factor"])))
    return (
        f"Of the switches alone, {switch['id']} changes its number most: {name} with "
        f"“{switch['paper']}” has {switch['factor']:.3g} times the Nash regret of the code."
    )


def crossing(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return ``from`` and the first drawn time from which on one curve is below another.

    Without a time ``always`` or ``never``. Curves have their points as ``x`` and ``y``.
    """
    theirs = dict(zip(other["x"], other["y"], strict=True))
    points = zip(one["x"], one["y"], strict=True)
    is_below = [(x, y < theirs[x]) for x, y in points if x in theirs]
    last = max((place for place, (_, below) in enumerate(is_below) if not below), default=-1)
    if last + 1 == len(is_below):
        return "never", None
    return ("always", None) if last < 0 else ("from", float(is_below[last + 1][0]))


def _algorithms(spec: SwitchesFile, table: pd.DataFrame, drawn: Sequence[str]) -> list[Json]:
    """Return the numbers of each algorithm of the panel as coded, and with each switch alone.

    The switch of scoring is the amount by which numbers as coded exceed those of the algorithm.
    """
    found: list[Json] = []
    for name in dict.fromkeys(filter(None, drawn)):
        rows = table[table["algorithm"] == name].to_dict("records")
        if not rows:
            continue
        is_scored = spec.scoring is not None and spec.scoring.startswith(f"{name},")
        scoring = table[is_scored & (table["algorithm"] == spec.scoring)].to_dict("records")
        shifts = [
            {"amount": float(row["coded"]) - float(rows[0]["coded"]), **_words(row)}
            for row in scoring
        ]
        switches = [
            {"ids": sorted(str(row["id"]).split(" and ")), "value": _numbers(row, "changed")}
            | _words(row)
            for row in rows
        ]
        own: Json = {"id": name, "name": REGISTRY[name].name, "switches": switches}
        own |= {"coded": _numbers(rows[0], "coded"), "shift": shifts[0] if shifts else None}
        found.append(own)
    if not found:
        raise InputError(f"{spec.table}: has no algorithm of {spec.panel}; allowed: some of them")
    return found


def _words(row: Mapping[Any, Any]) -> Json:
    texts = {key: "" if pd.isna(row[key]) else str(row[key]) for key in ("switch", "paper", "code")}
    is_large = abs(float(row["factor"]) - 1.0) > CHANGES
    return {"id": str(row["id"]), **texts, "factor": float(row["factor"]), "is_large": is_large}


def _numbers(row: Mapping[Any, Any], key: str) -> list[float]:
    return [float(row[f"{key}{end}"]) for end in ("", "_lo", "_hi")]
