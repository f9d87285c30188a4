"""Thompson sampling with Gaussian priors, and Modified Thompson Sampling (TS-is-DP, 1 and 2).

Modified Thompson Sampling (Algorithm 2) pulls every arm b times, in the order of the arms; then the
arm with the largest draw theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)) is pulled, n_i pulls with
reward sum S_i so far. TS-Gaussian (Algorithm 1) is the same at (b, c) = (0, 1).

The paper asks c >= 1, yet its experiments need less at large b (TSDP-E10); both are allowed.

Interpretation of both:
    count: ``n+1`` (Algorithms 1 and 2), or ``n``: centre S_i / n_i and variance c / n_i, as Section
        3 once writes, with one forced pull per arm when b = 0 (TSDP-E1; the parametrisation of
        DP-TS-UCB's Section 5).

Interpretation of Modified Thompson Sampling:
    long_pre_pull: where b K >= T, ``truncate`` cuts the pre-pull phase at T, ``error`` rejects
        (TSDP-E15).
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, positive, whole
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull
from dpbandits.errors import InputError
from dpbandits.kernels import Counts, One, Reals, blank, njit, write
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.thompson import modified_ts_gdp, ts_gaussian_gdp


class Settings(NamedTuple):
    """Arguments of the kernel: rounds, forced pulls per arm, c, and what is added to n_i."""

    horizon: int
    forced_pulls: int
    variance_factor: float
    prior_count: int


class State(NamedTuple):
    """Rounds played; pulls and reward sums of each arm."""

    clock: One
    pulls: Counts
    reward_sums: Reals


def plain_settings(horizon: int, arms: int, count: str) -> Settings:
    """Return the settings of TS-Gaussian."""
    prior_count = 1 if count == "n+1" else 0
    return Settings(horizon, 1 - prior_count, 1.0, prior_count)


def modified_settings(
    horizon: int, arms: int, b: int, c: float, count: str, long_pre_pull: str
) -> Settings:
    """Return the settings of Modified TS; InputError as ``long_pre_pull`` says."""
    if long_pre_pull == "error" and b * arms >= horizon:
        raise InputError(
            f"m-ts-gaussian: b is {b}, so that {arms} arms use up the horizon {horizon}; allowed: "
            f"b K < T (or the interpretation long_pre_pull: truncate)"
        )
    prior_count = 1 if count == "n+1" else 0
    # More forced pulls than rounds are the same as one pull of the first arm in every round.
    forced_pulls = min(max(b, 1 - prior_count), horizon)
    return Settings(horizon, forced_pulls, c, prior_count)


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    t, n = state.clock[0], 0
    size = arms.laws.size
    pre_pull_rounds = settings.forced_pulls * size
    pulls, reward_sums = state.pulls, state.reward_sums
    counts = np.maximum(pulls + settings.prior_count, 1)
    means, deviations = reward_sums / counts, np.sqrt(settings.variance_factor / counts)
    draws = np.empty(size)
    while t < settings.horizon and n < out.arms.size:
        if t < pre_pull_rounds:
            arm = t // settings.forced_pulls
        else:
            # Drawn before they are compared: in one loop both together take a third longer.
            for i in range(size):
                draws[i] = rng.standard_normal()
            arm, largest = 0, -math.inf
            for i in range(size):
                theta = means[i] + deviations[i] * draws[i]
                arm = i if theta > largest else arm
                largest = max(largest, theta)
        reward = pull(arms, arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        count = pulls[arm] + settings.prior_count
        means[arm] = reward_sums[arm] / count
        deviations[arm] = math.sqrt(settings.variance_factor / count)
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 2, line by line (sums in place of running means, so that rounding is shared)."""
    arms = range(len(bandit.arms))
    pulls, reward_sums = [0 for _ in arms], [0.0 for _ in arms]
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
                theta.append(mean + deviation * rng.standard_normal())
            arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


def _plain_guarantee(parameters: Any, horizon: int) -> Guarantee:
    """Lemma 4: sqrt(T / 2)-Gaussian DP."""
    return Guarantee("gdp", ts_gaussian_gdp(horizon))


def _modified_guarantee(parameters: Any, horizon: int) -> Guarantee:
    """Lemma 5: sqrt(T / (c (b + 1)))-Gaussian DP."""
    return Guarantee("gdp", modified_ts_gdp(parameters.b, parameters.c, horizon))


PLAIN = Algorithm(
    id="ts-gaussian",
    name="TS-Gaussian",
    paper="TS-is-DP, Algorithm 1",
    interpretations={"count": ("n+1", "n")},
    guarantee=_plain_guarantee,
    stated="ts-is-dp, Lemma 4",
    audit=AuditCase(0.0, "AUD-2"),
    settings=plain_settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
)

MODIFIED = Algorithm(
    id="m-ts-gaussian",
    name="Modified TS",
    paper="TS-is-DP, Algorithm 2",
    parameters={"b": whole(0)(example=10), "c": positive(example=2.0)},
    interpretations={"count": ("n+1", "n"), "long_pre_pull": ("truncate", "error")},
    guarantee=_modified_guarantee,
    stated="ts-is-dp, Lemma 5",
    audit=AuditCase(
        0.0,
        "AUD-3",
        parameters={"b": 1, "c": 1.0},
        silent={"as-written": "decisions show about half of what the draws are charged with"},
    ),
    settings=modified_settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
)
