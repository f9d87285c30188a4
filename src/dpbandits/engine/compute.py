"""Compute missing runs over worker processes, and show how far that is."""

import fcntl
import os
import pickle
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from functools import cache as once
from itertools import repeat
from threading import Lock
from typing import Any

import cloudpickle
import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from numba.core import event

from dpbandits._cache_folder import unwritable
from dpbandits.algorithms import find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm
from dpbandits.bandits import bernoulli, linear
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Cell, Series, Work, make_cell
from dpbandits.engine.identity import SOURCES_HASH, require_unedited, run_generator, stream_key
from dpbandits.engine.play import SEGMENTS_AT_ONCE, MetricArrays
from dpbandits.engine.progress import progress
from dpbandits.errors import InputError
from dpbandits.kernels import KERNELS_HASH, kernels_folder, new_segments
from dpbandits.metrics import NASH


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

    Results are the same for any number of workers: every run draws from a stream of its own.
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
    _announce_time(missing, root_seed, workers, title)
    waiting: list[dict[int, MetricArrays]] = [{} for _ in missing]
    with _shown(title, sum(map(_rounds, missing))) as add:
        for number, first, runs in _over(parts, root_seed, workers, add):
            work, played = missing[number], waiting[number]
            played[first] = runs
            if len(played) == len(parts_of[number]):
                waiting[number] = {}
                yield work, _joined([played[first] for first in sorted(played)])


def _rounds(work: Work) -> int:
    return work.cell.horizon * len(work.runs)


Add = Callable[[int], None]
"""Counts rounds that were played."""

SHARES = 100


@contextmanager
def _shown(title: str, rounds: int) -> Iterator[Add]:
    """Show how many of a hundred equal batches of rounds are played; yield what counts them."""
    shares, lock, played = progress(repeat(None, SHARES), title, SHARES), Lock(), 0

    def add(count: int) -> None:
        nonlocal played
        # Runs of a curve are played in threads.
        with lock:
            before, played = played, played + count
            for _ in range(SHARES * before // rounds, SHARES * played // rounds):
                next(shares, None)

    next(shares)
    yield add


class _Counted:
    """An algorithm of a Nash curve, which takes long: its rounds are counted while it plays."""

    def __init__(self, algorithm: Any, add: Add) -> None:
        self.id, self.state = algorithm.id, algorithm.state
        self._advance, self._add = algorithm.advance, add

    def advance(self, settings: Any, state: Any, *rest: Any) -> int:
        """Play on; return the number of segments, as the algorithm does."""
        before = int(state.clock[0])
        written: int = self._advance(settings, state, *rest)
        self._add(int(state.clock[0]) - before)
        return written


def _play_part(part: Work, root_seed: int, threads: int, add: Add) -> MetricArrays:
    """Play a part here, and count its rounds."""
    if part.cell.in_lockstep:
        return part.play(root_seed, threads, _Counted(part.cell.player, add))
    runs = part.play(root_seed, threads)
    add(_rounds(part))
    return runs


FEW_ROUNDS = 10**7
"""Rounds of a work that are played without an estimate of the time they take."""

LONG = 60.0
"""Seconds from which on they are announced."""


def _announce_time(missing: Sequence[Work], root_seed: int, workers: int, title: str) -> None:
    """Say how long works take, by the pace of their first rounds, where that is over a minute."""
    paced = [
        work
        for work in missing
        if _rounds(work) > FEW_ROUNDS
        and not work.cell.identifies
        # Worker processes compile what is outside the registry themselves.
        and (workers == 1 or isinstance(work.cell.algorithm, str))
    ]
    seconds = sum(_seconds_of_a_run(work, root_seed) * len(work.runs) for work in paced) / workers
    if seconds > LONG:
        print(
            f"{title}: about {_duration(seconds)} at the pace of the first rounds", file=sys.stderr
        )


def _seconds_of_a_run(work: Work, root_seed: int) -> float:
    """Return the time of a run, were all rounds as the first ones are."""
    cell = work.cell
    generator = run_generator(root_seed, stream_key(cell.stream_description), work.runs.start)
    state = cell.player.state(len(cell.bandit.arms))
    out = new_segments(min(SEGMENTS_AT_ONCE, cell.horizon))
    begun = time.perf_counter()
    cell.player.advance(cell.settings, state, cell.bandit.arrays, generator, out)
    return (time.perf_counter() - begun) * cell.horizon / float(state.clock[0])


def _duration(seconds: float) -> str:
    """Return a time in the largest unit of which it has two, as ``19 hours``."""
    units = {"years": 31_557_600, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
    name, size = next((n, s) for n, s in units.items() if seconds >= 2 * s or s == 1)
    return f"{seconds / size:,.0f} {name}"


Part = tuple[int, int, MetricArrays]
"""Number of a work, its first run that was played, and the metrics."""


def _over(
    parts: Sequence[tuple[int, Work]], root_seed: int, workers: int, add: Add
) -> Iterator[Part]:
    """Play parts of works, here or in worker processes, and yield them as they are done."""
    # Cores that no part keeps busy play runs of a curve.
    threads = max(1, workers // max(1, len(parts)))
    rounds = {(number, part.runs.start): _rounds(part) for number, part in parts}
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


_FEATURES = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.2, 0.2], [0.1, 0.3], [0.3, 0.1]]
"""Six arms in two dimensions: more than 2 * 2, so that a subset of arms has to be searched for."""


def compile_kernels(cells: Iterable[Cell]) -> None:
    """Compile what cells are played with, in this process, by playing a few rounds.

    Kernels outside the registry are left out: they are not kept on disk.
    """
    cells = list(cells)
    for algorithm in sorted({c.algorithm for c in cells if isinstance(c.algorithm, str)}):
        _compile(algorithm)
    if any(cell.in_lockstep for cell in cells):
        _compile("nash")


@once
def _compile(name: str) -> None:
    """Compile an algorithm, or ``nash`` curves, by integers and by logarithms of means.

    Processes that would compile the same wait meanwhile, and then find it on disk.
    """
    if name == "nash":
        pairs = [bernoulli([0.6, worse]) for worse in (0.4, 0.0)]
        metrics = NASH[:1]
        cells = [make_cell(algorithm="ucb1", bandit=b, horizon=10, metrics=metrics) for b in pairs]
    else:
        definition = find_definition(name)
        identifies = isinstance(definition, IdentificationAlgorithm)
        bandit = linear(_FEATURES, [0.5, 0.3]) if identifies else bernoulli([0.6, 0.4])
        example = definition.example
        cells = [make_cell(algorithm=name, parameters=example, bandit=bandit, horizon=100)]
    with ExitStack() as stack:
        # Where the folder of kernels cannot be written nothing is kept, and none has to wait.
        with suppress(OSError):
            path = kernels_folder() / KERNELS_HASH / f"{name}.lock"
            path.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        for cell in cells:
            Work(cell, range(2)).play(0)


class _FirstCompilation(event.Listener):
    """Prints one line at the first compilation that it hears of."""

    def __init__(self, name: str) -> None:
        self.name: str | None = name

    def on_start(self, event: Any) -> None:
        if self.name is not None:
            print(f"compiling {self.name} ...", file=sys.stderr)
        self.name = None

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compilation_shown(name: str) -> Iterator[None]:
    """Print one line if a kernel is compiled in this process; none where all are on disk."""
    with event.install_listener("numba:compile", _FirstCompilation(name)):
        yield
