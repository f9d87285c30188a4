"""Lazy-DP-TS, DP-TS and DP-TS-UCB: batches, releases, budgets, and chunks against rounds."""

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.dp_ts import _BinaryMechanism
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import BERNOULLI
from dpbandits.kernels import new_segments
from support import (
    FIVE_ARMS,
    all_interpretations,
    bandits,
    dp_ts_ucb_by_rounds,
    kernel_decisions,
    settings_of,
)


def test_lazy_batches_double() -> None:
    # Hu and Hegde (2022), Algorithm 2: a mean is renewed from 2^(r+1) fresh rewards, after 1, 3, 7,
    # ... pulls of the arm.
    for algorithm in (REGRET["lazy-dp-ts"], REGRET["anytime-lazy-ucb"]):
        told = settings_of(algorithm, {"epsilon": 20.0}, {}, FIVE_ARMS, 3000)
        state, generator, chunk = algorithm.state(5), np.random.default_rng(1), new_segments(1)
        pulls, batch, counts = [0] * 5, [0.0] * 5, np.zeros(5, np.int64)
        while state.clock[0] < 3000:
            algorithm.advance(told, state, FIVE_ARMS.arrays, generator, chunk)
            arm = int(chunk.arms[0])
            pulls[arm] += 1
            batch[arm] += chunk.sums[0]
            renewed = np.flatnonzero(state.counts != counts)
            assert set(renewed) <= {arm}
            if renewed.size:
                assert state.counts[arm] == max(1, 2 * counts[arm])
                assert pulls[arm] == 2 * state.counts[arm] - 1
                # Laplace noise of scale 1/20 is beyond 1 once in e^20.
                assert abs(state.private_means[arm] * state.counts[arm] - batch[arm]) < 1
                batch[arm] = 0.0
            counts = state.counts.copy()
        assert counts.max() >= 512


def test_every_value_enters_one_noisy_sum_a_level() -> None:
    # The sum at level i covers 2^i values in a row; its noise is drawn once, so that a value's
    # privacy is charged to at most `levels` sums, and the answer is made of as many as there are
    # ones in the binary number of values.
    levels = 5
    covered = [np.zeros(2**levels - 1, int) for _ in range(levels)]
    mechanism, generator = _BinaryMechanism(levels, scale=1.0), np.random.default_rng(1)
    noise = [0.0] * levels
    for k in range(1, 2**levels):
        before = mechanism.noisy_sums.copy()
        answer = mechanism.count(float(k), generator)
        changed = [i for i in range(levels) if mechanism.noisy_sums[i] != before[i]]
        lowest = (k & -k).bit_length() - 1
        assert changed == [lowest]
        block = range(k - 2**lowest + 1, k + 1)
        assert mechanism.sums[lowest] == sum(block)
        covered[lowest][[each - 1 for each in block]] += 1
        noise[lowest] = mechanism.noisy_sums[lowest] - mechanism.sums[lowest]
        expected = sum(noise[i] for i in range(levels) if k >> i & 1)
        assert answer - k * (k + 1) / 2 == pytest.approx(expected, abs=1e-9)
    assert all(each.max() == 1 for each in covered)


# DP-TS-UCB.

ALGORITHM = REGRET["dp-ts-ucb"]
SPREAD_ARMS = dpbandits.bernoulli([0.95, 0.75, 0.55, 0.35, 0.15])
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 2.0, 10.0])


def told(
    alpha: float,
    horizon: int,
    interpretations: dict[str, str] | None = None,
    bandit: Bandit = SPREAD_ARMS,
) -> Any:
    return settings_of(ALGORITHM, {"alpha": alpha}, interpretations or {}, bandit, horizon)


def test_budgets() -> None:
    # dp-ts-ucb, Algorithm 1; DTU-E4: phi = 24511.65 at T = 31,622 and alpha = 0.
    wholes = {"floor": mpmath.floor, "ceil": mpmath.ceil, "round": mpmath.nint}
    horizons, alphas = (10_000, 31_622, 100_000, 316_227, 10**6), (0.0, 0.25, 0.5, 0.75, 1.0)
    for horizon, alpha in itertools.product(horizons, alphas):
        phi = mpmath.sqrt(2 * mpmath.pi * mpmath.e) * mpmath.mpf(horizon) ** ((1 - alpha) / 2)
        phi *= mpmath.log(horizon) ** ((3 - alpha) / 2)
        for rounding, whole in wholes.items():
            assert told(alpha, horizon, {"rounding": rounding}).budget == int(whole(phi))
    assert told(0.0, 31_622, {"rounding": "round"}).budget == 24_512


def per_round(chunks: list[tuple[int, int, float]]) -> list[int]:
    """Return the arm of every round."""
    return [arm for arm, length, _ in chunks for _ in range(length)]


@given(
    data=st.data(),
    alpha=st.floats(0.0, 1.0),
    interpretations=st.sampled_from(all_interpretations(ALGORITHM)),
    seed=st.integers(0, 2**63),
)
def test_chunks_are_rounds_of_algorithm_1(
    data: st.DataObject, alpha: float, interpretations: dict[str, str], seed: int
) -> None:
    # Where sums are drawn reward by reward the stream is the same; only the rounding of a sum may
    # differ, by its last bits.
    arms = data.draw(bandits()).arms
    horizon = data.draw(st.integers(6, 1500))
    bandit = Bandit(
        tuple(each if each.code != BERNOULLI else EXPONENTIAL_ARMS.arms[1] for each in arms)
    )
    settings = told(alpha, horizon, interpretations, bandit)
    chunked, single = np.random.default_rng(seed), np.random.default_rng(seed)
    chunks = list(kernel_decisions(ALGORITHM, settings, bandit, chunked))
    rounds = list(dp_ts_ucb_by_rounds(settings, bandit, single))
    assert per_round(chunks) == [arm for arm, _, _ in rounds]
    assert chunked.bit_generator.state == single.bit_generator.state
    total = sum(reward for _, _, reward in rounds)
    assert sum(rewards for _, _, rewards in chunks) == pytest.approx(total, rel=1e-12)
