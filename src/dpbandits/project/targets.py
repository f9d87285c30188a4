"""What a project builds: every set of results, figure, table and ledger, and what each depends on.

This is the one account of the DAG. The workflow, the commands, the published copies, the costs and
the archive all take it from here.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from dpbandits.engine.canonical import digest_of
from dpbandits.engine.fingerprints import fingerprint
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS
from dpbandits.project.claims_summary import CAPTION
from dpbandits.project.config import Project, owner
from dpbandits.project.target import (
    CLAIMS,
    DIGITISED,
    FIGURE,
    LEDGER,
    REPORT,
    RESULTS,
    TABLE,
    THREADS,
    Target,
    rule_name,
    wanted,
)
from dpbandits.reporting import table_specs
from dpbandits.reporting.published import has_published
from dpbandits.reporting.specs import DIAGRAM, figure_reads, figure_stems, parse_figure
from dpbandits.reporting.templates import template_text

CLAIMS_FILES = ("claims", "simultaneous", "evidence", "findings")
"""Files of a paper's claims: verdicts, both verdicts on each row, every comparison, findings."""

VOCABULARY = "dpbandits.claims.vocabulary"
"""Statistics of every paper, which the claims of some name."""

FIGURE_SUFFIXES = ("png", "pdf", "csv")
TABLE_SUFFIXES = ("tex", "tabular", "html", "csv")


def targets(project: Project) -> list[Target]:
    """Return what is built of the chosen papers, each after what it is built from.

    Raises:
        InputError: an experiments, claims or findings file is not as it must be.
    """
    built = [target for paper in project.built() for target in _of_paper(project, paper)]
    built = [*_of_others(project), *built]
    ledger = [ledger_target(project)] if project.chosen else []
    return [*built, *ledger, report_target(project, [*built, *ledger])]


def _of_paper(project: Project, paper: str) -> Iterator[Target]:
    """Yield the targets of a paper; results that choose parameters of others come first."""
    experiments = project.experiments(paper)
    names = [*experiments.plans, *experiments.analytic]
    results = [results_target(project, paper, name) for name in names]
    yield from sorted(results, key=lambda target: bool(target.inputs))
    if paper not in COMPARISONS:
        yield claims_target(project, paper)
    if digitised_figures(project, paper):
        yield digitised_target(project, paper)
    for name in experiments.figures:
        yield figure_target(project, paper, name)
    for name in experiments.tables:
        yield table_target(project, paper, name)


def _of_others(project: Project) -> Iterator[Target]:
    """Yield the results of comparisons that are not built, which claims of built papers read."""
    papers = project.built()
    named = [(paper, name) for paper in papers for name in project.statements(paper).reads]
    for paper, name in dict.fromkeys(owner(*each) for each in named):
        if paper not in papers:
            yield results_target(project, paper, name)


def results_target(project: Project, paper: str, name: str) -> Target:
    """Return one simulation, or one exact result."""
    experiments = project.experiments(paper)
    plan = None if name in experiments.analytic else experiments.plan(name)
    tuned_by = [plan.tuned_by] if plan is not None and plan.tuned_by else []
    is_brief = project.scale == "quick" or plan is None or plan.is_brief
    return Target(
        kind=RESULTS,
        paper=paper,
        name=name,
        rule=RESULTS,
        inputs=_paths(project, paper, tuned_by),
        files=(project.results_path(paper, name),),
        depends_on={name: project.results_fingerprint(paper, name)},
        threads=1 if is_brief else THREADS,
    )


def _read(project: Project, paper: str, names: Iterable[str]) -> dict[str, str]:
    """Return the fingerprint of each set of results."""
    return {name: project.results_fingerprint(paper, name) for name in names}


def _paths(project: Project, paper: str, names: Iterable[str]) -> tuple[Path, ...]:
    return tuple(project.results_path(paper, name) for name in names)


def figure_target(project: Project, paper: str, name: str) -> Target:
    """Return one figure, with its panels.

    Its fingerprint covers its entry and the sources that draw it.
    """

    spec = project.figure_spec(paper, name)
    figure = parse_figure(name, spec)
    code = project.experiments(paper).paper
    sources = ["dpbandits.reporting.figures"]
    if spec.get("kind") == DIAGRAM:
        sources = code.modules("diagrams")
    elif any(panel.compute for panel in figure.panels.values()):
        sources += code.modules("derived")
    stems = sorted(figure_stems(name, spec), key=lambda stem: stem != name)
    folder = project.figures_folder(paper)
    reads = figure_reads(name, spec)
    return Target(
        kind=FIGURE,
        paper=paper,
        name=name,
        rule=rule_name(paper, name),
        inputs=_paths(project, paper, reads),
        files=tuple(folder / f"{stem}.{suffix}" for stem in stems for suffix in FIGURE_SUFFIXES),
        caption=figure.caption,
        depends_on={FIGURE: digest_of([dict(spec), fingerprint(*sources)])[:16]}
        | _read(project, paper, reads),
    )


def table_target(project: Project, paper: str, name: str) -> Target:
    """Return one table of results, of verdicts or of digitised values compared with ours."""

    spec = project.table_spec(paper, name)
    table = table_specs.parse_table(name, spec)
    sources = ["dpbandits.reporting.tables"]
    if table.compute is not None:
        sources += project.experiments(paper).paper.modules("tables")
    text = [dict(spec), fingerprint(*sources), template_text("table.html")]
    if table.reads == table_specs.LEDGER:
        read = claims_target(project, paper)
        inputs, depends_on = read.files[:1], read.depends_on
    elif table.reads == table_specs.DIGITISED:
        read = digitised_target(project, paper)
        inputs, depends_on = read.files, read.depends_on
    else:
        inputs = _paths(project, paper, table.reads)
        depends_on = _read(project, paper, table.reads)
    folder = project.tables_folder(paper)
    return Target(
        kind=TABLE,
        paper=paper,
        name=name,
        rule=rule_name(paper, "table", name),
        inputs=inputs,
        files=tuple(folder / f"{name}.{suffix}" for suffix in TABLE_SUFFIXES),
        caption=table.caption,
        depends_on={TABLE: digest_of(text)[:16], **depends_on},
    )


def claims_fingerprint(project: Project, paper: str) -> str:
    """Return the hash of what claims are judged with: their entries and the sources."""
    code = project.experiments(paper).paper
    statements = project.statements(paper)
    named = statements.statistics & {VOCABULARY}
    modules = [*code.modules("statistics"), *named, "dpbandits.claims.simultaneous"]
    return digest_of([*statements.texts(), fingerprint(*modules)])[:16]


def claims_target(project: Project, paper: str) -> Target:
    """Return the verdicts on the claims of a paper and the findings on it.

    Raises:
        InputError: it is a comparison, which has no claims.
    """
    if paper in COMPARISONS:
        raise InputError(
            f"paper is {paper!r}, which has no claims; allowed: {', '.join(project.papers)}"
        )
    reads = project.statements(paper).reads
    folder = project.results_folder() / paper
    return Target(
        kind=CLAIMS,
        paper=paper,
        name=CLAIMS,
        rule=rule_name(paper, CLAIMS),
        inputs=_paths(project, paper, reads),
        files=tuple(folder / f"{name}.csv" for name in CLAIMS_FILES),
        depends_on={CLAIMS: claims_fingerprint(project, paper)} | _read(project, paper, reads),
    )


def digitised_figures(project: Project, paper: str) -> list[str]:
    """Return the figures that are compared with digitised values."""

    specs = project.experiments(paper).figure_specs
    return [name for name, spec in specs.items() if has_published(spec)]


def digitised_target(project: Project, paper: str) -> Target:
    """Return the comparison of a paper's digitised values with ours."""

    specs = {name: project.figure_spec(paper, name) for name in digitised_figures(project, paper)}
    reads = list(dict.fromkeys(r for name, spec in specs.items() for r in figure_reads(name, spec)))
    text = [[dict(spec) for spec in specs.values()], fingerprint("dpbandits.reporting.agreement")]
    return Target(
        kind=DIGITISED,
        paper=paper,
        name=DIGITISED,
        rule=rule_name(paper, DIGITISED),
        inputs=_paths(project, paper, reads),
        files=(project.results_folder() / paper / "digitised.csv",),
        depends_on={DIGITISED: digest_of(text)[:16]} | _read(project, paper, reads),
    )


def ledger_target(project: Project) -> Target:
    """Return the verdicts on the claims of all chosen papers."""

    papers = project.chosen
    folder = project.results_folder()
    text = [fingerprint("dpbandits.project.claims_summary"), template_text("table.html")]
    tables = (folder / "tables" / f"claims.{suffix}" for suffix in TABLE_SUFFIXES)
    return Target(
        kind=LEDGER,
        paper="all",
        name=LEDGER,
        rule=LEDGER,
        inputs=tuple(folder / paper / f"{n}.csv" for paper in papers for n in CLAIMS_FILES[:2]),
        files=(folder / "claims.csv", *tables),
        caption=CAPTION,
        depends_on={LEDGER: digest_of(text)[:16]}
        | {paper: claims_fingerprint(project, paper) for paper in papers},
    )


def report_target(project: Project, built: Iterable[Target]) -> Target:
    """Return the report; ``depends_on`` has its own sources, what it shows has others.

    Args:
        project: the project.
        built: what it may show.
    """

    shown = list(built)
    chosen = [*wanted(shown, extra=False), *wanted(shown, extra=True)]
    text = [fingerprint("dpbandits.project.report"), template_text("report.tex")]
    folder = project.results_folder()
    return Target(
        kind=REPORT,
        paper="all",
        name=REPORT,
        rule="pdf",
        inputs=tuple(dict.fromkeys(path for target in chosen for path in target.files)),
        files=(folder / "report.pdf", folder / "report.tex"),
        depends_on={REPORT: digest_of(text)[:16]},
    )
