"""A clone of the checkout, for the workflow at the quick scale; edits of it are undone."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from dpbandits.papers import COMPARISONS, PAPERS
from dpbandits.project.config import Project
from dpbandits.project.targets import figure_target

ROOT = Path(__file__).resolve().parents[1]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
QUICK = ["--cores", "2", "--config", "scale=quick"]
ONE = "ts-is-dp"
BUILT = ("ts-is-dp",)
"""What the tests build. `make quick` builds all papers, and what is ours, which takes minutes."""
FIGURE = "fig8"
ONE_FIGURE = f"papers=[{ONE}] comparisons=[] only={ONE}/{FIGURE}"
"""What holds of one figure, its tuning and its simulations holds of all, which cost minutes."""


def environment(clone: Path) -> dict[str, str]:
    """Return an environment in which the clone's own package is imported."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DPBANDITS", "NUMBA"))}
    return kept | {"PYTHONPATH": str(clone / "src")}


def run(clone: Path, *words: str, config: str = "") -> subprocess.CompletedProcess[str]:
    """Run snakemake in the clone and return what it printed, both streams in one."""
    return subprocess.run(
        [*SNAKEMAKE, *words, *QUICK, *config.split()],
        cwd=clone,
        env=environment(clone),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def copy_checkout(target: Path) -> Path:
    """Copy every file that git tracks, or would, to an empty folder."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    config = target / "config/config.yaml"
    edit(config, f"papers: [{', '.join(PAPERS)}]", f"papers: [{', '.join(BUILT)}]")
    edit(config, f"comparisons: [{', '.join(COMPARISONS)}]", "comparisons: []")
    return target


def files_of_figure(clone: Path) -> list[Path]:
    """Return the files of one figure and the results that it reads, all built."""
    figure = figure_target(Project.load(clone).at(scale="quick"), ONE, FIGURE)
    return [*figure.files, *figure.inputs]


def built_files(clone: Path) -> dict[str, bytes]:
    """Return the bytes of all that is drawn of one figure; parquet is compared by values."""
    drawn = [path for path in files_of_figure(clone) if path.suffix != ".parquet"]
    return {str(path.relative_to(clone)): path.read_bytes() for path in drawn}


def edit(path: Path, old: str, new: str) -> Callable[[], None]:
    """Replace a text in a file; return what undoes it."""
    text = path.read_text()
    times = path.stat().st_mtime_ns
    assert old in text
    path.write_text(text.replace(old, new))

    def undo() -> None:
        path.write_text(text)
        os.utime(path, ns=(times, times))

    return undo


def planned(clone: Path, *words: str) -> set[str]:
    """Return what a dry run would compute, draw, judge or write, by name."""
    text = run(clone, "all", "extras", "--dry-run", *words).stdout
    message = r"^Job \d+: [a-z-]+: (?:computing|drawing|judging|writing the table) ([\w-]+)"
    return set(re.findall(message, text, flags=re.MULTILINE))
