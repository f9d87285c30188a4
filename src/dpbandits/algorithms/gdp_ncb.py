"""GDP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 1): globally private Nash confidence bound.

Phase I pulls arms uniformly at random until some private sum of rewards passes a threshold. Phase
II plays the largest index in episodes of 2, 4, 8, ... pulls of one arm, each of which ends with one
release of the arm's mean over its Phase-I rewards and that episode's. Natural logarithms; L = ln T,
the cap is W = floor(sqrt T) + 1 and LW = ln W. Letters and numbers in brackets are the entries of
the replication's list of ambiguities (A) and of differences to the released code (D).

Variants: ``as-coded`` is the released code, whose threshold is out of reach of W rounds, so that
Phase I lasts W rounds whatever the rewards; its stop test reads unprotected means all the same, and
the number of releases that touch a Phase-I reward is counted with a base-2 logarithm where the
noise has a natural one (as in ``as-written``), so that epsilon is exceeded by up to 1/ln 2.
``repaired`` has no stop test and L in the index; with ``release_log: base2`` besides, the guarantee
holds. ``as-written`` consults a fresh private mean after every pull, which the paper does not count.

Readings:
    cap: longest Phase I: ``none`` but T, ``root`` W rounds, ``tenth`` T/10 rounds (A11).
    stop_test: what Phase I is stopped by: ``private`` sums, ``clean`` ones, or nothing, ``off``,
        so that it lasts until the cap (A2, D3).
    refreshed: private means renewed after a pull of Phase I: of the ``pulled`` arm, or ``all`` (A2).
    threshold: constant of 1600 (c^2 L + L^2 / epsilon) (A12, D20).
    threshold_log: logarithms in it, both of the ``horizon``, both of the ``window`` W (D2), or
        ``mixed``, c^2 LW + L^2 / epsilon (D20).
    index_log: logarithm in the three bonus terms, of the ``horizon`` or the ``window`` W (D4).
    start: private means at the start of Phase II: the last of Phase I clipped to [0, 1],
        ``carried``, or to what is not negative, ``carried-positive``, or ``zeros`` (A5, D5). Where
        the stop test draws none, they are drawn at the end of Phase I.
    pseudo_pull: before an arm's first episode one pull without a reward is ``counted`` beside those
        of Phase I or ``left-out`` (A3); an arm without any pull then has an infinite index.
    release_log: the scale of the noise is log(T) / (epsilon n) with the ``natural`` logarithm or
        ``base2`` (A9).
    root: the last term is 4 sqrt(2 alpha / epsilon) L^(3/2) / n with L^(3/2) / n ``outside`` the
        root or ``inside`` (A10).
    ties: the ``lowest`` arm, or a ``random`` one (A20).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, Chunk, Readings
from dpbandits.algorithms.noise import laplace
from dpbandits.algorithms.ties import TIES, arm_of_largest
from dpbandits.algorithms.validation import require_positive
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward, draw_reward_sum
from dpbandits.privacy import Guarantee

CAPS = ("none", "root", "tenth")
NO_CAP, ROOT_CAP, TENTH_CAP = range(3)
STOP_TESTS = ("private", "clean", "off")
PRIVATE_TEST, CLEAN_TEST, NO_TEST = range(3)
STARTS = ("carried", "carried-positive", "zeros")
CARRIED, CARRIED_POSITIVE, ZEROS = range(3)
EXPLORING, EXPLORED, EXPLOITING = range(3)


@dataclass(frozen=True)
class Parameters:
    """Privacy parameter ``epsilon``, and ``alpha`` and ``c`` of the index; all above 0.

    The paper's experiments have alpha = 3.1 and c = 3.
    """

    epsilon: float
    alpha: float
    c: float

    def __post_init__(self) -> None:
        """Raise InputError unless all are positive."""
        for key in ("epsilon", "alpha", "c"):
            require_positive("gdp-ncb", key, getattr(self, key))


class Settings(NamedTuple):
    """What the kernel is told: the horizon, the parameters and the readings."""

    horizon: int
    epsilon: float
    alpha: float
    c: float
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
    """Rounds played and the phase (shape (1,)), and four numbers for each arm (shape (K,)).

    They are the pulls N1 and the sum of rewards of Phase I, the pulls N2 of the latest episode (1
    before the first), and the private mean p.
    """

    clock: NDArray[np.int64]
    phase: NDArray[np.int64]
    explored: NDArray[np.int64]
    explored_sums: NDArray[np.float64]
    episodes: NDArray[np.int64]
    private_means: NDArray[np.float64]


def settings(parameters: Parameters, readings: Readings, horizon: int, arms: int) -> Settings:
    """Translate parameters and readings for the kernel."""
    threshold_log = readings["threshold_log"]
    return Settings(
        horizon=horizon,
        epsilon=float(parameters.epsilon),
        alpha=float(parameters.alpha),
        c=float(parameters.c),
        cap=CAPS.index(readings["cap"]),
        stop_test=STOP_TESTS.index(readings["stop_test"]),
        refresh_all=readings["refreshed"] == "all",
        threshold=float(readings["threshold"]),
        window_logs=(threshold_log != "horizon", threshold_log == "window"),
        index_window_log=readings["index_log"] == "window",
        start=STARTS.index(readings["start"]),
        pseudo_pulls=1 if readings["pseudo_pull"] == "counted" else 0,
        release_log_factor=1.0 / math.log(2.0) if readings["release_log"] == "base2" else 1.0,
        root_inside=readings["root"] == "inside",
        random_ties=readings["ties"] == "random",
    )


def state(arms: int) -> State:
    """Return the state before round 1."""
    clock, phase = np.zeros((2, 1), np.int64)
    explored, episodes = np.zeros((2, arms), np.int64)
    explored_sums, private_means = np.zeros((2, arms))
    return State(clock, phase, explored, explored_sums, episodes, private_means)


@numba.njit(cache=True)
def open_window(settings, horizon):  # type: ignore[no-untyped-def]
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
        settings.threshold * (settings.c**2 * first + second**2 / settings.epsilon),
        settings.release_log_factor * log / settings.epsilon,
        root_log if settings.index_window_log else log,
    )


@numba.njit(cache=True)
def reset(state):  # type: ignore[no-untyped-def]
    """Clear the state in place: nothing played."""
    state.clock[:] = 0
    state.phase[:] = EXPLORING
    state.explored[:] = 0
    state.explored_sums[:] = 0.0
    state.episodes[:] = 0
    state.private_means[:] = 0.0


@numba.njit(cache=True)
def _stops(settings, window, state, arm, generator):  # type: ignore[no-untyped-def]
    """Tell whether Phase I ends after a pull of ``arm``, private means renewed on the way."""
    if settings.stop_test == NO_TEST:
        return False
    if settings.stop_test == CLEAN_TEST:
        return state.explored_sums[arm] > window.threshold
    stops = False
    for i in range(state.explored.size):
        if i == arm or (settings.refresh_all and state.explored[i] > 0):
            noisy_sum = state.explored_sums[i] + laplace(window.noise, generator)
            state.private_means[i] = noisy_sum / state.explored[i]
            stops |= noisy_sum > window.threshold
    return stops


@numba.njit(cache=True)
def _explore(  # type: ignore[no-untyped-def]
    settings, window, stop, state, laws, law_parameters, generator, arms, lengths, sums, written
):
    t = state.clock[0]
    while state.phase[0] == EXPLORING and t < stop and written < arms.size:
        arm = int(generator.random() * laws.size)
        reward = draw_reward(laws[arm], law_parameters[arm], generator)
        state.explored[arm] += 1
        state.explored_sums[arm] += reward
        arms[written], lengths[written], sums[written] = arm, 1, reward
        written += 1
        t += 1
        if _stops(settings, window, state, arm, generator) or t == window.cap:
            state.phase[0] = EXPLORED
    state.clock[0] = t
    return written


@numba.njit(cache=True)
def _start(settings, window, state, generator):  # type: ignore[no-untyped-def]
    state.phase[0] = EXPLOITING
    state.episodes[:] = 1
    if settings.start == ZEROS:
        state.private_means[:] = 0.0
        return
    for i in range(state.explored.size):
        if settings.stop_test != PRIVATE_TEST and state.explored[i] > 0:
            noisy_sum = state.explored_sums[i] + laplace(window.noise, generator)
            state.private_means[i] = noisy_sum / state.explored[i]
        state.private_means[i] = max(state.private_means[i], 0.0)
        if settings.start == CARRIED:
            state.private_means[i] = min(state.private_means[i], 1.0)


@numba.njit(cache=True)
def _indices(settings, window, state):  # type: ignore[no-untyped-def]
    log, alpha, epsilon = window.log, settings.alpha, settings.epsilon
    indices = np.empty(state.explored.size)
    for i in range(indices.size):
        n = state.explored[i] + state.episodes[i]
        if state.episodes[i] == 1:
            n += settings.pseudo_pulls - 1
        if n == 0:
            indices[i] = math.inf
            continue
        p = state.private_means[i]
        last = 4.0 * math.sqrt(2.0 * alpha / epsilon) * log**1.5 / n
        if settings.root_inside:
            last = 4.0 * math.sqrt(2.0 * alpha / epsilon * log**1.5 / n)
        width = 2.0 * settings.c * math.sqrt(2.0 * p * log / n)
        indices[i] = p + width + alpha * log**2 / (epsilon * n) + last
    return indices


@numba.njit(cache=True)
def advance_window(  # type: ignore[no-untyped-def]
    settings, window, stop, state, laws, law_parameters, generator, arms, lengths, sums, written
):
    """Play a window's rounds until ``stop`` of them are over or ``arms`` is full.

    Args:
        settings: the readings and parameters; their horizon is not read.
        window: what ``open_window`` returned.
        stop: rounds of the window to play, at most ``window.horizon``.
        state: of this window; ``state.clock[0]`` counts its rounds.
        laws, law_parameters, generator, arms, lengths, sums: as every kernel has them.
        written: chunks that stand in the arrays already.

    Returns:
        The number of chunks that stand there now.
    """
    written = _explore(
        *(settings, window, stop, state, laws, law_parameters, generator),
        *(arms, lengths, sums, written),
    )
    t = state.clock[0]
    while t < stop and written < arms.size:
        if state.phase[0] == EXPLORED:
            _start(settings, window, state, generator)
        indices = _indices(settings, window, state)
        arm = arm_of_largest(indices, settings.random_ties, generator)
        length = min(2 * state.episodes[arm], stop - t)
        rewards = draw_reward_sum(laws[arm], law_parameters[arm], length, generator)
        n = state.explored[arm] + length
        noisy_sum = state.explored_sums[arm] + rewards + laplace(window.noise, generator)
        state.episodes[arm] = length
        state.private_means[arm] = min(max(noisy_sum / n, 0.0), 1.0)
        arms[written], lengths[written], sums[written] = arm, length, rewards
        written += 1
        t += length
    state.clock[0] = t
    return written


@numba.njit(cache=True, nogil=True)
def advance(settings, state, laws, law_parameters, generator, arms, lengths, sums):  # type: ignore[no-untyped-def]
    """Play until the horizon or until ``arms`` is full; one chunk a round of Phase I or episode."""
    window = open_window(settings, settings.horizon)
    return advance_window(
        *(settings, window, window.horizon, state, laws, law_parameters, generator),
        *(arms, lengths, sums, 0),
    )


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Chunk]:
    """Algorithm 1, line by line, an episode at once."""
    arms = range(len(bandit.arms))
    horizon, epsilon = settings.horizon, settings.epsilon
    log, window_log = math.log(horizon), math.log(math.isqrt(horizon) + 1)
    noise = settings.release_log_factor * log / epsilon
    first, second = (window_log if short else log for short in settings.window_logs)
    threshold = settings.threshold * (settings.c**2 * first + second**2 / epsilon)
    cap = [horizon, math.isqrt(horizon) + 1, math.ceil(horizon / 10)][settings.cap]
    n1, s1, p = [0 for _ in arms], [0.0 for _ in arms], [0.0 for _ in arms]

    def release(arm: int) -> float:
        return (s1[arm] + laplace.py_func(noise, generator)) / n1[arm]

    t, stopped = 0, False
    while t < min(horizon, cap) and not stopped:  # Phase I
        arm = math.floor(generator.random() * len(arms))
        reward = bandit.draw(arm, generator)
        n1[arm] += 1
        s1[arm] += reward
        t += 1
        yield arm, 1, reward
        if settings.stop_test == PRIVATE_TEST:
            refreshed = [i for i in arms if n1[i] > 0] if settings.refresh_all else [arm]
            for i in refreshed:
                p[i] = release(i)
            stopped = max(n1[i] * p[i] for i in arms) > threshold
        elif settings.stop_test == CLEAN_TEST:
            stopped = max(s1) > threshold
    if t == horizon:
        return
    if settings.start != ZEROS and settings.stop_test != PRIVATE_TEST:
        p = [release(i) if n1[i] > 0 else 0.0 for i in arms]
    highest = {CARRIED: 1.0, CARRIED_POSITIVE: math.inf, ZEROS: 0.0}[settings.start]
    p = [min(max(each, 0.0), highest) for each in p]

    length = math.log(horizon) if not settings.index_window_log else window_log
    n2 = [1 for _ in arms]
    while t < horizon:  # Phase II
        index = [math.inf for _ in arms]
        for i in arms:
            n = n1[i] + n2[i]
            if n2[i] == 1 and settings.pseudo_pulls == 0:
                n = n1[i]
            if n > 0:
                last = math.sqrt(2 * settings.alpha / epsilon) * length**1.5 / n
                if settings.root_inside:
                    last = math.sqrt(2 * settings.alpha / epsilon * length**1.5 / n)
                index[i] = p[i] + 2 * settings.c * math.sqrt(2 * p[i] * length / n)
                index[i] += settings.alpha * length**2 / (epsilon * n) + 4 * last
        arm = arm_of_largest.py_func(np.array(index), settings.random_ties, generator)
        pulls = min(2 * n2[arm], horizon - t)
        rewards = bandit.draw_sum(arm, pulls, generator)
        n2[arm] = pulls
        t += pulls
        yield arm, pulls, rewards
        mean = (s1[arm] + rewards + laplace.py_func(noise, generator)) / (n1[arm] + n2[arm])
        p[arm] = min(max(mean, 0.0), 1.0)


def guarantee(parameters: Parameters, horizon: int) -> Guarantee:
    """Pure epsilon-DP, as Theorem 2 states it."""
    return Guarantee("pure", parameters.epsilon)


ALGORITHM = Algorithm(
    id="gdp-ncb",
    name="GDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 1",
    parameters=Parameters,
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee=guarantee,
    example={"epsilon": 0.2, "alpha": 3.1, "c": 3.0},
    readings={
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
    },
    variants=("as-written", "as-coded", "repaired"),
    presets={
        "as-coded": {
            "cap": "root",
            "stop_test": "clean",
            "threshold_log": "window",
            "index_log": "window",
            "start": "zeros",
        },
        "repaired": {"cap": "root", "stop_test": "off", "start": "zeros"},
    },
)
