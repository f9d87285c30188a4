"""A clone of the checkout with all that git tracks, for what packs or publishes a checkout."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from invented import ROOT, SNAKEMAKE, choose, environment, link_kernels

__all__ = ["ROOT", "SNAKEMAKE", "copy_checkout", "edit", "environment"]


def copy_checkout(target: Path) -> Path:
    """Copy every file that git tracks, or would, to an empty folder; one paper is chosen."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    choose(target, "ts-is-dp")
    return link_kernels(target)


def edit(path: Path, old: str, new: str) -> Callable[[], None]:
    """Replace a text in a file; return what undoes it."""
    text, times = path.read_text(), path.stat().st_mtime_ns
    assert old in text
    path.write_text(text.replace(old, new))

    def undo() -> None:
        path.write_text(text)
        os.utime(path, ns=(times, times))

    return undo
