"""`dpbandits choose` and its page: answers from published tables of made-up results."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits
from choosing_rows import frames_of, grid_rows
from dpbandits.cli import main
from dpbandits.comparisons.choose import BEST, BROKEN, DEPENDS, TIED, UNMET, Question, nearest
from dpbandits.comparisons.choosing import TABLES
from dpbandits.comparisons.field import CLASSES, LOCAL_FIELD, UNIT, level
from dpbandits.errors import InputError
from dpbandits.pages import choosing as page_module
from dpbandits.pages.choosing import NAMES, choosing_page, page_values, published, which_one
from dpbandits.pipeline.project import Project
from support import ROOT, refused

STUDY = Project.load(ROOT).study("choosing")
COMPUTED = {
    name: TABLES[entry["compute"]](frames_of(entry["reads"]))
    for name, entry in STUDY.table_entries.items()
}


def publish(folder: Path, tables: dict[str, pd.DataFrame]) -> Path:
    """Make a folder with config, the published audit and these tables."""
    (folder / "config").symlink_to(ROOT / "config")
    (folder / "docs/tables/choosing").mkdir(parents=True)
    (folder / "docs/tables/privacy-audit").symlink_to(ROOT / "docs/tables/privacy-audit")
    for name, table in tables.items():
        table.to_csv(folder / f"docs/tables/choosing/{name}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("published"), COMPUTED)


@pytest.fixture
def folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project with published tables; there is no other."""
    monkeypatch.setattr("dpbandits.pipeline.project.published_folder", lambda: Path("/nowhere"))
    return shared


def test_an_answer_is_the_ranking_at_the_nearest_setting(folder: Path) -> None:
    answer = dpbandits.choose(arms=6, horizon=2e5, epsilon=0.19, project=folder)
    assert answer["algorithm"].tolist()[:2] == ["adap-ucb", "lazy-dp-ts"]
    assert answer["interpretation"].tolist()[:2] == ["", "log=base2"]
    assert answer["verdict"].tolist()[:2] == [BEST, "behind"]
    assert answer["place"].tolist()[:4] == [1, 2, 3, 4]
    first = answer.iloc[0]
    assert (first["arms"], first["horizon"], first["epsilon"]) == (5, 10_000, 0.2)
    assert first["parameters"] == "epsilon=0.19"
    assert first["guarantee"] == "0.19-DP (pure), central, proved"
    assert first["price"] == pytest.approx(4.0, rel=0.1)
    assert first["lo"] < first["price"] < first["hi"]
    notes = " ".join(answer.attrs["notes"])
    assert "K = 5, T = 10,000, epsilon = 0.2" in notes
    assert "Outside of the grid: horizon 200,000 (measured: 10,000 to 100,000)" in notes
    assert "epsilon 0.19 (measured: 0.2 to 5)" in notes
    # What keeps no guarantee is shown below, and wins nothing.
    broken = answer[answer["verdict"] == BROKEN]
    shown = set(zip(broken["algorithm"], broken["variant"], strict=True))
    assert {("adap-ucb", "as-coded"), ("gdp-ncb", "as-written")} <= shown
    assert broken["place"].isna().all()
    assert broken.index.min() > answer["place"].last_valid_index()
    free = answer[answer["algorithm"] == "ucb1"].iloc[0]
    assert pd.isna(free["place"])
    assert free["verdict"] == UNMET
    assert free["guarantee"] == "no privacy guarantee"
    assert UNIT in notes
    assert "3.1 of AdaP-UCB come from regret proofs" in notes


def test_ties_and_open_logarithms_are_said(folder: Path) -> None:
    tie = dpbandits.choose(arms=20, horizon=100_000, epsilon=5, project=folder)
    assert set(tie["algorithm"][tie["verdict"] == TIED]) == {"adap-ucb", "lazy-dp-ts"}
    assert not (tie["verdict"] == BEST).any()
    assert not any("grid" in note for note in tie.attrs["notes"])
    # With base 2, as printed, Lazy-DP-TS is behind, with the natural logarithm alike.
    depends = dpbandits.choose(arms=5, horizon=10_000, epsilon=5, project=folder)
    assert depends["algorithm"].tolist()[:2] == ["adap-ucb", "lazy-dp-ts"]
    assert depends["verdict"].tolist()[:2] == [DEPENDS, TIED]
    assert "the first would be behind Lazy-DP-TS." in " ".join(depends.attrs["notes"])


def test_best_arms_are_ranked_by_success(folder: Path) -> None:
    answer = dpbandits.choose(arms=20, budget=1_000, epsilon=1, project=folder)
    assert set(answer["algorithm"][answer["verdict"] == TIED]) == {"baseline", "dp-bai", "dp-od"}
    by_name = answer.set_index("algorithm")
    assert by_name["plane"][["dp-bai", "baseline"]].tolist() == pytest.approx([0.84, 0.13])
    ends = answer[["lo", "hi", "least", "most", "plane_lo", "plane_hi"]].dropna()
    assert ((ends >= 0.0) & (ends <= 1.0)).all(axis=None)
    assert "DP-BAI is Baseline" in " ".join(answer.attrs["notes"])


def test_tuned_parameters_are_scaled_to_the_question(folder: Path) -> None:
    asked = {"arms": 20, "horizon": 50_000, "epsilon": 1.0, "privacy": "approximate"}
    answer = dpbandits.choose(**asked, project=folder)
    row = answer[answer["algorithm"] == "m-ts-gaussian"].iloc[0]
    values = dict(text.split("=") for text in row["parameters"].split(", "))
    # 50 of the 5000 pre-pulls that fit at T = 100000, of the 2500 that fit here.
    assert values["b"] == "25"
    assert "GDP, central, proved; (1, 1e-06)-DP" in row["guarantee"]
    known = dpbandits.guarantee("m-ts-gaussian", horizon=50_000, b=25, c=float(values["c"]))
    assert known.parameter == pytest.approx(level(1.0), rel=1e-4)


def test_the_nearest_setting_is_by_ratios() -> None:
    table = COMPUTED["extra-regret"]
    assert set(nearest(table, Question(9, 30_000, 2.3))["arms"]) == {5}
    assert set(nearest(table, Question(11, 31_000, 2.2))["horizon"]) == {10_000}
    assert set(nearest(table, Question(11, 32_000, 2.3))["epsilon"]) == {5.0}


def test_numbers_of_numpy_and_one_round_are_answered(folder: Path) -> None:
    asked = partial(dpbandits.choose, epsilon=0.5, project=folder)
    expected = asked(arms=5, horizon=10_000)
    for arms, horizon, epsilon in (
        (np.int64(5), np.float64(1e4), np.float32(0.5)),
        (5.0, np.int32(10_000), np.float64(0.5)),
    ):
        found = asked(arms=arms, horizon=horizon, epsilon=epsilon)
        pd.testing.assert_frame_equal(found, expected)
    assert len(asked(arms=20, horizon=1)) == len(asked(arms=20, horizon=100))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"horizon": 10.5}, "horizon is 10.5; allowed"),
    ({"horizon": None, "budget": 0}, "budget is 0; allowed: a whole number from 1 to "),
    *(({key: 10**400}, f"{key} is 1000") for key in ("arms", "horizon", "epsilon")),
    ({"epsilon": 0}, "choose: epsilon is 0; allowed: a finite number above 0"),
    ({"privacy": "renyi"}, "allowed: pure, approximate, local"),
    ({"budget": 10}, "allowed: one of them"),
    ({"project": "/nowhere"}, "nowhere/config/config.yaml: does not exist; allowed"),
    ({"project": "."}, "extra-regret.csv: does not exist; allowed"),
]


ASKED = {"arms": 5, "horizon": 10_000, "epsilon": 1.0}


def test_a_bad_question_ends_in_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for changes, message in REFUSED:
        refused(partial(dpbandits.choose, **{**ASKED, "project": folder, **changes}), message)
    regret = COMPUTED["extra-regret"]
    publish(tmp_path, COMPUTED | {"extra-regret": regret[regret["class"] != "local"]})
    asked = partial(dpbandits.choose, **ASKED, privacy="local", project=tmp_path)
    refused(asked, "class is 'local', of which no algorithm was measured")


def test_without_tables_the_page_says_so(tmp_path: Path) -> None:
    project = Project.load(publish(tmp_path, {}))
    assert published(project) is None
    assert "not published yet" in choosing_page(project)


def test_the_command_prints_the_ranking(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["choose", "--arms", "5", "--horizon", "1e4", "--epsilon", "0.2", "--project"]
    assert main([*words, str(folder)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Asked: K = 5, T = 10,000, epsilon = 0.2, epsilon-DP, central.")
    assert "1      AdaP-UCB" in printed
    assert "2      Lazy-DP-TS, log=base2" in printed
    assert main([*words, str(folder), "--class", "local"]) == 0
    assert LOCAL_FIELD in capsys.readouterr().out
    assert main([*words, str(folder), "--class", "local", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("1,ldp-ucb-l,LDP-UCB-L")


# The page: the rows of its answers are recomputed from the published tables.

ANSWER = re.compile(
    r"^\| (central|local) \| (\d+) \| ([\d,]+) \| ([\d.]+) \| (.+) \| (.+) \| "
    r"(\S+) \[(\S+), (\S+)\] \| (\S+) \|$",
    re.MULTILINE,
)


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"docs/tables/choosing/{name}.csv", keep_default_na=False)


def at(table: pd.DataFrame, arms: str, horizon: str, epsilon: str) -> pd.DataFrame:
    setting = [int(arms), int(horizon.replace(",", "")), float(epsilon)]
    found = table[["arms", "horizon", "epsilon"]].apply(pd.to_numeric, errors="coerce")
    return table[(found == setting).all(axis=1)]


def check_answers(folder: Path, page: str) -> int:
    """Recompute every row of the table of answers; return how many there are."""
    scores, winners = read(folder, "extra-regret"), read(folder, "extra-winners")
    scores = scores[scores["ranked"]]
    rows = ANSWER.findall(page)
    for model, *setting, take, second, by, by_lo, by_hi, price in rows:
        kind = "local" if model == "local" else "pure"
        field = at(scores, *setting)
        field = field[field["class"].isin(CLASSES[kind])].sort_values(["price", "algorithm"])
        first, other = field.iloc[0], field.iloc[1]
        [row] = at(winners[winners["class"] == kind], *setting).to_dict("records")
        is_won = float(row["q"]) <= 0.05
        words = (
            f"{first['name']} (by these logarithms)"
            if row["as_ranked"]
            else f"{first['name']}, tied"
        )
        assert take == (f"**{first['name']}**" if is_won else words)
        assert second == other["name"]
        assert float(by) == pytest.approx(other["price"] / first["price"], rel=0.01)
        assert float(by_lo) <= float(by) <= float(by_hi)
        assert price == f"{first['price']:.3g}"
    return len(rows)


def test_every_number_of_the_page_is_that_of_the_tables(
    shared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = grid_rows()[["arms", "horizon", "epsilon"]].dropna().drop_duplicates()
    questions = [
        {"arms": int(arms), "horizon": int(horizon), "epsilon": epsilon}
        for arms, horizon, epsilon in settings.itertuples(index=False)
    ]
    monkeypatch.setattr(page_module, "ANSWERED", questions)
    page = choosing_page(Project.load(shared))
    assert check_answers(shared, page) == 2 * len(questions)
    # Made up so: a local algorithm leads at epsilon = 1.
    assert "has the least regret in 3 of the 9 central settings, 3 of them beyond chance" in page
    assert "same answer in 9 of 9 settings" in page
    assert "ε: DP-BAI 84.0 % [81.6, 86.2], DP-OD 82.0 % [79.5, 84.3], Baseline 13.0 % [" in page
    assert "No algorithm misses least often, beyond chance, in any of 1 settings." in page
    assert "gain at 6 of 9 settings and harm at 3, 2 times in the median" in page
    assert page_values(published(Project.load(shared)))["least_budget"] == pytest.approx(  # type: ignore[arg-type]
        17.2, abs=0.05
    )
    # Other tables give another page.
    other = COMPUTED["extra-winners"].assign(q=1.0, verdict="tie", as_ranked="")
    changed = choosing_page(Project.load(publish(tmp_path, COMPUTED | {"extra-winners": other})))
    assert "in 0 beyond chance." in changed
    assert check_answers(tmp_path, changed) > 0


def test_the_front_page_has_the_ranking(folder: Path) -> None:
    text = which_one(Project.load(folder), "<!-- begin which one -->\n<!-- end which one -->\n")
    assert "- epsilon-DP, central: " in text
    first = dpbandits.choose(arms=20, horizon=1e6, epsilon=1.0, project=folder).iloc[0]
    line = rf"^1 +{first['name']} +{first['verdict']} +{first['price']:.3g} "
    assert re.search(line, text, re.MULTILINE)
    with pytest.raises(InputError, match="marks"):
        which_one(Project.load(folder), "nothing")


def test_the_published_page_is_that_of_the_published_tables() -> None:
    project = Project.load(ROOT)
    assert set(NAMES) == set(STUDY.table_entries)
    if published(project) is not None:
        assert check_answers(ROOT, choosing_page(project)) == 12
