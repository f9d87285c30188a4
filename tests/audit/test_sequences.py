"""Sets of sequences as events: which are tried, and that their words are what is counted."""

import numpy as np
import pytest
from numpy.typing import NDArray

from dpbandits.auditing.statistics import (
    MEMBERS,
    Runs,
    Threshold,
    classifier_score,
    isolated_pulls,
    of_prefixes,
    of_pulls,
    round_ends,
)


def played(seed: int, runs: int = 4000, horizon: int = 6) -> Runs:
    """Independent rounds of two arms; in round 2 of x' arm 2 is likelier."""
    rng = np.random.default_rng(seed)
    x, other = (rng.random((runs, horizon)) < 0.3 for _ in range(2))
    other[:, 1] = rng.random(runs) < 0.7
    return Runs(x.astype(np.int8), other.astype(np.int8))


def recount(event: Threshold, outputs: NDArray[np.int8]) -> int:
    """Count an event of sequences by its words alone."""
    place, _, listed = event.words.partition(": ")
    width = int(place.rpartition(" ")[2])
    members = set(listed.removeprefix("one of ").split(", "))
    return sum("".join(str(arm + 1) for arm in row[:width]) in members for row in outputs)


def test_counts_of_sets_are_those_of_their_words() -> None:
    fitting, ranking = played(1), played(2)
    groups = list(of_prefixes(fitting, ranking))
    assert len(groups) == 3 * 6
    for group in groups:
        for number in {0, group.hits.shape[1] // 2, group.hits.shape[1] - 1}:
            event = group.event(number)
            hits = [recount(event, part) for part in (ranking.x, ranking.other)]
            assert hits == group.hits[:, number].tolist()
            assert hits == [event.count(part) for part in (ranking.x, ranking.other)]


def test_unions_begin_with_the_most_telling_sequences_of_either_direction() -> None:
    """In round 2 arm 1 is likelier under x, arm 2 under x'; round 1 tells nothing."""
    groups = list(of_prefixes(played(1), played(2)))
    second_arms = []
    for group in groups[4:6]:
        words = group.event(1).words.removeprefix("arms of rounds 1 to 2: one of ")
        second_arms.append({sequence[1] for sequence in words.split(", ")})
    assert second_arms == [{"2"}, {"1"}] or second_arms == [{"1"}, {"2"}]


def test_sets_have_few_members_and_few_distinct_values() -> None:
    fitting, ranking = played(1, horizon=9), played(2, horizon=9)
    groups = list(of_prefixes(fitting, ranking))
    # 4000 / 50 = 80 allows 2^6 = 64 distinct prefixes, not 2^7.
    assert len(groups) == 3 * 6
    assert all(group.hits.shape[1] <= MEMBERS for group in groups)


def test_pulls_are_counted_up_to_every_round() -> None:
    ranking = played(2)
    for end, group in enumerate(of_pulls(1, ranking), start=1):
        for number in range(group.hits.shape[1]):
            event = group.event(number)
            assert event.words == f"pulls of arm 2 in rounds 1 to {end}: at least {number + 1}"
            expected = [
                (part[:, :end].sum(axis=1) > number).sum() for part in (ranking.x, ranking.other)
            ]
            assert (
                group.hits[:, number].tolist()
                == expected
                == [event.count(part) for part in (ranking.x, ranking.other)]
            )


def test_the_classifier_weighs_the_round_that_differs() -> None:
    score = classifier_score(2, played(1))
    assert score is not None
    # Odds of arm 1 in round 2: 7/3 under x, 3/7 under x'.
    weights = dict(
        part.split(" if ")[::-1] for part in score.words.removeprefix("score ").split(", ")
    )
    assert float(weights["arm 1 in round 2"]) == pytest.approx(-2 * np.log(7 / 3), abs=0.2)
    values = score.of(np.array([[0, 0, 0, 0, 0, 0]], np.int8))
    assert values[0] == pytest.approx(sum(map(float, weights.values())))
    assert classifier_score(2, played(1, horizon=65)) is None


def test_isolated_pulls() -> None:
    statistic = isolated_pulls(0)
    outputs = np.array([[0, 1, 0, 1, 1, 1], [0, 1, 1, 0, 0, 1], [1, 0, 0, 1, 0, 1]], np.int8)
    # Last isolated pulls: round 3, none, round 5; the ends have but one neighbour.
    assert statistic.of(outputs).tolist() == [2.0, -1.0, 3.0]


def test_prefixes_of_long_runs_end_at_even_ratios() -> None:
    assert round_ends(5) == [1, 2, 3, 4, 5]
    ends = round_ends(1000)
    assert (ends[0], ends[-1]) == (1, 1000)
    assert len(ends) <= 48
