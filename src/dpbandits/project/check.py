"""The check of everything that a build of the chosen papers reads."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpbandits.engine.experiments import refuse_shared_cells
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, Paper
from dpbandits.project.config import Project
from dpbandits.project.experiments import Experiments
from dpbandits.reporting.specs import DIAGRAM, figure_stems, parse_figure
from dpbandits.reporting.table_specs import parse_table


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
