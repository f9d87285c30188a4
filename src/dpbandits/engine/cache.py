"""Content-keyed cache of computed blocks; damaged entries are noticed, said and recomputed."""

import hashlib
import io
import sys
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits._kernel_cache import cache_folder
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.cells import Cell
from dpbandits.engine.files import write_bytes

Block = dict[str, NDArray[Any]]
MAGIC = b"dpbandits block 1\n"


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


@dataclass(frozen=True)
class Cache:
    """A folder of blocks; ``folder=None`` is the default one."""

    folder: Path | None = None

    @cached_property
    def cells(self) -> Path:
        """The folder that holds the entries."""
        return (self.folder or cache_folder()) / "cells"

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
        return block

    def store(self, key: str, block: Block) -> None:
        """Write the entry atomically."""
        buffer = io.BytesIO()
        np.savez(buffer, **block)  # type: ignore[arg-type]
        body = buffer.getvalue()
        write_bytes(self.path(key), MAGIC + _seal(key, body) + body)

    def has(self, key: str) -> bool:
        """Return whether there is an entry, be it damaged."""
        return self.path(key).exists()

    def remove(self, key: str) -> None:
        """Remove the entry, if there is one."""
        self.path(key).unlink(missing_ok=True)


class NoCache(Cache):
    """Keeps nothing and finds nothing."""

    def load(self, key: str) -> Block | None:
        """Return None."""
        return None

    def store(self, key: str, block: Block) -> None:
        """Keep nothing."""

    def has(self, key: str) -> bool:
        """Return False."""
        return False

    def remove(self, key: str) -> None:
        """Remove nothing."""


def _arrays(body: bytes) -> Block | None:
    """Return the arrays, or None for what this class has not written, such as pickled objects."""
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _seal(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).digest()
