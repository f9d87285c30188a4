"""Phase I of GDP-NCB: uniformly random pulls, round by round or, the same in law, in blocks.

A pull stops the phase where its arm's sum of rewards plus fresh Laplace noise exceeds a threshold.
Let d be the distance of the largest sum to it. In a block of m < d pulls only a noise above d - m
can do that. The number of pulls before the first such noise is geometric; they are drawn as one
multinomial with a sum of rewards for each arm, and the exceeding noise is, by lack of memory, d - m
and another exponential. Near the threshold every pull is played by itself. Blocks begin at
multiples of BLOCK_FROM, so that it makes no difference where a kernel is resumed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np

from dpbandits.algorithms.base import Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import laplace, pull, pull_sum
from dpbandits.kernels import UNIFORM, njit, write

STOP_TESTS = ("private", "clean", "off")
PRIVATE_TEST, CLEAN_TEST, NO_TEST = range(3)
EXPLORING, EXPLORED, EXPLOITING = range(3)

BLOCK_FROM = 512
"""Blocks are multiples of so many pulls, which cost as much as the two binomials of every arm."""

NEAR = math.log(BLOCK_FROM / 2.0)
"""A noise of so many scales is exceeded once in BLOCK_FROM; blocks keep so far from the threshold,
and half their distance besides, where the noise is small."""


@njit
def _pull(explored, explored_sums, arms, rng):
    """Pull a uniformly random arm and return it with its reward."""
    arm = int(rng.random() * arms.laws.size)
    reward = pull(arms, arm, rng)
    explored[arm] += 1
    explored_sums[arm] += reward
    return arm, reward


@njit
def _refresh_all(window, explored, explored_sums, private_means, rng):
    """Renew the private mean of every arm that was pulled; tell whether one stops the phase."""
    stops = False
    for i in range(explored.size):
        if explored[i] > 0:
            noisy_sum = explored_sums[i] + laplace(window.noise, rng)
            private_means[i] = noisy_sum / explored[i]
            stops |= noisy_sum > window.threshold
    return stops


@njit
def explore_by_rounds(settings, window, stop, state, arms, rng, out, n):
    """Play Phase I until it ends, or ``stop`` or the end of the arrays; one chunk a round.

    ``stop`` is at most the cap; the arguments and the result are those of ``advance_window``.
    """
    # Local names: to read a field of the state again and again costs five times the draws.
    explored, explored_sums = state.explored, state.explored_sums
    private_means = state.private_means
    t = state.clock[0]
    stops = False
    while not stops and t < stop and n < out.arms.size:
        arm, reward = _pull(explored, explored_sums, arms, rng)
        if settings.stop_test == CLEAN_TEST:
            stops = explored_sums[arm] > window.threshold
        elif settings.stop_test == PRIVATE_TEST and settings.refresh_all:
            stops = _refresh_all(window, explored, explored_sums, private_means, rng)
        elif settings.stop_test == PRIVATE_TEST:
            noisy_sum = explored_sums[arm] + laplace(window.noise, rng)
            private_means[arm] = noisy_sum / explored[arm]
            stops = noisy_sum > window.threshold
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    if stops:
        state.phase[0] = EXPLORED
    return n


@njit
def _block_length(settings, window, distance, t, rounds):
    """Return the pulls of the block that begins at t, with so many rounds left; 0 for no block."""
    longest = float(rounds)
    if settings.stop_test == CLEAN_TEST:
        longest = min(longest, distance)
    elif settings.stop_test == PRIVATE_TEST:
        longest = min(longest, distance / 2.0, distance - NEAR * window.noise)
    return 0 if t % BLOCK_FROM else BLOCK_FROM * max(int(longest / BLOCK_FROM), 0)


@njit
def _pulls_before_exceeding(bound, noise, rng):
    """Draw the number of pulls before the first one whose noise exceeds the bound."""
    probability = 0.5 * math.exp(-bound / noise)
    if probability == 0.0:
        return math.inf
    return rng.standard_exponential() / -math.log1p(-probability)


@njit
def _pull_uniformly(settings, window, state, pulls, bound, arms, rng):
    """Make so many pulls at once, no noise of which exceeds the bound; return their rewards."""
    rewards = 0.0
    for i in range(arms.laws.size):
        own = rng.binomial(pulls, 1.0 / (arms.laws.size - i))
        pulls -= own
        if not own:
            continue
        own_sum = pull_sum(arms, i, own, rng)
        rewards += own_sum
        state.explored[i] += own
        state.explored_sums[i] += own_sum
        if settings.stop_test == PRIVATE_TEST:
            noise = laplace(window.noise, rng)
            while noise > bound:
                noise = laplace(window.noise, rng)
            state.private_means[i] = (state.explored_sums[i] + noise) / state.explored[i]
    return rewards


@njit
def explore_by_blocks(settings, window, stop, state, arms, rng, out, n):
    """Play Phase I as ``explore_by_rounds`` does, the same in law, in chunks of arm UNIFORM.

    The exceeding pull ends its block's chunk.
    """
    while state.phase[0] == EXPLORING and state.clock[0] < stop and n < out.arms.size:
        distance = window.threshold - state.explored_sums.max()
        t = state.clock[0]
        length = _block_length(settings, window, distance, t, stop - t)
        if not length:
            end = min(t - t % BLOCK_FROM + BLOCK_FROM, stop)
            n = explore_by_rounds(settings, window, end, state, arms, rng, out, n)
            continue
        bound, before = distance - length, math.inf
        if settings.stop_test == PRIVATE_TEST:
            before = _pulls_before_exceeding(bound, window.noise, rng)
        exceeds = before < length
        if exceeds:
            length = int(before)
        rewards = _pull_uniformly(settings, window, state, length, bound, arms, rng)
        if exceeds:
            arm, reward = _pull(state.explored, state.explored_sums, arms, rng)
            noise = bound + window.noise * rng.standard_exponential()
            noisy_sum = state.explored_sums[arm] + noise
            state.private_means[arm] = noisy_sum / state.explored[arm]
            if noisy_sum > window.threshold:
                state.phase[0] = EXPLORED
            length += 1
            rewards += reward
        n = write(out, n, UNIFORM, length, rewards)
        state.clock[0] = t + length
    return n


@dataclass
class Reference:
    """Phase I in plain Python; what it leaves are the lists n1, s1 and p, one entry an arm."""

    settings: Any
    bandit: Bandit
    rng: np.random.Generator
    threshold: float
    noise: float
    n1: list[int]
    s1: list[float]
    p: list[float]
    stopped: bool = False
    t: int = 0

    def release(self, arm: int, noise: float) -> None:
        """Renew the private mean of an arm, the noise being that of its sum."""
        self.p[arm] = (self.s1[arm] + noise) / self.n1[arm]

    def renew(self, arms: list[int]) -> None:
        """Renew the private means of arms with fresh noise."""
        for arm in arms:
            self.release(arm, laplace.py_func(self.noise, self.rng))

    def pull(self) -> tuple[int, float]:
        """Pull a uniformly random arm and return it with its reward."""
        arm = math.floor(self.rng.random() * len(self.n1))
        reward = self.bandit.draw(arm, self.rng)
        self.n1[arm] += 1
        self.s1[arm] += reward
        self.t += 1
        return arm, reward

    def rounds(self, end: int) -> Iterator[Segment]:
        """Algorithm 1, lines 2 to 7, until so many rounds are over."""
        while self.t < end and not self.stopped:
            arm, reward = self.pull()
            yield arm, 1, reward
            if self.settings.stop_test == PRIVATE_TEST:
                pulled = [i for i, pulls in enumerate(self.n1) if pulls > 0]
                self.renew(pulled if self.settings.refresh_all else [arm])
                self.stopped = max(map(mul, self.n1, self.p)) > self.threshold
            elif self.settings.stop_test == CLEAN_TEST:
                self.stopped = max(self.s1) > self.threshold

    def blocks(self, end: int) -> Iterator[Segment]:
        """The same in law, in blocks where there are some."""
        while self.t < end and not self.stopped:
            distance = self.threshold - max(self.s1)
            kind, left = self.settings.stop_test, end - self.t
            safe = math.inf if kind == NO_TEST else distance
            if kind == PRIVATE_TEST:
                safe = min(distance / 2, distance - NEAR * self.noise)
            pulls = BLOCK_FROM * math.floor(max(min(left, safe), 0) / BLOCK_FROM)
            bound = distance - pulls
            if self.t % BLOCK_FROM > 0 or pulls == 0:
                yield from self.rounds(min(end, BLOCK_FROM * (self.t // BLOCK_FROM + 1)))
            else:
                yield UNIFORM, *self.block(pulls, bound)

    def block(self, most: int, bound: float) -> tuple[int, float]:
        """Play a block of so many pulls at most, to the first noise above the bound."""
        before, exceeding = math.inf, 0.0
        if self.settings.stop_test == PRIVATE_TEST:
            exceeding = math.exp(-bound / self.noise) / 2
        if exceeding > 0:
            before = self.rng.standard_exponential() / -math.log1p(-exceeding)
        pulls = left = math.floor(min(most, before))
        self.t += pulls
        total = 0.0
        for arm in range(len(self.n1)):
            own = int(self.rng.binomial(left, 1 / (len(self.n1) - arm)))
            left -= own
            if own > 0:
                rewards = self.bandit.draw_sum(arm, own, self.rng)
                self.n1[arm] += own
                self.s1[arm] += rewards
                total += rewards
                if self.settings.stop_test == PRIVATE_TEST:
                    self.release(arm, self.noise_below(bound))
        if before >= most:
            return pulls, total
        arm, reward = self.pull()
        noise = bound + self.noise * self.rng.standard_exponential()
        self.release(arm, noise)
        self.stopped = self.s1[arm] + noise > self.threshold
        return pulls + 1, total + reward

    def noise_below(self, bound: float) -> float:
        """Draw a noise given that it does not exceed the bound."""
        while True:
            noise: float = laplace.py_func(self.noise, self.rng)
            if noise <= bound:
                return noise
