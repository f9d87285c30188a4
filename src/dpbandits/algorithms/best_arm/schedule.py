"""How many arms each phase begins with (DP-BAI, Section 3.1).

The paper's equations (7)-(8), its worked example (App. B) and its proof (App. G) do not agree
(BAI-E1), hence three interpretations:

    consistent: reproduces every size of the worked example, and the proof holds under it.
    literal: equations (7)-(8) as printed, which never visit the first size of the halving sequence.
    printed: the numbers of phases of the worked example; the last phase works on one arm.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpbandits.errors import InputError

ROUND_OFF = 1e-12
"""What a quotient may exceed a whole number by and still not be rounded up."""


@dataclass(frozen=True)
class PhaseSchedule:
    """The phases of an elimination, known before the first pull.

    Attributes:
        sizes: s_1 = K, ..., s_{M+1} = 1, arms active at the start of each phase and at the end.
        early_phases: M1, phases that work down the fast shrinking sequence.
        phases: M, their number.
        shrinkage: lambda, the factor of the fast shrinking sequence, at least 2; may be infinite.
        halving: g_0, g_1, ..., 1.
        shrinking: h_0, h_1, ..., 0.
        early_pulls: d, pulls that each early phase may round up by.
        late_pulls: q, the same for every other phase.
    """

    sizes: tuple[int, ...]
    early_phases: int
    phases: int
    shrinkage: float
    halving: tuple[int, ...]
    shrinking: tuple[int, ...]
    early_pulls: int
    late_pulls: int

    @property
    def reserved(self) -> int:
        """T - T', the pulls set aside for rounding up."""
        late = self.phases - self.early_phases
        return self.early_phases * self.early_pulls + late * self.late_pulls

    def effective_budget(self, budget: int) -> int:
        """Return T' = T - M1 d - (M - M1) q; 0 or below where the budget is too small."""
        return budget - self.reserved


def _shrinkage(excess: int, dimension: int) -> float:
    """Return lambda, the smallest beta >= 2 with beta^(log d) >= K - q."""
    if excess <= 1:
        return 2.0
    if dimension == 1:
        return math.inf
    return max(2.0, math.exp(math.log(excess) / math.log(dimension)))


def _halving(first: int) -> tuple[int, ...]:
    sizes = [first]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(sizes)


def _shrinking(first: int, shrinkage: float) -> tuple[int, ...]:
    sizes = [first]
    while sizes[-1] > 0:
        quotient = (sizes[-1] + 1) / shrinkage
        sizes.append(max(math.ceil(quotient - ROUND_OFF) - 1, 0))
    return tuple(sizes)


# (steps of the shrinking sequence, of the halving one) -> (M1, M, halving step of phase M1 + 1).
INTERPRETATIONS: dict[str, Callable[[int, int], tuple[int, int, int]]] = {
    "consistent": lambda shrinking, halving: (shrinking, shrinking + halving, 0),
    "literal": lambda shrinking, halving: (
        max(shrinking, 1),
        max(shrinking, 1) + max(halving, 1) - 1,
        1,
    ),
    "printed": lambda shrinking, halving: (shrinking + 1, shrinking + 1 + halving, 1),
}


def phase_schedule(arms: int, dimension: int, interpretation: str = "consistent") -> PhaseSchedule:
    """Return the schedule of DP-BAI (dp-bai, Section 3.1, BAI-E1).

    Args:
        arms: K, at least 2.
        dimension: d of the features as given, at least 1, whatever their rank.
        interpretation: ``consistent``, ``literal`` or ``printed``.

    Raises:
        InputError: An argument is outside its range.

    Example:
        >>> phase_schedule(10_000, 16).sizes
        (10000, 423, 77, 64, 32, 16, 8, 4, 2, 1)
    """
    _require("arms", arms, 2)
    _require("dimension", dimension, 1)
    if interpretation not in INTERPRETATIONS:
        raise InputError(f"schedule is {interpretation!r}; allowed: {', '.join(INTERPRETATIONS)}")
    late_pulls = -(-(dimension**2) // 4)
    shrinkage = _shrinkage(arms - late_pulls, dimension)
    halving = _halving(min(arms, late_pulls))
    shrinking = _shrinking(max(arms - late_pulls, 0), shrinkage)
    early, phases, first = INTERPRETATIONS[interpretation](len(shrinking) - 1, len(halving) - 1)
    sizes = [halving[0] + each for each in shrinking[:early]]
    # Both sequences stay at their last value.
    late = range(first, first + phases + 1 - early)
    sizes += [halving[min(step, len(halving) - 1)] for step in late]
    return PhaseSchedule(
        tuple(sizes), early, phases, shrinkage, halving, shrinking, dimension, late_pulls
    )


def halving_schedule(arms: int, late_pulls: int = 1) -> PhaseSchedule:
    """Return K, ceil(K/2), ..., 1 with ceil(log2 K) phases and T' = T - ``late_pulls`` a phase.

    Source: BAI-E4 for the Baseline (one pull a phase), BAI-C20 for Sequential Halving (none).

    Args:
        arms: K, at least 2.
        late_pulls: pulls that every phase may round up by, 0 or above.

    Raises:
        InputError: An argument is outside its range.

    Example:
        >>> halving_schedule(30).sizes
        (30, 15, 8, 4, 2, 1)
    """
    _require("late_pulls", late_pulls, 0)
    sizes = _halving(_require("arms", arms, 2))
    return PhaseSchedule(sizes, 0, len(sizes) - 1, 2.0, sizes, (0,), 0, late_pulls)


def _require(key: str, value: int, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise InputError(f"{key} is {value!r}; allowed: an integer, at least {minimum}")
    return value
