"""Sums of rewards: the compiled draw, the uncompiled one and draws one by one, on one stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbandits
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import BERNOULLI, BINOMIAL_FROM, draw_reward_sum
from support import bandits


@given(bandit=bandits(2), count=st.integers(0, 3000), seed=st.integers(0, 2**63))
def test_compiled_and_uncompiled_sums_agree(bandit: Bandit, count: int, seed: int) -> None:
    compiled, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    law = bandit.arms[0]
    total = draw_reward_sum(law.code, law.parameter, count, compiled)
    assert total == bandit.draw_sum(0, count, plain)
    assert 0 <= total <= count
    assert compiled.bit_generator.state == plain.bit_generator.state


@pytest.mark.parametrize("mean", [0.0, 0.001, 0.05, 0.3, 0.5, 0.75, 0.95, 1.0])
@pytest.mark.parametrize("count", [BINOMIAL_FROM, 64, 1000, 10**5, 10**7, 10**12])
def test_binomials_are_numpys_bit_for_bit(mean: float, count: int) -> None:
    compiled, plain = np.random.default_rng(1), np.random.default_rng(1)
    drawn = [draw_reward_sum(BERNOULLI, mean, count, compiled) for _ in range(300)]
    assert drawn == plain.binomial(count, mean, 300).tolist()


@given(bandit=bandits(2), count=st.integers(0, 300), seed=st.integers(0, 2**63))
def test_other_sums_are_drawn_reward_by_reward(bandit: Bandit, count: int, seed: int) -> None:
    together, single = np.random.default_rng(seed), np.random.default_rng(seed)
    if bandit.arms[0].code == BERNOULLI:
        count %= BINOMIAL_FROM
    total = 0.0
    for _ in range(count):
        total += bandit.draw(0, single)
    assert bandit.draw_sum(0, count, together) == total
    assert together.bit_generator.state == single.bit_generator.state


def test_the_binomial_begins_where_it_says() -> None:
    bandit = dpbandits.bernoulli([0.5, 0.5])
    generator, other = np.random.default_rng(1), np.random.default_rng(1)
    assert (
        bandit.draw_sum(0, BINOMIAL_FROM - 1, generator)
        == (other.random(BINOMIAL_FROM - 1) < 0.5).sum()
    )
    assert bandit.draw_sum(0, BINOMIAL_FROM, generator) == other.binomial(BINOMIAL_FROM, 0.5)
