"""The published copy of the figures: png and csv of every panel, with their fingerprints."""

import json
from pathlib import Path

from dpbandits.engine.files import write_bytes, write_text
from dpbandits.engine.provenance import require_current
from dpbandits.errors import InputError
from dpbandits.outputs import Outputs
from dpbandits.project import Project

PUBLISHED = Path("docs/figures")
FINGERPRINTS = "fingerprints.json"


def current_fingerprints(project: Project, paper: str) -> dict[str, dict[str, str]]:
    """Return what every figure and the ledger of a paper are made from, as of the sources now.

    Each entry has the fingerprint of the figure (or of the claims) and those of its results.
    """
    outputs = Outputs(project)
    figures = project.experiments(paper).figures
    found = {figure: outputs.figure_made_from(paper, figure) for figure in figures}
    return found | {"claims": outputs.ledger_made_from(paper)}


def publish_figures(project: Project) -> list[Path]:
    """Copy what was built at paper scale to ``docs/figures``; return the files written.

    Raises:
        InputError: the scale is not ``paper``, or a figure or ledger is missing or stale.
    """
    if project.scale != "paper":
        raise InputError(f"publish: scale is {project.scale!r}; allowed: paper")
    return [path for paper in project.selected()[0] for path in _publish_paper(project, paper)]


def _publish_paper(project: Project, paper: str) -> list[Path]:
    fingerprints = current_fingerprints(project, paper)
    outputs = Outputs(project)
    sources = [Path(path) for path in outputs.ledger(paper)]
    require_current(sources[0], fingerprints["claims"])
    for figure in project.experiments(paper).figures:
        paths = [Path(path) for _, path in outputs.figure_files(paper, figure)]
        require_current(project.figures_folder(paper) / f"{figure}.png", fingerprints[figure])
        sources += [path for path in paths if path.suffix != ".pdf"]
    folder = project.folder / PUBLISHED / paper
    written = [folder / source.name for source in sources]
    for source, target in zip(sources, written, strict=True):
        write_bytes(target, source.read_bytes())
    for old in set(folder.glob("*.*")) - {*written, folder / FINGERPRINTS}:
        old.unlink()
    write_text(folder / FINGERPRINTS, json.dumps(fingerprints, indent=2, sort_keys=True) + "\n")
    return [*written, folder / FINGERPRINTS]
