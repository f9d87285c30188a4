"""A clone of the checkout, for the workflow at the quick scale; edits of it are undone.

It imports the checkout's package, whose kernels are compiled, unless a test edits its own.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import fault_project
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import figure_target
from fault_project import ROOT, SNAKEMAKE, link_kernels
from shared import shared_folder

QUICK = ["--cores", "2", "--config", "scale=quick"]
ONE = "ts-is-dp"
BUILT = ("ts-is-dp",)
"""What the tests build. `make quick` builds all papers, and what is ours, which takes minutes."""
FIGURE = "fig8"
ONE_FIGURE = "ts_is_dp_fig8"
"""What holds of one figure, its tuning and its simulations holds of all, which cost minutes."""


def environment(package: Path = ROOT) -> dict[str, str]:
    """Return an environment in which the package of the checkout, or of a clone, is imported."""
    return fault_project.environment(PYTHONPATH=str(package / "src"))


def run(
    clone: Path, *words: str, config: str = "", package: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run snakemake in the clone and return what it printed, both streams in one."""
    changes = {"PYTHONPATH": str(package / "src")}
    return fault_project.run(clone, [*SNAKEMAKE, *words, *QUICK, *config.split()], changes)


def copy_checkout(target: Path) -> Path:
    """Copy every file that git tracks, or would, to an empty folder."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    config = target / "config/config.yaml"
    edit(config, "papers: null", f"papers: [{', '.join(BUILT)}]")
    [stated] = re.findall(r"^comparisons:.*$", config.read_text(), flags=re.MULTILINE)
    edit(config, stated, "comparisons: []")
    return link_kernels(target)


def built_paper() -> Path:
    """Return a clone with one paper built at the quick scale, once a session; copy it to change it.

    It is built as a newcomer builds it, from nothing but compiled kernels.
    """

    def build(folder: Path) -> None:
        done = run(copy_checkout(folder), "all", "extras")
        assert done.returncode == 0, done.stdout[-4000:]

    return shared_folder("quick-paper", build)


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
    """Return the jobs of a dry run by the clone's own package: rules, of results their names."""
    dry = run(clone, "all", "extras", "--dry-run", *words, package=clone)
    assert dry.returncode == 0, dry.stdout[-4000:]
    rules = re.findall(r"^(?:local)?rule (\w+):", dry.stdout, flags=re.MULTILINE)
    names = re.findall(rf"wildcards: result={ONE}/([\w-]+)", dry.stdout)
    return {*rules, *names} - {"results", "all", "extras"}
