"""What `make verify` says of a cell, and which cells it draws."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits import InputError
from dpbandits.bandits import Bandit
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.compute import compute_series
from dpbandits.engine.results import results_frame
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.verify import Plan, batches, compare, draw_sample, verify
from support import message_of

ROOT = Path(__file__).resolve().parents[1]
EXACT, WITHIN, OUTSIDE = "exact", "agrees within chance", "outside"
ALPHA = 0.001
"""Chance that a cell of the right law is outside; the seeds below are fixed."""

COINS = [dpbandits.bernoulli(means) for means in ([0.7, 0.4], [0.95, 0.1])]
FEATURES = [[1, 0], [0, 1], [0.7, 0.6]]
ARMS = [dpbandits.linear(FEATURES, theta) for theta in ([0.5, 0.4], [0.9, 0.1])]
KINDS: dict[str, tuple[str, list[str], int, int, list[Bandit]]] = {
    "regret": ("ucb1", ["pseudo_regret", "realised_regret", "pulls"], 300, 40, COINS),
    "nash": ("ucb1", ["nash_regret", "nash_influence"], 300, 40, COINS),
    "identification": ("sequential-halving", ["success", "total_pulls"], 60, 3000, ARMS),
}
"""Kind of cell -> algorithm, metrics, horizon, runs, its instance and one with other numbers."""


def series_of(kind: str, *, other: bool = False) -> Series:
    algorithm, metrics, horizon, runs, bandits = KINDS[kind]
    options = {"horizon": horizon, "metrics": metrics}
    cell = make_cell(algorithm=algorithm, bandit=bandits[other], **options)
    return Series("a", {}, cell, range(runs))


def frame(series: Series, seed: int) -> pd.DataFrame:
    cache = Cache(is_used=False)
    return results_frame([series], compute_series([series], root_seed=seed, cache=cache))


def recomputed(kind: str, seed: int, *, other: bool = False) -> pd.DataFrame:
    """Return the first batch of a cell, on its own instance or another."""
    runs = batches(series_of(kind))[0].runs
    return frame(replace(series_of(kind, other=other), runs=runs), seed)


def compared(kind: str, again: pd.DataFrame) -> tuple[str, str]:
    return compare(frame(series_of(kind), seed=1), again, ALPHA)


@pytest.mark.parametrize("kind", KINDS)
def test_streams_and_laws_are_told_apart(kind: str) -> None:
    """The same bits; no decision the same, under the same law; another law."""
    assert compared(kind, recomputed(kind, seed=1))[0] == EXACT
    outcome, detail = compared(kind, recomputed(kind, seed=2))
    assert outcome == WITHIN, detail
    assert "differ" in detail
    assert compared(kind, recomputed(kind, seed=1, other=True))[0] == OUTSIDE


def test_one_flipped_bit_a_lost_number_and_rows_that_are_not_packed() -> None:
    again = recomputed("regret", seed=1)
    again.loc[0, "value"] = np.nextafter(again.loc[0, "value"], np.inf)
    outcome, detail = compared("regret", again)
    assert outcome == WITHIN
    assert detail.startswith(f"1 of {len(again)} numbers differ")
    again.loc[0, "value"] = np.nan
    assert compared("regret", again)[0] != EXACT
    again["run"] += 1000
    assert compared("regret", again) == (OUTSIDE, "the packed results lack rows of it")


def test_a_failure_where_all_packed_trials_succeed_is_chance() -> None:
    """A t interval has no width there."""
    packed = recomputed("identification", seed=1)
    is_rate = packed["metric"] == "success"
    packed.loc[is_rate, "value"] = packed["trials"]
    for failures, outcome in ((0, EXACT), (1, WITHIN), (100, OUTSIDE)):
        again = packed.assign(value=packed["value"] - failures * is_rate)
        assert compare(packed, again, ALPHA)[0] == outcome


def test_the_batches_of_a_series_are_its_cells() -> None:
    for kind, size in (("regret", 10), ("nash", 40), ("identification", 1000)):
        whole = series_of(kind)
        runs = [batch.runs for batch in batches(whole)]
        assert runs == [whole.runs[at : at + size] for at in range(0, len(whole.runs), size)]
    unaligned = replace(series_of("regret"), runs=range(13, 37))
    assert [(batch.runs.start, len(batch.runs)) for batch in batches(unaligned)] == [
        (13, 7),
        (20, 10),
        (30, 7),
    ]


def test_a_draw_depends_on_its_seed_alone_and_tells_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    project = Project.load(tmp_path)
    with pytest.raises(InputError, match="has no results to verify"):
        verify(project, Plan(), 1)

    def drawn(plan: Plan) -> list[tuple[str, str, int]]:
        cells = draw_sample(project, plan).cells
        return [(name, series.label, series.runs.start) for _, name, series in cells]

    # Empty files: a draw reads only results that tune.
    curves, same = (
        project.results_path("ts-is-dp", name) for name in ("bernoulli-curves", "same-algorithm")
    )
    same.parent.mkdir(parents=True)
    same.touch()
    alone = drawn(Plan(cells=3, seed=4))
    curves.touch()
    both = drawn(Plan(cells=3, seed=4))
    assert len(both) == 6
    assert alone == [cell for cell in both if cell[0] == "same-algorithm"]
    assert both != drawn(Plan(cells=3, seed=5))
    sample = draw_sample(project, Plan(rounds=10**5))
    assert sample.cells == []
    assert sample.too_costly == ["ts-is-dp/bernoulli-curves", "ts-is-dp/same-algorithm"]
    assert "dp-ncb/panel-b" in sample.not_built
    assert sample.of == 18 + 10  # 18 series of 10 runs; 2 of 50
    for key, value in {"cells": 0, "rounds": 0, "seed": -1}.items():
        assert message_of(lambda key=key, value=value: Plan(**{key: value})).startswith(
            f"{key} is {value}; allowed: at least"
        )
