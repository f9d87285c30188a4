"""The comparison with the reference notices every changed constant of the best-arm eliminations.

The modules that play are run from their sources as plain Python, compilation taken off. Unchanged
they must agree with the reference on all scenarios, and with the compiled code on blocks of trials
(the null control); with one constant or operator of a function changed they must differ on at
least one.
"""

import ast
import importlib
import inspect
import re
import types
from functools import cache
from typing import Any

import numpy as np
import pytest

from best_arm_trials import assert_agreement, task_for
from dpbandits.algorithms import IDENTIFICATION
from dpbandits.algorithms.base import Outcome, Task
from dpbandits.bandits import LinearBandit, linear
from dpbandits.papers.dp_bai.instances import sphere
from mutations import Fault, faults, number_edits, operator_edits

BLOCK = 8
"""Trials in a block; of several phases, so that they are played in groups."""

PACKAGE = "dpbandits.algorithms"
USERS = {
    "phases": ("play_plan", ("best_arm.means", "best_arm.regression")),
    "means": ("play_elimination", ("dp_bai", "dp_bai_gauss", "baseline", "sequential_halving")),
    "regression": ("play_regression", ("od_linbai", "dp_od")),
}
"""Module -> the function that others take from it, and who they are."""

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
SCENARIOS = {"phases": MEANS + REGRESSIONS, "means": MEANS, "regression": REGRESSIONS}

EQUIVALENT = {
    # A number that is not used.
    "least = np.sort(keys[tied])[tied.sum() - places] if keys.size else 0.0",
    # Arrays that are not used where they are empty.
    "totals = np.zeros(pulls.shape if plan.pooled else (0, 0))",
    # Both have one length.
    "True: return list(zip(sets, np.split(order, ends), strict=True))",
    # No scenario has a budget that is refused for one pull; `test_best_arm_algorithms.py` has.
    "Add: require_budget(owner, task, _reserved(rules, task) + 1)",
    # Rounding to a budget that is no whole number would not end.
    "Mult: return efficient_counts(weights, task.budget - number * each if last else each)",
    # Of two rounds at most.
    "Pow: later = tuple((-(-rank // 2 ** each) for each in range(1, number + 1)))",
}
"""Statements, or faults in them, that change no decision."""


def source_of(module: str) -> str:
    found = importlib.import_module(f"{PACKAGE}.best_arm.{module}")
    return re.sub(r"^@njit.*\n", "", inspect.getsource(found), flags=re.MULTILINE)


def described(outcome: Outcome) -> tuple[Any, ...]:
    phases = [phase.estimates.tolist() for phase in outcome.first.phases]
    arrays = outcome.recommended, outcome.pulls, outcome.exact
    return *(each.tolist() for each in arrays), phases


@cache
def unchanged(module: str) -> list[tuple[Any, ...]]:
    """Return the blocks of the unchanged code."""
    return [
        described(IDENTIFICATION[name].play(task, np.random.default_rng(seed), BLOCK))
        for name, task, seed in SCENARIOS[module]
    ]


def agrees(module: str, source: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Tell whether eliminations played by the source agree with the reference in all scenarios.

    One that ends in any error differs too.
    """
    entry, users = USERS[module]
    unchanged(module)
    played = types.ModuleType(f"{PACKAGE}.best_arm.{module}")
    exec(compile(source, f"<{module}>", "exec"), vars(played))
    with monkeypatch.context() as patch:
        for user in users:
            patch.setattr(importlib.import_module(f"{PACKAGE}.{user}"), entry, vars(played)[entry])
        try:
            for number, (name, task, seed) in enumerate(SCENARIOS[module]):
                assert_agreement(name, task, seed)
                found = IDENTIFICATION[name].play(task, np.random.default_rng(seed), BLOCK)
                assert described(found) == unchanged(module)[number]
        except Exception:
            return False
    return True


FAULTS = [
    pytest.param(module, fault, id=f"{module}: {fault}")
    for module in USERS
    for edits in (number_edits, operator_edits)
    for fault in faults(source_of(module), edits)
    if not fault.is_among(EQUIVALENT)
]


@pytest.mark.parametrize("module", USERS)
def test_unchanged_source_agrees(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(module, source_of(module), monkeypatch)
    assert agrees(module, ast.unparse(ast.parse(source_of(module))), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "fault"), FAULTS)
def test_a_fault_is_noticed(module: str, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not agrees(module, fault.source, monkeypatch)


def test_exceptions_are_still_there() -> None:
    """Else one would stand for another statement, or for none."""
    found = [
        fault
        for module in USERS
        for edits in (number_edits, operator_edits)
        for fault in faults(source_of(module), edits)
    ]
    assert {name for fault in found for name in (fault.line, str(fault))} >= EQUIVALENT
