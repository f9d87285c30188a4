"""A project folder to break things in: the checkout's config and workflow, results of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from numba import config

import dpbandits

ROOT = Path(__file__).resolve().parents[1]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
DPBANDITS = [sys.executable, "-m", "dpbandits"]
FIGURE = "ts_is_dp_fig8"
"""One figure of one paper: two simulations, of which one tunes the other, and four panels."""

PAPER = "ts_is_dp"
"""All of that paper: its figures, tables and verdicts."""

BUILT = {".csv", ".tex", ".html", ".pdf", ".png", ".parquet"}
PARTS = ("Snakefile", "config", "workflow", "profiles")
COMPILED = Path(config.CACHE_DIR).resolve()  # type: ignore[attr-defined]
"""Kernels of the present sources, compiled by whichever test needed them first."""


def make_project(folder: Path, *, own_kernels: bool = False) -> Path:
    """Copy the workflow to an empty folder; it imports this checkout's package.

    Args:
        folder: where.
        own_kernels: copy the compiled kernels, too, in place of sharing their folder.
    """
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    return link_kernels(folder, copy=own_kernels)


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


def environment(**changes: str) -> dict[str, str]:
    """Return an environment in which this checkout's package is imported, and nothing is set."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DPBANDITS", "NUMBA"))}
    return kept | {"PYTHONPATH": str(Path(dpbandits.__file__).parents[1])} | changes


def command(*words: str, cores: int = 2) -> list[str]:
    """Return the command that builds with Snakemake, at the quick scale."""
    return [*SNAKEMAKE, *words, "--cores", str(cores), "--config", "scale=quick"]


def run(
    folder: Path, words: Sequence[str], changes: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a project and return what it printed, both streams in one."""
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(**(changes or {})),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def build(
    folder: Path,
    *words: str,
    target: str = FIGURE,
    cores: int = 2,
    changes: dict[str, str] | None = None,
) -> None:
    """Build a target, which is seen to work."""
    done = run(folder, command(target, *words, cores=cores), changes)
    assert done.returncode == 0, done.stdout[-4000:]


def computed(folder: Path) -> list[str]:
    """Return the lines of the logs of jobs on what was simulated rather than read."""
    logs = sorted((folder / "logs").rglob("*.log"))
    lines = [line for path in logs for line in path.read_text().splitlines()]
    return [line for line in lines if "blocks computed" in line]


def dpbandits_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one command of the package at the quick scale in a project."""
    changes = {"DPBANDITS_CACHE": str(folder / ".cache/dpbandits")}
    return run(folder, [*DPBANDITS, *words, "--scale", "quick"], changes)


def outputs(folder: Path) -> dict[str, bytes]:
    """Return the bytes of everything that was built; what a kill left under way is hidden."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for top in ("results", "figures")
        for path in sorted((folder / top).rglob("*"))
        if path.suffix in BUILT and not path.name.startswith(".")
    }


def entries(folder: Path) -> list[Path]:
    """Return the files of the cache of results."""
    cells = folder / ".cache/dpbandits/cells"
    return sorted([*cells.rglob("*.block"), *cells.rglob("*.pack")])


def forget(folder: Path) -> None:
    """Delete what was built and Snakemake's own records; the cache stays."""
    for name in ("results", "figures", "logs", ".snakemake"):
        shutil.rmtree(folder / name, ignore_errors=True)
