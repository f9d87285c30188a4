"""User-defined arms: rewards by a function of the generator, and recorded rewards."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY, REGRET
from dpbandits.bandits.draws import FIRST
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Cell, Work
from dpbandits.engine.compute import compute
from dpbandits.own.arms import MAXIMAL_ENTRIES, CustomBandit
from support import cell_of, message_of, mostly_slow

SHARE = 0.75


def better(rng: np.random.Generator) -> float:
    """A coin of probability SHARE."""
    return rng.random() < SHARE


def worse(rng: np.random.Generator) -> float:
    return 0.5 * rng.random()


BETTER, WORSE = numba.njit(better), numba.njit(worse)
"""Compiled once for all tests."""


@pytest.fixture(scope="module")
def coins() -> CustomBandit:
    return dpbandits.arms([BETTER, WORSE], means=[0.75, 0.25])


RECORDED = dpbandits.replay([[1, 0, 1, 1], [0.25, 0.5, 1]])


@dpbandits.policy(name="Greedy")
class Greedy:
    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> Any:
        return t if t < counts.size else np.argmax(sums / counts)


def arms_cell(bandit: CustomBandit, algorithm: Any = "ucb1", **changes: Any) -> Cell:
    base: dict[str, Any] = {"horizon": 200, "metrics": ["pulls", "realised_regret"]}
    return cell_of(algorithm=algorithm, bandit=bandit, **(base | changes))


@pytest.mark.parametrize("algorithm", mostly_slow(["ucb1", "dp-se", "gdp-ncb"], "dp-se"))
def test_recorded_rewards_are_paid_in_their_order_in_every_run(algorithm: str) -> None:
    """One by one, and in segments that are sums."""
    told = arms_cell(RECORDED, algorithm, parameters=REGRET[algorithm].example)
    played = Work(told, range(3)).play(0)
    for counts, regret in zip(played["pulls"].astype(int), played["realised_regret"], strict=True):
        pulls = zip([[1, 0, 1, 1], [0.25, 0.5, 1]], counts, strict=True)
        paid = [row[n % len(row)] for row, most in pulls for n in range(most)]
        np.testing.assert_allclose(regret[-1], 200 * 0.75 - sum(paid))


def test_every_run_draws_rewards_of_its_own_by_the_functions(coins: CustomBandit) -> None:
    assert coins.means.tolist() == [0.75, 0.25]
    np.testing.assert_allclose(RECORDED.means, [3 / 4, 7 / 12])
    table = coins.table(40_000, np.random.default_rng(1))[:, FIRST:]
    assert set(np.unique(table[0])) == {0.0, 1.0}
    assert 0.49 < table[1].max() < 0.5
    # Six standard deviations of 40000 rewards.
    np.testing.assert_allclose(table.mean(axis=1), coins.means, atol=6 * 0.5 / 200)
    simulation = dpbandits.simulate(algorithm="ucb1", bandit=coins, horizon=200, runs=6)
    np.testing.assert_allclose(simulation.pseudo_regret, 0.5 * simulation.pulls[:, 1])
    assert len({*simulation.realised_regret}) == 6
    [average] = simulation.nash_regret(at=[200]).average_regret
    assert average == pytest.approx(simulation.pseudo_regret.mean() / 200)


@pytest.mark.slow
def test_worker_processes_play_the_same(coins: CustomBandit) -> None:
    for algorithm, bandit in ((Greedy, coins), ("ucb1", RECORDED)):
        work = Work(arms_cell(bandit, algorithm), range(20))
        one, two = (
            compute([work], root_seed=5, workers=workers, cache=Cache(is_used=False))
            for workers in (1, 2)
        )
        np.testing.assert_array_equal(one[0]["pulls"], two[0]["pulls"])


def test_what_does_not_compile_is_said_and_draws_the_same(
    coins: CustomBandit, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = dpbandits.arms(
        [lambda rng: float(rng.random() < 0.75), lambda rng: 0.5 * rng.random()], means=[0.75, 0.25]
    )
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("arm 0: does not compile and is drawn in plain Python (its function, ")
    tables = [each.table(500, np.random.default_rng(2)) for each in (plain, coins)]
    np.testing.assert_array_equal(*tables)


def scaled(scale: float) -> Callable[..., float]:
    return lambda rng: scale * rng.random()


def test_results_are_keyed_by_the_functions_and_by_the_rewards() -> None:
    first, again, other = (
        dpbandits.arms([scaled(scale), WORSE], means=[scale / 2, 0.25]).describe()
        for scale in (0.5, 0.5, 0.75)
    )
    assert first == again != other
    for row, is_same in (([0.25, 0.5, 1.0], True), ([0.25, 1, 0.5], False)):
        again = dpbandits.replay([[1, 0, 1, 1], row])
        assert (RECORDED.describe() == again.describe()) == is_same


async def late(rng: np.random.Generator) -> float:
    return rng.random()


def many(rng: np.random.Generator) -> Any:
    yield rng.random()


def arms_of(second: Any, *means: float) -> Callable[[], Any]:
    return lambda: dpbandits.arms([BETTER, second], means=means)


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: dpbandits.arms([better], means=[0.75]), "bandit: 1 arms; allowed: 2 to "),
    (arms_of(WORSE, 0.75), "arms: 1 means; allowed: one for each function of a list"),
    (arms_of(WORSE, 0.75, 1.5), "arms: means: reward is 1.5; allowed: 0 to 1"),
    (arms_of(WORSE, 0.75, 0.5), "arm 1: mean is 0.5, and 10000 rewards average 0.2"),
    (arms_of(0.5, 0.75, 0.5), "arms: arm 1 is 0.5; allowed: a function of a generator"),
    (arms_of(scaled(2.0), 0.75, 1.0), "arm 1: reward is 1."),
    (arms_of(lambda rng: math.nan, 0.75, 1.0), "arm 1: reward is nan; allowed: 0 to 1"),
    (arms_of(lambda rng: {}["x"], 0.75, 1.0), "arm 1: its function raises KeyError: 'x'"),
    (arms_of(lambda rng: random.random(), 0.75, 0.5), "arm 1: rewards differ when they are draw"),
    (lambda: replace(REGISTRY["ucb1"], advance=late), "ucb1: advance is a coroutine (async def)"),
    (arms_of(late, 0.75, 0.5), "arms: arm 1 is a coroutine (async def); allowed: a plain func"),
    (arms_of(many, 0.75, 0.5), "arms: arm 1 is a generator (yield); allowed: a plain function"),
    (lambda: dpbandits.replay([[1, 0], []]), "replay: row 1 is no list of numbers; allowed: num"),
    (lambda: dpbandits.replay([[1, 0], [2]]), "replay: row 1: reward is 2; allowed: 0 to 1"),
    (
        lambda: Work(arms_cell(RECORDED, horizon=MAXIMAL_ENTRIES), range(3)).play(0),
        "horizon is 10000000, with 2 arms of your own; allowed: at most 5000000, as a run keeps",
    ),
]


@pytest.mark.slow
def test_wrong_arms_are_one_line() -> None:
    for function, expected in WRONG:
        assert message_of(function).startswith(expected)


@pytest.mark.parametrize("compiles", [True, False])
def test_a_mean_that_became_false_is_one_line(
    compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nothing was asked of the arms before their function changed."""
    plain = [lambda rng: float({True: rng.random() < SHARE}[True]), worse]
    functions = [numba.njit(better), WORSE] if compiles else plain
    mine = dpbandits.arms(functions, means=[0.75, 0.25])
    monkeypatch.setitem(globals(), "SHARE", 0.5)
    simulation = dpbandits.simulate(algorithm="ucb1", bandit=mine, horizon=20, runs=2)
    assert " something that " in (message := message_of(lambda: simulation.pulls))
    assert "was changed" in message
    monkeypatch.setitem(globals(), "SHARE", 0.75)
    assert simulation.pulls.sum() == 40
