"""Private explore-then-commit with a kernel of its own: for what ``dpbandits.policy`` cannot say.

The rule of ``my_algorithm.py`` by the full protocol: a kernel that plays many rounds at once, and
its reference. Every arm is pulled m times in turn; Laplace noise of scale 1/epsilon is added once
to each arm's sum of rewards, and the arm with the largest noisy sum is played to the end.

    dpbandits check examples/my_kernel.py
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, Chunk, Interpretations
from dpbandits.algorithms.validation import require_integer, require_positive
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward, laplace
from dpbandits.privacy import Guarantee

NOBODY = -1
"""Stands for the arm to be played to the end before it is known."""


@dataclass(frozen=True)
class Parameters:
    """Privacy ``epsilon`` (above 0), and how many ``pulls`` of each arm come first (1 or more)."""

    epsilon: float
    pulls: int

    def __post_init__(self) -> None:
        """Refuse what is out of range, in one line."""
        require_positive("my-kernel", "epsilon", self.epsilon)
        require_integer("my-kernel", "pulls", self.pulls, 1)


class Settings(NamedTuple):
    """What the kernel is told: numbers only; ``horizon`` has to be one of them."""

    horizon: int
    epsilon: float
    pulls: int


class State(NamedTuple):
    """All that the kernel remembers: arrays only; ``clock`` counts the rounds played."""

    clock: NDArray[np.int64]
    leader: NDArray[np.int64]
    reward_sums: NDArray[np.float64]


def settings(
    parameters: Parameters, interpretations: Interpretations, horizon: int, arms: int
) -> Settings:
    """Translate the parameters for the kernel."""
    return Settings(horizon, float(parameters.epsilon), parameters.pulls)


def state(arms: int) -> State:
    """Return the state before the first round."""
    return State(np.zeros(1, np.int64), np.full(1, NOBODY), np.zeros(arms))


@numba.njit(nogil=True)
def advance(settings, state, bandit, generator, out):
    """Play rounds until the horizon or until ``arms`` is full; return how many were written."""
    laws, law_parameters = bandit
    arms, lengths, sums = out
    t = state.clock[0]
    written = 0
    while t < settings.horizon and written < arms.size:
        if t < settings.pulls * laws.size:
            arm = t % laws.size
        else:
            if state.leader[0] == NOBODY:
                largest = -np.inf
                for i in range(laws.size):
                    noisy_sum = state.reward_sums[i] + laplace(1.0 / settings.epsilon, generator)
                    if noisy_sum > largest:
                        largest = noisy_sum
                        state.leader[0] = i
            arm = state.leader[0]
        reward = draw_reward(laws[arm], law_parameters[arm], generator)
        state.reward_sums[arm] += reward
        arms[written], lengths[written], sums[written] = arm, 1, reward
        written += 1
        t += 1
    state.clock[0] = t
    return written


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Chunk]:
    """The same, line by line in plain Python: tests hold the kernel against it."""
    arms = range(len(bandit.arms))
    reward_sums = [0.0 for _ in arms]
    leader = None
    for t in range(settings.horizon):
        if t < settings.pulls * len(arms):
            arm = t % len(arms)
        else:
            if leader is None:
                noisy = [reward_sums[i] + laplace(1 / settings.epsilon, generator) for i in arms]
                leader = noisy.index(max(noisy))
            arm = leader
        reward = bandit.draw(arm, generator)
        reward_sums[arm] += reward
        yield arm, 1, reward


def guarantee(parameters: Parameters, horizon: int) -> Guarantee:
    """Pure epsilon-differential privacy."""
    return Guarantee("pure", parameters.epsilon)


ALGORITHM = Algorithm(
    id="my-kernel",
    name="Private explore-then-commit",
    paper="none: an example",
    parameters=Parameters,
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee=guarantee,
    example={"epsilon": 1.0, "pulls": 20},
)
