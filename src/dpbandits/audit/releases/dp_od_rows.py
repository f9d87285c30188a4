"""Rows of DP-OD (AUD-11): two arms, two arms with their midpoint, four arms on the diagonals."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.releases.best_arm import difference_loss
from dpbandits.audit.releases.best_arm_rows import rows_of_losses, words_of_comparison
from dpbandits.audit.releases.dp_od import (
    ANGLES,
    DIAGONAL,
    NORMS,
    dp_od_scales,
    limit_losses,
    square_loss,
    three_arm_pulls,
    unit_vectors,
)
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.1, 1.0, 5.0)
BUDGETS = (12, 1002)
SQUARE_BUDGETS = (23, 103)


def dp_od_rows(
    epsilons: Sequence[float] = EPSILONS,
    budgets: Sequence[int] = BUDGETS,
    square_budgets: Sequence[int] = SQUARE_BUDGETS,
) -> list[AuditRow]:
    """Return the rows of AUD-11.

    Args:
        epsilons: above 0.
        budgets: T with two arms, at least 6.
        square_budgets: T with four arms, at least 7.
    """
    rows: list[AuditRow] = []
    for norm in NORMS:
        audited = Audited(
            "AUD-11", "BAI-C14c", "dp-od", "as-written", "pull table", "B", f"norm={norm}"
        )
        for epsilon in epsilons:
            for budget in budgets:
                rows += _pairs(audited, norm, epsilon, budget)
            for budget in square_budgets:
                rows += _square(audited, norm, epsilon, budget)
    return rows


def worst_angles(norm: str) -> tuple[float, float]:
    """Return the angles in degrees of two unit vectors with the largest loss, of whole degrees.

    Args:
        norm: a key of ``NORMS``.
    """
    limits = limit_losses(norm)
    first, second = np.unravel_index(np.nanargmax(limits), limits.shape)
    return float(ANGLES[first]), float(ANGLES[second])


def _pairs(audited: Audited, norm: str, epsilon: float, budget: int) -> Iterator[AuditRow]:
    for angles in dict.fromkeys((DIAGONAL, (0.0, 90.0), worst_angles(norm))):
        scales = dp_od_scales(unit_vectors(*angles), norm)
        words = f"unit vectors at {angles[0]:g} and {angles[1]:g} degrees"
        for arms, pulls in ((2, -(-(budget - 2) // 2)), (3, three_arm_pulls(budget))):
            features = words if arms == 2 else f"{words} and half their sum"
            yield from rows_of_losses(
                audited,
                partial(difference_loss, pulls, epsilon, 1.0, scales),
                partial(words_of_comparison, pulls, features, "arm 2"),
                arms=arms,
                horizon=budget,
                epsilon=epsilon,
            )


def _square(audited: Audited, norm: str, epsilon: float, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of four arms; the table need not obey the linear model."""
    pulls = (budget - 3) // 4
    features = "features (+-1, +-1)/sqrt 2, rewards of two arms 0"
    yield from rows_of_losses(
        audited,
        partial(square_loss, pulls, epsilon, norm, 1.0),
        partial(words_of_comparison, pulls, features, "its antipode"),
        arms=4,
        horizon=budget,
        epsilon=epsilon,
    )
