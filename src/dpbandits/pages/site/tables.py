"""The page of each table, with the texts that it has in LaTeX as far as its csv has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.pages.site.model import Site, table_address
from dpbandits.pages.site.texts import plain
from dpbandits.pipeline.targets import TABLE, Target
from dpbandits.reporting.tables import cells_of
from dpbandits.reporting.text import readable


@dataclass(frozen=True, eq=False)
class Shown:
    """A table.

    Attributes:
        numbers: its csv.
        cells: the texts of its cells, row by row as in the csv.
    """

    numbers: pd.DataFrame
    cells: pd.DataFrame


def shown_cells(site: Site, target: Target) -> Shown:
    """Return a table that exists as csv."""
    path = site.sources.path(target, target.name, "csv")
    assert path is not None, "targets of the site have a csv"
    numbers = pd.read_csv(path, keep_default_na=False, na_values=[""])
    table = site.project.study(target.paper).tables[target.name]
    try:
        if table.rows:
            return Shown(numbers, _readable(numbers))
        cells = cells_of(table, numbers, f"tables.{target.name}")
    except InputError:
        # A csv of an earlier entry, whose columns are others.
        cells = _readable(numbers)
    return Shown(numbers, cells.rename(columns=plain))


def _readable(numbers: pd.DataFrame) -> pd.DataFrame:
    return numbers.map(_text).rename(columns=lambda name: str(name).replace("_", " "))


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else readable(f"{value:.6g}")
    return readable(str(value))


def table_pages(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the address of each table's page and what its template shows."""
    for target in site.sources.targets:
        if target.kind == TABLE:
            cells = shown_cells(site, target).cells
            suffixes = ("csv", "tex", "tabular")
            found = (site.sources.path(target, target.name, suffix) for suffix in suffixes)
            yield (
                table_address(target),
                {
                    "target": target,
                    "title": f"{target.paper}, table {target.name}",
                    "paper_title": site.title(target.paper),
                    "columns": list(cells.columns),
                    "rows": cells.to_numpy().tolist(),
                    "files": [f"data/{target.paper}/{path.name}" for path in found if path],
                },
            )
