"""OD-LinBAI (Yang and Tan, NeurIPS 2022), without privacy.

Rounds of elimination with a budget fixed in advance: a G-optimal design on the active arms, least
squares on the round's own rewards, and the ceil(d_0 / 2^r) best arms stay, d_0 being the rank of
all features. Definition as recovered from public implementations (DP-BAI specification, 2.6).

The dimension is reduced to the span of the active arms where that is not the whole space.

Interpretations:
    design_rounding: ``ceiling``, ceil(w_i m) pulls with the m of the specification; ``efficient``,
        floor(T/R) pulls a round, the last one getting the rest, apportioned so that they sum to it.
    ties: equal estimates are ranked by the arm's ``index`` or at ``random``.
    small_budget: where m <= 0, or floor(T/R) is below the most arms that a design may need,
        ``raise`` an error or return a ``random`` arm without pulls.
"""

from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task, Trial
from dpbandits.algorithms.best_arm.regression import (
    INTERPRETATIONS,
    Regression,
    play_regression,
    require_regression,
)
from dpbandits.algorithms.best_arm.textbook import eliminate_by_regression
from dpbandits.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Parameters:
    """OD-LinBAI has no parameters."""


def require(task: Task) -> None:
    """Raise InputError where the budget is too small, unless a random arm is to be returned."""
    require_regression("od-linbai", task)


def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
    """Play a block of trials."""
    return play_regression("od-linbai", task, Regression(), generator, trials)


def reference(task: Task, generator: np.random.Generator) -> Trial:
    """Play one trial, line by line."""
    require(task)
    return eliminate_by_regression(task, generator, None)


def guarantee(parameters: Parameters, budget: int) -> Guarantee:
    """OD-LinBAI gives no privacy guarantee."""
    return Guarantee("none")


ALGORITHM = IdentificationAlgorithm(
    id="od-linbai",
    name="OD-LinBAI",
    paper="Yang and Tan (NeurIPS 2022)",
    parameters=Parameters,
    require=require,
    play=play,
    reference=reference,
    guarantee=guarantee,
    example={},
    interpretations=INTERPRETATIONS,
)
