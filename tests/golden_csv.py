"""Every csv of the quick build of everything, built in this process without drawing a picture.

``tests/golden/quick.tar.xz`` has them as they were. This file, run as a program, writes it anew;
that belongs in a commit which says why numbers move.
"""

import io
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from dpbandits.engine.provenance import results_stamp
from dpbandits.pipeline.jobs import (
    build_results,
    draw_paper_figure,
    judge_paper,
    write_digitised_comparison,
    write_paper_table,
    write_whole_ledger,
)
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import (
    CLAIMS,
    DIGITISED,
    FIGURE,
    FINDINGS,
    LEDGER,
    RESULTS,
    TABLE,
    Target,
    targets,
)

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests/golden/quick.tar.xz"
FOLDER = ROOT / ".cache/golden"
"""Where it is built: results that are current are read there the next time."""

MAKERS: Mapping[str, Callable[[Project, Target], object]] = {
    CLAIMS: lambda project, target: judge_paper(project, target.paper),
    FINDINGS: lambda project, target: judge_paper(project, target.paper, FINDINGS),
    DIGITISED: lambda project, target: write_digitised_comparison(project, target.paper),
    FIGURE: lambda project, target: draw_paper_figure(project, target.paper, target.name),
    LEDGER: lambda project, _: write_whole_ledger(project),
    TABLE: lambda project, target: write_paper_table(project, target.paper, target.name),
}


def build(folder: Path = FOLDER, workers: int = 1) -> dict[str, str]:
    """Build everything at the quick scale in a folder; return path -> text of each csv."""
    for name in ("config", "workflow"):
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(ROOT / name, folder / name)
    for name in ("figures", "results/quick/tables"):
        shutil.rmtree(folder / name, ignore_errors=True)
    project = Project.load(folder).at(scale="quick")
    every = targets(project)
    read = {path for target in every for path in target.inputs}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", lambda *_, **__: None)
        # All results first: claims read those of comparisons, too.
        for target in (each for each in every if each.kind == RESULTS and each.files[0] in read):
            if results_stamp(target.files[0]) not in target.depends_on.values():
                build_results(project, target.paper, target.name, workers)
        for target in every:
            if target.kind in MAKERS:
                MAKERS[target.kind](project, target)
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*/quick/**/*.csv"))
    }


def golden_files() -> dict[str, str]:
    """Return path -> text of each file of the archive."""
    with tarfile.open(FILE) as archive:
        members = [(each.name, archive.extractfile(each)) for each in archive.getmembers()]
        return {name: member.read().decode() for name, member in members if member is not None}


def write(files: Mapping[str, str]) -> None:
    """Write the archive; the same files give the same bytes."""
    with tarfile.open(FILE, "w:xz", preset=9) as archive:
        for name, text in files.items():
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


if __name__ == "__main__":
    write(build(workers=2))
