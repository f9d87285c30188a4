"""Faults in the segments that a user-defined kernel returns, found before they are recorded."""

import numpy as np
from numpy.typing import NDArray

from dpbandits.kernels import UNIFORM

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

UNWRITTEN = -(2**62)
"""Arm of a segment that the kernel has not written."""

ROUNDING = 1e-9
"""Relative error allowed in a sum of rewards."""


def find_fault(
    arms: Integers, lengths: Integers, sums: Floats, rounds: tuple[int, int], largest: Floats
) -> tuple[int, str] | None:
    """Return the round and the description of the first faulty segment, or None.

    Args:
        arms: arm of each segment.
        lengths: number of rounds of each segment.
        sums: sum of rewards of each segment.
        rounds: number of rounds played before the first segment, and the horizon.
        largest: largest reward of each arm.
    """
    if _are_plain(arms, lengths, sums, rounds, largest):
        return None
    begin, horizon = rounds
    bad_arm = (arms < UNIFORM) | (arms >= largest.size)
    # Exact below 2^53, which no horizon exceeds.
    ends = begin + np.cumsum(lengths, dtype=np.float64)
    # UNIFORM is the last index.
    bounds = np.append(largest, largest.max())[np.where(bad_arm, UNIFORM, arms)] * lengths
    bad_sum = ~((sums >= 0.0) & (sums <= bounds * (1.0 + ROUNDING)))
    bad = bad_arm | (lengths < 1) | (lengths > horizon) | (ends > horizon) | bad_sum
    if not bad.any():
        return None
    first = int(bad.argmax())
    played = begin + int(lengths[:first].sum())
    bound = float(bounds[first])
    segment = (int(arms[first]), int(lengths[first]), float(sums[first]))
    return played + 1, _described(segment, horizon - played, largest.size, bound)


def _are_plain(
    arms: Integers, lengths: Integers, sums: Floats, rounds: tuple[int, int], largest: Floats
) -> bool:
    """Return whether all segments are single rounds without a fault, at a fifth of the time."""
    return bool(
        lengths.min() == lengths.max() == 1
        and rounds[0] + lengths.size <= rounds[1]
        and 0 <= arms.min() <= arms.max() < largest.size
        and 0.0 <= sums.min() <= sums.max() <= largest.min() * (1.0 + ROUNDING)
    )


def _described(segment: tuple[int, int, float], left: int, arms: int, bound: float) -> str:
    """Return the description of the fault of one segment (arm, length, sum of rewards)."""
    arm, length, rewards = segment
    if arm == UNWRITTEN:
        return "a segment that advance counts is not written"
    if not UNIFORM <= arm < arms:
        return f"arm is {arm}; allowed: 0 to {arms - 1}"
    if not 1 <= length <= left:
        return f"length is {length}; allowed: 1 to {left}, up to the horizon"
    rounds = "1 round" if length == 1 else f"{length} rounds"
    return f"sum of rewards is {rewards!r}; allowed: 0 to {bound:g} for {rounds} of arm {arm}"
