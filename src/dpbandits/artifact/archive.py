"""The archive: sources, results, figures, tables, ledger, report, site, checksums and the crate.

Its file times say that results are newer than what is drawn from them, so that the workflow, run
where the archive is unpacked, draws everything again and simulates nothing.
"""

import gzip
import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

import yaml

from dpbandits.artifact.crate import crate_of
from dpbandits.engine.files import write_bytes
from dpbandits.engine.provenance import commit_of
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import RESULTS, built_targets

CRATE, SUMS, COMMIT = "ro-crate-metadata.json", "SHA256SUMS", "COMMIT"
OLDER = 60
"""Seconds by which all other files are older than results, which are as old as the commit."""

Contents = dict[str, bytes]
"""Path in the archive -> what stands there."""


def pack(project: Project, folder: Path) -> Path:
    """Write ``dpbandits-VERSION.tar.gz`` into a folder; return its path.

    The same checkout with the same results gives the same bytes.

    Raises:
        InputError: this is no git checkout, or something that belongs in is missing or stale.
    """
    sources = _sources(project.folder)
    built = built_targets(project)
    report = _report(project)
    root = project.folder
    of_results = [target for target in built if target.kind == RESULTS]
    results = {path for target in of_results for path in (*target.files, target.provenance)}
    made = {path for target in built for path in target.files} | set(report) | set(_site(root))
    contents = {name: (root / name).read_bytes() for name in sources}
    contents |= {_name(root, path): path.read_bytes() for path in sorted(results | made)}
    contents[CRATE] = crate_of(project, built, report).encode()
    contents[COMMIT] = f"{commit_of(root)}\n".encode()
    contents[SUMS] = checksums(contents).encode()
    version = yaml.safe_load(contents["CITATION.cff"])["version"]
    stem = f"dpbandits-{version}" + ("" if project.scale == "paper" else f"-{project.scale}")
    newer = {_name(root, path) for path in results}
    archive = _tar(stem, contents, newer, _committed(root), _executable(root, sources))
    path = folder / f"{stem}.tar.gz"
    write_bytes(path, archive)
    return path


def checksums(contents: Contents) -> str:
    """Return what ``sha256sum --check`` reads, in the order of the names."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"{folder}: is no git checkout with a commit; allowed: one, whose files are packed"
        ) from None
    return done.stdout


def _sources(folder: Path) -> list[str]:
    """Return the files that git tracks and that are there."""
    names = sorted(filter(None, _git(folder, "ls-files", "-z").split("\0")))
    return [name for name in names if (folder / name).is_file()]


def _committed(folder: Path) -> int:
    """Return when the last commit was made, in seconds since 1970."""
    return int(_git(folder, "log", "-1", "--format=%ct"))


def _executable(folder: Path, names: list[str]) -> set[str]:
    return {name for name in names if (folder / name).stat().st_mode & 0o100}


def _report(project: Project) -> list[Path]:
    """Return the files of the report."""
    folder = project.results_folder()
    paths = [folder / f"report.{suffix}" for suffix in ("tex", "pdf", "html")]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: does not exist; run make report to build it")
    return paths


def _site(root: Path) -> list[Path]:
    """Return the files of the site; none where it is not built."""
    return sorted(path for path in (root / "site").rglob("*") if path.is_file())


def _tar(
    stem: str, contents: Contents, newer: set[str], committed: int, executable: set[str]
) -> bytes:
    """Return the archive; nothing of this machine or user is in it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(contents):
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(contents[name])
            entry.mode = 0o755 if name in executable else 0o644
            entry.mtime = committed - (0 if name in newer else OLDER)
            archive.addfile(entry, io.BytesIO(contents[name]))
    return gzip.compress(buffer.getvalue(), mtime=0)
