"""How hard an instance is, and bounds on the error of DP-BAI (Section 4.1, Theorem 4.2; C12)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.best_arm.eliminations import PhaseSchedule, phase_schedule
from dpbandits.errors import InputError
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import section5, two_armed

AT_DIMENSION_1 = ("refuse", "extend")


@dataclass(frozen=True)
class Hardness:
    """The two parts of the hardness (equation 15).

    Attributes:
        identification: H_BAI, the largest i / Delta_(i)^2.
        privacy: H_pri, the largest i / (epsilon Delta_(i)).
    """

    identification: float
    privacy: float

    @property
    def total(self) -> float:
        """H, the sum of both."""
        return self.identification + self.privacy


def hardness(
    means: ArrayLike, dimension: int, epsilon: float, at_dimension_1: str = "refuse"
) -> Hardness:
    """Return H_BAI and H_pri, maxima over 2 <= i <= min(d^2, K).

    Args:
        means: shape (K,), with one largest.
        dimension: d of the features, at least 1.
        epsilon: above 0, may be infinite.
        at_dimension_1: where that range is empty, ``refuse`` or ``extend`` it to i = 2 (BAI-E18).

    Raises:
        InputError: an argument outside its range, or d = 1 without ``extend``.

    Example:
        >>> round(hardness([0.55, 0.5], 2, 1.0).total, 9)
        840.0
    """
    sorted_gaps = _sorted_gaps(means)
    if at_dimension_1 not in AT_DIMENSION_1:
        raise InputError(
            f"at_dimension_1 is {at_dimension_1!r}; allowed: {', '.join(AT_DIMENSION_1)}"
        )
    if not epsilon > 0:
        raise InputError(f"epsilon is {epsilon!r}; allowed: above 0")
    if dimension < (2 if at_dimension_1 == "refuse" else 1):
        raise InputError(
            f"dimension is {dimension!r}; allowed: at least 2 (the hardness is a maximum over "
            f"2 <= i <= d^2), or 1 with at_dimension_1='extend'"
        )
    last = min(max(dimension**2, 2), sorted_gaps.size)
    indices, gaps = np.arange(2, last + 1), sorted_gaps[1:last]
    privacy = float((indices / gaps).max()) / epsilon
    return Hardness(float((indices / gaps**2).max()), privacy)


def _sorted_gaps(means: ArrayLike) -> NDArray[np.float64]:
    values = np.sort(np.asarray(means, dtype=np.float64))[::-1]
    if values.size < 2 or not values[0] > values[1]:
        raise InputError(f"means are {values.tolist()}; allowed: at least two, with one largest")
    return np.asarray(values[0] - values)


def theorem_bound(schedule: PhaseSchedule, budget: float, hardness: Hardness) -> float:
    """Return exp(-T' / (65 M H)), the bound of Theorem 4.2 "for T large enough"."""
    return math.exp(-_effective(schedule, budget) / (65.0 * schedule.phases * hardness.total))


def proof_bound(schedule: PhaseSchedule, budget: float, hardness: Hardness) -> float:
    """Return (12 M + 4 M1 lambda) exp(-T' / (64 M H)), what the proof gives for large T'."""
    exponent = _effective(schedule, budget) / (64.0 * schedule.phases * hardness.total)
    return _prefactor(schedule) * math.exp(-exponent)


def union_bound(
    schedule: PhaseSchedule, arms: int, dimension: int, budget: float, hardness: Hardness
) -> float:
    """Return 4 M (K - 1) exp(-T' / (32 M H)), ours for d = 2, by Lemma G.2 (BAI-E21).

    The printed proof does not cover d = 2. In a phase the best arm loses against arm j with chance
    at most 2 exp(-T' Delta_j^2 / (64 M)) + 2 exp(-T' epsilon Delta_j / (64 M)), and Delta_j is at
    least Delta_(2), so that either exponent is at least T' / (32 M H).

    Raises:
        InputError: d is not 2.
    """
    if dimension != 2:
        raise InputError(f"dimension is {dimension!r}; allowed: 2")
    exponent = _effective(schedule, budget) / (32.0 * schedule.phases * hardness.total)
    return 4.0 * schedule.phases * (arms - 1) * math.exp(-exponent)


def asymptotic_budget(schedule: PhaseSchedule, hardness: Hardness) -> float:
    """Return the T from which the bound of the theorem follows from that of its proof.

    T' = 64 * 65 M H log(12 M + 4 M1 lambda): from there on 1/64 - 1/65 pays for the prefactor.
    """
    factor = 64.0 * 65.0 * schedule.phases * hardness.total
    return factor * math.log(_prefactor(schedule)) + schedule.reserved


def union_budget(schedule: PhaseSchedule, arms: int, hardness: Hardness) -> float:
    """Return the T from which the bound of the theorem follows from ``union_bound``, for d = 2.

    T' = 32 * 65 / 33 M H log(4 M (K - 1)): from there on 1/32 - 1/65 pays for the prefactor.
    """
    factor = 32.0 * 65.0 / 33.0 * schedule.phases * hardness.total
    return factor * math.log(4.0 * schedule.phases * (arms - 1)) + schedule.reserved


def _prefactor(schedule: PhaseSchedule) -> float:
    early = 4.0 * schedule.early_phases * schedule.shrinkage if schedule.early_phases else 0.0
    return 12.0 * schedule.phases + early


def _effective(schedule: PhaseSchedule, budget: float) -> float:
    effective = budget - schedule.reserved
    if not effective > 0:
        raise InputError(f"budget is {budget!r}; allowed: above {schedule.reserved} here")
    return effective


INSTANCES = {"section5": section5(), "two-armed": two_armed(ratio=2.0)}
"""I-A and I-B; the hardness of I-B does not depend on the ratio."""


def instance_hardness(instance: str, epsilon: float) -> Hardness:
    """Return the hardness of I-A or I-B, both of dimension 2."""
    return hardness(INSTANCES[instance].means, DIMENSION, epsilon)


DIMENSION = 2
BOUNDS = ("theorem", "proof", "union")

BUDGETS = {
    "section5": (100, 200, 400, 800, 1000, 1600, 3200, 6400, 400_000),
    "two-armed": (
        *(100, 200, 400, 500, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
        *(2400, 2800, 3200, 3600, 4000, 4400, 5000, 6400, 10_000, 80_000),
    ),
}
"""T of the figures and of the claims, by instance; the last one is beyond ``union_budget``."""

EPSILONS = {
    "section5": (
        *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        *(1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    ),
    "two-armed": (0.1, 0.5, 1.0),
}

FIXED_BUDGET = 1000
"""T of the panel over epsilon."""


def bounds() -> pd.DataFrame:
    """Return bounds on the error of DP-BAI on I-A and I-B, at every budget and epsilon.

    Tags: instance, ``section5`` or ``two-armed``; bound, ``theorem`` (exp(-T' / (65 M H))),
    ``proof`` (with the prefactor of the proof, which leaves out d = 2) or ``union`` (ours for d =
    2, BAI-E21); epsilon; horizon (T); hardness (H); phases (M); effective_budget (T'); applies_from
    and follows_from, the T from which the theorem follows from its proof, and from ``union``;
    against, ``budget`` (x is T) or ``epsilon`` (I-A at T = 1000: x is epsilon). y: the bound, which
    may exceed 1.
    """
    frame = joined(
        row
        for instance in INSTANCES
        for epsilon in EPSILONS[instance]
        for row in _curves(instance, epsilon)
    )
    fixed = frame[(frame["instance"] == "section5") & (frame["horizon"] == FIXED_BUDGET)]
    labels = fixed["bound"] + f", section5, T={FIXED_BUDGET}"
    again = fixed.assign(series=labels, against="epsilon", x=fixed["epsilon"])
    return joined([frame, again])


def _curves(instance: str, epsilon: float) -> Iterator[pd.DataFrame]:
    arms = len(INSTANCES[instance].arms)
    schedule = phase_schedule(arms, DIMENSION)
    hard: Hardness = instance_hardness(instance, epsilon)
    budgets = np.array(BUDGETS[instance])
    values = {
        "theorem": [theorem_bound(schedule, budget, hard) for budget in budgets],
        "proof": [proof_bound(schedule, budget, hard) for budget in budgets],
        "union": [union_bound(schedule, arms, DIMENSION, budget, hard) for budget in budgets],
    }
    for bound in BOUNDS:
        tags = {
            "instance": instance,
            "bound": bound,
            "epsilon": epsilon,
            "horizon": budgets,
            "hardness": hard.total,
            "phases": schedule.phases,
            "effective_budget": budgets - schedule.reserved,
            "applies_from": asymptotic_budget(schedule, hard),
            "follows_from": union_budget(schedule, arms, hard),
            "against": "budget",
        }
        series = f"{bound}, {instance}, epsilon={epsilon:g}"
        yield curve(series, tags, budgets.astype(np.float64), values[bound])
