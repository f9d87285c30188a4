"""Nash curves in the engine: one process a curve, cache, and rows of results."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.base import Algorithm
from dpbandits.config.experiments import Caps, SimulationPlan, SimulationSpec
from dpbandits.engine import compute as compute_module
from dpbandits.engine import play
from dpbandits.engine.cells import Cell, Series, Work, make_cell
from dpbandits.engine.compute import compute, compute_series
from dpbandits.engine.results import results_frame
from dpbandits.kernels import UNIFORM
from dpbandits.metrics import QUANTITIES
from dpbandits.privacy import Guarantee
from support import message_of

BANDIT = dpbandits.bernoulli([0.75, 0.5, 0.25])
ROOT_SEED = 7


def cell(**changes: Any) -> Cell:
    """Make a small Nash cell of an algorithm that plays in episodes."""
    base: dict[str, Any] = {
        "algorithm": "dp-ts-ucb",
        "parameters": {"alpha": 1.0},
        "bandit": BANDIT,
        "horizon": 400,
        "metrics": ["nash_regret", "nash_influence", "nash_bins"],
        "grid": [1, 170, 400],
    }
    return make_cell(**(base | changes))


CELLS = [
    cell(),
    cell(algorithm="ucb1", parameters={}),
    cell(algorithm="dp-se", parameters={"epsilon": 1.0}),
    cell(algorithm="ucb1", parameters={}, bandit=dpbandits.bernoulli([0.7, 0.0])),
]


def curve(cell: Cell, runs: int = 6) -> dict[str, Any]:
    """Play the first runs of a cell."""
    return Work(cell, range(runs)).play(ROOT_SEED)


def bytes_of(block: dict[str, Any]) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in block.items()}


def test_windows_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in CELLS:
        expected = bytes_of(curve(each))
        for segments in (6, 7 * 6, 150 * 6):
            monkeypatch.setattr(play, "SEGMENTS_OF_A_CURVE", segments)
            assert bytes_of(curve(each)) == expected


def test_times_and_other_metrics_change_no_byte() -> None:
    alone = curve(cell(grid=[170], metrics=["nash_regret"]))["nash_regret"]
    whole = curve(cell(grid=range(1, 401), metrics=["pulls", "nash_regret"]))
    assert alone[0, :, 0].tobytes() == whole["nash_regret"][0, :, 169].tobytes()


def test_other_metrics_are_those_of_an_ordinary_cell() -> None:
    """Runs are the same, however they are played: streams know nothing of what is recorded."""
    others = ["pseudo_regret", "realised_regret", "pulls", "inverse_counts"]
    for each in REGRET.values():
        changes: dict[str, Any] = {"algorithm": each.id, "parameters": dict(each.example)}
        plain = curve(cell(**changes, metrics=others))
        beside = curve(cell(**changes, metrics=["nash_regret", *others]))
        for name in others:
            np.testing.assert_array_equal(beside[name], plain[name])


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return a list that takes down the first run and the runs of every work."""
    noted: list[tuple[int, int]] = []
    played = Work.play

    def noting(self: Work, root_seed: int) -> dict[str, Any]:
        noted.append((self.runs.start, len(self.runs)))
        return played(self, root_seed)

    # Before, lest it be taken down.
    compute_module.compile_kernels([cell(), cell(algorithm="ucb1", parameters={})])
    monkeypatch.setattr(Work, "play", noting)
    return noted


def test_a_curve_is_one_work_of_all_its_runs(played: list[tuple[int, int]]) -> None:
    compute([Work(cell(), range(3, 28))] * 2, root_seed=ROOT_SEED)
    compute([Work(cell(), range(3, 28))], root_seed=ROOT_SEED)
    assert played == [(3, 25)]
    compute([Work(cell(), range(3, 29))], root_seed=ROOT_SEED)
    assert played == [(3, 25), (3, 26)], "another number of runs is another curve"


def test_every_part_comes_from_the_same_entry(played: list[tuple[int, int]]) -> None:
    for metrics in (["nash_regret"], ["nash_bins"], ["nash_influence", "nash_regret"]):
        [block] = compute([Work(cell(metrics=metrics), range(6))], root_seed=ROOT_SEED)
        assert set(block) == set(metrics)
    assert len(played) == 1
    pair = [Work(cell(grid=[9], metrics=[name]), range(6)) for name in ("nash_bins", "nash_regret")]
    assert [list(runs) for runs in compute(pair, root_seed=1)] == [["nash_bins"], ["nash_regret"]]
    assert [list(runs) for runs in compute(pair, root_seed=1)] == [["nash_bins"], ["nash_regret"]]
    assert len(played) == 2
    nominal = Work(cell(metrics=["nominal_nash_regret"]), range(6))
    compute([nominal], root_seed=ROOT_SEED)
    assert len(played) == 3


def test_keys_hold_what_arms_are_scored_by() -> None:
    arms = dpbandits.bernoulli([0.7, 0.0]).arms
    plain, nominal = dpbandits.Bandit(arms), dpbandits.Bandit(arms, nominal=(0.7, 0.1))
    tiny = dpbandits.Bandit(arms, logarithms=(math.log(0.7), -800.0))
    metrics = ["nash_regret", "nominal_nash_regret"]
    cells = [cell(bandit=each, metrics=metrics) for each in (plain, nominal, tiny)]
    assert len({Work(each, range(6)).key(1) for each in cells}) == 3
    assert len({str(each.stream_description) for each in cells}) == 1
    ordinary = [cell(bandit=each, metrics=["pulls"]) for each in (plain, nominal, tiny)]
    assert len({Work(each, range(6)).key(1) for each in ordinary}) == 1


def test_runs_together(played: list[tuple[int, int]]) -> None:
    series = Series("a", {}, cell(), range(5, 17), runs_per_curve=4)
    [found] = compute_series([series], root_seed=ROOT_SEED)
    assert played == [(5, 4), (9, 4), (13, 4)]
    assert found["nash_regret"].shape == (3, len(QUANTITIES), 3)
    assert found["nash_influence"].shape == (12, 3)
    [second] = compute([Work(cell(), range(9, 13))], root_seed=ROOT_SEED)
    assert len(played) == 3
    assert second["nash_regret"].tobytes() == found["nash_regret"][1:2].tobytes()


class _Settings(NamedTuple):
    horizon: int


class _State(NamedTuple):
    clock: Any


def _in_a_block(settings: Any, state: Any, bandit: Any, generator: Any, out: Any) -> int:
    """Play one block of uniformly random arms, then arm 0 to the end."""
    arms, lengths, sums = out
    arm, length = (UNIFORM, 5) if state.clock[0] == 0 else (0, settings.horizon - 5)
    arms[0], lengths[0], sums[0] = arm, length, 0.0
    state.clock[0] += length
    return 1


def _no_reference(*given: Any) -> Iterator[tuple[int, int, float]]:
    yield 0, 1, 0.0


BLOCKS = Algorithm(
    id="in-blocks",
    name="In blocks",
    paper="none",
    settings=lambda horizon, arms, **_: _Settings(horizon),
    state=lambda arms: _State(np.zeros(1, np.int64)),
    advance=_in_a_block,
    reference=_no_reference,
    guarantee=lambda parameters, horizon: Guarantee("none", math.inf),
    interpretations={"exploration": ("blocks", "rounds"), "log": ("natural", "base2")},
    presets={"repaired": {"log": "base2"}},
)


def blocks_cell(**changes: Any) -> Cell:
    base: dict[str, Any] = {"algorithm": BLOCKS, "parameters": {}, "horizon": 10, "grid": [5, 10]}
    return cell(**(base | changes))


def test_blocks_of_uniform_arms_are_scored_by_the_mean_of_all() -> None:
    values = curve(blocks_cell())["nash_regret"][0]
    named = dict(zip(QUANTITIES, values, strict=True))
    np.testing.assert_allclose(named["average_mean"], [0.5, (0.5 + 0.75) / 2], rtol=1e-15)
    expected = [math.log(0.5), (math.log(0.5) + math.log(0.75)) / 2]
    np.testing.assert_allclose(named["nash_log_mean"], expected, rtol=1e-14)


def test_other_metrics_refuse_blocks_of_uniform_arms() -> None:
    for metric in ["pulls", "pseudo_regret", "realised_regret", "inverse_counts"]:
        for metrics in ([metric], [metric, "nash_regret"]):
            message = message_of(lambda metrics=metrics: curve(blocks_cell(metrics=metrics)))  # type: ignore[misc]
            assert message == (
                "algorithm in-blocks: blocks of uniformly random arms have no pulls of each arm; "
                "allowed with them: Nash metrics"
            )


NOMINAL = dpbandits.Bandit(BANDIT.arms, nominal=(0.5, 0.5, 1.0))
SERIES = [
    Series(
        "one",
        {"epsilon": 2},
        cell(
            bandit=NOMINAL,
            metrics=["nash_regret", "nash_influence", "pulls", "nominal_nash_regret"],
        ),
        range(10, 16),
    ),
    Series("two", {}, cell(metrics=["nash_regret", "nash_bins"]), range(12), runs_per_curve=4),
]


@pytest.fixture(scope="module")
def frame() -> Any:
    return results_frame(SERIES, compute_series(SERIES, root_seed=ROOT_SEED))


def test_rows_of_results(frame: Any) -> None:
    one = frame[frame.series == "one"]
    # Quantities at 3 times, true and nominal; influences of 6 runs at 3 times; pulls of 3 arms.
    assert len(one) == 2 * len(QUANTITIES) * 3 + 6 * 3 + 6 * 3
    expected = SERIES[0].works[0].play(ROOT_SEED)
    for prefix in ("", "nominal_"):
        for number, name in enumerate(QUANTITIES):
            rows = one[one.metric == prefix + name]
            assert rows.t.tolist() == [1, 170, 400]
            assert (rows.run == 10).all()
            assert (rows.trials == 6).all()
            values = expected[prefix + "nash_regret"][0, number]
            assert rows.value.tolist() == values.tolist()
    influences = one[(one.metric == "nash_influence") & (one.t == 170)]
    assert influences.run.tolist() == list(range(10, 16))
    assert (influences.trials == 1).all()
    assert influences.value.tolist() == expected["nash_influence"][:, 1].tolist()
    best = one[one.metric.str.endswith("best_mean")].groupby("metric").value.unique()
    assert {name: list(values) for name, values in best.items()} == {
        "best_mean": [0.75],
        "nominal_best_mean": [1.0],
    }


def test_interpretations_are_told_off_those_of_the_variant() -> None:
    cells = [
        blocks_cell(),
        blocks_cell(variant="repaired"),
        blocks_cell(interpretations={"log": "base2"}),
        blocks_cell(
            variant="repaired", interpretations={"log": "natural", "exploration": "rounds"}
        ),
    ]
    series = [Series(str(number), {}, each, range(6)) for number, each in enumerate(cells)]
    rows = results_frame(series, [curve(each) for each in cells])
    told = rows.groupby("series")[["variant", "interpretation"]].first().to_numpy().tolist()
    assert told == [
        ["as-written", ""],
        ["repaired", ""],
        ["as-written", "log=base2"],
        ["repaired", "exploration=rounds,log=natural"],
    ]


def plan(**changes: Any) -> SimulationPlan:
    spec = {
        "instance": "two",
        "horizon": 50,
        "runs": {"first": 0, "count": 40, "runs_per_curve": 20},
        "grid": {"at": [50]},
        "metrics": ["nash_regret"],
        "cells": [{"algorithm": "ucb1"}],
    }
    instance = {"law": "bernoulli", "means": [0.7, 0.5]}
    parsed = SimulationSpec.model_validate(spec | changes)
    return SimulationPlan("one", parsed, instance, Caps(), {}, "experiments.yaml")


def test_plans_say_how_many_runs_make_a_curve() -> None:
    [series] = plan().series()
    assert [work.runs for work in series.works] == [range(20), range(20, 40)]
    [series] = replace(plan(), caps=Caps(runs=10)).series()
    assert [work.runs for work in series.works] == [range(10)]
    [series] = plan(runs={"first": 0, "count": 40}).series()
    assert [work.runs for work in series.works] == [range(40)]
