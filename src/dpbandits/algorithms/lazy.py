"""Anytime-Lazy-UCB and Lazy-DP-TS, epsilon-DP by lazy doubling batches.

An arm's private mean is renewed when its buffer holds twice the rewards of the last renewal; every
reward enters one release, of noise Laplace(1/epsilon) in the sum. In round t, with n_j the rewards
of the released mean,

- Anytime-Lazy-UCB (Hu, Huang and Mehta, 2021) plays the largest
  mean_j + sqrt(a LOG(t) / n_j) + b LOG(t) / (epsilon n_j), its base and constants not settled by
  the public copies of the paper;
- Lazy-DP-TS (Hu and Hegde, UAI 2022, Algorithm 2) draws theta_j ~ Beta(m n_j + 1, (1 - m) n_j + 1)
  with the mean raised to m = mean_j + 3 LOG(t) / (epsilon n_j) and clipped to [0, 1], and plays the
  largest.

The parameter ``constant`` is the 3 of Lazy-DP-TS, and a factor of what Anytime-Lazy-UCB adds to a
mean, 1 as printed. Privacy does not depend on it: numbers of pulls decide when a mean is released
and with how much noise, and which arm is played follows from released means.

Of Lazy-DP-TS, beside the plain kernel ``advance``, which the reference follows decision for
decision, ``skip`` has its law and plays stretches of the leader as one segment.

Interpretations of Anytime-Lazy-UCB:
    log: ``base2`` (reproduces the curves of Hu and Hegde, UAI 2022, with (3, 3)) or ``natural``.
    constants: (a, b), one of ``3,3``, ``4,4``, ``4,5``.

Interpretation of Lazy-DP-TS:
    log: LOG is the ``natural`` logarithm, which the published curves are nearer to, or ``base2``,
        as the paper's notation has it.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import ONE_RELEASE, Algorithm, AuditCase, Segment, positive, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import laplace, pull_sum
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

BONUS = 3.0
"""The printed constant of Lazy-DP-TS."""

LOG_FACTORS = {"natural": 1.0, "base2": 1.0 / math.log(2.0)}

LIKELY = math.log(0.2)
"""Above this log chance of a candidate PLAIN_ROUNDS rounds or more are played one by one."""
PLAIN_ROUNDS = 32


class Settings(NamedTuple):
    """Arguments of the kernel: LOG(t) is ``log_factor`` ln t, ``noise_constant`` is b."""

    horizon: int
    epsilon: float
    log_factor: float
    width_constant: float
    noise_constant: float
    samples: bool


class State(NamedTuple):
    """Rounds played; by arm the released count and mean, and the buffer."""

    clock: One
    counts: Counts
    private_means: Reals
    buffered: Counts
    buffer_sums: Reals


def ucb_settings(
    horizon: int, arms: int, epsilon: float, log: str, constants: str, constant: float = 1.0
) -> Settings:
    """Return the settings of Anytime-Lazy-UCB; of its terms one is a root."""
    a, b = (float(value) for value in constants.split(","))
    widths = constant**2 * a, constant * b
    return Settings(horizon, epsilon, LOG_FACTORS[log], *widths, samples=False)


def ts_settings(
    horizon: int, arms: int, epsilon: float, log: str, constant: float = BONUS
) -> Settings:
    """Return the settings of Lazy-DP-TS."""
    return Settings(horizon, epsilon, LOG_FACTORS[log], 0.0, constant, samples=True)


@njit
def _largest_index(settings, state, log_t):
    arm, largest = 0, -math.inf
    for i in range(state.counts.size):
        count = state.counts[i]
        width = math.sqrt(settings.width_constant * log_t / count)
        noise = settings.noise_constant * log_t / (settings.epsilon * count)
        index = state.private_means[i] + width + noise
        if index > largest:
            arm, largest = i, index
    return arm


@njit(inline="always")
def _raised(private_mean, count, settings, log_t):
    """Return the mean of an arm's draw."""
    raised = private_mean + settings.noise_constant * log_t / (settings.epsilon * count)
    return min(max(raised, 0.0), 1.0)


@njit(inline="always")
def _draw(mean, count, rng):
    return rng.beta(mean * count + 1.0, (1.0 - mean) * count + 1.0)


@njit
def _largest_draw(settings, state, log_t, rng):
    counts, private_means = state.counts, state.private_means
    arm, largest = 0, -math.inf
    for i in range(counts.size):
        theta = _draw(_raised(private_means[i], counts[i], settings, log_t), counts[i], rng)
        if theta > largest:
            arm, largest = i, theta
    return arm


@njit(inline="always")
def _play(settings, state, arm, length, arms, rng, out, n):
    """Play an arm for ``length`` rounds as one segment; renew its mean if its buffer is full."""
    rewards = pull_sum(arms, arm, length, rng)
    state.buffered[arm] += length
    state.buffer_sums[arm] += rewards
    if state.counts[arm] == 0 or state.buffered[arm] == 2 * state.counts[arm]:
        count = state.buffered[arm]
        noisy_sum = state.buffer_sums[arm] + laplace(1.0 / settings.epsilon, rng)
        state.counts[arm] = count
        state.private_means[arm] = noisy_sum / count
        state.buffered[arm] = 0
        state.buffer_sums[arm] = 0.0
    state.clock[0] += length
    return write(out, n, arm, length, rewards)


@njit
def _rounds(settings, state, until, arms, rng, out, n):
    """Play rounds one by one until a time or until the segments are full; return their number."""
    while state.clock[0] < until and n < out.arms.size:
        t = state.clock[0]
        log_t = settings.log_factor * math.log(t + 1)
        if t < arms.laws.size:
            arm = t
        elif settings.samples:
            arm = _largest_draw(settings, state, log_t, rng)
        else:
            arm = _largest_index(settings, state, log_t)
        n = _play(settings, state, arm, 1, arms, rng, out, n)
    return n


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    return _rounds(settings, state, settings.horizon, arms, rng, out, 0)


@njit
def _log_density(x, mean, count):
    """Return the logarithm of the density of Beta(mean count + 1, (1 - mean) count + 1)."""
    a, b = mean * count, (1.0 - mean) * count
    density = math.lgamma(count + 2.0) - math.lgamma(a + 1.0) - math.lgamma(b + 1.0)
    if a > 0.0:
        density += a * math.log(x)
    if b > 0.0:
        density += b * math.log1p(-x)
    return density


@njit
def _width(mean, count):
    return math.sqrt(mean * (1.0 - mean) / count) + 1.0 / count


class _Tails(NamedTuple):
    """By arm, exponential tails from a level on: mean, slope, log height there, mass.

    ``logs`` has the logarithm of the chance of no candidate in this arm and those after it.
    """

    means: Reals
    slopes: Reals
    peaks: Reals
    chances: Reals
    logs: Reals


@njit
def _level(settings, state, leader, last, means):
    """Return a level between the leader's mean at first and the others' at last."""
    counts, private_means = state.counts, state.private_means
    level, width = 0.0, _width(means[leader], counts[leader])
    for i in range(counts.size):
        if i != leader:
            mean = _raised(private_means[i], counts[i], settings, last)
            own = _width(mean, counts[i])
            level = max(level, (means[leader] * own + mean * width) / (own + width))
    return level


@njit
def _bound(settings, state, leader, level, last, tails):
    """Bound the tails over a block; False where they cannot be, or rounds one by one cost less."""
    if not 0.0 < level < 1.0:
        return False
    counts, private_means = state.counts, state.private_means
    log_none = 0.0
    for i in range(counts.size - 1, -1, -1):
        count = counts[i]
        if i != leader:
            tails.means[i] = _raised(private_means[i], count, settings, last)
        mean, sign = tails.means[i], -1.0 if i == leader else 1.0
        # e^psi(a + 1) is between a + 1/2 and a + e^-gamma; the latter, a + 0.5615, is larger.
        median = (mean * count + (0.5 if i == leader else 0.5615)) / (count + 1.0615)
        tails.slopes[i] = sign * count * (level - mean) / (level * (1.0 - level))
        if sign * (level - median) < 0.0 or tails.slopes[i] <= 0.0:
            return False
        tails.peaks[i] = _log_density(level, mean, count)
        log_chance = tails.peaks[i] - math.log(tails.slopes[i])
        if log_chance > LIKELY:
            return False
        tails.chances[i] = math.exp(log_chance)
        log_none += math.log1p(-tails.chances[i])
        tails.logs[i] = log_none
    return -math.expm1(log_none) <= math.exp(LIKELY)


@njit
def _candidate(settings, state, leader, level, tails, rng):
    """Return the arm of a round in which some candidate happens, its draws given that."""
    counts, private_means = state.counts, state.private_means
    size = counts.size
    log_t = settings.log_factor * math.log(state.clock[0] + 1)
    crosses, draws = np.zeros(size, np.bool_), np.empty(size)
    any_hit, others = False, False
    for i in range(size):
        # Given that none of the arms before has one: the chance of one in the rest is 1 - e^logs.
        total = 1.0 if any_hit else -math.expm1(tails.logs[i])
        if rng.random() * total < tails.chances[i]:
            any_hit = True
            beyond = rng.standard_exponential() / tails.slopes[i]
            draws[i] = level - beyond if i == leader else level + beyond
            if 0.0 < draws[i] < 1.0:
                mean = _raised(private_means[i], counts[i], settings, log_t)
                density = _log_density(draws[i], mean, counts[i])
                bound = tails.peaks[i] - tails.slopes[i] * beyond
                crosses[i] = rng.random() < math.exp(density - bound)
                others = others or (crosses[i] and i != leader)
    arm = leader
    if others or crosses[leader]:
        largest = -math.inf
        for i in range(size):
            if not crosses[i]:
                if others and i != leader:
                    continue  # one that is above the level beats it
                mean = _raised(private_means[i], counts[i], settings, log_t)
                draws[i] = _draw(mean, counts[i], rng)
                while (draws[i] > level) != (i == leader):
                    draws[i] = _draw(mean, counts[i], rng)
            if draws[i] > largest:
                arm, largest = i, draws[i]
    return arm


@njit(nogil=True)
def skip(settings, state, arms, rng, out):
    """Advance Lazy-DP-TS by exact skipping: the law of ``advance``, from another use of the stream.

    At some round, let the leader be the arm of the largest raised mean, and choose a block of
    rounds and a level x from the past alone. Why what follows is exact:

    1. Until a release, the draw of an arm has the density f_t of Beta(m n + 1, (1 - m) n + 1),
       where only m moves, upwards, with LOG(t), as ``constant`` is above 0. The leader plays
       whenever its draw is above x and all others' are not. Rounds and arms draw independently,
       and independently of the rewards since the releases, which are in no draw.
    2. d/dm log f(y) = n (logit y - psi(m n + 1) + psi((1 - m) n + 1)), where psi's difference grows
       with m. At y >= x it is positive for all m of the block if it is so at x and the last m, and
       f_t(y) <= f_last(y); at y <= x it is negative if it is so at x and the first m, and
       f_t(y) <= f_first(y). With a + 1/2 <= e^psi(a + 1) <= a + e^-gamma this follows from
       x >= (m n + e^-gamma) / (n + 1/2 + e^-gamma) at the last m, for the others, and from
       x <= (m n + 1/2) / (n + 1/2 + e^-gamma) at the first m, for the leader.
    3. log f is concave, so that f_last above x and f_first below it are at most the exponential of
       the tangent at x, with the slope d/dy log f = n (m - y) / (y (1 - y)).
    4. Let a candidate of an arm be a point of that exponential, which comes with its mass as chance
       a_i (below 1), and accept a point y with f_t(y) over the exponential: then a draw crosses x
       at y with density f_t(y), as it should. One that does not cross has f_t on the other side.
    5. Candidates are independent with chances that are constant over the block: the rounds before
       the first are geometric with log chance sum log(1 - a_i), and are the leader's. In its round,
       which arms have one is drawn arm by arm given that one does.
    6. What is not played of a block, because of a release or the end of the segments, is drawn
       anew: a geometric number of rounds has no memory.

    Chances are sums of logarithms by log1p and expm1, never 1 - (1 - a). Where a candidate is
    likely, rounds are played one by one, which is a choice by the past.
    """
    counts, private_means = state.counts, state.private_means
    buffered, size = state.buffered, counts.size
    tails = _Tails(np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size))
    n = _rounds(settings, state, min(size, settings.horizon), arms, rng, out, 0)
    while state.clock[0] < settings.horizon and n < out.arms.size:
        t = state.clock[0]
        first = settings.log_factor * math.log(t + 1)
        for i in range(size):
            tails.means[i] = _raised(private_means[i], counts[i], settings, first)
        leader = np.argmax(tails.means)
        room = 2 * counts[leader] - buffered[leader]
        end = t + min(settings.horizon - t, t // 8 + 1, room)
        last = settings.log_factor * math.log(end)
        level = _level(settings, state, leader, last, tails.means)
        bounded = _bound(settings, state, leader, level, last, tails)
        if not bounded or n + 2 > out.arms.size:
            until = min(t + max(PLAIN_ROUNDS, t // 64), settings.horizon)
            n = _rounds(settings, state, until, arms, rng, out, n)
            continue
        released = False
        while not released and state.clock[0] < end and n + 2 <= out.arms.size:
            left = min(end - state.clock[0], 2 * counts[leader] - buffered[leader])
            log_none = tails.logs[0]
            waiting = rng.standard_exponential() / -log_none if log_none < 0.0 else math.inf
            before = left if waiting >= left else int(waiting)
            arm = leader
            if before > 0:
                n = _play(settings, state, leader, before, arms, rng, out, n)
            if before < left:
                arm = _candidate(settings, state, leader, level, tails, rng)
                n = _play(settings, state, arm, 1, arms, rng, out, n)
            released = buffered[arm] == 0
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Both policies, line by line."""
    arms = range(len(bandit.arms))
    doublings = [0 for _ in arms]
    private_means = [0.0 for _ in arms]
    buffers: list[list[float]] = [[] for _ in arms]
    for t in range(1, settings.horizon + 1):
        if t <= len(arms):  # every arm once, its first reward released at once
            arm = t - 1
            reward = bandit.draw(arm, rng)
            private_means[arm] = reward + laplace.py_func(1.0 / settings.epsilon, rng)
            yield arm, 1, reward
            continue
        log_t = settings.log_factor * math.log(t)
        index = []
        for i in arms:
            n = 2 ** doublings[i]
            noise = settings.noise_constant * log_t / (settings.epsilon * n)
            if settings.samples:
                mean = min(max(private_means[i] + noise, 0.0), 1.0)
                index.append(rng.beta(mean * n + 1, (1 - mean) * n + 1))
            else:
                width = math.sqrt(settings.width_constant * log_t / n)
                index.append(private_means[i] + width + noise)
        arm = max(arms, key=index.__getitem__)
        reward = bandit.draw(arm, rng)
        buffers[arm].append(reward)
        if len(buffers[arm]) == 2 ** (doublings[arm] + 1):
            doublings[arm] += 1
            total = 0.0
            for value in buffers[arm]:  # ``sum`` rounds otherwise from Python 3.12 on
                total += value
            noisy_sum = total + laplace.py_func(1.0 / settings.epsilon, rng)
            private_means[arm] = noisy_sum / 2 ** doublings[arm]
            buffers[arm] = []
        yield arm, 1, reward


LAZY_UCB = Algorithm(
    id="anytime-lazy-ucb",
    name="Anytime-Lazy-UCB",
    paper="Hu, Huang and Mehta (2021)",
    parameters={"epsilon": positive, "constant": printed()},
    interpretations={"log": ("base2", "natural"), "constants": ("3,3", "4,4", "4,5")},
    guarantee="pure",
    stated="Hu, Huang and Mehta (2021)",
    known=(ONE_RELEASE,),
    audit=AuditCase(0.0, "AUD-18", parameters={"epsilon": 1.0}),
    settings=ucb_settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
)

LAZY_TS = Algorithm(
    id="lazy-dp-ts",
    name="Lazy-DP-TS",
    paper="Hu and Hegde (UAI 2022), Algorithm 2",
    parameters={"epsilon": positive, "constant": printed(BONUS)},
    interpretations={"log": ("natural", "base2")},
    guarantee="pure",
    stated="Hu and Hegde (2022)",
    known=(ONE_RELEASE,),
    # The changed reward is in the private mean of eight rewards, which its bonus leaves below 1.
    audit=AuditCase(
        0.6,
        "AUD-18",
        horizon=64,
        parameters={"epsilon": 1.0},
        pull=8,
        before=1.0,
        runs=400_000,
        silent={"as-written": "a bonus hides the reward at this epsilon, not at twice as much"},
    ),
    settings=ts_settings,
    state=partial(blank, State),
    advance=advance,
    skip=skip,
    reference=reference,
)
