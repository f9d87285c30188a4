"""Gather the verdicts on the claims of all chosen papers in one ledger."""

import argparse
import time

from dpbandits.claims.ledger import to_csv
from dpbandits.commands.options import add_choice_options, add_project_options, project_of
from dpbandits.engine.files import write_text
from dpbandits.engine.provenance import require_current
from dpbandits.project.claims_summary import join, read_ledger, tables, together
from dpbandits.project.config import Project
from dpbandits.project.statements import claim_figures
from dpbandits.project.target import record
from dpbandits.project.targets import claims_target, ledger_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the choice of papers to the project's options."""
    add_project_options(parser)
    add_choice_options(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    write_whole_ledger(project_of(arguments))


def write_whole_ledger(project: Project) -> None:
    """Write the verdicts on the claims of all chosen papers, as csv and as a table.

    Raises:
        InputError: the ledger of a paper is missing or stale.
    """
    begun = time.monotonic()
    ledgers = []
    for paper in project.chosen:
        of_paper = claims_target(project, paper)
        require_current(of_paper.files[0], of_paper.depends_on)
        verdicts, both = (read_ledger(path) for path in of_paper.files[:2])
        claims = project.claims(paper)
        figures = {claim.id: claim_figures(project, paper, claim) for claim in claims}
        ledgers.append(join(paper, claims, verdicts, both, figures))
    whole = together(ledgers)
    target = ledger_target(project)
    ledger_csv, *shown = target.files
    write_text(ledger_csv, to_csv(whole))
    texts = tables(whole)
    for path in shown:
        write_text(path, texts[path.suffix])
    record(project, target, begun)
