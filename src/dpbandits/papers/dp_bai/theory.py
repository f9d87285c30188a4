"""How hard an instance is, and the bounds: Section 4.1, Theorem 4.2, Table 1 (C12, C15)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.best_arm.eliminations import PhaseSchedule, phase_schedule
from dpbandits.papers.curves import curve, joined, number
from dpbandits.papers.dp_bai.instances import section5, two_armed

Values = NDArray[np.float64]

JUDGED = {"section5": section5(), "two-armed": two_armed(ratio=2.0)}
"""Both of dimension 2; the hardness of the two arms does not depend on the ratio."""

DIMENSION = 2


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


def hardness(means: ArrayLike, dimension: int, epsilon: float) -> Hardness:
    """Return H_BAI and H_pri, maxima over 2 <= i <= min(d^2, K).

    Args:
        means: shape (K,), with one largest.
        dimension: d of the features, at least 2 (at d = 1 the range is empty).
        epsilon: above 0, may be infinite.
    """
    values = np.sort(np.asarray(means, dtype=np.float64))[::-1]
    last = min(dimension**2, values.size)
    indices, gaps = np.arange(2, last + 1), (values[0] - values)[1:last]
    return Hardness(float((indices / gaps**2).max()), float((indices / gaps).max()) / epsilon)


@dataclass(frozen=True)
class Bounds:
    """Bounds on the error of DP-BAI."""

    phases: PhaseSchedule
    arms: int
    hardness: Hardness

    def theorem(self, budget: float) -> float:
        """Return exp(-T' / (65 M H)), the bound of Theorem 4.2 "for T large enough"."""
        return self._decay(budget, 65.0)

    def union(self, budget: float) -> float:
        """Return 4 M (K - 1) exp(-T' / (32 M H)), this project's for d = 2, by Lemma G.2 (BAI-E21).

        The printed proof does not cover d = 2. In a phase the best arm loses against arm j with
        chance at most 2 exp(-T' Delta_j^2 / (64 M)) + 2 exp(-T' epsilon Delta_j / (64 M)), and
        Delta_j is at least Delta_(2), so that either exponent is at least T' / (32 M H).
        """
        return 4.0 * self.phases.phases * (self.arms - 1) * self._decay(budget, 32.0)

    @property
    def applies_from(self) -> float:
        """The T from which the bound of the theorem follows from that of its proof.

        The proof gives (12 M + 4 M1 lambda) exp(-T' / (64 M H)) for large T'. From T' = 64 * 65 M H
        log(12 M + 4 M1 lambda) on, 1/64 - 1/65 pays for the prefactor.
        """
        phases = self.phases
        early = 4.0 * phases.early_phases * phases.shrinkage if phases.early_phases else 0.0
        return self._budget(64.0 * 65.0, 12.0 * phases.phases + early)

    @property
    def follows_from(self) -> float:
        """The T from which the bound of the theorem follows from ``union``, for d = 2.

        T' = 32 * 65 / 33 M H log(4 M (K - 1)): from there on 1/32 - 1/65 pays for the prefactor.
        """
        return self._budget(32.0 * 65.0 / 33.0, 4.0 * self.phases.phases * (self.arms - 1))

    def _decay(self, budget: float, factor: float) -> float:
        effective = budget - self.phases.reserved
        return math.exp(-effective / (factor * self.phases.phases * self.hardness.total))

    def _budget(self, factor: float, prefactor: float) -> float:
        effective = factor * self.phases.phases * self.hardness.total * math.log(prefactor)
        return effective + self.phases.reserved


@cache
def bounds(instance: str, epsilon: float) -> Bounds:
    """Return the bounds on an instance of the paper."""
    bandit = JUDGED[instance]
    arms = len(bandit.arms)
    phases = phase_schedule(arms, DIMENSION)
    return Bounds(phases, arms, hardness(bandit.means, DIMENSION, epsilon))


FAR = {"section5": 400_000, "two-armed": 80_000}
"""T that are simulated, at epsilon = 1, beyond those from which the theorem follows."""


TICKS = {1: "DP-BAI-Gauss", 2: "", 3: "DP-BAI", 4: "DP-BAI"}
"""Row of Table 1 -> whose bound is ticked as the tighter one; empty where we find no tick."""


@dataclass(frozen=True, eq=False)
class Exponents:
    """Exponents of the bounds without their constants (Theorem 4.2, Proposition D.3).

    Attributes:
        identification: A = T / (H_BAI log d).
        gauss_privacy: B = (T / (sqrt(log(1.25/delta)) H_pri log d))^2; 0 where delta is 0.
        laplace: C = T / (H log d), of DP-BAI.
    """

    identification: Values
    gauss_privacy: Values
    laplace: Values

    @property
    def gauss(self) -> Values:
        """Exponent of DP-BAI-Gauss, the smaller one of A and B."""
        return np.minimum(self.identification, self.gauss_privacy)


@dataclass(frozen=True)
class Draws:
    """Random instances: H_BAI, H_pri and d, at least 2."""

    identification: Values
    privacy: Values
    dimension: NDArray[np.int64]

    def exponents(self, budget: ArrayLike, delta: ArrayLike) -> Exponents:
        """Return A, B and C at budgets and at delta from 0 to below 1."""
        # T / log d, of which all three are made.
        units = np.asarray(budget, np.float64) / np.log(self.dimension)
        scaled = np.sqrt(_log_deltas(delta)) * self.privacy
        total = self.identification + self.privacy
        return Exponents(units / self.identification, (units / scaled) ** 2, units / total)


def conditions(exponent: Exponents, delta: ArrayLike) -> NDArray[np.bool_]:
    """Return whether the condition of each row of Table 1 is met; rows first."""
    a, b, c = exponent.identification, exponent.gauss_privacy, exponent.laplace
    zero = np.broadcast_to(np.asarray(delta) == 0.0, a.shape)
    return np.stack([(b >= a) & ~zero, (c <= b) & (b < a) & ~zero, (b < c) & ~zero, zero])


def boundaries(delta: ArrayLike, hardness: Hardness, dimension: int) -> tuple[Values, Values]:
    """Return (T_C, T_A): B >= C from T_C on, B >= A from T_A on.

    T_C = log(1.25/delta) H_pri^2 log d / H, and T_A the same over H_BAI. Infinite at delta = 0.
    """
    common = _log_deltas(delta) * hardness.privacy**2 * np.log(dimension)
    return common / hardness.total, common / hardness.identification


def _log_deltas(delta: ArrayLike) -> Values:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(1.25) - np.log(np.asarray(delta, dtype=np.float64)))


MAP_EPSILONS = (0.01, 0.1, 0.5, 1.0)
MAP_DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)


def regime_map() -> pd.DataFrame:
    """Return the boundaries between the rows of Table 1 on both instances, and its ticks."""
    return joined(_regimes())


def _regimes() -> Iterator[pd.DataFrame]:
    for row, tick in TICKS.items():
        yield number(f"row {row}", {"quantity": "row", "tick": tick}, row, row)
    for instance, bandit in JUDGED.items():
        for epsilon in MAP_EPSILONS:
            hard = hardness(bandit.means, DIMENSION, epsilon)
            limits = boundaries(MAP_DELTAS, hard, DIMENSION)
            for quantity, y in zip(("T_C", "T_A"), limits, strict=True):
                tags = {"quantity": quantity, "instance": instance, "epsilon": epsilon}
                series = f"{quantity}, {instance}, epsilon={epsilon:g}"
                yield curve(series, tags, MAP_DELTAS, y)


SEED = 20240119
DRAWS = 1_000_000


def table1_grid() -> pd.DataFrame:
    """Return checks of Table 1 on a million random (H_BAI, H_pri, T, delta, d) (C15).

    H_BAI, H_pri and T are log-uniform on [1, 1e6], delta on [1e-12, 1), d uniform on 2..64.
    """
    generator = np.random.default_rng(SEED)
    identification, private, budget = 10 ** generator.uniform(0.0, 6.0, (3, DRAWS))
    delta = 10 ** generator.uniform(-12.0, 0.0, DRAWS)
    hard = Draws(identification, private, generator.integers(2, 65, DRAWS))
    exponent, without = hard.exponents(budget, delta), hard.exponents(budget, 0.0)
    met, zero = conditions(exponent, delta), conditions(without, 0.0)[3]
    loses = [
        exponent.gauss <= exponent.laplace,
        exponent.gauss < exponent.laplace,
        exponent.laplace <= exponent.gauss,
    ]
    counts = {
        ("misplaced", 0): (met.sum(axis=0) != 1).sum(),
        ("zero met", 4): zero.sum(),
        ("zero loses", 4): (zero & (without.laplace <= without.gauss)).sum(),
    }
    counts |= {(name, 0): count for name, count in remark(hard, budget, delta).items()}
    for row in (1, 2, 3):
        counts["met", row] = met[row - 1].sum()
        counts["loses", row] = (met[row - 1] & loses[row - 1]).sum()
    return joined(
        number(f"{quantity}, row {row or 'all'}", {"quantity": quantity}, float(count), row)
        for (quantity, row), count in counts.items()
    )


def remark(hard: Draws, budget: Values, delta: Values) -> dict[str, int]:
    """Return the numbers of draws that contradict the remark below Table 1."""

    def is_tighter(budgets: Values, deltas: Values) -> NDArray[np.bool_]:
        exponent = hard.exponents(budgets, deltas)
        return np.asarray(exponent.gauss > exponent.laplace)

    exponent, now = hard.exponents(budget, delta), is_tighter(budget, delta)
    total = hard.identification + hard.privacy
    start = np.log(1.25 / delta) * hard.privacy**2 * np.log(hard.dimension) / total
    return {
        "A at most C": int((exponent.identification <= exponent.laplace).sum()),
        "turned by T": int((now & ~is_tighter(10.0 * budget, delta)).sum()),
        "turned by delta": int((now & ~is_tighter(budget, (1.0 + delta) / 2.0)).sum()),
        "late": int((~is_tighter(2.0 * start, delta)).sum()),
        "early": int(is_tighter(start / 2.0, delta).sum()),
    }
