"""What results cost: only what was computed is timed, and nothing known is forgotten."""

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.engine.spent import Spent
from dpbandits.pages.cost import condense, forecast_text, items
from dpbandits.pipeline.costs import (
    COLUMNS,
    COSTS,
    RESULTS,
    Cost,
    Costs,
    recorded_cost,
    timings_folder,
    write_timing,
)
from dpbandits.pipeline.jobs import build_results
from dpbandits.pipeline.project import SCALES, Project
from found_papers import COMPARISONS, PAPERS
from support import message_of

ROOT = Path(__file__).resolve().parents[2]
PAPER, NAME, EXACT = "ts-is-dp", "small-steps", "constants"
BLOCKS = 8
"""Blocks of small-steps at the quick scale: eight series of ten runs."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project folder of its own without results, at the quick scale, one paper."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    config = dict(Project.load(tmp_path).config) | {"papers": [PAPER], "comparisons": []}
    return Project.load(tmp_path, config).at(scale="quick")


def costs(project: Project) -> dict[tuple[str, str, str, str], Cost]:
    return Costs(project.folder / COSTS).rows


def known(project: Project, name: str) -> Cost | None:
    return recorded_cost(project, PAPER, name, project.results_fingerprint(PAPER, name))


def test_results_from_the_cache_keep_the_timing_that_there_was(project: Project) -> None:
    path = build_results(project, PAPER, NAME, workers=2)
    before = known(project, NAME)
    path.unlink()
    build_results(project, PAPER, NAME, workers=1)
    assert known(project, NAME) == before
    assert before is not None
    # Two hundred thousand rounds and more a block take time, and Python with numba memory.
    assert before.core_seconds > 0
    assert 50 < before.memory < 5000


def test_exact_results_are_timed(project: Project) -> None:
    build_results(project, PAPER, EXACT, workers=1)
    cost = known(project, EXACT)
    assert cost is not None
    assert (cost.blocks, cost.computed) == (1, 1)


def timing(project: Project, seconds: float, computed: int, **changes: Any) -> None:
    """Keep a timing of some blocks, all of the same length."""
    spent = Spent(blocks=BLOCKS)
    for _ in range(computed):
        spent.add(seconds, 100)
    fingerprint = project.results_fingerprint(PAPER, NAME)
    write_timing(project, PAPER, NAME, dataclasses.replace(spent, **changes), fingerprint)


def test_where_some_blocks_are_timed_the_whole_is_in_proportion(project: Project) -> None:
    timing(project, 10.0, 2)
    cost = known(project, NAME)
    assert cost is not None
    assert (cost.core_seconds, cost.longest, cost.computed) == (80.0, 10.0, 2)


@pytest.mark.parametrize("damage", ["{", "[]", '{"blocks": 8}', "\x00"])
def test_damaged_timings_and_those_of_other_sources_do_not_count(
    project: Project, damage: str
) -> None:
    timing(project, 10.0, 2)
    path = timings_folder(project, PAPER) / f"{NAME}.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"fingerprint": "0" * 16}))
    assert known(project, NAME) is None
    path.write_text(damage)
    assert known(project, NAME) is None


def test_publishing_keeps_what_is_known_until_more_is(project: Project) -> None:
    key = ("quick", PAPER, RESULTS, NAME)
    timing(project, 10.0, 5)
    condense(project)
    assert costs(project)[key].core_seconds == 80.0
    # Fewer blocks; a clock that differs a little; more blocks; a clock that differs much.
    for seconds, computed, expected in ((90, 2, 80), (12, 5, 80), (12, 7, 96), (30, 7, 240)):
        timing(project, seconds, computed)
        condense(project)
        assert costs(project)[key].core_seconds == expected
    shutil.rmtree(project.results_folder())
    condense(project)
    assert costs(project)[key].core_seconds == 240


def test_sums_count_shared_results_once(project: Project) -> None:
    """Figures 2 and 3 read the same curves."""
    columns = list(COLUMNS)
    row = ["quick", PAPER, RESULTS, "bernoulli-curves", 600.0, 60.0, 300, 10, 10]
    path = project.folder / COSTS
    path.parent.mkdir()
    pd.DataFrame([row], columns=columns).to_csv(path, index=False)
    lines = forecast_text(project, cores=4).splitlines()
    for figure in ("fig2", "fig3"):
        [line] = [each for each in lines if each.split()[1:2] == [figure]]
        assert "10.0 and 1 not recorded  2.5" in re.sub(r" {3,}", "  ", line)
    [own] = [each for each in lines if "make figures" in each]
    assert " 10.0 and " in own
    assert any(each.startswith("0.17 core-hours at the quick scale") for each in lines)


def test_a_damaged_table_of_costs_ends_in_one_line(project: Project) -> None:
    path = project.folder / COSTS
    path.parent.mkdir()
    path.write_text("scale,paper\nquick,ts-is-dp\n")
    message = message_of(lambda: costs(project))
    assert message.startswith(f"{path}: ")
    assert "allowed: columns scale, paper" in message


@pytest.mark.parametrize("paper", [*PAPERS, *COMPARISONS])
@pytest.mark.parametrize("scale", SCALES)
def test_published_costs_are_of_what_there_is(paper: str, scale: str) -> None:
    """Nothing else has a cost. At the quick scale what has none is told to be not recorded."""
    project = Project.load(ROOT).at(scale=scale)
    experiments = project.study(paper)
    expected = {(RESULTS, name) for name in [*experiments.simulations, *experiments.exact]}
    of_paper = [item for item in items(project) if item.paper == paper]
    built = {(item.kind, item.name) for item in of_paper}
    read = {(RESULTS, name) for item in of_paper for of, name in item.results if of == paper}
    found = {key[2:] for key in Costs(ROOT / COSTS).rows if key[:2] == (scale, paper)}
    assert found <= expected | built | read
    if scale == "paper":
        assert found >= read | built, "make publish records what was computed, not what was cached"
