"""What Baseline shares in structure with Sequential Halving, by schedule and in play (C20)."""

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from dpbandits.algorithms.base import Trial
from dpbandits.algorithms.best_arm.schedule import PhaseSchedule, phase_schedule
from dpbandits.engine.identification import identify
from dpbandits.papers.dp_bai.curves import curve, joined
from dpbandits.papers.dp_bai.instances import INSTANCES

ARMS = range(2, 301)
DIMENSIONS = range(2, 25)

PLAYED = ("section5", "standard-basis", "sphere")
BUDGET = 2000
TRIALS = 20
SEED = 20240123


def halves(sizes: tuple[int, ...]) -> bool:
    """Return whether every size is half the one before, rounded up."""
    return all(after == -(-size // 2) for size, after in itertools.pairwise(sizes))


def baseline_structure() -> pd.DataFrame:
    """Compare Baseline's phases with those of Sequential Halving (C20).

    Tags: quantity; instance, of those that are played. Over K = 2..300 and d = 2..24:
    ``schedules``; ``late not halved``, schedules whose sizes do not halve from g_0 on; ``small``,
    schedules with K <= ceil(d^2/4), and ``small not halved``, those of them that do not halve
    throughout. ``unequal pulls`` and ``wrong arms``: phases of Baseline without noise, as played on
    instances, that pull its active arms unequally often, or keep others than those with the largest
    means; ``phases``, how many were played. x: 0. y: their number.
    """
    return joined([*_schedules(), *(row for name in PLAYED for row in _played(name))])


def _schedules() -> Iterator[pd.DataFrame]:
    found = Counter[str]()
    for arms in ARMS:
        for dimension in DIMENSIONS:
            schedule = phase_schedule(arms, dimension)
            found["schedules"] += 1
            found["late not halved"] += not halves(late_sizes(schedule))
            if arms <= -(-(dimension**2) // 4):
                found["small"] += 1
                found["small not halved"] += not halves(schedule.sizes)
    for quantity in ("schedules", "late not halved", "small", "small not halved"):
        tags = {"quantity": quantity, "instance": "many"}
        yield curve(f"{quantity}, many", tags, [0], [float(found[quantity])])


def late_sizes(schedule: PhaseSchedule) -> tuple[int, ...]:
    """Return the sizes of a schedule from g_0 on."""
    return schedule.sizes[schedule.early_phases :]


def _played(name: str) -> Iterator[pd.DataFrame]:
    bandit = INSTANCES[name]()
    found = Counter[str]()
    for trial in range(TRIALS):
        runs = identify(
            algorithm="baseline",
            params={"epsilon": np.inf},
            bandit=bandit,
            budget=BUDGET,
            runs=1,
            seed=SEED + trial,
        )
        found.update(contradictions(runs.trace))
    for quantity in ("phases", "unequal pulls", "wrong arms"):
        tags = {"quantity": quantity, "instance": name}
        yield curve(f"{quantity}, {name}", tags, [0], [float(found[quantity])])


def contradictions(trial: Trial) -> list[str]:
    """Return what each phase of a trial contradicts, and that it is a phase."""
    kept = [phase.active for phase in trial.phases[1:]] + [np.array([trial.recommended])]
    found = []
    for phase, survivors in zip(trial.phases, kept, strict=True):
        is_equal = np.array_equal(phase.arms, phase.active) and np.ptp(phase.pulls) == 0
        best = phase.active[np.argsort(-phase.estimates, kind="stable")[: survivors.size]]
        found.append("phases")
        found += ["unequal pulls"] * (not is_equal)
        found += ["wrong arms"] * (not np.array_equal(np.sort(best), survivors))
    return found
