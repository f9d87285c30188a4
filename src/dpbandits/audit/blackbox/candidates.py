"""Events that are tried, with their counts in the runs that rank them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.blackbox.play import Outputs
from dpbandits.audit.blackbox.statistics import Event, Statistic, Values, pulls_until, round_ends

THRESHOLDS = 512
"""Thresholds tried of one statistic; where it has more values, those at even log odds."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """Outputs under x and under x', equally many."""

    x: Outputs
    other: Outputs

    @property
    def count(self) -> int:
        """Number of runs under each table."""
        return len(self.x)

    def split(self) -> tuple["Runs", "Runs"]:
        """Return the first half, for fitting, and the rest, for ranking."""
        half = self.count // 2
        return Runs(self.x[:half], self.other[:half]), Runs(self.x[half:], self.other[half:])


@dataclass(frozen=True)
class Candidates:
    """Some events and how many of the ranking runs belong to each.

    Attributes:
        hits: counts under x and under x', shape (2, events).
        event: number of an event -> the event.
    """

    hits: Counts
    event: Callable[[int], Event]


def thresholds(statistic: Statistic, x: Values, other: Values) -> Candidates:
    """Return the events {statistic at least c} for all telling c.

    Args:
        statistic: the statistic.
        x: its values under x, shape (runs,).
        other: its values under x', shape (runs,).
    """
    pooled = np.sort(np.concatenate([x, other]))
    cuts = np.unique(pooled)[1:]
    if cuts.size > THRESHOLDS:
        odds = np.linspace(-1.0, 1.0, THRESHOLDS) * np.log(pooled.size / 4.0)
        cuts = np.unique(pooled[(pooled.size / (1.0 + np.exp(odds))).astype(int)])
    hits = [values.size - np.searchsorted(np.sort(values), cuts) for values in (x, other)]
    return Candidates(np.array(hits), lambda i: Event(statistic, float(cuts[i]), True))


def of_statistic(statistic: Statistic, ranking: Runs) -> Candidates:
    """Return the thresholds of a statistic, its values computed from the outputs."""
    return thresholds(statistic, statistic.of(ranking.x), statistic.of(ranking.other))


def of_pulls(arm: int, ranking: Runs) -> Iterator[Candidates]:
    """Yield the thresholds on the pulls of an arm up to every round.

    Args:
        arm: the arm whose reward differs, from 0.
        ranking: arms by round.
    """
    x, other = np.zeros((2, ranking.count))
    begin = 0
    for end in round_ends(ranking.x.shape[1]):
        x += (ranking.x[:, begin:end] == arm).sum(axis=1)
        other += (ranking.other[:, begin:end] == arm).sum(axis=1)
        begin = end
        yield thresholds(pulls_until(arm, end), x, other)
