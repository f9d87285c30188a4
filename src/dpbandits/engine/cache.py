"""Content-keyed cache of computed blocks; damaged entries are noticed, said and recomputed.

An entry that cannot be written is not an error: its block has been computed.
"""

import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits._cache_folder import cache_folder, reason_of
from dpbandits.engine.cells import Cell
from dpbandits.engine.files import write_bytes
from dpbandits.engine.identity import digest_of
from dpbandits.engine.packs import SUFFIX, Frame, append, framed, frames_in, new_pack
from dpbandits.errors import InputError

Block = dict[str, NDArray[Any]]
Asked = Mapping[str, Collection[str]]
"""Key of a block -> the arrays of it that are read; a Nash curve keeps more than is asked for."""

MAGIC = b"dpbandits block 1\n"
VERSIONS = {"numpy": np.__version__, "numba": numba.__version__}

Origin = dict[str, Any]
"""What an entry was computed with: algorithm, user_defined, fingerprint, versions of libraries."""

CHECKPOINT = "-checkpoint"
"""End of the keys of checkpoints."""

_ORIGIN = "origin"
_HEAD = 2048
"""Bytes at the beginning of an entry that hold its origin, the first of its arrays."""


def block_key(block: Cell, root_seed: int) -> str:
    """Return the key of a block: all that its numbers depend on, hashed."""
    return digest_of(
        {
            "cell": block.description,
            "runs": [block.first_run, block.runs],
            "root seed": root_seed,
            "fingerprint": block.fingerprint,
            "numpy": np.__version__,
            "numba": numba.__version__,
        }
    )


def origin_of(block: Cell) -> Origin:
    """Return the origin of a block's entry."""
    return {
        "algorithm": block.definition.id,
        "user_defined": not isinstance(block.algorithm, str),
        "fingerprint": block.fingerprint,
        **VERSIONS,
    }


@dataclass(frozen=True)
class Cache:
    """A folder of blocks; ``folder=None`` is the default one."""

    folder: Path | None = None

    @cached_property
    def root(self) -> Path:
        """The folder of all caches."""
        return self.folder or cache_folder()

    @property
    def cells(self) -> Path:
        """The folder that holds the entries."""
        return self.root / "cells"

    def path(self, key: str) -> Path:
        """File of the entry ``key``."""
        return self.cells / key[:2] / f"{key}.block"

    def load(self, key: str, names: Collection[str] | None = None) -> Block | None:
        """Return the entry, or None where there is none or it is damaged (which is said).

        ``names`` are the arrays to read, all of them where it is None.
        """
        path = self.path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        body = content[len(MAGIC) + 32 :]
        is_whole = content[: len(MAGIC) + 32] == MAGIC + _seal(key, body)
        block = _arrays(body, names) if is_whole else None
        if block is None:
            print(f"{path.name}: damaged cache entry, computed again", file=sys.stderr)
        return block

    def find(self, keys: Collection[str], asked: Asked | None = None) -> dict[str, Block]:
        """Return the entries that there are, by key; of each what is asked for, or all of it."""
        found = {key: self.load(key, asked and asked[key]) for key in keys}
        return {key: block for key, block in found.items() if block is not None}

    def store(self, key: str, block: Block, origin: Origin | None = None) -> str | None:
        """Write the entry atomically; return why it cannot be written, or None where it is."""
        body = _packed(block, origin)
        try:
            write_bytes(self.path(key), MAGIC + _seal(key, body) + body)
        except InputError as error:
            # The error of the operating system behind the line on the file.
            cause = error.__context__
            return reason_of(cause) if isinstance(cause, OSError) else str(error)
        return None

    def has(self, key: str) -> bool:
        """Return whether there is an entry, be it damaged."""
        return os.path.exists(self.path(key))

    def remove(self, key: str) -> None:
        """Remove the entry, if there is one and the folder can be written."""
        with suppress(OSError):
            self.path(key).unlink()


@dataclass(frozen=True)
class PackedCache(Cache):
    """A cache of the blocks of one simulation, many in a file; checkpoints are entries as others.

    Entries of their own are found, too.

    Attributes:
        name: that of the simulation, PAPER/NAME.
    """

    name: str = ""

    @property
    def packs(self) -> Path:
        """The folder of the files of this simulation."""
        return self.cells / self.name

    @cached_property
    def _own(self) -> Path:
        """The file that this process appends to."""
        return new_pack(self.packs)

    def find(self, keys: Collection[str], asked: Asked | None = None) -> dict[str, Block]:
        """Return the blocks that there are, by key; of each what is asked for, or all of it."""
        wanted, found = set(keys), dict[str, Block]()
        damaged: list[Path] = []
        for path in sorted(self.packs.glob(f"*{SUFFIX}")):
            try:
                frames, is_damaged = frames_in(path.read_bytes())
            except OSError:
                continue
            damaged += [path] if is_damaged else []
            for frame in frames:
                if frame.key not in wanted or frame.key in found:
                    continue
                block = _arrays(frame.content(), asked and asked[frame.key])
                if block is not None:
                    found[frame.key] = block
        found |= super().find(wanted - found.keys(), asked)
        if len(found) < len(wanted):
            for path in damaged:
                print(f"{path.name}: damaged cache entry, computed again", file=sys.stderr)
        return found

    def store(self, key: str, block: Block, origin: Origin | None = None) -> str | None:
        """Append a block, or write a checkpoint; return why it cannot be, or None where it is."""
        if key.endswith(CHECKPOINT):
            return super().store(key, block, origin)
        try:
            append(self._own, framed(key, _packed(block, origin)))
        except OSError as error:
            return reason_of(error)
        return None


class NoCache(Cache):
    """Keeps nothing and finds nothing."""

    def load(self, key: str, names: Collection[str] | None = None) -> Block | None:
        """Return None."""
        return None

    def store(self, key: str, block: Block, origin: Origin | None = None) -> str | None:
        """Keep nothing."""
        return None

    def has(self, key: str) -> bool:
        """Return False."""
        return False

    def remove(self, key: str) -> None:
        """Remove nothing."""


def read_origin(path: Path) -> Origin | None:
    """Return the origin of an entry; None where it has none, or is damaged at its beginning."""
    try:
        with path.open("rb") as file:
            return _origin_in(file.read(_HEAD))
    except OSError:
        return None


def frame_origin(frame: Frame) -> Origin | None:
    """Return the origin of a block in a pack; None where it has none."""
    return _origin_in(frame.beginning(_HEAD))


def _origin_in(head: bytes) -> Origin | None:
    try:
        array = io.BytesIO(head[head.index(b"\x93NUMPY") :])
        origin = json.loads(np.lib.format.read_array(array, allow_pickle=False).tobytes())
        return {**origin, "algorithm": str(origin["algorithm"])}
    except (ValueError, KeyError, TypeError):
        return None


def _packed(block: Block, origin: Origin | None) -> bytes:
    """Return the bytes of a block, its origin first."""
    buffer = io.BytesIO()
    first = {} if origin is None else {_ORIGIN: _encoded(origin)}
    np.savez(buffer, **first, **block)  # type: ignore[arg-type]
    return buffer.getvalue()


def _encoded(origin: Origin) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(origin, sort_keys=True).encode(), np.uint8)


def _arrays(body: bytes, names: Collection[str] | None) -> Block | None:
    """Return the arrays, or None for what this class has not written, such as pickled objects."""
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
            read = set(arrays.files) - {_ORIGIN} if names is None else names
            return {name: arrays[name] for name in arrays.files if name in read}
    except (ValueError, OSError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _seal(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).digest()
