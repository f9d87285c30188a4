"""Sequential Halving (Karnin, Koren and Somekh, ICML 2013), without privacy.

ceil(log2 K) rounds; in each, every surviving arm is pulled max(1, floor(T / (s ceil(log2 K))))
times, s being their number, and the ceil(s/2) best stay. Rewards are not used again. Source of the
rounding: the DP-BAI specification, 7.1 (C20). Features are not used.

Interpretations:
    ties: equal means are ranked by the arm's ``index`` or at ``random``.
    small_budget: with a budget of 0, ``raise`` an error or return a ``random`` arm. Any other
        budget is played, one pull an arm if need be, and may then be exceeded.
"""

from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Phase, Task, Trial
from dpbandits.algorithms.best_arm.budget import TIES_AND_BUDGET, random_trial
from dpbandits.algorithms.best_arm.means import Elimination, play_elimination, require_elimination
from dpbandits.algorithms.best_arm.schedule import halving_schedule
from dpbandits.algorithms.best_arm.textbook import best, keys_for, phase_of
from dpbandits.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Parameters:
    """Sequential Halving has no parameters."""


def _rules(task: Task) -> Elimination:
    schedule = halving_schedule(len(task.bandit.arms), late_pulls=0)
    return Elimination(schedule, collections=False, rounding="floor")


def require(task: Task) -> None:
    """Raise InputError where the budget is below 1, unless a random arm is to be returned then."""
    require_elimination("sequential-halving", task, _rules(task))


def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Play a block of trials."""
    return play_elimination("sequential-halving", task, _rules(task), generator, trials)


def reference(task: Task, generator: np.random.Generator) -> Trial:
    """Play one trial, line by line."""
    require(task)
    if task.budget < 1:
        return random_trial(task, generator)
    active = list(range(len(task.bandit.arms)))
    rounds = (len(active) - 1).bit_length()
    phases: list[Phase] = []
    for _ in range(rounds):
        s = len(active)
        n = max(1, task.budget // (s * rounds))
        means = [task.bandit.draw_sum(arm, n, generator) / n for arm in active]
        phases.append(phase_of(active, dict.fromkeys(active, n), means))
        active = best(active, means, -(-s // 2), keys_for(task, active, generator))
    return Trial(active[0], tuple(phases))


def guarantee(parameters: Parameters, budget: int) -> Guarantee:
    """Sequential Halving gives no privacy guarantee."""
    return Guarantee("none")


ALGORITHM = IdentificationAlgorithm(
    id="sequential-halving",
    name="Sequential Halving",
    paper="Karnin, Koren and Somekh (ICML 2013)",
    parameters=Parameters,
    require=require,
    play=play,
    reference=reference,
    guarantee=guarantee,
    example={},
    interpretations=TIES_AND_BUDGET,
)
