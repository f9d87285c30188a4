"""`docs/cost.csv`: time and memory of each job, as the workflow measured them."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from dpbandits.engine.files import write_text
from dpbandits.pages.regions import table, with_region
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import REPORT, Target, targets, timing_path

COSTS = Path("docs/cost.csv")
KEY = ["paper", "kind", "name"]
MEASURED = {"seconds": "s", "cpu_seconds": "cpu_time", "memory": "max_rss"}
"""Column -> that of the files of Snakemake; memory in MiB. Short jobs have no memory."""


def write_costs(project: Project) -> Path:
    """Write what was measured, and what was known of jobs that were not measured again."""
    path = project.folder / COSTS
    built = [target for target in targets(project) if target.kind != REPORT]
    measured = pd.DataFrame(_measured(project, built), columns=[*KEY, *MEASURED])
    known = read_costs(project)
    names = {(target.paper, target.kind, target.name) for target in built}
    is_kept = [
        key in names or key[0] not in project.built()
        for key in known[KEY].itertuples(index=False, name=None)
    ]
    both = [frame for frame in (known[is_kept], measured) if len(frame)] or [measured]
    rows = pd.concat(both).drop_duplicates(KEY, keep="last").sort_values(KEY)
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))
    return path


def read_costs(project: Project) -> pd.DataFrame:
    """Return the published costs; none where there is no file."""
    path, columns = project.folder / COSTS, [*KEY, *MEASURED]
    return pd.read_csv(path, usecols=columns) if path.is_file() else pd.DataFrame(columns=columns)


def _measured(project: Project, built: list[Target]) -> Iterator[list[object]]:
    for target in built:
        path = timing_path(project, target)
        if path.is_file():
            last = pd.read_csv(path, sep="\t", na_values="-").iloc[-1]
            values = [round(float(last[column]), 1) for column in MEASURED.values()]
            yield [target.paper, target.kind, target.name, *values]


def cluster_page(project: Project, text: str) -> str:
    """Return the page with its table filled in: the jobs of each paper by kind, and the longest."""
    rows = []
    for (paper, kind), jobs in read_costs(project).groupby(["paper", "kind"]):
        minutes = jobs["cpu_seconds"] / 60
        longest = jobs["name"].iloc[int(minutes.argmax())]
        numbers = [f"{minutes.sum():.1f}", f"{minutes.max():.1f}", f"{jobs['memory'].max():.0f}"]
        rows.append([paper, kind, longest, len(jobs), *numbers])
    heads = ["paper", "kind", "longest job", "jobs", "CPU minutes", "of the longest", "MiB at most"]
    return with_region(text, "cost", table(heads, rows, texts=3))
