"""Checks of user-defined algorithms, while they are played and by ``check_algorithm``.

The kernel below is right; every test of algorithms plants one fault in it.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGRET
from dpbandits.algorithms.base import Algorithm, Definition, Outcome, Segment
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import draw_reward_sum
from dpbandits.cli import main
from dpbandits.engine.cells import Work
from dpbandits.kernels import write
from dpbandits.metrics import NASH
from dpbandits.own import check, guard
from invented import entries
from support import cell_of, message_of, mostly_slow, refused

ARMS = dpbandits.bernoulli([0.75, 0.5])
EXAMPLE = Path(__file__).resolve().parents[1] / "examples/my_kernel.py"


class Settings(NamedTuple):
    horizon: int


class State(NamedTuple):
    clock: NDArray[np.int64]
    counts: NDArray[np.int64]


def advance(settings: Any, state: Any, arms: Any, rng: np.random.Generator, out: Any) -> int:
    """Plays each arm for five rounds in turn."""
    n, t = 0, int(state.clock[0])
    while t < settings.horizon and n < out.arms.size:
        arm, length = t // 5 % arms.laws.size, min(5, settings.horizon - t)
        rewards = draw_reward_sum(arms.laws[arm], arms.parameters[arm], length, rng)
        n = write.py_func(out, n, arm, length, rewards)
        t += length
    state.clock[0] = t
    return n


def reference(settings: Any, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    for t in range(0, settings.horizon, 5):
        arm, length = t // 5 % len(bandit.arms), min(5, settings.horizon - t)
        yield arm, length, bandit.draw_sum(arm, length, rng)


MINE = Algorithm(
    id="in-turn",
    name="In turn",
    paper="none",
    settings=lambda horizon, arms: Settings(horizon),
    state=lambda arms: State(np.zeros(1, np.int64), np.zeros(arms, np.int64)),
    advance=advance,
    reference=reference,
    guarantee="none",
)


def after(change: Callable[..., Any]) -> Algorithm:
    """Return the algorithm with ``change(out, state, written)`` after its kernel."""

    def kernel(*arguments: Any) -> Any:
        written = advance(*arguments)
        changed = change(arguments[4], arguments[1], written)
        return written if changed is None else changed

    return replace(MINE, advance=kernel)


def before(change: Callable[..., Any]) -> Algorithm:
    """Return the algorithm with ``change(settings, state, arms, rng, out)`` before its kernel."""

    def kernel(*arguments: Any) -> int:
        change(*arguments)
        return advance(*arguments)

    return replace(MINE, advance=kernel)


def put(buffer: str, entry: int, value: Any) -> Algorithm:
    """Return the algorithm with one wrong entry."""
    return after(lambda out, *_: getattr(out, buffer).__setitem__(entry, value))


def beyond_horizon(out: Any, state: Any, written: int) -> None:
    out.lengths[written - 1] += 1
    state.clock[0] += 1


FAULTS: list[tuple[Algorithm, str]] = [
    (replace(MINE, advance=lambda *_: 0), "1: advance returns 0; allowed: 1 to 23"),
    (replace(MINE, advance=lambda *_: None), "1: advance returns None; "),
    (after(lambda out, state, written: written + 1), "24: segment is arm -46116"),
    (put("arms", 2, 2), "11: segment is arm 2, length 5, "),
    (put("arms", 1, -2), "6: segment is arm -2, "),
    (put("lengths", 1, 0), "6: segment is arm 1, length 0, "),
    (after(beyond_horizon), "21: segment is arm 0, length 4, "),
    (put("sums", 0, math.nan), "1: segment is arm 0, length 5, sum of rewards nan; "),
    (put("sums", 4, -0.5), "21: segment is arm 0, length 3, sum of rewards -0.5; "),
    (put("sums", 4, 3.5), "21: segment is arm 0, length 3, sum of rewards 3.5; "),
    (after(lambda out, state, written: state.clock.fill(0)), "1: clock is 0 after the ba"),
    (before(lambda settings, state, arms, *_: arms.laws.fill(3)), "is read-only"),
    (before(lambda *_: 1 // 0), "1: advance raises ZeroDivisionError: "),
]


def simulate(algorithm: Algorithm, **changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {"bandit": ARMS, "horizon": 23, "runs": 2}
    return dpbandits.simulate(algorithm=algorithm, **(base | changes))


def test_a_fault_is_one_line_and_no_result(cache_folder: Path) -> None:
    for mine, expected in FAULTS:
        for asked in (lambda found: found.pseudo_regret, lambda found: found.nash_regret(at=[23])):
            refused(lambda: asked(simulate(mine)), "algorithm in-turn, round ", expected)
    assert entries(cache_folder) == []
    assert (simulate(MINE).pulls == [13, 10]).all()
    assert np.isfinite(simulate(MINE).nash_regret(at=[5, 23]).nash_regret).all()
    assert entries(cache_folder)


def test_rounds_go_on_over_batches_and_rewards_are_bounded_by_the_arm_s_own_law() -> None:
    def late(out: Any, state: Any, written: int) -> None:
        if written < 32768:  # The engine takes as many segments at once.
            out.sums[written - 1] = math.nan

    message = message_of(lambda: simulate(after(late), horizon=5 * 32769).pulls)
    assert message.startswith("algorithm in-turn, round 163841: segment is arm 0, ")
    arms = dpbandits.uniform([0.5, 1.0])
    message = message_of(lambda: simulate(put("sums", 2, 3.0), bandit=arms).pulls)
    assert message.startswith("algorithm in-turn, round 11: segment is arm 0, length 5, ")
    assert message.endswith("rewards 0 to 0.5 a round")


def test_a_wrong_state_or_wrong_settings_are_one_line() -> None:
    allowed = "allowed: a NamedTuple of arrays whose clock is one integer, which is 0"
    reals: Any = State(np.zeros(1), np.zeros(2))  # type: ignore[arg-type]
    late = State(np.ones(1, np.int64), np.zeros(2, np.int64))
    wrong: list[tuple[dict[str, Any], str]] = [
        *[
            ({"state": lambda arms, made=made: made}, f"state is {made!r}; {allowed}")
            for made in ({}, Settings(0), reals, late)
        ],
        ({"state": lambda arms: [][0]}, "state raises IndexError: list index out of range"),
        ({"settings": lambda *_: [][0]}, "settings raises IndexError: list index out of range"),
        ({"settings": lambda *_: Settings(46)}, "horizon of the settings is 46; allowed: 23"),
    ]
    for changes, expected in wrong:
        message = message_of(lambda: simulate(replace(MINE, **changes)).pulls)
        assert message == f"algorithm in-turn: {expected}"


def test_runs_share_nothing_though_their_states_are_one() -> None:
    shared = State(np.zeros(1, np.int64), np.zeros(2, np.int64))
    mine = replace(MINE, state=lambda arms: shared)
    assert (simulate(mine).pulls == [13, 10]).all()
    at = [5, 23]
    one, other = (simulate(each).nash_regret(at=at).nash_regret for each in (mine, MINE))
    np.testing.assert_array_equal(one, other)
    assert shared.clock[0] == 0


def test_a_copy_of_ours_passes_and_plays_the_same() -> None:
    """Rounds by UCB1; segments of uniformly random arms, which have Nash metrics alone."""
    for name, metrics in (
        ("ucb1", ["pulls", "realised_regret"]),
        ("gdp-ncb", [NASH[0]]),
        ("gdp-ncb", [NASH[1]]),
    ):
        ours = REGRET[name]
        told: Any = {"parameters": ours.example, "bandit": ARMS, "horizon": 2000, "stream": "same"}
        first, second = (
            Work(cell_of(algorithm=each, metrics=metrics, **told), range(2)).play(3)
            for each in (ours, replace(ours, id="copy"))
        )
        for metric in first:
            np.testing.assert_array_equal(first[metric], second[metric])


LINEAR = dpbandits.linear([[1, 0], [0, 1], [0.6, 0.6]], [0.5, 0.3])


def changed(**changes: Callable[[Outcome], Any]) -> Any:
    """Return a copy of the Baseline whose outcomes are changed."""
    ours: Any = IDENTIFICATION["baseline"]

    def play(*arguments: Any) -> Outcome:
        outcome = ours.play(*arguments)
        return replace(outcome, **{key: change(outcome) for key, change in changes.items()})

    return replace(ours, id="copy", play=play)


def identify(algorithm: Any) -> dpbandits.Identification:
    return dpbandits.identify(
        algorithm=algorithm, params={"epsilon": 1.0}, bandit=LINEAR, budget=300, runs=5
    )


TRIALS: list[tuple[str, Callable[[Outcome], Any], str]] = [
    ("recommended", lambda o: o.recommended * 0 + 3, ", trial 0: recommended is 3; allowed: "),
    ("recommended", lambda o: o.recommended * 0 - 1, ", trial 0: recommended is -1; "),
    ("recommended", lambda o: o.recommended / 2, ": recommended is float64 of shape (1000,); "),
    ("recommended", lambda o: o.recommended[:1], ": recommended is int64 of shape (1,); "),
    ("pulls", lambda o: o.pulls * 0 + 2**62, f", trial 0: pulls is {2**62}; allowed: 0 to "),
    ("exact", lambda o: o.recommended, ": exact is int64 of shape (1000,); allowed: truth values"),
    ("exact", lambda o: [][0], ": play raises IndexError: list index out of range"),
]


def test_a_fault_in_trials_is_one_line_and_no_result(cache_folder: Path) -> None:
    for part, change, expected in TRIALS:
        message = message_of(lambda: identify(changed(**{part: change})).success)
        assert message.startswith(f"algorithm copy{expected}")
    assert entries(cache_folder) == []
    assert identify(changed()).pulls.shape == (5, 3)


def failures(algorithm: Definition) -> dict[str, str]:
    """Return the checks that an algorithm fails, and why."""
    found = dpbandits.check_algorithm(algorithm, on_fail=None)
    return {check.name: check.detail for check in found if check.status == "failed"}


@pytest.mark.parametrize(
    "name", mostly_slow(["ucb1", "dp-se", "anytime-lazy-ucb", "gdp-ncb", "baseline"], "baseline")
)
def test_ours_pass_every_check(name: str) -> None:
    assert {check.status for check in dpbandits.check_algorithm(name)} == {"passed"}


counter = itertools.count()


def with_memory(out: Any, state: Any, written: int) -> None:
    """Keeps its memory in the module."""
    out.arms[0] = next(counter) % 2


def with_numpy(out: Any, state: Any, written: int) -> None:
    out.arms[:written] = np.random.permutation(out.arms[:written])


def forgets(settings: Any, state: Any, arms: Any, rng: Any, out: Any) -> None:
    """Plays another stream whenever it is resumed."""
    if state.clock[0]:
        rng.random()


def wrong_law(settings: Any, state: Any, arms: Any, rng: Any, out: Any) -> int:
    """Draws the rewards of the other arms."""
    other = arms._replace(laws=arms.laws[::-1], parameters=arms.parameters[::-1])
    return advance(settings, state, other, rng, out)


def too_long(out: Any, state: Any, written: int) -> None:
    if state.clock[0] < 5:
        out.lengths[written - 1] = 3


def outside(out: Any, state: Any, written: int) -> None:
    out.arms.base[out.arms.size + check.GUARD + 6] = 0


def no_end(settings: Any, bandit: Any, rng: Any) -> Iterator[Any]:
    while True:
        yield 0, 1, bandit.draw(0, rng)


def no_room(*arguments: Any) -> int:
    return advance(*arguments) if arguments[4].arms.size > 1 else 0


OTHER_TRIALS = changed(recommended=lambda o: (o.recommended + 1) % 3)
RANDOM_TRIALS = changed(recommended=lambda o: np.random.randint(3, size=o.recommended.size))
PLANTED: list[tuple[Any, str, str]] = [
    (after(with_memory), "batches are valid", "and again Pulls(round="),
    (after(with_numpy), "batches are valid", "and again Pulls(round="),
    (before(forgets), "small buffers", ", with buffers of 1: large has Pulls(round="),
    (replace(MINE, advance=no_room), "small buffers", "round 1: advance returns 0; "),
    (after(outside), "batches are valid", "writes outside its buffers of 500"),
    (before(lambda *a: a[3].random()), "agree", "seed 0: algorithm has Pulls(round=1, "),
    (replace(MINE, advance=wrong_law), "any order", "rewards=0.0) where the means are (1.0, 0.0, "),
    (after(too_long), "horizons 1, 2 and K - 1", "length 3, sum "),
    (replace(MINE, reference=no_end), "agree", "reference Pulls(round=1, arm=0, length=501"),
    (replace(MINE, reference=lambda *_: [][0]), "agree", "reference raises IndexError"),
    (replace(MINE, guarantee=lambda *_: "pure"), "guarantee are valid", "guarantee "),
    (OTHER_TRIALS, "trials and reference agree", "copy, seed 0: algorithm has Answer(trial=0, "),
    (RANDOM_TRIALS, "trials are valid", "again Answer(trial="),
]


@pytest.mark.parametrize("first", mostly_slow([0, 1], 0))
def test_a_planted_fault_fails_its_check(first: int) -> None:
    for mine, name, detail in PLANTED[first::2]:
        np.random.seed(1)
        [failed] = [text for check, text in failures(mine).items() if name in check]
        assert detail in failed


@pytest.mark.slow
def test_a_number_of_np_random_is_noticed_though_it_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unless other threads run, which may have drawn it."""
    mine = before(lambda *_: np.random.random())
    monkeypatch.setattr(guard, "is_alone", lambda: False)
    assert failures(mine) == {}
    monkeypatch.setattr(guard, "is_alone", lambda: True)
    [(check, detail)] = failures(mine).items()
    assert check == "batches are valid and the same when played again"
    assert detail.startswith("algorithm in-turn: numbers are drawn from np.random; allowed: ")


def test_the_first_failure_is_raised() -> None:
    mine = before(lambda *arguments: arguments[3].random())
    message = message_of(lambda: dpbandits.check_algorithm(mine))
    assert message.startswith("kernel and reference agree on 100 seeds: algorithm in-turn, seed 0")
    assert message.endswith(" of 6 checks failed)")
    message = message_of(lambda: dpbandits.check_algorithm(mine, on_fail="warn"))
    assert message == "on_fail is 'warn'; allowed: 'raise', None"


def test_without_a_reference_the_comparison_is_skipped() -> None:
    def not_written(*_: Any) -> Iterator[Any]:
        raise NotImplementedError

    for reference in (None, not_written):
        found = dpbandits.check_algorithm(replace(MINE, reference=reference))
        assert [check.status for check in found].count("skipped") == 1
        assert str(found[2]).startswith("skipped: kernel and reference agree on 100 seeds: ")


@pytest.mark.parametrize("failed", mostly_slow([0, 1], 1))
def test_the_command_prints_a_line_a_check_and_ends_with_status_2_after_a_failure(
    failed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a machine that is busy elsewhere it takes long enough to say how far it is.
    monkeypatch.setattr("dpbandits.engine.progress.SECONDS_UNTIL_SHOWN", 1e6)
    right = EXAMPLE.read_text().replace("@numba.njit(nogil=True)\n", "")
    wrong = right.replace("arm = state.leader[0]", "arm = 0")
    assert wrong != right
    path = tmp_path / "my_file.py"
    path.write_text(wrong if failed else right)
    assert main(["check", str(path), "--params", "epsilon=2", "pulls=30"]) == 2 * failed
    printed = capsys.readouterr()
    lines = [line.partition(": ")[0] for line in printed.out.splitlines()]
    assert sorted(lines) == ["failed"] * failed + ["passed"] * (6 - failed)
    assert printed.err == "dpbandits: 1 of 6 checks failed\n" * failed
