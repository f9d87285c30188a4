"""DP-OD (Chen, Karthik, Chee and Tan, ICLR 2024, appendix E): OD-LinBAI with private regressions.

Before each regression every coordinate of the sum of features times rewards is given Laplace noise
of scale L/epsilon, L being the largest norm of a feature. The noise lives in the coordinates of
the round, which are the original axes where the active arms span the whole space.

Interpretations, beside those of OD-LinBAI (``od_linbai``):
    norm: ``l2``, as is usual for a norm without index, or ``l1``, which the proof of privacy needs
        where pulled features do not lie on the axes (BAI-E8).
    norm_over: ``all`` features; those of the ``active`` arms; or the ``reduced`` coordinates of
        the active arms (BAI-E8).
    basis: of the span of the active features where it is not the whole space, ``orthonormal`` or
        made of as many independent ``features`` (BAI-E14).
    sensitivity: rewards are taken to be at most 1 (``unit``), or the noise is scaled by the
        largest reward that the instance can pay (``support``; BAI-E7).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task, Trial
from dpbandits.algorithms.best_arm.budget import pure_guarantee, require_epsilon, sensitivity_of
from dpbandits.algorithms.best_arm.designs import FloatArray
from dpbandits.algorithms.best_arm.regression import (
    INTERPRETATIONS,
    Regression,
    play_regression,
    require_regression,
)
from dpbandits.algorithms.best_arm.textbook import RegressionNoise, eliminate_by_regression
from dpbandits.bandits.draws import laplace
from dpbandits.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Parameters:
    """Privacy parameter ``epsilon`` (> 0; infinity for no noise)."""

    epsilon: float

    def __post_init__(self) -> None:
        """Raise InputError unless epsilon is positive."""
        require_epsilon("dp-od", self.epsilon)


def _rules(task: Task) -> Regression:
    return Regression(
        epsilon=float(task.parameters.epsilon),
        norm={"l1": 1, "l2": 2}[task.interpretations["norm"]],
        norm_over=task.interpretations["norm_over"],
        basis=task.interpretations["basis"],
        largest_reward=sensitivity_of(task),
    )


def require(task: Task) -> None:
    """Raise InputError where the budget is too small, unless a random arm is to be returned."""
    require_regression("dp-od", task)


def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Play a block of trials."""
    return play_regression("dp-od", task, _rules(task), generator, trials)


def reference(task: Task, generator: np.random.Generator) -> Trial:
    """Play one trial, line by line."""
    require(task)
    epsilon, interpretations, features = (
        task.parameters.epsilon,
        task.interpretations,
        task.bandit.features,
    )

    def norm(vector: tuple[float, ...]) -> float:
        return math.hypot(*vector) if interpretations["norm"] == "l2" else sum(map(abs, vector))

    def scale(active: list[int], coordinates: FloatArray) -> float:
        normed = list(features)
        if interpretations["norm_over"] == "active":
            normed = [features[arm] for arm in active]
        if interpretations["norm_over"] == "reduced":
            normed = [tuple(row) for row in coordinates.tolist()]
        return max(map(norm, normed)) * sensitivity_of(task) / float(epsilon)

    def draw(size: float) -> float:
        return float(laplace.py_func(size, generator))

    noise = RegressionNoise(draw, scale, interpretations["basis"])
    return eliminate_by_regression(task, generator, None if math.isinf(epsilon) else noise)


def guarantee(parameters: Parameters, budget: int) -> Guarantee:
    """Pure epsilon-DP, as the paper states it."""
    return pure_guarantee(parameters.epsilon)


ALGORITHM = IdentificationAlgorithm(
    id="dp-od",
    name="DP-OD",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), appendix E",
    parameters=Parameters,
    require=require,
    play=play,
    reference=reference,
    guarantee=guarantee,
    example={"epsilon": 1.0},
    interpretations={
        **INTERPRETATIONS,
        "norm": ("l2", "l1"),
        "norm_over": ("all", "active", "reduced"),
        "basis": ("orthonormal", "features"),
        "sensitivity": ("unit", "support"),
    },
)
