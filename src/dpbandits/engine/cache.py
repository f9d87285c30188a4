"""Content-keyed cache of computed blocks; damaged entries are noticed, said and recomputed.

An entry that cannot be written is not an error: its block has been computed.
"""

import hashlib
import io
import json
import os
import sys
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits._cache_folder import cache_folder, reason_of
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.cells import Cell
from dpbandits.engine.files import write_bytes
from dpbandits.errors import InputError

Block = dict[str, NDArray[Any]]
MAGIC = b"dpbandits block 1\n"
VERSIONS = {"numpy": np.__version__, "numba": numba.__version__}

Origin = dict[str, Any]
"""What an entry was computed with: algorithm, user_defined, fingerprint, versions of libraries."""

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

    def load(self, key: str) -> Block | None:
        """Return the entry, or None where there is none or it is damaged (which is said)."""
        path = self.path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        body = content[len(MAGIC) + 32 :]
        block = _arrays(body) if content[: len(MAGIC) + 32] == MAGIC + _seal(key, body) else None
        if block is None:
            print(f"{path.name}: damaged cache entry, computed again", file=sys.stderr)
            return None
        block.pop(_ORIGIN, None)
        return block

    def store(self, key: str, block: Block, origin: Origin | None = None) -> str | None:
        """Write the entry atomically; return why it cannot be written, or None where it is."""
        buffer = io.BytesIO()
        first = {} if origin is None else {_ORIGIN: _encoded(origin)}
        np.savez(buffer, **first, **block)  # type: ignore[arg-type]
        body = buffer.getvalue()
        content = MAGIC + _seal(key, body) + body
        try:
            write_bytes(self.path(key), content)
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


class NoCache(Cache):
    """Keeps nothing and finds nothing."""

    def load(self, key: str) -> Block | None:
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
            head = file.read(_HEAD)
        array = io.BytesIO(head[head.index(b"\x93NUMPY") :])
        origin = json.loads(np.lib.format.read_array(array, allow_pickle=False).tobytes())
        return {**origin, "algorithm": str(origin["algorithm"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _encoded(origin: Origin) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(origin, sort_keys=True).encode(), np.uint8)


def _arrays(body: bytes) -> Block | None:
    """Return the arrays, or None for what this class has not written, such as pickled objects."""
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _seal(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).digest()
