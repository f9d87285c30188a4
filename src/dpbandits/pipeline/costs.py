"""What jobs cost, as their provenance has it: `docs/cost.csv`."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from dpbandits.engine.provenance import read_provenance, write_text
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import COSTS, Target, targets

KEY = ["paper", "kind", "name"]
MEASURED = ["seconds", "cpu_seconds", "memory_mib"]
"""What a job measures of itself, in its provenance."""
CACHED = "cached_runs"
"""Runs that a job took from the cache, so that it would take longer without."""


def write_costs(project: Project) -> Path:
    """Write what each job took; jobs that did not run again keep what was published.

    So do jobs that took more runs from the cache than the published one.
    """
    path, known = project.folder / COSTS, read_costs(project)
    # The ledger of some papers is not that of all.
    of_papers = project.built() + ["all"] * (project.chosen == project.published)
    built = [each for each in targets(project) if each.paper in of_papers]
    names = {(target.paper, target.kind, target.name) for target in built}
    is_kept = [
        key in names or key[0] not in project.built()
        for key in known[KEY].itertuples(index=False, name=None)
    ]
    measured = pd.DataFrame(_measured(built), columns=[*KEY, *MEASURED, CACHED])
    both = [frame for frame in (known[is_kept], measured) if len(frame)] or [measured]
    fullest_last = pd.concat(both).sort_values(CACHED, kind="stable", ascending=False)
    rows = fullest_last.drop_duplicates(KEY, keep="last").sort_values(KEY)
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))
    return path


def read_costs(project: Project) -> pd.DataFrame:
    """Return the published costs; none where there is no file."""
    path, columns = project.folder / COSTS, [*KEY, *MEASURED, CACHED]
    return pd.read_csv(path, usecols=columns) if path.is_file() else pd.DataFrame(columns=columns)


def _measured(built: list[Target]) -> Iterator[list[object]]:
    """Yield what each job took, and how many of its runs came from the cache."""
    for target in built:
        record = read_provenance(target.provenance) if target.provenance.is_file() else {}
        if record.keys() >= {*MEASURED}:
            values = [round(record[column], 1) for column in MEASURED]
            cached = record.get(CACHED, 0)
            yield [target.paper, target.kind, target.name, *values, cached]
