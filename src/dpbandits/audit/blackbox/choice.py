"""The choice of one event and one direction by the first half of the runs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpbandits.audit.blackbox.candidates import Candidates
from dpbandits.audit.blackbox.statistics import Event
from dpbandits.audit.bounds import delta_bound, epsilon_bound, mu_bound
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
