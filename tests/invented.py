"""Projects with the invented paper alone: to build, to change and to break.

One simulation takes a second, and everything that a paper has is there: simulations, two figures,
the table and the verdicts of three claims, the ledger.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dpbandits
from dpbandits.kernels import KERNELS_HASH, kernels_folder
from shared import shared_folder

ROOT = Path(__file__).resolve().parents[1]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
DPBANDITS = [sys.executable, "-m", "dpbandits"]
PAPER, FOLDER = "committing-early", ROOT / "tests/invented_paper"
EXPERIMENTS = f"config/papers/{PAPER}/experiments.yaml"
PARTS = ("Snakefile", "config/config.yaml", "config/comparisons", "workflow", "profiles")
BUILT = {".csv", ".tex", ".pdf", ".png", ".parquet"}
COMPILED = kernels_folder().resolve() / KERNELS_HASH
"""Kernels of the present sources, compiled by whichever test needed them first."""


def make_project(folder: Path, *, sources: bool = False, own_kernels: bool = False) -> Path:
    """Make a project of the invented paper in an empty folder.

    Commands import the package where its ``sources`` are copied, too.
    """
    copy_parts(folder, *PARTS, *(["src"] if sources else []))
    return link_kernels(add_paper(folder), copy=own_kernels)


def copy_parts(folder: Path, *names: str) -> Path:
    for name in names:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    return folder


def copy_paper(folder: Path) -> Path:
    """Copy the invented paper, whose algorithm is that of the example, into a project."""
    paper = folder / "config/papers" / PAPER
    shutil.copytree(FOLDER, paper, dirs_exist_ok=True)
    shutil.copy2(ROOT / "examples/my_kernel.py", paper)
    return paper


def add_paper(folder: Path) -> Path:
    """Add the invented paper to a project, whose config then chooses it alone."""
    copy_paper(folder)
    path = folder / "config/config.yaml"
    text = re.sub(r"^papers:.*$", f"papers: [{PAPER}]", path.read_text(), flags=re.MULTILINE)
    path.write_text(re.sub(r"^comparisons:.*$", "comparisons: []", text, flags=re.MULTILINE))
    return folder


def link_kernels(folder: Path, *, copy: bool = False) -> Path:
    """Let a project use, or have a copy of, the compiled kernels of the present sources."""
    kernels = folder / ".cache/dpbandits/numba" / COMPILED.name
    kernels.parent.mkdir(parents=True)
    COMPILED.mkdir(parents=True, exist_ok=True)
    if copy:
        shutil.copytree(COMPILED, kernels)
    else:
        kernels.symlink_to(COMPILED, target_is_directory=True)
    return folder


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """Return an environment in which a project's package is imported, else the checkout's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DPBANDITS", "NUMBA"))}
    own = folder / "src"
    package = own if own.is_dir() else Path(dpbandits.__file__).parents[1]
    return kept | {"PYTHONPATH": str(package)} | changes


def run(folder: Path, words: Sequence[str], **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a project and return what it printed, both streams in one."""
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(folder, **changes),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def command(*words: str, config: str = "scale=paper") -> list[str]:
    """Return the command that builds with Snakemake, at the paper's own scale, a small one."""
    return [*SNAKEMAKE, *words, "--cores", "2", "--config", *config.split()]


def snakemake(folder: Path, *words: str, **changes: str) -> str:
    """Run Snakemake in a project, which is seen to work; return what it printed."""
    done = run(folder, command(*words), **changes)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def planned(folder: Path) -> set[str]:
    """Return the jobs of a dry run: rules, of results their names."""
    dry = snakemake(folder, "all", "--dry-run")
    rules = re.findall(r"^(?:local)?rule (\w+):", dry, flags=re.MULTILINE)
    names = re.findall(rf"wildcards: result={PAPER}/([\w-]+)", dry)
    return {*rules, *names} - {"results", "all"}


def dpbandits_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    cache = str(folder / ".cache/dpbandits")
    return run(folder, [*DPBANDITS, *words], DPBANDITS_CACHE=cache)


def built_project() -> Path:
    """Return a project that is built, once a session; copy it to change it."""
    return shared_folder("built", lambda folder: snakemake(make_project(folder, sources=True)))


def outputs(folder: Path) -> dict[str, bytes]:
    """Return the bytes of everything that was built; what a kill left under way is hidden."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for top in ("results", "figures")
        for path in sorted((folder / top).rglob("*"))
        if path.suffix in BUILT and not path.name.startswith(".")
    }


def computed(folder: Path) -> list[str]:
    """Return the lines of the logs of jobs on what was simulated rather than read."""
    logs = sorted((folder / "logs").rglob("*.log"))
    lines = [line for path in logs for line in path.read_text().splitlines()]
    return [line for line in lines if " runs computed in " in line]


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("cells/**/*") if path.is_file())


def forget(folder: Path, *names: str) -> None:
    """Delete what was built and Snakemake's own records, or what is named; the cache stays."""
    for name in names or ("results", "figures", "logs", ".snakemake"):
        shutil.rmtree(folder / name, ignore_errors=True)


@contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    """Replace a text in a file as long as the block lasts; file times are then as they were."""
    text, times = path.read_text(), path.stat()
    assert old in text
    path.write_text(text.replace(old, new))
    try:
        yield
    finally:
        path.write_text(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
