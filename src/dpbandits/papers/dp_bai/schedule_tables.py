"""The worked example of Appendix B, number by number, and how the phases grow with d (C11, C22)."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.schedule import READINGS, PhaseSchedule, phase_schedule
from dpbandits.papers.dp_bai.curves import curve, joined

ARMS, DIMENSION = 10_000, 16

PRINTED: tuple[tuple[str, int, float, float], ...] = (
    ("g0", 0, 64, 0),
    ("h0", 0, 9936, 0),
    ("lambda", 0, 27.65, 0.005),
    ("M1", 0, 4, 0),
    ("M", 0, 10, 0),
    ("size", 1, 1000, 0),
    ("size", 2, 423, 0),
    ("size", 3, 77, 0),
    ("size", 4, 64, 0),
    *(("size", p, 2 ** (10 - p), 0) for p in range(5, 11)),
    ("ratio", 2, 27.65, 0.005),
    ("ratio", 3, 27.68, 0.005),
    ("ratio", 4, 27.62, 0.005),
)
"""Every number of Appendix B: quantity, phase p (0 for none), number, half a unit of its digits."""

DIMENSIONS = np.arange(2, 65)

ARM_COUNTS: dict[str, Callable[[int], int]] = {
    "d^2": lambda d: d**2,
    "d^3": lambda d: d**3,
    "10000": lambda d: 10_000,
}
"""How the number of arms depends on d in C22."""


def appendix_b() -> pd.DataFrame:
    """Compare Appendix B (d = 16, K = 10000) with each reading of its schedule.

    Tags: schedule; quantity, ``g0``, ``h0``, ``lambda``, ``M1``, ``M``, ``size`` (s_p) or
    ``ratio`` ((s_{p-1} - g0) / (s_p - g0)); printed, the paper's number; half_unit, half a unit of
    its last digit; verdict, ``agrees`` or ``deviates``. x: p, 0 where there is none. y: the
    computed number; the size is 0 where the schedule has ended before, a ratio over 0 is infinite.
    """
    return joined(row for reading in READINGS for row in _rows(reading))


def _rows(reading: str) -> Iterator[pd.DataFrame]:
    schedule = phase_schedule(ARMS, DIMENSION, reading)
    for quantity, p, printed, half_unit in PRINTED:
        computed = _computed(schedule, quantity, p)
        agrees = abs(computed - printed) <= half_unit
        tags = {
            "schedule": reading,
            "quantity": quantity,
            "printed": float(printed),
            "half_unit": float(half_unit),
            "verdict": "agrees" if agrees else "deviates",
        }
        yield curve(f"{quantity}, {reading}", tags, [p], [computed])


def _computed(schedule: PhaseSchedule, quantity: str, p: int) -> float:
    sizes, start = schedule.sizes, schedule.halving[0]
    numbers = {
        "g0": start,
        "h0": schedule.shrinking[0],
        "lambda": schedule.shrinkage,
        "M1": schedule.early_phases,
        "M": schedule.phases,
    }
    if quantity in numbers:
        return float(numbers[quantity])
    if quantity == "size":
        return float(sizes[p - 1]) if p <= len(sizes) else 0.0
    rest = sizes[p - 1] - start
    return (sizes[p - 2] - start) / rest if rest else math.inf


def expected_phases(dimensions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log d + 2 log2 d, what C22 compares the number of phases with."""
    return np.asarray(np.log(dimensions) + 2.0 * np.log2(dimensions))


def phase_counts() -> pd.DataFrame:
    """Count the phases of the schedule for d = 2..64 (C22).

    Tags: schedule; arms, how K depends on d (``d^2``, ``d^3``, ``10000``); quantity, ``phases``,
    ``expected`` (log d + 2 log2 d) or ``fit`` (least squares of M on 1 and log d, with its tags
    intercept and slope). x: d. y: number of phases.
    """
    return joined(
        found for reading in READINGS for arms in ARM_COUNTS for found in _counts(reading, arms)
    )


def _counts(reading: str, arms: str) -> Iterator[pd.DataFrame]:
    counts = [phase_schedule(ARM_COUNTS[arms](int(d)), int(d), reading).phases for d in DIMENSIONS]
    regressors = np.column_stack([np.ones(DIMENSIONS.size), np.log(DIMENSIONS)])
    intercept, slope = np.linalg.lstsq(regressors, np.array(counts, dtype=np.float64))[0]
    curves = {
        "phases": (counts, {}),
        "expected": (expected_phases(DIMENSIONS), {}),
        "fit": (regressors @ [intercept, slope], {"intercept": intercept, "slope": slope}),
    }
    for quantity, (y, extra) in curves.items():
        tags = {"schedule": reading, "arms": arms, "quantity": quantity, **extra}
        yield curve(f"{quantity}, K={arms}, {reading}", tags, DIMENSIONS, y)
