"""Compute the missing blocks of many cells over worker processes, and put the runs together."""

import fcntl
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

import numpy as np
from joblib import Parallel, delayed, parallel_config

from dpbandits._cache_folder import warn_unwritable
from dpbandits.algorithms import find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm
from dpbandits.bandits import bernoulli, linear
from dpbandits.engine.cache import Block, Cache, block_key, origin_of
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.checkpoints import Checkpoints
from dpbandits.engine.progress import progress
from dpbandits.engine.shipping import Packed, pack, unpack
from dpbandits.kernels import KERNELS_HASH, kernels_folder
from dpbandits.metrics.names import NASH


def compute(
    cells: Sequence[Cell],
    *,
    root_seed: int,
    workers: int = 1,
    cache: Cache | None = None,
    title: str = "simulating",
    before: Callable[[int], None] | None = None,
) -> list[Block]:
    """Return each cell's metrics, one row a run, from the cache where it can.

    Results are the same for any number of workers: every block is computed from its own streams,
    and blocks are put together in the order of their runs. ``before`` is called with the number of
    blocks that are not in the cache, where there are any.
    """
    cache = cache or Cache()
    parts = [_keyed_blocks(cell, root_seed) for cell in cells]
    blocks = {key: block for own in parts for key, block in own.items()}
    asked = _asked(cells, parts)
    known = cache.find(blocks, asked)
    missing = {key: block for key, block in blocks.items() if key not in known}
    if missing and before is not None:
        before(len(missing))
    for key, computed in _computed(missing, root_seed, workers, cache, title):
        known[key] = {name: computed[name] for name in asked[key]}
    return [
        _assemble(cell, own, [known[key] for key in own])
        for cell, own in zip(cells, parts, strict=True)
    ]


def _keyed_blocks(cell: Cell, root_seed: int) -> dict[str, Cell]:
    """Return the blocks of a cell by key, in the order of their runs; cells may share some."""
    return {block_key(block, root_seed): block for block in cell.blocks()}


def _asked(cells: Sequence[Cell], parts: Sequence[dict[str, Cell]]) -> dict[str, set[str]]:
    """Return the metrics asked of each block, by key; a Nash curve records more than these."""
    asked: dict[str, set[str]] = {}
    for cell, own in zip(cells, parts, strict=True):
        for key in own:
            asked.setdefault(key, set()).update(cell.metrics)
    return asked


Computed = tuple[str, Block]
"""Key of a block, and the block."""


def _computed(
    missing: dict[str, Cell], root_seed: int, workers: int, cache: Cache, title: str
) -> Iterator[Computed]:
    for key, block in _played(missing, root_seed, workers, cache, title):
        # Here, so that one process alone appends to a file of many blocks.
        not_cached = cache.store(key, block, origin_of(missing[key]))
        if not_cached is not None:
            warn_unwritable(cache.root, not_cached)
        if missing[key].in_lockstep:
            Checkpoints(cache, key, title).clear()
        yield key, block


def _played(
    missing: dict[str, Cell], root_seed: int, workers: int, cache: Cache, title: str
) -> Iterator[Computed]:
    for cell in {(cell.definition.id, cell.metrics): cell for cell in missing.values()}.values():
        cell.require_unedited()
    # Processes that race on a cold cache of kernels would each compile everything.
    compile_kernels(missing.values())
    if min(workers, len(missing)) <= 1:
        results: Iterator[Computed] = (
            _compute_block(key, block, root_seed, cache) for key, block in missing.items()
        )
    else:
        tasks = [delayed(_compute_packed)(each, root_seed, cache) for each in pack(missing)]
        # No nested pools: one thread in each worker.
        with parallel_config(backend="loky", inner_max_num_threads=1):
            results = Parallel(n_jobs=workers, return_as="generator_unordered")(tasks)
    yield from progress(results, len(missing), title)


def _compute_packed(packed: Packed, root_seed: int, cache: Cache) -> Computed:
    """Compute a block in a worker process."""
    warn_unwritable.is_silent = True
    return _compute_block(packed.key, unpack(packed, root_seed), root_seed, cache)


def _compute_block(key: str, block: Cell, root_seed: int, cache: Cache) -> Computed:
    if not block.in_lockstep:
        return key, block.play(root_seed)
    title = f"{block.definition.id}, {block.runs} runs of {block.horizon} rounds"
    return key, block.play(root_seed, Checkpoints(cache, key, title, origin_of(block)))


def _assemble(cell: Cell, blocks: dict[str, Cell], parts: list[Block]) -> Block:
    """Return what the cell asks for of its blocks' runs, which may reach beyond its own."""
    start = cell.first_run - next(iter(blocks.values())).first_run
    rows = slice(start, start + cell.runs)
    return {name: np.concatenate([part[name] for part in parts])[rows] for name in cell.metrics}


_FEATURES = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.2, 0.2], [0.1, 0.3], [0.3, 0.1]]
"""More arms than dimensions squared, so that a subset of arms has to be searched for."""


def compile_kernels(cells: Iterable[Cell]) -> None:
    """Compile what cells are played with, in this process, by playing a few rounds.

    Kernels of the user's own are left out: they are not kept on disk.
    """
    cells = list(cells)
    for algorithm in sorted({c.algorithm for c in cells if isinstance(c.algorithm, str)}):
        _compile(algorithm)
    if any(cell.in_lockstep for cell in cells):
        _compile_nash()


@contextmanager
def _compiling_alone() -> Iterator[None]:
    """Let other processes wait meanwhile, which then find on disk what they would compile.

    Where numba's folder cannot be written nothing is kept there, and none has to wait.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            path = kernels_folder() / KERNELS_HASH / "lock"
            path.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        yield


@cache
def _compile(algorithm: str) -> None:
    definition = find_definition(algorithm)
    identifies = isinstance(definition, IdentificationAlgorithm)
    bandit = linear(_FEATURES, [0.5, 0.3]) if identifies else bernoulli([0.6, 0.4])
    cell = make_cell(
        algorithm=algorithm, parameters=definition.example, bandit=bandit, horizon=100, runs=1
    )
    [block] = cell.blocks() if identifies else [cell]
    with _compiling_alone():
        block.play(0)


@cache
def _compile_nash() -> None:
    """Compile both ways through a window of time."""
    for worse in (0.4, 0.0):
        bandit = bernoulli([0.6, worse])
        cell = make_cell(algorithm="ucb1", bandit=bandit, horizon=10, runs=2, metrics=NASH[:1])
        with _compiling_alone():
            cell.play(0)
