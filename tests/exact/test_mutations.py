"""The comparison with the reference notices every changed number and operator of every kernel.

A kernel's source is run as plain Python, compilation taken off. Unchanged it must agree with the
reference on all scenarios (the null control); with one fault it must differ on at least one.
"""

import inspect
import itertools
import signal
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher

from dpbandits.algorithms import REGRET
from found_papers import PLAYED
from mutation_scenarios import prepared, scenarios
from mutations import faults, number_edits, operator_edits
from support import Decision, case_of, joined, kernel_decisions

UNNOTICED = {
    "ts-gaussian": 4,
    "m-ts-gaussian": 3,
    "dp-se": 1,
    "anytime-lazy-ucb": 4,
    "ucb1": 20,
    "kl-ucb": 30,
    "ts-beta": 1,
    "dp-ts-ucb": 2,
    "lazy-dp-ts": 4,
    "dp-ts": 1,
    "gdp-ncb": 4,
    "adap-ucb": 0,
    "ncb": 8,
    "ldp-ncb": 17,
    "ldp-ucb-l": 74,
    "anytime-gdp-ncb": 11,
    "anytime-ldp-ncb": 4,
}
"""Most faults of each kernel that change no decision.

Such are: numbers that a loop over the arms always overwrites; bounds, which only spare an index
where it is not needed (most of those of ucb1, ldp-ncb and ldp-ucb-l); what the other core of a
wrapper does; what only a run that is resumed would show (`test_resuming_changes_nothing`).
"""

SECONDS = 30.0
"""A scenario that is not over by then has no end, which is noticed, too."""


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


def _time_is_up(*_: Any) -> None:
    raise TimeoutError


def agrees(algorithm: str, advance: Callable[..., int], number: int) -> bool:
    """Tell whether a run of ``advance`` takes the reference's decisions; it stops where it fails.

    A kernel that stands still, has no end, steps over the end of an array, divides by zero, reads a
    name that has no value, or draws from a law that does not exist, differs too.
    """
    run = prepared(algorithm, scenarios()[algorithm][number])
    expected = reference_decisions(algorithm, number)
    chunks, same = itertools.tee(kernel_decisions(REGRET[algorithm], *run, 256, advance))
    signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        for chunk, rounds in itertools.zip_longest(chunks, joined(expected, same)):
            if chunk != rounds or chunk[1] < 1:
                return False
    except (
        AssertionError,
        LookupError,
        ArithmeticError,
        NameError,
        TypeError,
        ValueError,
        Warning,
        TimeoutError,
    ):
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return True


def agrees_everywhere(algorithm: str, source: str) -> bool:
    advance = executed(algorithm, source)
    return all(agrees(algorithm, advance, i) for i in range(len(case_of(scenarios(), algorithm))))


def test_the_algorithms_that_papers_play_have_scenarios() -> None:
    assert {*REGRET} & PLAYED <= set(scenarios()) <= {*REGRET}
    assert set(UNNOTICED) == set(scenarios())


@pytest.mark.parametrize("algorithm", scenarios())
def test_unchanged_source_agrees(algorithm: str) -> None:
    assert agrees_everywhere(algorithm, kernel_source(algorithm))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", scenarios())
def test_faults_are_noticed(algorithm: str) -> None:
    source = kernel_source(algorithm)
    planted = [fault for edits in (number_edits, operator_edits) for fault in faults(source, edits)]
    missed = [str(fault) for fault in planted if agrees_everywhere(algorithm, fault.source)]
    assert len(planted) >= 18
    assert len(missed) <= UNNOTICED[algorithm], "\n".join(missed)
