"""The black box: an event is chosen on the first half of the runs and counted on the second."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import betaincinv

from dpbandits.auditing.events import BACKWARD, FORWARD, Measure, p_value
from dpbandits.auditing.inputs import Pair
from dpbandits.auditing.mechanisms import Outputs
from dpbandits.auditing.statistics import (
    Candidates,
    Runs,
    Statistic,
    Threshold,
    classifier_score,
    of_prefixes,
    of_pulls,
    of_sequences,
    of_statistic,
    trial_words,
)
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import rate_interval


@dataclass(frozen=True)
class Choice:
    """An event, the table that makes it more likely, and its bound in the runs that chose it.

    ``tried`` counts the events and directions that it is the best of.
    """

    event: Threshold
    second: bool
    score: float
    tried: int


def choose(
    candidates: Iterable[Candidates], runs: int, measure: Measure, level: float
) -> Choice | None:
    """Return the event and direction of the largest lower bound; the first one of equals.

    Every event is tried with its complement, and in both directions. None where there is no event.
    """
    best: Choice | None = None
    tried = 0
    for group in candidates:
        if not group.hits.size:
            continue
        hits = np.array([group.hits, runs - group.hits])
        _, low, high = rate_interval(hits, np.full_like(hits, runs), 1.0 - level)
        # Axes: event or complement, direction, event. In direction 1, x' makes it more likely.
        scores = measure.rank(low, high[:, ::-1])
        tried += scores.size
        complement, second, number = np.unravel_index(int(scores.argmax()), scores.shape)
        score = float(scores[complement, second, number])
        if best is None or score > best.score:
            event = group.event(int(number))
            best = Choice(replace(event, at_least=not complement), bool(second), score, 0)
    return None if best is None else replace(best, tried=tried)


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
        measure: what is bounded.
        level: probability that the bound is wrong, at most.
        runs: certifying runs under each table.
        event: the event in words, or ``no event``.
        second: whether x' makes the event more likely.
        hits: certifying runs in the event under x and under x'.
        tried: events and directions that the event was chosen from.
    """

    measure: Measure
    level: float
    runs: int
    event: str = "no event"
    second: bool = False
    hits: tuple[int, int] = (0, 0)
    tried: int = 0

    @property
    def lower(self) -> float:
        """The bound; 0 where nothing is shown."""
        return self._bound(self.level)

    @property
    def ceiling(self) -> float:
        """The largest bound that so many runs can certify."""
        return self.measure.ceiling(self.runs, self.level)

    @property
    def direction(self) -> str:
        """The input that makes the event more likely, over the other one."""
        return FORWARD if self.second else BACKWARD

    @property
    def share(self) -> tuple[float, float]:
        """Shares of certifying runs in the event, under x and under x'."""
        return self.hits[0] / self.runs, self.hits[1] / self.runs

    def p_value(self, claimed: float) -> float:
        """Return the smallest level at which the bound exceeds a claim."""
        return p_value(self._bound, claimed)

    def _bound(self, level: float) -> float:
        more, less = self.hits[self.second], self.hits[not self.second]
        return self.measure.bound(more, less, self.runs, level)

    def log10_errors(self) -> tuple[float, float]:
        """Return log10 of alpha and of beta, each by the median of its Clopper-Pearson bounds."""
        less, missed = self.hits[not self.second], self.runs - self.hits[self.second]
        alpha, beta = (
            betaincinv(hits + 0.5, self.runs - hits + 0.5, 0.5) for hits in (less, missed)
        )
        return float(np.log10(alpha)), float(np.log10(beta))


def parts_of(
    mechanism: Mechanism, purpose: str, second: bool, runs: int, budget: Budget, of: Any
) -> Iterator[Any]:
    """Yield a function of the outputs, part after part, the same for any number of threads."""
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
    """Return a lower bound that is wrong with probability ``budget.level`` at most."""
    half = int(budget.runs) // 2
    runs = int(budget.runs) - half
    choice = choose_event(mechanism, CHOOSE, half, measure, budget)
    if choice is None:
        return Certificate(measure, budget.level, runs)
    hits = [
        sum(parts_of(mechanism, CERTIFY, second, runs, budget, choice.event.count))
        for second in (False, True)
    ]
    words, tried = choice.event.words, choice.tried
    return Certificate(measure, budget.level, runs, words, choice.second, (hits[0], hits[1]), tried)


def worst_pair(
    pairs: Sequence[Pair],
    mechanism: Callable[[Pair], Mechanism],
    measure: Measure,
    budget: Budget,
    runs: int,
) -> tuple[int, int]:
    """Return the place of the pair of the largest bound, and the events tried over all pairs."""
    choices = [choose_event(mechanism(pair), SEARCH, runs, measure, budget) for pair in pairs]
    scores = [choice.score if choice else -math.inf for choice in choices]
    return int(np.argmax(scores)), sum(choice.tried for choice in choices if choice)


def sequence_events(arms: int, arm: int, statistics: tuple[Statistic, ...] = ()) -> Propose:
    """Return the events that are tried on sequences of arms, in a fixed order."""

    def propose(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
        for statistic in statistics:
            yield of_statistic(statistic, ranking)
        yield from of_pulls(arm, ranking)
        yield from of_prefixes(fitting, ranking)
        score = classifier_score(arms, fitting)
        if score is not None:
            yield of_statistic(score, ranking)

    return propose


def recommendation_events(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
    """Yield sets of recommended arms, and of recommended arms with the pulls of all arms."""
    place = "arm recommended"
    yield from of_sequences(1, place, lambda output: f"arm {output[0] + 1}", fitting, ranking)
    width = ranking.x.shape[1]
    place = "arm recommended and pulls of arms 1, 2, ..."
    yield from of_sequences(width, place, trial_words, fitting, ranking)
