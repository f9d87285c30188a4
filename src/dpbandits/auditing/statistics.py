"""The events that the black box tries: thresholds on statistics of outputs, and sets of outputs.

A statistic is fixed before the runs that rank events: written for the algorithm, or fitted to other
runs. Its words and a threshold say in full which outputs belong to an event.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from dpbandits.auditing.events import Values

Counts = NDArray[np.int64]
Outputs = NDArray[Any]
"""One output a row: arms by round, or whatever a mechanism releases; shape (runs, columns)."""

MOST_ROUNDS = 64  # prefixes and weights are named in the words of an event
DIGITS = 3  # of weights, so that the score can be computed from its words


@dataclass(frozen=True)
class Statistic:
    """A number for every output, shape (runs, columns) -> (runs,)."""

    words: str
    of: Callable[[Outputs], Values]
    is_set: bool = False  # whether it is 1 for the members of a set, which the words name, else 0


@dataclass(frozen=True)
class Threshold:
    """The outputs whose statistic is at least a threshold, or the outputs for which it is less."""

    statistic: Statistic
    threshold: float
    at_least: bool = True

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
    return Statistic(words, lambda outputs: np.asarray(outputs[:, number], dtype=np.float64))


def round_ends(horizon: int) -> list[int]:
    """Return the last rounds of the prefixes that are tried: all, or up to 48 at even ratios."""
    if horizon <= 48:
        return list(range(1, horizon + 1))
    ends: list[int] = np.unique(np.geomspace(1, horizon, 48).round().astype(int)).tolist()
    return ends


STATISTICS: Mapping[str, tuple[Callable[[int], Statistic], ...]] = {
    "gdp-ncb": (isolated_pulls,),
    "anytime-gdp-ncb": (isolated_pulls,),
}
"""Algorithm -> (arm whose reward differs) -> statistics for it, whose thresholds come first."""


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
    """Some events, made by number, and how many of the ranking runs belong to each."""

    hits: Counts  # under x and under x', shape (2, events)
    event: Callable[[int], Threshold]


def thresholds(statistic: Statistic, x: Values, other: Values) -> Candidates:
    """Return the events {statistic at least c} for all telling c, or for 512 at even log odds."""
    pooled = np.sort(np.concatenate([x, other]))
    cuts = np.unique(pooled)[1:]
    if cuts.size > 512:
        odds = np.linspace(-1.0, 1.0, 512) * np.log(pooled.size / 4.0)
        cuts = np.unique(pooled[(pooled.size / (1.0 + np.exp(odds))).astype(int)])
    hits = [values.size - np.searchsorted(np.sort(values), cuts) for values in (x, other)]
    return Candidates(np.array(hits), lambda i: Threshold(statistic, float(cuts[i])))


def of_statistic(statistic: Statistic, ranking: Runs) -> Candidates:
    """Return the thresholds of a statistic, its values computed from the outputs."""
    return thresholds(statistic, statistic.of(ranking.x), statistic.of(ranking.other))


def of_pulls(arm: int, ranking: Runs) -> Iterator[Candidates]:
    """Yield the thresholds on the pulls of an arm up to every round.

    "At least j" is the same event as "pull j of the arm is in that round or before".
    """

    def pulled(end: int, outputs: Outputs) -> Values:
        return np.asarray((outputs[:, :end] == arm).sum(axis=1, dtype=np.float64))

    x, other = np.zeros((2, ranking.count))
    begin = 0
    for end in round_ends(ranking.x.shape[1]):
        x += (ranking.x[:, begin:end] == arm).sum(axis=1)
        other += (ranking.other[:, begin:end] == arm).sum(axis=1)
        begin = end
        words = f"pulls of arm {arm + 1} in rounds 1 to {end}"
        yield thresholds(Statistic(words, partial(pulled, end)), x, other)


def arms_words(sequence: Counts) -> str:
    """Return a sequence of arms in words, numbered from 1."""
    return ("" if sequence.max() < 9 else "-").join(str(arm + 1) for arm in sequence)


def trial_words(output: Counts) -> str:
    """Return the output of a best-arm algorithm in words."""
    return f"arm {output[0] + 1} after {' + '.join(map(str, output[1:]))} pulls"


def of_sequences(
    width: int, place: str, words: Callable[[Counts], str], fitting: Runs, ranking: Runs
) -> Iterator[Candidates]:
    """Yield sets of sequences: single ones, and unions in the order of their frequencies' ratio.

    Frequencies are those of the fitting runs. Nothing is yielded where so many are distinct that
    most are seen once or never.
    """
    parts = [part[:, :width] for runs in (fitting, ranking) for part in (runs.x, runs.other)]
    rows = np.concatenate(parts)
    keys, first, which = np.unique(_keys(rows), return_index=True, return_inverse=True)
    if not 1 < keys.size < fitting.count / 50:
        return
    ends = np.cumsum([len(part) for part in parts])[:-1]
    counts = [np.bincount(part, minlength=keys.size) for part in np.split(which.ravel(), ends)]
    sequences, ranked = rows[first].astype(np.int64), np.array(counts[2:])

    def event_of(members: Counts) -> Threshold:
        def of(outputs: Outputs) -> Values:
            inside = np.zeros(len(outputs), np.bool_)
            for member in sequences[members]:
                inside |= (outputs[:, :width] == member).all(axis=1)
            return inside.astype(np.float64)

        listed = ", ".join(map(words, sequences[members]))
        one_of = "one of " if len(members) > 1 else ""
        return Threshold(Statistic(f"{place}: {one_of}{listed}", of, True), 1.0)

    yield Candidates(ranked, lambda i: event_of(np.array([i])))
    # Words of an event name all members. All sequences together are every output.
    most = min(64, keys.size - 1)
    for less, more in ((counts[0], counts[1]), (counts[1], counts[0])):
        order = np.argsort(np.log((less + 0.5) / (more + 0.5)), kind="stable")[:most]
        first_of = partial(lambda order, last: event_of(order[: last + 1]), order)
        yield Candidates(ranked[:, order].cumsum(axis=1), first_of)


def of_prefixes(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
    """Yield sets of prefixes of the arms by round, short enough that words can name them."""
    for end in round_ends(min(ranking.x.shape[1], MOST_ROUNDS)):
        place = f"arms of rounds 1 to {end}"
        yield from of_sequences(end, place, arms_words, fitting, ranking)


def _keys(rows: Outputs) -> NDArray[np.generic]:
    """Return one comparable value a row: a number in the base of the largest entry, if it fits."""
    base, width = int(rows.max()) + 1, rows.shape[1]
    if base**width < 2**63:
        keys = np.zeros(len(rows), np.int64)
        for column in rows.T:
            keys = keys * base + column
        return keys
    whole = np.ascontiguousarray(rows, dtype=np.int32)
    return whole.view(np.dtype((np.void, whole.itemsize * width))).ravel()


def classifier_score(arms: int, fitting: Runs) -> Statistic | None:
    """Return the log odds of x' as fitted to other runs; None where rounds are many."""
    if fitting.x.shape[1] > MOST_ROUNDS:
        return None
    # More runs hardly move the weights.
    outputs = np.concatenate([part[:50_000] for part in (fitting.x, fitting.other)])
    # One column a round and arm but the last, 1 where the arm is pulled in the round.
    pulled = np.stack([outputs == arm for arm in range(arms - 1)], axis=2)
    labels = np.repeat([0.0, 1.0], len(outputs) // 2)
    fitted = fit_weights(pulled.reshape(len(outputs), -1).astype(np.float64), labels)[1:]
    weights = np.round(fitted, DIGITS).reshape(-1, arms - 1)
    named = [(float(weights[n, arm]), n, arm) for n, arm in np.argwhere(weights).tolist()]
    if not named:
        return None

    def of(outputs: Outputs) -> Values:
        score = np.zeros(len(outputs))
        for weight, n, arm in named:
            score += weight * (outputs[:, n] == arm)
        # Sums of rounded weights that are equal compare equal.
        return np.asarray(np.round(score, DIGITS))

    listed = [f"{weight:+g} if arm {arm + 1} in round {n + 1}" for weight, n, arm in named]
    return Statistic(f"score {', '.join(listed)}", of)


def column_score(labels: Sequence[str], fitting: Runs) -> Statistic | None:
    """Return the same of outputs that are numbers, with weights for columns; None if it is flat."""
    rows = np.concatenate([fitting.x, fitting.other]).astype(np.float64)
    spread = rows.std(axis=0)
    if not (np.isfinite(spread) & (spread > 0.0)).all():
        return None
    classes = np.repeat([0.0, 1.0], fitting.count)
    fitted = fit_weights((rows - rows.mean(axis=0)) / spread, classes)[1:] / spread
    weights = [float(f"{weight:.{DIGITS}g}") for weight in fitted]
    if not any(weights):
        return None

    def of(outputs: Outputs) -> Values:
        return np.asarray(outputs.astype(np.float64) @ np.array(weights))

    listed = [f"{weight:+g} {name}" for weight, name in zip(weights, labels, strict=True) if weight]
    return Statistic(f"score {' '.join(listed)}", of)


def fit_weights(features: Values, labels: Values) -> Values:
    """Return the constant and the weights of a logistic regression with a small ridge."""
    design, ridge = np.column_stack([np.ones(len(features)), features]), 1e-3

    def loss(weights: Values) -> tuple[float, Values]:
        scores = design @ weights
        value = float(np.mean(np.logaddexp(0.0, scores) - labels * scores))
        gradient = design.T @ (expit(scores) - labels) / len(labels)
        return value + ridge * float(weights @ weights) / 2.0, gradient + ridge * weights

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def sequence_events(
    arms: int, arm: int, statistics: Iterable[Statistic] = ()
) -> Callable[[Runs, Runs], Iterator[Candidates]]:
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
    place = "arm recommended and pulls of arms 1, 2, ..."
    yield from of_sequences(ranking.x.shape[1], place, trial_words, fitting, ranking)
