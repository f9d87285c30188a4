"""The black box: any function that makes outputs, audited by how often one event happens.

The event is chosen on the first half of the runs and counted on the second, in streams apart.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from dpbandits.auditing.events import BACKWARD, FORWARD, Measure, p_value
from dpbandits.auditing.statistics import (
    Candidates,
    Outputs,
    Runs,
    Threshold,
    column,
    column_score,
    of_sequences,
    of_statistic,
)
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.errors import InputError, require_count, user_code
from dpbandits.metrics.intervals import rate_interval

COUNTEREXAMPLE = "counterexample"
NOT_CONTRADICTED = "not contradicted"
NOTHING_CLAIMED = "nothing claimed"

PLACE = "audit_mechanism"

TOGETHER = 1 << 15
"""Runs that draw from one stream, one after the other. Each such part is made by one thread."""

RANKING_LEVEL = 1e-4
"""Level of the lower bounds that rank events.

Ranking at the certificate's 0.05 would choose rare events that were lucky, and fresh runs would not
confirm them: of the Gaussian mechanism at 1e6 runs, 0.79 was certified of 1 at
worst in 20 seeds, against 0.986 at this level.
"""

SEARCH, CHOOSE, CERTIFY = "search", "choose", "certify"
"""What streams are for. Runs of one are never used for another."""

Sample = Callable[[Any, np.random.Generator, int], ArrayLike]
"""(input, generator, n) -> n outputs, shape (n,) or (n, columns)."""

Propose = Callable[[Runs, Runs], Iterable[Candidates]]
"""(runs to fit statistics to, runs to rank events by) -> events with their counts in the latter."""


@dataclass(frozen=True)
class Budget:
    """How many outputs of each input, half of which choose the event, and how they are used."""

    runs: int
    level: float = 0.05
    seed: int = 0
    workers: int = 1
    search_runs: int = 20_000

    def __post_init__(self) -> None:
        """Raise InputError where a number is out of range."""
        for key in ("runs", "search_runs"):
            object.__setattr__(self, key, require_count(key, getattr(self, key), 8, 10**10))
        object.__setattr__(self, "seed", require_count("seed", self.seed, 0))
        object.__setattr__(self, "workers", require_count("workers", self.workers, 1))
        if not isinstance(self.level, Real) or not 0.0 < self.level < 1.0:
            raise InputError(f"level is {self.level!r}; allowed: strictly between 0 and 1")
        object.__setattr__(self, "level", float(self.level))


@dataclass(frozen=True)
class Mechanism:
    """What is audited on which inputs, by which events; ``key`` names its random streams."""

    sample: Sample
    inputs: tuple[Any, Any]
    propose: Propose
    key: Any

    def parts(
        self, purpose: str, second: bool, runs: int, budget: Budget, of: Callable[[Outputs], Any]
    ) -> Iterator[Any]:
        """Yield a function of the outputs, part by part, the same for any number of threads."""
        key = stream_key({"audit": self.key, "for": purpose, "table": "x'" if second else "x"})

        def part(number: int) -> Any:
            size = min(TOGETHER, runs - number * TOGETHER)
            generator = run_generator(budget.seed, key, number)
            with user_code(PLACE, "sample"):
                outputs = np.asarray(self.sample(self.inputs[second], generator, size))
            return of(_checked(outputs, size))

        # Threads: kernels release the interpreter, and nothing is compiled twice.
        tasks = (delayed(part)(number) for number in range(-(-runs // TOGETHER)))
        yield from Parallel(n_jobs=budget.workers, prefer="threads", return_as="generator")(tasks)

    def outputs(self, purpose: str, runs: int, budget: Budget) -> Runs:
        """Return that many outputs of either input."""
        both = (self.parts(purpose, second, runs, budget, np.asarray) for second in (False, True))
        return Runs(*(np.concatenate(list(parts)) for parts in both))


def _checked(outputs: NDArray[Any], n: int) -> Outputs:
    """Return outputs with one row each; InputError unless they are n rows of numbers."""
    kind = outputs.dtype.kind
    is_table = outputs.ndim in (1, 2) and len(outputs) == n and outputs.size > 0
    if not is_table or kind not in "biuf" or (kind == "f" and np.isnan(outputs).any()):
        raise InputError(
            f"{PLACE}: sample returns {outputs.dtype} of shape {outputs.shape} for n = {n}; "
            f"allowed: numbers of shape ({n},) or ({n}, columns)"
        )
    outputs = outputs.astype(np.int64) if kind == "b" else outputs
    return outputs[:, None] if outputs.ndim == 1 else outputs


@dataclass(frozen=True)
class Choice:
    """An event, the input that makes it more likely, and its bound in the runs that chose it."""

    event: Threshold
    second: bool
    score: float
    tried: int  # events and directions that it is the best of


def choose(
    candidates: Iterable[Candidates], runs: int, measure: Measure, level: float
) -> Choice | None:
    """Return the event and direction of the largest lower bound; the first one of equals.

    Every event is tried with its complement, and in both directions. None where there is no event.
    """
    choices = []
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
        event = replace(group.event(int(number)), at_least=not complement)
        choices.append(Choice(event, bool(second), float(scores[complement, second, number]), 0))
    best = max(choices, key=lambda choice: choice.score, default=None)
    return None if best is None else replace(best, tried=tried)


def choose_event(
    mechanism: Mechanism, purpose: str, runs: int, measure: Measure, budget: Budget
) -> Choice | None:
    """Return the best event by runs of a purpose: half fit statistics, half rank events."""
    fitting, ranking = mechanism.outputs(purpose, runs, budget).split()
    return choose(mechanism.propose(fitting, ranking), ranking.count, measure, RANKING_LEVEL)


@dataclass(frozen=True)
class MechanismAudit:
    """A certified lower bound on the privacy loss of a mechanism.

    Attributes:
        measure: what is bounded.
        claimed: what is claimed of it.
        level: probability that the bound is wrong, at most.
        runs: certifying runs of each input.
        event: outputs that show the loss, in words, or ``no event``.
        second: whether x' makes the event more likely.
        hits: certifying runs in the event under x and under x'.
        tried: events and directions that were tried, on other runs.
    """

    measure: Measure
    claimed: float
    level: float
    runs: int
    event: str = "no event"
    second: bool = False
    hits: tuple[int, int] = (0, 0)
    tried: int = 0

    @property
    def lower(self) -> float:
        """The loss is at least this; 0 where nothing is shown."""
        return self._bound(self.level)

    @property
    def ceiling(self) -> float:
        """The largest bound that so many runs can certify."""
        return self.measure.bound(self.runs, 0, self.runs, self.level)

    @property
    def confidence(self) -> float:
        """Chance that the bound is correct, at least."""
        return 1.0 - self.level

    @property
    def more_likely(self) -> str:
        """The input that makes the event more likely, ``x`` or ``x'``."""
        return "x'" if self.second else "x"

    @property
    def direction(self) -> str:
        """The same, over the other one."""
        return FORWARD if self.second else BACKWARD

    @property
    def share(self) -> tuple[float, float]:
        """Shares of certifying runs in the event, under x and under x'."""
        return self.hits[0] / self.runs, self.hits[1] / self.runs

    @property
    def p_value(self) -> float:
        """Smallest level at which the bound exceeds the claim, for a family of audits."""
        return p_value(self._bound, self.claimed)

    @property
    def verdict(self) -> str:
        """Whether the claim is exceeded at the audit's own level, in one of three words."""
        if math.isinf(self.claimed):
            return NOTHING_CLAIMED
        return COUNTEREXAMPLE if self.lower > self.claimed else NOT_CONTRADICTED

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

    def __str__(self) -> str:
        """Return all of it in a few lines."""
        at = f" at delta = {self.measure.delta:g}" if self.measure.delta else ""
        return (
            f"{self.measure.name} >= {self.lower:.6g}{at} with confidence {self.confidence:g}; "
            f"claimed: {self.claimed:g}; verdict: {self.verdict}\n"
            f"event, more likely under {self.more_likely}: {self.event}\n"
            f"shares of runs: {self.share[0]:.6g} under x, {self.share[1]:.6g} under x'\n"
            f"tried: {self.tried} events; {self.runs} runs of each input certify "
            f"{self.ceiling:.6g} at most"
        )


def audit_mechanism(
    sample: Sample,
    x: Any,
    x_prime: Any,
    *,
    claim: float,
    delta: float = 0.0,
    runs: int = 100_000,
    level: float = Budget.level,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    names: Sequence[str] = (),
    measure: Measure | None = None,
    events: Propose | None = None,
    key: Any = "a function",
) -> MechanismAudit:
    """Return a certified lower bound on the epsilon of any function that releases numbers.

    Events are thresholds on each column of the outputs and, where there are several, on a score
    fitted to some of the runs; of whole numbers from 0 on also sets of outputs. Half of the runs
    choose one event, the other half certify it. A bound below the claim proves nothing.

    Args:
        sample: ``sample(input, rng, n)`` returns n independent outputs as an array of shape (n,)
            or (n, columns), drawn from the ``numpy.random.Generator`` alone.
        x: an input, handed to ``sample`` as it is.
        x_prime: its neighbour.
        claim: the epsilon that is claimed, at least 0.
        delta: at which it is claimed; 0 for pure differential privacy.
        runs: outputs of each input, at least 8.
        level: probability that the bound is wrong, at most.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
        names: of the columns, in the words of events.
        measure: what is bounded and claimed in the place of epsilon at ``delta``.
        events: proposes the events that are tried in the place of those above.
        key: names the random streams, beside the seed.

    Raises:
        InputError: an argument is not allowed, or ``sample`` fails or returns no such array.

    Example:
        >>> import dpbandits
        >>> def laplace(total, rng, n):
        ...     return total + rng.laplace(scale=1.0, size=n)
        >>> found = dpbandits.audit_mechanism(laplace, 0.0, 1.0, claim=0.5, runs=20_000)
        >>> found.verdict, found.lower < 1.0
        ('counterexample', True)
    """
    if not callable(sample):
        raise InputError(f"{PLACE}: sample is {sample!r}; allowed: a function")
    for name, value, most in (("claim", claim, math.inf), ("delta", delta, 1.0)):
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value <= most:
            raise InputError(f"{PLACE}: {name} is {value!r}; allowed: 0 to {most:g}")
    mechanism = Mechanism(sample, (x, x_prime), events or column_events(names), key)
    measure = measure or Measure("epsilon", delta=float(delta))
    return certify(mechanism, float(claim), measure, Budget(runs, level, seed, workers))


def certify(mechanism: Mechanism, claim: float, measure: Measure, budget: Budget) -> MechanismAudit:
    """Return the audit of one mechanism: half of the runs choose an event, the others count it."""
    half = budget.runs // 2
    runs = budget.runs - half
    choice = choose_event(mechanism, CHOOSE, half, measure, budget)
    found = MechanismAudit(measure, claim, budget.level, runs)
    if choice is None:
        return found
    event, second, tried = choice.event, choice.second, choice.tried
    x, other = (
        sum(mechanism.parts(CERTIFY, changed, runs, budget, event.count))
        for changed in (False, True)
    )
    return replace(found, event=event.words, second=second, hits=(x, other), tried=tried)


def column_events(names: Sequence[str] = ()) -> Propose:
    """Return the events that are tried on numbers that are released, in a fixed order."""

    def propose(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
        columns = fitting.x.shape[1]
        labels = list(names) or [f"output {number + 1}" for number in range(columns)]
        if len(labels) != columns:
            raise InputError(f"{PLACE}: names are {labels}; allowed: {columns}, one a column")
        for number, words in enumerate(labels):
            yield of_statistic(column(number, words), ranking)
        score = column_score(labels, fitting) if columns > 1 else None
        if score is not None:
            yield of_statistic(score, ranking)
        parts = (fitting.x, fitting.other, ranking.x, ranking.other)
        if all(part.dtype.kind in "iu" and part.min() >= 0 for part in parts):
            yield from of_sequences(columns, ", ".join(labels), str, fitting, ranking)

    return propose
