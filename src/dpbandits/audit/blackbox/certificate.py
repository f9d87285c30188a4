"""Choose an event on the first half of the runs, count it on the second half, certify a bound."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import betaincinv

from dpbandits.audit.blackbox.candidates import Candidates, Runs
from dpbandits.audit.blackbox.choice import Choice, Measure, choose
from dpbandits.audit.blackbox.play import Outputs
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.errors import InputError

TOGETHER = 1 << 15
"""Runs that draw from one stream, one after the other. Each such part is made by one thread."""

SMALLEST_RUNS = 8

RANKING_LEVEL = 1e-4
"""Level of the lower bounds that rank events.

The best of thousands of bounds is the luckiest. At the certificate's 0.05 it is often a rare event
of little value in fresh runs: of the Gaussian mechanism at 1e6 runs, 0.79 was certified of 1 at
worst in 20 seeds, against 0.986 at this level.
"""

Play = Callable[[bool, np.random.Generator, int], Outputs]
"""(whether x' is played, stream, runs) -> outputs, one row a run."""

Propose = Callable[[Runs, Runs], Iterable[Candidates]]
"""(runs to fit statistics to, runs to rank events by) -> events with their counts in the latter."""

SEARCH, CHOOSE, CERTIFY = "search", "choose", "certify"
"""What streams are for. Runs of one are never used for another."""


@dataclass(frozen=True)
class Mechanism:
    """What is audited as a black box.

    Attributes:
        play: makes outputs of either table.
        propose: events that are tried.
        key: canonical description that names its random streams.
    """

    play: Play
    propose: Propose
    key: Any

    def stream(self, purpose: str, second: bool) -> int:
        """Return the key of the stream of one purpose and table."""
        return stream_key({"audit": self.key, "for": purpose, "table": "x'" if second else "x"})


@dataclass(frozen=True)
class Budget:
    """How much is played.

    Attributes:
        runs: outputs per table, at least 8; half of them choose the event.
        level: probability that the certified bound is wrong, at most; strictly between 0 and 1.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
    """

    runs: int
    level: float = 0.05
    seed: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        """Raise InputError where a number is out of range."""
        if isinstance(self.runs, bool) or not isinstance(self.runs, int | np.integer):
            raise InputError(f"runs is {self.runs!r}; allowed: an integer")
        if not SMALLEST_RUNS <= self.runs <= 10**10:
            raise InputError(f"runs is {self.runs}; allowed: {SMALLEST_RUNS} to {10**10}")
        if not 0.0 < self.level < 1.0:
            raise InputError(f"level is {self.level!r}; allowed: strictly between 0 and 1")


@dataclass(frozen=True)
class Certificate:
    """A certified lower bound.

    Attributes:
        lower: the bound; 0 where nothing is shown.
        event: the event in words, or ``no event``.
        second: whether x' makes the event more likely.
        hits: certifying runs in the event under x and under x'.
        runs: certifying runs under each table.
        tried: events and directions that the event was chosen from.
        ceiling: the largest bound that so many runs can certify.
    """

    lower: float
    event: str
    second: bool
    hits: tuple[int, int]
    runs: int
    tried: int
    ceiling: float

    def ordered(self) -> tuple[int, int, int, int]:
        """Return the arguments of a bound: hits and runs of the likelier table, then the other."""
        return self.hits[self.second], self.runs, self.hits[not self.second], self.runs

    def log10_errors(self) -> tuple[float, float]:
        """Return log10 of alpha and of beta, each by the median of its Clopper-Pearson bounds."""
        more, runs, less, _ = self.ordered()
        alpha, missed = (
            betaincinv(hits + 0.5, runs - hits + 0.5, 0.5) for hits in (less, runs - more)
        )
        return float(np.log10(alpha)), float(np.log10(missed))


def parts_of(
    mechanism: Mechanism, purpose: str, second: bool, runs: int, budget: Budget, of: Any
) -> Iterator[Any]:
    """Yield a function of the outputs, part after part, the same for any number of threads.

    Args:
        mechanism: what is played.
        purpose: of the streams.
        second: whether x' is played.
        runs: number of outputs.
        budget: seed and threads.
        of: the function, called in the thread that has played the part.
    """
    key = mechanism.stream(purpose, second)

    def part(number: int) -> Any:
        size = min(TOGETHER, runs - number * TOGETHER)
        return of(mechanism.play(second, run_generator(budget.seed, key, number), size))

    # Threads: kernels release the interpreter, and nothing is compiled twice.
    tasks = (delayed(part)(number) for number in range(-(-runs // TOGETHER)))
    yield from Parallel(n_jobs=budget.workers, prefer="threads", return_as="generator")(tasks)


def outputs_of(mechanism: Mechanism, purpose: str, runs: int, budget: Budget) -> Runs:
    """Return that many outputs under either table."""
    parts = [
        np.concatenate(list(parts_of(mechanism, purpose, second, runs, budget, np.asarray)))
        for second in (False, True)
    ]
    return Runs(*parts)


def choose_event(
    mechanism: Mechanism, purpose: str, runs: int, measure: Measure, budget: Budget
) -> Choice | None:
    """Return the best event by runs of a purpose: half fit statistics, half rank events."""
    fitting, ranking = outputs_of(mechanism, purpose, runs, budget).split()
    return choose(mechanism.propose(fitting, ranking), ranking.count, measure, RANKING_LEVEL)


def certify(mechanism: Mechanism, measure: Measure, budget: Budget) -> Certificate:
    """Return a lower bound that is wrong with probability ``budget.level`` at most.

    Args:
        mechanism: what is played.
        measure: what is bounded.
        budget: runs, level, seed, threads.
    """
    half = int(budget.runs) // 2
    runs = int(budget.runs) - half
    ceiling = measure.ceiling(runs, budget.level)
    choice = choose_event(mechanism, CHOOSE, half, measure, budget)
    if choice is None:
        return Certificate(0.0, "no event", False, (0, 0), runs, 0, ceiling)
    counts = [
        sum(parts_of(mechanism, CERTIFY, second, runs, budget, choice.event.count))
        for second in (False, True)
    ]
    hits = (counts[0], counts[1])
    q, p = hits[choice.second], hits[not choice.second]
    lower = measure.bound(q, runs, p, runs, budget.level)
    return Certificate(lower, choice.event.words, choice.second, hits, runs, choice.tried, ceiling)
