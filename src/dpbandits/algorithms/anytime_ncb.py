"""Anytime DP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 3), around GDP-NCB or LDP-NCB.

Windows of W = 1, 2, 4, ... rounds follow each other. With probability 1 / W^2, so always at W = 1,
a window's rounds are uniformly random arms; otherwise it is played by a fresh copy of the core
algorithm with horizon W (A23). The last window is cut at T, which the core does not know. The paper
has no experiment with it and there is no code: a variant is the wrapper with the core's variant.

Windows are disjoint in data, so that with fresh copies a guarantee of the core is one of the whole.
The parameter ``constant`` is the core's, and no window's length depends on it.

Interpretations: those of the core, and for LDP-NCB
    data: a window's core begins with nothing, ``restart``, or with all private values that the
        cores of earlier windows have seen, ``carry`` (A18). There is none for GDP-NCB: each window
        would release the same rewards again.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms import gdp_ncb, ldp_ncb
from dpbandits.algorithms.base import AuditCase, Known, Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull
from dpbandits.kernels import One, njit, write
from dpbandits.privacy.witnesses import window_loss


class Settings(NamedTuple):
    """Arguments of the kernel: which core is played, and both; their horizons are not read."""

    horizon: int
    is_local: bool
    carries: bool
    global_core: gdp_ncb.Settings
    local_core: ldp_ncb.Settings


class State(NamedTuple):
    """Rounds in all and of the window, its length W, whether it is uniform; one core is used."""

    clock: One
    played: One
    length: One
    uniform: One
    global_core: gdp_ncb.State
    local_core: ldp_ncb.State


def _settings(
    is_local: bool,
    horizon: int,
    arms: int,
    epsilon: float,
    data: str = "restart",
    constant: float = 1.0,
    **chosen: str,
) -> Settings:
    """Return the settings around one core; the other one, which is not played, has defaults."""
    unplayed = (gdp_ncb if is_local else ldp_ncb).ALGORITHM.interpretations_from({})
    of_global, of_local = (unplayed, chosen) if is_local else (chosen, unplayed)
    return Settings(
        horizon=horizon,
        is_local=is_local,
        carries=data == "carry",
        global_core=gdp_ncb.settings(horizon, arms, epsilon, constant, **of_global),
        local_core=ldp_ncb.settings(horizon, arms, epsilon, constant, **of_local),
    )


def state(arms: int) -> State:
    """Return the state before round 1: a window of length 0 is over, so that round 1 opens one."""
    clock, played, length, uniform = np.zeros((4, 1), np.int64)
    cores = gdp_ncb.ALGORITHM.state(arms), ldp_ncb.ALGORITHM.state(arms)
    return State(clock, played, length, uniform, *cores)


@njit
def _begin_window(settings, state, rng):
    """Begin a window; what LDP-NCB carries on may end its Phase I at once."""
    length = max(1, 2 * state.length[0])
    state.length[0] = length
    state.played[0] = 0
    state.uniform[0] = rng.random() * length * length < 1.0
    if not settings.is_local:
        gdp_ncb.reset(state.global_core)
        return
    core, local = settings.local_core, state.local_core
    local.clock[:] = 0
    local.phase[:] = ldp_ncb.EXPLORING
    if not settings.carries:
        local.counts[:] = 0
        local.private_sums[:] = 0.0
    window = ldp_ncb.open_window(core, length)
    for i in range(local.counts.size):
        shown = ldp_ncb.exploration_sum(core, local.counts[i], local.private_sums[i])
        if ldp_ncb.stops(core, window, local.counts[i], shown):
            local.phase[:] = ldp_ncb.LEADING


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    t, n = state.clock[0], np.int64(0)  # a literal would compile both cores twice
    while t < settings.horizon and n < out.arms.size:
        if state.played[0] >= state.length[0]:
            _begin_window(settings, state, rng)
        played, length = state.played[0], state.length[0]
        begin = t - played
        stop = min(length, settings.horizon - begin)
        if state.uniform[0]:
            for _ in range(min(stop - played, out.arms.size - n)):
                arm = int(rng.random() * arms.laws.size)
                n = write(out, n, arm, 1, pull(arms, arm, rng))
                played += 1
        elif settings.is_local:
            core, local = settings.local_core, state.local_core
            window = ldp_ncb.open_window(core, length)
            n = ldp_ncb.advance_window(core, window, stop, local, arms, rng, out, n)
            played = local.clock[0]
        else:
            core, window = settings.global_core, gdp_ncb.open_window(settings.global_core, length)
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
            core = settings.local_core
            yield from ldp_ncb.reference_window(core, w, rounds, counts, means, bandit, rng)
        else:
            yield from gdp_ncb.reference_window(settings.global_core, w, rounds, bandit, rng)
        t += rounds
        w *= 2


def _has_unscaled_noise(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Whether any window adds noise of scale 1; one of a single round adds none."""
    return ldp_ncb.has_unscaled_noise(parameters, horizon, bandit) and horizon >= 2


_COMMON: dict[str, Any] = {
    "paper": "Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 3",
    "state": state,
    "advance": advance,
    "reference": reference,
}

GLOBAL = replace(
    gdp_ncb.ALGORITHM,
    id="anytime-gdp-ncb",
    name="Anytime GDP-NCB",
    settings=partial(_settings, False),
    stated="dp-ncb, Theorem 4",
    known=(
        Known(
            "refuted",
            "NCB-C15, in one window",
            gdp_ncb.PRINTED,
            gdp_ncb.exceeds(window_loss),
            gdp_ncb.TWO_ARMS,
            two_arms=True,
        ),
        Known("proved", "NCB-C15, windows having no reward in common", gdp_ncb.REPAIRED),
        gdp_ncb.ELSEWHERE,
    ),
    **_COMMON,
)

LOCAL = replace(
    ldp_ncb.ALGORITHM,
    id="anytime-ldp-ncb",
    name="Anytime LDP-NCB",
    settings=partial(_settings, True),
    known=(
        Known("proved", "NCB-C16, in every window", {"exploration_noise": "scaled"}),
        Known(
            "refuted",
            "NCB-C16, in every window",
            condition=_has_unscaled_noise,
            remark="our wrapper around the released code; no anytime code was released",
        ),
        ldp_ncb.ELSEWHERE,
    ),
    audit=AuditCase(
        0.9,
        "AUD-16",
        horizon=16,
        parameters={"epsilon": 2.0},
        pull=2,
        level=0.9,
        silent={"as-written": "all 16 rounds are uniform play, but for a vanishing chance"},
    ),
    interpretations={**ldp_ncb.ALGORITHM.interpretations, "data": ("restart", "carry")},
    **_COMMON,
)
