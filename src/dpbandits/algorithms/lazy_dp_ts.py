"""Lazy-DP-TS (Hu and Hegde, UAI 2022, Algorithm 2), epsilon-DP by lazy doubling batches.

An arm's private mean is renewed when its buffer holds twice the rewards of the last renewal; every
reward enters one release. In round t every arm draws theta_j ~ Beta(m n_j + 1, (1 - m) n_j + 1),
with the mean raised to m = mean_j + 3 LOG(t) / (epsilon n_j) and clipped to [0, 1]; the largest is
played.

Interpretation:
    log: LOG is the ``natural`` logarithm, which the published curves are nearer to, or ``base2``,
        as the paper's notation has it.
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


class State(NamedTuple):
    """Rounds played (shape (1,)); per arm (shape (K,)) released count and mean, and the buffer."""

    clock: NDArray[np.int64]
    counts: NDArray[np.int64]
    private_means: NDArray[np.float64]
    buffered: NDArray[np.int64]
    buffer_sums: NDArray[np.float64]


def settings(horizon: int, arms: int, *, epsilon: float, log: str) -> Settings:
    """Translate parameters and interpretations for the kernel."""
    log_factor = 1.0 / math.log(2.0) if log == "base2" else 1.0
    return Settings(horizon, epsilon, log_factor)


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
def _largest_draw(settings, state, log_t, generator):
    counts, private_means = state.counts, state.private_means
    arm = 0
    largest = -math.inf
    for i in range(counts.size):
        count = counts[i]
        raised = private_means[i] + 3.0 * log_t / (settings.epsilon * count)
        mean = min(max(raised, 0.0), 1.0)
        theta = generator.beta(mean * count + 1.0, (1.0 - mean) * count + 1.0)
        if theta > largest:
            arm, largest = i, theta
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
        arm = t if first_pull else _largest_draw(settings, state, log_t, generator)
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
    """Algorithm 2, line by line."""
    arms = range(len(bandit.arms))
    epochs = [0 for _ in arms]
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
        theta = []
        for i in arms:
            n = 2 ** epochs[i]
            mean = private_means[i] + 3 * log_t / (settings.epsilon * n)
            if mean < 0:
                mean = 0.0
            elif mean > 1:
                mean = 1.0
            theta.append(generator.beta(mean * n + 1, (1 - mean) * n + 1))
        arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, generator)
        buffers[arm].append(reward)
        if len(buffers[arm]) == 2 ** (epochs[arm] + 1):
            epochs[arm] += 1
            total = 0.0
            for value in buffers[arm]:
                total += value
            noisy_sum = total + laplace.py_func(1.0 / settings.epsilon, generator)
            private_means[arm] = noisy_sum / 2 ** epochs[arm]
            buffers[arm] = []
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="lazy-dp-ts",
    name="Lazy-DP-TS",
    paper="Hu and Hegde (UAI 2022), Algorithm 2",
    parameters={"epsilon": positive},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="Hu and Hegde (2022)",
    interpretations={"log": ("natural", "base2")},
)
