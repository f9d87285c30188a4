"""Checks across the files of the config, and of filters before anything is simulated."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import pandas as pd

from dpbandits.claims.filters import check_claim_filters
from dpbandits.engine.blank_results import blank_results
from dpbandits.engine.experiments import refuse_shared_cells
from dpbandits.engine.progress import waiting
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, Paper
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.study import Experiments
from dpbandits.reporting.filters import check_panel_filters, check_table_filters
from dpbandits.reporting.rows import read_rows
from dpbandits.reporting.specs import DIAGRAM, figure_stems, panel_stem, parse_figure
from dpbandits.reporting.table_specs import parse_table


def check_sentences(project: Project, paper: str) -> None:
    """Raise InputError unless each panel of a paper's figures has one sentence.

    A variant of a figure shares its sentences.
    """
    named = filter(re.compile(r"fig\d+").fullmatch, project.experiments(paper).figures)
    stems = {stem for figure in named for stem in panels_of(project, paper, figure)}
    shown = set(project.papers[paper].panels)
    if stems != shown:
        wrong = ", ".join(sorted(stems ^ shown))
        raise InputError(
            f"{project.config_path(paper, 'paper')}: panels lacks, or has without a panel, "
            f"{wrong}; allowed: one sentence for each panel of the paper's figures"
        )


def panels_of(project: Project, paper: str, figure: str) -> list[str]:
    """Return the panels of a figure, or the figure itself where it has none."""
    stems = figure_stems(figure, project.figure_spec(paper, figure))
    return stems[:-1] or stems


def check_files(project: Project) -> None:
    """Check every file that a build of the chosen papers reads.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    for paper in project.built():
        experiments = project.experiments(paper)
        figures = experiments.figure_specs
        for plan in experiments.plans.values():
            plan.check()
        refuse_shared_cells(experiments.plans)
        with naming(experiments.path):
            for figure, spec in figures.items():
                parse_figure(figure, spec)
            for table in experiments.tables:
                parse_table(table, experiments.table_spec(table))
        _check_code(experiments)
        with naming(project.claims_path(paper)):
            _check_claims(project, paper)
    _refuse_shared_ids(project)


def _check_code(experiments: Experiments) -> None:
    """Raise InputError where the config names a function that the paper's modules do not have."""
    code, file = experiments.paper, experiments.file
    specs = experiments.figure_specs
    panels = [*specs.values(), *(p for s in specs.values() for p in s.get("panels", {}).values())]
    named = {
        "analytic": list(file.analytic),
        "diagrams": [name for name, spec in specs.items() if spec.get("kind") == DIAGRAM],
        "derived": [panel["compute"] for panel in panels if panel.get("compute")],
        "tables": [
            spec["compute"] for spec in experiments.table_specs.values() if spec.get("compute")
        ],
    }
    for module, names in named.items():
        known = _known(code, module, names) if names else ()
        unknown = [name for name in names if name not in known]
        if unknown:
            allowed = ", ".join(known) or f"none, without a module {code.package}.{module}"
            raise InputError(
                f"{experiments.path}: {module} has no {', '.join(unknown)}; allowed: {allowed}"
            )


def _known(code: Paper, module: str, names: Sequence[str]) -> Sequence[str]:
    """Return the functions of a module; any of diagrams and tables, which load what draws."""
    if module not in ("diagrams", "tables"):
        return list(getattr(code, module))
    return names if code.modules(module) else ()


def _refuse_shared_ids(project: Project) -> None:
    """Raise InputError where two papers have a claim or finding of the same id."""
    seen: dict[str, str] = {}
    for paper in project.built():
        statements = project.statements(paper)
        for entry in (*statements.claims, *(each.claim for each in statements.findings)):
            if seen.setdefault(entry.id, paper) != paper:
                raise InputError(
                    f"{statements.claims_path}: {entry.id} is in {seen[entry.id]} too; allowed: "
                    f"each id in one paper"
                )


def _check_claims(project: Project, paper: str) -> None:
    """Raise InputError where a claim reads results, or names a figure or table, that is missing."""
    experiments, statements = project.experiments(paper), project.statements(paper)
    specs = experiments.figure_specs
    stems = [stem for name in specs for stem in figure_stems(name, specs[name])]
    allowed = {
        "reads": {*experiments.plans, *experiments.analytic, *_of_comparisons(project)},
        "figure": {*stems, *experiments.tables},
    }
    claims, findings = statements.claims, statements.findings
    places = [(f"{statements.claims_path}: claims", claim) for claim in claims]
    places += [(f"{statements.findings_path}: findings", each.claim) for each in findings]
    for place, claim in places:
        for key, given in (("reads", claim.reads), ("figure", claim.figures)):
            _refuse_unknown(f"{place}.{claim.id}.{key}", given, allowed[key])
    known = {claim.id for claim in claims} | set(statements.notes.withdrawn)
    for finding in findings:
        place = f"{statements.findings_path}: findings.{finding.claim.id}.claims"
        _refuse_unknown(place, finding.beside, known)


def _of_comparisons(project: Project) -> set[str]:
    """Return the exact results of comparisons, as claims may read them."""
    return {
        f"{name}/{result}" for name in COMPARISONS for result in project.experiments(name).analytic
    }


def _refuse_unknown(place: str, given: Sequence[str], allowed: set[str]) -> None:
    unknown = sorted(set(given) - allowed)
    if unknown:
        raise InputError(f"{place} has {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file before an error message that does not name it."""
    try:
        yield
    except InputError as error:
        line = str(error)
        raise InputError(line if str(path) in line else f"{path}: {line}") from None


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
