"""Explore-then-commit with one planted leak each, for the tests of the auditor.

Both arms are pulled once, each reward is released once with Laplace noise of scale 1/epsilon, and
the arm of the larger release is played to the end: epsilon-DP.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numba
import numpy as np

from dpbandits.algorithms.base import Algorithm, Segment, positive
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import laplace, pull
from dpbandits.kernels import One, Reals, blank, write

LEAKS = ("none", "half the noise", "reused reward", "raw first pulls", "stopping time", "constant")
NONE, HALF, REUSED, RAW, STOPPING, CONSTANT = range(len(LEAKS))

Rng = np.random.Generator


class Settings(NamedTuple):
    """Arguments of the kernel."""

    horizon: int
    epsilon: float
    leak: int


class State(NamedTuple):
    """Rounds played, first rewards, their noisy releases, and the number of exploring rounds."""

    clock: One
    first: Reals
    released: Reals
    exploring: One


def state(arms: int) -> State:
    return blank(State, arms)._replace(exploring=np.full(1, 2))


@numba.njit(nogil=True)
def advance(settings, state, arms, generator, out):  # type: ignore[no-untyped-def]
    """Play until the horizon or until ``out`` is full."""
    t, written = state.clock[0], 0
    while t < settings.horizon and written < out.arms.size:
        arm = t % 2
        if t >= state.exploring[0] and settings.leak != CONSTANT:
            if settings.leak == REUSED:
                for i in range(2):
                    state.released[i] = state.first[i] + laplace(1.0 / settings.epsilon, generator)
            arm = 0 if state.released[0] > state.released[1] else 1
        reward = pull(arms, arm, generator)
        if t < 2:
            scale = (0.5 if settings.leak == HALF else 1.0) / settings.epsilon
            noise = 0.0 if settings.leak == RAW else laplace(scale, generator)
            state.first[arm], state.released[arm] = reward, reward + noise
        if settings.leak == STOPPING and arm == 0 and t < state.exploring[0] and reward < 0.5:
            state.exploring[0] = t + 4
        written = write(out, written, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return written


def reference(settings: Settings, bandit: Bandit, generator: Rng) -> Iterator[Segment]:
    raise NotImplementedError("audits play kernels")


def leaky(leak: str) -> Algorithm:
    """Return explore-then-commit with one of ``LEAKS``."""

    def settings(horizon: int, arms: int, epsilon: float) -> Settings:
        return Settings(horizon, epsilon, LEAKS.index(leak))

    return Algorithm(
        id=f"leaky-{leak.replace(' ', '-')}",
        name=leak,
        paper="none",
        parameters={"epsilon": positive},
        guarantee="pure",
        settings=settings,
        state=state,
        advance=advance,
        reference=reference,
    )
