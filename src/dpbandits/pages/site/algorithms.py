"""The page of algorithms: source, variants, interpretations, guarantee, and what comparisons say."""

from dataclasses import fields
from typing import Any

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Definition
from dpbandits.engine.guarantees import listed
from dpbandits.pages.site.charts import look
from dpbandits.pages.site.model import Site
from dpbandits.pages.site.tables import shown_cells
from dpbandits.project.target import Target
from dpbandits.reporting.palette import ALGORITHMS
from dpbandits.reporting.style import algorithm_look

Values = dict[str, Any]


def algorithms_page(site: Site) -> Values:
    """Return what the page shows."""
    return {"algorithms": [_algorithm(site, each) for each in REGISTRY.values()]}


def _algorithm(site: Site, definition: Definition) -> Values:
    return {
        "id": definition.id,
        "name": definition.name,
        "source": definition.paper,
        "look": look(algorithm_look(definition.id)) if definition.id in ALGORITHMS else None,
        "parameters": [field.name for field in fields(definition.parameters)],
        "variants": definition.variants,
        "interpretations": {
            name: (values[0], values[1:]) for name, values in definition.interpretations.items()
        },
        "presets": {name: dict(values) for name, values in definition.presets.items()},
        "guarantees": [line.removeprefix("guarantee ").split(": ", 1) for line in listed(definition)],
        "tables": [table for table in _tables(site, definition) if table["rows"]],
    }


def _tables(site: Site, definition: Definition) -> list[Values]:
    """Return the rows of an algorithm in the tables that compare all of them."""
    found = []
    for paper in site.comparisons:
        for target in site.tables(paper).values():
            shown = shown_cells(site, target)
            if "algorithm" in shown.numbers:
                names = shown.numbers["algorithm"].isin([definition.id, definition.name])
                found.append(_rows(site, target, shown.cells[names.to_numpy()]))
    return found


def _rows(site: Site, target: Target, cells: Any) -> Values:
    return {
        "target": target,
        "title": site.title(target.paper),
        "columns": list(cells.columns),
        "rows": cells.to_numpy().tolist(),
    }
