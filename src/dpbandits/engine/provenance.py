"""Output files: written whole or not at all, and where each came from, in a file beside it."""

import hashlib
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


COMMIT, SUMS = "COMMIT", "SHA256SUMS"
"""Files of an archive: the commit that it was packed from, and the digest of each file."""

CHANGED = "+changes"

WATCHED = ("src", "workflow", "config")
"""Folders whose files, if git does not know them, are changes, too."""

CHECKOUT = Path(__file__).resolve().parents[3]
"""Checkout or unpacked archive that this package is imported from, where it is from one."""


def commit_of(folder: Path) -> str:
    """Return the commit that a checkout or unpacked archive is of, else ``unknown``.

    It ends in ``+changes`` where tracked files differ, or where sources were added.
    """
    folder = folder.resolve()
    try:
        if (folder / COMMIT).is_file() and not (folder / ".git").exists():
            commit = (folder / COMMIT).read_text(encoding="utf-8").strip()
            is_changed = _differs_from_archive(folder)
        else:
            commit = git(folder, "rev-parse", "HEAD").strip()
            is_changed = bool(
                git(folder, "status", "--porcelain", "--untracked-files=no")
                or git(folder, "ls-files", "--others", "--exclude-standard", "--", *WATCHED)
            )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit if commit.endswith(CHANGED) or not is_changed else commit + CHANGED


def _differs_from_archive(folder: Path) -> bool:
    """Return whether sources of an unpacked archive were edited, added or deleted."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    packed = {name: sums[name] for name in sums if name.partition("/")[0] in WATCHED}
    # What Python and an installation leave beside sources has other ones.
    suffixes = {Path(name).suffix for name in packed}
    present = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for top in WATCHED
        for path in (folder / top).rglob("*")
        if path.is_file() and path.suffix in suffixes
    }
    return present != packed


def git(folder: Path, *words: str) -> str:
    """Return what git prints on the repository of a folder, never on one that encloses it."""
    changed = {"GIT_CEILING_DIRECTORIES": str(folder.resolve().parent), "GIT_OPTIONAL_LOCKS": "0"}
    # GIT_DIR and the like name another repository.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, env=kept | changed, capture_output=True, check=True, text=True)
    return done.stdout


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
    """Write ``NAME.provenance.json`` beside ``output``, with the commit of this package.

    That of the project's ``folder`` is there, too, where the package is not imported from it.
    """
    is_own = folder.resolve() == CHECKOUT
    record = {
        "output": output.name,
        "commit": commit_of(CHECKOUT),
        **({} if is_own else {"project_commit": commit_of(folder)}),
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


def is_current(output: Path, depends_on: Mapping[str, str]) -> bool:
    """Return whether it is there, and its provenance has these fingerprints by name."""
    try:
        recorded = read_provenance(provenance_path(output)).get("depends_on")
    except InputError:
        return False
    return recorded == dict(depends_on) and output.is_file()
