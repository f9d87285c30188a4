"""The comparison with the reference notices every changed constant of every kernel.

A kernel's source is run as plain Python, compilation taken off. Unchanged it must agree with the
reference on all scenarios (the null control); with one constant or operator changed it must differ
on at least one of them.
"""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher

from dpbandits.algorithms import REGRET
from mutation_scenarios import prepared, scenarios
from support import Decision, joined, kernel_decisions

EQUIVALENT = {
    # A default that the loop over the arms always overwrites.
    "arm = 0": {
        *("ts-gaussian", "m-ts-gaussian", "anytime-lazy-ucb", "ucb1"),
        *("dp-ts-ucb", "lazy-dp-ts", "dp-ts"),
    },
    "arm, largest, second = (0, -math.inf, -math.inf)": {"ncb"},
    "arm, until, earlier_log, others = (0, 0, 0.0, math.inf)": {"ucb1"},
    # A bound that is higher than need be only has the arms compared more often.
    "growth = math.sqrt(2.0 * math.log(until + settings.clock_offset) / doubled_log)": {"ucb1"},
    # Two is as true as one.
    "frozen = True": {"dp-ts-ucb"},
    "above = True": {"ncb"},
    "while True:": {"ldp-ucb-l"},
    "return True": {"ldp-ucb-l"},
    "arm = arm_of_largest(indices, True, generator)": {"ldp-ucb-l"},
    # Bounds that are true of any such sum, and only spare the index where it is not needed.
    "safe_sum = max(shown - NOISE_AHEAD * scale, 0.0)": {"ldp-ncb"},
    # More rounds than need be in which every index is computed, or looser bounds.
    "if counts.min() > 4.0 * math.log(latest + settings.forced_offset):": {"ldp-ucb-l"},
    "gain = stretch.rise * max(inverse_root - stretch.common, 0.0)": {"ldp-ucb-l"},
    "rise, common = (_width(settings, end) - low, inverse_roots[order[0]])": {"ldp-ucb-l"},
    # A default that the loop over the arms always overwrites.
    "first, largest, runner_up = (0, -math.inf, -math.inf)": {"ldp-ucb-l"},
    # A forced arm is played all the same; it is not asked then whether it is alone.
    "if stretch.forced >= 0:": {"ldp-ucb-l"},
    # Arms of one pull are forced, and arms are tied whatever the time.
    "pulled = np.maximum(counts, 1)": {"ldp-ucb-l"},
    "indices = means + _width(settings, t + 1) * inverse_roots": {"ldp-ucb-l"},
    # Of the other core.
    "played = state.global_core.clock[0]": {"anytime-ldp-ncb"},
    "played = state.local_core.clock[0]": {"anytime-gdp-ncb"},
    "state.clock[:] = 0": {"anytime-gdp-ncb"},
    "state.counts[:] = 0": {"anytime-gdp-ncb"},
    "state.private_sums[:] = 0.0": {"anytime-gdp-ncb"},
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
    ("ucb1", "doubled_log = 2.0 * math.log(t +", "doubled_log = 2.0 * math.log(t + 1 +"),
    ("ucb1", "and count == 1", "or count == 1"),
    ("ucb1", "mean = 0.0", "mean = 1.0"),
    ("ucb1", "math.sqrt(2.0 * math.log(until + settings.clock_offset) / doubled_log)", "0.5"),
    ("ucb1", "others = max(others, highest)", "pass"),
    ("ucb1", "others = max(others, later)", "pass"),
    ("ucb1", "t > until or", ""),
    ("ucb1", "math.sqrt(earlier_log / n)", "1.01 * math.sqrt(earlier_log / n)"),
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
    ("gdp-ncb", "0 if t % BLOCK_FROM else", ""),
    ("gdp-ncb", "longest = min(longest, distance)", "longest = min(longest, distance / 2.0)"),
    ("gdp-ncb", ", distance - NEAR * window.noise", ""),
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
    ("gdp-ncb", "if settings.start == ZEROS:", "if settings.start != ZEROS:"),
    ("gdp-ncb", "settings.stop_test != PRIVATE_TEST and", "settings.stop_test == PRIVATE_TEST and"),
    ("gdp-ncb", "settings.stop_test != PRIVATE_TEST and", ""),
    ("gdp-ncb", "state.explored_sums[i] + laplace", "laplace"),
    ("gdp-ncb", "max(state.private_means[i], 0.0)", "state.private_means[i]"),
    ("gdp-ncb", "min(state.private_means[i], 1.0)", "state.private_means[i]"),
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
    ("ldp-ncb", "if settings.window_log else log", "if not settings.window_log else log"),
    ("ldp-ncb", "+ count * width", "+ width"),
    ("ldp-ncb", "location + laplace(scale, generator)", "laplace(scale, generator)"),
    ("ldp-ncb", "window.slope / difference", "window.slope * difference"),
    ("ldp-ncb", "not index > runner_up", "index > runner_up"),
    ("ldp-ncb", "math.sqrt(max(p, 0.0)) + window", "math.sqrt(max(p, 0.0)) - window"),
    ("ldp-ncb", "        state.private_sums[i] = shown", "        pass"),
    ("ldp-ncb", "shown + safe_widths > slope", "shown + 2.0 * safe_widths > slope"),
    ("ldp-ucb-l", "if settings.clips else private", "if not settings.clips else private"),
    ("ldp-ucb-l", "means[arm] + width * inverse", "means[arm] - width * inverse"),
    ("ldp-ucb-l", "private_sum + safe_width > slope", "private_sum + 2.0 * safe_width > slope"),
    ("ldp-ucb-l", "min(inverse_root - stretch.common", "max(inverse_root - stretch.common"),
    ("ldp-ucb-l", "math.sqrt(32.0) / settings.epsilon", "math.sqrt(32.0)"),
    ("ldp-ucb-l", "if settings.random_ties and not alone", "if settings.random_ties and alone"),
    ("anytime-gdp-ncb", "length * length", "length"),
    ("anytime-gdp-ncb", "reset_global(state.global_core)", "pass"),
    ("anytime-ldp-ncb", "length * length", "length"),
    ("anytime-ldp-ncb", "if not settings.carries", "if settings.carries"),
    ("anytime-ldp-ncb", "settings.horizon - begin", "settings.horizon"),
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
    chunks, same = itertools.tee(kernel_decisions(REGRET[algorithm], *run, 256, advance))
    try:
        for chunk, rounds in itertools.zip_longest(chunks, joined(expected, same)):
            if chunk != rounds or chunk[1] < 1:
                return False
    except (AssertionError, IndexError, ZeroDivisionError, ValueError, RuntimeWarning):
        return False
    return True


def agrees_everywhere(algorithm: str, source: str) -> bool:
    advance = executed(algorithm, source)
    assert algorithm in scenarios(), f"{algorithm}: has no run; allowed: one or more in scenarios"
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
            assert statement in {ast.unparse(each).partition("\n")[0] for each in ast.walk(tree)}
