"""DP-TS-UCB (Hu, Huang, Zhang, Lecuyer and Hegde, ICML 2025, Algorithm 1).

Every arm has a budget of phi = c0 T^((1 - alpha)/2) ln(T)^((3 - alpha)/2) Gaussian draws, with
c0 = sqrt(2 pi e); each round spends one of every arm that has some left. An arm without budget
is represented by the largest of its draws. An arm's estimate, budget and largest draw are renewed
when its batch of 2, 4, 8, ... rewards is full; every reward enters one estimate.

Kernel and reference are exact in law. While every budget is used up, no number that is compared
can change until the leader's batch is full, so that they play the rest of the batch at once;
its sum of rewards is one draw (``draw_reward_sum``; for Bernoulli arms a binomial). On the same
stream they agree decision for decision; the tests compare both with a player that goes round by
round: arm for arm where the sum is drawn reward by reward, and in law where it is a binomial.

Ties go to the lowest index (only arms that are both at the reset value can tie).

Interpretations:
    rounding: whole number of draws that phi means: ``floor`` (what the test h >= 1 of
        Algorithm 1 allows), ``ceil`` or ``round``.
    reset: what the largest draw begins at: ``zero``, as printed, so that it is at least 0, or
        ``minus-infinity``, the maximum of the draws alone. All phi draws of an epoch fall
        below 0 with probability 2^-phi at most, so that results do not depend on it.
    renewal: budget and largest draw begin anew when a ``batch`` is full (Algorithm 1) or at every
        ``pull`` of the arm (introduction, Figure 1), with the batch's estimate in both.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Known, Segment, fraction
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull_sum
from dpbandits.errors import InputError
from dpbandits.kernels import Counts, One, Reals, blank, njit, write
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.thompson import dp_ts_ucb_budget, dp_ts_ucb_gdp

SHORTEST_HORIZON = 3  # below it ln T < 1, and more of alpha would mean less noise
ROUNDINGS: dict[str, Callable[[float], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
}
RESETS = {"zero": 0.0, "minus-infinity": -math.inf}


class Settings(NamedTuple):
    """Arguments of the kernel: rounds, draws per epoch, ln(T)^alpha, first maximum, renewal."""

    horizon: int
    budget: int
    variance: float
    reset: float
    renewed_by_pull: bool


class State(NamedTuple):
    """Estimate ``reward_sums / counts``, batch and draws of each arm.

    The batch has ``waiting`` rewards and is full at twice the count; ``budgets`` draws are left.
    """

    clock: One
    counts: Counts
    reward_sums: Reals
    waiting: Counts
    waiting_sums: Reals
    budgets: Counts
    largest_draws: Reals


def settings(
    horizon: int, arms: int, alpha: float, rounding: str, reset: str, renewal: str
) -> Settings:
    """Translate for the kernel; InputError where T is below 3 or below the number of arms."""
    if horizon < max(SHORTEST_HORIZON, arms):
        raise InputError(
            f"dp-ts-ucb: horizon is {horizon}, with {arms} arms; "
            f"allowed: at least {SHORTEST_HORIZON}, and a round for each arm"
        )
    return Settings(
        horizon,
        ROUNDINGS[rounding](dp_ts_ucb_budget(alpha, horizon)),
        math.log(horizon) ** alpha,
        RESETS[reset],
        renewal == "pull",
    )


@njit
def _leader(settings, state, rng):
    """Return the arm of the largest value, and whether no arm had budget for a draw."""
    # Local names: to read a field of the state again and again costs five times the draws.
    counts, reward_sums = state.counts, state.reward_sums
    budgets, largest_draws = state.budgets, state.largest_draws
    arm = 0
    largest = -math.inf
    frozen = True
    for i in range(counts.size):
        if budgets[i] > 0:
            deviation = math.sqrt(settings.variance / counts[i])
            theta = reward_sums[i] / counts[i] + deviation * rng.standard_normal()
            budgets[i] -= 1
            largest_draws[i] = max(largest_draws[i], theta)
            frozen = False
        else:
            theta = largest_draws[i]
        if theta > largest:
            arm, largest = i, theta
    return arm, frozen


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    t, n = state.clock[0], 0
    while t < settings.horizon and n < out.arms.size:
        length = 1
        first_pull = t < arms.laws.size
        if first_pull:
            arm = t
        else:
            arm, frozen = _leader(settings, state, rng)
            if frozen and not settings.renewed_by_pull:
                length = min(2 * state.counts[arm] - state.waiting[arm], settings.horizon - t)
        rewards = pull_sum(arms, arm, length, rng)
        state.waiting[arm] += length
        state.waiting_sums[arm] += rewards
        batch_is_full = first_pull or state.waiting[arm] == 2 * state.counts[arm]
        if batch_is_full:
            state.counts[arm] = state.waiting[arm]
            state.reward_sums[arm] = state.waiting_sums[arm]
            state.waiting[arm] = 0
            state.waiting_sums[arm] = 0.0
        if batch_is_full or settings.renewed_by_pull:
            state.budgets[arm] = settings.budget
            state.largest_draws[arm] = settings.reset
        n = write(out, n, arm, length, rewards)
        t += length
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 1, line by line, a frozen stretch at once."""
    arms = range(len(bandit.arms))
    mean = []
    for arm in arms:  # line 2
        reward = bandit.draw(arm, rng)
        mean.append(reward)
        yield arm, 1, reward
    n, epoch, unprocessed = [1 for _ in arms], [1 for _ in arms], [0 for _ in arms]
    unprocessed_sum = [0.0 for _ in arms]
    h, highest = [settings.budget for _ in arms], [settings.reset for _ in arms]
    t = len(arms)
    while t < settings.horizon:
        frozen = not settings.renewed_by_pull and all(left < 1 for left in h)
        theta = []
        for i in arms:  # lines 4 to 11
            if h[i] >= 1:
                draw = mean[i] + math.sqrt(settings.variance / n[i]) * rng.standard_normal()
                h[i] -= 1
                highest[i] = max(highest[i], draw)
                theta.append(draw)
            else:
                theta.append(highest[i])
        arm = max(arms, key=theta.__getitem__)  # line 12
        missing = 2 ** epoch[arm] - unprocessed[arm]
        pulls = min(missing, settings.horizon - t) if frozen else 1
        rewards = bandit.draw_sum(arm, pulls, rng)
        unprocessed[arm] += pulls
        unprocessed_sum[arm] += rewards
        t += pulls
        if settings.renewed_by_pull:
            h[arm], highest[arm] = settings.budget, settings.reset
        if unprocessed[arm] == 2 ** epoch[arm]:  # lines 13 to 17
            n[arm] = 2 ** epoch[arm]
            mean[arm] = unprocessed_sum[arm] / n[arm]
            h[arm], highest[arm] = settings.budget, settings.reset
            epoch[arm] += 1
            unprocessed[arm], unprocessed_sum[arm] = 0, 0.0
        yield arm, pulls, rewards


def _guarantee(parameters: Any, horizon: int) -> Guarantee:
    """Theorem 4.4: sqrt(2 phi / ln(T)^alpha)-Gaussian DP; proved for renewal by ``batch``."""
    return Guarantee("gdp", dp_ts_ucb_gdp(parameters.alpha, horizon))


ALGORITHM = Algorithm(
    id="dp-ts-ucb",
    name="DP-TS-UCB",
    paper="Hu, Huang, Zhang, Lecuyer and Hegde (ICML 2025), Algorithm 1",
    parameters={"alpha": fraction},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee=_guarantee,
    stated="dp-ts-ucb, Theorem 4.4",
    known=(
        Known("proved", "dp-ts-ucb, Theorem 4.4", {"renewal": "batch"}),
        Known("stated", remark="the theorem has budgets that are renewed by batch"),
    ),
    audit=AuditCase(0.0, "AUD-7"),
    interpretations={
        "rounding": tuple(ROUNDINGS),
        "reset": tuple(RESETS),
        "renewal": ("batch", "pull"),
    },
)
