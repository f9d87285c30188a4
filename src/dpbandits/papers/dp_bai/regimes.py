"""Table 1: which of the bounds of DP-BAI and DP-BAI-Gauss is the tighter one (Appendix D, C15)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpbandits.errors import InputError
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.hardness import INSTANCES, Hardness, instance_hardness

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

BUDGETS = tuple(round(10 ** (step / 10)) for step in range(20, 61))
"""T from 100 to 1e6, log-spaced."""

EPSILONS = (0.01, 0.1, 0.5, 1.0)
DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)
SMALLEST_DELTA = 1e-12
"""Boundary curves are drawn from there."""


def regime_map() -> pd.DataFrame:
    """Return A, B, C and the regime of Table 1 on I-A and I-B.

    Tags: quantity; instance, ``section5`` or ``two-armed``; epsilon; delta. ``A``, ``B``, ``C``
    and ``regime`` (1 to 4, with its condition and tick): x is T. ``delta_A`` and ``delta_C``, the
    delta from which B >= A and B >= C: x is T, y delta (from 1e-12 to below 1). ``T_A`` and
    ``T_C``: x is delta. ``row``: Table 1 itself, x and y its row; gauss, laplace: the bounds.
    """
    grid = [(instance, epsilon) for instance in INSTANCES for epsilon in EPSILONS]
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
    for delta in DELTAS:
        exponent = exponents(BUDGETS, delta, hard.identification, hard.privacy, 2)
        kinds = regimes(BUDGETS, delta, hard, 2)
        values = (exponent.identification, exponent.gauss_privacy, exponent.laplace, kinds)
        for quantity, y in zip(("A", "B", "C", "regime"), values, strict=True):
            tags = {"quantity": quantity, **where, "delta": delta}
            if quantity == "regime":
                tags["condition"] = [ROWS[kind].condition for kind in kinds.tolist()]
                tags["tick"] = [ROWS[kind].tick for kind in kinds.tolist()]
            series = f"{quantity}, {instance}, epsilon={epsilon:g}, delta={delta:g}"
            yield curve(series, tags, BUDGETS, y)
    budgets = np.array(BUDGETS)
    for quantity, deltas in zip(
        ("delta_C", "delta_A"), boundary_deltas(budgets, hard, 2), strict=True
    ):
        drawn = (deltas >= SMALLEST_DELTA) & (deltas < 1.0)
        series = f"{quantity}, {instance}, epsilon={epsilon:g}"
        yield curve(series, {"quantity": quantity, **where}, budgets[drawn], deltas[drawn])
    limits = np.array([boundaries(delta, hard, 2) for delta in DELTAS])
    for column, quantity in enumerate(("T_C", "T_A")):
        series = f"{quantity}, {instance}, epsilon={epsilon:g}"
        yield curve(series, {"quantity": quantity, **where}, DELTAS, limits[:, column])


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
