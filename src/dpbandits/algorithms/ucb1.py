"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002), without privacy.

Every arm once, then the arm with the largest mean_i + sqrt(2 ln t / n_i).

The parameter ``constant`` is the 2 in it.

Interpretations:
    clock: t is the number of rounds ``played`` so far, or the number of the ``coming`` round.
    first_mean: an arm's mean is ``shown`` from its first pull on, or ``zero`` until its second, as
        in the code of DP-NCB (the variant ``as-coded``).
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import pull
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

SHORTEST, PART = 64, 1 << 15  # rounds, and part of the rounds so far, for which a bound is kept
ROUNDING = 1e-12  # far above the rounding errors of an index, which is at most 10 at the constant 2
WIDTH = 2.0  # as printed


class Settings(NamedTuple):
    """Settings of the kernel; ``clock_offset`` is added to the rounds played."""

    horizon: int
    clock_offset: int
    hides_first_mean: bool
    constant: float


class State(NamedTuple):
    """Rounds played; pulls and reward sums of each arm."""

    clock: One
    pulls: Counts
    reward_sums: Reals


def settings(
    horizon: int, arms: int, clock: str, first_mean: str, constant: float = WIDTH
) -> Settings:
    return Settings(horizon, 1 if clock == "coming" else 0, first_mean == "zero", constant)


@njit
def _leader(settings, t, until, pulls, reward_sums):
    """Return the arm of the largest index, and what no other index exceeds up to ``until``."""
    scaled_log = settings.constant * math.log(t + settings.clock_offset)
    # Means stay as they are while the arms are not pulled, and all widths grow by one factor.
    growth = math.sqrt(settings.constant * math.log(until + settings.clock_offset) / scaled_log)
    arm = 0
    largest, highest, others = -math.inf, -math.inf, -math.inf
    for i in range(pulls.size):
        count = pulls[i]
        mean = reward_sums[i] / count
        if settings.hides_first_mean and count == 1:
            mean = 0.0
        width = math.sqrt(scaled_log / count)
        later = mean + growth * width
        if mean + width > largest:
            others = max(others, highest)
            arm, largest, highest = i, mean + width, later
        else:
            others = max(others, later)
    return arm, others + ROUNDING * (1.0 + settings.constant)


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    # The arms are compared anew only where the leader's index, taken with an earlier logarithm, is
    # no longer above what the others' may have come to.
    pulls, reward_sums = state.pulls, state.reward_sums
    t, n = state.clock[0], 0
    arm, until, earlier_log, others = 0, 0, 0.0, math.inf
    while t < settings.horizon and n < out.arms.size:
        count = pulls[arm]
        if t < arms.laws.size:
            arm = t
        elif t > until or reward_sums[arm] / count + math.sqrt(earlier_log / count) <= others:
            until = t + SHORTEST + t // PART
            earlier_log = settings.constant * math.log(t + settings.clock_offset)
            arm, others = _leader(settings, t, until, pulls, reward_sums)
        reward = pull(arms, arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """UCB1, line by line."""
    arms = range(len(bandit.arms))
    pulls = [0 for _ in arms]
    reward_sums = [0.0 for _ in arms]
    for played in range(settings.horizon):
        t = played + settings.clock_offset
        if played < len(arms):
            arm = played
        else:
            shown = [
                0.0 if settings.hides_first_mean and pulls[i] < 2 else reward_sums[i] / pulls[i]
                for i in arms
            ]
            index = [shown[i] + math.sqrt(settings.constant * math.log(t) / pulls[i]) for i in arms]
            arm = max(arms, key=index.__getitem__)
        reward = bandit.draw(arm, rng)
        pulls[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="ucb1",
    name="UCB1",
    paper="Auer, Cesa-Bianchi and Fischer (2002)",
    parameters={"constant": printed(WIDTH)},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="none",
    audit=AuditCase(0.0, "AUD-19"),
    interpretations={"clock": ("played", "coming"), "first_mean": ("shown", "zero")},
    presets={"as-coded": {"first_mean": "zero"}, "repaired": {}},
)
