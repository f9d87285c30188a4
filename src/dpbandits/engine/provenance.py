"""Where an output came from, in a sidecar file beside it; the output itself carries none of it."""

import json
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpbandits.engine.files import write_text
from dpbandits.errors import InputError

LIBRARIES = ("dpbandits", "numpy", "numba", "scipy", "pandas", "matplotlib", "snakemake")


def commit_of(folder: Path) -> str:
    """Return the git commit of a folder, with ``+changes`` where it differs; else ``unknown``."""
    try:
        head = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+changes" if changed else "")


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def write_provenance(output: Path, folder: Path, details: dict[str, Any], seconds: float) -> None:
    """Write ``NAME.provenance.json`` beside ``output``.

    Args:
        output: the file described; its suffix is replaced.
        folder: the project's folder, for the commit.
        details: what it was made from: parameters, seed, fingerprints.
        seconds: wall time it took.
    """
    record = {
        "output": output.name,
        "commit": commit_of(folder),
        "versions": {"python": platform.python_version()} | {n: version(n) for n in LIBRARIES},
        "host": {"system": platform.platform(), "machine": platform.machine()},
        "seconds": round(seconds, 3),
        **details,
    }
    write_text(_sidecar(output), json.dumps(record, indent=2, sort_keys=True, default=str) + "\n")


def require_current(output: Path, made_from: Mapping[str, str]) -> None:
    """Raise InputError unless the sidecar of ``output`` says that it was made from these sources.

    Args:
        output: a figure, table or ledger.
        made_from: name -> fingerprint, as of the sources and config now.
    """
    sidecar = _sidecar(output)
    try:
        recorded = json.loads(sidecar.read_text(encoding="utf-8"))["made from"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{sidecar}: is missing or damaged; run snakemake to build it") from None
    if recorded != dict(made_from) or not output.is_file():
        raise InputError(f"{output}: is stale; delete it and run snakemake again")


def _sidecar(output: Path) -> Path:
    return output.with_suffix(".provenance.json")
