"""NCB, Nash confidence bound without privacy (Barman, Khan, Maiti and Sawarni, AAAI 2023).

Phase I pulls arms uniformly at random, phase II the arm with the largest index, which is its mean
plus a width that shrinks with the mean. L = ln T, k arms, n pulls of an arm, its mean m, c = 3, and
W = floor(sqrt T) + 1. Letters and numbers in brackets are the entries of the replication of DP-NCB:
its lists of ambiguities (A), of differences to the released code (D) and of claims (C).

Only the index of the arm that is pulled changes, so that the kernel pulls the leader, with no look
at the others, until its index is no longer above theirs, and writes these pulls as one segment.

The parameter ``constant``, 1 as printed, is a factor of the width.

Variants: ``as-written`` is the original, ``as-coded`` the code released with DP-NCB, in which
nothing needs repair: ``repaired`` is the same. DP-NCB builds on ``phase_one: 420`` and
``width: 2c``. GDP-NCB (as coded and repaired) without its privacy is ``phase_one: root``,
``width: 2c`` and ``log: window`` (C20).

Interpretations:
    phase_one: it lasts ceil(16 sqrt(k T L / ln k)) rounds, ``length`` (A19, D10); or until an arm's
        sum of rewards exceeds c^2 L times ``420`` or ``1``; or W rounds, ``root``. T at most.
    width: 4 sqrt(m L / n), ``4``, or 2 c sqrt(2 m L / n), ``2c`` (D11).
    log: of the ``horizon`` in the width, or of the ``window`` W (C20).
    ties: the ``lowest`` arm, or a ``random`` one (A20). An arm that was never pulled has an
        infinite index (A21).
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import TIES, arm_of_largest, draw_reward, pull
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

C = 3.0
PHASES_ONE = ("length", "420", "1", "root")
BY_LENGTH, BY_420, _, BY_ROOT = range(4)


class Settings(NamedTuple):
    """Arguments of the kernel; ``modified_width`` is the one with C."""

    horizon: int
    phase_one: int
    modified_width: bool
    window_log: bool
    random_ties: bool
    constant: float


class State(NamedTuple):
    """Whether phase I is over; pulls and sums of rewards of each arm."""

    clock: One
    explored: One
    pulls: Counts
    reward_sums: Reals


def settings(horizon: int, arms: int, constant: float = 1.0, **chosen: str) -> Settings:
    return Settings(
        horizon=horizon,
        phase_one=PHASES_ONE.index(chosen["phase_one"]),
        modified_width=chosen["width"] == "2c",
        window_log=chosen["log"] == "window",
        random_ties=chosen["ties"] == "random",
        constant=constant,
    )


@njit
def _end_of_phase_one(settings, arms):
    """Return the longest phase I, and the sum of rewards above which it ends."""
    horizon, log = settings.horizon, math.log(settings.horizon)
    if settings.phase_one == BY_LENGTH:
        rounds = math.ceil(16.0 * math.sqrt(float(arms) * horizon * log / math.log(arms)))
        return min(int(rounds), horizon), math.inf
    if settings.phase_one == BY_ROOT:
        return min(int(math.sqrt(horizon)) + 1, horizon), math.inf
    factor = 420.0 if settings.phase_one == BY_420 else 1.0
    return horizon, factor * C**2 * log


@njit
def _explore(settings, state, arms, rng, out):
    pulls, reward_sums = state.pulls, state.reward_sums
    rounds, threshold = _end_of_phase_one(settings, arms.laws.size)
    t, n = state.clock[0], 0
    ends = t == rounds
    while not ends and n < out.arms.size:
        arm = int(rng.random() * arms.laws.size)
        reward = pull(arms, arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        n = write(out, n, arm, 1, reward)
        t += 1
        ends = t == rounds or reward_sums[arm] > threshold
    state.clock[0] = t
    state.explored[0] = ends
    return n


@njit
def _width(settings):
    """Return what sqrt(m / n) is multiplied with in the index."""
    log = math.log(settings.horizon)
    if settings.window_log:
        log = math.log(int(math.sqrt(settings.horizon)) + 1)
    width = 2.0 * C * math.sqrt(2.0 * log) if settings.modified_width else 4.0 * math.sqrt(log)
    return settings.constant * width


@njit
def _indices(width, pulls, reward_sums):
    indices = np.full(pulls.size, math.inf)
    for i in range(pulls.size):
        if pulls[i] > 0:
            indices[i] = (reward_sums[i] + width * math.sqrt(reward_sums[i])) / pulls[i]
    return indices


@njit
def _leader(indices, random_ties, rng):
    """Return the arm of the largest index and the largest index of all others."""
    arm, largest, second = 0, -math.inf, -math.inf
    for i in range(indices.size):
        if indices[i] > largest:
            arm, largest, second = i, indices[i], largest
        elif indices[i] > second:
            second = indices[i]
    if random_ties and second == largest:
        arm = arm_of_largest(indices, random_ties, rng)
    return arm, second


@njit
def _exploit(settings, state, arms, rng, out, n):
    pulls, reward_sums, horizon = state.pulls, state.reward_sums, settings.horizon
    width = _width(settings)
    indices = _indices(width, pulls, reward_sums)
    t = state.clock[0]
    while t < horizon and n < out.arms.size:
        arm, second = _leader(indices, settings.random_ties, rng)
        law, parameter = arms.laws[arm], arms.parameters[arm]
        count, reward_sum, rewards = float(pulls[arm]), reward_sums[arm], 0.0
        start = t
        above = True
        while above and t < horizon:
            reward = draw_reward(law, parameter, rng)
            count += 1.0
            reward_sum += reward
            rewards += reward
            t += 1
            indices[arm] = (reward_sum + width * math.sqrt(reward_sum)) / count
            above = indices[arm] > second
        pulls[arm] += t - start
        reward_sums[arm] = reward_sum
        n = write(out, n, arm, t - start, rewards)
    state.clock[0] = t
    return n


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    n = 0
    if state.explored[0] == 0:
        n = _explore(settings, state, arms, rng, out)
    if state.explored[0] == 1 and state.clock[0] < settings.horizon:
        n = _exploit(settings, state, arms, rng, out, n)
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """NCB, line by line."""
    horizon, arms = settings.horizon, range(len(bandit.arms))
    log = math.log(horizon)
    width_log = math.log(math.isqrt(horizon) + 1) if settings.window_log else log
    rounds, threshold = horizon, math.inf
    if settings.phase_one == BY_LENGTH:
        rounds = math.ceil(16 * math.sqrt(len(arms) * horizon * log / math.log(len(arms))))
    elif settings.phase_one == BY_ROOT:
        rounds = math.isqrt(horizon) + 1
    else:
        threshold = float(PHASES_ONE[settings.phase_one]) * C**2 * log
    n, reward_sums = [0 for _ in arms], [0.0 for _ in arms]

    def index(i: int) -> float:
        if n[i] == 0:
            return math.inf
        mean = reward_sums[i] / n[i]
        width = 4 * math.sqrt(mean * width_log / n[i])
        if settings.modified_width:
            width = 2 * C * math.sqrt(2 * mean * width_log / n[i])
        return mean + settings.constant * width

    for t in range(horizon):
        if t < rounds and max(reward_sums) <= threshold:  # phase I
            arm = math.floor(rng.random() * len(arms))
        else:
            indices = np.array([index(i) for i in arms])
            arm = arm_of_largest.py_func(indices, settings.random_ties, rng)
        reward = bandit.draw(arm, rng)
        n[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="ncb",
    name="NCB",
    paper="Barman, Khan, Maiti and Sawarni (AAAI 2023)",
    parameters={"constant": printed()},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="none",
    audit=AuditCase(
        1.0,
        "AUD-19",
        horizon=100,
        level=1.0,
        silent={"as-written": "no reward matters: all 100 rounds are uniform play"},
    ),
    interpretations={
        "phase_one": PHASES_ONE,
        "width": ("4", "2c"),
        "log": ("horizon", "window"),
        "ties": TIES,
    },
    presets={
        "as-coded": {"phase_one": "1", "width": "2c"},
        "repaired": {"phase_one": "1", "width": "2c"},
    },
)
