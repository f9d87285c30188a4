"""Write one table of a paper as LaTeX and csv."""

import argparse
import time
from pathlib import Path

import pandas as pd

from dpbandits.commands.options import add_paper_arguments, add_project_options, project_of
from dpbandits.engine.provenance import require_current
from dpbandits.project.config import Project
from dpbandits.project.target import CLAIMS, DIGITISED, record
from dpbandits.project.targets import claims_target, digitised_target, table_target
from dpbandits.reporting.tables import add_statements, write_table

_NO_NUMBER = {column: [""] for column in ("estimate", "lo", "hi")}
_MISSING = {column: [""] for column in ("ours", "lo", "hi", "difference")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the table to the project's options."""
    add_project_options(parser)
    add_paper_arguments(parser, "a table")


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    write_paper_table(project_of(arguments), arguments.paper, arguments.name)


def write_paper_table(project: Project, paper: str, table: str) -> list[Path]:
    """Write a table of a paper into ``results/tables/PAPER``; return the files."""
    begun = time.monotonic()
    spec = project.table_spec(paper, table)
    folder = project.tables_folder(paper)
    computed = project.experiments(paper).paper.tables
    written = write_table(spec, table, lambda name: _frame(project, paper, name), folder, computed)
    record(project, table_target(project, paper, table), begun)
    return written


def _frame(project: Project, paper: str, name: str) -> pd.DataFrame:
    """Return results by name; ``claims`` are the verdicts with the claims' statements."""
    if name == DIGITISED:
        target = digitised_target(project, paper)
        require_current(target.files[0], target.depends_on)
        return pd.read_csv(target.files[0], keep_default_na=False, na_values=_MISSING)
    if name != CLAIMS:
        return project.frame(paper, name)
    target = claims_target(project, paper)
    require_current(target.files[0], target.depends_on)
    statements = {claim.id: claim.statement for claim in project.claims(paper)}
    verdicts = pd.read_csv(target.files[0], keep_default_na=False, na_values=_NO_NUMBER)
    return add_statements(verdicts, statements)
