"""Take runs from the cache, and compute those that are missing over worker processes."""

import os
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import cloudpickle
import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from dpbandits._cache_folder import unwritable
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Series, Work
from dpbandits.engine.compilation import compile_kernels
from dpbandits.engine.identity import SOURCES_HASH, require_unedited
from dpbandits.engine.play import MetricArrays
from dpbandits.engine.progress import Add, Counted, announce_time, rounds_shown
from dpbandits.errors import InputError


def compute(
    works: Sequence[Work],
    *,
    root_seed: int,
    workers: int = 1,
    cache: Cache | None = None,
    title: str = "simulating",
    before: Callable[[int], None] | None = None,
) -> list[MetricArrays]:
    """Return each work's metrics, one row a run, from the cache where it can.

    Results are the same for any number of workers: every run, or block of trials, draws from a
    stream of its own.
    ``before`` is called with the number of runs that are not in the cache, where there are any.
    """
    cache = cache or Cache()
    keys = [work.key(root_seed) for work in works]
    names: dict[str, set[str]] = defaultdict(set)
    for key, work in zip(keys, works, strict=True):
        names[key].update(work.cell.metrics)
    known: dict[str, dict[range, MetricArrays]] = {}
    of_works: list[list[Piece]] = []
    missing: list[Work] = []
    for key, work in zip(keys, works, strict=True):
        if key not in known:
            known[key] = cache.load(work, root_seed, names[key])
        of_works.append(_pieces(work, known[key]))
        gaps = [runs for runs, _ in of_works[-1] if runs not in known[key]]
        missing += [Work(work.cell, gap) for gap in gaps]
        # Works that share a gap play it once.
        known[key].update((gap, {}) for gap in gaps)
    if missing and before is not None:
        before(sum(len(work.runs) for work in missing))
    for work, metrics in _finished(missing, root_seed, workers, title):
        cache.store(work, root_seed, metrics)
        known[work.key(root_seed)][work.runs] = metrics
    return [
        {
            name: np.concatenate([known[key][runs][name][rows] for runs, rows in pieces])
            for name in work.cell.metrics
        }
        for key, work, pieces in zip(keys, works, of_works, strict=True)
    ]


def compute_series(series: Sequence[Series], **options: Any) -> list[MetricArrays]:
    """Return the metrics of each series, of a Nash curve one row a curve; options of `compute`."""
    computed = iter(compute([work for line in series for work in line.works], **options))
    return [_joined([next(computed) for _ in line.works]) for line in series]


def _joined(batches: Sequence[MetricArrays]) -> MetricArrays:
    """Return the metrics of runs that follow one another."""
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


Piece = tuple[range, slice]
"""Runs that are kept together, and the rows of them that a work takes."""


def _pieces(work: Work, known: Collection[range]) -> list[Piece]:
    """Split the runs of a work into those of each cache entry and the gaps between entries.

    A gap covers whole streams of trials, which are played at once.
    """
    at, stop = work.runs.start, work.runs.stop
    size = work.cell.batch if work.cell.identifies else 1
    pieces = []
    while at < stop:
        later = [runs.start for runs in known if runs.start > at]
        gap = range(at // size * size, -(-min([stop, *later]) // size) * size)
        holder = max(
            (runs for runs in known if at in runs), key=lambda runs: runs.stop, default=gap
        )
        end = min(stop, holder.stop)
        pieces.append((holder, slice(at - holder.start, end - holder.start)))
        at = end
    return pieces


def _parts(work: Work) -> list[Work]:
    """Return the parts of a work that one worker plays at a time."""
    cell, runs = work.cell, work.runs
    if cell.in_lockstep:
        return [work]
    starts = range(runs.start, runs.stop, cell.batch)
    return [Work(cell, range(at, min(at + cell.batch, runs.stop))) for at in starts]


def _finished(
    missing: Sequence[Work], root_seed: int, workers: int, title: str
) -> Iterator[tuple[Work, MetricArrays]]:
    """Play works and yield each, with its metrics, once all its parts are played."""
    for modules in {work.cell.modules for work in missing}:
        require_unedited(*modules)
    # Processes that race on a cold cache of kernels would each compile everything.
    compile_kernels(work.cell for work in missing)
    parts_of = [_parts(work) for work in missing]
    parts = [(number, part) for number, parts in enumerate(parts_of) for part in parts]
    announce_time(missing, root_seed, workers, title)
    waiting: list[dict[int, MetricArrays]] = [{} for _ in missing]
    with rounds_shown(title, sum(work.rounds for work in missing)) as add:
        for number, first, runs in _over(parts, root_seed, workers, add):
            work, played = missing[number], waiting[number]
            played[first] = runs
            if len(played) == len(parts_of[number]):
                waiting[number] = {}
                yield work, _joined([played[first] for first in sorted(played)])


def _play_part(part: Work, root_seed: int, threads: int, add: Add) -> MetricArrays:
    """Play a part here, and count its rounds."""
    if part.cell.in_lockstep:
        return part.play(root_seed, threads, Counted(part.cell.player, add))
    runs = part.play(root_seed, threads)
    add(part.rounds)
    return runs


Part = tuple[int, int, MetricArrays]
"""Number of a work, its first run that was played, and the metrics."""


def _over(
    parts: Sequence[tuple[int, Work]], root_seed: int, workers: int, add: Add
) -> Iterator[Part]:
    """Play parts of works, here or in worker processes, and yield them as they are done."""
    # Cores that no part keeps busy play runs of a curve.
    threads = max(1, workers // max(1, len(parts)))
    rounds = {(number, part.runs.start): part.rounds for number, part in parts}
    done = set()
    if min(workers, len(parts)) > 1:
        try:
            for number, first, runs in _in_processes(parts, root_seed, workers, threads):
                done.add((number, first))
                add(rounds[number, first])
                yield number, first, runs
        except BrokenProcessPool:
            raise InputError(
                f"workers is {workers}: a worker process was killed, as for want of memory; "
                f"allowed: fewer workers"
            ) from None
        except OSError as error:
            reason = error.strerror or str(error)
            print(
                f"warning: worker processes cannot be started ({reason}); played in this process",
                file=sys.stderr,
            )
    for number, part in parts:
        if (number, part.runs.start) not in done:
            yield number, part.runs.start, _play_part(part, root_seed, threads, add)


def _in_processes(
    parts: Sequence[tuple[int, Work]], root_seed: int, workers: int, threads: int
) -> Iterator[Part]:
    """Play parts in worker processes; OSError where the system has none, as without semaphores."""
    if effective_n_jobs(workers) == 1:
        raise OSError("joblib has no processes here: see JOBLIB_MULTIPROCESSING and /dev/shm")
    cells = {number: part.cell for number, part in parts}
    # Here, where the error of an algorithm that cannot be sent is raised as it is.
    sent = {number: cloudpickle.dumps(cell) for number, cell in cells.items()}
    tasks = (
        delayed(_play_sent)(number, sent[number], part.runs, root_seed, threads, SOURCES_HASH)
        for number, part in parts
    )
    # No pools of libraries in workers; runs of a curve have ``threads`` of their own.
    with _safe_path(), parallel_config(backend="loky", inner_max_num_threads=1):
        yield from Parallel(n_jobs=workers, return_as="generator_unordered")(tasks)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that begin here import nothing from the folder that one stands in.

    A file there may be called as one of Python's own modules.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def _play_sent(
    number: int, sent: bytes, runs: range, root_seed: int, threads: int, sources: str
) -> Part:
    """Play a part in a worker process, which may have read other sources than its caller."""
    unwritable.is_silent = True
    if sources != SOURCES_HASH:
        raise InputError(
            "a source of the package was edited after it was imported; start Python again"
        )
    return number, runs.start, Work(pickle.loads(sent), runs).play(root_seed, threads)
