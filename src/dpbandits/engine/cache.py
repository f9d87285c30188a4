"""The cache: one compressed file for the runs of a cell that were computed at once.

``cells/ALGORITHM/SOURCES/KEY-FIRST-COUNT.npz`` is in the folder of the algorithm and of the hash of
its sources and libraries, so that what is outdated is known by its place. Files are written under
another name and renamed, so that many processes and machines share a folder without locks. A
damaged file is noticed, said and computed again; one that cannot be written costs a warning.
Answers of audits are beside the folders, as ``cells/audit-KEY.npz``.
"""

import io
import re
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np

from dpbandits._cache_folder import cache_folder, warn_unwritable
from dpbandits.engine.cells import Work
from dpbandits.engine.identity import PLAY, digest_of, fingerprint, registered
from dpbandits.engine.play import MetricArrays
from dpbandits.engine.provenance import write_atomically
from dpbandits.errors import InputError
from dpbandits.kernels import KERNELS_HASH, kernels_folder

_SECONDS_OF_A_WRITE = 3600.0
"""A temporary file that is older is left from a process that was killed."""

_NAME = re.compile(r"[0-9a-f]{32}-(\d+)-(\d+)")


def _sources(fingerprint: str) -> str:
    return digest_of([fingerprint, np.__version__, numba.__version__])[:16]


@dataclass(frozen=True)
class Cache:
    """A folder of results; ``is_used=False`` keeps nothing and finds nothing."""

    folder: Path = field(default_factory=cache_folder)
    is_used: bool = True

    @property
    def cells(self) -> Path:
        """The folder of the runs of cells, and of the answers of audits."""
        return self.folder / "cells"

    def _place(self, work: Work) -> Path:
        cell = work.cell
        return self.cells / cell.definition.id / _sources(cell.fingerprint)

    def load(self, work: Work, root_seed: int, names: Collection[str]) -> dict[range, MetricArrays]:
        """Return metrics of all runs of a work's cell that are there, by their range."""
        paths: list[Path] = []
        if self.is_used:
            try:
                paths = sorted(self._place(work).glob(f"{work.key(root_seed)}-*.npz"))
            except OSError as error:
                warn_unwritable(self.folder, error, "read")
        loaded = {}
        for path in paths:
            name = _NAME.fullmatch(path.stem)
            runs = self.read(path, names)
            if name and runs is not None:
                first, count = map(int, name.groups())
                loaded[range(first, first + count)] = runs
        return loaded

    def store(self, work: Work, root_seed: int, runs: MetricArrays) -> None:
        """Keep the metrics of a work."""
        name = f"{work.key(root_seed)}-{work.runs.start}-{len(work.runs)}.npz"
        self.write(self._place(work) / name, runs)

    def read(self, path: Path, names: Collection[str]) -> MetricArrays | None:
        """Return arrays of a file; None where there is none, or where it is damaged and removed."""
        if not self.is_used:
            return None
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:  # Such as an entry of another user's.
            warn_unwritable(self.folder, error, "read")
            return None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                if str(arrays["name"]) != path.stem:
                    raise ValueError("a file under the name of another")
                return {name: arrays[name] for name in names}
        # Of the zip reader, zlib and numpy's header, TokenError and UnicodeError among them.
        except Exception:
            print(f"{path.name}: damaged cache entry, computed again", file=sys.stderr)
            with suppress(OSError):
                path.unlink()
            return None

    def write(self, path: Path, runs: MetricArrays) -> None:
        """Write arrays to a file of the cache."""
        if not self.is_used:
            return
        arrays: dict[str, Any] = {"name": np.array(path.stem), **runs}
        try:
            self._share(path.parent)
            write_atomically(path, lambda file: np.savez_compressed(file, **arrays))
        except (InputError, OSError) as error:
            warn_unwritable(self.folder, error.__context__ or error)

    def _share(self, folder: Path) -> None:
        """Make a folder of the cache, as open to others as the cache itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mode = self.folder.stat().st_mode & 0o7777
        for each in reversed([folder, *folder.parents]):
            if each.is_relative_to(self.folder) and not each.exists():
                each.mkdir(exist_ok=True)
                each.chmod(mode)


def require_cache(cache: object) -> Cache:
    """Return the cache to use, the default one or none; InputError unless it is True or False."""
    if not isinstance(cache, bool):
        raise InputError(f"cache is {cache!r}; allowed: True or False")
    return Cache(is_used=cache)


CURRENT, OUTDATED, USER_DEFINED, UNKNOWN = "current", "outdated", "user-defined", "unknown"


@dataclass(frozen=True)
class Entry:
    """A file of results of an algorithm, or a folder of compiled kernels, with its bytes.

    Its state is ``current`` where the sources and libraries here make it, ``outdated`` where they
    make another in its place, ``user-defined`` of an algorithm that is not in the registry,
    ``unknown`` of the answer of an audit and of what is not written here.
    """

    kind: str
    path: Path
    size: int
    algorithm: str
    state: str


def entries_of(cache: Cache) -> list[Entry]:
    """Return all that a cache folder has; InputError where it cannot be read."""
    try:
        return [*_results(cache), *_kernels()]
    except OSError as error:
        raise InputError(
            f"{cache.folder}: cannot be read ({error.strerror}); allowed: a folder of caches"
        ) from None


def _results(cache: Cache) -> Iterator[Entry]:
    modules = registered().items()
    current = {name: _sources(fingerprint(module, PLAY)) for name, module in modules}
    for path in sorted(path for path in cache.cells.rglob("*") if path.is_file()):
        parts = path.relative_to(cache.cells).parts
        algorithm, state = "", UNKNOWN
        is_left = time.time() - path.stat().st_mtime > _SECONDS_OF_A_WRITE
        if path.name.startswith(".") and is_left:
            state = OUTDATED  # of a process that was killed
        elif len(parts) == 3:
            algorithm, state = parts[0], USER_DEFINED
            if algorithm in current:
                state = CURRENT if parts[1] == current[algorithm] else OUTDATED
        yield Entry("result", path, path.stat().st_size, algorithm, state)


def _kernels() -> Iterator[Entry]:
    for folder in sorted(kernels_folder().glob("[0-9a-f]" * 16)):
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        yield Entry(
            "kernel", folder, size, "", CURRENT if folder.name == KERNELS_HASH else OUTDATED
        )


def remove(entries: Iterable[Entry], cache: Cache) -> None:
    """Remove entries, and the folders that are empty then; InputError where one cannot be."""
    for entry in entries:
        try:
            if entry.path.is_dir():
                shutil.rmtree(entry.path)
            else:
                entry.path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(
                f"{entry.path}: cannot be removed ({error.strerror}); allowed: a writable folder"
            ) from None
        with suppress(OSError, ValueError):
            for folder in entry.path.parents[: len(entry.path.relative_to(cache.cells).parts)]:
                folder.rmdir()
