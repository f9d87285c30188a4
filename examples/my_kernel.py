"""Private explore-then-commit with a kernel of its own: for what ``dpbandits.policy`` cannot say.

The rule of ``my_algorithm.py`` by the full protocol: a kernel that plays many rounds at once, and
its reference. Every arm is pulled m times in turn; Laplace noise of scale 1/epsilon is added once
to each arm's sum of rewards, and the arm with the largest noisy sum is played to the end.

    dpbandits check examples/my_kernel.py
"""

from collections.abc import Iterator
from typing import NamedTuple

import numba
import numpy as np

from dpbandits import positive, whole
from dpbandits.algorithms.base import Algorithm, Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import laplace, pull
from dpbandits.kernels import One, Reals, blank, write

NOBODY = -1
"""Stands for the arm to be played to the end before it is known."""


class Settings(NamedTuple):
    """Arguments of the kernel: numbers only; ``horizon`` has to be one of them."""

    horizon: int
    epsilon: float
    pulls: int


class State(NamedTuple):
    """All that the kernel remembers: arrays only; ``clock`` counts the rounds played."""

    clock: One
    leader: One
    reward_sums: Reals


def settings(horizon: int, arms: int, epsilon: float, pulls: int) -> Settings:
    """Return the arguments of the kernel; parameters are given by keyword."""
    return Settings(horizon, epsilon, pulls)


def state(arms: int) -> State:
    """Return the state before the first round: zeros, and no leader."""
    return blank(State, arms)._replace(leader=np.full(1, NOBODY))


@numba.njit(nogil=True)
def advance(settings, state, arms, rng, out):
    """Play rounds until the horizon or until ``out`` is full; return how many were written."""
    t, written = state.clock[0], 0
    count = arms.laws.size
    while t < settings.horizon and written < out.arms.size:
        if t < settings.pulls * count:
            arm = t % count
        else:
            if state.leader[0] == NOBODY:
                largest = -np.inf
                for i in range(count):
                    noisy_sum = state.reward_sums[i] + laplace(1.0 / settings.epsilon, rng)
                    if noisy_sum > largest:
                        largest = noisy_sum
                        state.leader[0] = i
            arm = state.leader[0]
        reward = pull(arms, arm, rng)
        state.reward_sums[arm] += reward
        written = write(out, written, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return written


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """The same, line by line in plain Python: tests compare the kernel with it."""
    arms = range(len(bandit.arms))
    reward_sums = [0.0 for _ in arms]
    leader = None
    for t in range(settings.horizon):
        if t < settings.pulls * len(arms):
            arm = t % len(arms)
        else:
            if leader is None:
                noisy = [reward_sums[i] + laplace(1 / settings.epsilon, rng) for i in arms]
                leader = noisy.index(max(noisy))
            arm = leader
        reward = bandit.draw(arm, rng)
        reward_sums[arm] += reward
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="my-kernel",
    name="Private explore-then-commit",
    paper="none: an example",
    parameters={"epsilon": positive, "pulls": whole(1)(example=20)},
    guarantee="pure",
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
)
