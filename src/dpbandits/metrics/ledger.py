"""One pass over the chunks of a run: pulls and rewards on a grid of times, and inverse counts."""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray


class Ledger(NamedTuple):
    """What a run has done so far, fed with chunks (arm, length, sum of rewards).

    Attributes:
        grid: increasing times, shape (G,).
        pulls_at: pulls of each arm up to each time of the grid, shape (G, K).
        rewards_at: sum of all rewards up to each time, shape (G,); at a time inside a chunk it is
            not known and stays NaN.
        clock: rounds seen and next index into the grid, shape (2,).
        pulls: pulls of each arm so far, shape (K,).
        rewards: sum of all rewards so far, shape (1,).
        inverse_counts: for each arm the sum over the rounds after its first pull of 1/(n + 1), n
            its pulls before the round, up to the time in ``counted_to``; shapes (K,), or (0,)
            where they are not counted, which costs a division a pull.
    """

    grid: NDArray[np.int64]
    pulls_at: NDArray[np.int64]
    rewards_at: NDArray[np.float64]
    clock: NDArray[np.int64]
    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    inverse_counts: NDArray[np.float64]
    counted_to: NDArray[np.int64]


def open_ledger(grid: NDArray[np.int64], arms: int, *, count_inversely: bool = True) -> Ledger:
    """Return the ledger of a run that has not begun.

    Args:
        grid: increasing times at which pulls and rewards are entered, shape (G,).
        arms: number of arms K.
        count_inversely: whether ``inverse_counts`` are kept.
    """
    counted = arms if count_inversely else 0
    return Ledger(
        grid=grid,
        pulls_at=np.zeros((grid.size, arms), np.int64),
        rewards_at=np.full(grid.size, np.nan),
        clock=np.zeros(2, np.int64),
        pulls=np.zeros(arms, np.int64),
        rewards=np.zeros(1),
        inverse_counts=np.zeros(counted),
        counted_to=np.zeros(counted, np.int64),
    )


@numba.njit(cache=True)
def _count_inversely(ledger, arm, t, length):  # type: ignore[no-untyped-def]
    if ledger.pulls[arm] > 0:
        waited = t - ledger.counted_to[arm]
        ledger.inverse_counts[arm] += waited / (ledger.pulls[arm] + 1)
        for pull in range(length):
            ledger.inverse_counts[arm] += 1.0 / (ledger.pulls[arm] + pull + 1)
    else:
        for pull in range(1, length):
            ledger.inverse_counts[arm] += 1.0 / (pull + 1)
    ledger.counted_to[arm] = t + length


@numba.njit(cache=True, nogil=True)
def record(ledger, arms, lengths, sums, written):  # type: ignore[no-untyped-def]
    """Enter the first ``written`` chunks; the grid never cuts a chunk's rewards."""
    t, index = ledger.clock[0], ledger.clock[1]
    for chunk in range(written):
        arm, length = arms[chunk], lengths[chunk]
        if ledger.inverse_counts.size > 0:
            _count_inversely(ledger, arm, t, length)
        while index < ledger.grid.size and ledger.grid[index] < t + length:
            ledger.pulls_at[index] = ledger.pulls
            ledger.pulls_at[index, arm] += ledger.grid[index] - t
            if ledger.grid[index] == t:
                ledger.rewards_at[index] = ledger.rewards[0]
            index += 1
        t += length
        ledger.pulls[arm] += length
        ledger.rewards[0] += sums[chunk]
        if index < ledger.grid.size and ledger.grid[index] == t:
            ledger.pulls_at[index] = ledger.pulls
            ledger.rewards_at[index] = ledger.rewards[0]
            index += 1
    ledger.clock[0], ledger.clock[1] = t, index


def close_ledger(ledger: Ledger) -> None:
    """Count every arm's rounds since its last pull into ``inverse_counts``, at the horizon."""
    if not ledger.inverse_counts.size:
        return
    pulled = ledger.pulls > 0
    waited = ledger.clock[0] - ledger.counted_to[pulled]
    ledger.inverse_counts[pulled] += waited / (ledger.pulls[pulled] + 1)
    ledger.counted_to[:] = ledger.clock[0]
