"""DP-SE, private successive elimination (Sajed and Sheffet, ICML 2019), with beta = 1/T.

Epoch e pulls every active arm R times afresh, releases each mean with Laplace noise of scale
1/(epsilon R), and drops the arms that fall behind the best by more than 2h + 2c: h bounds the error
of a mean, c that of its noise. Formulas as verified in two public implementations; natural
logarithm.

The parameter ``constant``, 1 as printed, is a factor of the logarithms in R, h and c: epochs with
the same thresholds are so many times as long. Privacy does not depend on it: an epoch's length
follows from earlier private means alone, and its noise from that length.

Interpretation:
    order: pulls of an epoch in turn over the arms (``round-robin``), or all R pulls of one arm and
        then the next (``sequential``).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import ONE_RELEASE, Algorithm, AuditCase, Segment, positive, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import laplace, pull
from dpbandits.kernels import Counts, One, Reals, blank, njit, write


class Settings(NamedTuple):
    """Arguments of the kernel; ``beta`` is the failure probability."""

    horizon: int
    epsilon: float
    beta: float
    sequential: bool
    constant: float


class State(NamedTuple):
    """``active`` lists the ``active_arms`` still in play, ``sums`` their rewards of the epoch."""

    clock: One
    epoch: One
    pulls_per_arm: One
    position: One
    active_arms: One
    active: Counts
    sums: Reals


def settings(
    horizon: int, arms: int, epsilon: float, order: str, constant: float = 1.0
) -> Settings:
    return Settings(horizon, epsilon, 1.0 / horizon, order == "sequential", constant)


def state(arms: int) -> State:
    return blank(State, arms)._replace(active_arms=np.array([arms]), active=np.arange(arms))


@njit
def _pulls_and_allowance(settings, epoch, active_arms):
    """Return the pulls R of each arm in an epoch, and its allowance 2h + 2c."""
    gap = 2.0**-epoch
    log8 = settings.constant * math.log(8 * active_arms * epoch**2 / settings.beta)
    log4 = settings.constant * math.log(4 * active_arms * epoch**2 / settings.beta)
    enough = max(32 * log8 / gap**2, 8 * log4 / (settings.epsilon * gap))
    # An epoch that outlasts the horizon needs no exact length, and this one fits an integer.
    pulls = int(min(enough, settings.horizon)) + 1
    return pulls, 2 * math.sqrt(log8 / (2 * pulls)) + 2 * log4 / (pulls * settings.epsilon)


@njit
def _eliminate(settings, state, rng):
    active_arms, pulls = state.active_arms[0], state.pulls_per_arm[0]
    best = -math.inf
    for arm in state.active[:active_arms]:
        # From here to the next epoch sums are private means.
        state.sums[arm] = state.sums[arm] / pulls + laplace(1.0 / (settings.epsilon * pulls), rng)
        best = max(best, state.sums[arm])
    _, allowance = _pulls_and_allowance(settings, state.epoch[0], active_arms)
    left = 0
    for position in range(active_arms):
        arm = state.active[position]
        if best - state.sums[arm] <= allowance:
            state.active[left] = arm
            left += 1
    state.active_arms[0] = left


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    t, n = state.clock[0], 0
    while t < settings.horizon and n < out.arms.size:
        active_arms, position = state.active_arms[0], state.position[0]
        if position == 0 and active_arms > 1:
            state.epoch[0] += 1
            pulls, _ = _pulls_and_allowance(settings, state.epoch[0], active_arms)
            state.pulls_per_arm[0] = pulls
            state.sums[:] = 0.0
        if active_arms == 1:
            arm = state.active[0]
        elif settings.sequential:
            arm = state.active[position // state.pulls_per_arm[0]]
        else:
            arm = state.active[position % active_arms]
        reward = pull(arms, arm, rng)
        n = write(out, n, arm, 1, reward)
        t += 1
        if active_arms > 1:
            state.sums[arm] += reward
            state.position[0] += 1
            if state.position[0] == active_arms * state.pulls_per_arm[0]:
                # An epoch that ends with the horizon eliminates nobody, to no effect either way.
                _eliminate(settings, state, rng)
                state.position[0] = 0
    state.clock[0] = t
    return n


def reference_epoch(settings: Settings, epoch: int, active: int) -> tuple[int, float]:
    """Return the pulls per arm R and the allowance 2h + 2c of an epoch."""
    gap = 2.0**-epoch
    log8 = settings.constant * math.log(8 * active * epoch**2 / settings.beta)
    log4 = settings.constant * math.log(4 * active * epoch**2 / settings.beta)
    enough = max(32 * log8 / gap**2, 8 * log4 / (settings.epsilon * gap))
    r = math.floor(min(enough, settings.horizon)) + 1  # no longer than the horizon
    h, c = math.sqrt(log8 / (2 * r)), log4 / (r * settings.epsilon)
    return r, 2 * h + 2 * c


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Successive elimination, line by line."""
    active = list(range(len(bandit.arms)))
    t = epoch = 0
    while len(active) > 1:
        epoch += 1
        r, allowance = reference_epoch(settings, epoch, len(active))
        sums = dict.fromkeys(active, 0.0)
        for arm in sorted(active * r) if settings.sequential else active * r:
            if t == settings.horizon:
                return
            reward = bandit.draw(arm, rng)
            sums[arm] += reward
            t += 1
            yield arm, 1, reward
        private = {
            a: sums[a] / r + laplace.py_func(1.0 / (settings.epsilon * r), rng) for a in active
        }
        best = max(private.values())
        active = [arm for arm in active if not best - private[arm] > allowance]
    for _ in range(t, settings.horizon):
        yield active[0], 1, bandit.draw(active[0], rng)


ALGORITHM = Algorithm(
    id="dp-se",
    name="DP-SE",
    paper="Sajed and Sheffet (ICML 2019)",
    parameters={"epsilon": positive, "constant": printed()},
    interpretations={"order": ("round-robin", "sequential")},
    guarantee="pure",
    stated="Sajed and Sheffet (2019)",
    known=(ONE_RELEASE,),
    # Either arm has 1,376 pulls before the first decision, whose threshold is between those of
    # epsilon = 1 and 2.
    audit=AuditCase(
        0.0,
        "AUD-18",
        horizon=2900,
        parameters={"epsilon": 1.0},
        level=184.5 / 1375.0,
        runs=60_000,
        silent={"as-written": "few runs drop an arm at this epsilon, more at twice as much"},
    ),
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
)
