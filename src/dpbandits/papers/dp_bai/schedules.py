"""Schedules of phases: Appendix B, their growth with d, and Baseline's (C11, C20, C22)."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from dpbandits.algorithms.base import Trial
from dpbandits.algorithms.best_arm.eliminations import SCHEDULES, PhaseSchedule, phase_schedule
from dpbandits.engine.cells import Work, make_cell
from dpbandits.engine.compute import outcomes
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import INSTANCES

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

VIOLATIONS = ("above limit", "below log2 d", "early above", "shrinking above")
ROUND_OFF = 1e-9

ARM_COUNTS: dict[str, Callable[[int], int]] = {
    "d^2": lambda d: d**2,
    "d^3": lambda d: d**3,
    "10000": lambda d: 10_000,
}
"""How the number of arms depends on d in C22."""


def appendix_b() -> pd.DataFrame:
    """Return Appendix B (d = 16, K = 10000) by each interpretation of its schedule.

    Tags: schedule; quantity, ``g0``, ``h0``, ``lambda``, ``M1``, ``M``, ``size`` (s_p) or
    ``ratio`` ((s_{p-1} - g0) / (s_p - g0)); printed, the paper's number; half_unit, half a unit of
    its last digit; verdict, ``agrees`` or ``deviates``; computed, the number in words. x: p, 0
    where there is none. y: the computed number; the size is 0 where the schedule has ended before,
    a ratio over 0 is infinite.
    """
    return joined(row for interpretation in SCHEDULES for row in _rows(interpretation))


def _rows(interpretation: str) -> Iterator[pd.DataFrame]:
    schedule = phase_schedule(ARMS, DIMENSION, interpretation)
    for quantity, p, printed, half_unit in PRINTED:
        computed = _computed(schedule, quantity, p)
        agrees = abs(computed - printed) <= half_unit
        tags = {
            "schedule": interpretation,
            "quantity": quantity,
            "printed": float(printed),
            "half_unit": float(half_unit),
            "verdict": "agrees" if agrees else "deviates",
            "computed": _in_words(quantity, computed),
        }
        yield curve(f"{quantity}, {interpretation}", tags, [p], [computed])


def _in_words(quantity: str, computed: float) -> str:
    if math.isinf(computed):
        return "division by 0"
    if quantity == "size" and computed == 0.0:
        return "ended"
    return f"{computed:,.0f}" if computed.is_integer() else f"{computed:.2f}"


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


def phase_limit(dimension: int) -> float:
    """Return log d + 2 log2 d + 2, which the number of phases does not exceed.

    h_i < h_0 / lambda^i + 1 and lambda^(log d) >= h_0 give M1 <= ceil(log d) + 1, and the halving
    takes ceil(log2 g_0) phases, with g_0 <= ceil(d^2/4).
    """
    return math.log(dimension) + 2.0 * math.log2(dimension) + 2.0


def phase_counts() -> pd.DataFrame:
    """Return the number of phases of the schedule for d = 2..64 and many K (C22).

    Tags: arms, how K depends on d (a key of ``ARM_COUNTS``); quantity, ``phases`` or ``limit``
    (log d + 2 log2 d + 2), each with x = d. Over all d and K = d, d + 1, ..., 5 d^2 and the keys
    of ``ARM_COUNTS``: ``schedules``, ``above limit`` (M > log d + 2 log2 d + 2), ``below log2 d``
    (M < log2 d), ``early above`` (M1 > ceil(log d) + 1) and ``shrinking above`` (some h_i is not
    below h_0 / lambda^i + 1), each a number of schedules with x = 0.
    """
    return joined([*(frame for arms in ARM_COUNTS for frame in _counts(arms)), *_enumerated()])


def _counts(arms: str) -> Iterator[pd.DataFrame]:
    counts = [phase_schedule(ARM_COUNTS[arms](int(d)), int(d)).phases for d in DIMENSIONS]
    limits = [phase_limit(int(d)) for d in DIMENSIONS]
    for quantity, y in {"phases": counts, "limit": limits}.items():
        tags = {"arms": arms, "quantity": quantity}
        yield curve(f"{quantity}, K={arms}", tags, DIMENSIONS, np.array(y, dtype=np.float64))


def _enumerated() -> Iterator[pd.DataFrame]:
    counted = Counter[str]()
    for dimension in DIMENSIONS.tolist():
        counts = {*range(dimension, 5 * dimension**2 + 1, 1 + dimension // 8)}
        counts |= {count(dimension) for count in ARM_COUNTS.values()}
        for arms in sorted(counts):
            counted.update(violations(phase_schedule(arms, dimension), dimension))
    for quantity in ("schedules", *VIOLATIONS):
        tags = {"arms": "many", "quantity": quantity}
        yield curve(f"{quantity}, many K", tags, [0], [float(counted[quantity])])


def violations(schedule: PhaseSchedule, dimension: int) -> list[str]:
    """Return what of the proof a schedule contradicts, and that it is one."""
    first = schedule.shrinking[0]
    excess = (
        size - (first / schedule.shrinkage**step + 1.0)
        for step, size in enumerate(schedule.shrinking)
    )
    contradicted = {
        "above limit": schedule.phases > phase_limit(dimension) + ROUND_OFF,
        "below log2 d": schedule.phases < math.log2(dimension) - ROUND_OFF,
        "early above": schedule.early_phases > math.ceil(math.log(dimension)) + 1,
        "shrinking above": max(excess) >= ROUND_OFF,
    }
    return ["schedules", *(name for name in VIOLATIONS if contradicted[name])]


HALVED_ARMS = range(2, 301)
HALVED_DIMENSIONS = range(2, 25)

PLAYED = ("section5", "standard-basis", "sphere")
BUDGET = 2000
TRIALS = 20
SEED = 20240123


def halves(sizes: tuple[int, ...]) -> bool:
    """Return whether every size is half the one before, rounded up."""
    return all(after == -(-size // 2) for size, after in itertools.pairwise(sizes))


def baseline_structure() -> pd.DataFrame:
    """Return how Baseline's phases differ from those of Sequential Halving (C20).

    Tags: quantity; instance, of those that are played. Over K = 2..300 and d = 2..24:
    ``schedules``; ``late not halved``, schedules whose sizes do not halve from g_0 on; ``small``,
    schedules with K <= ceil(d^2/4), and ``small not halved``, those of them that do not halve
    throughout. ``unequal pulls`` and ``wrong arms``: phases of Baseline without noise, as played on
    instances, that pull its active arms unequally often, or keep others than those with the largest
    means; ``phases``, how many were played. x: 0. y: their number.
    """
    return joined([*_schedules(), *(row for name in PLAYED for row in _played(name))])


def _schedules() -> Iterator[pd.DataFrame]:
    counted = Counter[str]()
    for arms in HALVED_ARMS:
        for dimension in HALVED_DIMENSIONS:
            schedule = phase_schedule(arms, dimension)
            counted["schedules"] += 1
            counted["late not halved"] += not halves(late_sizes(schedule))
            if arms <= -(-(dimension**2) // 4):
                counted["small"] += 1
                counted["small not halved"] += not halves(schedule.sizes)
    for quantity in ("schedules", "late not halved", "small", "small not halved"):
        tags = {"quantity": quantity, "instance": "many"}
        yield curve(f"{quantity}, many", tags, [0], [float(counted[quantity])])


def late_sizes(schedule: PhaseSchedule) -> tuple[int, ...]:
    """Return the sizes of a schedule from g_0 on."""
    return schedule.sizes[schedule.early_phases :]


def _played(name: str) -> Iterator[pd.DataFrame]:
    cell = make_cell(
        algorithm="baseline",
        parameters={"epsilon": np.inf},
        bandit=INSTANCES[name](),
        horizon=BUDGET,
    )
    counted = Counter[str]()
    for trial in range(TRIALS):
        counted.update(contradictions(next(outcomes(Work(cell, range(1)), SEED + trial)).first))
    for quantity in ("phases", "unequal pulls", "wrong arms"):
        tags = {"quantity": quantity, "instance": name}
        yield curve(f"{quantity}, {name}", tags, [0], [float(counted[quantity])])


def contradictions(trial: Trial) -> list[str]:
    """Return what each phase of a trial contradicts, and that it is a phase."""
    survivors_of = [phase.active for phase in trial.phases[1:]] + [np.array([trial.recommended])]
    contradicted = []
    for phase, survivors in zip(trial.phases, survivors_of, strict=True):
        is_equal = np.array_equal(phase.arms, phase.active) and np.ptp(phase.pulls) == 0
        best = phase.active[np.argsort(-phase.estimates, kind="stable")[: survivors.size]]
        contradicted.append("phases")
        contradicted += ["unequal pulls"] * (not is_equal)
        contradicted += ["wrong arms"] * (not np.array_equal(np.sort(best), survivors))
    return contradicted
