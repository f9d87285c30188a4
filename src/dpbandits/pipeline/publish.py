"""The copies of figures, tables and verdicts at paper scale in docs/, with fingerprints."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from dpbandits.config.claims import StatedEntry
from dpbandits.engine.provenance import write_bytes, write_text
from dpbandits.errors import InputError
from dpbandits.pipeline.project import PUBLISHED_FIGURES, PUBLISHED_TABLES, Project
from dpbandits.pipeline.targets import DIGITISED, FIGURE, TABLE, VERDICT_FILES, Target, targets

FINGERPRINTS = "fingerprints.json"


def published_targets(project: Project) -> list[Target]:
    """Return the targets that are published: verdicts, digitised values, figures and tables."""
    kinds = (*VERDICT_FILES, DIGITISED, FIGURE, TABLE)
    return [target for target in targets(project) if target.kind in kinds]


def current_fingerprints(published: Iterable[Target]) -> dict[str, Mapping[str, str]]:
    """Return the fingerprints that figures, tables and verdicts have with the present sources."""
    return {
        f"table {target.name}" if target.kind == TABLE else target.name: target.depends_on
        for target in published
    }


def publish_chosen(project: Project) -> list[Path]:
    """Copy what was built of the chosen papers and comparisons; return the files written.

    The copies of others stay as they are.
    """
    if project.scale != "paper":
        raise InputError(f"publish: scale is {project.scale!r}; allowed: paper")
    # Imported here: explaining published verdicts needs no checks.
    from dpbandits.pipeline.check import check_ids

    check_ids(project)
    published = published_targets(project)
    return [path for name in project.built() for path in _publish_paper(project, name, published)]


def _publish_paper(project: Project, paper: str, published: Iterable[Target]) -> list[Path]:
    of_paper = [target for target in published if target.paper == paper]
    pictures, tables = [], []
    for target in of_paper:
        files = target.current_files()
        if target.kind == TABLE:
            tables += [path for path in files if path.suffix in (".tex", ".csv")]
        else:
            # The pdf of a figure has its panels.
            whole = f"{target.name}.pdf"
            pictures += [path for path in files if path.suffix != ".pdf" or path.name == whole]
    stamp = project.folder / PUBLISHED_FIGURES / paper / FINGERPRINTS
    written = [*_copied(pictures, stamp.parent, stamp)]
    written += _copied(tables, project.folder / PUBLISHED_TABLES / paper)
    text = json.dumps(current_fingerprints(of_paper), indent=2, sort_keys=True)
    write_text(stamp, text + "\n")
    return [*written, stamp]


def _copied(sources: list[Path], folder: Path, *kept: Path) -> list[Path]:
    """Copy files into a folder, and delete all others there except ``kept``."""
    written = [folder / source.name for source in sources]
    for source, target in zip(sources, written, strict=True):
        write_bytes(target, source.read_bytes())
    for old in set(folder.glob("*.*")) - {*written, *kept}:
        old.unlink()
    return written


def claim_figures(project: Project, paper: str, claim: StatedEntry) -> list[str]:
    """Return a file of each figure, panel and table that a claim is about, in the project."""
    tables = project.study(paper).tables
    paths = [
        project.tables_folder(paper) / f"{name}.csv"
        if name in tables
        else project.figures_folder(paper) / f"{name}.png"
        for name in claim.figure
    ]
    return [path.relative_to(project.folder).as_posix() for path in paths]
