"""The comparison with the reference notices every changed number and operator of every kernel.

A kernel's source is run as plain Python, compilation taken off. Unchanged it must agree with the
reference on all scenarios (the null control); with one fault it must differ on at least one.
"""

import inspect
import itertools
import signal
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import dpbandits
from dpbandits.algorithms import REGRET, dp_se
from dpbandits.bandits import Bandit
from dpbandits.kernels import new_segments
from found_papers import PLAYED
from mutations import faults, number_edits, operator_edits
from support import Decision, case_of, joined, kernel_decisions, settings_of

# Runs on which every constant and operator of a kernel decides something.


@dataclass(frozen=True)
class Scenario:
    """One run on which kernel and reference are compared."""

    bandit: Bandit
    horizon: int
    parameters: tuple[tuple[str, Any], ...] = ()
    interpretations: tuple[tuple[str, str], ...] = ()
    seed: int = 1


EXPONENTIAL = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])
BERNOULLI = dpbandits.bernoulli([0.75, 0.625, 0.5])
EQUAL = dpbandits.bernoulli([0.5, 0.5])
SEQUENTIAL = (("order", "sequential"),)


def variant(algorithm: str, name: str, **changes: str) -> tuple[tuple[str, str], ...]:
    """Return the interpretations of a variant, some of them changed."""
    return tuple(REGRET[algorithm].interpretations_from(changes, name).items())


def prepared(algorithm: str, scenario: Scenario) -> tuple[Any, Bandit, np.random.Generator]:
    told = settings_of(
        REGRET[algorithm],
        dict(scenario.parameters),
        dict(scenario.interpretations),
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
        *(dp_se.reference_epoch(told, e, 2) for e in range(1, epoch + 1)), strict=True
    )
    rounds = 2 * sum(pulls)
    chunks = new_segments(rounds)
    excess = {}
    for seed in range(seeds):
        state, generator = algorithm.state(2), np.random.default_rng(seed)
        algorithm.advance(told, state, bandit.arrays, generator, chunks)
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
        interpretations = variant("gdp-ncb", name, **changes)
        return Scenario(bandit, horizon, (("epsilon", epsilon),), interpretations)

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
        run(BERNOULLI, 3000, 1.0, cap="root", exploration="blocks", **no_test),
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


def ldp_ncb_scenarios() -> list[Scenario]:
    """Return runs whose phase II begins in time, with every clip and both ends of phase I."""

    def run(
        bandit: Bandit, horizon: int, epsilon: float, name: str = "as-written", **changes: str
    ) -> Scenario:
        interpretations = variant("ldp-ncb", name, **changes)
        return Scenario(bandit, horizon, (("epsilon", epsilon),), interpretations)

    root = {"cap": "root", "stop_test": "off"}
    tenth = {"cap": "tenth", "stop_test": "off"}
    return [
        run(EXPONENTIAL, 3000, 20.0, threshold="1"),
        run(EXPONENTIAL, 3000, 5.0, threshold="1", stop_test="floored", clipped_phases="both"),
        run(BERNOULLI, 1500, 1.0, "as-coded"),
        run(BERNOULLI, 1500, 0.2, **root),
        run(BERNOULLI, 1500, 2.0, clip="recursive", clipped_phases="both", **tenth),
        run(BERNOULLI, 1500, 0.2, clip="recursive", **root),
        run(EXPONENTIAL, 1500, 2.0, clip="none", **root),
        # Phase II in reach of d <= 0, where the arm has passed the rest of the stop test.
        run(BERNOULLI, 3000, 0.5, threshold="1"),
        *(replace(run(TINY, 40, 1.0, "as-coded", ties="random"), seed=seed) for seed in range(3)),
        *(replace(run(TINY, 40, 1.0, **root), seed=seed) for seed in range(6)),
    ]


def ldp_ucb_l_scenarios() -> list[Scenario]:
    """Return runs with forced pulls, with stretches, and with ties of clipped rewards."""
    coded = variant("ldp-ucb-l", "as-coded", ties="random", start="pseudo-pull")
    return [
        Scenario(EXPONENTIAL, 3000, (("epsilon", 20.0),)),
        Scenario(BERNOULLI, 3000, (("epsilon", 1.0),), variant("ldp-ucb-l", "as-coded")),
        Scenario(EXPONENTIAL, 800, (("epsilon", 2.0),), variant("ldp-ucb-l", "as-coded")),
        Scenario(TINY, 300, (("epsilon", 0.05),), coded),
        # Some of them end with the lowest arm.
        *(Scenario(TINY, 40, (("epsilon", 5.0),), seed=seed) for seed in range(4)),
        # A run of 800 in which the width of the next round makes a difference to a bound.
        Scenario(dpbandits.bernoulli([0.6, 0.5]), 60, (("epsilon", 20.0),), seed=5),
    ]


def anytime_scenarios(algorithm: str) -> list[Scenario]:
    """Return runs over several windows, some of them uniform."""
    coded = variant(algorithm, "as-coded")
    noise = {"release_log": "base2"} if algorithm == "anytime-gdp-ncb" else {}
    root = variant(algorithm, "as-written", cap="root", stop_test="off", **noise)
    found = [Scenario(BERNOULLI, 15, (("epsilon", 5.0),), coded, seed) for seed in range(12)]
    found += [Scenario(BERNOULLI, 700, (("epsilon", 5.0),), each) for each in (coded, root)]
    if algorithm == "anytime-ldp-ncb":
        carry = variant(algorithm, "as-written", threshold="1", data="carry")
        found.append(Scenario(EXPONENTIAL, 1500, (("epsilon", 20.0),), carry))
    return found


@cache
def scenarios() -> dict[str, list[Scenario]]:
    """Return the runs of each algorithm, long ones last."""
    return {
        "ts-gaussian": [
            Scenario(EXPONENTIAL, 600),
            Scenario(EXPONENTIAL, 600, interpretations=(("count", "n"),)),
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
            Scenario(BERNOULLI, 1500, interpretations=(("clock", "coming"),)),
            Scenario(EXPONENTIAL, 100, interpretations=(("first_mean", "zero"),)),
        ],
        "kl-ucb": [
            Scenario(EXPONENTIAL, 600),
            Scenario(BERNOULLI, 600),
            Scenario(dpbandits.bernoulli([1.0, 0.5, 0.0]), 300),
            Scenario(dpbandits.bernoulli([0.06, 0.05, 0.04, 0.03]), 1500),
            Scenario(EQUAL, 1500),
        ],
        "ts-beta": [Scenario(EXPONENTIAL, 600), Scenario(BERNOULLI, 600)],
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
        "ldp-ncb": ldp_ncb_scenarios(),
        "ldp-ucb-l": ldp_ucb_l_scenarios(),
        "anytime-gdp-ncb": anytime_scenarios("anytime-gdp-ncb"),
        "anytime-ldp-ncb": anytime_scenarios("anytime-ldp-ncb"),
    }


# Faults.

UNNOTICED = {
    "ts-gaussian": 4,
    "m-ts-gaussian": 3,
    "dp-se": 1,
    "anytime-lazy-ucb": 20,
    "ucb1": 20,
    "kl-ucb": 30,
    "ts-beta": 1,
    "dp-ts-ucb": 2,
    "lazy-dp-ts": 11,
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
wrapper does, or the other algorithm of a file that two share (lazy-dp-ts, anytime-lazy-ucb); what
only a run that is resumed would show (`test_resuming_changes_nothing`).
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
