"""``dpbandits check`` finds filters that no series meets, before anything is simulated."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from dpbandits import bernoulli, linear
from dpbandits.cli import main
from dpbandits.engine.blank_results import blank_results
from dpbandits.engine.cells import make_cell
from dpbandits.engine.experiments import Series
from dpbandits.engine.fan_out import compute
from dpbandits.engine.results import results_frame
from dpbandits.metrics import METRICS
from dpbandits.metrics.nash import NASH
from dpbandits.pipeline.check import check_files, check_filters
from dpbandits.pipeline.project import Project
from support import message_of, replace_in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project folder with the config of this one."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    return tmp_path


def project(folder: Path, paper: str, scale: str = "paper") -> Project:
    return Project.load(folder).at(papers=[paper], scale=scale)


BROKEN = [
    (
        "experiments",
        "reads: final-regret\n        metric: pseudo_regret\n        where: {t: largest}",
        "reads: final-regret\n        metric: pseudo_regret\n        where: {t: 17}",
        "figures.fig4a.where: no row has t 17; allowed: ",
    ),
    (
        "experiments",
        "[{by: alpha, where: {algorithm: dp-ts-ucb}, ",
        "[{by: alpha, where: {algorithm: dp-ts-ucp}, ",
        "figures.fig3a.series.0.where: no row has algorithm 'dp-ts-ucp'; allowed: dp-ts-ucb",
    ),
    (
        "experiments",
        "[{by: alpha, where: {algorithm: dp-ts-ucb}, ",
        "[{by: alphas, where: {algorithm: dp-ts-ucb}, ",
        "figures.fig3a.series.0.by: no column 'alphas'; allowed: ",
    ),
    (
        "claims",
        "&horizons {horizon: [10000, ",
        "&horizons {horizon: [10001, ",
        "DTU-C1: ",
    ),
    (
        "claims",
        "arguments: &gap-at-0 {alpha: 0, first: dp-ts-ucb, ",
        "arguments: &gap-at-0 {alpha: 0, first: dp-ts-ucp, ",
        "results 'baseline-verdicts' are not declared; allowed: final-verdicts",
    ),
]


@pytest.mark.parametrize(("kind", "old", "new", "expected"), BROKEN)
def test_a_filter_that_no_series_meets(
    kind: str, old: str, new: str, expected: str, folder: Path
) -> None:
    path = folder / f"config/papers/dp-ts-ucb/{kind}.yaml"
    replace_in(path, old, new)
    broken = project(folder, "dp-ts-ucb")
    check_files(broken)
    message = message_of(lambda: check_filters(broken))
    assert message.startswith(f"{path}: ")
    assert expected in message


def test_a_column_of_a_table(folder: Path) -> None:
    path = folder / "config/papers/dp-bai/experiments.yaml"
    text = path.read_text()
    at = text.index("    metric: success\n", text.index("\ntables:"))
    path.write_text(f"{text[:at]}    where: {{epsilon: 17}}\n{text[at:]}")
    message = message_of(lambda: check_filters(project(folder, "dp-bai")))
    assert "tables." in message
    assert "no row has epsilon 17" in message


@pytest.mark.parametrize("scale", ["paper", "quick"])
def test_the_filters_as_they_are_pass(scale: str) -> None:
    check_filters(project(ROOT, "dp-ts-ucb", scale))


def test_the_command_tries_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "config/papers/dp-ts-ucb/experiments.yaml"
    replace_in(path, *BROKEN[1][1:3])
    config = folder / "config/config.yaml"
    replace_in(config, "papers: null", "papers: [dp-ts-ucb]")
    assert main(["check", "--project", str(folder)]) == 2
    assert BROKEN[1][3] in capsys.readouterr().err


def test_blank_results_have_the_rows_of_real_ones() -> None:
    """All but the values, of every metric."""
    regret = {"algorithm": "ucb1", "bandit": bernoulli([0.7, 0.5]), "horizon": 40, "runs": 2}
    identified = linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    cells = [
        make_cell(**regret, metrics=METRICS, grid=[10, 40]),
        make_cell(**regret | {"runs": 1}, metrics=NASH, grid=[10, 40]),
        make_cell(algorithm="sequential-halving", bandit=identified, horizon=400, runs=2),
    ]
    for cell in cells:
        series = [Series("one", {"tag": 1}, cell)]
        real = results_frame(series, compute([cell], root_seed=1)).drop(columns="value")
        blank = blank_results(series).drop(columns="value")
        pd.testing.assert_frame_equal(blank, real, check_dtype=False)
