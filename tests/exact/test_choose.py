"""`dpbandits choose`: answers from published tables of made-up results."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpbandits
from choosing_rows import grid_rows
from dpbandits.cli import main
from dpbandits.comparisons.choosing.ranking import BEST, BROKEN, TIED
from dpbandits.comparisons.choosing.tables import TABLES
from dpbandits.comparisons.equal_privacy.formulas import level
from support import ROOT, message_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with config and the published tables of made-up results; there is no other."""
    monkeypatch.setattr("dpbandits.pipeline.project.published_folder", lambda: Path("/nowhere"))
    (tmp_path / "config").symlink_to(ROOT / "config")
    (tmp_path / "docs/tables/choosing").mkdir(parents=True)
    frames = {"regret": grid_rows()}
    for name, compute in (("extra-regret", "regret"), ("extra-winners", "winning")):
        path = tmp_path / f"docs/tables/choosing/{name}.csv"
        TABLES[compute](frames).to_csv(path, index=False)
    return tmp_path


def test_an_answer_is_the_ranking_at_the_nearest_setting(folder: Path) -> None:
    found = dpbandits.choose(arms=15, horizon=2e5, epsilon=0.9, project=folder)
    assert found["algorithm"].tolist()[:3] == ["adap-ucb", "dp-se", "dp-ts"]
    assert found["verdict"].tolist()[0] == BEST
    assert found["place"].tolist()[:4] == [1, 2, 3, 4]
    first = found.iloc[0]
    assert (first["arms"], first["horizon"], first["epsilon"]) == (20, 100_000, 1.0)
    assert first["parameters"] == "epsilon=0.9"
    assert first["guarantee"] == "0.9-DP (pure), central, proved"
    assert first["lo"] < first["regret"] < first["hi"]
    notes = " ".join(found.attrs["notes"])
    assert "K = 20, T = 100,000, epsilon = 1" in notes
    assert "Outside of the grid: horizon 200,000 (measured: 10,000 to 100,000)" in notes
    assert "epsilon 0.9 (measured: 1 to 5)" in notes
    # What keeps no guarantee is shown below, and wins nothing.
    broken = found[found["verdict"] == BROKEN]
    shown = set(zip(broken["algorithm"], broken["variant"], strict=True))
    assert {("adap-ucb", "as-coded"), ("gdp-ncb", "as-written")} <= shown
    assert broken["place"].isna().all()
    assert broken.index.min() > found["place"].last_valid_index()
    free = found[found["algorithm"] == "ucb1"].iloc[0]
    assert pd.isna(free["place"])
    assert free["guarantee"] == "no privacy guarantee"


def test_ties_are_answered_as_ties(folder: Path) -> None:
    found = dpbandits.choose(arms=20, horizon=100_000, epsilon=5, project=folder)
    assert set(found["algorithm"][found["verdict"] == TIED]) == {"adap-ucb", "dp-se"}
    assert not (found["verdict"] == BEST).any()
    assert not any("grid" in note for note in found.attrs["notes"])


def test_tuned_parameters_are_scaled_to_the_question(folder: Path) -> None:
    asked = {"arms": 20, "horizon": 50_000, "epsilon": 1.0, "privacy": "approximate"}
    found = dpbandits.choose(**asked, project=folder)
    row = found[found["algorithm"] == "m-ts-gaussian"].iloc[0]
    given = dict(each.split("=") for each in row["parameters"].split(", "))
    # 50 of the 5000 pre-pulls that fit at T = 100000, of the 2500 that fit here.
    assert given["b"] == "25"
    assert "GDP, central, proved; (1, 1e-06)-DP" in row["guarantee"]
    kept = dpbandits.guarantee("m-ts-gaussian", horizon=50_000, b=25, c=float(given["c"]))
    assert kept.parameter == pytest.approx(level(1.0), rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 10.5}, "horizon is 10.5; allowed"),
        ({"epsilon": 0}, "epsilon is 0; allowed: a number above 0"),
        ({"privacy": "renyi"}, "class is 'renyi'; allowed: pure, approximate, local"),
        ({"budget": 10}, "allowed: one of them"),
        ({"project": "/nowhere"}, "nowhere/config/config.yaml: does not exist; allowed"),
        ({"project": "."}, "extra-regret.csv: does not exist; allowed"),
    ],
)
def test_a_bad_question_ends_in_one_line(
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    changes: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    asked = {"arms": 5, "horizon": 10_000, "epsilon": 1.0, "project": folder} | changes
    found = message_of(lambda: dpbandits.choose(**asked))
    assert message in found
    assert "\n" not in found


def test_the_command_prints_the_ranking(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["choose", "--arms", "20", "--horizon", "1e5", "--epsilon", "1"]
    assert main([*words, "--project", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Asked: K = 20, T = 100,000, epsilon = 1, epsilon-DP, central.")
    assert "Measured at the nearest setting" in printed
    assert "1      AdaP-UCB" in printed
    assert main([*words, "--project", str(folder), "--class", "local", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("1,ldp-ucb-l,LDP-UCB-L")
