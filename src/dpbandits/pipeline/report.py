"""The report, a page for each paper and all tables, as PDF (needs pdflatex)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.engine.identity import digest_of
from dpbandits.engine.provenance import library_versions, require_current, write_bytes, write_text
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import (
    CLAIMS,
    EXTRA,
    FIGURE,
    REPORT,
    TABLE,
    Target,
    recorded,
    targets,
)
from dpbandits.reporting.text import body, escape, pdf_of, render, require_pdflatex

TITLE = "dpbandits: papers on differentially private bandits, rebuilt"
MANY = 3
"""From so many figures on, two stand side by side."""

DEPENDS = "depends"
"""What a claim counts as whose interpretations or variants come apart."""

OUTCOMES = [*VERDICTS, DEPENDS]


def typeset_report(project: Project) -> list[Path]:
    """Write the report, as LaTeX and as PDF; its pictures are those of the project's folder."""
    require_pdflatex()
    built = targets(project)
    [report] = [target for target in built if target.kind == REPORT]
    with recorded(project, report) as [path, source]:
        document = report_source(project, built)
        write_bytes(path, pdf_of(document, project.folder))
        write_text(source, document)
    return [source, path]


def report_source(project: Project, built: Iterable[Target]) -> str:
    """Return the report as LaTeX."""
    shown = [each for each in built if each.kind in (CLAIMS, FIGURE, TABLE)]
    for target in shown:
        target.current_files()
    counted = {
        each.paper: counts(each.paper, pd.read_csv(each.files[0], keep_default_na=False))
        for each in shown
        if each.kind == CLAIMS
    }
    papers = project.built()
    return render(
        "report.tex",
        title=escape(TITLE),
        author="The dpbandits authors",
        scale=project.scale,
        seed=project.seed,
        level=escape(f"{ALPHA:.0%}"),
        verdicts=OUTCOMES,
        counts=list(counted.values()),
        sections=[_section(project, paper, shown, counted.get(paper, {})) for paper in papers],
        version=version("dpbandits"),
        fingerprints=[row for paper in papers for row in _fingerprints(paper, shown)],
        libraries=library_versions(),
    )


def counts(paper: str, ledger: pd.DataFrame) -> dict[str, Any]:
    """Return how many claims of a paper came out how, of the rows of its ``claims.csv``."""
    outcomes = [set(rows["verdict"]) for _, rows in ledger.groupby("claim")]
    counted = Counter(min(own) if len(own) == 1 else DEPENDS for own in outcomes)
    return {
        "name": escape(paper),
        "total": len(outcomes),
        "counts": [counted[verdict] for verdict in OUTCOMES],
    }


def _section(
    project: Project, paper: str, shown: Iterable[Target], counted: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the report shows of a paper, or of a comparison across papers: a page, tables.

    A comparison has no figures but its own; of a paper those of its own numbering are shown.
    """
    study = project.study(paper)
    of_paper = [target for target in shown if target.paper == paper]
    figures = [target for target in of_paper if target.kind == FIGURE]
    drawn = [each for each in figures if not each.name.startswith(EXTRA)] or figures
    columns = 1 if len(drawn) < MANY else 2
    rows = max(1, -(-len(drawn) // columns))
    pairs = zip(counted.get("counts", ()), OUTCOMES, strict=False)
    tables = [each.files[0].read_text("utf-8") for each in of_paper if each.kind == TABLE]
    return {
        "name": escape(paper),
        "title": escape(study.title),
        "authors": escape(study.authors),
        "figures": [_figure(project, target) for target in drawn],
        "columns": columns,
        # What is left by heading and text is shared by the rows, each with a name and a space.
        "height": f"{0.86 / rows - 0.035:.3f}",
        "others": ", ".join(escape(each.name) for each in figures if each not in drawn),
        "tables": [body(table) for table in tables],
        "total": counted.get("total", 0),
        "verdicts": "; ".join(f"{count}: {verdict}" for count, verdict in pairs if count),
    }


def _figure(project: Project, target: Target) -> dict[str, str]:
    path = target.files[0].with_suffix(".pdf")
    require_current(path, target.depends_on)
    return {
        "name": escape(target.name),
        "path": path.relative_to(project.folder).as_posix(),
    }


def _fingerprints(paper: str, shown: Iterable[Target]) -> list[list[str]]:
    """Return a paper's outputs with one fingerprint of all that each depends on."""
    names = {FIGURE: "{}", TABLE: "table {}", CLAIMS: "verdicts"}
    return [
        [escape(paper), escape(text.format(target.name)), digest_of(target.depends_on)[:16]]
        for kind, text in names.items()
        for target in shown
        if target.kind == kind and target.paper == paper
    ]
