"""The comparison with the reference notices every changed constant of every kernel.

A kernel's source is run as plain Python, compilation taken off. Unchanged it must agree with the
reference on all scenarios (the null control); with one constant or operator changed it must differ
on at least one of them.
"""

import ast
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


def variant(algorithm: str, name: str, **changes: str) -> tuple[tuple[str, str], ...]:
    """Return the readings of a variant, some of them changed."""
    return tuple(REGRET[algorithm].readings_from(changes, name).items())


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


TWO = dpbandits.bernoulli([0.9, 0.3])
HIGH = dpbandits.bernoulli([1.0] * 10)
TINY = dpbandits.bernoulli([0.05, 0.04, 0.03, 0.02, 0.01])


def gdp_ncb_scenarios() -> list[Scenario]:
    """Return runs whose phase II begins in time, and blocks with and without exceeding noises."""

    def run(
        bandit: Bandit, horizon: int, epsilon: float, name: str = "as-written", **changes: str
    ) -> Scenario:
        readings = variant("gdp-ncb", name, **changes)
        return Scenario(bandit, horizon, (("epsilon", epsilon),), readings)

    no_test = {"stop_test": "off", "start": "carried", "release_log": "base2"}
    wide = {"exploration": "blocks", "threshold": "1600"}
    return [
        run(EXPONENTIAL, 3000, 50.0, threshold="1"),
        run(EXPONENTIAL, 3000, 5.0, threshold="1", refreshed="all"),
        run(BERNOULLI, 3000, 1.0, "as-coded"),
        run(HIGH, 1000, 1.0, refreshed="all", **wide),
        run(BERNOULLI, 3000, 2.0, cap="tenth", pseudo_pull="left-out", root="inside", **no_test),
        run(TINY, 12, 1.0, "as-coded", pseudo_pull="left-out", ties="random"),
        # Private means above 1, and arms pulled once in phase I.
        *(
            replace(run(HIGH, 400, 1.0, "as-coded", start=start), seed=seed)
            for start in ("zeros", "carried")
            for seed in range(10)
        ),
        *(
            run(EXPONENTIAL, 3000, 20.0, threshold="1", stop_test="clean", threshold_log=logs)
            for logs in ("window", "mixed")
        ),
        run(BERNOULLI, 3000, 1.0, "repaired", exploration="blocks"),
        run(TWO, 10**6, 1000.0, **wide),
        run(TWO, 10**6, 1000.0, stop_test="clean", **wide),
        *(replace(run(TWO, 10**7, 0.1, **wide), seed=seed) for seed in range(6)),
        # Phase I ends inside a block; a noise is drawn anew since it exceeds the bound.
        *(
            replace(run(bandit, 10**6, 1e-4, exploration="blocks", threshold="1"), seed=seed)
            for bandit, seed in ((TWO, 8), (HIGH, 2))
        ),
    ]


def adap_ucb_scenarios() -> list[Scenario]:
    """Return runs of the original, of the released code, and of what neither has."""
    other = {"order": "random", "first_h": "half", "log_argument": "2t", "ties": "random"}
    coded = variant("adap-ucb", "as-coded", ties="random")
    return [
        Scenario(EXPONENTIAL, 3000, (("epsilon", 1.0),)),
        *(
            Scenario(EXPONENTIAL, 300, (("epsilon", 5.0),), tuple(other.items()), seed)
            for seed in range(10)
        ),
        *(Scenario(TWO, 200, (("epsilon", 0.05),), coded, seed) for seed in range(3)),
        # The first rounds, where the logarithms of t + 1 and of t + 2 are apart.
        *(Scenario(BERNOULLI, 60, (("epsilon", 5.0),), seed=seed) for seed in range(50)),
    ]


def ncb_scenarios() -> list[Scenario]:
    """Return runs of each end of phase I; with few rounds some arms are not pulled in it."""
    matched = {"phase_one": "root", "log": "window", "ties": "random"}
    return [
        Scenario(EXPONENTIAL, 3000),
        Scenario(EXPONENTIAL, 40_000),
        Scenario(BERNOULLI, 3000, (), variant("ncb", "as-coded")),
        *(
            Scenario(bandit, 100, (), variant("ncb", "as-coded", **matched), seed)
            for seed in range(10)
            for bandit in (TINY, EXPONENTIAL)
        ),
        Scenario(
            dpbandits.bernoulli([1.0, 1.0]),
            100_000,
            (),
            variant("ncb", "as-coded", phase_one="420"),
        ),
    ]


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
            Scenario(EXPONENTIAL, 100, readings=(("first_mean", "zero"),)),
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
        "gdp-ncb": gdp_ncb_scenarios(),
        "adap-ucb": adap_ucb_scenarios(),
        "ncb": ncb_scenarios(),
    }


EQUIVALENT = {
    # A default that the loop over the arms always overwrites.
    "arm = 0": {
        *("ts-gaussian", "m-ts-gaussian", "anytime-lazy-ucb", "ucb1"),
        *("dp-ts-ucb", "lazy-dp-ts", "dp-ts"),
    },
    "arm, largest, second = (0, -math.inf, -math.inf)": {"ncb"},
    # Two is as true as one.
    "frozen = True": {"dp-ts-ucb"},
    "above = True": {"ncb"},
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
    ("ucb1", "and count == 1", "or count == 1"),
    ("ucb1", "mean = 0.0", "mean = 1.0"),
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
    ("gdp-ncb", "explored_sums[arm] += reward", "explored_sums[arm] = reward"),
    ("gdp-ncb", "stops = explored_sums[arm] > window.threshold", "stops = False"),
    ("gdp-ncb", "stops |= noisy_sum > window.threshold", "stops = noisy_sum > window.threshold"),
    ("gdp-ncb", "or t % BLOCK_FROM else", "else"),
    ("gdp-ncb", "longest = min(longest, distance)", "longest = min(longest, distance / 2.0)"),
    ("gdp-ncb", "distance - length < NEAR", "distance < NEAR"),
    ("gdp-ncb", "-math.log1p(-probability)", "probability"),
    ("gdp-ncb", "pulls -= own", "pulls -= 0"),
    ("gdp-ncb", "while noise > bound", "while False"),
    ("gdp-ncb", "bound + window.noise * generator", "window.noise * generator"),
    ("gdp-ncb", "window.threshold - state.explored_sums.max()", "window.threshold"),
    ("gdp-ncb", "exceeds = before < length", "exceeds = False"),
    ("gdp-ncb", "settings.blocks and not settings.refresh_all", "settings.blocks"),
    ("gdp-ncb", "window_logs[0] else log", "window_logs[0] else root_log"),
    ("gdp-ncb", "window_logs[1] else log", "window_logs[1] else root_log"),
    ("gdp-ncb", "root_log if settings.index_window_log else log", "log"),
    ("gdp-ncb", "settings.release_log_factor * log", "log"),
    ("gdp-ncb", "settings.pseudo_pulls - 1", "1 - settings.pseudo_pulls"),
    ("gdp-ncb", "p + width +", "width +"),
    ("gdp-ncb", "/ (epsilon * n) + last", "/ (epsilon * n)"),
    ("gdp-ncb", "stop - t)\n        rewards", "stop)\n        rewards"),
    ("gdp-ncb", "n = state.explored[arm] + length", "n = length"),
    ("gdp-ncb", "state.explored_sums[arm] + rewards +", "rewards +"),
    ("gdp-ncb", "if settings.start == CARRIED:", "if settings.start != CARRIED:"),
    ("gdp-ncb", "if settings.root_inside:", "if not settings.root_inside:"),
    ("adap-ucb", "order[last], order[other] = order[other], order[last]", "pass"),
    ("adap-ucb", "state.private_means[i] + width", "width"),
    ("adap-ucb", "settings.privacy_factor * log / h", "settings.privacy_factor * log"),
    ("adap-ucb", "* log_of_root / h", "* log_of_root"),
    (
        "adap-ucb",
        "state.pulls[arm] if settings.by_total",
        "state.lengths[arm] if settings.by_total",
    ),
    ("adap-ucb", "settings.horizon - t)", "settings.horizon)"),
    ("adap-ucb", "rewards / length", "rewards"),
    ("adap-ucb", "(settings.epsilon * length)", "settings.epsilon"),
    ("adap-ucb", "(settings.epsilon * settings.first_h)", "settings.epsilon"),
    ("adap-ucb", "if settings.clipped:", "if not settings.clipped:"),
    ("ncb", "reward_sums[arm] > threshold", "reward_sums[arm] >= threshold - 1"),
    ("ncb", "horizon * log / math.log(arms)", "horizon * log"),
    ("ncb", "factor * C**2 * log", "factor * C * log"),
    ("ncb", "width * math.sqrt(reward_sums[i])", "width * reward_sums[i]"),
    ("ncb", "width * math.sqrt(reward_sum))", "width * reward_sum)"),
    ("ncb", "second = indices[i]", "second = largest"),
    ("ncb", "indices[arm] > second", "indices[arm] >= second"),
    ("ncb", "pulls[arm] += t - start", "pulls[arm] += 1"),
]
"""(algorithm, text of its kernel, changed text); every text stands there once."""


def kernel_functions(algorithm: str) -> dict[str, Callable[..., Any]]:
    """Return the kernel and the compiled helpers that it calls, compilation taken off.

    Those of its own file, and of files whose names begin with that file's.
    """
    kernel: Any = REGRET[algorithm].advance
    found = {"advance": kernel.py_func}
    waiting = [kernel.py_func]
    while waiting:
        function = waiting.pop()
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if not isinstance(value, CPUDispatcher) or name in found:
                continue
            if value.py_func.__module__.startswith(kernel.py_func.__module__):
                found[name] = value.py_func
                waiting.append(value.py_func)
    return found


def kernel_source(algorithm: str) -> str:
    """Return their source without the decorators."""
    sources = (inspect.getsource(each) for each in kernel_functions(algorithm).values())
    text = "\n\n".join(textwrap.dedent(each) for each in sources)
    return "\n".join(line for line in text.splitlines() if not line.startswith("@numba."))


def executed(algorithm: str, source: str) -> Callable[..., int]:
    """Run the source in its module's names, imported helpers uncompiled too; return ``advance``."""
    names = {
        key: getattr(value, "py_func", value)
        for function in kernel_functions(algorithm).values()
        for key, value in function.__globals__.items()
    }
    exec(compile(source, f"<{algorithm}>", "exec"), names)
    advance: Callable[..., int] = names["advance"]
    return advance


@cache
def reference_decisions(algorithm: str, number: int) -> list[Decision]:
    scenario = scenarios()[algorithm][number]
    return list(REGRET[algorithm].reference(*prepared(algorithm, scenario)))


def agrees(algorithm: str, advance: Callable[..., int], number: int) -> bool:
    """Tell whether a run of ``advance`` takes the reference's decisions; it stops where it fails.

    A kernel that stands still, steps over the end of an array, divides by zero, or draws from a law
    that does not exist, differs too.
    """
    run = prepared(algorithm, scenarios()[algorithm][number])
    expected = reference_decisions(algorithm, number)
    position = 0
    try:
        for decision in kernel_decisions(REGRET[algorithm], *run, 256, advance):
            if position == len(expected) or decision != expected[position]:
                return False
            position += 1
    except (AssertionError, IndexError, ZeroDivisionError, ValueError, RuntimeWarning):
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
