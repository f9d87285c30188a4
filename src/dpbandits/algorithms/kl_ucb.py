"""KL-UCB (Garivier and Cappé, 2011), without privacy.

Every arm once, then the arm of the largest index: the largest q of at most 1 with
n_i kl(mean_i, q) <= ln t, where kl is the divergence of Bernoulli laws and t the number of rounds
played. It is the paper's index with c = 0, which the paper advises for use. The parameter
``constant``, 1 as printed, is a factor of ln t.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

SHORTEST, PART = 64, 1 << 6
"""Bounds of indices hold for at least SHORTEST rounds, and for a PARTth of the rounds so far."""

ROUNDING = 1e-12
"""Far above the rounding errors of an index."""

BELOW_ONE = 1.0 - 2.0**-53
"""The largest double below 1, where an index is that only a mean of 1 exceeds."""


class Settings(NamedTuple):
    """Arguments of the kernel."""

    horizon: int
    constant: float


class State(NamedTuple):
    """Rounds played; pulls and reward sums of each arm."""

    clock: One
    pulls: Counts
    reward_sums: Reals


def settings(horizon: int, arms: int, constant: float = 1.0) -> Settings:
    """Return the arguments of the kernel."""
    return Settings(horizon, constant)


@njit
def _index(count, reward_sum, log_t):
    """Return the index by Newton's method, which falls from above to it, by convexity."""
    mean = min(reward_sum / count, 1.0)
    level = log_t / count
    if mean == 1.0:
        return 1.0
    if mean == 0.0:
        return min(-math.expm1(-level), BELOW_ONE)
    entropy = mean * math.log(mean) + (1.0 - mean) * math.log1p(-mean)
    tail = (1.0 - mean) * math.exp((mean * math.log(mean) - level) / (1.0 - mean))
    q = min(mean + math.sqrt(0.5 * level), 1.0 - tail, BELOW_ONE)
    while True:
        excess = entropy - mean * math.log(q) - (1.0 - mean) * math.log1p(-q) - level
        step = excess * q * (1.0 - q) / (q - mean)
        if not step > 1e-14:
            return q
        q -= step


@njit
def _is_above(count, reward_sum, log_t, bound):
    """Return whether the index of an arm is above a bound, without solving for it."""
    mean = min(reward_sum / count, 1.0)
    if bound >= 1.0:
        return False
    if mean > bound:
        return True
    divergence = (1.0 - mean) * math.log((1.0 - mean) / (1.0 - bound))
    if mean > 0.0:
        divergence += mean * math.log(mean / bound)
    return count * divergence < log_t


@njit
def _leader(pulls, reward_sums, log_t, bounds, arm):
    """Return the arm of the largest index; one whose bound is below a known index has it not."""
    leader, largest = arm, _index(pulls[arm], reward_sums[arm], log_t)
    for i in range(pulls.size):
        if i != arm and bounds[i] >= largest:
            index = _index(pulls[i], reward_sums[i], log_t)
            if index > largest or (index == largest and i < leader):
                leader, largest = i, index
    return leader


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    """Play rounds, one segment each.

    The leader is played while its index, at an earlier logarithm, is above bounds of all others,
    taken at a later one.
    """
    pulls, reward_sums = state.pulls, state.reward_sums
    bounds = np.empty(pulls.size)
    t, n = state.clock[0], 0
    arm, until, earlier_log, later_log, others = 0, 0, 0.0, 0.0, 1.0
    while t < settings.horizon and n < out.arms.size:
        if t < arms.laws.size:
            arm = t
        else:
            if t > until:
                until = t + SHORTEST + t // PART
                earlier_log, others = settings.constant * math.log(t), 1.0
                later_log = settings.constant * math.log(until)
                for i in range(pulls.size):
                    bounds[i] = _index(pulls[i], reward_sums[i], later_log) + ROUNDING
            if not _is_above(pulls[arm], reward_sums[arm], earlier_log, others):
                bounds[arm] = _index(pulls[arm], reward_sums[arm], later_log) + ROUNDING
                log_t = settings.constant * math.log(t)
                arm = _leader(pulls, reward_sums, log_t, bounds, arm)
                others = 0.0
                for i in range(pulls.size):
                    if i != arm:
                        others = max(others, bounds[i])
        reward = pull(arms, arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """KL-UCB, line by line; the index by bisection."""
    arms = range(len(bandit.arms))
    pulls = [0 for _ in arms]
    reward_sums = [0.0 for _ in arms]

    def divergence(p: float, q: float) -> float:
        parts = ((p, q), (1 - p, 1 - q))
        return sum(one * math.log(one / other) for one, other in parts if one > 0)

    def index(i: int, t: int) -> float:
        mean = min(reward_sums[i] / pulls[i], 1.0)
        low, high = mean, 1.0
        while low < (middle := (low + high) / 2) < high:
            if pulls[i] * divergence(mean, middle) <= settings.constant * math.log(t):
                low = middle
            else:
                high = middle
        return low

    for t in range(settings.horizon):
        if t < len(arms):
            arm = t
        else:
            largest = [index(i, t) for i in arms]
            arm = max(arms, key=largest.__getitem__)
        reward = bandit.draw(arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="kl-ucb",
    name="KL-UCB",
    paper="Garivier and Cappé (2011), with c = 0",
    parameters={"constant": printed()},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="none",
    audit=AuditCase(0.0, "AUD-19"),
)
