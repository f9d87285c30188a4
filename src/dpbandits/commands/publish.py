"""The published copies: png and csv of every panel, tables, ledger, with their fingerprints."""

import json
from pathlib import Path

from dpbandits.engine.files import write_bytes, write_text
from dpbandits.engine.provenance import require_current
from dpbandits.errors import InputError
from dpbandits.pages.cost import condense
from dpbandits.pages.documents import write_documents
from dpbandits.pages.published_tables import PUBLISHED_TABLES
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs

PUBLISHED = Path("docs/figures")
FINGERPRINTS = "fingerprints.json"


def current_fingerprints(project: Project, paper: str) -> dict[str, dict[str, str]]:
    """Return what figures, tables and ledger of a paper are made from, as of the sources now.

    Each entry has the fingerprint of the figure, table or claims and those of its results.
    """
    outputs = Outputs(project)
    experiments = project.experiments(paper)
    figures = {name: outputs.figure_made_from(paper, name) for name in experiments.figures}
    tables = {f"table {name}": outputs.table_made_from(paper, name) for name in experiments.tables}
    verdicts = {"claims": outputs.ledger_made_from(paper)} if outputs.ledger(paper) else {}
    return figures | tables | verdicts


def publish_figures(project: Project) -> list[Path]:
    """Copy what was built at paper scale to ``docs``; return the files written.

    Raises:
        InputError: the scale is not ``paper``, or a figure, table or ledger is missing or stale.
    """
    if project.scale != "paper":
        raise InputError(f"publish: scale is {project.scale!r}; allowed: paper")
    written = [path for paper in project.built() for path in _publish_paper(project, paper)]
    written.append(condense(project))
    return written + write_documents(project)


def _publish_paper(project: Project, paper: str) -> list[Path]:
    fingerprints = current_fingerprints(project, paper)
    outputs = Outputs(project)
    experiments = project.experiments(paper)
    ledger = [Path(path) for path in outputs.ledger(paper)]
    for path in ledger[:1]:
        require_current(path, fingerprints["claims"])
    figures = list(ledger)
    for name in experiments.figures:
        paths = [Path(path) for _, path in outputs.figure_files(paper, name)]
        require_current(project.figures_folder(paper) / f"{name}.png", fingerprints[name])
        figures += [path for path in paths if path.suffix != ".pdf"]
    tables: list[Path] = []
    for name in experiments.tables:
        own = [Path(path) for path in outputs.table_files(paper, name)]
        require_current(own[0], fingerprints[f"table {name}"])
        tables += [path for path in own if path.suffix != ".html"]
    written = _copied(figures, project.folder / PUBLISHED / paper, FINGERPRINTS)
    written += _copied(tables, project.folder / PUBLISHED_TABLES / paper)
    stamp = project.folder / PUBLISHED / paper / FINGERPRINTS
    write_text(stamp, json.dumps(fingerprints, indent=2, sort_keys=True) + "\n")
    written.append(stamp)
    return written


def _copied(sources: list[Path], folder: Path, *kept: str) -> list[Path]:
    """Copy files into a folder, and delete what else stands there but the names ``kept``."""
    written = [folder / source.name for source in sources]
    for source, target in zip(sources, written, strict=True):
        write_bytes(target, source.read_bytes())
    for old in set(folder.glob("*.*")) - {*written, *(folder / name for name in kept)}:
        old.unlink()
    return written
