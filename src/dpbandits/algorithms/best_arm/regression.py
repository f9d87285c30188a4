"""Eliminations by regression on an optimal design: OD-LinBAI and its private version DP-OD."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Outcome, Task
from dpbandits.algorithms.best_arm.budget import TIES_AND_BUDGET, random_outcome, require_budget
from dpbandits.algorithms.best_arm.designs import (
    Arms,
    FloatArray,
    efficient_counts,
    geometry_of,
    multiply_rows,
)
from dpbandits.algorithms.best_arm.phases import LAPLACE, SILENT, Plan, Step, play_plan

INTERPRETATIONS = {"design_rounding": ("ceiling", "efficient"), **TIES_AND_BUDGET}
"""Interpretations of OD-LinBAI, which DP-OD shares."""

ROUND_OFF = 1e-9
"""What a share of the pulls may exceed a whole number by and still not be rounded up."""


@dataclass(frozen=True)
class Regression:
    """The rules of an elimination by regression.

    Attributes:
        epsilon: privacy parameter; infinite: no noise.
        norm: order of the norm that bounds the features (BAI-E8).
        norm_over: ``all`` features as given, those of the ``active`` arms, or the ``reduced``
            coordinates of the active arms (BAI-E8).
        basis: ``orthonormal`` or ``features`` (BAI-E14).
        largest_reward: upper end that rewards are taken to have (BAI-E7).
    """

    epsilon: float = math.inf
    norm: int = 2
    norm_over: str = "all"
    basis: str = "orthonormal"
    largest_reward: float = 1.0


@dataclass(frozen=True)
class Rounds:
    """How the budget is spread over the rounds (Yang and Tan, 2022).

    Attributes:
        sizes: K, ceil(d_0/2), ceil(d_0/4), ..., 1, d_0 being the rank of the features.
        reserved: pulls set aside for rounding up.
        support: min(K, d_0 (d_0 + 1)/2), the most arms that a design has to pull.
    """

    sizes: tuple[int, ...]
    reserved: int
    support: int

    @property
    def number(self) -> int:
        """R = max(1, ceil(log2 d_0))."""
        return len(self.sizes) - 1


def rounds_of(arms: int, rank: int) -> Rounds:
    """Return the rounds for K arms whose features have rank d_0 (Yang and Tan, 2022)."""
    number = max(1, (rank - 1).bit_length())
    later = tuple(-(-rank // 2**each) for each in range(1, number + 1))
    support = min(arms, rank * (rank + 1) // 2)
    return Rounds((arms, *later), support + sum(later[:-1]), support)


def _smallest_budget(task: Task, rounds: Rounds) -> int:
    """Return the smallest budget with m > 0, or with enough pulls a round for any design."""
    if task.interpretations["design_rounding"] == "efficient":
        return rounds.number * rounds.support
    return rounds.reserved + 1


def _rounds(task: Task) -> Rounds:
    return rounds_of(len(task.bandit.arms), geometry_of(task.bandit.features).rank)


def require_regression(owner: str, task: Task) -> None:
    """Raise InputError for a budget with m <= 0; where counts sum to T/R, one below the support of
    a design.

    Raises:
        InputError: It is too small, and the interpretation ``small_budget`` is ``raise``.
    """
    require_budget(owner, task, _smallest_budget(task, _rounds(task)))


def _counts(task: Task, rounds: Rounds, number: int, weights: FloatArray) -> NDArray[np.int64]:
    if task.interpretations["design_rounding"] == "ceiling":
        pulls = (task.budget - rounds.reserved) / rounds.number
        return np.ceil(weights * pulls - ROUND_OFF).astype(np.int64)
    each = task.budget // rounds.number
    last = number == rounds.number - 1
    return efficient_counts(weights, task.budget - number * each if last else each)


def _scale(task: Task, rules: Regression, active: Arms, coordinates: FloatArray) -> float:
    """Return L/epsilon (dp-bai, Appendix E.1)."""
    features = task.bandit.feature_matrix
    normed = {"all": features, "active": features[active], "reduced": coordinates}[rules.norm_over]
    lengths = np.linalg.norm(normed, ord=rules.norm, axis=1)
    return float(lengths.max(initial=0.0)) * rules.largest_reward / rules.epsilon


def play_regression(
    owner: str, task: Task, rules: Regression, generator: np.random.Generator, trials: int
) -> Outcome:
    """Play a block of trials (Yang and Tan, 2022 and dp-bai, Appendix E.1).

    Raises:
        InputError: As ``require_regression``.
    """
    require_regression(owner, task)
    rounds, geometry = _rounds(task), geometry_of(task.bandit.features)
    if task.budget < _smallest_budget(task, rounds):
        return random_outcome(task, generator, trials)

    def step(number: int, active: Arms) -> Step:
        coordinates, weights = geometry.regressors(active, rules.basis)
        counts = _counts(task, rounds, number, weights)
        pulled = counts > 0
        chosen = coordinates[pulled]
        inverse = np.linalg.inv((chosen.T * counts[pulled]) @ chosen)
        return Step(
            active[pulled],
            counts[pulled],
            _scale(task, rules, active, coordinates),
            released=np.ascontiguousarray(chosen.T),
            coefficients=multiply_rows(coordinates, inverse),
        )

    noise = SILENT if math.isinf(rules.epsilon) else LAPLACE
    ties = task.interpretations["ties"] == "random"
    plan = Plan(rounds.sizes, step, noise, random_ties=ties)
    return play_plan(plan, task.bandit, generator, trials)
