"""Which simulations are not simulated before the claims that read them are judged."""

from collections.abc import Iterator
from pathlib import Path

from dpbandits.project.config import Project
from dpbandits.project.experiments import Experiments
from dpbandits.project.target import EXTRA
from dpbandits.reporting.specs import figure_reads
from dpbandits.reporting.table_specs import table_reads


def staged(project: Project, paper: str) -> list[str]:
    """Return the simulations of which claims and findings may need fewer runs than there are.

    Nothing else reads them but supplementary figures and tables, which need all runs. Runs of a
    Nash curve cannot be parted, and the quick scale reads all runs: simulations of either are none.
    """
    if project.scale == "quick":
        return []
    experiments, statements = project.experiments(paper), project.statements(paper)
    read = set(_read_otherwise(experiments))
    entries = [*statements.claims, *(finding.claim for finding in statements.findings)]
    found = []
    for name, plan in experiments.plans.items():
        analyses = [min(each.analyses) for each in entries if name in each.reads and each.analyses]
        fewest = min(analyses, default=plan.runs)
        if fewest < plan.runs and not plan.in_lockstep and name not in read:
            found.append(name)
    return found


def _read_otherwise(experiments: Experiments) -> Iterator[str]:
    """Yield what the paper's own figures and tables read, and what chooses parameters."""
    for name, spec in experiments.figure_specs.items():
        if not name.startswith(EXTRA):
            yield from figure_reads(name, spec)
    for name, spec in experiments.table_specs.items():
        if not name.startswith(EXTRA):
            yield from table_reads(name, spec)
    for plan in experiments.plans.values():
        if plan.tuned_by is not None:
            yield plan.tuned_by


def kept_path(project: Project, paper: str, name: str) -> Path:
    """File of the runs of a staged simulation that the verdicts asked for."""
    return project.results_folder() / paper / "judged" / f"{name}.parquet"
