"""The witnesses on the privacy of GDP-NCB against simulation, at toy size (NCB-C15).

The project's kernel and its reference play the event in Phase I with its arms given, since they are
drawn independently of the rewards. The event in Phase II of the released code is too rare to be
counted whole in seconds; given the lengths of the episodes its releases are independent, and the
kernel plays each by itself. At most TESTS hypotheses that are
true are tested, each at LINE (Bonferroni), so that correct code fails this file with probability
0.001 at most over the choice of seeds, which are fixed.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from agreement import GivenArms, Table
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.gdp_ncb import (
    EXPLOITING,
    EXPLORING,
    Window,
    advance_window,
    open_window,
    reference_window,
)
from dpbandits.auditing.gdp_ncb import exploration_witness
from dpbandits.bandits.draws import BERNOULLI
from dpbandits.kernels import Arms, Segments, njit
from dpbandits.privacy.witnesses import as_coded, deciding_releases, log_cdf
from support import settings_of

pytestmark = pytest.mark.slow

TESTS = 150
LINE = 0.001 / TESTS


def p_value(count: int, runs: int, probability: float) -> float:
    """Return the p-value of a count, two-sided."""
    return float(stats.binomtest(count, runs, probability).pvalue)


@njit
def copy_state(source, target):
    """Copy a state of the project's kernel."""
    target.clock[:], target.phase[:] = source.clock, source.phase
    target.explored[:], target.explored_sums[:] = source.explored, source.explored_sums
    target.episodes[:], target.private_means[:] = source.episodes, source.private_means


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


def test_the_kernel_has_the_probabilities_of_the_formula() -> None:
    counts, again = (
        [kernel_count(KERNEL_RUNS, rewards, seed) for rewards in SEQUENCES.values()]
        for seed in (40, 41)
    )
    for name, count in zip(SEQUENCES, counts, strict=True):
        assert p_value(count, KERNEL_RUNS, toy_probability(name)) > LINE
    # It refutes epsilon = 1 by itself, whatever the formula says.
    assert lowest_log_ratio(counts) > 1.1 * EPSILON
    # Null control: each sequence with itself.
    for pair in zip(counts, again, strict=True):
        table = [[count, KERNEL_RUNS - count] for count in pair]
        assert stats.fisher_exact(table).pvalue > LINE
        assert lowest_log_ratio(pair) < 0.1 * EPSILON


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_noise_ten_percent_off_is_caught(factor: float) -> None:
    runs = 3 * KERNEL_RUNS
    count = kernel_count(runs, CHANGED, 50, factor)
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


# Phase II of the code at T = 1e6 and epsilon = 2.
LONG, STRONG = 10**6, 2.0
EXPLORED = np.array([501.0, 500.0])
RELEASES = deciding_releases(as_coded(LONG, STRONG), 501, 500)
HALFWAY = np.array([min(max(each.needed - 0.5, 0.0), each.length) for each in RELEASES])
"""Sums of rewards that put both sequences half a reward from what is needed, where they can."""


def release_probabilities(changed: bool) -> NDArray[np.float64]:
    """Return the exact probability of each release."""
    needed = np.array([each.needed for each in RELEASES])
    scale = math.log(LONG) / STRONG
    found: NDArray[np.float64] = np.exp(log_cdf((HALFWAY + float(changed) - needed) / scale))
    return found


@njit
def count_episodes(runs, settings, window, before, state, generator):
    """Return in how many of so many runs the kernel plays arm 2 in this episode and the next."""
    laws, parameters = np.full(2, BERNOULLI), np.zeros(2)
    arms = Arms(laws, parameters)
    out = Segments(np.empty(2, np.int64), np.empty(2, np.int64), np.empty(2))
    count = 0
    for _ in range(runs):
        copy_state(before, state)
        advance_window(settings, window, window.horizon, state, arms, generator, out, 0)
        count += out.arms[0] == 1 and out.arms[1] == 1
    return count


LEVEL_RUNS = 200_000


def survivals(changed: bool, seed: int, factor: float = 1.0) -> list[int]:
    """Count for each release by itself the runs in which the kernel plays arm 2 again.

    The kernel plays one episode and chooses the next; its rewards stand in the sum before.
    """
    interpretations = GDP.interpretations_from({}, "as-coded")
    settings = settings_of(GDP, {"epsilon": STRONG}, interpretations, TWO_ARMS, LONG)
    window = open_window(settings, LONG)
    window = window._replace(noise=factor * window.noise)
    generator = np.random.default_rng(seed)
    counts = []
    for level in range(len(RELEASES)):
        before = GDP.state(2)
        before.phase[:], before.clock[:] = EXPLOITING, 1001 + 2 ** (level + 1) - 2
        before.explored[:], before.episodes[:] = EXPLORED, (1, 2**level)
        before.explored_sums[:] = 0.0, HALFWAY[level] + changed
        before.private_means[:] = 0.0, 1.0 if level else 0.0
        counts.append(
            int(count_episodes(LEVEL_RUNS, settings, window, before, GDP.state(2), generator))
        )
    return counts


def log_ratio(counts: list[int], changed: list[int]) -> tuple[float, float]:
    """Return ln of the ratio of the event's probabilities, and its standard error."""
    errors = sum((1.0 - count / LEVEL_RUNS) / count for count in counts + changed)
    return float(np.log(np.divide(changed, counts)).sum()), math.sqrt(errors)


def test_every_release_of_phase_two_has_the_probability_of_the_formula() -> None:
    counts = [survivals(changed, 70 + changed) for changed in (False, True)]
    exact = [release_probabilities(changed) for changed in (False, True)]
    for found, probabilities in zip(counts, exact, strict=True):
        pairs = zip(found, probabilities, strict=True)
        assert min(p_value(count, LEVEL_RUNS, chance) for count, chance in pairs) > LINE
    products = [float(probabilities.prod()) for probabilities in exact]
    assert products == pytest.approx([1.4142e-6, 1.65792e-5], rel=1e-4)
    loss = math.log(products[1] / products[0])
    assert loss == pytest.approx(2.4616, abs=1e-4)
    found_ratio, error = log_ratio(*counts)
    assert abs(found_ratio - loss) < 5.0 * error
    # It refutes epsilon = 2 by itself.
    assert found_ratio - 5.0 * error > 1.15 * STRONG
    # Null control.
    same, error = log_ratio(counts[0], survivals(False, 72))
    assert abs(same) < 5.0 * error < 0.1


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_noise_five_percent_off_is_caught_in_phase_two(factor: float) -> None:
    found_ratio, error = log_ratio(survivals(False, 80, factor), survivals(True, 81, factor))
    assert abs(found_ratio - 2.4616) > 5.0 * error
