"""The contents of a cache folder: what is there, what no source here makes, and its removal."""

import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpbandits.algorithms import REGISTRY
from dpbandits.engine.cache import (
    VERSIONS,
    Cache,
    Origin,
    frame_origin,
    read_origin,
)
from dpbandits.engine.cells import algorithm_fingerprint
from dpbandits.engine.packs import SUFFIX, frames_in, remove_frames
from dpbandits.errors import InputError
from dpbandits.kernels import KERNELS_HASH, kernels_folder
from dpbandits.metrics.names import NASH

CURRENT, OUTDATED, USER_DEFINED, UNKNOWN = "current", "outdated", "user-defined", "unknown"

_SHARD = re.compile(r"[0-9a-f]{2}")
_KERNELS = re.compile(r"[0-9a-f]{16}")
_SECONDS_OF_A_WRITE = 3600.0
"""A temporary file that is older is left from a process that was killed."""


@dataclass(frozen=True)
class Entry:
    """A file or folder in the cache.

    Attributes:
        path: where it is.
        size: its bytes.
        algorithm: id of the algorithm whose results it has; empty where that is not known.
        state: ``current`` where the sources and libraries here make it, ``outdated`` where they
            make another in its place, ``user-defined`` of an algorithm that is not in the registry,
            ``unknown`` where it does not say.
        key: that of one of the blocks in a file of many, else empty.
    """

    path: Path
    size: int
    algorithm: str
    state: str
    key: str = ""


@dataclass(frozen=True)
class Contents:
    """All that a cache folder has; other files in it are left out.

    Attributes:
        results: entries of computed batches of runs, their checkpoints and temporary files.
        kernels: folders of compiled kernels, one for each state of the sources.
    """

    results: tuple[Entry, ...]
    kernels: tuple[Entry, ...]

    @property
    def outdated(self) -> list[Entry]:
        """Everything that no source here makes."""
        return [entry for entry in (*self.results, *self.kernels) if entry.state == OUTDATED]


def contents_of(cache: Cache) -> Contents:
    """Return the contents of a cache folder; empty where there is none.

    Raises:
        InputError: the folder cannot be read.
    """
    current = current_fingerprints()
    try:
        results = tuple(_result(path, current) for path in _files(cache.cells))
        packs = sorted(cache.cells.rglob(f"*{SUFFIX}"))
        results += tuple(each for path in packs for each in _of_pack(path, current))
        kernels = tuple(_kernels(path) for path in _children(kernels_folder(), _KERNELS))
    except OSError as error:
        raise InputError(
            f"{cache.root}: cannot be read ({error.strerror}); allowed: a folder of caches"
        ) from None
    return Contents(results, kernels)


def current_fingerprints() -> dict[str, set[str]]:
    """Return the fingerprints of every algorithm of the registry, by its id."""
    return {name: {algorithm_fingerprint(name, each) for each in ((), NASH)} for name in REGISTRY}


def remove(entries: Iterable[Entry]) -> None:
    """Remove entries, and the folders that are empty then.

    Raises:
        InputError: one cannot be removed.
    """
    packed: dict[Path, set[str]] = {}
    for entry in entries:
        if entry.key:
            packed.setdefault(entry.path, set()).add(entry.key)
            continue
        try:
            if entry.path.is_dir():
                shutil.rmtree(entry.path)
            else:
                entry.path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(
                f"{entry.path}: cannot be removed ({error.strerror}); allowed: a writable folder"
            ) from None
        _remove_empty(entry.path.parent)
    for path, keys in packed.items():
        remove_frames(path, keys)
        _remove_empty(path.parent, path.parent.parent)


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _files(cells: Path) -> Iterator[Path]:
    for folder in _children(cells, _SHARD):
        yield from sorted(folder.glob("*.block"))


def _children(folder: Path, named: re.Pattern[str]) -> list[Path]:
    """Return the folders in a folder whose names match; none where it is missing."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if named.fullmatch(path.name))


def _result(path: Path, current: dict[str, set[str]]) -> Entry:
    status = path.stat()
    if path.name.startswith("."):
        is_left = time.time() - status.st_mtime > _SECONDS_OF_A_WRITE
        return Entry(path, status.st_size, "", OUTDATED if is_left else UNKNOWN)
    origin = read_origin(path)
    if origin is None:
        return Entry(path, status.st_size, "", UNKNOWN)
    return Entry(path, status.st_size, origin["algorithm"], _state(origin, current))


def _of_pack(path: Path, current: dict[str, set[str]]) -> Iterator[Entry]:
    """Yield the blocks in a file of many; the file where it has none."""
    content = path.read_bytes()
    frames, _ = frames_in(content)
    if not frames:
        yield Entry(path, len(content), "", UNKNOWN)
    for frame in frames:
        origin, size = frame_origin(frame), frame.end - frame.begin
        algorithm = "" if origin is None else origin["algorithm"]
        state = UNKNOWN if origin is None else _state(origin, current)
        yield Entry(path, size, algorithm, state, frame.key)


def _state(origin: Origin, current: dict[str, set[str]]) -> str:
    if any(origin.get(name) != version for name, version in VERSIONS.items()):
        return OUTDATED
    if origin.get("user_defined"):
        return USER_DEFINED
    is_current = origin.get("fingerprint") in current.get(origin["algorithm"], set())
    return CURRENT if is_current else OUTDATED


def _kernels(folder: Path) -> Entry:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    state = CURRENT if folder.name == KERNELS_HASH else OUTDATED
    return Entry(folder, size, "", state)
