"""Identification from Python and from the command line: laziness, blocks, streams, refusals."""

from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGRET, find_algorithm, find_identification
from dpbandits.cli import main
from dpbandits.engine import cells
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import make_cell
from dpbandits.engine.fan_out import compute
from dpbandits.engine.trials import TRIALS
from dpbandits.metrics.intervals import rate_interval
from dpbandits.metrics.names import COUNTED
from support import message_of

BANDIT = dpbandits.linear([[0, 1], [0, 0.9], [10, 0], [1, 0.3], [1, 0.7]], [0.045, 0.5])


def identify(**changes: Any) -> dpbandits.Identification:
    base: dict[str, Any] = {
        "algorithm": "dp-bai",
        "params": {"epsilon": 1.0},
        "bandit": BANDIT,
        "budget": 200,
        "runs": 30,
    }
    return dpbandits.identify(**(base | changes))


@pytest.mark.parametrize("name", IDENTIFICATION)
def test_every_algorithm_answers(name: str) -> None:
    example = IDENTIFICATION[name].example
    trials = identify(algorithm=name, params=example, budget=400)
    assert trials.success.shape == (30,)
    assert trials.pulls.shape == (30, 5)
    np.testing.assert_array_equal(trials.pulls.sum(axis=1), trials.total_pulls)
    np.testing.assert_array_equal(trials.success, trials.recommended == BANDIT.best_arm)
    assert trials.exact.all()
    assert trials.trace.recommended == trials.recommended[0]
    np.testing.assert_array_equal(trials.trace.pulls(5), trials.pulls[0])


def test_it_computes_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("played before a result was asked for")

    monkeypatch.setattr(cells, "play_trials", refuse)
    trials = identify(seed=987654321)
    with pytest.raises(AssertionError, match="played before"):
        _ = trials.success


def test_more_runs_keep_the_first_ones(tmp_path: Any) -> None:
    few, more = (identify(runs=runs).recommended for runs in (30, TRIALS + 30))
    np.testing.assert_array_equal(few, more[:30])
    assert more.size == TRIALS + 30


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_workers(tmp_path: Any) -> None:
    cells = [
        make_cell(algorithm="dp-bai", parameters={"epsilon": epsilon}, bandit=BANDIT, horizon=200,
                  runs=2 * TRIALS, metrics=["success", "recommended"])
        for epsilon in (0.5, 1.0)
    ]  # fmt: skip
    found = [
        compute(cells, root_seed=7, workers=workers, cache=Cache(tmp_path / str(workers)))
        for workers in (1, 2)
    ]
    for other in found[1:]:
        for expected, values in zip(found[0], other, strict=True):
            for metric in expected:
                assert values[metric].tobytes() == expected[metric].tobytes()


def test_a_shared_stream_and_two_streams() -> None:
    def played(epsilon: float, stream: str | None) -> Any:
        cell = make_cell(
            algorithm="dp-bai",
            parameters={"epsilon": epsilon},
            bandit=BANDIT,
            horizon=200,
            runs=TRIALS,
            metrics=["recommended"],
            stream=stream,
        )
        return cell.play(11)["recommended"]

    large, infinite = 1e9, float("inf")
    # Noise of scale 1e-9 changes no ranking, but its draws do change where later trials begin.
    assert not np.array_equal(played(large, None), played(infinite, None))
    assert np.array_equal(played(infinite, "common"), played(infinite, "common"))
    assert not np.array_equal(played(infinite, "common"), played(infinite, "another"))


def test_success_is_counted_in_blocks() -> None:
    assert list(COUNTED) == ["success", "total_pulls"]
    # Clopper-Pearson by the closed forms at the ends: 1 - (alpha/2)^(1/n) and its mirror.
    rate, low, high = rate_interval([0, 10], [10, 10])
    end = 1 - 0.025**0.1
    np.testing.assert_allclose([*rate, *low, *high], [0, 1, 0, 1 - end, end, 1], rtol=1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithm": "ucb1"}, "'ucb1', which names no best arm; allowed: dp-bai"),
        ({"algorithm": "dp-bay"}, "algorithm is 'dp-bay'; allowed: "),
        ({"params": {}}, "dp-bai: parameters are none; allowed: epsilon"),
        ({"params": {"epsilon": 0}}, "epsilon is 0; allowed: "),
        ({"params": {"epsilon": float("nan")}}, "epsilon is nan; allowed: "),
        ({"algorithm": "dp-bai-gauss", "params": {"epsilon": 1, "delta": 1}}, "delta is 1; "),
        ({"algorithm": "dp-bai-gauss", "params": {"epsilon": 1, "delta": 0}}, "delta is 0; "),
        ({"bandit": dpbandits.bernoulli([0.5, 0.4])}, "allowed: a linear bandit"),
        ({"budget": 2}, "budget is 2; allowed: at least "),
        ({"budget": 0}, "budget is 0; allowed: an integer from 1"),
        ({"budget": 10.5}, "budget is 10.5; allowed: an integer"),
        ({"runs": 0}, "runs is 0; allowed: "),
        (
            {"interpretations": {"schedule": "no"}},
            "interpretation schedule is 'no'; allowed: consistent",
        ),
        ({"variant": "as-coded"}, "variant is 'as-coded'; allowed: as-written"),
        ({"seed": -1}, "seed is -1; allowed: "),
        ({"workers": 0}, "workers is 0; allowed: "),
    ],
)
def test_refusals(changes: dict[str, Any], words: str) -> None:
    assert words in message_of(lambda: identify(**changes))


def test_the_two_kinds_are_kept_apart() -> None:
    assert not set(REGRET) & set(IDENTIFICATION)
    assert "names a best arm" in message_of(lambda: find_algorithm("dp-bai"))
    assert "names no best arm" in message_of(lambda: find_identification("ucb1"))


COMMAND = [
    "identify", "dp-bai", "--params", "epsilon=1", "--features", "0,1; 0,0.9; 10,0",
    "--theta", "0.045,0.5", "--budget", "400", "--runs", "50",
]  # fmt: skip


def test_the_command_prints_what_python_returns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(COMMAND) == 0
    printed = capsys.readouterr().out
    trials = identify(
        bandit=dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5]), budget=400, runs=50
    )
    [success] = [line.split() for line in printed.splitlines() if line.startswith("success ")]
    ends = rate_interval(trials.success.sum(), 50)
    assert success[1:] == [f"{float(each):.6g}" for each in ends]
    assert f"most pulls of a trial: {trials.total_pulls.max()}, of a budget of 400" in printed


def test_the_command_refuses_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word.replace("0.045,0.5", "0.045") for word in COMMAND]) == 2
    assert capsys.readouterr().err == "dpbandits: linear: theta has 1 entries; allowed: 2\n"
    assert main([word.replace("10,0", "10") for word in COMMAND]) == 2
    assert "features are no numbers" in capsys.readouterr().err
