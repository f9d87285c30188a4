"""Best-arm trials in full, phase by phase: too large for the cache where arms are many."""

from collections.abc import Iterator

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome
from dpbandits.engine.cells import Cell
from dpbandits.engine.identity import stream_key
from dpbandits.engine.trials import play_outcome


def outcomes(cell: Cell, root_seed: int) -> Iterator[Outcome]:
    """Play the trials of a cell, and yield the outcome of each of its blocks.

    Args:
        cell: of an algorithm for best-arm identification.
        root_seed: root of all random streams.
    """
    algorithm = cell.player
    assert isinstance(algorithm, IdentificationAlgorithm)
    key = stream_key(cell.stream_description)
    for block in cell.blocks():
        yield play_outcome(algorithm, cell.task, root_seed, key, block.first_run)
