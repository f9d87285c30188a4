"""Table 1: which of the bounds of DP-BAI and DP-BAI-Gauss is the tighter one (Appendix D)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.errors import InputError
from dpbandits.papers.dp_bai.hardness import Hardness

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A row of Table 1.

    Attributes:
        condition: on the exponents A, B and C of ``Exponents``.
        gauss: bound of DP-BAI-Gauss.
        laplace: bound of DP-BAI.
        tick: which one is ticked as the tighter one; empty where we find no tick.
        range: the budgets that it stands for, given delta.
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


def conditions(found: Exponents, delta: ArrayLike) -> NDArray[np.bool_]:
    """Return whether the condition of each row of Table 1 is met; rows first."""
    a, b, c = found.identification, found.gauss_privacy, found.laplace
    zero = np.broadcast_to(np.asarray(delta) == 0.0, a.shape)
    return np.stack([(b >= a) & ~zero, (c <= b) & (b < a) & ~zero, (b < c) & ~zero, zero])


def regimes(
    budget: ArrayLike, delta: ArrayLike, hardness: Hardness, dimension: int
) -> NDArray[np.int64]:
    """Return the number of the row of Table 1, a key of ``ROWS``, at each budget and delta."""
    found = exponents(budget, delta, hardness.identification, hardness.privacy, dimension)
    return np.asarray(conditions(found, delta).argmax(axis=0) + 1)


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
