"""DP-SE, private successive elimination (Sajed and Sheffet, ICML 2019), with beta = 1/T.

Epoch e pulls every active arm R times afresh, releases each mean with Laplace noise of scale
1/(epsilon R), and drops the arms that fall behind the best by more than 2h + 2c. Formulas as
verified in two public implementations; natural logarithm.

Interpretation:
    order: pulls of an epoch in turn over the arms (``round-robin``), or all R pulls of one arm and
        then the next (``sequential``).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, Segment, positive
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward, laplace
from dpbandits.kernels import njit


class Settings(NamedTuple):
    """Settings of the kernel; ``beta`` is the failure probability."""

    horizon: int
    epsilon: float
    beta: float
    sequential: bool


class State(NamedTuple):
    """Between two calls: rounds played, epoch, pulls per arm and position in it (shape (1,)).

    ``active`` lists the ``active_arms[0]`` arms still in play, ``sums`` their rewards of the epoch.
    """

    clock: NDArray[np.int64]
    epoch: NDArray[np.int64]
    pulls_per_arm: NDArray[np.int64]
    position: NDArray[np.int64]
    active_arms: NDArray[np.int64]
    active: NDArray[np.int64]
    sums: NDArray[np.float64]


def settings(horizon: int, arms: int, *, epsilon: float, order: str) -> Settings:
    """Translate parameters and interpretations for the kernel."""
    sequential = order == "sequential"
    return Settings(horizon, epsilon, 1.0 / horizon, sequential)


def state(arms: int) -> State:
    """Return the state before round 1: all arms active, no epoch begun."""
    clock, epoch, pulls_per_arm, position = np.zeros((4, 1), np.int64)
    return State(
        clock, epoch, pulls_per_arm, position, np.array([arms]), np.arange(arms), np.zeros(arms)
    )


@njit
def _epoch_pulls(settings, epoch, active_arms):
    gap = 2.0**-epoch
    log8 = math.log(8 * active_arms * epoch**2 / settings.beta)
    log4 = math.log(4 * active_arms * epoch**2 / settings.beta)
    enough = max(32 * log8 / gap**2, 8 * log4 / (settings.epsilon * gap))
    # An epoch that outlasts the horizon needs no exact length, and this one fits an integer.
    return int(min(enough, settings.horizon)) + 1


@njit
def _eliminate(settings, state, generator):
    active_arms, epoch, pulls = state.active_arms[0], state.epoch[0], state.pulls_per_arm[0]
    noise = 1.0 / (settings.epsilon * pulls)
    best = -math.inf
    for position in range(active_arms):
        arm = state.active[position]
        state.sums[arm] = state.sums[arm] / pulls + laplace(noise, generator)
        best = max(best, state.sums[arm])
    log8 = math.log(8 * active_arms * epoch**2 / settings.beta)
    log4 = math.log(4 * active_arms * epoch**2 / settings.beta)
    width = 2 * math.sqrt(log8 / (2 * pulls)) + 2 * log4 / (pulls * settings.epsilon)
    kept = 0
    for position in range(active_arms):
        arm = state.active[position]
        if best - state.sums[arm] <= width:
            state.active[kept] = arm
            kept += 1
    state.active_arms[0] = kept


@njit(nogil=True)
def advance(settings, state, bandit, generator, out):
    """Play rounds until the horizon or until ``arms`` is full; one chunk a round."""
    laws, law_parameters = bandit
    arms, lengths, sums = out
    t = state.clock[0]
    written = 0
    while t < settings.horizon and written < arms.size:
        active_arms = state.active_arms[0]
        if state.position[0] == 0 and active_arms > 1:
            state.epoch[0] += 1
            state.pulls_per_arm[0] = _epoch_pulls(settings, state.epoch[0], active_arms)
            state.sums[:] = 0.0
        if active_arms == 1:
            arm = state.active[0]
        elif settings.sequential:
            arm = state.active[state.position[0] // state.pulls_per_arm[0]]
        else:
            arm = state.active[state.position[0] % active_arms]
        reward = draw_reward(laws[arm], law_parameters[arm], generator)
        arms[written], lengths[written], sums[written] = arm, 1, reward
        written += 1
        t += 1
        if active_arms > 1:
            state.sums[arm] += reward
            state.position[0] += 1
            if state.position[0] == active_arms * state.pulls_per_arm[0]:
                # An epoch that ends with the horizon eliminates nobody, to no effect either way.
                _eliminate(settings, state, generator)
                state.position[0] = 0
    state.clock[0] = t
    return written


def _reference_epoch(settings: Settings, epoch: int, active: int) -> tuple[int, float]:
    """Return the pulls per arm R and the allowance 2h + 2c of an epoch."""
    gap = 2.0**-epoch
    log8 = math.log(8 * active * epoch**2 / settings.beta)
    log4 = math.log(4 * active * epoch**2 / settings.beta)
    enough = max(32 * log8 / gap**2, 8 * log4 / (settings.epsilon * gap))
    pulls = math.floor(min(enough, settings.horizon)) + 1  # no longer than the horizon
    h = math.sqrt(log8 / (2 * pulls))
    c = log4 / (pulls * settings.epsilon)
    return pulls, 2 * h + 2 * c


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    """Successive elimination, line by line."""
    active = list(range(len(bandit.arms)))
    t = epoch = 0
    while len(active) > 1:
        epoch += 1
        pulls, allowance = _reference_epoch(settings, epoch, len(active))
        order = active * pulls
        if settings.sequential:
            order = sorted(order)
        sums = dict.fromkeys(active, 0.0)
        for arm in order:
            if t == settings.horizon:
                return
            reward = bandit.draw(arm, generator)
            sums[arm] += reward
            t += 1
            yield arm, 1, reward
        private = {
            arm: sums[arm] / pulls + laplace.py_func(1.0 / (settings.epsilon * pulls), generator)
            for arm in active
        }
        best = max(private.values())
        active = [arm for arm in active if not best - private[arm] > allowance]
    for _ in range(t, settings.horizon):
        yield active[0], 1, bandit.draw(active[0], generator)


ALGORITHM = Algorithm(
    id="dp-se",
    name="DP-SE",
    paper="Sajed and Sheffet (ICML 2019)",
    parameters={"epsilon": positive},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="Sajed and Sheffet (2019)",
    interpretations={"order": ("round-robin", "sequential")},
)
