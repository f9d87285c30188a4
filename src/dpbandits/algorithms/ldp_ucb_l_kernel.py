"""The kernel of LDP-UCB-L, whose definition, interpretations and reference stand in ``ldp_ucb_l``.

The kernel takes the reference's decisions, round for round, but does not compute every index in
every round: it pulls the leader for as long as bounds, which hold over a stretch of rounds because
ln t hardly moves, put its index above the others', and writes these pulls as one chunk.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.noise import laplace
from dpbandits.algorithms.ranking import bring_forward, find_position, sink, sort
from dpbandits.algorithms.ties import arm_of_largest
from dpbandits.bandits.draws import draw_reward

LEAST_STRETCH = 32
STRETCH = 0.1
"""Rounds t to t + STRETCH sqrt(t) are compared by bounds of the indices, which ln t hardly moves.

Measured: over so many rounds the indices rise by a small part of what one noisy reward moves them.
"""

NONE, MAYBE = -1, -2

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
    """Rounds up to ``end``, in which the indices are compared by bounds.

    An index is p + width / sqrt(N), and the width rises from ``low`` by ``rise`` at most. Compared
    are the indices less what an arm with 1 / sqrt(N) = ``common`` gains since the beginning: they
    rise by (1 / sqrt(N) - ``common``) ``rise`` at most, or fall by so much. A stretch is one round
    where an arm may be ``forced``: the arm, NONE, or MAYBE in a later round.
    """

    end: int
    forced: int
    low: float
    rise: float
    common: float


def state(arms: int) -> State:
    """Return the state before round 1."""
    return State(np.zeros(1, np.int64), np.zeros(arms, np.int64), np.zeros(arms))


@numba.njit(cache=True)
def _width(settings, t):  # type: ignore[no-untyped-def]
    """Return the width in round t of an arm with one pull."""
    return (math.sqrt(2.0) + math.sqrt(32.0) / settings.epsilon) * math.sqrt(math.log(t))


@numba.njit(cache=True)
def _forced(settings, t, latest, counts):  # type: ignore[no-untyped-def]
    """Return the arm that is forced after t rounds, or whether none is before ``latest``."""
    if t < counts.size and not settings.pseudo_pull:
        return t
    if counts.min() > 4.0 * math.log(latest + settings.forced_offset):
        return NONE
    for i in range(counts.size):
        if counts[i] <= 4.0 * math.log(t + 1 + settings.forced_offset):
            return i
    return MAYBE


@numba.njit(cache=True)
def _above(value):  # type: ignore[no-untyped-def]
    """Return what exceeds ``value`` by more than rounding can move either."""
    return value + ROUNDING * abs(value)


@numba.njit(cache=True)
def _upper(stretch, mean, inverse_root):  # type: ignore[no-untyped-def]
    gain = stretch.rise * max(inverse_root - stretch.common, 0.0)
    return mean + stretch.low * inverse_root + gain


@numba.njit(cache=True)
def _open_stretch(settings, t, counts, means, inverse_roots, order, uppers):  # type: ignore[no-untyped-def]
    """Return the stretch after t rounds, the arms put in order of their upper bounds.

    Where an arm is forced, nothing is compared.
    """
    end = min(t + LEAST_STRETCH + int(STRETCH * math.sqrt(t)), settings.horizon)
    forced = _forced(settings, t, end, counts)
    if forced >= 0:
        return Stretch(t + 1, forced, math.nan, math.nan, math.nan)
    if forced == MAYBE:
        end = t + 1
    low = _width(settings, t + 1)
    rise, common = _width(settings, end) - low, inverse_roots[order[0]]
    stretch = Stretch(end, forced, low, rise, common)
    for position in range(order.size):
        arm = order[position]
        uppers[position] = _upper(stretch, means[arm], inverse_roots[arm])
    sort(order, uppers)
    return stretch


@numba.njit(cache=True)
def _bring_forward_largest(stretch, width, means, inverse_roots, order, uppers):  # type: ignore[no-untyped-def]
    """Bring forward the lowest arm of the largest index; tell whether no other has as large a one.

    ``width`` is the present one.
    """
    gained = (width - stretch.low) * stretch.common
    first, largest, runner_up = 0, -math.inf, -math.inf
    for position in range(order.size):
        if _above(uppers[position] + gained) < largest:
            break
        arm = order[position]
        index = means[arm] + width * inverse_roots[arm]
        if index > largest or (index == largest and arm < order[first]):
            first, runner_up, largest = position, largest, index
        elif index > runner_up:
            runner_up = index
    bring_forward(order, uppers, first)
    return largest > runner_up


@numba.njit(cache=True)
def _find(settings, stretch, t, means, inverse_roots, order, uppers):  # type: ignore[no-untyped-def]
    """Bring forward the lowest arm of the largest index, unless another is forced after t rounds.

    Return whether no other arm could be played.
    """
    if stretch.forced >= 0:
        return True
    inverse_root = inverse_roots[order[0]]
    low = means[order[0]] + stretch.low * inverse_root
    low += stretch.rise * min(inverse_root - stretch.common, 0.0)
    if low > _above(uppers[1]):
        return True
    width = _width(settings, t + 1)
    return _bring_forward_largest(stretch, width, means, inverse_roots, order, uppers)


@numba.njit(cache=True, nogil=True)
def advance(settings, state, laws, law_parameters, generator, arms, lengths, sums):  # type: ignore[no-untyped-def]
    """Play until the horizon or until ``arms`` is full; a chunk is a stretch of one leader."""
    counts, private_sums = state.counts, state.private_sums
    t = state.clock[0]
    written = 0
    if t == 0 and settings.pseudo_pull:
        counts[:] = 1
    scale = 1.0 / settings.epsilon
    pulled = np.maximum(counts, 1)
    means, inverse_roots = private_sums / pulled, 1.0 / np.sqrt(pulled)
    order, uppers = np.arange(counts.size), np.empty(counts.size)
    stretch = _open_stretch(settings, t, counts, means, inverse_roots, order, uppers)
    alone = _find(settings, stretch, t, means, inverse_roots, order, uppers)
    while t < settings.horizon and written < arms.size:
        if settings.random_ties and not alone:
            indices = means + _width(settings, t + 1) * inverse_roots
            arm = arm_of_largest(indices, True, generator)
            bring_forward(order, uppers, find_position(order, arm))
        arm = stretch.forced if stretch.forced >= 0 else order[0]
        law, law_parameter = laws[arm], law_parameters[arm]
        count, private_sum = counts[arm], private_sums[arm]
        begin, rewards = t, 0.0
        root = count * inverse_roots[arm]
        safe_width = stretch.low * root + stretch.rise * min(root, stretch.common * count)
        slope = _above(uppers[1]) + stretch.rise * stretch.common
        while True:
            reward = draw_reward(law, law_parameter, generator)
            rewards += reward
            private = reward + laplace(scale, generator)
            private_sum += min(max(private, 0.0), 1.0) if settings.clips else private
            count += 1
            t += 1
            # N times the lower bound is sum + low sqrt(N) + rise min(sqrt(N), common N)
            # - rise common N, of which the terms with a root grow.
            if t < stretch.end and private_sum + safe_width > slope * count:
                continue
            root = math.sqrt(count)
            counts[arm], private_sums[arm] = count, private_sum
            means[arm], inverse_roots[arm] = private_sum / count, 1.0 / root
            if t >= settings.horizon:
                break
            if t >= stretch.end:
                stretch = _open_stretch(settings, t, counts, means, inverse_roots, order, uppers)
            else:
                uppers[0] = _upper(stretch, means[arm], inverse_roots[arm])
                sink(order, uppers, 0)
            alone = _find(settings, stretch, t, means, inverse_roots, order, uppers)
            following = stretch.forced if stretch.forced >= 0 else order[0]
            if following != arm or not alone:
                break
            safe_width = stretch.low * root + stretch.rise * min(root, stretch.common * count)
            slope = _above(uppers[1]) + stretch.rise * stretch.common
        arms[written], lengths[written], sums[written] = arm, t - begin, rewards
        written += 1
    state.clock[0] = t
    return written
