"""The kernel of LDP-UCB-L, whose definition, interpretations and reference stand in ``ldp_ucb_l``.

The kernel takes the reference's decisions, round for round, but does not compute every index in
every round. It pulls the leader for as long as a bound puts its index above the others', and writes
these pulls as one chunk. A new leader is sought among the few arms in front: all others' indices
are bounded by a level, which rises with ln t, until no arm in front is above it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.clipped_noise import clipped_cuts, draw_clipped, first_parameters
from dpbandits.bandits.draws import BERNOULLI, arm_of_largest, draw_reward, laplace
from dpbandits.kernels import njit, write

PART = 1 << 13
"""A stretch is at most this part of the rounds before it; in it ln t is replaced by a parabola.

The error of the width is below 1e-13 of it.
"""

AHEAD = 32
"""Rounds for which the leader is compared by one bound."""

FEW, MANY = 6, 12
"""Least and largest number of arms in front that is aimed at; measured at 50 arms."""

NONE, MAYBE = -1, -2

LOWEST = -1e300
"""Below every index; what exceeds it is a number, that of minus infinity would be none."""

ROUNDING = 1e-12
"""Relative lead below which indices are computed in full, far above what rounding can move."""


class Settings(NamedTuple):
    """Settings of the kernel; ``forced_offset`` is added to the number of the coming round."""

    horizon: int
    epsilon: float
    clips: bool
    pseudo_pull: bool
    forced_offset: int
    random_ties: bool


class State(NamedTuple):
    """Rounds played (shape (1,)); pulls and sums of private values (shape (K,))."""

    clock: NDArray[np.int64]
    counts: NDArray[np.int64]
    private_sums: NDArray[np.float64]


class Stretch(NamedTuple):
    """Rounds up to ``end``, whose widths are a parabola in the rounds since ``begin``.

    A stretch is one round where an arm may be ``forced``: the arm, NONE, or MAYBE in a later round.
    The width rises by ``rate`` a round at most, an index by ``highest`` times the width.
    """

    end: int
    forced: int
    begin: int
    width: float
    rate: float
    curvature: float
    highest: float


class Front(NamedTuple):
    """The first ``size`` of ``arms``, outside of which no index was above ``level``.

    That was when the width was ``width``; the arms then were those less than ``gap`` below the
    largest index. All but ``arms`` and the space for all ``indices`` (K,) have shape (1,).
    """

    arms: NDArray[np.int64]
    size: NDArray[np.int64]
    level: NDArray[np.float64]
    width: NDArray[np.float64]
    gap: NDArray[np.float64]
    indices: NDArray[np.float64]


def state(arms: int) -> State:
    """Return the state before round 1."""
    return State(np.zeros(1, np.int64), np.zeros(arms, np.int64), np.zeros(arms))


@njit
def _forced(settings, t, latest, counts, least):
    """Return the arm that is forced after t rounds, or whether none is before ``latest``."""
    if t < counts.size and not settings.pseudo_pull:
        return t
    if least > 4.0 * math.log(latest + settings.forced_offset):
        return NONE
    for i in range(counts.size):
        if counts[i] <= 4.0 * math.log(t + 1 + settings.forced_offset):
            return i
    return MAYBE


@njit
def _open_stretch(settings, t, counts, front):
    """Return the stretch after t rounds; where one may be forced, none is in front.

    Its parabola depends on the round alone, not on where a run was resumed.
    """
    span = 1
    while span * PART <= t:
        span *= 2
    begin = t + 1 - (t + 1) % span
    end = min(begin + span - 1, settings.horizon)
    least = counts.min()
    forced = _forced(settings, t, end, counts, least)
    if forced != NONE:
        end, front.size[0] = t + 1, 0
    log = math.log(begin)
    width = (math.sqrt(2.0) + math.sqrt(32.0) / settings.epsilon) * math.sqrt(log)
    rate = curvature = 0.0
    if span > 1:
        rate = width / (2.0 * log * begin)
        curvature = -rate * (0.5 + 0.25 / log) / begin
    highest = 1.0 / math.sqrt(max(least, 1))
    return Stretch(end, forced, begin, width, rate, curvature, highest)


@njit(forceinline=True)
def _width(stretch, t):
    """Return the width in round t of an arm with one pull."""
    rounds = t - stretch.begin
    return stretch.width + rounds * (stretch.rate + rounds * stretch.curvature)


@njit(forceinline=True)
def _above(value):
    """Return what exceeds ``value`` by more than rounding can move either."""
    return value + ROUNDING * abs(value)


# With these flags the largest index is sought among several arms at once; none is a NaN.
@njit(fastmath={"nnan", "nsz"})
def _refill(front, width, means, inverse_roots):
    """Bring to the front every arm less than ``gap`` below the largest index."""
    indices, arms = front.indices, front.arms
    largest = -math.inf
    for arm in range(means.size):
        index = means[arm] + width * inverse_roots[arm]
        indices[arm] = index
        largest = index if index > largest else largest
    level = largest - front.gap[0]
    size = 0
    for arm in range(means.size):
        if indices[arm] >= level:
            arms[size] = arm
            size += 1
    if size > MANY:
        front.gap[0] /= 2.0
    elif size < min(FEW, means.size):
        front.gap[0] *= 2.0
    front.size[0], front.level[0], front.width[0] = size, level, width


@njit(forceinline=True)
def _compare(front, bound, width, means, inverse_roots):
    """Return the place in front of the largest index, that index and the next one.

    Arms whose indices are below ``bound`` leave the front.
    """
    first, largest, runner_up = 0, -math.inf, -math.inf
    size = 0
    for position in range(front.size[0]):
        arm = front.arms[position]
        index = means[arm] + width * inverse_roots[arm]
        first = size if index > largest else first
        runner_up = max(runner_up, min(index, largest))
        largest = max(index, largest)
        front.arms[size] = arm
        size += index >= bound
    front.size[0] = size
    return first, largest, runner_up


@njit(forceinline=True)
def _find(stretch, front, width, means, inverse_roots):
    """Return an arm of the largest index, what bounds all others, whether it has none beside it."""
    bound = front.level[0] + (width - front.width[0]) * stretch.highest
    front.level[0], front.width[0] = bound, width
    first, largest, runner_up = _compare(front, bound, width, means, inverse_roots)
    if not largest > _above(bound):
        _refill(front, width, means, inverse_roots)
        bound = front.level[0]
        first, largest, runner_up = _compare(front, bound, width, means, inverse_roots)
    return front.arms[first], max(runner_up, bound), largest > runner_up


@njit(nogil=True)
def advance(settings, state, bandit, generator, out):
    """Play until the horizon or until ``arms`` is full; a chunk is a stretch of one leader."""
    laws, law_parameters = bandit
    counts, private_sums = state.counts, state.private_sums
    t = state.clock[0]
    written = 0
    if t == 0 and settings.pseudo_pull:
        counts[:] = 1
    epsilon, scale = settings.epsilon, 1.0 / settings.epsilon
    beyond, bernoulli_means = math.exp(-epsilon) / 2.0, first_parameters(laws, law_parameters)
    pulled = np.maximum(counts, 1)
    means, inverse_roots = private_sums / pulled, 1.0 / np.sqrt(pulled)
    front = Front(
        np.empty(counts.size, np.int64),
        np.zeros(1, np.int64),
        np.full(1, LOWEST),
        np.zeros(1),
        np.full(1, ROUNDING),
        np.empty(counts.size),
    )
    stretch = _open_stretch(settings, t, counts, front)
    leader, begin, rewards = -1, t, 0.0
    while t < settings.horizon:
        if t >= stretch.end:
            stretch = _open_stretch(settings, t, counts, front)
        arm, others, alone, width = stretch.forced, 0.0, True, 0.0
        if arm < 0:
            width = _width(stretch, t + 1)
            arm, others, alone = _find(stretch, front, width, means, inverse_roots)
        if arm != leader or not alone:
            if leader >= 0:
                written = write(out, written, leader, t - begin, rewards)
            leader = -1
            if written == out.arms.size:
                break
            if not alone:
                indices = means + width * inverse_roots
                arm = arm_of_largest(indices, settings.random_ties, generator)
            leader, begin, rewards = arm, t, 0.0
            law, law_parameter = laws[arm], law_parameters[arm]
            clipped = settings.clips and law == BERNOULLI
            cuts = clipped_cuts(bernoulli_means[arm], beyond)
        count, private_sum, inverse_root = (
            counts[leader],
            private_sums[leader],
            inverse_roots[leader],
        )
        # N times the index is the sum + width sqrt(N), of which the root is bounded by
        # sqrt(n + k) >= sqrt(n) + k (1 - AHEAD / (4 n)) / (2 sqrt(n)) for k <= AHEAD.
        growth = width * inverse_root * (0.5 - 0.125 * AHEAD * inverse_root**2)
        slope = _above(others) + AHEAD * stretch.rate * stretch.highest - growth
        safe = count * (width * inverse_root - growth)
        until = min(stretch.end, t + AHEAD)
        while True:
            if clipped:
                reward, private = draw_clipped(cuts, epsilon, generator)
            else:
                reward = draw_reward(law, law_parameter, generator)
                private = reward + laplace(scale, generator)
                private = min(max(private, 0.0), 1.0) if settings.clips else private
            rewards += reward
            private_sum += private
            count += 1
            t += 1
            if t >= until or private_sum + safe <= slope * count:
                break
        counts[leader], private_sums[leader] = count, private_sum
        means[leader], inverse_roots[leader] = private_sum / count, 1.0 / math.sqrt(count)
    if leader >= 0:
        written = write(out, written, leader, t - begin, rewards)
    state.clock[0] = t
    return written
