"""The page of algorithms: source, variants, interpretations, guarantee, comparisons."""

from collections.abc import Iterator, Sequence
from typing import Any

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Definition
from dpbandits.algorithms.guarantees import listed
from dpbandits.config.documents import as_list
from dpbandits.pages.site.charts import look
from dpbandits.pages.site.model import Site
from dpbandits.pages.site.tables import Shown, shown_cells
from dpbandits.pipeline.targets import Target
from dpbandits.reporting.palette import look_of

Values = dict[str, Any]

Compared = tuple[Target, Shown]
"""A table of a comparison across papers, and what it shows."""


def algorithms_page(site: Site) -> Values:
    """Return what the page shows."""
    tables = list(_tables(site))
    return {"algorithms": [_algorithm(site, each, tables) for each in REGISTRY.values()]}


def _algorithm(site: Site, definition: Definition, tables: Sequence[Compared]) -> Values:
    return {
        "id": definition.id,
        "name": definition.name,
        "source": definition.paper,
        "look": look(look_of(definition.id)),
        "parameters": list(definition.parameters),
        "variants": definition.variants,
        "interpretations": {
            name: (values[0], values[1:]) for name, values in definition.interpretations.items()
        },
        "presets": {name: dict(values) for name, values in definition.presets.items()},
        "guarantees": [
            line.removeprefix("guarantee ").split(": ", 1) for line in listed(definition)
        ],
        "figures": _drawn_in(site, definition.id),
        "tables": [rows for each in tables if (rows := _rows(site, each, definition))["rows"]],
    }


def _drawn_in(site: Site, algorithm: str) -> list[tuple[str, str]]:
    """Return title and address of the figures with a line that the config gives to an algorithm."""
    found = []
    for group in site.groups:
        figures = [site.project.study(each.paper).figures[each.name] for each in group.targets]
        panels = [panel for figure in figures for panel in figure.panels.values()]
        chosen = [{**panel.where, **line.where} for panel in panels for line in panel.series]
        if any(algorithm in as_list(where.get("algorithm")) for where in chosen):
            found.append((f"{group.paper}, {group.head}", group.address))
    return found


def _tables(site: Site) -> Iterator[Compared]:
    """Yield the tables that compare algorithms."""
    for paper in site.comparisons:
        for target in site.tables(paper).values():
            shown = shown_cells(site, target)
            if "algorithm" in shown.numbers:
                yield target, shown


def _rows(site: Site, compared: Compared, definition: Definition) -> Values:
    """Return the rows of an algorithm in a table that names algorithms by id or by name."""
    target, shown = compared
    is_own = shown.numbers["algorithm"].isin([definition.id, definition.name])
    return {
        "target": target,
        "title": site.title(target.paper),
        "columns": list(shown.cells.columns),
        "rows": shown.cells[is_own.to_numpy()].to_numpy().tolist(),
    }
