"""Output files: written whole or not at all, and where each came from, in a file beside it."""

import json
import os
import platform
import resource
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpbandits.errors import InputError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it to ``path``."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent
        )
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path}: cannot be written ({reason}); allowed: a writable folder"
        ) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes atomically."""
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def write_text(path: Path, content: str) -> None:
    """Write UTF-8 text atomically, line ends as given."""
    write_bytes(path, content.encode())


METADATA = b"dpbandits"
"""Key of the metadata of a file of results: its fingerprint and the digest of its values."""


def results_stamp(path: Path) -> str | None:
    """Return the fingerprint that a file of results carries; None where it is damaged."""
    # Here: a command that tells what is to be built asks only where something is.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stamp = json.loads((pq.read_schema(path).metadata or {})[METADATA])
        return str(stamp["fingerprint"])
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        return None


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


_charged = 0.0


def _cost() -> dict[str, float]:
    """Return the CPU time since the last call, at first since the start, and the peak memory.

    That of the children that have ended counts, too.
    """
    global _charged
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    total = sum(each.ru_utime + each.ru_stime for each in (own, children))
    before, _charged = _charged, total
    largest = max(own.ru_maxrss, children.ru_maxrss) / 1024
    return {"cpu_seconds": round(total - before, 2), "memory_mib": round(largest, 1)}


def write_provenance(output: Path, folder: Path, details: dict[str, Any], seconds: float) -> None:
    """Write ``NAME.provenance.json`` beside ``output``, with the commit of the folder."""
    record = {
        "output": output.name,
        "commit": commit_of(folder),
        "versions": {"python": platform.python_version()} | library_versions(),
        "host": {"system": platform.platform(), "machine": platform.machine()},
        "seconds": round(seconds, 3),
        **_cost(),
        **details,
    }
    text = json.dumps(record, indent=2, sort_keys=True, default=str) + "\n"
    write_text(provenance_path(output), text)


def provenance_path(output: Path) -> Path:
    """Return the provenance file of an output."""
    return output.with_suffix(".provenance.json")


def read_provenance(path: Path) -> dict[str, Any]:
    """Return what a provenance file says; InputError where it is missing or damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {**record, "versions": {**record["versions"]}, "seconds": +record["seconds"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path}: is missing or damaged; run snakemake to build it") from None


def require_current(output: Path, depends_on: Mapping[str, str]) -> None:
    """Raise InputError unless the provenance of ``output`` has these fingerprints by name."""
    recorded = read_provenance(provenance_path(output)).get("depends_on")
    if recorded != dict(depends_on) or not output.is_file():
        raise InputError(f"{output}: is stale; delete it and run snakemake again")
