"""Eliminations by private means: DP-BAI, DP-BAI-Gauss, the Baseline, Sequential Halving."""

from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import Outcome, Task
from dpbandits.algorithms.best_arm.budget import TIES_AND_BUDGET, random_outcome, require_budget
from dpbandits.algorithms.best_arm.designs import Arms, MaxDet, geometry_of
from dpbandits.algorithms.best_arm.phases import SILENT, Plan, Step, play_plan
from dpbandits.algorithms.best_arm.schedule import PhaseSchedule, phase_schedule

INTERPRETATIONS = {
    "schedule": ("consistent", "literal", "printed"),
    "rounding": ("ceiling", "floor", "fitted"),
    "samples": ("fresh", "pooled"),
    "sensitivity": ("unit", "support"),
    **TIES_AND_BUDGET,
}
"""Interpretations of DP-BAI, which its variants share."""


@dataclass(frozen=True)
class Elimination:
    """The rules of an elimination by means.

    Attributes:
        schedule: its phases.
        collections: whether a phase with many arms in few dimensions pulls a Max-Det collection
            instead of every active arm.
        rounding: ``ceiling``, ``floor`` or ``fitted`` (BAI-E3).
        pooled: whether means run over all pulls so far (BAI-E10).
        noise: law of the noise on a mean.
        scale: its scale times the number of pulls behind the mean.
    """

    schedule: PhaseSchedule
    collections: bool
    rounding: str = "ceiling"
    pooled: bool = False
    noise: int = SILENT
    scale: float = 0.0


def schedule_of(task: Task) -> PhaseSchedule:
    """Return the schedule of DP-BAI in the task's interpretation."""
    arms, dimension = task.bandit.feature_matrix.shape
    return phase_schedule(arms, dimension, task.interpretations["schedule"])


def _most_pulled(rules: Elimination, task: Task) -> int:
    """Return the sum over the phases of the most arms that each may pull."""
    total = 0
    for size in rules.schedule.sizes[:-1]:
        # No set of arms has a larger rank than all of them.
        rank = min(geometry_of(task.bandit.features).rank, size) if rules.collections else size
        total += rank if rank * rank < size else size
    return total


def _reserved(rules: Elimination, task: Task) -> int:
    reserved = rules.schedule.reserved
    return max(reserved, _most_pulled(rules, task)) if rules.rounding == "fitted" else reserved


def require_elimination(owner: str, task: Task, rules: Elimination) -> None:
    """Raise InputError for a budget with T' <= 0.

    Raises:
        InputError: It is too small, and the interpretation ``small_budget`` is ``raise``.
    """
    require_budget(owner, task, _reserved(rules, task) + 1)


def play_elimination(
    owner: str, task: Task, rules: Elimination, generator: np.random.Generator, trials: int
) -> Outcome:
    """Play a block of trials (dp-bai, Algorithm 1 and Section 5).

    Raises:
        InputError: As ``require_elimination``.
    """
    require_elimination(owner, task, rules)
    budget = task.budget - _reserved(rules, task)
    if budget <= 0:
        return random_outcome(task, generator, trials)
    geometry = geometry_of(task.bandit.features)

    def step(phase: int, active: Arms) -> Step:
        found = geometry.collection(active) if rules.collections else None
        arms = active[list(found.arms)] if found else active
        parts = rules.schedule.phases * arms.size
        count = max(1, budget // parts) if rules.rounding == "floor" else -(-budget // parts)
        return _step(arms, np.full(arms.size, count), rules.scale, found)

    sizes, ties = rules.schedule.sizes, task.interpretations["ties"] == "random"
    plan = Plan(sizes, step, rules.noise, rules.pooled, ties)
    return play_plan(plan, task.bandit, generator, trials)


def _step(arms: Arms, pulls: Arms, scale: float, found: MaxDet | None) -> Step:
    if found is None:
        return Step(arms, pulls, scale)
    return Step(arms, pulls, scale, coefficients=found.coefficients, exact=found.exact)
