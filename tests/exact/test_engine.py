"""The engine: blocks of runs, worker processes, and results that depend on neither."""

import functools
import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.config.experiments import Caps, SimulationPlan, SimulationSpec, refuse_shared_cells
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import BLOCK, Cell, make_cell
from dpbandits.engine.fan_out import compute
from dpbandits.engine.identity import run_generator, stream_key
from support import message_of, run_python

FIVE_ARMS = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])
ROOT_SEED = 7


def cell(**changes: Any) -> Cell:
    """Make a small cell of modified Thompson sampling."""
    base: dict[str, Any] = {
        "algorithm": "m-ts-gaussian",
        "parameters": {"b": 2, "c": 1.5},
        "bandit": FIVE_ARMS,
        "horizon": 60,
        "runs": 20,
        "metrics": ["pseudo_regret", "realised_regret", "pulls", "inverse_counts"],
        "grid": [1, 17, 60],
    }
    return make_cell(**(base | changes))


def every_algorithm() -> list[Cell]:
    return [cell(algorithm=each.id, parameters=dict(each.example)) for each in REGRET.values()]


def entries(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file below a folder, by name."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that takes down the first run of every block that is computed."""
    first_runs: list[int] = []
    play = Cell.play

    def noted(self: Cell, root_seed: int) -> dict[str, Any]:
        first_runs.append(self.first_run)
        return play(self, root_seed)

    monkeypatch.setattr(Cell, "play", noted)
    return first_runs


def test_values_and_bytes_for_1_2_and_8_workers(tmp_path: Path) -> None:
    found, bytes_written = [], []
    for workers in (1, 2, 8):
        cache = Cache(tmp_path / str(workers))
        found.append(compute(every_algorithm(), root_seed=ROOT_SEED, workers=workers, cache=cache))
        bytes_written.append(entries(cache.cells))
    assert len(bytes_written[0]) == 2 * len(REGRET)
    assert bytes_written[0] == bytes_written[1] == bytes_written[2]
    for other in found[1:]:
        for expected, values in zip(found[0], other, strict=True):
            assert list(values) == list(expected)
            for metric in expected:
                assert values[metric].tobytes() == expected[metric].tobytes()


PRINT_DIGESTS = """
import hashlib, sys
import dpbandits
for algorithm, params in (("m-ts-gaussian", {"c": 2.0, "b": 3}), ("dp-se", {"epsilon": 1.0})):
    simulation = dpbandits.simulate(
        algorithm=algorithm, params=params, bandit=dpbandits.bernoulli([0.7, 0.2, 0.4]),
        horizon=300, runs=12, seed=5,
    )
    print(hashlib.sha256(simulation.realised_regret.tobytes()).hexdigest())
    print(simulation.cell.fingerprint)
"""


@pytest.mark.slow
def test_hash_seed_of_python_changes_nothing(cache_folder: Path) -> None:
    printed, bytes_written = [], []
    for hash_seed in ("0", "4711"):
        changes: dict[str, str | None] = {"PYTHONHASHSEED": hash_seed}
        run = run_python("-W", "error", "-c", PRINT_DIGESTS, changes=changes)
        assert run.returncode == 0, run.stderr
        printed.append(run.stdout)
        bytes_written.append(entries(cache_folder / "cells"))
        shutil.rmtree(cache_folder / "cells")
    assert len(printed[0].split()) == len(bytes_written[0]) == 4
    assert printed[0] == printed[1]
    assert bytes_written[0] == bytes_written[1]


def runs_of(values: dict[str, Any], rows: Sequence[int]) -> list[bytes]:
    return [values[metric][row].tobytes() for metric in values for row in rows]


def test_more_runs_compute_new_blocks_only(played: list[int]) -> None:
    [few] = compute([cell(runs=20)], root_seed=ROOT_SEED)
    assert played == [0, 10]
    [many] = compute([cell(runs=100)], root_seed=ROOT_SEED)
    assert played == [0, 10, *range(20, 100, 10)]
    assert runs_of(few, range(20)) == runs_of(many, range(20))
    [again] = compute([cell(runs=100)], root_seed=ROOT_SEED)
    assert len(played) == 10
    assert runs_of(again, range(100)) == runs_of(many, range(100))


@pytest.mark.parametrize(
    ("first_run", "runs", "blocks"),
    [
        (0, 25, [0, 10, 20]),
        (0, 1, [0]),
        (7, 5, [0, 10]),
        (15, 30, [10, 20, 30, 40]),
        (29, 1, [20]),
        (30, 10, [30]),
    ],
)
def test_ends_of_the_runs_may_lie_inside_blocks(
    played: list[int], first_run: int, runs: int, blocks: list[int]
) -> None:
    [part] = compute([cell(first_run=first_run, runs=runs)], root_seed=ROOT_SEED)
    assert played == blocks
    assert {values.shape[0] for values in part.values()} == {runs}
    [whole] = compute([cell(first_run=0, runs=50)], root_seed=ROOT_SEED)
    assert runs_of(part, range(runs)) == runs_of(whole, range(first_run, first_run + runs))


def test_blocks_are_aligned() -> None:
    assert BLOCK == 10
    blocks = cell(first_run=15, runs=17).blocks()
    assert [(block.first_run, block.runs) for block in blocks] == [(10, 10), (20, 10), (30, 10)]


def test_a_block_that_was_cut_is_whole_in_the_cache(played: list[int]) -> None:
    compute([cell(runs=25)], root_seed=ROOT_SEED)
    compute([cell(runs=30)], root_seed=ROOT_SEED)
    assert played == [0, 10, 20]


def test_a_block_that_two_cells_share_is_computed_once(played: list[int]) -> None:
    first, second = compute([cell(runs=10), cell(runs=20)], root_seed=ROOT_SEED)
    assert played == [0, 10]
    assert runs_of(first, range(10)) == runs_of(second, range(10))


def test_runs_do_not_depend_on_what_is_recorded() -> None:
    dense = cell(grid=range(1, 61), metrics=["pseudo_regret"]).play(ROOT_SEED)
    for metric in ("pseudo_regret", "realised_regret", "pulls"):
        [sparse] = cell(grid=[60], metrics=[metric]).play(ROOT_SEED).values()
        if metric == "pseudo_regret":
            assert sparse[:, 0].tobytes() == dense[metric][:, -1].tobytes()
        if metric == "pulls":
            assert np.allclose(sparse @ FIVE_ARMS.gaps, dense["pseudo_regret"][:, -1], rtol=1e-13)


@pytest.mark.parametrize("block", every_algorithm(), ids=REGRET.keys())
def test_metrics_are_those_of_the_reference_s_decisions(block: Cell) -> None:
    values = block.play(ROOT_SEED)
    for run in (0, 19):
        generator = run_generator(ROOT_SEED, stream_key(block.stream_description), run)
        decisions = block.definition.reference(block.settings, FIVE_ARMS, generator)
        arms, lengths, sums = map(np.array, zip(*decisions, strict=True))
        played = np.repeat(arms, lengths)
        # Known at the end of a chunk only.
        rewards = np.full(played.size, np.nan)
        rewards[np.cumsum(lengths) - 1] = np.cumsum(sums)
        times = np.array(block.grid)
        # At most 60 numbers below 1 are added in another order: errors of a few 1e-15.
        close = functools.partial(np.testing.assert_allclose, rtol=0, atol=1e-13)
        close(values["pseudo_regret"][run], np.cumsum(FIVE_ARMS.gaps[played])[times - 1])
        realised = FIVE_ARMS.means.max() * times - rewards[times - 1]
        # A kernel may join more rounds to a chunk than its reference, and knows less inside it.
        known = np.isfinite(values["realised_regret"][run])
        assert known[-1]
        close(values["realised_regret"][run][known], realised[known])
        assert values["pulls"][run].tolist() == np.bincount(played, minlength=5).tolist()
        pulls_before = np.cumsum(played[:, None] == np.arange(5), axis=0)[:-1]
        inverse = np.where(pulls_before > 0, 1 / (pulls_before + 1), 0.0)
        close(values["inverse_counts"][run], inverse.sum(axis=0))


def test_runs_and_root_seeds_differ() -> None:
    first, second = (cell(runs=20).play(seed)["realised_regret"] for seed in (1, 2))
    assert len(np.unique(np.concatenate([first, second])[:, -1])) == 40


def test_chunks_at_once_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [each.play(ROOT_SEED) for each in every_algorithm()]
    monkeypatch.setattr("dpbandits.engine.execute.CHUNKS_AT_ONCE", 7)
    for each, values in zip(every_algorithm(), expected, strict=True):
        assert runs_of(each.play(ROOT_SEED), range(20)) == runs_of(values, range(20))


def test_a_failure_is_not_cached(monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> None:
    play = Cell.play

    def failing(self: Cell, root_seed: int) -> dict[str, Any]:
        if self.first_run == 10:
            raise ArithmeticError("planted")
        return play(self, root_seed)

    with monkeypatch.context() as patched:
        patched.setattr(Cell, "play", failing)
        with pytest.raises(ArithmeticError, match="planted"):
            compute([cell(runs=30)], root_seed=ROOT_SEED)
    assert len(entries(cache_folder)) == 1, "the block before the failure is kept, nothing else"
    [after] = compute([cell(runs=30)], root_seed=ROOT_SEED)
    assert runs_of(after, range(30)) == runs_of(cell(runs=30).play(ROOT_SEED), range(30))


def plan(name: str, **changes: Any) -> SimulationPlan:
    spec = {
        "instance": "two",
        "horizon": 50,
        "runs": {"first": 0, "count": 20},
        "grid": {"at": [50]},
        "metrics": ["pseudo_regret"],
        "cells": [{"algorithm": "m-ts-gaussian", "parameters": {"b": 1, "c": 2}}],
    }
    instance = {"law": "bernoulli", "means": [0.7, 0.5]}
    origin = f"experiments.yaml: simulations.{name}"
    parsed = SimulationSpec.model_validate(spec | changes)
    return SimulationPlan(name, parsed, instance, Caps(), {}, origin)


def test_one_cell_in_two_simulations_is_refused() -> None:
    plans = {"one": plan("one"), "two": plan("two", runs={"first": 10, "count": 20})}
    message = message_of(lambda: refuse_shared_cells(plans))
    assert "experiments.yaml: simulations.two: series 'm-ts-gaussian' stands in one too" in message


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": {"first": 20, "count": 20}},
        {"horizon": 51, "grid": {"at": [51]}},
        {"cells": [{"algorithm": "m-ts-gaussian", "parameters": {"b": 1, "c": 3}}]},
    ],
)
def test_different_cells_are_allowed(changes: dict[str, Any]) -> None:
    refuse_shared_cells({"one": plan("one"), "two": plan("two", **changes)})


def test_blocks_are_cells_of_their_own() -> None:
    block = cell(runs=20).blocks()[1]
    assert block == replace(cell(runs=20), first_run=10, runs=10)
    assert block.stream_description == cell(runs=20).stream_description
