"""Thompson sampling with Beta posteriors (Agrawal and Goyal, 2012), without privacy.

In every round each arm draws theta ~ Beta(1 + S, 1 + F) and the arm of the largest draw is played.
A reward is turned into a Bernoulli trial that succeeds with that chance; S and F count successes
and failures. Of Bernoulli arms the trial is the reward.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull
from dpbandits.kernels import Counts, One, blank, njit, write


class Settings(NamedTuple):
    """Arguments of the kernel."""

    horizon: int


class State(NamedTuple):
    """Rounds played; successes and failures of each arm."""

    clock: One
    successes: Counts
    failures: Counts


def settings(horizon: int, arms: int) -> Settings:
    """Return the arguments of the kernel."""
    return Settings(horizon)


@njit
def _largest_draw(successes, failures, rng):
    arm, largest = 0, -math.inf
    for i in range(successes.size):
        theta = rng.beta(1.0 + successes[i], 1.0 + failures[i])
        if theta > largest:
            arm, largest = i, theta
    return arm


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    """Play rounds until the horizon or until ``out`` is full; one segment a round."""
    t, n = state.clock[0], 0
    while t < settings.horizon and n < out.arms.size:
        arm = _largest_draw(state.successes, state.failures, rng)
        reward = pull(arms, arm, rng)
        if rng.random() < reward:
            state.successes[arm] += 1
        else:
            state.failures[arm] += 1
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 2, line by line."""
    arms = range(len(bandit.arms))
    successes, failures = [0 for _ in arms], [0 for _ in arms]
    for _ in range(settings.horizon):
        theta = [rng.beta(successes[i] + 1, failures[i] + 1) for i in arms]
        arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, rng)
        trial = rng.random() < reward
        successes[arm] += int(trial)
        failures[arm] += int(not trial)
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="ts-beta",
    name="TS-Beta",
    paper="Agrawal and Goyal (2012), Algorithm 2",
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="none",
    audit=AuditCase(0.0, "AUD-19"),
)
