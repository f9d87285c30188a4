"""Anytime-Lazy-UCB (Hu, Huang and Mehta, 2021), epsilon-DP by lazy doubling episodes.

An arm's private mean is renewed when its buffer holds twice the rewards of the last renewal; every
reward enters one release. The index of arm j in round t is
mean_j + sqrt(a LOG(t) / n_j) + b LOG(t) / (epsilon n_j), its base and constants not settled by the
public copies of the paper.

Interpretations:
    log: ``base2`` (reproduces the curves of Hu and Hegde, UAI 2022, with (3, 3)) or ``natural``.
    constants: (a, b), one of ``3,3``, ``4,4``, ``4,5``.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, Segment, positive
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward, laplace
from dpbandits.kernels import njit


class Settings(NamedTuple):
    """Settings of the kernel: LOG(t) is ``log_factor`` ln t."""

    horizon: int
    epsilon: float
    log_factor: float
    width_constant: float
    noise_constant: float


class State(NamedTuple):
    """Rounds played (shape (1,)); per arm (shape (K,)) released count and mean, and the buffer."""

    clock: NDArray[np.int64]
    counts: NDArray[np.int64]
    private_means: NDArray[np.float64]
    buffered: NDArray[np.int64]
    buffer_sums: NDArray[np.float64]


def settings(horizon: int, arms: int, *, epsilon: float, log: str, constants: str) -> Settings:
    """Translate parameters and interpretations for the kernel."""
    log_factor = 1.0 / math.log(2.0) if log == "base2" else 1.0
    width, noise = (float(value) for value in constants.split(","))
    return Settings(horizon, epsilon, log_factor, width, noise)


def state(arms: int) -> State:
    """Return the state before round 1."""
    return State(
        np.zeros(1, np.int64),
        np.zeros(arms, np.int64),
        np.zeros(arms),
        np.zeros(arms, np.int64),
        np.zeros(arms),
    )


@njit
def _largest_index(settings, state, log_t):
    arm = 0
    largest = -math.inf
    for i in range(state.counts.size):
        count = state.counts[i]
        width = math.sqrt(settings.width_constant * log_t / count)
        noise = settings.noise_constant * log_t / (settings.epsilon * count)
        index = state.private_means[i] + width + noise
        if index > largest:
            arm, largest = i, index
    return arm


@njit(nogil=True)
def advance(settings, state, bandit, generator, out):
    """Play rounds until the horizon or until ``arms`` is full; one chunk a round."""
    laws, law_parameters = bandit
    arms, lengths, sums = out
    t = state.clock[0]
    written = 0
    while t < settings.horizon and written < arms.size:
        first_pull = t < laws.size
        log_t = settings.log_factor * math.log(t + 1)
        arm = t if first_pull else _largest_index(settings, state, log_t)
        reward = draw_reward(laws[arm], law_parameters[arm], generator)
        state.buffered[arm] += 1
        state.buffer_sums[arm] += reward
        if first_pull or state.buffered[arm] == 2 * state.counts[arm]:
            count = state.buffered[arm]
            noisy_sum = state.buffer_sums[arm] + laplace(1.0 / settings.epsilon, generator)
            state.counts[arm] = count
            state.private_means[arm] = noisy_sum / count
            state.buffered[arm] = 0
            state.buffer_sums[arm] = 0.0
        arms[written], lengths[written], sums[written] = arm, 1, reward
        written += 1
        t += 1
    state.clock[0] = t
    return written


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    """The lazy index policy, line by line."""
    arms = range(len(bandit.arms))
    doublings = [0 for _ in arms]
    private_means = [0.0 for _ in arms]
    buffers: list[list[float]] = [[] for _ in arms]
    for t in range(1, settings.horizon + 1):
        if t <= len(arms):  # every arm once, its first reward released at once
            arm = t - 1
            reward = bandit.draw(arm, generator)
            private_means[arm] = reward + laplace.py_func(1.0 / settings.epsilon, generator)
            yield arm, 1, reward
            continue
        log_t = settings.log_factor * math.log(t)
        index = []
        for i in arms:
            n = 2 ** doublings[i]
            width = math.sqrt(settings.width_constant * log_t / n)
            noise = settings.noise_constant * log_t / (settings.epsilon * n)
            index.append(private_means[i] + width + noise)
        arm = max(arms, key=index.__getitem__)
        reward = bandit.draw(arm, generator)
        buffers[arm].append(reward)
        if len(buffers[arm]) == 2 ** (doublings[arm] + 1):
            doublings[arm] += 1
            total = 0.0
            for value in buffers[arm]:
                total += value
            noisy_sum = total + laplace.py_func(1.0 / settings.epsilon, generator)
            private_means[arm] = noisy_sum / 2 ** doublings[arm]
            buffers[arm] = []
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="anytime-lazy-ucb",
    name="Anytime-Lazy-UCB",
    paper="Hu, Huang and Mehta (2021)",
    parameters={"epsilon": positive},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="Hu, Huang and Mehta (2021)",
    interpretations={"log": ("base2", "natural"), "constants": ("3,3", "4,4", "4,5")},
)
