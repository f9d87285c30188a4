"""The kernel of GDP-NCB over one window of rounds; the anytime wrapper plays many of them.

``open_window`` says what follows from a window's length, ``reset`` clears the state, and
``advance_window`` plays on. ``gdp_ncb`` documents them.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.gdp_ncb_phase_one import (
    EXPLOITING,
    EXPLORED,
    EXPLORING,
    PRIVATE_TEST,
    explore_by_blocks,
    explore_by_rounds,
)
from dpbandits.bandits.draws import arm_of_largest, draw_reward_sum, laplace
from dpbandits.kernels import njit

ALPHA = 3.1
C = 3.0
"""Constants of the index and of the threshold, the same in all experiments."""

CAPS = ("none", "root", "tenth")
NO_CAP, ROOT_CAP, TENTH_CAP = range(3)
STARTS = ("carried", "carried-positive", "zeros")
CARRIED, CARRIED_POSITIVE, ZEROS = range(3)


class Settings(NamedTuple):
    """Settings of the kernel: the horizon, epsilon and the interpretations."""

    horizon: int
    epsilon: float
    cap: int
    stop_test: int
    refresh_all: bool
    threshold: float
    window_logs: tuple[bool, bool]
    index_window_log: bool
    start: int
    pseudo_pulls: int
    release_log_factor: float
    root_inside: bool
    random_ties: bool
    blocks: bool


class Window(NamedTuple):
    """What follows from the settings for one horizon.

    ``cap`` rounds of Phase I at most; a sum of rewards above ``threshold`` stops it; ``noise`` is
    the scale of the noise in a sum of rewards; ``log`` is the logarithm in the index.
    """

    horizon: int
    cap: int
    threshold: float
    noise: float
    log: float


class State(NamedTuple):
    """Rounds played and the phase (shape (1,)), and four numbers for each arm (shape (K,)).

    They are the pulls N1 and the sum of rewards of Phase I, the pulls N2 of the latest episode (1
    before the first), and the private mean p.
    """

    clock: NDArray[np.int64]
    phase: NDArray[np.int64]
    explored: NDArray[np.int64]
    explored_sums: NDArray[np.float64]
    episodes: NDArray[np.int64]
    private_means: NDArray[np.float64]


def state(arms: int) -> State:
    """Return the state before round 1."""
    clock, phase = np.zeros((2, 1), np.int64)
    explored, episodes = np.zeros((2, arms), np.int64)
    explored_sums, private_means = np.zeros((2, arms))
    return State(clock, phase, explored, explored_sums, episodes, private_means)


@njit
def open_window(settings, horizon):
    """Return the Window of a run with ``horizon`` rounds, whatever ``settings.horizon`` is.

    The anytime wrapper plays one after the other, each from a state that ``reset`` has cleared.
    """
    root = int(math.sqrt(horizon)) + 1
    log, root_log = math.log(horizon), math.log(root)
    cap = horizon
    if settings.cap == ROOT_CAP:
        cap = root
    elif settings.cap == TENTH_CAP:
        cap = (horizon + 9) // 10
    first = root_log if settings.window_logs[0] else log
    second = root_log if settings.window_logs[1] else log
    return Window(
        horizon,
        cap,
        settings.threshold * (C**2 * first + second**2 / settings.epsilon),
        settings.release_log_factor * log / settings.epsilon,
        root_log if settings.index_window_log else log,
    )


@njit
def reset(state):
    """Clear the state in place: nothing played."""
    state.clock[:] = 0
    state.phase[:] = EXPLORING
    state.explored[:] = 0
    state.explored_sums[:] = 0.0
    state.episodes[:] = 0
    state.private_means[:] = 0.0


@njit
def start_phase_two(settings, window, state, generator):
    """Set the private means that Phase II begins with; those not released yet are drawn here."""
    state.phase[0] = EXPLOITING
    state.episodes[:] = 1
    if settings.start == ZEROS:
        state.private_means[:] = 0.0
        return
    for i in range(state.explored.size):
        if settings.stop_test != PRIVATE_TEST and state.explored[i] > 0:
            noisy_sum = state.explored_sums[i] + laplace(window.noise, generator)
            state.private_means[i] = noisy_sum / state.explored[i]
        state.private_means[i] = max(state.private_means[i], 0.0)
        if settings.start == CARRIED:
            state.private_means[i] = min(state.private_means[i], 1.0)


@njit
def _indices(settings, window, state):
    log, epsilon = window.log, settings.epsilon
    indices = np.empty(state.explored.size)
    for i in range(indices.size):
        n = state.explored[i] + state.episodes[i]
        if state.episodes[i] == 1:
            n += settings.pseudo_pulls - 1
        if n == 0:
            indices[i] = math.inf
            continue
        p = state.private_means[i]
        last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon) * log**1.5 / n
        if settings.root_inside:
            last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon * log**1.5 / n)
        width = 2.0 * C * math.sqrt(2.0 * p * log / n)
        indices[i] = p + width + ALPHA * log**2 / (epsilon * n) + last
    return indices


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
    if state.phase[0] == EXPLORING:
        end = min(stop, window.cap)
        if settings.blocks and not settings.refresh_all:
            written = explore_by_blocks(
                *(settings, window, end, state, laws, law_parameters, generator),
                *(arms, lengths, sums, written),
            )
        else:
            written = explore_by_rounds(
                *(settings, window, end, state, laws, law_parameters, generator),
                *(arms, lengths, sums, written),
            )
        if state.clock[0] == window.cap:
            state.phase[0] = EXPLORED
    t = state.clock[0]
    while state.phase[0] != EXPLORING and t < stop and written < arms.size:
        if state.phase[0] == EXPLORED:
            start_phase_two(settings, window, state, generator)
        indices = _indices(settings, window, state)
        arm = arm_of_largest(indices, settings.random_ties, generator)
        length = min(2 * state.episodes[arm], stop - t)
        rewards = draw_reward_sum(laws[arm], law_parameters[arm], length, generator)
        n = state.explored[arm] + length
        noisy_sum = state.explored_sums[arm] + rewards + laplace(window.noise, generator)
        state.episodes[arm] = length
        state.private_means[arm] = min(max(noisy_sum / n, 0.0), 1.0)
        arms[written], lengths[written], sums[written] = arm, length, rewards
        written += 1
        t += length
    state.clock[0] = t
    return written
