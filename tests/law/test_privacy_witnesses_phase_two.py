"""The witness in Phase II on the privacy of GDP-NCB as coded against simulation (NCB-C15).

The event is too rare to be counted whole in seconds. Given the lengths of the episodes its
releases are independent: each is counted by itself, in a plain play of the released code's Phase II
(`witness_plays`, which has the error rate) and in the project's kernel, and the whole event in
fewer runs. The null control compares one reward sequence with itself. A noise 5 % off must be
caught, and so must one noise in all releases.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import dpbandits
import witness_plays
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.gdp_ncb import EXPLOITING, advance_window, open_window
from dpbandits.bandits.draws import BERNOULLI
from dpbandits.kernels import Arms, Segments, njit
from dpbandits.privacy.witnesses import as_coded, deciding_releases, log_cdf
from support import settings_of
from witness_plays import LINE, copy_state, p_value

pytestmark = pytest.mark.slow

GDP = REGRET["gdp-ncb"]
TWO_ARMS = dpbandits.bernoulli([0.5, 0.5])

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
            witness_plays.count_phase_two(
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
        witness_plays.count_phase_two(
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
