"""The witnesses on the privacy of GDP-NCB against simulation, at toy size (NCB-C15).

Three implementations play the event in Phase I: a plain play of Algorithm 1, the
project's kernel, and its reference. Counts are compared with the exact
probabilities by binomial tests. The event in Phase II of the released code is too rare to be
counted whole in seconds. Given the lengths of the episodes its releases are independent: each is
counted by itself, in a plain play and in the kernel, and the whole event in fewer runs. Null
controls compare one reward sequence with itself. A noise 10 % off, in Phase II 5 % off, must be
caught, and so must one noise used twice, or in all releases.

The plain plays are written after the papers' text and code, with two arms and prescribed rewards.
They share nothing with the package: noise by inversion, sums by rounds, two arms by hand. Phase I
is played with its arms given, since they are drawn independently of the rewards.

Error rate: at most TESTS true hypotheses are tested, each at LINE = 0.001 / TESTS (Bonferroni), so
that correct code fails this file with probability 0.001 at most over the choice of seeds, which are
fixed.
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


@njit
def laplace(scale, generator):
    """Draw a Laplace noise by inversion of its distribution function."""
    u = generator.random() - 0.5
    return -scale * math.copysign(math.log1p(-2.0 * abs(u)), u)


@njit
def index(p, n, log, epsilon):
    """Equation 4 with c = 3 and alpha = 3.1, the root over 2 alpha / epsilon."""
    last = 4.0 * math.sqrt(6.2 / epsilon) * log**1.5 / n
    return p + 6.0 * math.sqrt(2.0 * p * log / n) + 3.1 * log**2 / (epsilon * n) + last


@njit
def algorithm_1(arms, rewards, threshold, scale, log, epsilon, repeats, generator):
    """Play Algorithm 1; return whether it pulls these arms in these rounds.

    The arms, 0 or 1, are those that Phase I pulls while it lasts; threshold is TH of line 2, scale
    that of the noise in lines 5 and 20; with ``repeats`` line 5 uses an arm's first noise again,
    which is an error.
    """
    n1, s1, p = np.zeros(2), np.zeros(2), np.zeros(2)
    first_noise = np.array([laplace(scale, generator), laplace(scale, generator)])
    t = 0
    while (n1 * p).max() <= threshold:  # line 2
        if t == arms.size:
            return True
        arm = arms[t]  # line 3
        n1[arm] += 1.0  # line 4
        s1[arm] += rewards[t]
        noise = first_noise[arm] if repeats else laplace(scale, generator)
        p[arm] = s1[arm] / n1[arm] + noise / n1[arm]  # line 5
        t += 1
    n2 = np.ones(2)  # line 8
    while True:
        values = [index(min(max(p[i], 0.0), 1.0), n1[i] + n2[i], log, epsilon) for i in range(2)]
        arm = 0 if values[0] >= values[1] else 1  # line 11
        pulls, total = 2 * int(n2[arm]), s1[arm]
        for _ in range(pulls):  # line 14
            if t == arms.size:
                return True
            if arms[t] != arm:
                return False
            total += rewards[t]
            t += 1
        n2[arm] = pulls
        n = n1[arm] + pulls
        p[arm] = min(max(total / n + laplace(scale / n, generator), 0.0), 1.0)  # lines 20, 21


@njit
def count_algorithm_1(runs, arms, rewards, threshold, scale, log, epsilon, repeats, generator):
    """Return in how many of so many runs Algorithm 1 pulls these arms."""
    count = 0
    for _ in range(runs):
        count += algorithm_1(arms, rewards, threshold, scale, log, epsilon, repeats, generator)
    return count


@njit
def phase_two(explored, sums, rewards, log, window_log, epsilon, repeats, begin, generator):
    """Play Phase II of the released code from a release on; return the releases arm 2 survives.

    Arm 2 (number 1) is pulled again after a release if its index is above that of arm 1, which has
    the private mean 0; arm 1 comes first where they are equal.

    ``explored`` and ``sums`` are of both arms in Phase I, rewards of arm 2's episodes, ``log`` is
    that of the noise, ``window_log`` of the index; with ``repeats`` all releases have one noise,
    relative to their scale, which is an error.
    """
    other = index(0.0, explored[0] + 1.0, window_log, epsilon)
    noise = laplace(1.0, generator)
    for episode in range(begin, rewards.size):
        n = explored[1] + 2.0 ** (episode + 1)
        scale = log / (epsilon * n)
        if not repeats:
            noise = laplace(1.0, generator)
        p = min(max((sums[1] + rewards[episode]) / n + scale * noise, 0.0), 1.0)
        if index(p, n, window_log, epsilon) <= other:
            return episode - begin
    return rewards.size - begin


@njit
def count_phase_two(
    runs, explored, sums, rewards, log, window_log, epsilon, repeats, begin, least, generator
):
    """Return in how many of so many runs arm 2 survives at least ``least`` releases."""
    count = 0
    for _ in range(runs):
        survived = phase_two(
            explored, sums, rewards, log, window_log, epsilon, repeats, begin, generator
        )
        count += survived >= least
    return count


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
        count_algorithm_1(
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


# Phase II of the code at T = 1e6 and epsilon = 2.
LONG, STRONG = 10**6, 2.0
LONG_LOG, WINDOW_LOG = math.log(LONG), math.log(1001)
EXPLORED = np.array([501.0, 500.0])
RELEASES = deciding_releases(as_coded(LONG, STRONG), 501, 500)
HALFWAY = np.array([min(max(each.needed - 0.5, 0.0), each.length) for each in RELEASES])
"""Sums of rewards that put both sequences half a reward from what is needed, where they can."""


LEVEL_RUNS = 200_000


def survivals(changed: bool, seed: int, factor: float = 1.0) -> NDArray[np.int64]:
    """Count for each release of Phase II by itself the runs in which arm 2 survives it."""
    sums, generator = np.array([0.0, float(changed)]), np.random.default_rng(seed)
    return np.array(
        [
            count_phase_two(
                *(LEVEL_RUNS, EXPLORED, sums, HALFWAY, factor * LONG_LOG, WINDOW_LOG, STRONG),
                *(False, level, 1, generator),
            )
            for level in range(len(RELEASES))
        ]
    )


def release_probabilities(changed: bool) -> NDArray[np.float64]:
    """Return the exact probability of each release."""
    needed = np.array([each.needed for each in RELEASES])
    scale = LONG_LOG / STRONG
    found: NDArray[np.float64] = np.exp(log_cdf((HALFWAY + float(changed) - needed) / scale))
    return found


def log_ratio(counts: NDArray[np.int64], changed: NDArray[np.int64]) -> tuple[float, float]:
    """Return ln of the ratio of the event's probabilities, and its standard error."""
    errors = sum((1.0 - each / LEVEL_RUNS) / each for each in [*counts, *changed])
    return float(np.log(changed / counts).sum()), math.sqrt(errors)


def test_every_release_of_phase_two_has_the_probability_of_the_formula() -> None:
    counts = [survivals(changed, 70 + changed) for changed in (False, True)]
    for changed, found in zip((False, True), counts, strict=True):
        pairs = zip(found, release_probabilities(changed), strict=True)
        assert min(p_value(int(each), LEVEL_RUNS, exact) for each, exact in pairs) > LINE
    found_ratio, error = log_ratio(counts[0], counts[1])
    exact = np.log(release_probabilities(True) / release_probabilities(False)).sum()
    assert exact == pytest.approx(2.4616, abs=1e-4)
    assert abs(found_ratio - exact) < 5.0 * error
    # It refutes epsilon = 2 by itself.
    assert found_ratio - 5.0 * error > 1.15 * STRONG
    # Null control.
    same, error = log_ratio(counts[0], survivals(False, 72))
    assert abs(same) < 5.0 * error < 0.1


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_noise_five_percent_off_is_caught_in_phase_two(factor: float) -> None:
    pair = survivals(False, 80, factor), survivals(True, 81, factor)
    found_ratio, error = log_ratio(*pair)
    assert abs(found_ratio - 2.4616) > 5.0 * error


def whole_phase_two(changed: bool, runs: int, seed: int, repeats: bool = False) -> int:
    """Count the runs of Phase II in which arm 2 survives all of its releases."""
    sums, generator = np.array([0.0, float(changed)]), np.random.default_rng(seed)
    return int(
        count_phase_two(
            *(runs, EXPLORED, sums, HALFWAY, LONG_LOG, WINDOW_LOG, STRONG, repeats),
            *(0, len(RELEASES), generator),
        )
    )


WHOLE_RUNS = 5_000_000


def test_the_whole_of_phase_two_has_the_probabilities_of_the_formula() -> None:
    exact = [float(release_probabilities(changed).prod()) for changed in (False, True)]
    assert exact == pytest.approx([1.4142e-6, 1.65792e-5], rel=1e-4)
    counts = [whole_phase_two(changed, WHOLE_RUNS, 90 + changed) for changed in (False, True)]
    for count, probability in zip(counts, exact, strict=True):
        assert p_value(count, WHOLE_RUNS, probability) > LINE


def test_a_noise_used_in_all_releases_is_caught() -> None:
    count = whole_phase_two(False, 100_000, 95, repeats=True)
    assert p_value(count, 100_000, float(release_probabilities(False).prod())) < LINE


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


EPISODE_RUNS = 40_000


@pytest.mark.parametrize("changed", [False, True])
def test_the_kernel_survives_every_release_as_often(changed: bool) -> None:
    """The kernel plays one episode and chooses the next; its rewards stand in the sum before."""
    interpretations = GDP.interpretations_from({}, "as-coded")
    settings = settings_of(GDP, {"epsilon": STRONG}, interpretations, TWO_ARMS, LONG)
    window = open_window(settings, LONG)
    generator = np.random.default_rng(97)
    values = []
    for level, exact in enumerate(release_probabilities(changed)):
        before = GDP.state(2)
        before.phase[:], before.clock[:] = EXPLOITING, 1001 + 2 ** (level + 1) - 2
        before.explored[:], before.episodes[:] = EXPLORED, (1, 2**level)
        before.explored_sums[:] = 0.0, HALFWAY[level] + changed
        before.private_means[:] = 0.0, 1.0 if level else 0.0
        count = count_episodes(EPISODE_RUNS, settings, window, before, GDP.state(2), generator)
        values.append(p_value(count, EPISODE_RUNS, exact))
    assert min(values) > LINE
