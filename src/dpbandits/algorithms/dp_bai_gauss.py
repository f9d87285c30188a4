"""DP-BAI-Gauss (Chen, Karthik, Chee and Tan, ICLR 2024, Algorithm 2).

DP-BAI with Gaussian noise on the means: variance 2 log(1.25/delta) / (epsilon n)^2 for n pulls.

Interpretations, beside those of DP-BAI (``dp_bai``):
    calibration: ``classical``, the formula above, which is proved for epsilon < 1 only;
        ``analytic``, the smallest standard deviation that makes one release of sensitivity 1/n
        (epsilon, delta)-private, whatever epsilon is (BAI-E9).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task, Trial
from dpbandits.algorithms.best_arm.budget import require_delta, require_epsilon, sensitivity_of
from dpbandits.algorithms.best_arm.means import (
    INTERPRETATIONS,
    Elimination,
    play_elimination,
    require_elimination,
    schedule_of,
)
from dpbandits.algorithms.best_arm.phases import GAUSSIAN, SILENT
from dpbandits.algorithms.best_arm.textbook import eliminate_by_means
from dpbandits.privacy.gaussian import eta_from
from dpbandits.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Parameters:
    """Privacy parameters ``epsilon`` (> 0; infinity for no noise) and ``delta`` in (0, 1)."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Raise InputError unless epsilon is positive and delta strictly between 0 and 1."""
        require_epsilon("dp-bai-gauss", self.epsilon)
        require_delta("dp-bai-gauss", self.delta)


def noise_multiplier(epsilon: float, delta: float, calibration: str = "classical") -> float:
    """Return the noise's standard deviation on a release of sensitivity 1 (Algorithm 2, BAI-E9).

    Args:
        epsilon: above 0; for infinity there is no noise.
        delta: strictly between 0 and 1.
        calibration: ``classical`` or ``analytic``.
    """
    if math.isinf(epsilon):
        return 0.0
    if calibration == "analytic":
        return 1.0 / eta_from(epsilon, delta)
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def _scale(task: Task) -> float:
    parameters = task.parameters
    multiplier = noise_multiplier(
        float(parameters.epsilon), float(parameters.delta), task.interpretations["calibration"]
    )
    return sensitivity_of(task) * multiplier


def _rules(task: Task) -> Elimination:
    return Elimination(
        schedule_of(task),
        collections=True,
        rounding=task.interpretations["rounding"],
        pooled=task.interpretations["samples"] == "pooled",
        noise=SILENT if math.isinf(task.parameters.epsilon) else GAUSSIAN,
        scale=_scale(task),
    )


def require(task: Task) -> None:
    """Raise InputError where T' <= 0, unless a random arm is to be returned then."""
    require_elimination("dp-bai-gauss", task, _rules(task))


def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Play a block of trials."""
    return play_elimination("dp-bai-gauss", task, _rules(task), generator, trials)


def reference(task: Task, generator: np.random.Generator) -> Trial:
    """Play one trial, line by line."""
    require(task)
    scale = _scale(task)

    def noise(n: int) -> float:
        return scale / n * generator.standard_normal() if scale else 0.0

    return eliminate_by_means(task, generator, schedule_of(task), noise, collections=True)


def guarantee(parameters: Parameters, budget: int) -> Guarantee:
    """Return (epsilon, delta)-DP, as Proposition D.2 states it, or none where there is no noise.

    It is proved for epsilon < 1 with the classical calibration, for any epsilon with the analytic.
    """
    if math.isinf(parameters.epsilon):
        return Guarantee("none")
    return Guarantee("approximate", parameters.epsilon, slack=parameters.delta)


ALGORITHM = IdentificationAlgorithm(
    id="dp-bai-gauss",
    name="DP-BAI-Gauss",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), Algorithm 2",
    parameters=Parameters,
    require=require,
    play=play,
    reference=reference,
    guarantee=guarantee,
    example={"epsilon": 0.5, "delta": 0.01},
    interpretations={**INTERPRETATIONS, "calibration": ("classical", "analytic")},
)
