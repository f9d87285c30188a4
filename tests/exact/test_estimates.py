"""Simulations that would take days or more memory than there is are rejected before they begin."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY, REGRET
from dpbandits.algorithms.base import Algorithm
from dpbandits.cli import main
from dpbandits.engine import estimates
from dpbandits.engine.cells import Cell, make_cell
from support import message_of

ARMS = dpbandits.bernoulli([0.75, 0.5])
LINEAR = dpbandits.linear([[1, 0], [0, 1]], [0.5, 0.4])
LONGEST = 2**53


def simulate(**changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {"algorithm": "ucb1", "bandit": ARMS, "horizon": 100, "runs": 10}
    return dpbandits.simulate(**(base | changes))


def cell(**changes: Any) -> Cell:
    base: dict[str, Any] = {"algorithm": "ucb1", "bandit": ARMS, "horizon": 100, "runs": 10}
    return make_cell(**(base | changes))


@pytest.mark.parametrize(
    "find",
    [
        lambda: simulate(runs=10**9).pseudo_regret,
        lambda: simulate(runs=10**9).pulls,
        lambda: simulate(runs=2000, horizon=10**6).curve(
            metric="pseudo_regret", at=np.arange(1, 10**6 + 1)
        ),
        lambda: simulate(runs=8000, horizon=10**6).nash_regret(at=range(1, 10**5)),
        lambda: (
            dpbandits.identify(
                algorithm="sequential-halving", bandit=LINEAR, budget=100, runs=10**9
            ).success
        ),
    ],
)
def test_too_much_memory_is_one_line_at_once(find: Any) -> None:
    begun = time.process_time()
    message = message_of(find)
    assert message.startswith("memory limit is 8589934592; allowed: at least ")
    assert " bytes here" in message
    assert time.process_time() - begun < 20


def test_too_much_time_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    message = message_of(lambda: simulate(horizon=LONGEST).pseudo_regret)
    assert message.startswith("time limit is 24 hours; allowed: at least about ")
    assert message.endswith(f" hours here, for 10 runs of {LONGEST} rounds")


def test_limits_can_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "SMALL", 1)
    assert message_of(lambda: simulate(time_limit=1e-12).pulls).startswith(
        "time limit is 1e-12 hours; allowed: at least about "
    )
    assert simulate(time_limit=1).pulls.sum() == 1000
    least = estimates.memory_of(cell(metrics=["pseudo_regret", "realised_regret", "pulls"]))
    assert message_of(lambda: simulate(memory_limit=least - 1).pulls).startswith(
        f"memory limit is {least - 1}; allowed: at least {least} bytes here, for 10 runs"
    )
    assert simulate(memory_limit=least).pulls.sum() == 1000


def test_what_is_complete_in_the_cache_is_neither_timed_nor_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimates, "SMALL", 1)
    expected = simulate(time_limit=1).pulls
    monkeypatch.setattr(estimates, "_play_run", lambda *_: pytest.fail("is timed"))
    np.testing.assert_array_equal(simulate(time_limit=1e-12).pulls, expected)


@pytest.mark.parametrize("value", [0, -1, True, "1"])
def test_wrong_limits(value: Any) -> None:
    for name in ("memory_limit", "time_limit"):
        message = message_of(lambda name=name: simulate(**{name: value}))  # type: ignore[misc]
        assert message.startswith(f"{name.replace('_', ' ')} is {value!r}; allowed: a number of ")


def doubling(*arguments: Any) -> int:
    """Plays the first arm for 1, 2, 4, ... rounds, whose rewards are all 0."""
    settings, state, _, _, (arms, lengths, sums) = arguments
    written, t = 0, int(state.clock[0])
    while t < settings.horizon and written < arms.size:
        length = min(t + 1, settings.horizon - t)
        arms[written], lengths[written], sums[written] = 0, length, 0.0
        written += 1
        t += length
    state.clock[0] = t
    return written


def test_a_long_horizon_of_few_decisions_is_played() -> None:
    ours = REGRET["ucb1"]
    assert isinstance(ours, Algorithm)
    mine = replace(ours, id="doubling", advance=doubling)
    assert (simulate(algorithm=mine, horizon=LONGEST).pulls == [LONGEST, 0]).all()


def test_the_estimate_is_near_the_time_of_a_run() -> None:
    """Twenty times longer than what is timed, within a factor of five."""
    long = cell(horizon=10**8, runs=1)
    estimated = estimates.seconds_of(replace(long, runs=10)) / 10
    begun = time.process_time()
    estimates._play_run(long, 10**8)
    taken = time.process_time() - begun
    assert taken / 5 < estimated < 5 * taken


def test_small_simulations_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "_play_run", lambda *_: pytest.fail("is timed"))
    assert estimates.seconds_of(cell(horizon=10**6, runs=100)) == 0.0


def test_trials_are_timed_where_they_are_many() -> None:
    many = make_cell(
        algorithm="sequential-halving",
        bandit=LINEAR,
        horizon=100,
        runs=10**6,
        horizon_name="budget",
    )
    assert 0.0 < estimates.seconds_of(many) < 3600


def test_the_command_line_takes_limits(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "ucb1", "--arms", "0.7", "0.5", "--horizon", str(LONGEST), "--runs", "5"]
    assert main([*words, "--time-limit", "3"]) == 2
    assert "time limit is 3 hours; allowed: at least about " in capsys.readouterr().err
    assert main([*words, "--memory-limit", "7"]) == 2
    assert "memory limit is 7; allowed: at least " in capsys.readouterr().err


WITH_EPSILON = [name for name, each in REGISTRY.items() if "epsilon" in each.example]


@pytest.mark.parametrize("name", WITH_EPSILON)
@pytest.mark.parametrize("epsilon", [1e-310, 1e-307, 9.9e-101])
def test_epsilon_has_a_lower_bound(name: str, epsilon: float) -> None:
    example = {**REGISTRY[name].example, "epsilon": epsilon}
    regret = name in REGRET
    message = message_of(
        lambda: make_cell(
            algorithm=name,
            parameters=example,
            bandit=ARMS if regret else LINEAR,
            horizon=10**4,
            runs=1,
        )
    )
    assert message.startswith(f"{name}: epsilon is {epsilon!r}; allowed: ")
    assert "at least 1e-100" in message


@pytest.mark.parametrize("name", ["dp-ts", "lazy-dp-ts"])
def test_simulations_end_at_the_smallest_epsilon(name: str) -> None:
    assert simulate(algorithm=name, params={"epsilon": 1e-100}, horizon=2000).pulls.sum() == 20_000
