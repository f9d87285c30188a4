"""GDP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 1): globally private Nash confidence bound.

Phase I pulls arms uniformly at random until some private sum of rewards passes a threshold. Phase
II plays the largest index in episodes of 2, 4, 8, ... pulls of one arm, each of which ends with one
release of the arm's mean over its Phase-I rewards and that episode's. c = 3 and alpha = 3.1, as in
all experiments. Natural logarithms; L = ln T, W = floor(sqrt T) + 1 and LW = ln W. Letters and
numbers in brackets are the entries of the replication's lists of ambiguities (A) and of differences
to the released code (D).

Variants: ``as-coded`` is the released code. Its threshold is out of reach of W rounds, so that
Phase I lasts W rounds whatever the rewards, though its stop test reads unprotected means. As in
``as-written``, up to log2 T releases of Phase II touch one reward of Phase I, each of which costs
epsilon / ln T: composed, epsilon / ln 2 at most, which is more than the paper states.
``as-written`` besides consults a fresh private mean after every pull of Phase I, which the paper
does not count. ``repaired`` is the least repair: the released code with base-2 noise, and without
the stop test, which could first end Phase I beyond T = 3e10. The length of Phase I is then fixed
for every T, and one of its rewards enters log2(T - W + 2) - 1 releases at most, at
epsilon / log2 T each, so that composition keeps to epsilon.

Interpretations:
    cap: longest Phase I: ``none`` but T, ``root`` W rounds, ``tenth`` T/10 rounds (A11).
    stop_test: what Phase I is stopped by: ``private`` sums, ``clean`` ones, or nothing, ``off``,
        so that it lasts until the cap (A2, D3).
    refreshed: private means renewed after a pull of Phase I: the ``pulled`` arm's or ``all`` (A2).
    threshold: constant of 1600 (c^2 L + L^2 / epsilon) (A12, D20).
    threshold_log: logarithms in it, both of the ``horizon``, both of the ``window`` W (D2), or
        ``mixed``, c^2 LW + L^2 / epsilon (D20).
    index_log: logarithm in the three bonus terms, of the ``horizon`` or the ``window`` W (D4).
    start: private means at the start of Phase II: the last of Phase I clipped to [0, 1],
        ``carried``, or to what is not negative, ``carried-positive``, or ``zeros`` (A5, D5). Where
        the stop test draws none, they are drawn at the end of Phase I. With zeros and so long a
        Phase I that the widths are below the best mean, the first good arm to be released is played
        for ever. With fifty arms that begins at T = 1e7 for epsilon = 100, at 1e9 for 2 and beyond
        1e10 for 0.2; with five at T = 1e5 for epsilon = 100, in half of the runs.
    pseudo_pull: before an arm's first episode one pull without a reward is ``counted`` beside those
        of Phase I or ``left-out`` (A3); an arm without any pull then has an infinite index.
    release_log: the scale of the noise is log(T) / (epsilon n) with the ``natural`` logarithm or
        ``base2`` (A9).
    root: the last term is 4 sqrt(2 alpha / epsilon) L^(3/2) / n with L^(3/2) / n ``outside`` the
        root or ``inside`` (A10).
    ties: the ``lowest`` arm, or a ``random`` one (A20).
    exploration: Phase I pull by pull in ``rounds``, or, the same in law, in ``blocks`` whose pulls
        are known by their sum only; with ``refreshed: all`` there are none.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, positive
from dpbandits.algorithms.gdp_ncb_phase_one import (
    EXPLOITING,
    EXPLORED,
    EXPLORING,
    PRIVATE_TEST,
    STOP_TESTS,
    Reference,
    explore_by_blocks,
    explore_by_rounds,
)
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import TIES, arm_of_largest, laplace, pull_sum
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

ALPHA = 3.1
C = 3.0
"""Constants of the index and of the threshold, the same in all experiments."""

CAPS = ("none", "root", "tenth")
NO_CAP, ROOT_CAP, TENTH_CAP = range(3)
STARTS = ("carried", "carried-positive", "zeros")
CARRIED, CARRIED_POSITIVE, ZEROS = range(3)


class Settings(NamedTuple):
    """Arguments of the kernel: the horizon, epsilon and the interpretations."""

    horizon: int
    epsilon: float
    cap: int
    stop_test: int
    refresh_all: bool
    threshold: float
    window_logs: tuple[bool, bool]
    index_window_log: bool
    start: int
    pseudo_pulls: int
    release_log_factor: float
    root_inside: bool
    random_ties: bool
    blocks: bool


class Window(NamedTuple):
    """What follows from the settings for one horizon.

    ``cap`` rounds of Phase I at most; a sum of rewards above ``threshold`` stops it; ``noise`` is
    the scale of the noise in a sum of rewards; ``log`` is the logarithm in the index.
    """

    horizon: int
    cap: int
    threshold: float
    noise: float
    log: float


class State(NamedTuple):
    """The phase, and four numbers for each arm.

    They are the pulls N1 and the sum of rewards of Phase I, the pulls N2 of the latest episode (1
    before the first), and the private mean p.
    """

    clock: One
    phase: One
    explored: Counts
    explored_sums: Reals
    episodes: Counts
    private_means: Reals


def settings(horizon: int, arms: int, epsilon: float, **chosen: str) -> Settings:
    return Settings(
        horizon=horizon,
        epsilon=epsilon,
        cap=CAPS.index(chosen["cap"]),
        stop_test=STOP_TESTS.index(chosen["stop_test"]),
        refresh_all=chosen["refreshed"] == "all",
        threshold=float(chosen["threshold"]),
        window_logs=(chosen["threshold_log"] != "horizon", chosen["threshold_log"] == "window"),
        index_window_log=chosen["index_log"] == "window",
        start=STARTS.index(chosen["start"]),
        pseudo_pulls=1 if chosen["pseudo_pull"] == "counted" else 0,
        release_log_factor=1.0 / math.log(2.0) if chosen["release_log"] == "base2" else 1.0,
        root_inside=chosen["root"] == "inside",
        random_ties=chosen["ties"] == "random",
        blocks=chosen["exploration"] == "blocks",
    )


@njit
def open_window(settings, horizon):
    """Return the Window of a run with ``horizon`` rounds, whatever ``settings.horizon`` is.

    The anytime wrapper plays one after the other, each from a state that ``reset`` has cleared.
    """
    root = int(math.sqrt(horizon)) + 1
    log, root_log = math.log(horizon), math.log(root)
    cap = horizon
    if settings.cap == ROOT_CAP:
        cap = root
    elif settings.cap == TENTH_CAP:
        cap = (horizon + 9) // 10
    first = root_log if settings.window_logs[0] else log
    second = root_log if settings.window_logs[1] else log
    return Window(
        horizon,
        cap,
        settings.threshold * (C**2 * first + second**2 / settings.epsilon),
        settings.release_log_factor * log / settings.epsilon,
        root_log if settings.index_window_log else log,
    )


@njit
def reset(state):
    """Clear the state in place: nothing played."""
    state.clock[:] = 0
    state.phase[:] = EXPLORING
    state.explored[:] = 0
    state.explored_sums[:] = 0.0
    state.episodes[:] = 0
    state.private_means[:] = 0.0


@njit
def start_phase_two(settings, window, state, rng):
    """Set the private means that Phase II begins with; those not released yet are drawn here."""
    state.phase[0] = EXPLOITING
    state.episodes[:] = 1
    if settings.start == ZEROS:
        state.private_means[:] = 0.0
        return
    for i in range(state.explored.size):
        if settings.stop_test != PRIVATE_TEST and state.explored[i] > 0:
            noisy_sum = state.explored_sums[i] + laplace(window.noise, rng)
            state.private_means[i] = noisy_sum / state.explored[i]
        state.private_means[i] = max(state.private_means[i], 0.0)
        if settings.start == CARRIED:
            state.private_means[i] = min(state.private_means[i], 1.0)


@njit
def _indices(settings, window, state):
    log, epsilon = window.log, settings.epsilon
    indices = np.empty(state.explored.size)
    for i in range(indices.size):
        n = state.explored[i] + state.episodes[i]
        if state.episodes[i] == 1:
            n += settings.pseudo_pulls - 1
        if n == 0:
            indices[i] = math.inf
            continue
        p = state.private_means[i]
        last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon) * log**1.5 / n
        if settings.root_inside:
            last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon * log**1.5 / n)
        width = 2.0 * C * math.sqrt(2.0 * p * log / n)
        indices[i] = p + width + ALPHA * log**2 / (epsilon * n) + last
    return indices


@njit
def advance_window(settings, window, stop, state, arms, rng, out, n):
    """Play a window's rounds until ``stop`` of them are over or ``out`` is full.

    ``window`` is what ``open_window`` returned, the horizon of the settings is not read, and
    ``state.clock[0]`` counts the rounds of this window; returns ``n``, moved on.
    """
    if state.phase[0] == EXPLORING:
        end = min(stop, window.cap)
        if settings.blocks and not settings.refresh_all:
            n = explore_by_blocks(settings, window, end, state, arms, rng, out, n)
        else:
            n = explore_by_rounds(settings, window, end, state, arms, rng, out, n)
        if state.clock[0] == window.cap:
            state.phase[0] = EXPLORED
    t = state.clock[0]
    while state.phase[0] != EXPLORING and t < stop and n < out.arms.size:
        if state.phase[0] == EXPLORED:
            start_phase_two(settings, window, state, rng)
        indices = _indices(settings, window, state)
        arm = arm_of_largest(indices, settings.random_ties, rng)
        length = min(2 * state.episodes[arm], stop - t)
        rewards = pull_sum(arms, arm, length, rng)
        noisy_sum = state.explored_sums[arm] + rewards + laplace(window.noise, rng)
        state.episodes[arm] = length
        state.private_means[arm] = min(max(noisy_sum / (state.explored[arm] + length), 0.0), 1.0)
        n = write(out, n, arm, length, rewards)
        t += length
    state.clock[0] = t
    return n


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    window = open_window(settings, settings.horizon)
    return advance_window(settings, window, window.horizon, state, arms, rng, out, 0)


def reference_window(
    settings: Settings, horizon: int, stop: int, bandit: Bandit, rng: np.random.Generator
) -> Iterator[Segment]:
    """Algorithm 1, line by line, an episode at once, for the first ``stop`` rounds of ``horizon``.

    The horizon of the settings is not read.
    """
    arms = range(len(bandit.arms))
    epsilon = settings.epsilon
    log, window_log = math.log(horizon), math.log(math.isqrt(horizon) + 1)
    noise = settings.release_log_factor * log / epsilon
    first, second = (window_log if short else log for short in settings.window_logs)
    threshold = settings.threshold * (C**2 * first + second**2 / epsilon)
    cap = [horizon, math.isqrt(horizon) + 1, math.ceil(horizon / 10)][settings.cap]
    n1, s1, p = [0 for _ in arms], [0.0 for _ in arms], [0.0 for _ in arms]

    phase_one = Reference(settings, bandit, rng, threshold, noise, n1, s1, p)
    blocks = settings.blocks and not settings.refresh_all
    explore = phase_one.blocks if blocks else phase_one.rounds
    yield from explore(min(stop, cap))
    t = phase_one.t
    if t == stop:
        return
    if settings.start != ZEROS and settings.stop_test != PRIVATE_TEST:
        phase_one.renew([i for i in arms if n1[i] > 0])
    highest = {CARRIED: 1.0, CARRIED_POSITIVE: math.inf, ZEROS: 0.0}[settings.start]
    p = [min(max(each, 0.0), highest) for each in p]

    length = math.log(horizon) if not settings.index_window_log else window_log
    n2 = [1 for _ in arms]
    while t < stop:  # Phase II
        index = [math.inf for _ in arms]
        for i in arms:
            n = n1[i] + n2[i]
            if n2[i] == 1 and settings.pseudo_pulls == 0:
                n = n1[i]
            if n > 0:
                last = math.sqrt(2 * ALPHA / epsilon) * length**1.5 / n
                if settings.root_inside:
                    last = math.sqrt(2 * ALPHA / epsilon * length**1.5 / n)
                index[i] = p[i] + 2 * C * math.sqrt(2 * p[i] * length / n)
                index[i] += ALPHA * length**2 / (epsilon * n) + 4 * last
        arm = arm_of_largest.py_func(np.array(index), settings.random_ties, rng)
        pulls = min(2 * n2[arm], stop - t)
        rewards = bandit.draw_sum(arm, pulls, rng)
        n2[arm] = pulls
        t += pulls
        yield arm, pulls, rewards
        mean = (s1[arm] + rewards + laplace.py_func(noise, rng)) / (n1[arm] + n2[arm])
        p[arm] = min(max(mean, 0.0), 1.0)


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 1 to its horizon."""
    horizon = settings.horizon
    yield from reference_window(settings, horizon, horizon, bandit, rng)


AUDIT = AuditCase(
    0.0,
    {"as-coded": "AUD-13", "as-written": "AUD-14", "repaired": "AUD-15"},
    "NCB-C15",
    horizon=24,
    parameters={"epsilon": 1.0},
    silent={
        "as-written": "all 24 rounds are uniform play, but for a vanishing chance",
        "repaired": "in windows of 8 rounds or less a reward enters one release, of epsilon / 3",
    },
)
"""Of GDP-NCB and of its anytime version."""

ALGORITHM = Algorithm(
    id="gdp-ncb",
    name="GDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 1",
    parameters={"epsilon": positive(example=0.2)},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="dp-ncb, Theorem 2",
    audit=AUDIT,
    interpretations={
        "cap": CAPS,
        "stop_test": STOP_TESTS,
        "refreshed": ("pulled", "all"),
        "threshold": ("1600", "1"),
        "threshold_log": ("horizon", "window", "mixed"),
        "index_log": ("horizon", "window"),
        "start": STARTS,
        "pseudo_pull": ("counted", "left-out"),
        "release_log": ("natural", "base2"),
        "root": ("outside", "inside"),
        "ties": TIES,
        "exploration": ("rounds", "blocks"),
    },
    presets={
        "as-coded": {
            "cap": "root",
            "stop_test": "clean",
            "threshold_log": "window",
            "index_log": "window",
            "start": "zeros",
        },
        "repaired": {
            "cap": "root",
            "stop_test": "off",
            "index_log": "window",
            "start": "zeros",
            "release_log": "base2",
        },
    },
)
