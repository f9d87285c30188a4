"""Events that an audit tries, and certified lower bounds on a privacy loss from their counts.

Bounds: the event and its direction must be chosen without the counted runs. Q is the law under
which the event is more likely. Each statement uses a lower end for Q(E) and an upper end for P(E)
by Clopper and Pearson (1934), each of which is missed with probability level/2 at most; by the
union bound the statement is wrong with probability ``level`` at most, for any number of runs and
any laws.

A statistic is fixed before the runs that rank events: written for the algorithm, or fitted to other
runs. Its words and a threshold say in full which outputs belong to an event.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from dpbandits.auditing.mechanisms import Outputs
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import rate_interval


def clopper_pearson(hits: int, runs: int, level: float) -> tuple[float, float]:
    """Return a lower and an upper bound on a probability.

    Args:
        hits: runs in which the event occurred, 0 to ``runs``.
        runs: independent runs, at least 1.
        level: each bound is missed with probability level/2 at most; strictly between 0 and 1.

    Raises:
        InputError: an argument is outside its range.
    """
    if runs < 1 or not 0 <= hits <= runs:
        raise InputError(f"hits is {hits} of {runs} runs; allowed: 0 to runs, with runs >= 1")
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level!r}; allowed: strictly between 0 and 1")
    _, low, high = rate_interval(hits, runs, 1.0 - level)
    return float(low), float(high)


def epsilon_bound(
    hits_q: int, runs_q: int, hits_p: int, runs_p: int, *, delta: float = 0.0, level: float = 0.05
) -> float:
    """Return a lower bound on epsilon at delta: ln((Q(E) - delta) / P(E)), 0 if negative.

    Args:
        hits_q: runs in the event under Q, the input that makes it more likely.
        runs_q: runs under Q.
        hits_p: runs in the event under P.
        runs_p: runs under P.
        delta: from 0 to 1, 1 excluded; 0 for pure differential privacy.
        level: probability that the statement is wrong, at most.

    Raises:
        InputError: an argument is outside its range.
    """
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta is {delta!r}; allowed: from 0 to 1, 1 excluded")
    low, high = _ends(hits_q, runs_q, hits_p, runs_p, level)
    return max(math.log(low - delta) - math.log(high), 0.0) if low > delta else 0.0


def mu_bound(hits_q: int, runs_q: int, hits_p: int, runs_p: int, *, level: float = 0.05) -> float:
    """Return a lower bound on mu of Gaussian differential privacy: z(P(E)) - z(Q(E)).

    z(p) is the (1 - p)-quantile of the standard normal law; the bound is 0 if negative. mu-GDP
    says that no test separates the inputs better than N(0, 1) from N(mu, 1).

    Args:
        hits_q: as in ``epsilon_bound``, likewise the others.
        runs_q: runs under Q.
        hits_p: runs in the event under P.
        runs_p: runs under P.
        level: probability that the statement is wrong, at most.

    Raises:
        InputError: an argument is outside its range.
    """
    low, high = _ends(hits_q, runs_q, hits_p, runs_p, level)
    return max(float(ndtri(low) - ndtri(high)), 0.0) if low > 0.0 and high < 1.0 else 0.0


def delta_bound(
    hits_q: int, runs_q: int, hits_p: int, runs_p: int, *, epsilon: float, level: float = 0.05
) -> float:
    """Return a lower bound on delta at epsilon: Q(E) - exp(epsilon) P(E), 0 if negative.

    Args:
        hits_q: as in ``epsilon_bound``, likewise the others.
        runs_q: runs under Q.
        hits_p: runs in the event under P.
        runs_p: runs under P.
        epsilon: 0 or above.
        level: probability that the statement is wrong, at most.

    Raises:
        InputError: an argument is outside its range.
    """
    if not epsilon >= 0.0:
        raise InputError(f"epsilon is {epsilon!r}; allowed: 0 or above")
    low, high = _ends(hits_q, runs_q, hits_p, runs_p, level)
    # Written so that a large epsilon cannot overflow.
    excess = -math.expm1(min(epsilon + math.log(high) - math.log(low), 1.0)) if low > 0.0 else 0.0
    return max(low * excess, 0.0)


def p_value(bound: Callable[[float], float], claimed: float) -> float:
    """Return the smallest level at which a bound exceeds what is claimed.

    It is a p-value of the hypothesis that the claim is true, since a bound at a level is wrong with
    at most that probability. The family-wise level over an audit then follows from
    `dpbandits.claims.verdict.holm_levels`.

    Args:
        bound: level -> lower bound, one of the bounds above at fixed counts.
        claimed: 0 or above; infinity gives 1.
    """
    if not bound(1.0 - 1e-9) > claimed:
        return 1.0
    low, high = -700.0, 0.0
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (low, middle) if bound(math.exp(middle)) > claimed else (middle, high)
    return math.exp(high)


def _ends(hits_q: int, runs_q: int, hits_p: int, runs_p: int, level: float) -> tuple[float, float]:
    """Return the lower end of Q(E) and the upper end of P(E)."""
    return clopper_pearson(hits_q, runs_q, level)[0], clopper_pearson(hits_p, runs_p, level)[1]


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


DISTINCT_SHARE = 50
"""Distinct sequences are fewer than the runs over so many: of more, most are seen once or never."""

MEMBERS = 64
"""Largest set of sequences, so that the words of an event name them all."""

Words = Callable[[NDArray[np.int64]], str]
Sequences = NDArray[np.int64]


def arms_words(sequence: Sequences) -> str:
    """Return a sequence of arms in words, numbered from 1."""
    return ("" if sequence.max() < 9 else "-").join(str(arm + 1) for arm in sequence)


def trial_words(output: Sequences) -> str:
    """Return the output of a best-arm algorithm in words."""
    return f"arm {output[0] + 1} after {' + '.join(map(str, output[1:]))} pulls"


def of_sequences(
    width: int, place: str, words: Words, fitting: Runs, ranking: Runs
) -> Iterator[Candidates]:
    """Yield sets of sequences: single ones, and unions in the order of their frequencies' ratio.

    Frequencies are those of the fitting runs. Nothing is yielded where too many are distinct.

    Args:
        width: number of columns that make a sequence.
        place: what the columns are in words, such as ``arms of rounds 1 to 4``.
        words: a sequence -> the sequence in words.
        fitting: outputs that the sets are made from.
        ranking: outputs that rank them.
    """
    parts = [part[:, :width] for runs in (fitting, ranking) for part in (runs.x, runs.other)]
    rows = np.concatenate(parts)
    keys, first, which = np.unique(_keys(rows), return_index=True, return_inverse=True)
    if not 1 < keys.size < fitting.count / DISTINCT_SHARE:
        return
    ends = np.cumsum([len(part) for part in parts])[:-1]
    counts = [np.bincount(part, minlength=keys.size) for part in np.split(which.ravel(), ends)]
    sequences, ranked = rows[first].astype(np.int64), np.array(counts[2:])

    def event_of(members: Sequences) -> Event:
        return Event(members_of(width, sequences[members], place, words), 1.0, True)

    yield Candidates(ranked, lambda i: event_of(np.array([i])))
    most = min(MEMBERS, keys.size - 1)  # All of them are every output.
    for less, more in ((counts[0], counts[1]), (counts[1], counts[0])):
        order = np.argsort(np.log((less + 0.5) / (more + 0.5)), kind="stable")[:most]
        yield Candidates(ranked[:, order].cumsum(axis=1), partial(_first_of, event_of, order))


def _first_of(event_of: Callable[[Sequences], Event], order: Sequences, last: int) -> Event:
    return event_of(order[: last + 1])


def of_prefixes(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
    """Yield sets of prefixes of the arms by round, short enough that words can name them."""
    for end in round_ends(min(ranking.x.shape[1], MOST_ROUNDS)):
        place = f"arms of rounds 1 to {end}"
        yield from of_sequences(end, place, arms_words, fitting, ranking)


def members_of(width: int, members: Sequences, place: str, words: Words) -> Statistic:
    """Return whether the first ``width`` columns of an output are one of the members.

    Args:
        width: number of columns.
        members: the sequences, shape (members, width).
        place: what the columns are in words.
        words: a sequence -> the sequence in words.
    """

    def of(outputs: Outputs) -> Values:
        inside = np.zeros(len(outputs), np.bool_)
        for member in members:
            inside |= (outputs[:, :width] == member).all(axis=1)
        return inside.astype(np.float64)

    listed = ", ".join(words(member) for member in members)
    return Statistic(f"{place}: {'one of ' if len(members) > 1 else ''}{listed}", of, True)


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


MOST_ROUNDS = 64
"""Weights are named in the words of an event."""

MOST_RUNS = 50_000
"""Of the fitting runs of each table; more hardly move the weights."""

DIGITS = 3
"""Weights are rounded, so that the score can be computed from its words."""

RIDGE = 1e-3


def classifier_score(arms: int, fitting: Runs) -> Statistic | None:
    """Return the log odds of x' as fitted to other runs; None where rounds are many.

    Args:
        arms: number of arms K.
        fitting: arms by round.
    """
    if fitting.x.shape[1] > MOST_ROUNDS:
        return None
    parts = [_decisions(part[:MOST_RUNS], arms) for part in (fitting.x, fitting.other)]
    labels = np.repeat([0.0, 1.0], [len(part) for part in parts])
    weights = np.round(fit_weights(np.concatenate(parts), labels)[1:], DIGITS)
    if not weights.any():
        return None
    by_round = weights.reshape(fitting.x.shape[1], arms - 1)

    def of(outputs: Outputs) -> Values:
        score = np.zeros(len(outputs))
        for number, row in enumerate(by_round):
            for arm, weight in enumerate(row):
                if weight:
                    score += weight * (outputs[:, number] == arm)
        # Sums of rounded weights that are equal compare equal.
        return np.asarray(np.round(score, DIGITS))

    listed = [
        f"{weight:+g} if arm {arm + 1} in round {number + 1}"
        for number, row in enumerate(by_round)
        for arm, weight in enumerate(row)
        if weight
    ]
    return Statistic(f"score {', '.join(listed)}", of)


def fit_weights(features: NDArray[np.float64], labels: Values) -> NDArray[np.float64]:
    """Return the constant and the weights of a logistic regression with a small ridge.

    Args:
        features: shape (runs, features).
        labels: 0 or 1, shape (runs,).
    """
    design = np.column_stack([np.ones(len(features)), features])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = design @ weights
        value = float(np.mean(np.logaddexp(0.0, scores) - labels * scores))
        gradient = design.T @ (expit(scores) - labels) / len(labels)
        return value + RIDGE * float(weights @ weights) / 2.0, gradient + RIDGE * weights

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def _decisions(outputs: Outputs, arms: int) -> NDArray[np.float64]:
    """Return one column a round and arm but the last, 1 where the arm is pulled in the round."""
    chosen = [outputs == arm for arm in range(arms - 1)]
    return np.stack(chosen, axis=2).reshape(len(outputs), -1).astype(np.float64)
