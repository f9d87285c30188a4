"""LDP-NCB, LDP-UCB-L and the anytime wrappers: the numbers of the specification, their switches.

Error rate of the statistical tests: at most TESTS hypotheses that are true are tested, each at LINE
= 0.001 / TESTS (Bonferroni), with fixed seeds; each has a null control by numpy's own draws and a
planted deviation that it must catch.
"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET, Algorithm
from dpbandits.algorithms.ldp_ncb import EXPLORING, open_window, stops
from dpbandits.bandits import Bandit
from dpbandits.kernels import new_segments
from dpbandits.papers.dp_ncb.instances import fifty_arms
from dpbandits.papers.dp_ncb.theory import expected_pulls
from support import (
    FIVE_ARMS,
    Decision,
    agree,
    interpretations_to_draw,
    kernel_decisions,
    settings_of,
)

NCB, UCB = REGRET["ldp-ncb"], REGRET["ldp-ucb-l"]
ANYTIME = {each: REGRET[f"anytime-{each}"] for each in ("gdp-ncb", "ldp-ncb")}
FIFTY_ARMS = fifty_arms()
EPSILON = 0.2

TESTS = 20
LINE = 0.001 / TESTS


def told(
    algorithm: Algorithm,
    bandit: Bandit,
    horizon: int,
    variant: str = "as-written",
    epsilon: float = EPSILON,
    **interpretations: str,
) -> Any:
    chosen = algorithm.interpretations_from(interpretations, variant)
    return settings_of(algorithm, {"epsilon": epsilon}, chosen, bandit, horizon)


def advance(
    algorithm: Algorithm, settings: Any, state: Any, bandit: Bandit, generator: Any, chunks: int
) -> list[Decision]:
    """Write at most so many chunks and return them."""
    out = new_segments(chunks)
    written = algorithm.advance(settings, state, bandit.arrays, generator, out)
    found = (column[:written].tolist() for column in out)
    return list(zip(*found, strict=True))


# Derived: T -> rounds k n* at which the stop condition holds at its expectation for the best arm.
STOPS = {10**6: 4.44e8, 10**7: 5.99e8, 10**8: 7.77e8, 10**9: 9.79e8, 10**10: 1.20e9}


def test_the_stop_test_passes_where_the_table_says() -> None:
    best = FIFTY_ARMS.means.max()
    for horizon, rounds in STOPS.items():
        settings_ = told(NCB, FIFTY_ARMS, horizon)
        window = open_window.py_func(settings_, horizon)
        n = expected_pulls("ldp-ncb", horizon, EPSILON, best)
        assert 50 * n == pytest.approx(rounds, rel=0.005), "printed to three digits"
        for count, passes in ((math.floor(n), False), (math.floor(n) + 1, True)):
            assert stops.py_func(settings_, window, count, count * best) == passes
    # The released code: never met; all rewards 1 and the bias of 1/epsilon make the largest sum
    # there is.
    settings_ = told(NCB, FIFTY_ARMS, 10**8, "as-coded")
    window = open_window.py_func(settings_, 10**8)
    assert not stops.py_func(settings_, window, 10_002, 10_002.0 * (1 + 1 / EPSILON))
    assert window.base > 10_002


def test_an_arm_that_stops_phase_one_stops_it_with_more_reward_and_fewer_pulls() -> None:
    # What blocks rest on; the clip is not part of the test.
    generator, passed = np.random.default_rng(1), 0
    for stop_test, epsilon in itertools.product(("plain", "floored"), (0.2, 2.0, 50.0)):
        settings_ = told(
            NCB, FIFTY_ARMS, 10**4, epsilon=epsilon, threshold="1", stop_test=stop_test
        )
        window = open_window.py_func(settings_, 10**4)
        for _ in range(3000):
            count = int(generator.integers(2, 10**4))
            total = generator.random() * 3 * count
            more, fewer = total * (1 + generator.random()), int(generator.integers(1, count))
            if stops.py_func(settings_, window, count, total):
                passed += 1
                assert stops.py_func(settings_, window, fewer, more)
    assert passed > 2000


@settings(max_examples=40)
@given(data=st.data(), seed=st.integers(0, 2**63), buffer=st.integers(1, 60))
def test_any_interpretations_agree_where_blocks_matter(
    data: st.DataObject, seed: int, buffer: int
) -> None:
    chosen = data.draw(interpretations_to_draw(NCB)["any"]) | {"exploration": "blocks"}
    parameters = {"epsilon": data.draw(st.floats(0.05, 50.0))}
    bandit = dpbandits.bernoulli(data.draw(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=5)))
    horizon = data.draw(st.integers(300, 3000))
    told_kernel = settings_of(NCB, parameters, chosen, bandit, horizon)
    decisions = agree(NCB, told_kernel, bandit, seed, buffer)
    assert sum(length for _, length, _ in decisions) == horizon


def test_blocks_reach_a_horizon_of_a_thousand_million() -> None:
    # Phase I ends near 9.8e8, see STOPS, after some hundred blocks.
    settings_ = told(NCB, FIFTY_ARMS, 10**9, exploration="blocks")
    state, generator = NCB.state(50), np.random.default_rng(1)
    while state.phase[0] == EXPLORING:
        played = advance(NCB, settings_, state, FIFTY_ARMS, generator, 1000)
    assert state.clock[0] == pytest.approx(STOPS[10**9], rel=0.01)
    assert any(arm >= 0 for arm, _, _ in played), "near the threshold, pull by pull"


def first_values(algorithm: Algorithm, settings_: Any, runs: int) -> NDArray[np.float64]:
    """Return private values of rewards 0: those of arms that were pulled once, over some runs."""
    arms = settings_.horizon
    nothing, found = dpbandits.bernoulli([0.0] * arms), []
    for generator in map(np.random.default_rng, range(runs)):
        state = algorithm.state(arms)
        advance(algorithm, settings_, state, nothing, generator, arms)
        assert state.clock[0] == arms
        found.append(state.private_sums[state.counts == 1])
    return np.concatenate(found)


def significant(values: NDArray[np.float64], law: Any) -> bool:
    return float(stats.kstest(values, law.cdf).pvalue) < LINE


def test_noise_of_phase_one() -> None:
    for variant, location, scale in [("as-coded", 5.0, 1.0), ("repaired", 0.0, 5.0)]:
        values = first_values(NCB, told(NCB, FIFTY_ARMS, 20_000, variant, cap="none"), 5)
        # Of N arms pulled N times, N / e are pulled once.
        assert values.size > 36_000
        law = stats.laplace(location, scale)
        assert not significant(values, law)
        assert not significant(law.rvs(values.size, random_state=np.random.default_rng(2)), law)
        # A scale a tenth off moves the distribution function by 0.018; 0.012 is significant here.
        assert significant(values, stats.laplace(location, 1.1 * scale))


@pytest.mark.slow
def test_noise_of_phase_two() -> None:
    # Arms that phase I leaves out are each pulled once in phase II, as their index is infinite
    # (A21). Its W + 1 = 46 rounds leave more than 1954 of 2000 arms.
    count, runs = 2000, 10
    nothing = dpbandits.bernoulli([0.0] * count)
    drawn: list[float] = []
    for seed in range(runs):
        state, generator = NCB.state(count), np.random.default_rng(seed)
        settings_ = told(NCB, nothing, count, "as-coded")
        advance(NCB, settings_, state, nothing, generator, 46)
        assert state.phase[0] != EXPLORING
        missing = state.counts == 0
        played = advance(NCB, settings_, state, nothing, generator, int(missing.sum()))
        order = np.array([arm for arm, _, _ in played])
        assert order.tolist() == np.flatnonzero(missing)[: order.size].tolist()
        drawn.extend(state.private_sums[order])
    assert not significant(np.array(drawn), stats.laplace(0, 5))
    # A scale a tenth off moves the distribution function by 0.018; 0.016 is significant here.
    assert significant(np.array(drawn), stats.laplace(0, 5.5))


@pytest.mark.slow
def test_laws_of_what_ldp_ucb_l_averages() -> None:
    count = 50_000
    values = first_values(UCB, told(UCB, FIFTY_ARMS, count), 1)
    assert values.size == count
    assert not significant(values, stats.laplace(0, 5))
    assert significant(values, stats.laplace(0, 5.5))
    # Clipped, half of them are 0, and exp(-epsilon)/2 are 1 (P(Y >= 1)).
    clipped = first_values(UCB, told(UCB, FIFTY_ARMS, count, "as-coded"), 1)
    zeros, ones = int((clipped == 0).sum()), int((clipped == 1).sum())
    assert stats.binomtest(zeros, count, 0.5).pvalue > LINE
    assert stats.binomtest(ones, count, math.exp(-EPSILON) / 2).pvalue > LINE
    assert stats.binomtest(ones, count, math.exp(-1.25 * EPSILON) / 2).pvalue < LINE


def test_horizons_of_ten_thousand_million() -> None:
    horizon = 10**10
    for algorithm in [NCB, UCB, *ANYTIME.values()]:
        settings_, state = told(algorithm, FIFTY_ARMS, horizon, "repaired"), algorithm.state(50)
        generator = np.random.default_rng(1)
        if algorithm in ANYTIME.values():
            # After the whole window of 2^32 rounds.
            state.clock[0], state.played[0], state.length[0] = 2**33 - 1, 2**32, 2**32
        else:
            if algorithm is NCB:
                advance(algorithm, settings_, state, FIFTY_ARMS, generator, 100_002)
                assert state.phase[0] != EXPLORING
            state.clock[0], state.counts[:] = horizon - 3_000_000, 2 * 10**8
            state.private_sums[:] = FIFTY_ARMS.means * 2e8
        before = int(state.clock[0])
        played = advance(algorithm, settings_, state, FIFTY_ARMS, generator, 3000)
        assert all(length > 0 and 0 <= arm < 50 for arm, length, _ in played)
        assert state.clock[0] == before + sum(length for _, length, _ in played) <= horizon
        if algorithm in ANYTIME.values():
            assert (state.length[0], state.uniform[0]) == (2**33, 0)


def test_a_window_is_a_fresh_run_of_its_length() -> None:
    # Algorithm 3: no information carried; inside a window log T is log W, and the cap is W's.
    variants = ["as-written", "as-coded", "repaired"]
    for variant, (core, wrapper) in itertools.product(variants, ANYTIME.items()):
        settings_ = told(wrapper, FIVE_ARMS, 4095, variant, 5.0, threshold="1")
        state, generator, compared = wrapper.state(5), np.random.default_rng(3), 0
        for m in range(12):
            copy = np.random.default_rng(0)
            copy.bit_generator.state = generator.bit_generator.state
            decisions: list[Decision] = []
            while state.clock[0] < 2 ** (m + 1) - 1:
                decisions += advance(wrapper, settings_, state, FIVE_ARMS, generator, 1)
            if copy.random() < 1 / 4**m:
                # An arm is drawn, and its reward.
                rounds = [(int(copy.random() * 5), copy.random()) for _ in range(2**m)]
                expected = [(arm, 1) for arm, _ in rounds]
                assert [(arm, length) for arm, length, _ in decisions] == expected
            else:
                own = told(REGRET[core], FIVE_ARMS, 2**m, variant, 5.0, threshold="1")
                assert decisions == list(kernel_decisions(REGRET[core], own, FIVE_ARMS, copy))
                compared += 1
            assert copy.bit_generator.state == generator.bit_generator.state
        assert compared > 8
