"""Progress on standard error, of whatever takes longer than two seconds, and the time it will take.

A bar on a terminal and in a notebook, a whole line every ten seconds in a log.
"""

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from threading import Lock
from typing import Any, TypeVar

from dpbandits.engine.cells import Work
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.engine.play import SEGMENTS_AT_ONCE, kernel_of
from dpbandits.kernels import new_segments

Item = TypeVar("Item")

SECONDS_UNTIL_SHOWN = 2.0
"""What is done sooner shows nothing."""

SECONDS_BETWEEN_LINES = 10.0

_LINE = "{desc}: {n_fmt} of {total_fmt} batches, {elapsed} gone, about {remaining} left"


class _Lines(io.StringIO):
    """Standard error where nothing can be drawn again: each drawing is a line."""

    def write(self, text: str) -> int:
        """Print a drawing as a line."""
        if text.strip():
            print(text.strip(), file=sys.stderr)
        return len(text)


def progress(items: Iterable[Item], title: str, total: int | None = None) -> Iterator[Item]:
    """Pass the items on and show how many are done, of ``total`` where they have no length."""
    # Here: it looks for a notebook when it is imported.
    from tqdm.auto import tqdm

    shown: dict[str, Any] = {"file": sys.stderr}
    if not _is_watched():
        shown = {"file": _Lines(), "mininterval": SECONDS_BETWEEN_LINES, "bar_format": _LINE}
        # Else the last line is said twice.
        shown["leave"] = False
    shown["delay"] = SECONDS_UNTIL_SHOWN
    yield from tqdm(items, total=total, desc=title, miniters=0, **shown)


def announce(title: str) -> None:
    """Say what takes a while and has no countable shares, to whoever watches."""
    if _is_watched():
        print(f"{title} ...", file=sys.stderr)


def _is_watched() -> bool:
    """Return whether someone sees a bar move: at a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


Add = Callable[[int], None]
"""Counts rounds that were played."""

SHARES = 100
"""Equal parts of the rounds, of which the bar has one each."""


@contextmanager
def rounds_shown(title: str, rounds: int) -> Iterator[Add]:
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


class Counted:
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


FEW_ROUNDS = 10**7
"""Rounds of a work that are played without an estimate of the time they take."""

LONG = 60.0
"""Seconds from which on they are announced."""


def announce_time(missing: Sequence[Work], root_seed: int, workers: int, title: str) -> None:
    """Say how long works take, by the pace of their first rounds, where that is over a minute."""
    paced = [
        work
        for work in missing
        if work.rounds > FEW_ROUNDS
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
    # The runs of a Nash curve never skip.
    advance = cell.player.advance if cell.in_lockstep else kernel_of(cell.player, cell.recorded)
    begun = time.perf_counter()
    advance(cell.settings, state, cell.bandit.arrays, generator, out)
    return (time.perf_counter() - begun) * cell.horizon / float(state.clock[0])


def _duration(seconds: float) -> str:
    """Return a time in the largest unit of which it has two, as ``19 hours``."""
    units = {"years": 31_557_600, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
    name, size = next((n, s) for n, s in units.items() if seconds >= 2 * s or s == 1)
    return f"{seconds / size:,.0f} {name}"
