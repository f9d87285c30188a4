"""The witness in Phase I on the privacy of GDP-NCB against simulation, at toy size (NCB-C15).

Three implementations play the event: a plain play of Algorithm 1 (`witness_plays`, which has the
error rate), the project's kernel, and its reference. Counts are compared with the exact
probabilities by binomial tests. The null control compares one reward sequence with itself. A noise
10 % off must be caught, and so must one noise used twice.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
import witness_plays
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.gdp_ncb import (
    EXPLOITING,
    EXPLORING,
    Window,
    advance_window,
    reference_window,
)
from dpbandits.auditing.gdp_ncb import exploration_witness
from dpbandits.bandits.draws import BERNOULLI
from dpbandits.kernels import Arms, Segments, njit
from support import settings_of
from witness_plays import LINE, GivenArms, Table, copy_state, p_value

pytestmark = pytest.mark.slow

GDP = REGRET["gdp-ncb"]
TWO_ARMS = dpbandits.bernoulli([0.5, 0.5])

# Algorithm 1 at toy size: 2n + 1 = 13 rounds.
HORIZON, EPSILON, THRESHOLD, PULLS = 40, 1.0, 3.0, 6
LOG = math.log(HORIZON)
ALTERNATING = np.arange(2 * PULLS + 1) % 2
X = 1.0 - ALTERNATING
CHANGED = np.where(np.arange(X.size) == 0, 0.0, X)
SEQUENCES = {"X": X, "X'": CHANGED}


def toy_probability(name: str) -> float:
    """Return the exact probability of the toy event, given the arms of Phase I."""
    witness = exploration_witness(THRESHOLD, LOG / EPSILON, PULLS)
    return math.exp(witness.log_q if name == "X'" else witness.log_p)


def lowest_log_ratio(counts: Sequence[int]) -> float:
    """Return the lower end of the 95 % interval of ln(second / first), equal numbers of runs."""
    share = stats.binomtest(counts[1], sum(counts)).proportion_ci(0.95, "exact").low
    return math.log(share / (1.0 - share))


def toy_count(rewards: NDArray[Any], seed: int, factor: float = 1.0, repeats: bool = False) -> int:
    """Count the toy event in the plain play of Algorithm 1."""
    return int(
        witness_plays.count_algorithm_1(
            *(RUNS, ALTERNATING, rewards, THRESHOLD, factor * LOG / EPSILON, LOG, EPSILON),
            *(repeats, np.random.default_rng(seed)),
        )
    )


RUNS = 1_000_000


def test_the_toy_event_has_the_probabilities_of_the_formula() -> None:
    counts = []
    for seed, (name, rewards) in enumerate(SEQUENCES.items()):
        counts.append(toy_count(rewards, seed))
        assert p_value(counts[-1], RUNS, toy_probability(name)) > LINE
    # It refutes epsilon = 1 by itself, whatever the formula says.
    assert lowest_log_ratio(counts) > 1.1 * EPSILON


def test_null_control_one_sequence_with_itself() -> None:
    for rewards in SEQUENCES.values():
        counts = [toy_count(rewards, seed) for seed in (10, 11)]
        table = [[count, RUNS - count] for count in counts]
        assert stats.fisher_exact(table).pvalue > LINE
        assert lowest_log_ratio(counts) < 0.1 * EPSILON


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_noise_ten_percent_off_is_caught(factor: float) -> None:
    count = toy_count(CHANGED, 20, factor)
    assert p_value(count, RUNS, toy_probability("X'")) < LINE


def test_a_noise_used_twice_is_caught() -> None:
    for name, rewards in SEQUENCES.items():
        assert p_value(toy_count(rewards, 30, repeats=True), RUNS, toy_probability(name)) < LINE


def toy_settings() -> Any:
    """Return the kernel's settings of Algorithm 1 as written, with the toy's threshold."""
    settings = settings_of(
        GDP, {"epsilon": EPSILON}, GDP.interpretations_from({}), TWO_ARMS, HORIZON
    )
    return settings._replace(threshold=THRESHOLD / (9.0 * LOG + LOG**2 / EPSILON))


@njit
def pulls_these(settings, window, wanted, rewards, state, spare, generator):
    """Play the kernel round by round; return whether it pulls these arms.

    A round of Phase I with another arm is played again: that is how its arms are given. An episode
    of Phase II is two pulls of one arm at least.
    """
    laws, parameters = np.full(2, BERNOULLI), np.empty(2)
    out = Segments(np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1))
    t = 0
    while t < wanted.size:
        parameters[:] = rewards[t]
        copy_state(state, spare)
        exploring = state.phase[0] == EXPLORING
        advance_window(settings, window, t + 1, state, Arms(laws, parameters), generator, out, 0)
        if out.arms[0] == wanted[t]:
            t += 1
        elif exploring:
            copy_state(spare, state)
        else:
            return False
        if state.phase[0] == EXPLOITING:
            return t == wanted.size
    return True


@njit
def count_kernel(runs, settings, window, wanted, rewards, empty, state, spare, generator):
    """Return in how many of so many runs the kernel pulls these arms."""
    count = 0
    for _ in range(runs):
        copy_state(empty, state)
        count += pulls_these(settings, window, wanted, rewards, state, spare, generator)
    return count


KERNEL_RUNS = 250_000


def kernel_count(runs: int, rewards: NDArray[Any], seed: int, factor: float = 1.0) -> int:
    """Count the toy event in the project's kernel."""
    window = Window(HORIZON, HORIZON, THRESHOLD, factor * LOG / EPSILON, LOG)
    states = [GDP.state(2) for _ in range(3)]
    generator = np.random.default_rng(seed)
    return int(
        count_kernel(*(runs, toy_settings(), window, ALTERNATING, rewards, *states, generator))
    )


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_kernel_has_the_probabilities_of_the_formula(name: str) -> None:
    count = kernel_count(KERNEL_RUNS, SEQUENCES[name], seed=40)
    assert p_value(count, KERNEL_RUNS, toy_probability(name)) > LINE


def test_a_noise_ten_percent_off_is_caught_in_the_kernel() -> None:
    runs = 3 * KERNEL_RUNS
    count = kernel_count(runs, CHANGED, 50, 0.9)
    assert p_value(count, runs, toy_probability("X'")) < LINE


REFERENCE_RUNS = 20_000


@pytest.mark.parametrize("arms", [2, 3])
@pytest.mark.parametrize("name", SEQUENCES)
def test_the_reference_has_the_probabilities_of_the_formula(name: str, arms: int) -> None:
    """Arms that the event does not pull change nothing."""
    settings, noise, count = toy_settings(), np.random.default_rng(60), 0
    for _ in range(REFERENCE_RUNS):
        bandit: Any = Table((*(SEQUENCES[name][arm::2] for arm in (0, 1)), *[()] * (arms - 2)))
        generator: Any = GivenArms(ALTERNATING, noise, arms)
        t = 0
        for arm, pulls, _ in reference_window(settings, HORIZON, 13, bandit, generator):
            if (ALTERNATING[t : t + pulls] != arm).any():
                break
            t += pulls
        count += t == 13
    assert p_value(count, REFERENCE_RUNS, toy_probability(name)) > LINE
