"""The comparison with the reference notices changed numbers and operators of the eliminations.

``eliminations.py`` is run from its source as plain Python, compilation taken off. Unchanged it must
agree with the reference on all scenarios, and with the compiled code on batches of trials (the null
control); with one number or operator of a function changed it must differ on at least one.
"""

import ast
import inspect
import re
import types
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import IDENTIFICATION, best_arm
from dpbandits.algorithms.base import Outcome, Task
from dpbandits.algorithms.best_arm import eliminations
from dpbandits.bandits import LinearBandit, linear
from dpbandits.papers.dp_bai.instances import sphere
from mutations import faults, number_edits, operator_edits
from support import assert_agreement, task_for

BATCH = 8
"""Trials in a batch; of several phases, so that they are played in groups."""

NOTICED = 0.9
"""Share of the faults that must be noticed. The others decide nothing: numbers that are not used, a
round-off larger than all that there is."""

GRID = 0.25 * np.mgrid[:3, :3, :1].T.reshape(9, 3)
TWINS = [[0.9, 0.4, 0.3], [0.9, 0.4, 0.3], [0.95, 0.4, 0.3]]
CROWD = linear(np.vstack([np.eye(3), TWINS, GRID]), [0.5, 0.3, 0.3], "bernoulli")
"""15 arms in three dimensions, two of them twins, one of no length: four phases, two rounds."""

FLAT = linear(
    [[1, 1, 0], [2, 2, 0], [0.5, 0.5, 0.0], [1.5, 1.5, 0.1], [0, 0, 0.2]], [0.2, 0.2, 0.5]
)
AXES = linear(1.1 * np.eye(5) - 0.1, [0.7, 0.6, 0.6, 0.6, 0.55])
HIGH = linear([[1.0, 0.0], [0.3, 0.4], [0.0, 3.0]], [0.9, 0.2])
LONG = linear(np.diag([0.1, 0.1, 0.1, 0.5]), [6.0, 5.0, 5.0, 0.02])
"""The longest feature belongs to the worst arm, and none is as long as 1."""
SQUARE = linear([[1, 0], [0, 1], [0.5, 0.5], [0.9, 0.2]], [0.5, 0.3])
"""Rank 2, the root of the number of arms."""

EMPTY = linear(np.vstack([np.diag([1, 0.01, 0.01, 0.01]), np.zeros((8, 4))]), [0.5, 0.1, 0.1, 0.1])


def scenario(
    name: str,
    bandit: LinearBandit,
    budget: int,
    seed: int = 1,
    epsilon: float = 1.0,
    **interpretations: str,
) -> tuple[str, Task, int]:
    private = {} if name in ("od-linbai", "sequential-halving") else {"epsilon": epsilon}
    return name, task_for(name, bandit, budget, interpretations, **private), seed


MEANS = [
    *(scenario("dp-bai", CROWD, 200, seed) for seed in range(3)),
    scenario("dp-bai", CROWD, 203, rounding="floor"),
    scenario("dp-bai", CROWD, 60, rounding="fitted"),
    scenario("dp-bai", CROWD, 100, samples="pooled"),
    scenario("dp-bai", CROWD, 100, epsilon=np.inf, ties="random"),
    scenario("dp-bai", FLAT, 20),
    scenario("dp-bai", FLAT, 60, rounding="fitted"),
    scenario("dp-bai", HIGH, 33, sensitivity="support"),
    scenario("dp-bai-gauss", CROWD, 200),
    scenario("baseline", CROWD, 150),
    scenario("baseline", AXES, 40, rounding="fitted"),
    scenario("baseline", AXES, 25, rounding="floor"),
    scenario("sequential-halving", CROWD, 40),
    scenario("sequential-halving", AXES, 3),
    scenario("dp-bai", sphere(), 300),
    # T' = 1 and T' = 0 (Section 3.1: K = 15, d = 3 sets 2 x 3 + 2 x 3 pulls aside; BAI-E3: the
    # phases of
    # the Baseline pull 15 + 4 + 3 + 2 arms, those of DP-BAI on four arms in the plane 4).
    scenario("dp-bai", CROWD, 13),
    *(
        scenario(name, bandit, budget, small_budget="random", rounding="fitted")
        for name, bandit, budgets in (("baseline", CROWD, (25, 24)), ("dp-bai", SQUARE, (5, 4)))
        for budget in budgets
    ),
    scenario("dp-bai", CROWD, 13, small_budget="random"),
    scenario("dp-bai", CROWD, 12, small_budget="random"),
]
REGRESSIONS = [
    *(scenario("od-linbai", CROWD, 70, seed) for seed in range(3)),
    scenario("od-linbai", AXES, 63),
    scenario("od-linbai", AXES, 64, design_rounding="efficient"),
    scenario("od-linbai", FLAT, 20, ties="random"),
    scenario("dp-od", CROWD, 70),
    scenario("dp-od", LONG, 90, epsilon=50.0),
    scenario("dp-od", LONG, 90, epsilon=50.0, norm_over="active"),
    scenario("dp-od", CROWD, 70, norm="l1"),
    scenario("dp-od", AXES, 70, norm_over="active"),
    scenario("dp-od", AXES, 70, norm_over="reduced"),
    scenario("dp-od", AXES, 70, basis="features"),
    scenario("dp-od", HIGH, 33, sensitivity="support"),
    scenario("dp-od", AXES, 70, epsilon=np.inf),
    # A seed with which two arms without features are left.
    scenario("dp-od", EMPTY, 100, 13, epsilon=0.01),
    # Yang and Tan (2022): d_0 = 3 and K = 15: m = (T - 6 - 2)/2; efficient: T/2 at least 6.
    *(scenario("od-linbai", CROWD, budget, small_budget="random") for budget in (9, 8)),
    *(
        scenario("od-linbai", CROWD, budget, small_budget="random", design_rounding="efficient")
        for budget in (12, 11)
    ),
]
SCENARIOS = MEANS + REGRESSIONS

SOURCE = re.sub(r"^@njit.*\n", "", inspect.getsource(eliminations), flags=re.MULTILINE)


def described(outcome: Outcome) -> tuple[Any, ...]:
    phases = [phase.estimates.tolist() for phase in outcome.first.phases]
    arrays = outcome.recommended, outcome.pulls, outcome.exact
    return *(array.tolist() for array in arrays), phases


def batch(name: str, task: Task, seed: int) -> tuple[Any, ...]:
    return described(IDENTIFICATION[name].play(task, np.random.default_rng(seed), BATCH))


@cache
def compiled() -> list[tuple[Any, ...]]:
    return [batch(*scenario) for scenario in SCENARIOS]


def agrees(source: str) -> bool:
    """Whether eliminations played by the source agree with the reference in all scenarios.

    One that ends in any error differs too.
    """
    expected = compiled()
    played = types.ModuleType(eliminations.__name__)
    exec(compile(source, "<eliminations>", "exec"), vars(played))
    with pytest.MonkeyPatch.context() as patch:
        for name in vars(played).keys() & vars(eliminations).keys() & vars(best_arm).keys():
            if not name.startswith("__"):
                patch.setattr(best_arm, name, getattr(played, name))
        try:
            for scenario, block in zip(SCENARIOS, expected, strict=True):
                assert_agreement(*scenario)
                assert batch(*scenario) == block
        except Exception:
            return False
    return True


def test_unchanged_source_agrees() -> None:
    assert agrees(SOURCE)
    assert agrees(ast.unparse(ast.parse(SOURCE)))


@pytest.mark.slow
def test_faults_are_noticed() -> None:
    planted = [fault for edits in (number_edits, operator_edits) for fault in faults(SOURCE, edits)]
    missed = [str(fault) for fault in planted if agrees(fault.source)]
    assert len(planted) > 200
    assert len(missed) <= (1 - NOTICED) * len(planted), "\n".join(missed)
