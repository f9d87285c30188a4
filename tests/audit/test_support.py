"""Support arguments: proved where both tables are played without randomness, refused otherwise."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.auditing.inputs import constant, make_pair
from dpbandits.auditing.statements import support_rows
from dpbandits.auditing.support import (
    Case,
    GivenDraws,
    recommendation,
    separation,
    transcript,
)
from dpbandits.errors import InputError
from dpbandits.kernels import Segments
from support import settings_of

ROWS = list(support_rows())
FIRST = make_pair([[0.0], [0.5]], [[1.0], [0.5]], after=[0.0, 0.0])
NULL = make_pair([[0.0], [0.5]], [[0.0], [0.5]], after=[0.0, 0.0])


def test_every_control_is_unbounded() -> None:
    assert all(math.isinf(row.lower) and row.engine == "support" for row in ROWS)
    controls = {(row.algorithm, row.variant) for row in ROWS if row.statement == "AUD-19"}
    assert {algorithm for algorithm, _ in controls} == {
        "ucb1",
        "ncb",
        "od-linbai",
        "sequential-halving",
    }
    assert all(math.isinf(row.claimed) for row in ROWS if row.statement == "AUD-19")
    coded = [row for row in ROWS if row.statement == "AUD-17"]
    assert [(row.algorithm, row.variant, row.claimed) for row in coded] == [
        ("adap-ucb", "as-coded", 1.0)
    ]


@pytest.mark.parametrize("algorithm", ["adap-ucb", "anytime-lazy-ucb", "ts-gaussian"])
def test_an_algorithm_with_noise_is_refused(algorithm: str) -> None:
    case = Case(algorithm, "as-written", 4, 4, FIRST, parameters=REGRET[algorithm].example)
    with pytest.raises(InputError, match="support argument: the algorithm draws"):
        separation(case)


def test_the_null_pair_is_not_separated() -> None:
    assert separation(Case("ucb1", "as-written", 4, 4, NULL)).epsilon == 0.0


def test_the_sequence_is_that_of_the_table_with_more_draws() -> None:
    """NCB as coded stops its uniform play one round later where the first reward is 0."""
    case = Case("ncb", "as-coded", 100, 60, constant(1.0, 0.0), (0,) * 60)
    found = separation(case)
    assert found.log_q == -math.inf
    assert found.log_p == pytest.approx(-43 * math.log(2.0))
    assert found.place == (0,) * 43
    assert transcript(replace(case, rounds=43), True) == ((*(0,) * 42, 1), 42)


@pytest.mark.parametrize("variant", ["as-written", "repaired"])
@pytest.mark.parametrize(("first", "third"), [(0.0, 1), (1.0, 0)])
def test_the_kernel_plays_the_arms_of_ucb1(variant: str, first: float, third: int) -> None:
    """Certain rewards: arm 2 pays 0 where arm 1 pays 1, and the other way round."""
    algorithm = REGRET["ucb1"]
    bandit = dpbandits.bernoulli([first, 1.0 - first])
    settings = settings_of(algorithm, {}, algorithm.interpretations_from({}, variant), bandit, 3)
    arms, lengths = np.empty((2, 3), np.int64)
    generator = np.random.default_rng(1)
    algorithm.advance(
        settings,
        algorithm.state(2),
        bandit.arrays,
        generator,
        Segments(arms, lengths, np.empty(3)),
    )
    assert arms.tolist() == [0, 1, third]


def test_the_kernel_of_adap_ucb_as_coded_shows_the_first_rewards() -> None:
    algorithm = REGRET["adap-ucb"]
    interpretations = algorithm.interpretations_from({}, "as-coded")
    for means, third in (([0.0, 1.0], 1), ([1.0, 0.0], 0)):
        bandit = dpbandits.bernoulli(means)
        settings = settings_of(algorithm, {"epsilon": 0.1}, interpretations, bandit, 3)
        for seed in range(50):
            arms, lengths = np.empty((2, 3), np.int64)
            algorithm.advance(
                settings,
                algorithm.state(2),
                bandit.arrays,
                np.random.default_rng(seed),
                Segments(arms, lengths, np.empty(3)),
            )
            assert arms[2] == third


def test_recommendations_follow_the_larger_reward() -> None:
    for algorithm, budget in (("od-linbai", 3), ("sequential-halving", 2)):
        assert recommendation(algorithm, budget, (0.0, 1.0)) == 1
        assert recommendation(algorithm, budget, (0.0, 0.0)) == 0


def test_given_draws_are_all_there_is() -> None:
    draws: Any = GivenDraws([0.25])
    assert draws.random() == 0.25
    with pytest.raises(InputError, match="more than the given numbers"):
        draws.random()
    with pytest.raises(InputError, match="draws by standard_normal"):
        draws.standard_normal()
