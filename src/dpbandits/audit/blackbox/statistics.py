"""Quantities of an output whose thresholds are the events that an audit tries.

A statistic is fixed before the runs that rank events: written for the algorithm, or fitted to other
runs. Its words and a threshold say in full which outputs belong to an event.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.blackbox.play import Outputs

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Statistic:
    """A number for every output.

    Attributes:
        words: what it is, such as ``the pulls of arm 1 in rounds 1 to 9``.
        of: outputs, shape (runs, columns) -> values, shape (runs,).
        is_set: whether it only tells members of a set of outputs, which ``words`` names (value 1),
            from all others (value 0).
    """

    words: str
    of: Callable[[Outputs], Values]
    is_set: bool = False


@dataclass(frozen=True)
class Event:
    """The outputs whose statistic is at least a threshold, or the outputs for which it is less."""

    statistic: Statistic
    threshold: float
    at_least: bool

    @property
    def words(self) -> str:
        """The event in words that can be checked by hand."""
        if self.statistic.is_set:
            return self.statistic.words if self.at_least else f"not: {self.statistic.words}"
        side = "at least" if self.at_least else "less than"
        return f"{self.statistic.words}: {side} {self.threshold:.17g}"

    def count(self, outputs: Outputs) -> int:
        """Return how many outputs belong to the event."""
        inside = int((self.statistic.of(outputs) >= self.threshold).sum())
        return inside if self.at_least else len(outputs) - inside


def pulls_until(arm: int, end: int) -> Statistic:
    """Return the pulls of an arm in rounds 1 to ``end``, both counted from 1 in words.

    "At least j" is the same event as "pull j of the arm is in round ``end`` or before".
    """

    def of(outputs: Outputs) -> Values:
        return np.asarray((outputs[:, :end] == arm).sum(axis=1, dtype=np.float64))

    return Statistic(f"pulls of arm {arm + 1} in rounds 1 to {end}", of)


def isolated_pulls(arm: int) -> Statistic:
    """Return the pulls of an arm up to the last pull whose neighbours are other arms; -1 for none.

    For GDP-NCB as written, where an isolated pull shows that Phase I still runs.
    """

    def of(outputs: Outputs) -> Values:
        before = np.cumsum(outputs == arm, axis=1)
        middle = outputs[:, 1:-1]
        alone = (middle != outputs[:, :-2]) & (middle != outputs[:, 2:])
        last = alone.shape[1] - 1 - alone[:, ::-1].argmax(axis=1)
        pulls = np.take_along_axis(before, last[:, None] + 1, axis=1)[:, 0]
        return np.where(alone.any(axis=1), pulls, -1).astype(np.float64)

    return Statistic(
        f"pulls of arm {arm + 1} up to the last pull with another arm before and after it", of
    )


def column(number: int, words: str) -> Statistic:
    """Return one column of the outputs, for mechanisms that release numbers."""

    def of(outputs: Outputs) -> Values:
        return np.asarray(outputs[:, number], dtype=np.float64)

    return Statistic(words, of)


def round_ends(horizon: int, most: int = 48) -> list[int]:
    """Return the last rounds of the prefixes that are tried: all, or ``most`` at even ratios."""
    if horizon <= most:
        return list(range(1, horizon + 1))
    ends = np.unique(np.geomspace(1, horizon, most).round().astype(int))
    return [int(end) for end in ends]


STATISTICS: Mapping[str, tuple[Callable[[int], Statistic], ...]] = {
    "gdp-ncb": (isolated_pulls,),
    "anytime-gdp-ncb": (isolated_pulls,),
}
"""Algorithm -> (arm whose reward differs) -> statistics for it, whose thresholds come first."""
