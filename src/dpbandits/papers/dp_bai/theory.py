"""How hard an instance is, and the bounds: Section 4.1, Theorem 4.2, Table 1 (C12, C15)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

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


Values = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A row of Table 1.

    Attributes:
        condition: on the exponents A, B and C of ``Exponents``.
        gauss: bound of DP-BAI-Gauss.
        laplace: bound of DP-BAI.
        tick: which one is ticked as the tighter one; empty where we find no tick.
        range: its budgets, given delta.
    """

    condition: str
    gauss: str
    laplace: str
    tick: str
    range: str


ROWS = {
    1: Row("B >= A", "exp(-Omega(A))", "exp(-Omega(C))", "DP-BAI-Gauss", "T >= T_A"),
    2: Row("C <= B < A", "exp(-Omega(B))", "exp(-Omega(C))", "", "T_C <= T < T_A"),
    3: Row("B < C", "exp(-Omega(B))", "exp(-Omega(C))", "DP-BAI", "T < T_C"),
    4: Row("delta = 0", "exp(-Omega(1))", "exp(-Omega(C))", "DP-BAI", "T > 0"),
}
"""Rows of Table 1 by number; T_A and T_C are those of ``boundaries``."""


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


def exponents(
    budget: ArrayLike,
    delta: ArrayLike,
    identification: ArrayLike,
    privacy: ArrayLike,
    dimension: ArrayLike,
) -> Exponents:
    """Return A, B and C, for numbers or for arrays, which broadcast.

    Args:
        budget: T, above 0.
        delta: from 0 to below 1.
        identification: H_BAI, above 0.
        privacy: H_pri, above 0.
        dimension: d, at least 2 (log d is 0 at 1).

    Raises:
        InputError: an argument outside its range.
    """
    # T / log d, of which all three are made.
    units = np.asarray(budget, np.float64) / _log_dimension(dimension)
    hard, private = np.asarray(identification, np.float64), np.asarray(privacy, np.float64)
    return Exponents(
        np.asarray(units / hard),
        np.asarray((units / (np.sqrt(_log_deltas(delta)) * private)) ** 2),
        np.asarray(units / (hard + private)),
    )


def conditions(exponent: Exponents, delta: ArrayLike) -> NDArray[np.bool_]:
    """Return whether the condition of each row of Table 1 is met; rows first."""
    a, b, c = exponent.identification, exponent.gauss_privacy, exponent.laplace
    zero = np.broadcast_to(np.asarray(delta) == 0.0, a.shape)
    return np.stack([(b >= a) & ~zero, (c <= b) & (b < a) & ~zero, (b < c) & ~zero, zero])


def regimes(
    budget: ArrayLike, delta: ArrayLike, hardness: Hardness, dimension: int
) -> NDArray[np.int64]:
    """Return the number of the row of Table 1, a key of ``ROWS``, at each budget and delta."""
    exponent = exponents(budget, delta, hardness.identification, hardness.privacy, dimension)
    return np.asarray(conditions(exponent, delta).argmax(axis=0) + 1)


def boundaries(delta: float, hardness: Hardness, dimension: int) -> tuple[float, float]:
    """Return (T_C, T_A): B >= C from T_C on, B >= A from T_A on.

    T_C = log(1.25/delta) H_pri^2 log d / H, and T_A the same over H_BAI. Infinite at delta = 0.

    Raises:
        InputError: an argument outside its range.
    """
    common = float(_log_deltas(delta)) * hardness.privacy**2 * float(_log_dimension(dimension))
    return common / hardness.total, common / hardness.identification


def boundary_deltas(budget: ArrayLike, hardness: Hardness, dimension: int) -> tuple[Values, Values]:
    """Return (delta_C, delta_A): B >= C from delta_C on, B >= A from delta_A on, at a budget.

    They are above 1 where no delta of the range is large enough.
    """
    unit = np.asarray(budget, np.float64) / (hardness.privacy**2 * _log_dimension(dimension))
    return 1.25 * np.exp(-unit * hardness.total), 1.25 * np.exp(-unit * hardness.identification)


def _log_deltas(delta: ArrayLike) -> Values:
    deltas = np.asarray(delta, dtype=np.float64)
    if not ((deltas >= 0.0) & (deltas < 1.0)).all():
        raise InputError(f"delta is {delta!r}; allowed: 0 to below 1")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(1.25) - np.log(deltas))


def _log_dimension(dimension: ArrayLike) -> Values:
    dimensions = np.asarray(dimension, dtype=np.float64)
    if not (dimensions >= 2).all():
        raise InputError(f"dimension is {dimension!r}; allowed: at least 2")
    return np.asarray(np.log(dimensions))


SEED = 20240119
DRAWS = 1_000_000

GRID_BUDGETS = tuple(round(10 ** (step / 10)) for step in range(20, 61))
"""T from 100 to 1e6, log-spaced."""

GRID_EPSILONS = (0.01, 0.1, 0.5, 1.0)
GRID_DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)
SMALLEST_DELTA = 1e-12
"""Boundary curves are drawn from there."""


def regime_map() -> pd.DataFrame:
    """Return A, B, C and the regime of Table 1 on I-A and I-B.

    Tags: quantity; instance, ``section5`` or ``two-armed``; epsilon; delta. ``A``, ``B``, ``C``
    and ``regime`` (1 to 4, with its condition and tick): x is T. ``delta_A`` and ``delta_C``, the
    delta from which B >= A and B >= C: x is T, y delta (from 1e-12 to below 1). ``T_A`` and
    ``T_C``: x is delta. ``row``: Table 1 itself, x and y its row; gauss, laplace: the bounds.
    """
    grid = [(instance, epsilon) for instance in INSTANCES for epsilon in GRID_EPSILONS]
    return joined([*_rows(), *(row for key in grid for row in _of_instance(*key))])


def _rows() -> Iterator[pd.DataFrame]:
    for number, row in ROWS.items():
        tags = {
            "quantity": "row",
            "condition": row.condition,
            "gauss": row.gauss,
            "laplace": row.laplace,
            "tick": row.tick,
            "range": row.range,
        }
        yield curve(f"row {number}", tags, [number], [number])


def _of_instance(instance: str, epsilon: float) -> Iterator[pd.DataFrame]:
    hard = instance_hardness(instance, epsilon)
    where = {"instance": instance, "epsilon": epsilon}
    for delta in GRID_DELTAS:
        exponent = exponents(GRID_BUDGETS, delta, hard.identification, hard.privacy, 2)
        kinds = regimes(GRID_BUDGETS, delta, hard, 2)
        values = (exponent.identification, exponent.gauss_privacy, exponent.laplace, kinds)
        for quantity, y in zip(("A", "B", "C", "regime"), values, strict=True):
            tags = {"quantity": quantity, **where, "delta": delta}
            if quantity == "regime":
                tags["condition"] = [ROWS[kind].condition for kind in kinds.tolist()]
                tags["tick"] = [ROWS[kind].tick for kind in kinds.tolist()]
            series = f"{quantity}, {instance}, epsilon={epsilon:g}, delta={delta:g}"
            yield curve(series, tags, GRID_BUDGETS, y)
    budgets = np.array(GRID_BUDGETS)
    for quantity, deltas in zip(
        ("delta_C", "delta_A"), boundary_deltas(budgets, hard, 2), strict=True
    ):
        drawn = (deltas >= SMALLEST_DELTA) & (deltas < 1.0)
        series = f"{quantity}, {instance}, epsilon={epsilon:g}"
        yield curve(series, {"quantity": quantity, **where}, budgets[drawn], deltas[drawn])
    limits = np.array([boundaries(delta, hard, 2) for delta in GRID_DELTAS])
    for column, quantity in enumerate(("T_C", "T_A")):
        series = f"{quantity}, {instance}, epsilon={epsilon:g}"
        yield curve(series, {"quantity": quantity, **where}, GRID_DELTAS, limits[:, column])


class _Draws(NamedTuple):
    """Random instances: H_BAI, H_pri and d."""

    identification: Values
    privacy: Values
    dimension: NDArray[np.int64]


def _remark(hard: _Draws, budget: Values, delta: Values) -> dict[str, int]:
    """Return the numbers of draws that contradict the remark below Table 1."""

    def is_tighter(budgets: Values, deltas: Values) -> NDArray[np.bool_]:
        exponent = exponents(budgets, deltas, *hard)
        return np.asarray(exponent.gauss > exponent.laplace)

    exponent, now = exponents(budget, delta, *hard), is_tighter(budget, delta)
    total = hard.identification + hard.privacy
    start = np.log(1.25 / delta) * hard.privacy**2 * np.log(hard.dimension) / total
    return {
        "A at most C": int((exponent.identification <= exponent.laplace).sum()),
        "turned by T": int((now & ~is_tighter(10.0 * budget, delta)).sum()),
        "turned by delta": int((now & ~is_tighter(budget, (1.0 + delta) / 2.0)).sum()),
        "late": int((~is_tighter(2.0 * start, delta)).sum()),
        "early": int(is_tighter(start / 2.0, delta).sum()),
    }


def table1_grid() -> pd.DataFrame:
    """Return checks of Table 1 on a million random (H_BAI, H_pri, T, delta, d) (C15).

    H_BAI, H_pri and T are log-uniform on [1, 1e6], delta on [1e-12, 1), d uniform on 2..64.

    Tags: quantity, ``draws``, ``none`` (no condition met), ``several`` (more than one met),
    ``met`` (by row), ``loses`` (by row: the ticked bound has not the larger exponent; in the row
    without a tick, that of DP-BAI-Gauss is the smaller one), ``zero met`` and ``zero loses`` (the
    row delta = 0). On the remark below the table, with T_C = log(1.25/delta) H_pri^2 log d / H, to
    which B/C is T over T_C: ``A at most C``; ``turned by T`` and ``turned by delta``, where the
    bound of DP-BAI-Gauss is the tighter one and is not at ten times T, or half the way from delta
    to 1; ``late``, where it is not at 2 T_C, and ``early``, where it is at T_C / 2. x: row of
    Table 1, 0 for all. y: number of draws.
    """
    generator = np.random.default_rng(SEED)
    identification, privacy, budget = 10 ** generator.uniform(0.0, 6.0, (3, DRAWS))
    delta = 10 ** generator.uniform(-12.0, 0.0, DRAWS)
    dimension = generator.integers(2, 65, DRAWS)
    exponent = exponents(budget, delta, identification, privacy, dimension)
    met = conditions(exponent, delta)
    without = exponents(budget, 0.0, identification, privacy, dimension)
    zero = conditions(without, 0.0)[3]
    loses = [
        exponent.gauss <= exponent.laplace,
        exponent.gauss < exponent.laplace,
        exponent.laplace <= exponent.gauss,
    ]
    counts = {
        ("draws", 0): DRAWS,
        ("none", 0): (met.sum(axis=0) == 0).sum(),
        ("several", 0): (met.sum(axis=0) > 1).sum(),
        ("zero met", 4): zero.sum(),
        ("zero loses", 4): (zero & (without.laplace <= without.gauss)).sum(),
    }
    hard = _Draws(identification, privacy, dimension)
    counts |= {(name, 0): int(count) for name, count in _remark(hard, budget, delta).items()}
    for row in (1, 2, 3):
        counts["met", row] = met[row - 1].sum()
        counts["loses", row] = (met[row - 1] & loses[row - 1]).sum()
    return joined(
        curve(f"{quantity}, row {row or 'all'}", {"quantity": quantity}, [row], [float(count)])
        for (quantity, row), count in counts.items()
    )
