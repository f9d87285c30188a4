"""Modified Thompson Sampling with Gaussian priors (TS-is-DP, Algorithm 2).

Every arm is pulled b times, in the order of the arms; then the arm with the largest draw
theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)) is pulled, n_i pulls with reward sum S_i so far.

Interpretations:
    count: ``n+1`` (Algorithm 2), or ``n``: centre S_i / n_i and variance c / n_i, with one forced
        pull per arm when b = 0 (TSDP-E1; the parametrisation of DP-TS-UCB's Section 5).
    long_pre_pull: where b K >= T, ``truncate`` cuts the pre-pull phase at T, ``error`` rejects
        (TSDP-E15).
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, Segment, positive, whole
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward
from dpbandits.errors import InputError
from dpbandits.kernels import njit
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.guarantees import modified_ts_gdp


class Settings(NamedTuple):
    """Settings of the kernel: rounds, forced pulls per arm, c, and what is added to n_i."""

    horizon: int
    forced_pulls: int
    variance_factor: float
    prior_count: int


class State(NamedTuple):
    """Rounds played (shape (1,)), pulls and reward sums of each arm (shape (K,))."""

    clock: NDArray[np.int64]
    pulls: NDArray[np.int64]
    reward_sums: NDArray[np.float64]


def settings(
    horizon: int, arms: int, *, b: int, c: float, count: str, long_pre_pull: str
) -> Settings:
    """Return the kernel's settings; InputError as ``long_pre_pull`` says."""
    if long_pre_pull == "error" and b * arms >= horizon:
        raise InputError(
            f"m-ts-gaussian: b is {b}, so that {arms} arms use up the horizon {horizon}"
            f"; allowed: b K < T (or the interpretation long_pre_pull: truncate)"
        )
    prior_count = 1 if count == "n+1" else 0
    # More forced pulls than rounds are the same as one pull of the first arm in every round.
    forced_pulls = min(max(b, 1 - prior_count), horizon)
    return Settings(horizon, forced_pulls, c, prior_count)


def state(arms: int) -> State:
    """Return the state before round 1."""
    return State(np.zeros(1, np.int64), np.zeros(arms, np.int64), np.zeros(arms))


@njit(nogil=True)
def advance(settings, state, bandit, generator, out):
    """Play rounds until the horizon or until ``arms`` is full; one chunk a round."""
    laws, law_parameters = bandit
    arms, lengths, sums = out
    t = state.clock[0]
    pre_pull_rounds = settings.forced_pulls * laws.size
    pulls, reward_sums = state.pulls, state.reward_sums
    counts = np.maximum(pulls + settings.prior_count, 1)
    means, deviations = reward_sums / counts, np.sqrt(settings.variance_factor / counts)
    draws = np.empty(laws.size)
    written = 0
    while t < settings.horizon and written < arms.size:
        if t < pre_pull_rounds:
            arm = t // settings.forced_pulls
        else:
            # Drawn before they are compared: in one loop both together take a third longer.
            for i in range(laws.size):
                draws[i] = generator.standard_normal()
            arm = 0
            largest = -math.inf
            for i in range(laws.size):
                theta = means[i] + deviations[i] * draws[i]
                arm = i if theta > largest else arm
                largest = max(largest, theta)
        reward = draw_reward(laws[arm], law_parameters[arm], generator)
        pulls[arm] += 1
        reward_sums[arm] += reward
        count = pulls[arm] + settings.prior_count
        means[arm] = reward_sums[arm] / count
        deviations[arm] = math.sqrt(settings.variance_factor / count)
        arms[written], lengths[written], sums[written] = arm, 1, reward
        written += 1
        t += 1
    state.clock[0] = t
    return written


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    """Algorithm 2, line by line."""
    arms = range(len(bandit.arms))
    pulls = [0 for _ in arms]
    reward_sums = [0.0 for _ in arms]
    forced = [arm for arm in arms for _ in range(settings.forced_pulls)]
    for t in range(settings.horizon):
        if t < len(forced):  # lines 2 to 5: the pre-pull phase
            arm = forced[t]
        else:  # lines 6 to 8: sample and play the largest
            theta = []
            for i in arms:
                count = pulls[i] + settings.prior_count
                mean = reward_sums[i] / count
                deviation = math.sqrt(settings.variance_factor / count)
                theta.append(mean + deviation * generator.standard_normal())
            arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, generator)
        pulls[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


def _guarantee(parameters: Any, horizon: int) -> Guarantee:
    """Lemma 5: sqrt(T / (c (b + 1)))-Gaussian DP."""
    return Guarantee("gdp", modified_ts_gdp(parameters.b, parameters.c, horizon))


ALGORITHM = Algorithm(
    id="m-ts-gaussian",
    name="Modified TS",
    paper="TS-is-DP, Algorithm 2",
    parameters={"b": whole(0)(example=10), "c": positive(example=2.0)},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee=_guarantee,
    stated="ts-is-dp, Lemma 5",
    interpretations={"count": ("n+1", "n"), "long_pre_pull": ("truncate", "error")},
)
