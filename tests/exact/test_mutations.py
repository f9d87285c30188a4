"""The comparison with the reference notices every changed number and operator of every kernel.

A kernel's source is run as plain Python, compilation taken off. Unchanged it must agree with the
reference on all scenarios (the null control); with one fault it must differ on at least one.
"""

import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher

from dpbandits.algorithms import REGRET
from found_papers import PLAYED
from mutation_scenarios import prepared, scenarios
from mutations import Fault, faults, number_edits, operator_edits
from support import Decision, case_of, joined, kernel_decisions

UNIFORMLY = "Sub: for _ in range(min(stop - played, out.arms.size - n)):"

NO_WINDOW = "GtE: if state.played[0] >= state.length[0]:"

FRONT = (
    "front = Front(np.empty(counts.size, np.int64), np.zeros(1, np.int64), np.full(1, LOWEST), "
    "np.zeros(1), np.full(1, ROUNDING), np.empty(counts.size))"
)

EQUIVALENT: dict[str, set[str]] = {
    # A default that the loop over the arms always overwrites.
    "m-ts-gaussian": {
        "arm, largest = (0, -math.inf)",
        # Of an arm without a pull, which nothing decides by.
        "1: counts = np.maximum(pulls + settings.prior_count, 1)",
    },
    "anytime-lazy-ucb": {"arm, largest = (0, -math.inf)"},
    "lazy-dp-ts": {"arm, largest = (0, -math.inf)"},
    "dp-ts": {"0: arm = 0"},
    "ts-beta": {"0: arm, largest = (0, -math.inf)"},
    "ts-gaussian": {
        "arm, largest = (0, -math.inf)",
        # One forced pull.
        "FloorDiv: arm = t // settings.forced_pulls",
        # Of a run that is resumed (`test_resuming_changes_nothing`).
        "Add: counts = np.maximum(pulls + settings.prior_count, 1)",
    },
    "dp-ts-ucb": {"0: arm = 0", "frozen = True"},
    # All sums of an epoch begin at the same number, and only their differences decide.
    "dp-se": {"state.sums[:] = 0.0"},
    # Bounds only spare the index where it is not needed: looser ones, or more rounds with an index.
    "ucb1": {
        "0: arm = 0",
        "arm, until, earlier_log, others = (0, 0, 0.0, math.inf)",
        "largest, highest, others = (-math.inf, -math.inf, -math.inf)",
        "growth = math.sqrt(2.0 * math.log(until + settings.clock_offset) / doubled_log)",
        "earlier_log = 2.0 * math.log(t + settings.clock_offset)",
        "until = t + SHORTEST + t // PART",
        "Add: return (arm, others + ROUNDING)",
        "Gt: if t > until or reward_sums[arm] / count + math.sqrt(earlier_log / count) <= others:",
        "Add: if t > until or reward_sums[arm] / count + math.sqrt(earlier_log / count) <= others:",
    },
    # Bounds, as those of ucb1; where Newton's method begins, and how long it takes.
    "kl-ucb": {
        "arm, until, earlier_log, later_log, others = (0, 0, 0.0, 0.0, 1.0)",
        "1.0: earlier_log, later_log, others = (math.log(t), math.log(until), 1.0)",
        "0.0: others = 0.0",
        "1.0: mean = min(reward_sum / count, 1.0)",
        "1.0: return 1.0",
        "0.5: q = min(mean + math.sqrt(0.5 * level), 1.0 - tail, BELOW_ONE)",
        "True: return True",
        "if mean > 0.0:",
        "1.0: divergence = (1.0 - mean) * math.log((1.0 - mean) / (1.0 - bound))",
        "Sub: divergence = (1.0 - mean) * math.log((1.0 - mean) / (1.0 - bound))",
        "Add: divergence += mean * math.log(mean / bound)",
        "until = t + SHORTEST + t // PART",
        "Add: bounds[arm] = _index(pulls[arm], reward_sums[arm], later_log) + ROUNDING",
        "NotEq: if i != arm:",
        "And: if i != arm and bounds[i] >= largest:",
        "Div: step = excess * q * (1.0 - q) / (q - mean)",
        "Sub: step = excess * q * (1.0 - q) / (q - mean)",
    },
    "ncb": {
        "arm, largest, second = (0, -math.inf, -math.inf)",
        "above = True",
        # Of arms that are not tied the largest is drawn without a draw.
        "And: if random_ties and second == largest:",
        # A loop that would not end.
        "Add: t += 1",
        # A phase without a place to write in, or without rounds left, writes nothing.
        "And: if state.explored[0] == 1 and state.clock[0] < settings.horizon:",
    },
    "ldp-ncb": {
        # Nothing is written at the end of a window, whatever the phase.
        "Or: if state.phase[0] == EXPLORING or state.clock[0] == stop:",
        # Bounds, as those of ucb1.
        "safe_sum = max(shown - NOISE_AHEAD * scale, 0.0)",
        "safe_widths = window.mean_width * math.sqrt(safe_sum) + window.local_width * root",
        "safe_widths += window.last_width * math.sqrt(root)",
        "Add: if shown >= safe_sum and shown + safe_widths > slope * count:",
        "Mult: slope = runner_up + ROUNDING * abs(runner_up)",
        # The stop test is held against the table of the paper in `test_local_ncb.py`.
        "Or: if settings.stop_test == NO_TEST or private_sum <= window.base:",
        "Eq: if settings.stop_test == FLOORED_TEST:",
        "Mult: if private_sum * (private_sum - window.base) <= window.slope * count:",
        "Sub: if private_sum * (private_sum - window.base) <= window.slope * count:",
    },
    "ldp-ucb-l": {
        # Names that are set before they are read, and indices of arms without a pull.
        "leader, begin, rewards = (-1, t, 0.0)",
        "leader = -1",
        "arm, others, alone, width = (stretch.forced, 0.0, True, 0.0)",
        "rate = curvature = 0.0",
        "pulled = np.maximum(counts, 1)",
        # The front is filled before it is asked; how many arms are in it is a matter of speed, and
        # so is whether the leader is taken to be tied: then all indices are computed.
        FRONT,
        "first, largest, runner_up = (0, -math.inf, -math.inf)",
        "front.gap[0] /= 2.0",
        "front.gap[0] *= 2.0",
        "if size > MANY:",
        "if size < min(FEW, means.size):",
        "largest = -math.inf",
        "largest = index if index > largest else largest",
        "level = largest - front.gap[0]",
        "min: runner_up = max(runner_up, min(index, largest))",
        "Gt: return (front.arms[first], max(runner_up, bound), largest > runner_up)",
        "return value + ROUNDING * abs(value)",
        # Bounds, as those of ucb1: more rounds than need be in which indices are compared, or fewer
        # by less than chance shows.
        "Mult: bound = front.level[0] + (width - front.width[0]) * stretch.highest",
        "Sub: bound = front.level[0] + (width - front.width[0]) * stretch.highest",
        "highest = 1.0 / math.sqrt(max(least, 1))",
        "growth = width * inverse_root * (0.5 - 0.125 * AHEAD * inverse_root ** 2)",
        "slope = _above(others) + AHEAD * stretch.rate * stretch.highest - growth",
        "Add: until = min(stretch.end, t + AHEAD)",
        "Add: if t >= until or private_sum + safe <= slope * count:",
        "4.0: if least > 4.0 * math.log(latest + settings.forced_offset):",
        # Where the parabola begins, how long it is kept, and its last term, are as good otherwise.
        "span *= 2",
        "if span > 1:",
        "begin = t + 1 - (t + 1) % span",
        "Sub: end = min(begin + span - 1, settings.horizon)",
        "Add: end, front.size[0] = (t + 1, 0)",
        "0.25: curvature = -rate * (0.5 + 0.25 / log) / begin",
        # Arms are tied whatever the time.
        "indices = means + width * inverse_roots",
        # Loops that would not end.
        "Add: t += 1",
        "Or: if t >= until or private_sum + safe <= slope * count:",
        "GtE: if t >= until or private_sum + safe <= slope * count:",
    },
    # No scenario decides by a mean that Phase I releases and a later one replaces.
    "gdp-ncb": {
        "Div: state.private_means[arm] = noisy_sum / state.explored[arm]",
        # Loops that would not end.
        "Add: t += length",
        "Add: end = min(t - t % BLOCK_FROM + BLOCK_FROM, stop)",
        "Mod: end = min(t - t % BLOCK_FROM + BLOCK_FROM, stop)",
    },
    # Of the other core; or where a run goes on inside a window (`test_resuming_changes_nothing`).
    "anytime-gdp-ncb": {
        "played = local.clock[0]",
        "local.clock[:] = 0",
        "local.counts[:] = 0",
        "local.private_sums[:] = 0.0",
        "condition: if not settings.carries:",
        "condition: if ldp_ncb.stops(core, window, local.counts[i], shown):",
        "Sub: begin = t - played",
        UNIFORMLY,
        # Windows that do not grow, or never begin, have no end.
        "max: length = max(1, 2 * state.length[0])",
        NO_WINDOW,
    },
    "anytime-ldp-ncb": {
        "played = state.global_core.clock[0]",
        UNIFORMLY,
        NO_WINDOW,
    },
}
"""Faults that change no decision, or do not end, by algorithm.

A statement with all of its faults, or one fault.
"""


SOONER: dict[str, dict[str, Any]] = {
    "ldp-ucb-l": {"PART": 64, "AHEAD": 8},
    "kl-ucb": {"SHORTEST": 200},
}
"""Constants by algorithm with which bounds decide in the first rounds, too, and not after many."""


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
    return "\n".join(line for line in text.splitlines() if not line.startswith("@njit"))


def executed(algorithm: str, source: str) -> Callable[..., int]:
    """Run the source in its module's names, imported helpers uncompiled too; return ``advance``."""
    names = {
        key: getattr(value, "py_func", value)
        for function in kernel_functions(algorithm).values()
        for key, value in function.__globals__.items()
    }
    names |= SOONER.get(algorithm, {})
    exec(compile(source, f"<{algorithm}>", "exec"), names)
    advance: Callable[..., int] = names["advance"]
    return advance


@cache
def reference_decisions(algorithm: str, number: int) -> list[Decision]:
    scenario = scenarios()[algorithm][number]
    return list(REGRET[algorithm].reference(*prepared(algorithm, scenario)))


def agrees(algorithm: str, advance: Callable[..., int], number: int) -> bool:
    """Tell whether a run of ``advance`` takes the reference's decisions; it stops where it fails.

    A kernel that stands still, steps over the end of an array, divides by zero, reads a name that
    has no value, or draws from a law that does not exist, differs too.
    """
    run = prepared(algorithm, scenarios()[algorithm][number])
    expected = reference_decisions(algorithm, number)
    chunks, same = itertools.tee(kernel_decisions(REGRET[algorithm], *run, 256, advance))
    try:
        for chunk, rounds in itertools.zip_longest(chunks, joined(expected, same)):
            if chunk != rounds or chunk[1] < 1:
                return False
    except (
        *(AssertionError, LookupError, ArithmeticError, NameError, TypeError, ValueError, Warning),
    ):
        return False
    return True


def agrees_everywhere(algorithm: str, source: str) -> bool:
    advance = executed(algorithm, source)
    return all(agrees(algorithm, advance, i) for i in range(len(case_of(scenarios(), algorithm))))


def planted(algorithm: str) -> Iterator[Fault]:
    """Yield the faults of a kernel: each number and each operator, in turn."""
    for edits in (number_edits, operator_edits):
        yield from faults(kernel_source(algorithm), edits)


FAULTS = [
    pytest.param(algorithm, fault, id=f"{algorithm}: {fault}")
    for algorithm in scenarios()
    for fault in planted(algorithm)
    if not fault.is_among(EQUIVALENT.get(algorithm, ()))
]


def test_the_algorithms_that_papers_play_have_scenarios() -> None:
    assert {*REGRET} & PLAYED <= set(scenarios()) <= {*REGRET}


@pytest.mark.parametrize("algorithm", scenarios())
def test_unchanged_source_agrees(algorithm: str) -> None:
    assert agrees_everywhere(algorithm, kernel_source(algorithm))


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "fault"), FAULTS)
def test_a_fault_is_noticed(algorithm: str, fault: Fault) -> None:
    assert not agrees_everywhere(algorithm, fault.source)


def test_exceptions_are_still_there() -> None:
    """Else one would stand for another statement, or for none."""
    for algorithm, names in EQUIVALENT.items():
        found = {name for fault in planted(algorithm) for name in (fault.line, str(fault))}
        assert set(names) <= found, algorithm
