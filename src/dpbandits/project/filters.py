"""The filters of figures, tables and claims, tried before anything is simulated."""

from collections.abc import Callable
from functools import cache, partial

import pandas as pd

from dpbandits.claims.filters import check_claim_filters
from dpbandits.engine.blank_results import blank_results
from dpbandits.engine.progress import waiting
from dpbandits.project.check import naming
from dpbandits.project.config import Project
from dpbandits.reporting.filters import check_panel_filters, check_table_filters
from dpbandits.reporting.rows import read_rows
from dpbandits.reporting.specs import panel_stem, parse_figure
from dpbandits.reporting.table_specs import parse_table


def check_filters(project: Project) -> None:
    """Check that the filters of figures and tables, and those of claims, are met by series.

    Takes seconds, so that it is no part of ``check_files``, which every run begins with. Exact
    results, and simulations whose parameters others tune, are not known before they are computed.

    Raises:
        InputError: in one line, the file, the entry and what is allowed.
    """
    for paper in project.built():
        with waiting(f"checking {paper}"):
            _check_paper(project, paper)


def _check_paper(project: Project, paper: str) -> None:
    experiments = project.experiments(paper)
    known = {name for name, plan in experiments.plans.items() if plan.tuned_by is None}
    blank = cache(partial(_blank, project, paper))
    with naming(experiments.path):
        _check_shown(project, paper, known, blank)
    # At a small scale some points of a claim are left out.
    if project.scale == "paper":
        statements = project.statements(paper)
        findings = [finding.claim for finding in statements.findings]
        for path, claims in (
            (statements.claims_path, statements.claims),
            (statements.findings_path, findings),
        ):
            with naming(path):
                readable = [claim for claim in claims if known.issuperset(claim.reads)]
                check_claim_filters(readable, blank)


def _blank(project: Project, paper: str, name: str) -> pd.DataFrame:
    return blank_results(project.series(paper, name))


def _check_shown(
    project: Project, paper: str, known: set[str], blank: Callable[[str], pd.DataFrame]
) -> None:
    """Check the panels of figures, and the tables, that show known simulations."""
    experiments = project.experiments(paper)
    for figure in experiments.figures:
        parsed = parse_figure(figure, project.figure_spec(paper, figure))
        for letter, panel in parsed.panels.items():
            if panel.compute is None and known.issuperset(panel.reads):
                place = f"figures.{panel_stem(figure, letter)}"
                check_panel_filters(panel, read_rows(panel.reads, blank, place), place)
    for name in experiments.tables:
        table = parse_table(name, project.table_spec(paper, name))
        if table.compute is None and known.issuperset(table.reads):
            place = f"tables.{name}"
            check_table_filters(table, read_rows(table.reads, blank, place), place)
