"""The report: every figure and table, the ledger, methods and provenance as one PDF."""

import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.files import write_bytes, write_text
from dpbandits.engine.provenance import LIBRARIES, require_current
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs
from dpbandits.reporting.latex import escape
from dpbandits.reporting.templates import render
from dpbandits.reporting.typeset import body, pdf_of, require_pdflatex

TITLE = "dpbandits: four papers on differentially private bandits, rebuilt"
DEPENDS = "depends"
"""What a claim counts as whose interpretations or variants come apart."""


def typeset_report(project: Project) -> list[Path]:
    """Write the report, as LaTeX and as PDF; its pictures are those of the project's folder.

    Raises:
        InputError: there is no pdflatex, only a part is chosen, or something is missing or stale.
    """
    begun = time.monotonic()
    require_pdflatex()
    if project.selected()[1] is not None:
        raise InputError(f"report: only is {project.config['only']!r}; allowed: null or a paper")
    outputs = Outputs(project)
    source, path = (Path(each) for each in outputs.report())
    document = report_source(project)
    write_bytes(path, pdf_of(document, project.folder))
    write_text(source, document)
    outputs.finish(path, begun, outputs.report_made_from())
    return [source, path]


def report_source(project: Project) -> str:
    """Return the report as LaTeX.

    Raises:
        InputError: a figure, a table or a ledger is missing or stale.
    """
    outputs = Outputs(project)
    ledgers = {paper: _ledger(outputs, paper) for paper in project.built() if outputs.ledger(paper)}
    verdicts = [*VERDICTS, DEPENDS]
    return render(
        "report.tex",
        title=escape(TITLE),
        author="The dpbandits authors",
        scale=project.scale,
        seed=project.seed,
        level=escape(f"{ALPHA:.0%}"),
        verdicts=verdicts,
        counts=[counts(paper, ledger, verdicts) for paper, ledger in ledgers.items()],
        ledger=_whole_ledger(outputs),
        sections=[_section(outputs, name) for name in project.built()],
        version=version("dpbandits"),
        fingerprints=[row for name in project.built() for row in _fingerprints(outputs, name)],
        libraries={name: version(name) for name in LIBRARIES},
    )


def _ledger(outputs: Outputs, paper: str) -> pd.DataFrame:
    path = Path(outputs.ledger(paper)[0])
    require_current(path, outputs.ledger_made_from(paper))
    return pd.read_csv(path, keep_default_na=False)


def counts(paper: str, ledger: pd.DataFrame, verdicts: list[str]) -> dict[str, Any]:
    """Return how many claims of a paper came out how.

    Args:
        paper: its short name.
        ledger: the rows of ``claims.csv``.
        verdicts: what to count, in order; ``DEPENDS`` where a claim's rows come apart.
    """
    outcomes = [set(rows["verdict"]) for _, rows in ledger.groupby("claim")]
    counted = Counter(min(own) if len(own) == 1 else DEPENDS for own in outcomes)
    return {
        "name": escape(paper),
        "total": len(outcomes),
        "counts": [counted[verdict] for verdict in verdicts],
    }


def _whole_ledger(outputs: Outputs) -> str:
    """Return the ledger as LaTeX; nothing where only what is ours is chosen, which has none."""
    if not outputs.whole_ledger_targets():
        return ""
    _, source, *_ = (Path(path) for path in outputs.whole_ledger())
    require_current(Path(outputs.whole_ledger()[0]), outputs.whole_ledger_made_from())
    return body(source.read_text(encoding="utf-8"))


def _section(outputs: Outputs, name: str) -> dict[str, Any]:
    """Return what the report shows of a paper, or of what is ours across papers."""
    experiments = outputs.project.experiments(name)
    tables = []
    for table in experiments.tables:
        source = Path(outputs.table_files(name, table)[0])
        require_current(source, outputs.table_made_from(name, table))
        tables.append(body(source.read_text(encoding="utf-8")))
    return {
        "name": escape(name),
        "title": escape(experiments.title),
        "authors": escape(experiments.authors),
        "figures": [_figure(outputs, name, figure) for figure in experiments.figures],
        "tables": tables,
    }


def _figure(outputs: Outputs, name: str, figure: str) -> dict[str, str]:
    path = outputs.project.figures_folder(name) / f"{figure}.pdf"
    require_current(path, outputs.figure_made_from(name, figure))
    return {
        "name": escape(figure),
        "path": path.relative_to(outputs.project.folder).as_posix(),
        "caption": escape(outputs.caption(name, figure)),
    }


def _fingerprints(outputs: Outputs, name: str) -> list[list[str]]:
    """Return a paper's outputs with one fingerprint of all that each depends on."""
    experiments = outputs.project.experiments(name)
    made = {figure: outputs.figure_made_from(name, figure) for figure in experiments.figures}
    made |= {f"table {each}": outputs.table_made_from(name, each) for each in experiments.tables}
    if outputs.ledger(name):
        made["verdicts"] = outputs.ledger_made_from(name)
    return [[escape(name), escape(key), digest_of(own)[:16]] for key, own in made.items()]
