"""Blocks on their way to worker processes, which play what the caller has loaded, or nothing."""

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dpbandits.engine.cache import block_key
from dpbandits.engine.cells import Cell
from dpbandits.engine.custom import packed, unpacked
from dpbandits.engine.identity import SOURCES
from dpbandits.errors import InputError

NAMED = ("fingerprint", "stream_description", "description")
"""What a block is known by, found where it was packed."""


@dataclass(frozen=True)
class Packed:
    """A block whose key the worker has to find again.

    Attributes:
        key: key of the block where it was packed.
        sources: hash of all sources of the package there.
        custom: algorithm and bandit, where one of them is user-defined, or None.
        block: the block, without these.
        named: what it is known by.
    """

    key: str
    sources: str
    custom: bytes | None
    block: Any
    named: dict[str, Any]


def pack(blocks: dict[str, Cell]) -> list[Packed]:
    """Return the blocks, by key, as they are sent to workers.

    Raises:
        InputError: an algorithm or bandit cannot be sent.
    """
    sent: dict[tuple[int, int], bytes] = {}
    sources = _sources()
    result = []
    for key, block in blocks.items():
        algorithm, bandit = block.algorithm, block.bandit
        if isinstance(algorithm, str) and not hasattr(bandit, "on_own_arms"):
            result.append(Packed(key, sources, None, replace(block), {}))
            continue
        name = block.definition.id
        pair = id(algorithm), id(bandit)
        if pair not in sent:
            sent[pair] = packed(name, (algorithm, bandit))
        bare: Any = replace(block, algorithm=name, bandit=None)  # type: ignore[arg-type]
        named = {each: getattr(block, each) for each in NAMED}
        result.append(Packed(key, sources, sent[pair], packed(name, bare), named))
    return result


@cache
def _sources() -> str:
    return hashlib.sha256(repr(SOURCES).encode()).hexdigest()


def unpack(sent: Packed, root_seed: int) -> Cell:
    """Return the block, with the algorithm as it was loaded where the block was packed.

    Raises:
        InputError: this process has loaded other sources, so that it would play something else.
    """
    if sent.custom is None:
        cell: Cell = sent.block
    else:
        algorithm, bandit = unpacked(sent.custom)
        cell = replace(unpacked(sent.block), algorithm=algorithm, bandit=bandit)
        vars(cell).update(sent.named)
    if sent.sources != _sources() or block_key(cell, root_seed) != sent.key:
        raise InputError(
            f"algorithm {cell.definition.id}: a source that it uses changed under the running "
            f"simulation, of which nothing is kept; allowed: sources that stay as they are, in a "
            f"process that is started again"
        )
    return cell
