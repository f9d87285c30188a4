"""The comparison with the reference notices every changed constant of every kernel.

A kernel's source is run as plain Python, compilation taken off. Unchanged it must agree with the
reference on all scenarios (the null control); with one constant or operator changed it must differ
on at least one of them.
"""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import dpbandits
from dpbandits.algorithms import REGRET, dp_se
from dpbandits.bandits import Bandit
from support import Decision, kernel_decisions, settings_of


@dataclass(frozen=True)
class Scenario:
    """One run on which kernel and reference are compared."""

    bandit: Bandit
    horizon: int
    parameters: tuple[tuple[str, Any], ...] = ()
    readings: tuple[tuple[str, str], ...] = ()
    seed: int = 1


EXPONENTIAL = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])
BERNOULLI = dpbandits.bernoulli([0.75, 0.625, 0.5])
EQUAL = dpbandits.bernoulli([0.5, 0.5])
SEQUENTIAL = (("order", "sequential"),)


def prepared(algorithm: str, scenario: Scenario) -> tuple[Any, Bandit, np.random.Generator]:
    told = settings_of(
        REGRET[algorithm],
        dict(scenario.parameters),
        dict(scenario.readings),
        scenario.bandit,
        scenario.horizon,
    )
    return told, scenario.bandit, np.random.default_rng(scenario.seed)


def close_calls(epsilon: float, gap: float, epoch: int, horizon: int, seeds: int) -> list[Scenario]:
    """Return runs of DP-SE on two arms whose elimination in an epoch hangs by a hair.

    Of the given number of seeds, the three on which the arm lags by least more than the allowance
    2h + 2c, and the three on which by least less: there every constant of the rule decides.
    """
    algorithm, bandit = REGRET["dp-se"], dpbandits.bernoulli([0.5 + gap, 0.5])
    scenario = Scenario(bandit, horizon, (("epsilon", epsilon),))
    told, _, _ = prepared("dp-se", scenario)
    pulls, allowance = zip(
        *(dp_se._reference_epoch(told, e, 2) for e in range(1, epoch + 1)), strict=True
    )
    rounds = 2 * sum(pulls)
    chunks = np.empty(rounds, np.int64), np.empty(rounds, np.int64), np.empty(rounds)
    excess = {}
    for seed in range(seeds):
        state, generator = algorithm.state(2), np.random.default_rng(seed)
        algorithm.advance(told, state, bandit.laws, bandit.law_parameters, generator, *chunks)
        if state.epoch[0] == epoch:
            excess[seed] = abs(state.sums[0] - state.sums[1]) - allowance[-1]
    ordered = sorted(excess, key=excess.__getitem__)
    kept = sum(lag <= 0 for lag in excess.values())
    assert 3 <= kept <= len(ordered) - 3, "both outcomes occur"
    return [replace(scenario, seed=seed) for seed in ordered[kept - 3 : kept + 3]]


@cache
def scenarios() -> dict[str, list[Scenario]]:
    """Return the runs of each algorithm, long ones last."""
    return {
        "ts-gaussian": [
            Scenario(EXPONENTIAL, 600),
            Scenario(EXPONENTIAL, 600, readings=(("count", "n"),)),
        ],
        "m-ts-gaussian": [
            Scenario(EXPONENTIAL, 600, (("b", 7), ("c", 1.5))),
            Scenario(EXPONENTIAL, 600, (("b", 0), ("c", 3.0)), (("count", "n"),)),
        ],
        "dp-se": [
            Scenario(BERNOULLI, 5000, (("epsilon", 1.0),), SEQUENTIAL),
            Scenario(BERNOULLI, 5000, (("epsilon", 0.05),), SEQUENTIAL),
            *close_calls(epsilon=0.5, gap=0.156, epoch=1, horizon=4000, seeds=3000),
            # Two whole epochs and more, as long as the first, then the second term of R.
            Scenario(EQUAL, 11_000, (("epsilon", 1.0),), SEQUENTIAL),
            Scenario(EQUAL, 30_000, (("epsilon", 0.03),), SEQUENTIAL),
            *close_calls(epsilon=0.5, gap=0.07, epoch=2, horizon=18_000, seeds=1000),
        ],
        "anytime-lazy-ucb": [
            Scenario(EXPONENTIAL, 1500, (("epsilon", 0.5),)),
            Scenario(dpbandits.bernoulli([0.95, 0.5, 0.05]), 4000, (("epsilon", 100.0),)),
            Scenario(EXPONENTIAL, 6000, (("epsilon", 20.0),)),
            Scenario(
                BERNOULLI, 1500, (("epsilon", 5.0),), (("log", "natural"), ("constants", "4,5"))
            ),
        ],
        "ucb1": [
            Scenario(EXPONENTIAL, 1500),
            Scenario(BERNOULLI, 1500, readings=(("clock", "coming"),)),
        ],
        "dp-ts-ucb": [
            Scenario(EXPONENTIAL, 1500, (("alpha", 0.9),)),
            Scenario(BERNOULLI, 3000, (("alpha", 1.0),)),
            Scenario(EXPONENTIAL, 600, (("alpha", 1.0),), (("renewal", "pull"),)),
        ],
        "lazy-dp-ts": [
            Scenario(EXPONENTIAL, 1500, (("epsilon", 20.0),)),
            Scenario(BERNOULLI, 1500, (("epsilon", 5.0),), (("log", "base2"),)),
            Scenario(dpbandits.bernoulli([0.95, 0.5, 0.05]), 1500, (("epsilon", 100.0),)),
        ],
        "dp-ts": [
            Scenario(EXPONENTIAL, 1500, (("epsilon", 200.0),)),
            Scenario(BERNOULLI, 1500, (("epsilon", 50.0),), (("log", "natural"),)),
            # The first rounds, where the logarithm of t + 1 and of t + 2 are apart.
            *(Scenario(EXPONENTIAL, 60, (("epsilon", 300.0),), seed=seed) for seed in range(20)),
        ],
    }


EQUIVALENT = {
    # A default that the loop over the arms always overwrites.
    "arm = 0": {
        *("ts-gaussian", "m-ts-gaussian", "anytime-lazy-ucb", "ucb1"),
        *("dp-ts-ucb", "lazy-dp-ts", "dp-ts"),
    },
    # Two is as true as one.
    "frozen = True": {"dp-ts-ucb"},
    # All sums of an epoch begin at the same number, and only their differences decide.
    "state.sums[:] = 0.0": {"dp-se"},
}
"""Statements whose constants may change without a change of decisions, and where they stand."""

OPERATORS = [
    ("ts-gaussian", "theta > largest", "theta < largest"),
    ("ts-gaussian", "settings.variance_factor / count", "settings.variance_factor / (count + 1)"),
    ("m-ts-gaussian", "t < pre_pull_rounds", "t <= pre_pull_rounds"),
    ("m-ts-gaussian", "forced_pulls * laws.size", "forced_pulls * (laws.size - 1)"),
    ("m-ts-gaussian", "t // settings.forced_pulls", "t % laws.size"),
    ("m-ts-gaussian", "pulls[i] + settings.prior_count", "pulls[i] + 2 * settings.prior_count"),
    ("m-ts-gaussian", "math.sqrt(settings.variance_factor / count)", "settings.variance_factor"),
    ("m-ts-gaussian", "state.reward_sums[i] / count", "state.reward_sums[i] / (count + 1)"),
    ("m-ts-gaussian", "state.reward_sums[arm] += reward", "state.reward_sums[arm] = reward"),
    ("dp-se", "2.0**-epoch", "2.0 ** -(epoch + 1)"),
    ("dp-se", "32 * log8 / gap**2", "32 * log4 / gap**2"),
    ("dp-se", "8 * log4 / (settings.epsilon", "8 * log8 / (settings.epsilon"),
    ("dp-se", "max(32", "min(32"),
    ("dp-se", "log8 / (2 * pulls)", "log4 / (2 * pulls)"),
    ("dp-se", "2 * log4 / (pulls", "2 * log8 / (pulls"),
    ("dp-se", "<= width", ">= width"),
    ("dp-se", "1.0 / (settings.epsilon * pulls)", "1.0 / settings.epsilon"),
    ("dp-se", "% active_arms", "% (active_arms + 1) % active_arms"),
    ("dp-se", "if settings.sequential", "if not settings.sequential"),
    ("anytime-lazy-ucb", "math.sqrt(settings.width_constant * log_t / count)", "0.0"),
    ("anytime-lazy-ucb", "settings.noise_constant * log_t", "settings.noise_constant"),
    ("anytime-lazy-ucb", "(settings.epsilon * count)", "settings.epsilon"),
    ("anytime-lazy-ucb", "+ width + noise", "+ width - noise"),
    ("anytime-lazy-ucb", "index > largest", "index >= largest and i != 1"),
    ("anytime-lazy-ucb", "state.buffer_sums[arm] += reward", "state.buffer_sums[arm] = reward"),
    ("anytime-lazy-ucb", "noisy_sum / count", "noisy_sum / (count + 1)"),
    ("ucb1", "doubled_log / count", "doubled_log / (count + 1)"),
    ("ucb1", "math.sqrt(doubled_log / count)", "doubled_log / count"),
    ("ucb1", "t + settings.clock_offset", "t + 1 + settings.clock_offset"),
    ("dp-ts-ucb", "math.sqrt(settings.variance / counts[i])", "settings.variance / counts[i]"),
    ("dp-ts-ucb", "settings.variance / counts[i]", "settings.variance / (counts[i] + 1)"),
    ("dp-ts-ucb", "reward_sums[i] / counts[i] +", "reward_sums[i] / (counts[i] + 1) +"),
    ("dp-ts-ucb", "max(largest_draws[i], theta)", "theta"),
    ("dp-ts-ucb", "theta = largest_draws[i]", "theta = reward_sums[i] / counts[i]"),
    ("dp-ts-ucb", "theta > largest:", "theta < largest:"),
    ("dp-ts-ucb", "if frozen and not", "if not frozen and not"),
    ("dp-ts-ucb", "and not settings.renewed_by_pull", "and settings.renewed_by_pull"),
    ("dp-ts-ucb", "or settings.renewed_by_pull", "and not settings.renewed_by_pull"),
    ("dp-ts-ucb", " - state.waiting[arm], settings", ", settings"),
    ("dp-ts-ucb", "settings.horizon - t)", "settings.horizon)"),
    ("dp-ts-ucb", "== 2 * state.counts[arm]", "== 3 * state.counts[arm]"),
    ("dp-ts-ucb", "state.waiting_sums[arm] += rewards", "state.waiting_sums[arm] = rewards"),
    ("dp-ts-ucb", "= state.waiting_sums[arm]", "+= state.waiting_sums[arm]"),
    ("dp-ts-ucb", "= settings.reset", "= settings.variance"),
    ("dp-ts-ucb", "t += length", "t += 1"),
    ("lazy-dp-ts", "(settings.epsilon * count)", "settings.epsilon"),
    ("lazy-dp-ts", "private_means[i] + 3.0", "private_means[i] - 3.0"),
    ("lazy-dp-ts", "3.0 * log_t", "3.0"),
    ("lazy-dp-ts", "min(max(raised, 0.0), 1.0)", "raised"),
    ("lazy-dp-ts", "mean * count + 1.0, (1.0 - mean)", "(1.0 - mean) * count + 1.0, mean"),
    ("lazy-dp-ts", "theta > largest", "theta < largest"),
    ("lazy-dp-ts", "state.buffer_sums[arm] += reward", "state.buffer_sums[arm] = reward"),
    ("lazy-dp-ts", "noisy_sum / count", "noisy_sum / (count + 1)"),
    ("dp-ts", "math.sqrt(8.0) * log_count", "math.sqrt(8.0 * log_count)"),
    ("dp-ts", "(settings.epsilon * count)", "settings.epsilon"),
    ("dp-ts", "min(max(private_means[i] + shift, 0.0), 1.0)", "private_means[i] + shift"),
    ("dp-ts", "mean * count + 1.0, (1.0 - mean)", "(1.0 - mean) * count + 1.0, mean"),
    ("dp-ts", "theta > largest", "theta < largest"),
    ("dp-ts", "+= state.epoch_sums[arm] + laplace", "= state.epoch_sums[arm] + laplace"),
    ("dp-ts", "position == 2**levels", "position > 2**levels"),
    ("dp-ts", "laplace(levels * scale, generator)", "laplace(scale, generator)"),
    ("dp-ts", "noise[:] = 0.0", "noise[0] = 0.0"),
    ("dp-ts", "noisy_sum += noise[level]", "noisy_sum = noise[level]"),
    ("dp-ts", "range(levels)", "range(levels - 1)"),
    ("dp-ts", "noisy_sum / state.pulls[arm]", "noisy_sum / (state.pulls[arm] + 1)"),
]
"""(algorithm, text of its kernel, changed text); every text stands there once."""


def kernel_functions(algorithm: str) -> dict[str, Callable[..., Any]]:
    """Return the kernel and the compiled helpers of its file, compilation taken off."""
    module = importlib.import_module(REGRET[algorithm].advance.__module__)
    return {
        name: value.py_func
        for name, value in vars(module).items()
        if isinstance(value, CPUDispatcher) and value.py_func.__module__ == module.__name__
    }


def kernel_source(algorithm: str) -> str:
    """Return their source without the decorators."""
    sources = (inspect.getsource(each) for each in kernel_functions(algorithm).values())
    text = "\n\n".join(textwrap.dedent(each) for each in sources)
    return "\n".join(line for line in text.splitlines() if not line.startswith("@numba."))


def executed(algorithm: str, source: str) -> Callable[..., int]:
    """Run the source in its module's names, imported helpers uncompiled too; return ``advance``."""
    module = importlib.import_module(REGRET[algorithm].advance.__module__)
    names = {key: getattr(value, "py_func", value) for key, value in vars(module).items()}
    exec(compile(source, f"<{algorithm}>", "exec"), names)
    advance: Callable[..., int] = names["advance"]
    return advance


@cache
def reference_decisions(algorithm: str, number: int) -> list[Decision]:
    scenario = scenarios()[algorithm][number]
    return list(REGRET[algorithm].reference(*prepared(algorithm, scenario)))


def agrees(algorithm: str, advance: Callable[..., int], number: int) -> bool:
    """Tell whether a run of ``advance`` takes the reference's decisions; it stops where it fails.

    A kernel that steps over the end of an array, divides by zero, or draws from a law that does
    not exist, differs too.
    """
    run = prepared(algorithm, scenarios()[algorithm][number])
    expected = reference_decisions(algorithm, number)
    position = 0
    try:
        for decision in kernel_decisions(REGRET[algorithm], *run, 256, advance):
            if position == len(expected) or decision != expected[position]:
                return False
            position += 1
    except (IndexError, ZeroDivisionError, ValueError, RuntimeWarning):
        return False
    return position == len(expected)


def agrees_everywhere(algorithm: str, source: str) -> bool:
    advance = executed(algorithm, source)
    return all(agrees(algorithm, advance, i) for i in range(len(scenarios()[algorithm])))


def statement_of(tree: ast.Module, node: ast.Constant) -> str:
    """Return the source of the innermost statement that a constant stands in."""
    around = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.stmt) and any(inner is node for inner in ast.walk(each))
    ]
    return ast.unparse(around[-1]).splitlines()[0]


def changed_constants(algorithm: str) -> Iterator[Any]:
    """Yield the kernel's source with one number raised by one, for each of its numbers."""
    tree = ast.parse(kernel_source(algorithm))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            statement = statement_of(tree, node)
            if algorithm in EQUIVALENT.get(statement, ()):
                continue
            original = node.value
            node.value = original + 1
            name = f"{algorithm}: {original} in {statement}"
            yield pytest.param(algorithm, ast.unparse(tree), id=name)
            node.value = original


CONSTANTS = [case for algorithm in REGRET for case in changed_constants(algorithm)]


@pytest.mark.parametrize("algorithm", REGRET)
def test_unchanged_source_agrees(algorithm: str) -> None:
    assert agrees_everywhere(algorithm, kernel_source(algorithm))
    assert agrees_everywhere(algorithm, ast.unparse(ast.parse(kernel_source(algorithm))))


@pytest.mark.parametrize(("algorithm", "source"), CONSTANTS)
def test_changed_constant_is_noticed(algorithm: str, source: str) -> None:
    assert not agrees_everywhere(algorithm, source)


@pytest.mark.parametrize(("algorithm", "old", "new"), OPERATORS)
def test_changed_operator_is_noticed(algorithm: str, old: str, new: str) -> None:
    source = kernel_source(algorithm)
    assert source.count(old) == 1, f"{old!r} stands there {source.count(old)} times"
    assert not agrees_everywhere(algorithm, source.replace(old, new))


def test_every_algorithm_is_changed() -> None:
    assert set(scenarios()) == set(REGRET) == {algorithm for algorithm, _, _ in OPERATORS}
    for statement, algorithms in EQUIVALENT.items():
        for algorithm in algorithms:
            tree = ast.parse(kernel_source(algorithm))
            assert statement in {ast.unparse(each) for each in ast.walk(tree)}
