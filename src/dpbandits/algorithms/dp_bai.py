"""DP-BAI (Chen, Karthik, Chee and Tan, ICLR 2024, Algorithm 1).

Phases of elimination with a budget fixed in advance. A phase with many arms in few dimensions
(rank r below the root of their number s) pulls the r arms of a Max-Det collection and estimates
all others by combinations of their private means; any other phase pulls every active arm. A mean
of n pulls is released once, with Laplace noise of scale 1/(epsilon n).

Interpretations:
    schedule: sizes of the phases and T': ``consistent``, ``literal`` or ``printed`` (BAI-E1).
    rounding: pulls of each arm in a phase: ``ceiling`` of T'/(M r) as stated, which may exceed the
        budget; ``floor``, at least 1; ``fitted``, the ceiling with T' lowered to T minus the most
        arms that each phase may pull, so that the budget is kept (BAI-E3).
    samples: means of the phase's own rewards (``fresh``) or of all of the arm's (``pooled``, with
        noise by their number; rewards are then used again, which the privacy proof does not
        allow; BAI-E10).
    sensitivity: rewards are taken to be at most 1 (``unit``), or the noise is scaled by the
        largest reward that the instance can pay (``support``; BAI-E7).
    ties: equal estimates are ranked by the arm's ``index`` or at ``random``.
    small_budget: where T' <= 0, ``raise`` an error or return a ``random`` arm without pulls.
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
from dpbandits.algorithms.best_arm.textbook import eliminate_by_means
from dpbandits.bandits.draws import laplace
from dpbandits.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Parameters:
    """Privacy parameter ``epsilon`` (> 0; infinity for no noise)."""

    epsilon: float

    def __post_init__(self) -> None:
        """Raise InputError unless epsilon is positive."""
        require_epsilon("dp-bai", self.epsilon)


def _rules(task: Task) -> Elimination:
    epsilon = float(task.parameters.epsilon)
    return Elimination(
        schedule_of(task),
        collections=True,
        rounding=task.interpretations["rounding"],
        pooled=task.interpretations["samples"] == "pooled",
        noise=SILENT if math.isinf(epsilon) else LAPLACE,
        scale=sensitivity_of(task) / epsilon,
    )


def require(task: Task) -> None:
    """Raise InputError where T' <= 0, unless a random arm is to be returned then."""
    require_elimination("dp-bai", task, _rules(task))


def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Play a block of trials."""
    return play_elimination("dp-bai", task, _rules(task), generator, trials)


def reference(task: Task, generator: np.random.Generator) -> Trial:
    """Play one trial, line by line."""
    require(task)
    epsilon, sensitivity = task.parameters.epsilon, sensitivity_of(task)

    def noise(n: int) -> float:
        if math.isinf(epsilon):
            return 0.0
        return float(laplace.py_func(sensitivity / (epsilon * n), generator))

    return eliminate_by_means(task, generator, schedule_of(task), noise, collections=True)


def guarantee(parameters: Parameters, budget: int) -> Guarantee:
    """Pure epsilon-DP (Proposition 4.1): every reward enters one release of sensitivity 1/n."""
    return pure_guarantee(parameters.epsilon)


ALGORITHM = IdentificationAlgorithm(
    id="dp-bai",
    name="DP-BAI",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), Algorithm 1",
    parameters=Parameters,
    require=require,
    play=play,
    reference=reference,
    guarantee=guarantee,
    example={"epsilon": 1.0},
    interpretations=INTERPRETATIONS,
)
