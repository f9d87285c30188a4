"""Pairs of neighbouring pull-indexed tables for Gaussian Thompson sampling.

The changed cell is a reward of arm 1, the first one unless said otherwise: 0 in x and 1 in x'.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one cell.

    Attributes:
        tables: rewards by input (x, x'), arm and pull, shape (2, K, rounds).
        words: the pair in words.
    """

    tables: Values
    words: str

    @property
    def arms(self) -> int:
        """Return K."""
        return int(self.tables.shape[1])


def constant_pair(values: Sequence[float], rounds: int) -> Pair:
    """Return tables of constant arms, of which only the first reward of arm 1 is another.

    Args:
        values: reward of every arm, in [0, 1].
        rounds: rewards per arm.
    """
    tables = np.broadcast_to(np.array(values, np.float64)[:, None], (2, len(values), rounds)).copy()
    tables[:, 0, 0] = 0.0, 1.0
    arms = ", ".join(f"arm {arm} always {value:g}" for arm, value in enumerate(values, 1))
    return Pair(tables, f"{arms}, but for the first reward of arm 1: 0 in x, 1 in x'")


def hold_pair(zeta: float, rounds: int, arms: int = 2) -> Pair:
    """Return tables that keep arm 1 about zeta standard deviations below arms that always pay 1.

    The sum of n rewards of arm 1 follows (n + 1) - zeta sqrt(n + 1) - 1/2 as far as rewards in
    [0, 1] can, the first one being 0 in x and 1 in x'.

    Args:
        zeta: distance, above 0.
        rounds: rewards per arm.
        arms: K.
    """
    tables = np.ones((2, arms, rounds))
    tables[0, 0, 0] = 0.0
    total = 0.5
    for n in range(2, rounds + 1):
        target = (n + 1.0) - zeta * np.sqrt(n + 1.0) - 0.5
        reward = min(max(target - total, 0.0), 1.0)
        tables[:, 0, n - 1] = reward
        total += reward
    words = (
        f"other arms always 1, arm 1 so that n rewards sum up to (n+1) - {zeta:g} sqrt(n+1) - 1/2 "
        "as nearly as rewards in [0, 1] can; first reward of arm 1: 0 in x, 1 in x'"
    )
    return Pair(tables, words)


def abandoned_pair(rounds: int) -> Pair:
    """Return the pair for the transcript in which arm 1 is abandoned after its forced pulls.

    Arm 1 always pays 1 and arm 2 always 0; in x', the first reward of arm 1 is 0.

    Args:
        rounds: rewards per arm.
    """
    tables = np.zeros((2, 2, rounds))
    tables[:, 0] = 1.0
    tables[1, 0, 0] = 0.0
    return Pair(
        tables, "arm 1 always 1, arm 2 always 0, but for the first reward of arm 1: 1 in x, 0 in x'"
    )
