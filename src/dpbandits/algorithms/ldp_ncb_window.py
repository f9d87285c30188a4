"""The kernel of LDP-NCB for one horizon; its definition and reference stand in ``ldp_ncb``.

The index has a fixed horizon, so that only the pulled arm's index moves: the kernel pulls the
leader until its index falls to the largest of the others, which it looks up once, and writes these
pulls as one chunk. It takes the reference's decisions, round for round.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.ranking import draw_first, sink
from dpbandits.bandits.draws import draw_reward, laplace
from dpbandits.kernels import njit

C = 3.0
ALPHA = 3.1
NO_CAP, ROOT_CAP, ROOT_PLUS_ONE_CAP, TENTH_CAP = range(4)
PLAIN_TEST, FLOORED_TEST, NO_TEST = range(3)
DISPLAY_CLIP, RECURSIVE_CLIP, NO_CLIP = range(3)
EXPLORING, LEADING = range(2)

SMALLEST_DIFFERENCE = 1e-20
"""Floor of d in the released stop test."""

NOISE_AHEAD = 32.0
"""Scales of noise that the leader's sum may lose before its index is computed again."""

ROUNDING = 1e-12
"""Relative lead below which an index is computed in full, far above what rounding can move."""


class Settings(NamedTuple):
    """Settings of the kernel: horizon, epsilon and the interpretations.

    ``exploration_location`` and ``exploration_scale`` are those of the noise in Phase I.
    """

    horizon: int
    epsilon: float
    cap: int
    stop_test: int
    threshold: float
    exploration_location: float
    exploration_scale: float
    clip: int
    clips_both_phases: bool
    window_log: bool
    random_ties: bool


class Window(NamedTuple):
    """What follows from the settings for one horizon.

    Phase I lasts ``cap`` rounds at most. Its test compares N p with
    ``base`` + ``slope`` / d + N ``local_width`` / sqrt(N), and the index is
    p + ``mean_width`` sqrt(p/N) + ``local_width`` / sqrt(N) + ``last_width`` / N^(3/4).
    """

    horizon: int
    cap: int
    base: float
    slope: float
    mean_width: float
    local_width: float
    last_width: float


class State(NamedTuple):
    """Rounds played and the phase (shape (1,)); pulls and sums of private values (shape (K,))."""

    clock: NDArray[np.int64]
    phase: NDArray[np.int64]
    counts: NDArray[np.int64]
    private_sums: NDArray[np.float64]


def state(arms: int) -> State:
    """Return the state before round 1."""
    clock, phase = np.zeros((2, 1), np.int64)
    return State(clock, phase, np.zeros(arms, np.int64), np.zeros(arms))


@njit
def open_window(settings, horizon):
    """Return the Window of a run with ``horizon`` rounds, whatever ``settings.horizon`` is."""
    epsilon = settings.epsilon
    root = int(math.sqrt(horizon)) + 1
    log = math.log(horizon)
    last_log = math.log(root) if settings.window_log else log
    cap = horizon
    if settings.cap == ROOT_CAP:
        cap = root
    elif settings.cap == ROOT_PLUS_ONE_CAP:
        cap = root + 1
    elif settings.cap == TENTH_CAP:
        cap = (horizon + 9) // 10
    return Window(
        horizon,
        cap,
        settings.threshold * C**2 * log,
        settings.threshold * (log / epsilon) ** 2,
        2.0 * C * math.sqrt(2.0 * log),
        math.sqrt(8.0 * ALPHA * log) / epsilon,
        4.0 * C * (2.0 * ALPHA) ** 0.25 * last_log**0.75 / math.sqrt(epsilon),
    )


@njit
def stops(settings, window, count, private_sum):
    """Tell whether an arm with these observations ends Phase I; one without any does not."""
    # From d <= p it follows that N p exceeds base + slope / p, a test without roots.
    if settings.stop_test == NO_TEST or private_sum <= window.base:
        return False
    if private_sum * (private_sum - window.base) <= window.slope * count:
        return False
    width = window.local_width / math.sqrt(count)
    difference = private_sum / count - width
    if settings.stop_test == FLOORED_TEST:
        difference = max(difference, SMALLEST_DIFFERENCE)
    if difference <= 0.0:
        return False
    return private_sum > window.base + window.slope / difference + count * width


@njit
def exploration_sum(settings, count, private_sum):
    """Return the sum that Phase I shows: of a mean in [0, 1] where both phases are clipped."""
    if settings.clips_both_phases and settings.clip != NO_CLIP:
        return min(max(private_sum, 0.0), float(count))
    return private_sum


@njit
def _explore(
    settings, window, stop, state, laws, law_parameters, generator, arms, lengths, sums, written
):
    counts, private_sums = state.counts, state.private_sums
    location, scale = settings.exploration_location, settings.exploration_scale
    t = state.clock[0]
    while state.phase[0] == EXPLORING and t < stop and written < arms.size:
        arm = int(generator.random() * laws.size)
        reward = draw_reward(laws[arm], law_parameters[arm], generator)
        counts[arm] += 1
        private_sums[arm] += reward + (location + laplace(scale, generator))
        shown = exploration_sum(settings, counts[arm], private_sums[arm])
        if settings.clip == RECURSIVE_CLIP:
            private_sums[arm] = shown
        arms[written], lengths[written], sums[written] = arm, 1, reward
        written += 1
        t += 1
        if t == window.cap or stops(settings, window, counts[arm], shown):
            state.phase[0] = LEADING
    state.clock[0] = t
    return written


@njit
def _index(window, count, shown):
    """Return the index of an arm whose ``count`` private values have the sum that is shown."""
    inverse_root = 1.0 / math.sqrt(count)
    p = shown / count
    widths = window.mean_width * math.sqrt(max(p, 0.0)) + window.local_width
    return p + inverse_root * (widths + window.last_width * math.sqrt(inverse_root))


@njit
def _shown(settings, count, private_sum):
    """Return the sum that Phase II shows: of a mean in [0, 1] unless nothing is clipped."""
    if settings.clip == NO_CLIP:
        return private_sum
    return min(max(private_sum, 0.0), float(count))


@njit
def _rank(settings, window, state):
    """Return the arms and their indices, largest first; a recursive clip enters the sums."""
    indices = np.full(state.counts.size, math.inf)
    for i in range(indices.size):
        if state.counts[i] > 0:
            shown = _shown(settings, state.counts[i], state.private_sums[i])
            if settings.clip == RECURSIVE_CLIP:
                state.private_sums[i] = shown
            indices[i] = _index(window, state.counts[i], shown)
    # Stable, so that of equal indices the lowest arm is first.
    order = np.argsort(-indices, kind="mergesort")
    return order, indices[order]


@njit
def _lead(
    settings, window, stop, state, laws, law_parameters, generator, arms, lengths, sums, written
):
    counts, private_sums = state.counts, state.private_sums
    scale = 1.0 / settings.epsilon
    t = state.clock[0]
    order, indices = _rank(settings, window, state)
    while t < stop and written < arms.size:
        if settings.random_ties:
            draw_first(order, indices, generator)
        arm, runner_up = order[0], indices[1]
        law, law_parameter = laws[arm], law_parameters[arm]
        count, private_sum = counts[arm], private_sums[arm]
        begin, rewards = t, 0.0
        safe_sum = safe_widths = index = math.inf
        slope = runner_up + ROUNDING * abs(runner_up)
        while t < stop:
            reward = draw_reward(law, law_parameter, generator)
            rewards += reward
            private_sum += reward + laplace(scale, generator)
            count += 1
            t += 1
            shown = _shown(settings, count, private_sum)
            if settings.clip == RECURSIVE_CLIP:
                private_sum = shown
            # N times the index is sum + mean_width sqrt(sum) + local_width sqrt(N) + last_width
            # N^(1/4), whose terms grow: the widths found for less still stand below these.
            if shown >= safe_sum and shown + safe_widths > slope * count:
                continue
            index = _index(window, count, shown)
            if not index > runner_up:
                break
            safe_sum = max(shown - NOISE_AHEAD * scale, 0.0)
            root = math.sqrt(count)
            safe_widths = window.mean_width * math.sqrt(safe_sum) + window.local_width * root
            safe_widths += window.last_width * math.sqrt(root)
        indices[0] = index
        sink(order, indices, 0)
        counts[arm], private_sums[arm] = count, private_sum
        arms[written], lengths[written], sums[written] = arm, t - begin, rewards
        written += 1
    state.clock[0] = t
    return written


@njit
def advance_window(
    settings, window, stop, state, laws, law_parameters, generator, arms, lengths, sums, written
):
    """Play a window's rounds until ``stop`` of them are over or ``arms`` is full.

    Args:
        settings: the interpretations and epsilon; their horizon is not read.
        window: what ``open_window`` returned.
        stop: rounds of the window to play, at most ``window.horizon``.
        state: of this window; ``state.clock[0]`` counts its rounds.
        laws, law_parameters, generator, arms, lengths, sums: as every kernel has them.
        written: chunks that stand in the arrays already.

    Returns:
        The number of chunks that stand there now.
    """
    written = _explore(
        *(settings, window, stop, state, laws, law_parameters, generator),
        *(arms, lengths, sums, written),
    )
    if state.phase[0] == EXPLORING or state.clock[0] == stop:
        return written
    return _lead(
        *(settings, window, stop, state, laws, law_parameters, generator),
        *(arms, lengths, sums, written),
    )
