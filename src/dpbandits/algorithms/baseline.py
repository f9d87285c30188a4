"""The Baseline of the DP-BAI paper (Chen, Karthik, Chee and Tan, ICLR 2024, section 5).

DP-BAI without Max-Det collections: every phase pulls every active arm and releases its mean with
Laplace noise. Features enter nothing but, through their dimension, the schedule.

Interpretations, beside those of DP-BAI (``dp_bai``):
    sizes: of the phases, as for DP-BAI (``stated``), or ``halving``: K, ceil(K/2), ..., 1 with
        T' = T - M, which is nearer to the Sequential Halving that the paper likens it to, and to
        which ``schedule`` does not matter (BAI-E4).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task, Trial
from dpbandits.algorithms.best_arm.budget import pure_guarantee, require_epsilon, sensitivity_of
from dpbandits.algorithms.best_arm.means import (
    INTERPRETATIONS,
    Elimination,
    play_elimination,
    require_elimination,
    schedule_of,
)
from dpbandits.algorithms.best_arm.phases import LAPLACE, SILENT
from dpbandits.algorithms.best_arm.schedule import PhaseSchedule, halving_schedule
from dpbandits.algorithms.best_arm.textbook import eliminate_by_means
from dpbandits.bandits.draws import laplace
from dpbandits.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Parameters:
    """Privacy parameter ``epsilon`` (> 0; infinity for no noise)."""

    epsilon: float

    def __post_init__(self) -> None:
        """Raise InputError unless epsilon is positive."""
        require_epsilon("baseline", self.epsilon)


def _schedule(task: Task) -> PhaseSchedule:
    if task.interpretations["sizes"] == "halving":
        return halving_schedule(len(task.bandit.arms))
    return schedule_of(task)


def _rules(task: Task) -> Elimination:
    epsilon = float(task.parameters.epsilon)
    return Elimination(
        _schedule(task),
        collections=False,
        rounding=task.interpretations["rounding"],
        pooled=task.interpretations["samples"] == "pooled",
        noise=SILENT if math.isinf(epsilon) else LAPLACE,
        scale=sensitivity_of(task) / epsilon,
    )


def require(task: Task) -> None:
    """Raise InputError where T' <= 0, unless a random arm is to be returned then."""
    require_elimination("baseline", task, _rules(task))


def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Play a block of trials."""
    return play_elimination("baseline", task, _rules(task), generator, trials)


def reference(task: Task, generator: np.random.Generator) -> Trial:
    """Play one trial, line by line."""
    require(task)
    epsilon, sensitivity = task.parameters.epsilon, sensitivity_of(task)

    def noise(n: int) -> float:
        if math.isinf(epsilon):
            return 0.0
        return float(laplace.py_func(sensitivity / (epsilon * n), generator))

    return eliminate_by_means(task, generator, _schedule(task), noise, collections=False)


def guarantee(parameters: Parameters, budget: int) -> Guarantee:
    """Pure epsilon-DP (section 5): every reward enters one release of sensitivity 1/n."""
    return pure_guarantee(parameters.epsilon)


ALGORITHM = IdentificationAlgorithm(
    id="baseline",
    name="Baseline",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), section 5",
    parameters=Parameters,
    require=require,
    play=play,
    reference=reference,
    guarantee=guarantee,
    example={"epsilon": 1.0},
    interpretations={**INTERPRETATIONS, "sizes": ("stated", "halving")},
)
