"""The black box: an event is chosen on the first half of the runs and counted on the second."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm
from dpbandits.auditing.events import (
    Candidates,
    Event,
    Runs,
    Statistic,
    classifier_score,
    delta_bound,
    epsilon_bound,
    mu_bound,
    of_prefixes,
    of_pulls,
    of_sequences,
    of_statistic,
    trial_words,
)
from dpbandits.auditing.inputs import Pair
from dpbandits.auditing.mechanisms import Outputs, Plays, Trials
from dpbandits.engine.checks import require_task, settings_of
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import rate_interval

Name = Literal["epsilon", "mu", "delta"]


@dataclass(frozen=True)
class Measure:
    """What is bounded from below.

    Attributes:
        name: ``epsilon``, ``mu`` or ``delta``.
        delta: for epsilon, the delta that it is asked at; 0 for pure differential privacy.
        epsilon: for delta, the epsilon that it is asked at.
    """

    name: Name
    delta: float = 0.0
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        """Raise InputError where the measure is unknown."""
        if self.name not in ("epsilon", "mu", "delta"):
            raise InputError(f"measure is {self.name!r}; allowed: epsilon, mu, delta")

    def bound(self, hits_q: int, runs_q: int, hits_p: int, runs_p: int, level: float) -> float:
        """Return the certified bound; ``bounds`` says what the arguments are."""
        counts = (hits_q, runs_q, hits_p, runs_p)
        if self.name == "mu":
            return mu_bound(*counts, level=level)
        if self.name == "delta":
            return delta_bound(*counts, epsilon=self.epsilon, level=level)
        return epsilon_bound(*counts, delta=self.delta, level=level)

    def rank(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the bounds of many events from both ends, below 0 where nothing is shown."""
        if self.name == "mu":
            # 0 and 1 have no finite quantile, and show nothing here.
            inside = (low > 0.0) & (high < 1.0)
            found = ndtri(np.where(inside, low, 0.5)) - ndtri(np.where(inside, high, 0.5))
            return np.where(inside, found, -1.0)
        if self.name == "delta":
            return np.asarray(low - np.exp(min(self.epsilon, 700.0)) * high)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(low - self.delta, 0.0)) - np.log(high))

    def ceiling(self, runs: int, level: float) -> float:
        """Return the largest bound that so many runs of each table can certify."""
        return self.bound(runs, runs, 0, runs, level)


@dataclass(frozen=True)
class Choice:
    """An event, the table that makes it more likely, and its bound in the runs that chose it.

    ``tried`` counts the events and directions that it is the best of.
    """

    event: Event
    second: bool
    score: float
    tried: int


def choose(
    candidates: Iterable[Candidates], runs: int, measure: Measure, level: float
) -> Choice | None:
    """Return the event and direction of the largest lower bound; the first one of equals.

    Every event is tried with its complement, and in both directions. None where there is no event.

    Args:
        candidates: events with their counts.
        runs: ranking runs under each table.
        measure: what is bounded.
        level: of the ranking bounds.
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


@dataclass(frozen=True)
class Search:
    """The pair of the largest bound in the search.

    Attributes:
        pair: the pair; the first one of equals.
        pairs: pairs tried.
        events: events and directions tried, over all pairs.
    """

    pair: Pair
    pairs: int
    events: int


def search_pair(
    pairs: Iterable[Pair],
    mechanism: Callable[[Pair], Mechanism],
    measure: Measure,
    budget: Budget,
    runs: int,
) -> Search:
    """Return the worst pair found by ``runs`` outputs per table and pair.

    Args:
        pairs: at least one.
        mechanism: pair -> what is played on it.
        measure: what is bounded.
        budget: seed, threads and level.
        runs: outputs per table and pair.
    """
    best, score, number, events = None, float("-inf"), 0, 0
    for pair in pairs:
        number += 1
        choice = choose_event(
            mechanism(pair), SEARCH, runs, measure, replace(budget, runs=max(runs, budget.runs))
        )
        if best is None:
            best = pair
        if choice is not None:
            events += choice.tried
            if choice.score > score:
                best, score = pair, choice.score
    assert best is not None
    return Search(best, number, events)


@dataclass(frozen=True)
class Setting:
    """What is audited: an algorithm with all that its runs depend on but the rewards.

    Attributes:
        definition: the algorithm, of the registry or of the user's own.
        parameters: its validated parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        interpretations: every interpretation with its value.
        arms: number of arms K.
        horizon: number of rounds T, or the budget.
        features: of a best-arm algorithm one row an arm; None for the unit vectors.
    """

    definition: Definition
    parameters: Any
    variant: str
    interpretations: dict[str, str]
    arms: int
    horizon: int
    features: tuple[tuple[float, ...], ...] | None = None

    @property
    def departures(self) -> dict[str, str]:
        """The interpretations that are not the default ones."""
        defaults = self.definition.interpretations
        return {
            key: value for key, value in self.interpretations.items() if value != defaults[key][0]
        }

    def describe(self) -> dict[str, Any]:
        """Return what names the setting in seeds and caches."""
        return {
            "algorithm": self.definition.id,
            "parameters": dict(vars(self.parameters)),
            "interpretations": self.departures,
            "variant": "as-written" if self.definition.presets else self.variant,
            "arms": self.arms,
            "horizon": self.horizon,
            "features": self.features,
        }

    def mechanism(self, pair: Pair, statistics: tuple[Statistic, ...] = ()) -> Mechanism:
        """Return the algorithm on a pair of tables.

        Args:
            pair: the tables.
            statistics: written for the algorithm; tried beside those for every algorithm.

        Raises:
            InputError: parameters, horizon and features do not fit together.
        """
        key = {**self.describe(), "pair": pair.describe()}
        if isinstance(self.definition, IdentificationAlgorithm):
            trials = Trials(
                self.definition,
                self.parameters,
                self.interpretations,
                self.features,
                self.horizon,
                pair,
            )
            require_task(self.definition, trials.task())
            return Mechanism(trials, _recommendations, key)
        assert isinstance(self.definition, Algorithm)
        settings = settings_of(
            self.definition, self.parameters, self.interpretations, self.horizon, self.arms
        )
        plays = Plays(self.definition, settings, self.horizon, pair)
        return Mechanism(plays, sequence_events(self.arms, pair.arm, statistics), key)


def sequence_events(arms: int, arm: int, statistics: tuple[Statistic, ...] = ()) -> Propose:
    """Return the events that are tried on sequences of arms, in a fixed order.

    Args:
        arms: number of arms K.
        arm: the arm whose reward differs, from 0.
        statistics: written for the algorithm.
    """

    def propose(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
        for statistic in statistics:
            yield of_statistic(statistic, ranking)
        yield from of_pulls(arm, ranking)
        yield from of_prefixes(fitting, ranking)
        score = classifier_score(arms, fitting)
        if score is not None:
            yield of_statistic(score, ranking)

    return propose


def _recommendations(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
    """Yield sets of recommended arms, and of recommended arms with the pulls of all arms."""
    place = "arm recommended"
    yield from of_sequences(1, place, lambda output: f"arm {output[0] + 1}", fitting, ranking)
    width = ranking.x.shape[1]
    place = "arm recommended and pulls of arms 1, 2, ..."
    yield from of_sequences(width, place, trial_words, fitting, ranking)
