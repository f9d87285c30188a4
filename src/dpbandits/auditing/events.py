"""Events, and the lower bounds on a privacy loss that they show: exactly, or from counts.

The law of the output is P under x and Q under its neighbour x'. An event shows
epsilon >= ln((Q(E) - delta) / P(E)), mu >= z(P(E)) - z(Q(E)) with z(p) the (1 - p)-quantile of the
standard normal law (no test separates the inputs of a mu-GDP mechanism better than N(0, 1) from
N(mu, 1)), and delta >= Q(E) - exp(epsilon) P(E); or the same with P and Q exchanged.

Bounds from counts: the event and its direction must be chosen without the counted runs. Each bound
uses a lower end for the likelier law and an upper end for the other one by Clopper and Pearson
(1934), each of which is missed with probability level/2 at most; by the union bound the statement
is wrong with probability ``level`` at most, for any number of runs and any laws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, ndtri_exp

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import rate_interval

Values = NDArray[np.float64]

FORWARD, BACKWARD = "x' over x", "x over x'"
"""Direction: the input that makes an event more likely, over the other one."""

LOG10 = math.log(10.0)

LOG10_OBSERVABLE, LN_OBSERVABLE = -6.0, math.log(1e-6)
"""Logarithms of the chance from which on an event is called observable."""


@dataclass(frozen=True)
class Event:
    """An event and the logs of its chances under x and x', exact or bounds on them."""

    words: str
    log_p: float
    log_q: float
    log_shared: float = 0.0  # of a factor of both chances, such as that of given arms
    place: tuple[float, ...] = ()  # its maker's numbers for it

    @property
    def direction(self) -> str:
        """The input that makes it more likely, over the other one."""
        return BACKWARD if self.log_p > self.log_q else FORWARD

    @property
    def log_unlikely(self) -> float:
        """Ln of its smaller chance."""
        return min(self.log_p, self.log_q) + self.log_shared

    @property
    def log_likely(self) -> float:
        """Ln of its larger chance."""
        return max(self.log_p, self.log_q) + self.log_shared

    @property
    def epsilon(self) -> float:
        """The loss that it shows; infinite where one input makes it impossible."""
        return 0.0 if self.log_p == self.log_q else abs(self.log_q - self.log_p)

    @property
    def mu(self) -> float:
        """The mu that it shows."""
        if self.log_p == self.log_q:
            return 0.0
        found = ndtri_exp(self.log_likely) - ndtri_exp(self.log_unlikely)
        return max(float(found), 0.0)

    def delta(self, epsilon: float) -> float:
        """Return the delta that it shows at an epsilon."""
        likely, grown = self.log_likely, min(epsilon + self.log_unlikely, 1.0)
        return max(math.exp(likely) - math.exp(grown), 0.0)

    @property
    def log10_errors(self) -> tuple[float, float]:
        """Log10 of its smaller chance, and of that of its complement under the other input."""
        missed = -math.expm1(min(self.log_likely, 0.0))
        return self.log_unlikely / LOG10, math.log10(missed) if missed > 0.0 else -math.inf


@dataclass(frozen=True)
class Measure:
    """What is bounded from below."""

    name: Literal["epsilon", "mu", "delta"]
    delta: float = 0.0  # that epsilon is asked at; 0 for pure differential privacy
    epsilon: float = 0.0  # that delta is asked at

    def __post_init__(self) -> None:
        """Raise InputError where the measure is unknown, or a number out of range."""
        if self.name not in ("epsilon", "mu", "delta"):
            raise InputError(f"measure is {self.name!r}; allowed: epsilon, mu, delta")
        if not 0.0 <= self.delta <= 1.0 or not self.epsilon >= 0.0:
            raise InputError(
                f"measure: delta is {self.delta!r} and epsilon {self.epsilon!r}; allowed: delta "
                "from 0 to 1, epsilon 0 or above"
            )

    def of(self, event: Event) -> float:
        """Return what an event shows; epsilon is that of pure privacy, whatever ``delta`` is."""
        return event.delta(self.epsilon) if self.name == "delta" else getattr(event, self.name)

    def bound(self, hits_q: int, hits_p: int, runs: int, level: float = 0.05) -> float:
        """Return what runs in the event show, under the likelier input and under the other one."""
        low, _ = clopper_pearson(hits_q, runs, level)
        _, high = clopper_pearson(hits_p, runs, level)
        return max(float(self.rank(np.array([low]), np.array([high]))[0]), 0.0)

    def rank(self, low: Values, high: Values) -> Values:
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


EPSILON, MU = Measure("epsilon"), Measure("mu")


def clopper_pearson(hits: int, runs: int, level: float) -> tuple[float, float]:
    """Return a lower and an upper bound on a chance, each missed with chance level/2 at most."""
    _, low, high = rate_interval(hits, runs, 1.0 - level)
    return float(low), float(high)


def halved(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return where a condition that holds at first ceases to hold, from below and from above."""
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def p_value(bound: Callable[[float], float], claimed: float) -> float:
    """Return the smallest level at which a bound exceeds the claim: a p-value; 1 for no claim."""
    if not bound(1.0 - 1e-9) > claimed:
        return 1.0
    return math.exp(halved(lambda log: not bound(math.exp(log)) > claimed, -700.0, 0.0)[1])
