"""`dpbandits check FILE.py` and `check_algorithm`: what passes, and which check finds a fault."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import IDENTIFICATION
from dpbandits.algorithms.base import Algorithm, Definition
from dpbandits.bandits.draws import draw_reward
from dpbandits.cli import main
from support import message_of, mostly_slow

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/my_kernel.py"


@pytest.fixture(scope="module")
def example() -> Algorithm:
    """Return the example with its kernel as plain Python."""
    loaded = dpbandits.load_algorithm(EXAMPLE)
    assert isinstance(loaded, Algorithm)
    return replace(loaded, advance=loaded.advance.py_func)  # type: ignore[attr-defined]


def failures(algorithm: Definition) -> dict[str, str]:
    checks = dpbandits.check_algorithm(algorithm, on_fail=None)
    return {check.name: check.detail for check in checks if check.status == "failed"}


@pytest.mark.parametrize(
    "name",
    mostly_slow(["ucb1", "dp-se", "anytime-lazy-ucb", "gdp-ncb", "baseline"], "dp-se", "baseline"),
)
def test_ours_pass(name: str) -> None:
    assert {check.status for check in dpbandits.check_algorithm(name)} == {"passed"}


def test_the_command_prints_what_passed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(EXAMPLE), "--params", "epsilon=2", "pulls=30"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("passed: ") for line in lines)
    assert "passed: kernel and reference agree on 100 seeds" in lines


def test_the_command_ends_with_one_line_a_failure_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a machine that is busy elsewhere it takes long enough to say how far it is.
    monkeypatch.setattr("dpbandits.engine.progress.SECONDS_UNTIL_SHOWN", 1e6)
    text = EXAMPLE.read_text().replace("@numba.njit(nogil=True)\n", "")
    wrong = text.replace("arm = state.leader[0]", "arm = 0")
    assert wrong != text
    (tmp_path / "own_wrong.py").write_text(wrong)
    assert main(["check", str(tmp_path / "own_wrong.py")]) == 2
    printed = capsys.readouterr()
    failed = [line for line in printed.out.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 1
    assert failed[0].startswith(
        "failed: kernel and reference agree on 100 seeds: algorithm my-kernel, seed "
    )
    assert printed.err == "dpbandits: 1 of 6 checks failed\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere.py"], "nowhere.py: is no Python file; allowed: "),
        ([str(EXAMPLE), "--params", "pulls=0", "epsilon=1"], "1 of 1 checks failed"),
        ([str(EXAMPLE), "--params", "pulls"], "params is 'pulls'; allowed: NAME=VALUE"),
    ],
)
def test_wrong_input_of_the_command(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *words]) == 2
    assert expected in capsys.readouterr().err


def kernel_that(change: Callable[..., Any]) -> Callable[[Algorithm], Algorithm]:
    """Return what puts ``change(advance, arguments)`` in place of the kernel."""
    return lambda mine: replace(mine, advance=lambda *arguments: change(mine.advance, arguments))


def forgets(advance: Any, arguments: Any) -> int:
    """Forgets its sums of rewards whenever it is resumed."""
    arguments[1].reward_sums[:] = 0.0
    return int(advance(*arguments))


def needs_room(advance: Any, arguments: Any) -> int:
    return int(advance(*arguments)) if arguments[4].arms.size > 1 else 0


def other_stream(advance: Any, arguments: Any) -> int:
    arguments[3].random()
    return int(advance(*arguments))


def wrong_law(advance: Any, arguments: Any) -> int:
    """Draws the rewards of the arm before the one that it plays, whatever the generator."""
    settings, state, (laws, law_parameters), generator, (arms, lengths, sums) = arguments
    begin = int(state.clock[0])
    size = min(arms.size, settings.horizon - begin)
    for entry in range(size):
        arms[entry], lengths[entry] = (begin + entry) % laws.size, 1
        drawn = (begin + entry - 1) % laws.size
        sums[entry] = draw_reward.py_func(laws[drawn], law_parameters[drawn], generator)
    state.clock[0] += size
    return size


def with_numpy(advance: Any, arguments: Any) -> int:
    written = int(advance(*arguments))
    arguments[4].arms[:written] = np.random.randint(arguments[2].laws.size, size=written)
    return written


def no_end(mine: Algorithm) -> Algorithm:
    def reference(settings: Any, bandit: Any, generator: Any) -> Iterator[Any]:
        while True:
            yield 0, 1, bandit.draw(0, generator)

    return replace(mine, reference=reference)


def reference_that_fails(mine: Algorithm) -> Algorithm:
    return replace(mine, reference=lambda *_: [][0])


PLANTED: dict[str, tuple[Callable[[Algorithm], Algorithm], str, str]] = {
    "forgets": (kernel_that(forgets), "small buffers", " with buffers of 1 it plays arm "),
    "needs room": (kernel_that(needs_room), "small buffers", "round 1: advance returns 0; "),
    "other stream": (kernel_that(other_stream), "agree", "seed 0, round 4: the kernel plays arm 0"),
    "wrong law": (
        kernel_that(wrong_law),
        "any order",
        "round 2: sum of rewards of arm 1 is 1; allowed: 0 ",
    ),
    "np.random": (kernel_that(with_numpy), "batches are valid", " when played again; allowed: "),
    "endless reference": (no_end, "agree", "the reference plays arm 0 for 501 rounds "),
    "failing reference": (reference_that_fails, "agree", "reference raises IndexError: "),
    "guarantee": (
        lambda mine: replace(mine, guarantee=lambda *_: "pure"),
        "guarantee are valid",
        "guarantee ",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_fails_its_check(fault: str, example: Algorithm) -> None:
    np.random.seed(1)
    plant, name, detail = PLANTED[fault]
    failed = failures(plant(replace(example, id="planted")))
    [found] = [text for check, text in failed.items() if name in check]
    assert detail in found
    assert "\n" not in found


def test_a_kernel_that_ends_with_the_horizon_of_k_rounds_fails(example: Algorithm) -> None:
    def too_long(advance: Any, arguments: Any) -> int:
        written = int(advance(*arguments))
        if arguments[0].horizon < arguments[2].laws.size:
            arguments[4].lengths[written - 1] = 3
        return written

    failed = failures(kernel_that(too_long)(replace(example, id="planted")))
    assert list(failed) == ["horizons 1, 2 and K - 1 are played or rejected"]


def test_the_first_failure_is_raised(example: Algorithm) -> None:
    mine = kernel_that(other_stream)(replace(example, id="planted"))
    message = message_of(lambda: dpbandits.check_algorithm(mine))
    assert message.startswith("kernel and reference agree on 100 seeds: algorithm planted, seed 0")
    assert message.endswith(" of 6 checks failed)")
    message = message_of(lambda: dpbandits.check_algorithm(mine, on_fail="warn"))
    assert message == "on_fail is 'warn'; allowed: 'raise', None"


@pytest.mark.parametrize("reference", [None, lambda *_: _not_written()])
def test_without_a_reference_the_comparison_is_skipped(reference: Any, example: Algorithm) -> None:
    checks = dpbandits.check_algorithm(replace(example, id="planted", reference=reference))
    assert [check.status for check in checks].count("skipped") == 1
    assert str(checks[2]).startswith("skipped: kernel and reference agree on 100 seeds: ")


def _not_written() -> Iterator[Any]:
    raise NotImplementedError


def test_trials_that_differ_from_the_reference_fail() -> None:
    ours = IDENTIFICATION["baseline"]

    def play(*arguments: Any) -> Any:
        outcome = ours.play(*arguments)
        return replace(outcome, recommended=(outcome.recommended + 1) % 3)

    failed = failures(replace(ours, id="planted", play=play))
    assert list(failed) == ["trials and reference agree on 100 seeds"]
    [detail] = failed.values()
    assert "algorithm planted, seed 0: play recommends arm " in detail
