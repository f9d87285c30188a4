"""Lazy-DP-TS and DP-TS: their batches, releases and noise."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.dp_ts import _BinaryMechanism
from dpbandits.bandits import Bandit
from dpbandits.kernels import new_segments
from support import FIVE_ARMS, settings_of

SURE_ARMS = dpbandits.bernoulli([1.0, 0.0])
NO_NOISE = 1e12
"""An epsilon at which noise and shift vanish beside the sums of rewards."""


def played(
    name: str,
    epsilon: float,
    bandit: Bandit,
    horizon: int,
    interpretations: dict[str, str] | None = None,
) -> Iterator[tuple[int, float, Any]]:
    """Yield (arm, reward, state) after every round of one run."""
    algorithm = REGRET[name]
    told = settings_of(algorithm, {"epsilon": epsilon}, interpretations or {}, bandit, horizon)
    state, generator = algorithm.state(len(bandit.arms)), np.random.default_rng(1)
    chunk = new_segments(1)
    while state.clock[0] < horizon:
        algorithm.advance(told, state, bandit.arrays, generator, chunk)
        yield int(chunk[0][0]), float(chunk[2][0]), state


def test_lazy_batches_double() -> None:
    # Hu and Hegde (2022), Algorithm 2: a mean is renewed from 2^(r+1) fresh rewards, after 1, 3, 7,
    # ... pulls of the arm.
    for log in ["natural", "base2"]:
        for name in ["lazy-dp-ts", "anytime-lazy-ucb"]:
            pulls, batch, counts = [0] * 5, [0.0] * 5, np.zeros(5, np.int64)
            for arm, reward, state in played(name, 20.0, FIVE_ARMS, 3000, {"log": log}):
                pulls[arm] += 1
                batch[arm] += reward
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


def test_lazy_noise_is_drawn_once_a_batch() -> None:
    # Between two renewals nothing about an arm moves; at each the noise is new.
    found: dict[int, list[float]] = {0: [], 1: []}
    for _, _, state in played("lazy-dp-ts", 1.0, dpbandits.bernoulli([0.0, 0.0]), 2000):
        for arm in (0, 1):
            noise = state.private_means[arm] * state.counts[arm]
            if state.counts[arm] and (not found[arm] or found[arm][-1] != noise):
                found[arm].append(noise)
    assert all(len(set(values)) == len(values) >= 6 for values in found.values())


def is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def test_mechanism_without_noise_counts() -> None:
    values = np.random.default_rng(1).random(63)
    mechanism = _BinaryMechanism(levels=6, scale=0.0)
    counted = [mechanism.count(value, np.random.default_rng(2)) for value in values]
    np.testing.assert_allclose(counted, np.cumsum(values), rtol=1e-13)


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


def test_dp_ts_releases_at_pulls_1_3_7_and_so_on() -> None:
    # Hu and Hegde (2022), Algorithm 1: after 2^(r+2) - 1 pulls the logarithmic part takes the
    # epoch's rewards; in between
    # as many partial sums stand as there are ones in the number of rewards since.
    pulls, totals = [0] * 5, [0.0] * 5
    for arm, reward, state in played("dp-ts", 300.0, FIVE_ARMS, 3000):
        pulls[arm] += 1
        totals[arm] += reward
        assert state.pulls.tolist() == pulls
        # Up to 20 noises of scale 10 * 2/300 at most.
        assert abs(state.private_means[arm] * pulls[arm] - totals[arm]) < 20
        levels = int(state.levels[arm])
        since = pulls[arm] + 1 - 2**levels
        assert 0 <= since < 2**levels
        standing = [i for i in range(62) if state.noise[arm, i] != 0]
        assert standing == [i for i in range(62) if since >> i & 1]
        assert (since == 0) == is_power_of_two(pulls[arm] + 1)
        assert state.released_sums[arm] + state.epoch_sums[arm] == pytest.approx(
            totals[arm], abs=2.0
        )
    assert max(pulls) > 1000


def test_dp_ts_without_noise_knows_the_means() -> None:
    for arm, _, state in played("dp-ts", NO_NOISE, SURE_ARMS, 300):
        assert state.private_means[arm] == pytest.approx(1.0 - arm, abs=1e-6)


def test_they_learn() -> None:
    for name in ["lazy-dp-ts", "dp-ts"]:
        last = [arm for arm, _, _ in played(name, NO_NOISE, SURE_ARMS, 400)][-200:]
        assert last.count(0) > 190


def test_extreme_epsilons() -> None:
    # Means are clipped, so that draws exist whatever the noise.
    for name in ["lazy-dp-ts", "dp-ts"]:
        for epsilon in (1e-100, 1e300):
            assert sum(1 for _ in played(name, epsilon, FIVE_ARMS, 200)) == 200
