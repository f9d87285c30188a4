"""Engine and registered algorithms agree: frequencies of whole arm sequences at small T.

Each of the 12 comparisons is a chi-square test at 0.001/12, so that correct code fails this file
with probability 0.001 at most over the choice of seeds, which are fixed.
"""

import math
from dataclasses import replace
from typing import Any

import pytest

from audit.agreement import chi_square, played_sequences, sequence_chances
from dpbandits.auditing.inputs import constant
from dpbandits.auditing.thompson import Sampler, dp_ts_ucb, modified_ts, ts_gaussian

RUNS, ROOT = 200_000, 20261122

CASES: dict[str, tuple[str, dict[str, Any], dict[str, str], Sampler, int]] = {
    "ts": ("ts-gaussian", {}, {}, ts_gaussian(5), 2),
    "ts 1/n": ("ts-gaussian", {}, {"count": "n"}, ts_gaussian(6, "n"), 2),
    "m-ts": ("m-ts-gaussian", {"b": 1, "c": 2.0}, {}, modified_ts(1, 2.0, 6), 2),
    "dp-ts-ucb": ("dp-ts-ucb", {"alpha": 0.5}, {}, dp_ts_ucb(0.5, 8), 2),
    "ts, 3 arms": ("ts-gaussian", {}, {}, ts_gaussian(4), 3),
    "dp-ts-ucb, 3 arms": ("dp-ts-ucb", {"alpha": 1.0}, {}, dp_ts_ucb(1.0, 7, 3), 3),
}
LINE = 0.001 / (2 * len(CASES))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("number", [0, 1])
def test_played_sequences_have_the_engines_chances(name: str, number: int) -> None:
    algorithm, parameters, interpretations, sampler, arms = CASES[name]
    tables = constant(0.0, 1.0, arms=arms).tables(sampler.rounds)
    counts = played_sequences(
        algorithm, parameters, interpretations, tables, number == 1, RUNS, ROOT
    )
    chances = sequence_chances(sampler, tables[number])
    assert math.fsum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    assert chi_square(counts, chances) > LINE


def test_a_wrong_variance_is_seen() -> None:
    sampler = ts_gaussian(5)
    tables = constant(0.0, 1.0).tables(5)
    counts = played_sequences("ts-gaussian", {}, {}, tables, False, RUNS, ROOT)
    wrong = replace(sampler, variance_factor=1.2)
    assert chi_square(counts, sequence_chances(wrong, tables[0])) < LINE


def test_the_other_table_is_seen() -> None:
    tables = constant(0.0, 1.0).tables(5)
    counts = played_sequences("ts-gaussian", {}, {}, tables, True, RUNS, ROOT)
    assert chi_square(counts, sequence_chances(ts_gaussian(5), tables[0])) < LINE


def test_an_impossible_sequence_is_seen() -> None:
    tables = constant(0.0, 1.0).tables(5)
    counts = played_sequences("ts-gaussian", {}, {}, tables, False, 100, ROOT)
    chances = sequence_chances(ts_gaussian(6, "n"), constant(0.0, 1.0).tables(6)[0])
    assert chi_square(counts, chances) == 0.0
