"""The steps that the workflow's rules call, each writing its outputs and their provenance."""

import time
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from dpbandits.claims.entries import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.ledger import comparisons, explain, ledger, to_csv
from dpbandits.engine.cache import Cache
from dpbandits.engine.experiments import Series
from dpbandits.engine.fan_out import compile_kernels, compute
from dpbandits.engine.files import write_text
from dpbandits.engine.provenance import require_current, write_provenance
from dpbandits.engine.results import results_frame, write_results
from dpbandits.errors import InputError
from dpbandits.outputs import Outputs
from dpbandits.project import Project
from dpbandits.reporting.figures import draw_figure
from dpbandits.reporting.tables import add_statements, write_table

_NO_NUMBER = {column: [""] for column in ("estimate", "lo", "hi")}


def _series(project: Project, paper: str, name: str) -> list[Series]:
    plan = project.experiments(paper).plan(name)
    tuned = project.frame(paper, plan.tuned_by) if plan.tuned_by else None
    return plan.series(tuned)


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


def run_simulation(project: Project, paper: str, name: str, workers: int) -> Path:
    """Simulate one set of cells and write ``results/PAPER/NAME.parquet``."""
    begun = time.monotonic()
    series = _series(project, paper, name)
    blocks = compute(
        [each.cell for each in series],
        root_seed=project.seed,
        workers=workers,
        cache=Cache(project.cache_folder),
        title=f"{paper}: {name}",
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
    return path


def compute_analytic(project: Project, paper: str, name: str) -> Path:
    """Compute one exact result and write ``results/PAPER/NAME.parquet``."""
    begun = time.monotonic()
    analytic = project.experiments(paper).paper.analytic
    if name not in analytic:
        raise InputError(f"{paper}: analytic result is {name!r}; allowed: {', '.join(analytic)}")
    path = project.results_path(paper, name)
    fingerprint = project.results_fingerprint(paper, name)
    write_results(path, analytic[name](), fingerprint)
    details = {"fingerprint": fingerprint, "scale": project.scale}
    write_provenance(path, project.folder, details, time.monotonic() - begun)
    return path


def compile_paper_kernels(project: Project) -> list[str]:
    """Compile the kernels of every algorithm that the chosen papers simulate; return their ids."""
    algorithms = {
        entry["algorithm"]
        for paper in project.selected()[0]
        for plan in project.experiments(paper).plans.values()
        for entry in plan.spec["cells"]
    }
    compile_kernels(sorted(algorithms))
    return sorted(algorithms)


def draw_paper_figure(project: Project, paper: str, figure: str) -> list[Path]:
    """Draw a figure and its panels into ``figures/PAPER``."""
    begun = time.monotonic()
    spec = project.figure_spec(paper, figure)
    folder = project.figures_folder(paper)
    written = draw_figure(spec, figure, lambda name: project.frame(paper, name), folder)
    made_from = Outputs(project).figure_made_from(paper, figure)
    finish(folder / f"{figure}.png", project, begun, made_from)
    return written


def _judged(project: Project, paper: str, claims: list[Claim]) -> list[Judgement]:
    evidence = Evidence.of(lambda name: project.frame(paper, name), root_seed=project.seed)
    return judge(claims, evidence, "quick" if project.scale == "quick" else "paper")


def judge_paper(project: Project, paper: str) -> None:
    """Judge every claim of a paper; write the ledger and the comparisons behind it."""
    begun = time.monotonic()
    outputs = Outputs(project)
    judgements = _judged(project, paper, project.claims(paper))
    claims, evidence = (Path(path) for path in outputs.ledger(paper))
    write_text(claims, to_csv(ledger(judgements)))
    write_text(evidence, to_csv(comparisons(judgements)))
    finish(claims, project, begun, outputs.ledger_made_from(paper))


def explain_claim(project: Project, identifier: str) -> str:
    """Return how the verdict on a claim, such as ``TSDP-C8``, comes about from the results."""
    known: list[str] = []
    for paper in project.selected()[0]:
        claims = project.claims(paper)
        known += [claim.id for claim in claims]
        chosen = [claim for claim in claims if claim.id == identifier]
        if chosen:
            return "\n".join(explain(each) for each in _judged(project, paper, chosen)).rstrip()
    raise InputError(f"claim is {identifier!r}; allowed: {', '.join(known)}")


def write_paper_table(project: Project, paper: str, table: str) -> list[Path]:
    """Write a table of a paper, as LaTeX and csv, into ``results/tables/PAPER``."""
    begun = time.monotonic()
    spec = project.table_spec(paper, table)
    folder = project.tables_folder(paper)
    written = write_table(spec, table, lambda name: _table_frame(project, paper, name), folder)
    made_from = Outputs(project).table_made_from(paper, table)
    finish(folder / f"{table}.tex", project, begun, made_from)
    return written


def _table_frame(project: Project, paper: str, name: str) -> pd.DataFrame:
    """Return results by name; ``claims`` is the ledger with the claims' statements."""
    if name != "claims":
        return project.frame(paper, name)
    outputs = Outputs(project)
    path = Path(outputs.ledger(paper)[0])
    require_current(path, outputs.ledger_made_from(paper))
    statements = {claim.id: claim.statement for claim in project.claims(paper)}
    return add_statements(
        pd.read_csv(path, keep_default_na=False, na_values=_NO_NUMBER), statements
    )


def finish(path: Path, project: Project, begun: float, made_from: Mapping[str, str]) -> None:
    """Write the provenance of a figure, table or ledger that was begun at ``begun``."""
    details = {"scale": project.scale, "seed": project.seed, "made from": dict(made_from)}
    write_provenance(path, project.folder, details, time.monotonic() - begun)
