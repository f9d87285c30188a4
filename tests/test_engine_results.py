"""Result tables: what they hold, and that stale or damaged ones are refused in one line."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpbandits
from dpbandits import bernoulli, linear
from dpbandits.config.experiments import Caps, SimulationPlan, SimulationSpec
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.compute import compute_series
from dpbandits.engine.provenance import require_current, write_provenance
from dpbandits.engine.results import read_results, results_frame, write_results
from dpbandits.metrics import CURVES, NASH, PER_ARM, QUANTITIES
from dpbandits.pipeline.check import blank_results
from support import refused

FINGERPRINT = "0123456789abcdef"
CELLS = [
    make_cell(
        algorithm="m-ts-gaussian",
        parameters={"b": 2, "c": 1},
        bandit=dpbandits.bernoulli([0.7, 0.5, 0.2]),
        horizon=40,
        metrics=["pseudo_regret", "pulls"],
        grid=[10, 40],
    ),
    make_cell(
        algorithm="ucb1",
        interpretations={"clock": "coming"},
        bandit=dpbandits.bernoulli([0.7, 0.5, 0.2]),
        horizon=40,
    ),
]
SERIES = [
    Series("one", {"eta": 2}, CELLS[0], range(5, 9)),
    Series("two", {}, CELLS[1], range(2)),
]


@pytest.fixture
def frame() -> pd.DataFrame:
    return results_frame(SERIES, [series.works[0].play(1) for series in SERIES])


@pytest.fixture
def path(tmp_path: Path, frame: pd.DataFrame) -> Path:
    written = tmp_path / "results" / "fig1.parquet"
    write_results(written, frame, FINGERPRINT)
    return written


def test_table_holds_every_value(frame: pd.DataFrame) -> None:
    # 4 runs at 2 times, 4 runs of 3 arms, 2 runs at the horizon.
    assert len(frame) == 4 * 2 + 4 * 3 + 2
    expected = SERIES[0].works[0].play(1)
    one = frame[frame.series == "one"]
    assert set(one.run) == {5, 6, 7, 8}
    for run in range(4):
        rows = one[one.run == 5 + run]
        curve = rows[rows.metric == "pseudo_regret"]
        assert curve.t.tolist() == [10, 40]
        assert curve.arm.tolist() == [-1, -1]
        assert curve.value.tolist() == expected["pseudo_regret"][run].tolist()
        pulls = rows[rows.metric == "pulls"]
        assert pulls.t.tolist() == [40, 40, 40]
        assert pulls.arm.tolist() == [0, 1, 2]
        assert pulls.value.tolist() == expected["pulls"][run].tolist()
    assert one[["b", "c", "eta"]].drop_duplicates().values.tolist() == [[2, 1, 2]]


def test_tables_come_back(path: Path, frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(read_results(path, FINGERPRINT), frame)
    assert [each.name for each in path.parent.iterdir()] == ["fig1.parquet"]


def test_results_that_are_stale_missing_damaged_or_unwritable_are_one_line(
    path: Path, frame: pd.DataFrame, tmp_path: Path
) -> None:
    missing, target = tmp_path / "none.parquet", tmp_path / "file" / "fig1.parquet"
    (tmp_path / "file").write_text("in the way")
    stale = f"{path}: is stale (depends on {FINGERPRINT}, "
    refused(lambda: read_results(path, "fedcba9876543210"), stale, "now give fedcba9876543210")
    refused(lambda: read_results(missing, FINGERPRINT), f"{missing}: does not exist; ")
    refused(lambda: write_results(target, frame, FINGERPRINT), f"{target}: cannot be written")
    for share in [0.999, 0.9, 0.5, 0.01, 0.0]:
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        refused(lambda: read_results(path, FINGERPRINT), f"{path}: is damaged; ")


def test_what_depends_on_other_results_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "fig1.csv"
    output.write_text("x")
    write_provenance(output, tmp_path, {"depends_on": {"figure": "1"}}, 0.0)
    require_current(output, {"figure": "1"})
    refused(lambda: require_current(output, {"figure": "2"}), f"{output}: is stale")


def test_no_flipped_bit_passes_for_a_result(path: Path, frame: pd.DataFrame) -> None:
    """Every fortieth byte, one bit each: refused in one line, or (in padding) without effect."""
    content = path.read_bytes()
    lines = []
    for position in range(0, len(content), 40):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(bytes(damaged))
        try:
            found = read_results(path, FINGERPRINT)
        except dpbandits.InputError as error:
            lines.append(str(error))
        else:
            pd.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert len(lines) > 0.5 * len(content) / 40
    assert all(re.search(r": is (damaged|stale)", line) for line in lines)


def test_blank_results_have_the_rows_of_real_ones() -> None:
    """All but the values, of every metric."""
    regret = {"algorithm": "ucb1", "bandit": bernoulli([0.7, 0.5]), "horizon": 40}
    identified = linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    cells = [
        make_cell(**regret, metrics=(*CURVES, *PER_ARM), grid=[10, 40]),
        make_cell(**regret, metrics=NASH, grid=[10, 40]),
        make_cell(algorithm="sequential-halving", bandit=identified, horizon=400),
    ]
    for cell in cells:
        series = [Series("one", {"tag": 1}, cell, range(1 if cell.in_lockstep else 2))]
        real = results_frame(series, compute_series(series, root_seed=1)).drop(columns="value")
        blank = blank_results(series).drop(columns="value")
        pd.testing.assert_frame_equal(blank, real, check_dtype=False)


# Nash curves.

NOMINAL = dpbandits.Bandit(bernoulli([0.75, 0.5, 0.25]).arms, nominal=(0.5, 0.5, 1.0))
CURVE = make_cell(
    algorithm="dp-ts-ucb",
    parameters={"alpha": 1.0},
    bandit=NOMINAL,
    horizon=400,
    metrics=["nash_regret", "nash_influence", "pulls", "nominal_nash_regret"],
    grid=[1, 170, 400],
)


def test_rows_of_a_curve() -> None:
    curves = [Series("one", {}, CURVE, range(10, 16))]
    one = results_frame(curves, compute_series(curves, root_seed=7))
    # Quantities at 3 times, true and nominal; influences of 6 runs at 3 times; pulls of 3 arms.
    assert len(one) == 2 * len(QUANTITIES) * 3 + 6 * 3 + 6 * 3
    expected = curves[0].works[0].play(7)
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
    base = {"algorithm": "gdp-ncb", "parameters": {"epsilon": 1.0}, "bandit": NOMINAL}
    cells = [
        make_cell(**base, horizon=40, variant=variant, interpretations=interpretations)
        for variant, interpretations in (
            ("as-written", {}),
            ("repaired", {}),
            ("as-written", {"release_log": "base2"}),
            ("repaired", {"release_log": "natural", "cap": "none"}),
        )
    ]
    series = [Series(str(number), {}, each, range(6)) for number, each in enumerate(cells)]
    rows = results_frame(series, compute_series(series, root_seed=1))
    told = rows.groupby("series")[["variant", "interpretation"]].first().to_numpy().tolist()
    assert told == [
        ["as-written", ""],
        ["repaired", ""],
        ["as-written", "release_log=base2"],
        ["repaired", "cap=none,release_log=natural"],
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
