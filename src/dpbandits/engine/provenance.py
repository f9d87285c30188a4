"""Where an output came from, in a provenance file beside it; the output itself has none of it."""

import json
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpbandits.engine.files import write_text
from dpbandits.errors import InputError

LIBRARIES = ("dpbandits", "numpy", "numba", "scipy", "pandas", "matplotlib", "snakemake")


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that are installed; Snakemake is not everywhere."""
    versions = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


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
        details: what it depends on: parameters, seed, fingerprints.
        seconds: wall time it took.
    """
    record = {
        "output": output.name,
        "commit": commit_of(folder),
        "versions": {"python": platform.python_version()} | library_versions(),
        "host": {"system": platform.platform(), "machine": platform.machine()},
        "seconds": round(seconds, 3),
        **details,
    }
    text = json.dumps(record, indent=2, sort_keys=True, default=str) + "\n"
    write_text(provenance_path(output), text)


def provenance_path(output: Path) -> Path:
    """Return the provenance file of an output."""
    return output.with_suffix(".provenance.json")


def read_provenance(path: Path) -> dict[str, Any]:
    """Return what a provenance file says.

    Raises:
        InputError: it is missing or damaged.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {**record, "versions": {**record["versions"]}, "seconds": +record["seconds"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path}: is missing or damaged; run snakemake to build it") from None


def require_current(output: Path, depends_on: Mapping[str, str]) -> None:
    """Raise InputError unless the provenance of ``output`` has these fingerprints.

    Args:
        output: a figure, table or ledger.
        depends_on: name -> fingerprint, as of the sources and config now.
    """
    recorded = read_provenance(provenance_path(output)).get("depends_on")
    if recorded != dict(depends_on) or not output.is_file():
        raise InputError(f"{output}: is stale; delete it and run snakemake again")
