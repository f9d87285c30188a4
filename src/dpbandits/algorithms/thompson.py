"""Thompson sampling with Gaussian priors, and Modified Thompson Sampling (TS-is-DP, 1 and 2).

Modified Thompson Sampling (Algorithm 2) pulls every arm b times, in the order of the arms; then the
arm with the largest draw theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)) is pulled, n_i pulls with
reward sum S_i so far. TS-Gaussian (Algorithm 1) is the same at (b, c) = (0, 1).

The paper asks c >= 1, yet its experiments need less at large b; both are allowed.

Neither has a parameter ``constant``, as other algorithms do: the variance of the draws is what
makes both private. TS-Gaussian with another variance is Modified Thompson Sampling at b = 0.

Beside the plain kernel ``advance``, which the reference follows decision for decision, ``skip``
has its law and plays stretches of the leader as one segment.

Interpretation of both:
    count: ``n+1`` (Algorithms 1 and 2), or ``n``: centre S_i / n_i and variance c / n_i, as Section
        3 once writes, with one forced pull per arm when b = 0 (the parametrisation of
        DP-TS-UCB's Section 5).

Interpretation of Modified Thompson Sampling:
    long_pre_pull: where b K >= T, ``truncate`` cuts the pre-pull phase at T, ``error`` rejects.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Known, Segment, positive, whole
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull, pull_sum
from dpbandits.errors import InputError
from dpbandits.kernels import Counts, One, Reals, blank, njit, write
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.thompson import modified_ts_gdp, ts_gaussian_gdp
from dpbandits.privacy.witnesses import abandoned_loss

LEAST_LOG_NONE = math.log(1.0 - 0.12)
"""Below this log chance of no candidate PLAIN_ROUNDS rounds or more are played one by one."""
PLAIN_ROUNDS = 32
DRIFT = 0.5
"""Largest fall of the leader's mean within a block, in standard deviations."""


class Settings(NamedTuple):
    """Arguments of the kernel: rounds, forced pulls per arm, c, and what is added to n_i."""

    horizon: int
    forced_pulls: int
    variance_factor: float
    prior_count: int


class State(NamedTuple):
    """Rounds played; pulls and reward sums of each arm."""

    clock: One
    pulls: Counts
    reward_sums: Reals


def plain_settings(horizon: int, arms: int, count: str) -> Settings:
    """Return the settings of TS-Gaussian."""
    prior_count = 1 if count == "n+1" else 0
    return Settings(horizon, 1 - prior_count, 1.0, prior_count)


def modified_settings(
    horizon: int, arms: int, b: int, c: float, count: str, long_pre_pull: str
) -> Settings:
    """Return the settings of Modified TS; InputError as ``long_pre_pull`` says."""
    if long_pre_pull == "error" and b * arms >= horizon:
        raise InputError(
            f"m-ts-gaussian: b is {b}, so that {arms} arms use up the horizon {horizon}; allowed: "
            f"b K < T (or the interpretation long_pre_pull: truncate)"
        )
    prior_count = 1 if count == "n+1" else 0
    # More forced pulls than rounds are the same as one pull of the first arm in every round.
    forced_pulls = min(max(b, 1 - prior_count), horizon)
    return Settings(horizon, forced_pulls, c, prior_count)


@njit
def _rounds(settings, state, until, means, deviations, draws, arms, rng, out, n):
    """Play rounds one by one until a time or until the segments are full; return their number."""
    t, size = state.clock[0], arms.laws.size
    pre_pull_rounds = settings.forced_pulls * size
    pulls, reward_sums = state.pulls, state.reward_sums
    while t < until and n < out.arms.size:
        if t < pre_pull_rounds:
            arm = t // settings.forced_pulls
        else:
            # Drawn before they are compared: in one loop both together take a third longer.
            for i in range(size):
                draws[i] = rng.standard_normal()
            arm, largest = 0, -math.inf
            for i in range(size):
                theta = means[i] + deviations[i] * draws[i]
                arm = i if theta > largest else arm
                largest = max(largest, theta)
        reward = pull(arms, arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        count = pulls[arm] + settings.prior_count
        means[arm] = reward_sums[arm] / count
        deviations[arm] = math.sqrt(settings.variance_factor / count)
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return n


@njit
def _laws(settings, state):
    """Return mean and deviation of each arm's draw, and room for the draws."""
    counts = np.maximum(state.pulls + settings.prior_count, 1)
    deviations = np.sqrt(settings.variance_factor / counts)
    return state.reward_sums / counts, deviations, np.empty(counts.size)


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    means, deviations, draws = _laws(settings, state)
    return _rounds(settings, state, settings.horizon, means, deviations, draws, arms, rng, out, 0)


@njit
def _above(z):
    """Return the chance that a standard normal is above z, to full relative precision."""
    return 0.5 * math.erfc(z * math.sqrt(0.5))


@njit
def _draw_above(z, rng):
    """Draw a standard normal, given that it is above z (Robert, 1995)."""
    draw = z
    if z < 0.5:
        while draw <= z:
            draw = rng.standard_normal()
        return draw
    rate = 0.5 * (z + math.sqrt(z * z + 4.0))
    while True:
        draw = z + rng.standard_exponential() / rate
        if rng.random() < math.exp(-0.5 * (draw - rate) ** 2):
            return draw


@njit
def _play(settings, state, arm, length, means, deviations, arms, rng, out, n):
    """Play an arm for ``length`` rounds as one segment."""
    rewards = pull_sum(arms, arm, length, rng)
    state.pulls[arm] += length
    state.reward_sums[arm] += rewards
    count = max(state.pulls[arm] + settings.prior_count, 1)
    means[arm] = state.reward_sums[arm] / count
    deviations[arm] = math.sqrt(settings.variance_factor / count)
    state.clock[0] += length
    return write(out, n, arm, length, rewards)


@njit
def _level(leader, means, deviations):
    """Return the highest of the levels that cut off the same tail of the leader and of an arm."""
    level = -math.inf
    for i in range(means.size):
        if i != leader:
            crossed = means[leader] * deviations[i] + means[i] * deviations[leader]
            level = max(level, crossed / (deviations[i] + deviations[leader]))
    return level


@njit
def _block(settings, state, leader, level, means, deviations):
    """Return a number of rounds in which rewards of 0 leave the leader's mean above the level."""
    block = settings.horizon - state.clock[0]
    gap = (means[leader] - level) / deviations[leader]
    # A mean that may fall by half a deviation, or to where the level is 8.5 below it.
    lowest = level + deviations[leader] * max(min(gap - DRIFT, 8.5), 0.0)
    if lowest > 0.0:
        count = state.pulls[leader] + settings.prior_count
        block = int(min(float(block), state.reward_sums[leader] / lowest - count))
    return max(1, block)


@njit
def _candidate(leader, level, chances, logs, means, deviations, rng):
    """Return the arm of a round in which some candidate event happens, its draws given that."""
    any_hit, others, below = False, False, False
    hit = np.empty(means.size, np.bool_)
    for i in range(means.size):
        # Given that none of the arms before has one: the chance of one in the rest is 1 - e^logs.
        hit[i] = rng.random() * (1.0 if any_hit else -math.expm1(logs[i])) < chances[i]
        any_hit = any_hit or hit[i]
        if i == leader:
            below = hit[i] and rng.random() * chances[i] < _above(
                (means[i] - level) / deviations[i]
            )
        else:
            others = others or hit[i]
    arm = leader
    if others or below:
        largest = -math.inf
        for i in range(means.size):
            gap = (level - means[i]) / deviations[i]
            if hit[i] if i != leader else not below:
                theta = means[i] + deviations[i] * _draw_above(gap, rng)
            elif others:
                continue  # one that is above the level beats it
            else:
                theta = means[i] - deviations[i] * _draw_above(-gap, rng)
            if theta > largest:
                arm, largest = i, theta
    return arm


@njit(nogil=True)
def skip(settings, state, arms, rng, out):
    """Advance by exact skipping: the law of ``advance``, from another use of the stream.

    At some round, let the leader be the arm of the largest mean and choose a level x between its
    mean and the others' from the past alone, and a block of rounds. Why what follows is exact:

    1. While only the leader is pulled, the draws of the other arms have laws that do not change,
       each above x with chance a_i, and the leader plays whenever its draw is above x and all
       others' are not. Rounds and arms draw independently.
    2. The leader's draw is at most x with a chance q that moves with its mean and count. Rewards
       are at least 0, so that its mean within the block is at least S / (n + block - 1), which
       ``_block`` keeps at x or above, and its deviation does not grow. Hence q is at most a, the
       tail at that mean with the deviation of now. In a block of one round the mean is that of now.
    3. Let a candidate happen to the leader with chance a, independently of everything, and call its
       draw low with chance q / a where one does: low then has chance q, whatever the rewards.
       Candidates of the others are their draws above x. So the rounds before the first candidate
       are geometric with log chance sum log(1 - a_i), independent of the rewards in them, which
       are the leader's: one sum of independent rewards.
    4. In the round of the first candidate, which arms have one is drawn arm by arm given that one
       does: with chance a_i over that of one in arms i, i + 1, ... until the first, and then with
       a_i. Given that, draws are independent normals, each above or not above x. Where one of the
       others is above, those that are not lose. Otherwise, and with the leader not low, it plays.
    5. A block without candidate tells nothing of later rounds, so that a new one begins with what
       has been seen. The same holds at the end of the segments.

    Chances are sums of logarithms by log1p and expm1, never 1 - (1 - a): erfc is exact far below
    1e-16. Where a candidate is likely, rounds are played one by one, which is a choice by the past.
    """
    means, deviations, draws = _laws(settings, state)
    chances, logs = np.empty(means.size), np.empty(means.size)
    pre_pull_rounds, n = settings.forced_pulls * means.size, 0
    while state.clock[0] < settings.horizon and n < out.arms.size:
        t = state.clock[0]
        if t < pre_pull_rounds:
            arm, played = divmod(t, settings.forced_pulls)
            length = min(settings.forced_pulls - played, settings.horizon - t)
            n = _play(settings, state, arm, length, means, deviations, arms, rng, out, n)
            continue
        leader = np.argmax(means)
        level = _level(leader, means, deviations)
        block = _block(settings, state, leader, level, means, deviations)
        count = state.pulls[leader] + settings.prior_count + block - 1
        log_none = 0.0
        for i in range(means.size - 1, -1, -1):
            gap = level - means[i]
            if i == leader:
                gap = state.reward_sums[i] / count - level
            chances[i] = _above(gap / deviations[i])
            log_none += math.log1p(-chances[i])
            logs[i] = log_none
        if log_none < LEAST_LOG_NONE or n + 2 > out.arms.size:
            until = min(t + max(PLAIN_ROUNDS, t // 64), settings.horizon)
            n = _rounds(settings, state, until, means, deviations, draws, arms, rng, out, n)
            continue
        waiting = rng.standard_exponential() / -log_none if log_none < 0.0 else math.inf
        before = block if waiting >= block else int(waiting)
        if before > 0:
            n = _play(settings, state, leader, before, means, deviations, arms, rng, out, n)
        if before < block:
            arm = _candidate(leader, level, chances, logs, means, deviations, rng)
            n = _play(settings, state, arm, 1, means, deviations, arms, rng, out, n)
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 2, line by line (sums in place of running means, so that rounding is shared)."""
    arms = range(len(bandit.arms))
    pulls, reward_sums = [0 for _ in arms], [0.0 for _ in arms]
    forced = [arm for arm in arms for _ in range(settings.forced_pulls)]
    for t in range(settings.horizon):
        if t < len(forced):  # lines 2 to 5: the pre-pull phase
            arm = forced[t]
        else:  # lines 6 to 8: sample and play the largest
            theta = []
            for i in arms:
                count = pulls[i] + settings.prior_count
                mean = reward_sums[i] / count
                deviation = math.sqrt(settings.variance_factor / count)
                theta.append(mean + deviation * rng.standard_normal())
            arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


def _plain_guarantee(parameters: Any, horizon: int) -> Guarantee:
    """Lemma 4: sqrt(T / 2)-Gaussian DP."""
    return Guarantee("gdp", ts_gaussian_gdp(horizon))


def _modified_guarantee(parameters: Any, horizon: int) -> Guarantee:
    """Lemma 5: sqrt(T / (c (b + 1)))-Gaussian DP."""
    return Guarantee("gdp", modified_ts_gdp(parameters.b, parameters.c, horizon))


def _abandoned(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Whether a witness refutes it, in which the first of two arms is never pulled again."""
    if not hasattr(parameters, "b"):  # TS-Gaussian
        return abandoned_loss(horizon, 0, 1.0) > ts_gaussian_gdp(horizon)
    b, c = parameters.b, parameters.c
    return abandoned_loss(horizon, b, c) > modified_ts_gdp(b, c, horizon)


_WITH_COUNT_N = (
    Known(
        "refuted", "DTU-F8", {"count": "n"}, _abandoned, "the witness has two arms", two_arms=True
    ),
    Known("stated", remark="the lemma has n + 1 in the place of n pulls"),
)

PLAIN = Algorithm(
    id="ts-gaussian",
    name="TS-Gaussian",
    paper="TS-is-DP, Algorithm 1",
    interpretations={"count": ("n+1", "n")},
    guarantee=_plain_guarantee,
    stated="ts-is-dp, Lemma 4",
    known=(Known("proved", "ts-is-dp, Lemma 4", {"count": "n+1"}), *_WITH_COUNT_N),
    audit=AuditCase(0.0, "AUD-2"),
    settings=plain_settings,
    state=partial(blank, State),
    advance=advance,
    skip=skip,
    reference=reference,
)

MODIFIED = Algorithm(
    id="m-ts-gaussian",
    name="Modified TS",
    paper="TS-is-DP, Algorithm 2",
    parameters={"b": whole(0)(example=10), "c": positive(example=2.0)},
    interpretations={"count": ("n+1", "n"), "long_pre_pull": ("truncate", "error")},
    guarantee=_modified_guarantee,
    stated="ts-is-dp, Lemma 5",
    known=(Known("proved", "ts-is-dp, Lemma 5", {"count": "n+1"}), *_WITH_COUNT_N),
    audit=AuditCase(
        0.0,
        "AUD-3",
        parameters={"b": 1, "c": 1.0},
        silent={"as-written": "decisions show about half of what the draws are charged with"},
    ),
    settings=modified_settings,
    state=partial(blank, State),
    advance=advance,
    skip=skip,
    reference=reference,
)
