"""What `make verify` says of a cell, and which cells it draws."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits import InputError
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.experiments import Series
from dpbandits.engine.results import results_frame
from dpbandits.pipeline.project import Project
from dpbandits.verification.agreement import EXACT, OUTSIDE, WITHIN, Agreement, compare
from dpbandits.verification.sample import Plan, Sampled, _parts, draw_sample
from support import message_of

ROOT = Path(__file__).resolve().parents[2]
ALPHA = 0.001
"""Chance that a cell of the right law is outside; the seeds below are fixed."""

COINS = dpbandits.bernoulli([0.7, 0.4])
ARMS = dpbandits.linear([[1, 0], [0, 1], [0.7, 0.6]], [0.5, 0.4])


def regret(bandit: Bandit = COINS) -> Cell:
    return make_cell(
        algorithm="ucb1",
        bandit=bandit,
        horizon=300,
        runs=40,
        metrics=["pseudo_regret", "realised_regret", "pulls"],
        grid=[100],
    )


def nash(bandit: Bandit = COINS) -> Cell:
    metrics = ["nash_regret", "nash_influence"]
    return make_cell(algorithm="ucb1", bandit=bandit, horizon=300, runs=40, metrics=metrics)


def trials(bandit: Bandit = ARMS) -> Cell:
    return make_cell(
        algorithm="sequential-halving",
        bandit=bandit,
        horizon=60,
        runs=3000,
        metrics=["success", "total_pulls"],
    )


CELLS = {
    "regret": (regret, dpbandits.bernoulli([0.95, 0.1])),
    "nash": (nash, dpbandits.bernoulli([0.95, 0.1])),
    "identification": (trials, dpbandits.linear([[1, 0], [0, 1], [0.7, 0.6]], [0.9, 0.1])),
}
"""Kind -> (what makes a cell, an instance on which its numbers are others)."""


def frame(cell: Cell, seed: int) -> pd.DataFrame:
    blocks = [block.play(seed) for block in cell.blocks()]
    values = {name: np.concatenate([each[name] for each in blocks]) for name in cell.metrics}
    return results_frame([Series("a", {}, cell)], [values])


def first_cell(kind: str) -> Cell:
    return _parts(Series("a", {}, CELLS[kind][0]()))[0].cell


def held(kind: str, again: pd.DataFrame) -> Agreement:
    return compare(frame(CELLS[kind][0](), seed=1), again, ALPHA)


@pytest.mark.parametrize("kind", CELLS)
def test_the_same_streams_give_the_same_bits(kind: str) -> None:
    assert held(kind, frame(first_cell(kind), seed=1)).outcome == EXACT


@pytest.mark.parametrize("kind", CELLS)
def test_other_streams_of_the_same_law_are_within(kind: str) -> None:
    """The null control: no decision is the same, the law is."""
    found = held(kind, frame(first_cell(kind), seed=2))
    assert found.outcome == WITHIN, found.detail
    assert "differ" in found.detail


@pytest.mark.parametrize("kind", CELLS)
def test_another_law_is_outside(kind: str) -> None:
    make, other = CELLS[kind]
    cell = replace(make(other), runs=first_cell(kind).runs)
    assert held(kind, frame(cell, seed=1)).outcome == OUTSIDE


def test_one_flipped_bit_is_not_exact() -> None:
    again = frame(first_cell("regret"), seed=1)
    again.loc[0, "value"] = np.nextafter(again.loc[0, "value"], np.inf)
    found = held("regret", again)
    assert found.outcome == WITHIN
    assert found.detail.startswith(f"1 of {len(again)} numbers differ")


def test_a_number_that_turned_into_none_is_not_exact() -> None:
    again = frame(first_cell("regret"), seed=1)
    again.loc[0, "value"] = np.nan
    assert held("regret", again).outcome != EXACT


def test_rows_that_are_not_packed_are_told() -> None:
    again = frame(first_cell("regret"), seed=1)
    again["run"] += 1000
    assert held("regret", again) == Agreement(OUTSIDE, "the packed results lack rows of it")


@pytest.mark.parametrize("kind", CELLS)
def test_the_parts_of_a_series_are_its_cells(kind: str) -> None:
    cell = CELLS[kind][0]()
    parts = [part.cell for part in _parts(Series("a", {}, cell))]
    assert [part.first_run for part in parts] == [block.first_run for block in cell.blocks()]
    assert sum(part.runs for part in parts) == cell.runs
    unaligned = replace(regret(), first_run=13, runs=24)
    cut = [(part.cell.first_run, part.cell.runs) for part in _parts(Series("a", {}, unaligned))]
    assert cut == [(13, 7), (20, 10), (30, 7)]


@pytest.fixture
def built(tmp_path: Path) -> Project:
    """A project with two sets of results (empty files: a draw reads only those that tune)."""
    for name in ("config", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    project = Project.load(tmp_path)
    for name in ("bernoulli-curves", "same-algorithm"):
        path = project.results_path("ts-is-dp", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return project


def drawn(project: Project, plan: Plan) -> list[tuple[str, str, int]]:
    def key(each: Sampled) -> tuple[str, str, int]:
        return each.name, each.series.label, each.cell.first_run

    return [key(each) for each in draw_sample(project, plan).cells]


def test_a_draw_depends_on_its_seed_alone(built: Project) -> None:
    plan = Plan(cells=3, seed=4)
    assert drawn(built, plan) == drawn(built, plan)
    assert drawn(built, plan) != drawn(built, replace(plan, seed=5))
    assert len(drawn(built, plan)) == 6
    built.results_path("ts-is-dp", "bernoulli-curves").unlink()
    alone = drawn(built, plan)
    built.results_path("ts-is-dp", "bernoulli-curves").touch()
    assert alone == [each for each in drawn(built, plan) if each[0] == "same-algorithm"]


def test_costly_cells_are_left_out_and_told(built: Project) -> None:
    sample = draw_sample(built, Plan(rounds=10**5))
    assert sample.cells == []
    assert sample.too_costly == ["ts-is-dp/bernoulli-curves", "ts-is-dp/same-algorithm"]
    assert "dp-ncb/panel-b" in sample.not_built
    assert sample.of == 18 + 10  # 18 series of 10 runs; 2 of 50


@pytest.mark.parametrize("wrong", [{"cells": 0}, {"rounds": 0}, {"seed": -1}])
def test_what_is_no_plan_is_refused(wrong: dict[str, int]) -> None:
    [(key, value)] = wrong.items()
    assert message_of(lambda: Plan(**wrong)).startswith(f"{key} is {value}; allowed: at least")


def test_nothing_to_verify_is_said(tmp_path: Path) -> None:
    from dpbandits.verification.verify import verify

    for name in ("config", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    with pytest.raises(InputError, match="has no results to verify"):
        verify(Project.load(tmp_path), Plan(), 1)
