"""Simulate one named set of cells of a paper, or compute one of its exact results."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from dpbandits.commands.options import (
    add_paper_arguments,
    add_project_options,
    add_workers_option,
    project_of,
)
from dpbandits.engine.arguments import require_workers
from dpbandits.engine.cache import PackedCache
from dpbandits.engine.fan_out import compute
from dpbandits.engine.provenance import write_provenance
from dpbandits.engine.results import results_frame, write_results
from dpbandits.engine.spent import Spent, peak_memory
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.costs import write_timing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the results to the project's options."""
    add_project_options(parser)
    add_paper_arguments(parser, "a simulation or an exact result")
    add_workers_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    require_workers(arguments.workers)
    build_results(project_of(arguments), arguments.paper, arguments.name, arguments.workers)


def build_results(project: Project, paper: str, name: str, workers: int) -> Path:
    """Simulate one set of cells, or compute one exact result, into ``results/PAPER/NAME.parquet``.

    Args:
        project: the project.
        paper: its short name.
        name: a simulation or an exact result of its experiments file.
        workers: processes to simulate with.
    """
    if name in project.experiments(paper).analytic:
        return compute_analytic(project, paper, name, workers)
    return run_simulation(project, paper, name, workers)


def run_simulation(project: Project, paper: str, name: str, workers: int) -> Path:
    """Simulate one set of cells and write ``results/PAPER/NAME.parquet``."""
    begun, spent = time.monotonic(), Spent()
    series = project.series(paper, name)
    blocks = compute(
        [each.cell for each in series],
        root_seed=project.seed,
        workers=workers,
        cache=PackedCache(project.cache_folder, f"{paper}/{name}"),
        title=f"{paper}: {name}",
        spent=spent,
    )
    _say_computed(f"{paper}: {name}", spent, begun)
    path = project.results_path(paper, name)
    fingerprint = project.results_fingerprint(paper, name)
    write_results(path, results_frame(series, blocks), fingerprint)
    details = {
        "fingerprint": fingerprint,
        "seed": project.seed,
        "scale": project.scale,
        "workers": workers,
        "series": {each.label: each.cell.description for each in series},
    }
    write_provenance(path, project.folder, details, time.monotonic() - begun)
    write_timing(project, paper, name, spent, fingerprint)
    return path


def _say_computed(title: str, spent: Spent, begun: float) -> None:
    """Leave a line in the log of a job on what was computed rather than read."""
    if spent.computed:
        seconds = time.monotonic() - begun
        print(f"{title}: {spent.computed} blocks computed in {seconds:.1f} s", file=sys.stderr)


def compute_analytic(project: Project, paper: str, name: str, workers: int) -> Path:
    """Compute one exact result and write ``results/PAPER/NAME.parquet``."""
    begun, processed = time.monotonic(), time.process_time()
    experiments = project.experiments(paper)
    analytic = experiments.paper.analytic
    if name not in analytic:
        raise InputError(f"{paper}: analytic result is {name!r}; allowed: {', '.join(analytic)}")
    path = project.results_path(paper, name)
    fingerprint = project.results_fingerprint(paper, name)
    given: dict[str, Any] = {}
    if name in experiments.scaled:
        given = {"scale": project.scale, "seed": project.seed, "workers": workers}
    write_results(path, analytic[name](**given), fingerprint)
    details = {"fingerprint": fingerprint, "scale": project.scale, **given}
    write_provenance(path, project.folder, details, time.monotonic() - begun)
    spent = Spent(blocks=1)
    spent.add(time.process_time() - processed, peak_memory())
    write_timing(project, paper, name, spent, fingerprint)
    return path
