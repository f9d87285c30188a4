"""Sets of outputs or of prefixes as events: single ones, and the most telling ones together."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.blackbox.candidates import Candidates, Runs
from dpbandits.audit.blackbox.play import Outputs
from dpbandits.audit.blackbox.statistics import Event, Statistic, Values, round_ends

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
    """Yield sets of prefixes of the arms by round, of every length."""
    for end in round_ends(ranking.x.shape[1]):
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
