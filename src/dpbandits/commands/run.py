"""Build results: what rules call to compile, simulate and compute, with provenance."""

import time
from pathlib import Path

from dpbandits.engine.cache import Cache
from dpbandits.engine.fan_out import compile_kernels, compile_nash_kernels, compute, compute_part
from dpbandits.engine.provenance import write_provenance
from dpbandits.engine.results import results_frame, write_results
from dpbandits.engine.spent import Spent, peak_memory
from dpbandits.errors import InputError
from dpbandits.metrics.nash import NASH
from dpbandits.project.config import Project
from dpbandits.project.costs import write_timing


def build_results(project: Project, paper: str, name: str, workers: int) -> Path:
    """Simulate one set of cells, or compute one exact result, into ``results/PAPER/NAME.parquet``.

    Args:
        project: the project.
        paper: its short name.
        name: a simulation or an exact result of its experiments file.
        workers: processes to simulate with.
    """
    if name in project.experiments(paper).analytic:
        return compute_analytic(project, paper, name)
    return run_simulation(project, paper, name, workers)


def require_fingerprint(project: Project, paper: str, name: str, wanted: str | None) -> None:
    """Raise InputError unless results would get the fingerprint that the workflow wants."""
    if wanted is not None and project.results_fingerprint(paper, name) != wanted:
        raise InputError(
            f"{paper}: {name}: a source or the config changed under the running workflow, of which "
            f"nothing is kept; allowed: to start the workflow again"
        )


def run_simulation(project: Project, paper: str, name: str, workers: int) -> Path:
    """Simulate one set of cells and write ``results/PAPER/NAME.parquet``."""
    begun, spent = time.monotonic(), Spent()
    series = project.series(paper, name)
    blocks = compute(
        [each.cell for each in series],
        root_seed=project.seed,
        workers=workers,
        cache=Cache(project.cache_folder),
        title=f"{paper}: {name}",
        spent=spent,
    )
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
    write_timing(project, paper, name, spent)
    return path


def simulate_part(
    project: Project, paper: str, name: str, part: tuple[int, int], workers: int
) -> None:
    """Simulate part I of N of a set of cells into the cache, for ``run_simulation`` to find.

    Raises:
        InputError: there is no such part, or the results are computed exactly.
    """
    number, parts = part
    if name in project.experiments(paper).analytic or not 1 <= number <= parts:
        raise InputError(
            f"part is {number}/{parts}; allowed: I/N with I from 1 to N, of simulations"
        )
    spent = Spent()
    compute_part(
        [each.cell for each in project.series(paper, name)],
        part,
        root_seed=project.seed,
        workers=workers,
        cache=Cache(project.cache_folder),
        title=f"{paper}: {name}, part {number} of {parts}",
        spent=spent,
    )
    write_timing(project, paper, name, spent, part)


def compute_analytic(project: Project, paper: str, name: str) -> Path:
    """Compute one exact result and write ``results/PAPER/NAME.parquet``."""
    begun, processed = time.monotonic(), time.process_time()
    analytic = project.experiments(paper).paper.analytic
    if name not in analytic:
        raise InputError(f"{paper}: analytic result is {name!r}; allowed: {', '.join(analytic)}")
    path = project.results_path(paper, name)
    fingerprint = project.results_fingerprint(paper, name)
    write_results(path, analytic[name](), fingerprint)
    details = {"fingerprint": fingerprint, "scale": project.scale}
    write_provenance(path, project.folder, details, time.monotonic() - begun)
    spent = Spent(blocks=1)
    spent.add(time.process_time() - processed, peak_memory())
    write_timing(project, paper, name, spent)
    return path


def compile_paper_kernels(project: Project) -> list[str]:
    """Compile the kernels of every algorithm that what is built simulates; return their ids."""
    plans = [
        plan for paper in project.built() for plan in project.experiments(paper).plans.values()
    ]
    algorithms = sorted({name for plan in plans for name in plan.spec.algorithms})
    compile_kernels(algorithms)
    if any(not set(NASH).isdisjoint(plan.spec.metrics) for plan in plans):
        compile_nash_kernels()
    return algorithms
