"""What a panel depends on: its curves as played, and each switch between paper and code alone.

A paper has such a page where it has a file ``switches.yaml``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from dpbandits.algorithms import REGISTRY
from dpbandits.config.documents import Name, Sentence, Spec, Text, load_document
from dpbandits.errors import InputError
from dpbandits.pages.contents import VARIANTS
from dpbandits.pages.site.content import shown_cells
from dpbandits.pages.site.figures import CsvLine, Json, chart, csv_lines, series
from dpbandits.pages.site.model import FigureGroup, Site
from dpbandits.reporting.lines import PUBLISHED
from dpbandits.reporting.palette import algorithm_look, tell_apart
from dpbandits.reporting.spec import PanelSpec, panel_stem

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


def switches_pages(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the address of each such page and what its template shows.

    Raises:
        InputError: the file is not as it must be, or names no panel of the paper.
    """
    for paper in site.papers:
        path = site.project.study(paper).config_path("switches")
        if not path.exists():
            continue
        spec = load_document(path, SwitchesFile)
        groups = [each for each in site.groups if each.paper == paper and spec.panel in each.stems]
        tables = site.tables(paper)
        if not groups or spec.table not in tables:
            continue
        lines = list(_lines(site, groups[0], spec))
        if not lines:
            continue
        target = tables[spec.table]
        shown = shown_cells(site, target)
        algorithms = _algorithms(spec, shown.numbers, [line for _, _, line in lines])
        yield (
            f"switches/{paper}.html",
            {
                "title": spec.title,
                "paper": paper,
                "group": groups[0],
                "target": target,
                "chart": [{"name": spec.panel, "label": "", "panels": [_panel(spec, lines)]}],
                "crossings": [_crossings(pair, lines) for pair in spec.pairs],
                "data": {"x": "Algorithm", "y": spec.number, "algorithms": algorithms},
                "number": spec.number,
                "columns": list(shown.cells.columns),
                "rows": shown.cells.to_numpy().tolist(),
                "changes": CHANGES,
            },
        )


Found = tuple[PanelSpec, bool, CsvLine]
"""The panel, whether it is the one that is drawn first, and a line of it."""


def _lines(site: Site, group: FigureGroup, spec: SwitchesFile) -> Iterator[Found]:
    """Yield the lines of a panel in every variant of its figure."""
    place = next(
        (target.name, letter)
        for target, letter in _panels(site, group)
        if panel_stem(target.name, letter) == spec.panel
    )
    for target, letter in _panels(site, group):
        if letter == place[1]:
            panel = _figure(site, group, target.name).panels[letter]
            table = site.sources.frame(target, panel_stem(target.name, letter))
            for line in csv_lines(panel, table) or [] if table is not None else []:
                if line.variant != PUBLISHED or target.name == place[0]:
                    yield panel, target.name == place[0], line


def _figure(site: Site, group: FigureGroup, name: str) -> Any:
    return site.project.study(group.paper).figures[name]


def _panels(site: Site, group: FigureGroup) -> Iterator[tuple[Any, str]]:
    for target in group.targets:
        for letter in _figure(site, group, target.name).panels:
            yield target, letter


def _panel(spec: SwitchesFile, lines: Sequence[Found]) -> Json:
    """Return the chart of all curves; those of other variants are hidden at first."""
    first = lines[0][0]
    own = [line for _, _, line in lines if line.variant != PUBLISHED]
    looks = tell_apart([_plain_look(line) for line in own])
    by_line = dict(zip(map(id, own), looks, strict=True))
    found = chart(first, [])
    for panel, is_first, line in lines:
        known = replace(line, label=_label(line), look=by_line.get(id(line), line.look))
        found["series"].append(series(panel, known) | {"hidden": not is_first})
    return {"stem": spec.panel, "title": "", **found}


def _plain_look(line: CsvLine) -> Any:
    return algorithm_look(line.algorithm) if line.algorithm in REGISTRY else line.look


def _label(line: CsvLine) -> str:
    return f"{line.label}, {VARIANTS.get(line.variant, line.variant)}"


def _crossings(pair: tuple[str, str], lines: Sequence[Found]) -> dict[str, Any]:
    """Return from which drawn time on each curve of one algorithm is below each of another."""
    one, other = (
        [line for _, _, line in lines if line.algorithm == name and line.variant != PUBLISHED]
        for name in pair
    )
    return {
        "names": [REGISTRY[name].name for name in pair],
        "columns": [_label(line) for line in one],
        "rows": [
            (_label(line), [crossing(each.points, line.points) for each in one]) for line in other
        ],
    }


def crossing(one: pd.DataFrame, other: pd.DataFrame) -> tuple[str, float | None]:
    """Return ``from`` and the first drawn time from which on one curve is below another.

    Without a time ``always`` or ``never``.

    Args:
        one: columns x and y.
        other: the same.
    """
    both = one.merge(other, on="x", suffixes=("", "_other"))
    is_below = (both["y"] < both["y_other"]).tolist()
    last = max((place for place, below in enumerate(is_below) if not below), default=-1)
    if last + 1 == len(is_below):
        return "never", None
    return ("always", None) if last < 0 else ("from", float(both["x"].iloc[last + 1]))


def _algorithms(spec: SwitchesFile, table: pd.DataFrame, lines: Sequence[CsvLine]) -> list[Json]:
    """Return the numbers of each algorithm of the panel as coded, and with each switch alone."""
    names = dict.fromkeys(line.algorithm for line in lines if line.algorithm)
    found = []
    for name in names:
        own = table[table["algorithm"] == name]
        if own.empty:
            continue
        scoring = table[(table["algorithm"] == spec.scoring) & (spec.scoring is not None)]
        scoring = scoring[scoring["algorithm"].str.startswith(f"{name},")]
        found.append(
            {
                "id": name,
                "name": REGISTRY[name].name,
                "coded": _numbers(own.iloc[0], "coded"),
                "shift": _shift(scoring.iloc[0], own.iloc[0]) if len(scoring) else None,
                "switches": [_switch(row) for _, row in own.iterrows()],
            }
        )
    if not found:
        raise InputError(f"{spec.table}: has no algorithm of {spec.panel}; allowed: some of them")
    return found


def _switch(row: "pd.Series[Any]") -> Json:
    return {
        "ids": sorted(str(row["id"]).split(" and ")),
        "value": _numbers(row, "changed"),
        **_words(row),
    }


def _words(row: "pd.Series[Any]") -> Json:
    texts = {key: "" if pd.isna(row[key]) else str(row[key]) for key in ("switch", "paper", "code")}
    is_large = abs(float(row["factor"]) - 1.0) > CHANGES
    return {"id": str(row["id"]), **texts, "factor": float(row["factor"]), "is_large": is_large}


def _shift(row: "pd.Series[Any]", coded: "pd.Series[Any]") -> Json:
    """Return the switch of scoring: the amount by which numbers as coded exceed those of others."""
    return {"amount": float(row["coded"]) - float(coded["coded"]), **_words(row)}


def _numbers(row: "pd.Series[Any]", key: str) -> list[float]:
    return [float(row[key]), float(row[f"{key}_lo"]), float(row[f"{key}_hi"])]
