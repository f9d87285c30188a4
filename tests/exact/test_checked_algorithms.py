"""User-defined algorithms are checked while they are played: a fault is one line, never a result.

The kernel below is right; every test plants one fault in it.
"""

import itertools
import math
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGRET
from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm, Outcome, Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward_sum
from dpbandits.engine import checked, hidden_randomness
from dpbandits.engine.cells import make_cell
from dpbandits.metrics.names import NASH
from support import message_of, mostly_slow, run_python

ARMS = dpbandits.bernoulli([0.75, 0.5])
Kernel = Callable[..., Any]


class Settings(NamedTuple):
    horizon: int


class State(NamedTuple):
    clock: NDArray[np.int64]


def advance(
    settings: Any,
    state: Any,
    bandit: Any,
    generator: np.random.Generator,
    out: Any,
) -> int:
    """Plays each arm for five rounds in turn."""
    laws, law_parameters = bandit
    arms, lengths, sums = out
    written, t = 0, int(state.clock[0])
    while t < settings.horizon and written < arms.size:
        arm, length = t // 5 % laws.size, min(5, settings.horizon - t)
        arms[written], lengths[written] = arm, length
        sums[written] = draw_reward_sum(laws[arm], law_parameters[arm], length, generator)
        written += 1
        t += length
    state.clock[0] = t
    return written


def reference(settings: Any, bandit: Bandit, generator: np.random.Generator) -> Iterator[Segment]:
    for t in range(0, settings.horizon, 5):
        arm, length = t // 5 % len(bandit.arms), min(5, settings.horizon - t)
        yield arm, length, bandit.draw_sum(arm, length, generator)


MINE = Algorithm(
    id="in-turn",
    name="In turn",
    paper="none",
    settings=lambda horizon, arms: Settings(horizon),
    state=lambda arms: State(np.zeros(1, np.int64)),
    advance=advance,
    reference=reference,
    guarantee="none",
)


@pytest.fixture(autouse=True)
def forget_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test play its first batch twice."""
    monkeypatch.setattr(checked, "_batches", type(checked._batches)())


def after(change: Callable[..., Any]) -> Kernel:
    """Return the kernel with ``change(arms, lengths, sums, state, written)`` after it."""

    def kernel(*arguments: Any) -> Any:
        written = advance(*arguments)
        changed = change(*arguments[4], arguments[1], written)
        return written if changed is None else changed

    return kernel


def put(buffer: str, entry: int, value: Any) -> Kernel:
    """Return the kernel that writes one wrong entry."""

    def change(arms: Any, lengths: Any, sums: Any, state: Any, written: int) -> None:
        {"arms": arms, "lengths": lengths, "sums": sums}[buffer][entry] = value

    return after(change)


def stopped(*arguments: Any) -> int:
    """Does nothing at all."""
    return 0


def silent(*arguments: Any) -> None:
    """Forgets to return what it has written."""
    advance(*arguments)


def without_clock(arms: Any, lengths: Any, sums: Any, state: Any, written: int) -> None:
    state.clock[0] = 0


def beyond_horizon(arms: Any, lengths: Any, sums: Any, state: Any, written: int) -> None:
    lengths[written - 1] += 1
    state.clock[0] += 1


def unwritten(arms: Any, lengths: Any, sums: Any, state: Any, written: int) -> int:
    return written + 1


def outside(arms: Any, lengths: Any, sums: Any, state: Any, written: int) -> None:
    arms.base[arms.size + 70] = 0


def writes_to_laws(*arguments: Any) -> int:
    arguments[2].laws[0] = 3
    return advance(*arguments)


def writes_to_parameters(*arguments: Any) -> int:
    arguments[2].parameters[0] = 1.0
    return advance(*arguments)


def divides_by_zero(*arguments: Any) -> int:
    return 1 // 0


def legacy(*arguments: Any) -> int:
    """Shuffles the arms by numpy's own random numbers."""
    written = advance(*arguments)
    arguments[4].arms[:written] = np.random.permutation(arguments[4].arms[:written])
    return written


def harmless(*arguments: Any) -> int:
    """Draws a number that it does not use."""
    np.random.random()
    return advance(*arguments)


counter = itertools.count()


def with_memory(*arguments: Any) -> int:
    """Keeps its memory in the module."""
    written = advance(*arguments)
    arguments[4].arms[0] = next(counter) % 2
    return written


FAULTS: dict[str, tuple[Kernel, str]] = {
    "returns 0": (stopped, ", round 1: advance returns 0; allowed: 1 to 23 segments"),
    "returns nothing": (silent, ", round 1: advance returns None; allowed: 1 to 23 segments"),
    "returns too much": (
        after(lambda *_: 10**9),
        ", round 1: advance returns 1000000000; allowed: 1 to 23 segments",
    ),
    "returns a float": (
        after(lambda *_: 5.0),
        ", round 1: advance returns 5.0; allowed: 1 to 23 segments",
    ),
    "returns below 0": (
        after(lambda *_: -1),
        ", round 1: advance returns -1; allowed: 1 to 23 segments",
    ),
    "not written": (after(unwritten), ", round 24: a segment that advance counts is not written"),
    "arm too large": (put("arms", 2, 2), ", round 11: arm is 2; allowed: 0 to 1"),
    "arm far away": (put("arms", 0, 2**40), f", round 1: arm is {2**40}; allowed: 0 to 1"),
    "arm below": (put("arms", 1, -2), ", round 6: arm is -2; allowed: 0 to 1"),
    "length 0": (
        put("lengths", 1, 0),
        ", round 6: length is 0; allowed: 1 to 18, up to the horizon",
    ),
    "length below 0": (
        put("lengths", 1, -1),
        ", round 6: length is -1; allowed: 1 to 18, up to the horizon",
    ),
    "length 1e9": (
        put("lengths", 4, 10**9),
        ", round 21: length is 1000000000; allowed: 1 to 3, up to the horizon",
    ),
    "length 2^62": (
        put("lengths", 4, 2**62),
        f", round 21: length is {2**62}; allowed: 1 to 3, up to the horizon",
    ),
    "beyond the horizon": (
        after(beyond_horizon),
        ", round 21: length is 4; allowed: 1 to 3, up to the horizon",
    ),
    "sum nan": (
        put("sums", 0, math.nan),
        ", round 1: sum of rewards is nan; allowed: 0 to 5 for 5 rounds of arm 0",
    ),
    "sum infinite": (
        put("sums", 1, math.inf),
        ", round 6: sum of rewards is inf; allowed: 0 to 5 for 5 rounds of arm 1",
    ),
    "sum below 0": (
        put("sums", 4, -0.5),
        ", round 21: sum of rewards is -0.5; allowed: 0 to 3 for 3 rounds of arm 0",
    ),
    "sum too large": (
        put("sums", 4, 3.5),
        ", round 21: sum of rewards is 3.5; allowed: 0 to 3 for 3 rounds of arm 0",
    ),
    "clock forgotten": (
        after(without_clock),
        ", round 1: clock is 0 after the batch; allowed: 23, the rounds of its segments counted",
    ),
    "written outside": (
        after(outside),
        ", round 1: advance writes outside its buffers of 23 entries",
    ),
    "laws written to": (
        writes_to_laws,
        ", round 1: advance raises ValueError: assignment destination is read-only",
    ),
    "parameters written to": (
        writes_to_parameters,
        ", round 1: advance raises ValueError: assignment destination is read-only",
    ),
    "an error": (divides_by_zero, ", round 1: advance raises ZeroDivisionError: "),
    "np.random": (legacy, " when played again; allowed: randomness from the generator and memory"),
    "memory elsewhere": (with_memory, ", round 1: (arm, length, sum) is (0, 5, "),
}


def simulate(algorithm: Algorithm, **changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {"bandit": ARMS, "horizon": 23, "runs": 2}
    return dpbandits.simulate(algorithm=algorithm, **(base | changes))


def blocks(folder: Path) -> list[Path]:
    return list(folder.rglob("*.block"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_and_no_result(fault: str, cache_folder: Path) -> None:
    np.random.seed(1)
    kernel, expected = FAULTS[fault]
    mine = replace(MINE, advance=kernel)
    for message in (
        message_of(lambda: simulate(mine).pseudo_regret),
        message_of(lambda: simulate(mine).nash_regret(at=[23])),
    ):
        assert message.startswith("algorithm in-turn, round ")
        assert expected in message
    assert blocks(cache_folder) == []


def test_the_kernel_without_a_fault_is_played() -> None:
    assert (simulate(MINE).pulls == [13, 10]).all()
    assert np.isfinite(simulate(MINE).nash_regret(at=[5, 23]).nash_regret).all()


def test_a_fault_in_a_later_batch_names_its_round() -> None:
    """The engine takes 32768 segments at once."""

    def late(arms: Any, lengths: Any, sums: Any, state: Any, written: int) -> None:
        if written < 32768:
            sums[written - 1] = math.nan

    message = message_of(
        lambda: simulate(replace(MINE, advance=after(late)), horizon=5 * 32769).pulls
    )
    assert message.startswith("algorithm in-turn, round 163841: sum of rewards is nan; allowed: ")


def test_the_reward_of_each_arm_is_bounded_by_its_own_law() -> None:
    arms = dpbandits.uniform([0.5, 1.0])
    message = message_of(
        lambda: simulate(replace(MINE, advance=put("sums", 2, 3.0)), bandit=arms).pulls
    )
    assert message.endswith(
        "round 11: sum of rewards is 3.0; allowed: 0 to 2.5 for 5 rounds of arm 0"
    )


def test_laws_stay_as_they_are() -> None:
    """A kernel that makes them writable is refused."""

    def kernel(*arguments: Any) -> int:
        arguments[2].parameters.flags.writeable = True
        arguments[2].parameters[:] = 1.0
        return advance(*arguments)

    arms = dpbandits.bernoulli([0.75, 0.5])
    message = message_of(lambda: simulate(replace(MINE, advance=kernel), bandit=arms).pulls)
    assert "round 1: advance raises ValueError: cannot set WRITEABLE flag to True" in message
    assert arms.law_parameters.tolist() == [0.75, 0.5]


SHARED = State(np.zeros(1, np.int64))
STATES: dict[str, tuple[Callable[[int], Any], str]] = {
    "a dict": (lambda arms: {}, "state is {}; allowed: a NamedTuple of arrays"),
    "no clock": (
        lambda arms: Settings(0),
        "horizon of the state is int; allowed: an array",
    ),
    "a clock of floats": (
        lambda arms: State(np.zeros(1)),  # type: ignore[arg-type]
        "clock of a new state is array([0.]); allowed: one integer, which is 0",
    ),
    "a clock that runs": (
        lambda arms: State(np.ones(1, np.int64)),
        "clock of a new state is array([1]); allowed: one integer, which is 0",
    ),
    "an error": (lambda arms: [][0], "state raises IndexError: list index out of range"),
}


@pytest.mark.parametrize("fault", STATES)
def test_a_wrong_state_is_one_line(fault: str) -> None:
    function, expected = STATES[fault]
    message = message_of(lambda: simulate(replace(MINE, state=function)).pulls)
    assert message == f"algorithm in-turn: {expected}"


def test_a_state_that_runs_share_is_refused() -> None:
    def state(arms: int) -> State:
        SHARED.clock[0] = 0
        return SHARED

    message = message_of(lambda: simulate(replace(MINE, state=state)).pulls)
    assert message == (
        "algorithm in-turn: two states have the array clock in common; allowed: a new one each"
    )


def test_settings_with_another_horizon_are_refused() -> None:
    other = replace(MINE, settings=lambda *_, **__: Settings(46))
    message = message_of(lambda: simulate(other))
    assert message == "algorithm in-turn: horizon of the settings is 46; allowed: 23"
    failing = replace(MINE, settings=lambda *_, **__: [][0])
    message = message_of(lambda: simulate(failing))
    assert message == "algorithm in-turn: settings raises IndexError: list index out of range"


def test_randomness_that_begins_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches 1, 2, 4, 8 and so on of an algorithm are played twice."""

    def late(*arguments: Any) -> int:
        begin = int(arguments[1].clock[0])
        written = advance(*arguments)
        if begin > 5 * 32768:
            arguments[4].arms[0] = next(counter) % 2
        return written

    mine = replace(MINE, advance=late)
    assert message_of(lambda: simulate(mine, horizon=5 * 32768 * 4).pulls).startswith(
        "algorithm in-turn, round 491521: (arm, length, sum) is "
    )


@pytest.mark.parametrize("name", mostly_slow(["ucb1", "dp-se", "lazy-dp-ts", "gdp-ncb"], "dp-se"))
def test_a_copy_of_ours_passes_and_plays_the_same(name: str) -> None:
    ours = REGRET[name]
    copy = replace(ours, id="copy")
    # Blocks of uniformly random arms have Nash metrics alone.
    others = [NASH[1]] if name == "gdp-ncb" else ["pulls", "realised_regret"]
    for metrics in ([NASH[0]], others):
        first, second = (
            make_cell(
                algorithm=algorithm,
                parameters=ours.example,
                bandit=ARMS,
                horizon=2000,
                runs=2,
                metrics=metrics,
                stream="same",
            ).play(3)
            for algorithm in (ours, copy)
        )
        for metric in first:
            np.testing.assert_array_equal(first[metric], second[metric])


def test_a_number_of_np_random_is_noticed_though_it_changes_nothing(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Threads of other tests may be alive.
    monkeypatch.setattr(hidden_randomness, "is_alone", lambda: True)
    message = message_of(lambda: simulate(replace(MINE, advance=harmless)).pulls)
    assert message == (
        "algorithm in-turn: numbers are drawn from np.random; allowed: from the generator alone"
    )
    assert blocks(cache_folder) == []


@contextmanager
def another_thread_that_draws() -> Iterator[None]:
    """Draw from the global generators in a thread until the end."""
    ended, drawn = threading.Event(), threading.Event()

    def draw() -> None:
        while not ended.is_set():
            np.random.random()
            random.random()
            drawn.set()

    thread = threading.Thread(target=draw)
    thread.start()
    drawn.wait()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_another_thread_makes_no_culprit_of_an_algorithm() -> None:
    with another_thread_that_draws():
        assert simulate(MINE).pulls.sum() > 0
        functions = [lambda rng: rng.random(), lambda rng: rng.random() / 2]
        assert dpbandits.arms(functions, means=[0.5, 0.25]).means.tolist() == [0.5, 0.25]


def test_another_thread_hides_no_culprit() -> None:
    """Decisions and rewards that differ when they are played again are noticed all the same."""

    def kernel(*arguments: Any) -> int:
        written = advance(*arguments)
        arguments[4].arms[0] = np.random.randint(2**31) % 2
        arguments[4].sums[:written] = np.random.random(written) * arguments[4].lengths[:written]
        return written

    with another_thread_that_draws():
        message = message_of(lambda: simulate(replace(MINE, advance=kernel)).pulls)
        assert "when played again; allowed: randomness from the generator" in message
        functions = [lambda rng: random.random(), lambda rng: rng.random() + 0 * float({0: 1}[0])]
        message = message_of(lambda: dpbandits.arms(functions, means=[0.5, 0.5]))
    assert message.startswith("arm 0: ")
    assert message.endswith("from the generator alone")


LINEAR = dpbandits.linear([[1, 0], [0, 1], [0.6, 0.6]], [0.5, 0.3])


def identify(algorithm: IdentificationAlgorithm) -> dpbandits.Identification:
    return dpbandits.identify(
        algorithm=algorithm, params={"epsilon": 1.0}, bandit=LINEAR, budget=300, runs=5
    )


def changed(**changes: Callable[[Outcome], Any]) -> IdentificationAlgorithm:
    """Return a copy of the Baseline whose outcomes are changed."""
    ours = IDENTIFICATION["baseline"]

    def play(*arguments: Any) -> Outcome:
        outcome = ours.play(*arguments)
        return replace(outcome, **{key: each(outcome) for key, each in changes.items()})

    assert isinstance(ours, IdentificationAlgorithm)
    return replace(ours, id="copy", play=play)


def test_a_copy_of_the_baseline_is_played() -> None:
    trials = identify(changed())
    assert trials.success.shape == (5,)
    assert trials.pulls.shape == (5, 3)


TRIALS: dict[str, tuple[dict[str, Callable[[Outcome], Any]], str]] = {
    "arm out of range": (
        {"recommended": lambda outcome: outcome.recommended + 3},
        ", trial 0: recommended arm is ",
    ),
    "arm below 0": (
        {"recommended": lambda outcome: outcome.recommended * 0 - 1},
        ", trial 0: recommended arm is -1; allowed: 0 to 2",
    ),
    "arms that are no numbers": (
        {"recommended": lambda outcome: outcome.recommended / 2},
        ": recommended is float64 of shape (1000,); allowed: integers of shape (1000,)",
    ),
    "too few arms": (
        {"recommended": lambda outcome: outcome.recommended[:1]},
        ": recommended is int64 of shape (1,); allowed: integers of shape (1000,)",
    ),
    "pulls below 0": (
        {"pulls": lambda outcome: outcome.pulls * 0 - 5},
        ", trial 0: number of pulls is -5; allowed: 0 to ",
    ),
    "pulls that overflow": (
        {"pulls": lambda outcome: outcome.pulls * 0 + 2**62},
        f", trial 0: number of pulls is {2**62}; allowed: 0 to ",
    ),
    "pulls that are not finite": (
        {"pulls": lambda outcome: outcome.pulls * math.nan},
        ": pulls is float64 of shape (1000, 3); allowed: integers of shape (1000, 3)",
    ),
    "random arms": (
        {"recommended": lambda outcome: np.random.randint(3, size=outcome.recommended.size)},
        " when played again (or its pulls differ); allowed: randomness from the generator alone",
    ),
    "an error": (
        {"exact": lambda outcome: [][0]},
        ": play raises IndexError: list index out of range",
    ),
}


@pytest.mark.parametrize("fault", TRIALS)
def test_a_fault_in_trials_is_one_line_and_no_result(fault: str, cache_folder: Path) -> None:
    changes, expected = TRIALS[fault]
    for find in (lambda trials: trials.success, lambda trials: trials.pulls):
        message = message_of(lambda find=find: find(identify(changed(**changes))))  # type: ignore[misc]
        assert message.startswith("algorithm copy")
        assert expected in message
    assert blocks(cache_folder) == []


CRASHES = {
    "arms[0] = 10**12": "round 1: arm is 1000000000000; allowed: 0 to 1",
    "written = 10**12": "round 1: advance returns 1000000000000; allowed: 1 to 200 segments",
    "law_parameters[0] = 1.0": "round 1: advance raises TypingError: ",
    # Added, since numba leaves out a call whose value nobody uses.
    "t += int(np.random.random())": ": numbers are drawn from np.random",
}


COMPILED = ("law_parameters[0] = 1.0", "t += int(np.random.random())")


@pytest.mark.parametrize("line", mostly_slow(CRASHES, next(iter(CRASHES))))
def test_a_compiled_kernel_does_not_crash_the_process(line: str, tmp_path: Path) -> None:
    """In a process of its own, which arms out of range would end with a segmentation fault."""
    example = Path(__file__).resolve().parents[2] / "examples/my_kernel.py"
    last = "    state.clock[0] = t\n    return written\n"
    text = example.read_text()
    assert text.count(last) == 1
    text = text.replace(last, f"    {line}\n{last}")
    # Compiling takes seconds; the engine's part is compiled in any case.
    compiled = line in COMPILED
    text = text if compiled else text.replace("@numba.njit(nogil=True)\n", "")
    (tmp_path / "own_crash.py").write_text(text)
    words = ["--params", "epsilon=1", "pulls=10", "--arms", "0.7", "0.5"]
    run = run_python(
        "-m",
        "dpbandits",
        "simulate",
        "own_crash.py",
        *words,
        *("--horizon", "200", "--runs", "2"),
        folder=tmp_path,
    )
    assert run.returncode == 2, run.stderr
    assert run.stdout == ""
    # Where it takes long, what is being compiled is said before.
    said = [each for each in run.stderr.splitlines() if not each.startswith("compiling ")]
    assert len(said) == 1
    assert CRASHES[line] in said[0]
