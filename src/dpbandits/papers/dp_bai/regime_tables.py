"""Table 1 evaluated: on the paper's instances, and on random numbers (C15)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.papers.dp_bai.curves import curve, joined
from dpbandits.papers.dp_bai.hardness import Hardness, hardness
from dpbandits.papers.dp_bai.instances import section5, two_armed
from dpbandits.papers.dp_bai.regimes import (
    ROWS,
    boundaries,
    boundary_deltas,
    conditions,
    exponents,
    regimes,
)

Values = NDArray[np.float64]

SEED = 20240119
DRAWS = 1_000_000

BUDGETS = tuple(round(10 ** (step / 10)) for step in range(20, 61))
"""T from 100 to 1e6, log-spaced."""

EPSILONS = (0.01, 0.1, 0.5, 1.0)
DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)
SMALLEST_DELTA = 1e-12
"""Boundary curves are drawn from there."""

INSTANCES = {"section5": section5(), "two-armed": two_armed(ratio=2.0)}
"""I-A and I-B; the hardness of I-B does not depend on the ratio."""


def instance_hardness(instance: str, epsilon: float) -> Hardness:
    """Return the hardness of I-A or I-B, both of dimension 2."""
    return hardness(INSTANCES[instance].means, 2, epsilon)


def regime_map() -> pd.DataFrame:
    """Evaluate A, B, C and the regime of Table 1 on I-A and I-B.

    Tags: quantity; instance, ``section5`` or ``two-armed``; epsilon; delta. ``A``, ``B``, ``C``
    and ``regime`` (1 to 4, with its condition and tick): x is T. ``delta_A`` and ``delta_C``, the
    delta from which B >= A and B >= C: x is T, y delta (from 1e-12 to below 1). ``T_A`` and
    ``T_C``: x is delta. ``row``: Table 1 itself, x and y its row; gauss, laplace: the bounds.
    """
    grid = [(instance, epsilon) for instance in INSTANCES for epsilon in EPSILONS]
    return joined([*_rows(), *(found for key in grid for found in _of_instance(*key))])


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
        found = exponents(BUDGETS, delta, hard.identification, hard.privacy, 2)
        kinds = regimes(BUDGETS, delta, hard, 2)
        values = (found.identification, found.gauss_privacy, found.laplace, kinds)
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
    """Count draws that contradict the remark below Table 1."""

    def is_tighter(budgets: Values, deltas: Values) -> NDArray[np.bool_]:
        found = exponents(budgets, deltas, *hard)
        return np.asarray(found.gauss > found.laplace)

    found, now = exponents(budget, delta, *hard), is_tighter(budget, delta)
    total = hard.identification + hard.privacy
    start = np.log(1.25 / delta) * hard.privacy**2 * np.log(hard.dimension) / total
    return {
        "A at most C": int((found.identification <= found.laplace).sum()),
        "turned by T": int((now & ~is_tighter(10.0 * budget, delta)).sum()),
        "turned by delta": int((now & ~is_tighter(budget, (1.0 + delta) / 2.0)).sum()),
        "late": int((~is_tighter(2.0 * start, delta)).sum()),
        "early": int(is_tighter(start / 2.0, delta).sum()),
    }


def table1_grid() -> pd.DataFrame:
    """Check Table 1 on a million random (H_BAI, H_pri, T, delta, d) (C15).

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
    found = exponents(budget, delta, identification, privacy, dimension)
    met = conditions(found, delta)
    without = exponents(budget, 0.0, identification, privacy, dimension)
    zero = conditions(without, 0.0)[3]
    loses = [
        found.gauss <= found.laplace,
        found.gauss < found.laplace,
        found.laplace <= found.gauss,
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
