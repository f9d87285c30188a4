"""DP-TS (Hu and Hegde, UAI 2022, Algorithm 1), epsilon-DP by a hybrid of two continual counters.

An arm's rewards are summed twice over, each at epsilon/2: at pulls 1, 3, 7, 15, ... all rewards
since the last of these are released together (the logarithmic part), and in between the binary
mechanism of Chan, Shi and Song, bounded by the length of the present epoch, counts the rewards
since. In round t every arm with O pulls draws theta ~ Beta(m O + 1, (1 - m) O + 1) with the private
mean raised to m = mean + 6 sqrt(8) LOG(O + 1) LOG(t) / (epsilon O) and clipped to [0, 1]; the
largest is played.

The parameter ``constant`` is the 6 in it. Privacy does not depend on it: the counters release at
given pulls of an arm, and what is played is computed from their private sums.

Interpretation:
    log: both logarithms in ``base2``, as the paper's notation has it, or ``natural``.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, AuditCase, Known, Segment, positive, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import laplace, pull
from dpbandits.kernels import Counts, One, Reals, njit, write

SHIFT = 6.0
"""As printed, beside the root of 8."""

LEVELS = 62  # of the binary mechanism, more than the rounds of any horizon can fill


class Settings(NamedTuple):
    """Arguments of the kernel: LOG(t) is ``log_factor`` ln t."""

    horizon: int
    epsilon: float
    log_factor: float
    constant: float


class State(NamedTuple):
    """The counters of each arm.

    An epoch's binary mechanism has ``levels`` levels and counts 2^levels - 1 rewards. ``noise``,
    shape (K, LEVELS), is the noise of the current partial sums, which add up to ``epoch_sums``; it
    is 0 at unused levels.
    """

    clock: One
    pulls: Counts
    private_means: Reals
    released_sums: Reals
    epoch_sums: Reals
    levels: Counts
    noise: NDArray[np.float64]


def settings(
    horizon: int, arms: int, epsilon: float, log: str, constant: float = SHIFT
) -> Settings:
    log_factor = 1.0 / math.log(2.0) if log == "base2" else 1.0
    return Settings(horizon, epsilon, log_factor, constant)


def state(arms: int) -> State:
    clock, pulls, levels = (np.zeros(size, np.int64) for size in (1, arms, arms))
    means, released, sums = np.zeros((3, arms))
    return State(clock, pulls, means, released, sums, levels, np.zeros((arms, LEVELS)))


@njit
def _largest_draw(settings, state, log_t, rng):
    pulls, private_means = state.pulls, state.private_means
    arm = 0
    largest = -math.inf
    for i in range(pulls.size):
        count = pulls[i]
        log_count = settings.log_factor * math.log(count + 1)
        factor = settings.constant * math.sqrt(8.0)
        shift = factor * log_count * log_t / (settings.epsilon * count)
        mean = min(max(private_means[i] + shift, 0.0), 1.0)
        theta = rng.beta(mean * count + 1.0, (1.0 - mean) * count + 1.0)
        if theta > largest:
            arm, largest = i, theta
    return arm


@njit
def _renew(settings, state, arm, rng):
    """Renew the private mean of an arm that has just been pulled."""
    noise, levels = state.noise[arm], state.levels[arm]
    scale = 2.0 / settings.epsilon
    # Rewards since the epoch began; the first pull is an epoch by itself, of no levels.
    position = state.pulls[arm] + 1 - 2**levels
    if position == 2**levels:
        state.released_sums[arm] += state.epoch_sums[arm] + laplace(scale, rng)
        state.epoch_sums[arm] = 0.0
        state.levels[arm] += 1
        noise[:] = 0.0
    else:
        level = 0
        while (position >> level) % 2 == 0:
            noise[level] = 0.0
            level += 1
        noise[level] = laplace(levels * scale, rng)
    noisy_sum = state.released_sums[arm] + state.epoch_sums[arm]
    for level in range(levels):
        noisy_sum += noise[level]
    state.private_means[arm] = noisy_sum / state.pulls[arm]


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    t, n = state.clock[0], 0
    while t < settings.horizon and n < out.arms.size:
        arm = t
        if t >= arms.laws.size:
            log_t = settings.log_factor * math.log(t + 1)
            arm = _largest_draw(settings, state, log_t, rng)
        reward = pull(arms, arm, rng)
        state.pulls[arm] += 1
        state.epoch_sums[arm] += reward
        _renew(settings, state, arm, rng)
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return n


class _BinaryMechanism:
    """The bounded binary mechanism, as printed: noisy sums over dyadic blocks of its stream."""

    def __init__(self, levels: int, scale: float) -> None:
        self.items = 0
        self.scale = scale
        self.sums = [0.0] * levels
        self.noisy_sums = [0.0] * levels

    def count(self, value: float, rng: np.random.Generator) -> float:
        """Take the next value and return the noisy sum of all so far."""
        self.items += 1
        bits = [self.items >> level & 1 for level in range(len(self.sums))]
        lowest = bits.index(1)
        self.sums[lowest] = sum(self.sums[:lowest]) + value
        self.sums[:lowest] = [0.0] * lowest
        self.noisy_sums[lowest] = self.sums[lowest] + laplace.py_func(self.scale, rng)
        return sum(noisy for noisy, bit in zip(self.noisy_sums, bits, strict=True) if bit)


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 1, line by line."""
    arms = range(len(bandit.arms))
    half = settings.epsilon / 2
    logarithmic, private_means = [], []
    for arm in arms[: settings.horizon]:  # every arm once
        reward = bandit.draw(arm, rng)
        logarithmic.append(reward + laplace.py_func(1 / half, rng))
        private_means.append(logarithmic[arm])
        yield arm, 1, reward
    pulls, epochs = [1 for _ in arms], [0 for _ in arms]
    stored: list[list[float]] = [[] for _ in arms]
    counters = [_BinaryMechanism(1, 1 / half) for _ in arms]
    for t in range(len(arms) + 1, settings.horizon + 1):
        log_t = settings.log_factor * math.log(t)
        theta = []
        for i in arms:
            log_pulls = settings.log_factor * math.log(pulls[i] + 1)
            shift = settings.constant * math.sqrt(8) * log_pulls * log_t
            shift /= settings.epsilon * pulls[i]
            mean = min(max(private_means[i] + shift, 0.0), 1.0)
            theta.append(rng.beta(mean * pulls[i] + 1, (1 - mean) * pulls[i] + 1))
        arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, rng)
        pulls[arm] += 1
        stored[arm].append(reward)
        if pulls[arm] == 2 ** (epochs[arm] + 2) - 1:
            logarithmic[arm] += sum(stored[arm]) + laplace.py_func(1 / half, rng)
            stored[arm] = []
            epochs[arm] += 1
            levels = epochs[arm] + 1
            counters[arm] = _BinaryMechanism(levels, levels / half)
            binary = 0.0
        else:
            binary = counters[arm].count(reward, rng)
        private_means[arm] = (logarithmic[arm] + binary) / pulls[arm]
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="dp-ts",
    name="DP-TS",
    paper="Hu and Hegde (UAI 2022), Algorithm 1",
    parameters={"epsilon": positive, "constant": printed(SHIFT)},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="Hu and Hegde (2022)",
    known=(Known("proved", "composition: every reward enters two counters, epsilon/2 each"),),
    audit=AuditCase(
        0.3,
        "AUD-18",
        horizon=64,
        parameters={"epsilon": 20.0},
        runs=400_000,
        silent={
            "as-written": "each of two counters has half of epsilon; at twice the epsilon one "
            "alone loses no more than is claimed"
        },
    ),
    interpretations={"log": ("base2", "natural")},
)
