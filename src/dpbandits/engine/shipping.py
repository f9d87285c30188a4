"""Blocks on their way to worker processes, which play what the caller has loaded, or nothing."""

import pickle
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from joblib.externals.loky.backend.reduction import dumps

from dpbandits.algorithms import Definition
from dpbandits.engine.cache import block_key
from dpbandits.engine.cells import Cell, algorithm_fingerprint
from dpbandits.engine.own_files import Bundle, bundles_in, install
from dpbandits.errors import InputError


@dataclass(frozen=True)
class Packed:
    """A block whose key the worker has to find again.

    Attributes:
        key: key of the block where it was packed.
        algorithm: an algorithm of the user's own with the files that it was loaded from, or None.
        block: the block; of an algorithm of the user's own without the algorithm.
    """

    key: str
    algorithm: bytes | None
    block: Cell | bytes


def pack(blocks: dict[str, Cell]) -> list[Packed]:
    """Return the blocks, by key, as they are sent to workers.

    Raises:
        InputError: an algorithm cannot be sent.
    """
    sent: dict[int, bytes] = {}
    packed = []
    for key, block in blocks.items():
        algorithm = block.algorithm
        if isinstance(algorithm, str):
            packed.append(Packed(key, None, replace(block)))
            continue
        if id(algorithm) not in sent:
            sent[id(algorithm)] = _pickled(algorithm.id, algorithm)
        bare = _pickled(algorithm.id, replace(block, algorithm=algorithm.id))
        packed.append(Packed(key, sent[id(algorithm)], bare))
    return packed


def _pickled(name: str, value: Any) -> bytes:
    try:
        inner = bytes(dumps(value))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise InputError(
            f"algorithm {name}: cannot be sent to worker processes ({reason}); allowed: workers=1"
        ) from error
    return pickle.dumps((bundles_in(inner), inner))


def _unpickled(pickled: bytes) -> Any:
    bundles: list[Bundle]
    bundles, inner = pickle.loads(pickled)
    for bundle in bundles:
        install(bundle)
    return pickle.loads(inner)


@cache
def _arrived(pickled: bytes, metrics: tuple[str, ...]) -> tuple[Definition, str]:
    """Return an algorithm and its fingerprint in this process, before anything is played."""
    definition = _unpickled(pickled)
    return definition, algorithm_fingerprint(definition, metrics)


def unpack(packed: Packed, root_seed: int) -> Cell:
    """Return the block, with the algorithm as it was loaded where the block was packed.

    Raises:
        InputError: this process has loaded other sources, so that it would play something else.
    """
    try:
        cell = _unpacked(packed)
        changed = block_key(cell, root_seed) != packed.key
        name = cell.definition.id
    except (ImportError, AttributeError, KeyError) as error:
        raise InputError(f"{_CHANGED} ({type(error).__name__}: {error})") from error
    if changed:
        raise InputError(f"algorithm {name}: {_CHANGED}")
    return cell


_CHANGED = (
    "a source or a value that it uses changed under the running simulation, of which nothing is "
    "kept; allowed: sources that stay as they are, in a process that is started again"
)


def _unpacked(packed: Packed) -> Cell:
    if packed.algorithm is None:
        assert isinstance(packed.block, Cell)
        return packed.block
    assert isinstance(packed.block, bytes)
    bare: Cell = _unpickled(packed.block)
    definition, own = _arrived(packed.algorithm, bare.metrics)
    cell = replace(bare, algorithm=definition)
    vars(cell)["fingerprint"] = own
    return cell
