"""How hard an instance is, and what the paper's theorems bound by it (Section 4.1, Theorem 4.2)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.best_arm.schedule import PhaseSchedule
from dpbandits.errors import InputError

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
