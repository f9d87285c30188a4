"""Anytime DP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 3), around GDP-NCB or LDP-NCB.

Windows of W = 1, 2, 4, ... rounds follow each other. With probability 1 / W^2, so always at W = 1,
a window's rounds are uniformly random arms; otherwise it is played by a fresh copy of the core
algorithm with horizon W (A23). The last window is cut at T, which the core does not know. The paper
has no experiment with it and there is no code: a variant is the wrapper with the core's variant.

Windows are disjoint in data, so that with fresh copies a guarantee of the core is one of the whole.

Interpretations: those of the core, and for LDP-NCB
    data: a window's core begins with nothing, ``restart``, or with all private values that the
        cores of earlier windows have seen, ``carry`` (A18). There is none for GDP-NCB: each window
        would release the same rewards again.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms import gdp_ncb, ldp_ncb
from dpbandits.algorithms.base import Algorithm, AuditCase, Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull
from dpbandits.kernels import One, njit, write

DATA = ("restart", "carry")


class Settings(NamedTuple):
    """Arguments of the kernel: which core, whether it carries data on, and the interpretations of
    both.

    The horizon of a core's settings is not read.
    """

    horizon: int
    is_local: bool
    carries: bool
    global_core: gdp_ncb.Settings
    local_core: ldp_ncb.Settings


class State(NamedTuple):
    """Rounds played in all and in the window, its length W and whether it is uniform.

    Beside them stand the states of both cores, of which one is used.
    """

    clock: One
    played: One
    length: One
    uniform: One
    global_core: gdp_ncb.State
    local_core: ldp_ncb.State


def window_ends(horizon: int) -> list[int]:
    """Return the last rounds 2^m - 1 of all whole windows up to ``horizon``."""
    return [2**m - 1 for m in range(1, (horizon + 1).bit_length())]


def state(arms: int) -> State:
    """Return the state before round 1, where a window of no length is over."""
    clock, played, length, uniform = np.zeros((4, 1), np.int64)
    return State(
        clock, played, length, uniform, gdp_ncb.ALGORITHM.state(arms), ldp_ncb.ALGORITHM.state(arms)
    )


@njit
def _begin_local(settings, state, horizon):
    """Let a copy of LDP-NCB begin; what is carried on may end its Phase I at once."""
    state.clock[:] = 0
    state.phase[:] = ldp_ncb.EXPLORING
    if not settings.carries:
        state.counts[:] = 0
        state.private_sums[:] = 0.0
    window = ldp_ncb.open_window(settings.local_core, horizon)
    for i in range(state.counts.size):
        shown = ldp_ncb.exploration_sum(settings.local_core, state.counts[i], state.private_sums[i])
        if ldp_ncb.stops(settings.local_core, window, state.counts[i], shown):
            state.phase[:] = ldp_ncb.LEADING


@njit
def _begin_window(settings, state, rng):
    length = max(1, 2 * state.length[0])
    state.length[0] = length
    state.played[0] = 0
    state.uniform[0] = rng.random() * length * length < 1.0
    if settings.is_local:
        _begin_local(settings, state.local_core, length)
    else:
        gdp_ncb.reset(state.global_core)


@njit
def _play_uniformly(rounds, arms, rng, out, n):
    for _ in range(min(rounds, out.arms.size - n)):
        arm = int(rng.random() * arms.laws.size)
        reward = pull(arms, arm, rng)
        n = write(out, n, arm, 1, reward)
    return n


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    t = state.clock[0]
    n = 0
    while t < settings.horizon and n < out.arms.size:
        if state.played[0] >= state.length[0]:
            _begin_window(settings, state, rng)
        played, length = state.played[0], state.length[0]
        begin = t - played
        stop = min(length, settings.horizon - begin)
        if state.uniform[0]:
            already = n
            n = _play_uniformly(stop - played, arms, rng, out, n)
            played += n - already
        elif settings.is_local:
            local = settings.local_core
            opened = ldp_ncb.open_window(local, length)
            n = ldp_ncb.advance_window(local, opened, stop, state.local_core, arms, rng, out, n)
            played = state.local_core.clock[0]
        else:
            core = settings.global_core
            window = gdp_ncb.open_window(core, length)
            n = gdp_ncb.advance_window(core, window, stop, state.global_core, arms, rng, out, n)
            played = state.global_core.clock[0]
        state.played[0] = played
        t = begin + played
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 3, window by window, around the references of the cores."""
    t, w = 0, 1
    counts, means = [0 for _ in bandit.arms], [0.0 for _ in bandit.arms]
    while t < settings.horizon:
        rounds = min(w, settings.horizon - t)
        if rng.random() < 1 / w**2:
            for _ in range(rounds):
                arm = int(rng.random() * len(bandit.arms))
                yield arm, 1, bandit.draw(arm, rng)
        elif settings.is_local:
            if not settings.carries:
                counts, means = [0 for _ in bandit.arms], [0.0 for _ in bandit.arms]
            local = settings.local_core
            window = ldp_ncb.reference_window(local, w, counts, means, bandit, rng)
            yield from islice(window, rounds)
        else:
            core = settings.global_core
            yield from gdp_ncb.reference_window(core, w, rounds, bandit, rng)
        t += rounds
        w *= 2


def _settings_of_global(horizon: int, arms: int, **chosen: Any) -> Settings:
    """Return the settings of the wrapper around GDP-NCB."""
    core = gdp_ncb.settings(horizon, arms, **chosen)
    other = ldp_ncb.settings(
        horizon, arms, epsilon=chosen["epsilon"], **ldp_ncb.ALGORITHM.interpretations_from({})
    )
    return Settings(horizon, False, False, core, other)


def _settings_of_local(horizon: int, arms: int, *, data: str, **chosen: Any) -> Settings:
    """Return the settings of the wrapper around LDP-NCB."""
    core = ldp_ncb.settings(horizon, arms, **chosen)
    other = gdp_ncb.settings(
        horizon, arms, epsilon=chosen["epsilon"], **gdp_ncb.ALGORITHM.interpretations_from({})
    )
    return Settings(horizon, True, data == "carry", other, core)


GLOBAL = Algorithm(
    id="anytime-gdp-ncb",
    name="Anytime GDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 3",
    parameters=gdp_ncb.ALGORITHM.parameters,
    settings=_settings_of_global,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="dp-ncb, Theorem 4",
    audit=gdp_ncb.AUDIT,
    interpretations=gdp_ncb.ALGORITHM.interpretations,
    presets=gdp_ncb.ALGORITHM.presets,
)

LOCAL = Algorithm(
    id="anytime-ldp-ncb",
    name="Anytime LDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 3",
    parameters=ldp_ncb.ALGORITHM.parameters,
    settings=_settings_of_local,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    model="local",
    stated="dp-ncb, arXiv Section 5",
    audit=AuditCase(0.0, "AUD-16", "NCB-C16", parameters={"epsilon": 1.0}),
    interpretations={**ldp_ncb.ALGORITHM.interpretations, "data": DATA},
    presets=ldp_ncb.ALGORITHM.presets,
)
