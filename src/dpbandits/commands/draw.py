"""Build figures and tables from results: what rules call, with provenance."""

import time
from pathlib import Path

import pandas as pd

from dpbandits.engine.files import write_text
from dpbandits.engine.provenance import require_current
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs
from dpbandits.reporting.agreement import compare_digitised, digitised_csv
from dpbandits.reporting.diagrams import draw_diagram
from dpbandits.reporting.figures import draw_figure
from dpbandits.reporting.specs import DIAGRAM
from dpbandits.reporting.tables import add_statements, write_table

_NO_NUMBER = {column: [""] for column in ("estimate", "lo", "hi")}
_MISSING = {column: [""] for column in ("ours", "lo", "hi", "difference")}


def draw_paper_figure(project: Project, paper: str, figure: str) -> list[Path]:
    """Draw a figure and its panels into ``figures/PAPER``."""
    begun = time.monotonic()
    spec = project.figure_spec(paper, figure)
    folder = project.figures_folder(paper)

    def frames(name: str) -> pd.DataFrame:
        return project.frame(paper, name)

    if spec.get("kind") == DIAGRAM:
        diagrams = project.experiments(paper).paper.diagrams
        written = draw_diagram(spec, figure, frames, folder, diagrams, paper)
    else:
        derived = project.experiments(paper).paper.derived
        written = draw_figure(spec, figure, frames, folder, derived, paper)
    outputs = Outputs(project)
    made_from = outputs.figure_made_from(paper, figure)
    outputs.finish(folder / f"{figure}.png", begun, made_from)
    return written


def write_paper_table(project: Project, paper: str, table: str) -> list[Path]:
    """Write a table of a paper, as LaTeX and csv, into ``results/tables/PAPER``."""
    begun = time.monotonic()
    spec = project.table_spec(paper, table)
    folder = project.tables_folder(paper)
    computed = project.experiments(paper).paper.tables
    written = write_table(
        spec, table, lambda name: _table_frame(project, paper, name), folder, computed
    )
    outputs = Outputs(project)
    made_from = outputs.table_made_from(paper, table)
    outputs.finish(folder / f"{table}.tex", begun, made_from)
    return written


def write_digitised_comparison(project: Project, paper: str) -> Path:
    """Compare digitised values of a paper with ours, in ``results/PAPER/digitised.csv``."""
    begun = time.monotonic()
    outputs = Outputs(project)
    documents = {
        name: project.figure_spec(paper, name) for name in outputs.digitised_figures(paper)
    }
    compared = compare_digitised(documents, lambda name: project.frame(paper, name))
    path = Path(outputs.digitised(paper))
    write_text(path, digitised_csv(compared))
    outputs.finish(path, begun, outputs.digitised_made_from(paper))
    return path


def _table_frame(project: Project, paper: str, name: str) -> pd.DataFrame:
    """Return results by name; ``claims`` is the ledger with the claims' statements."""
    outputs = Outputs(project)
    if name == "digitised":
        path = Path(outputs.digitised(paper))
        require_current(path, outputs.digitised_made_from(paper))
        return pd.read_csv(path, keep_default_na=False, na_values=_MISSING)
    if name != "claims":
        return project.frame(paper, name)
    path = Path(outputs.ledger(paper)[0])
    require_current(path, outputs.ledger_made_from(paper))
    statements = {claim.id: claim.statement for claim in project.claims(paper)}
    return add_statements(
        pd.read_csv(path, keep_default_na=False, na_values=_NO_NUMBER), statements
    )
