"""`dpbandits choose` and its page: answers from published tables of made-up results."""

import re
import shlex
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits
from choosing_rows import frames_of, grid_rows
from dpbandits.cli import main
from dpbandits.comparisons.choosing import BINARY, TABLES, WINNER
from dpbandits.comparisons.field import (
    AS_PRINTED,
    CLASSES,
    LOCAL,
    LOCAL_FIELD,
    PURE,
    SETTING,
    TUNED,
    UNIT,
    WARNING,
    level,
)
from dpbandits.comparisons.ranking import (
    BEST,
    BROKEN,
    DEPENDS,
    TIED,
    UNMET,
    AskedSetting,
    nearest,
    with_dimensions,
)
from dpbandits.errors import InputError
from dpbandits.pages import choosing as page_module
from dpbandits.pages.choosing import (
    NAMES_OF_TABLES,
    choosing_page,
    page_values,
    published_tables,
    which_one,
)
from dpbandits.pipeline.project import Project
from dpbandits.reporting.text import readable
from found_papers import PROJECT
from support import ROOT, refused

STUDY = PROJECT.study("choosing")


@cache
def computed() -> dict[str, pd.DataFrame]:
    """Return the tables of the comparison, of made-up results."""
    tables = STUDY.tables.items()
    return {name: TABLES[str(table.compute)](frames_of(table.reads)) for name, table in tables}


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
    return publish(tmp_path_factory.mktemp("published"), computed())


@pytest.fixture
def folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project with published tables; there is no other."""
    monkeypatch.setattr("dpbandits.pipeline.choose.published_folder", lambda: Path("/nowhere"))
    return shared


def of(answer: pd.DataFrame, name: str) -> pd.DataFrame:
    """One of the two answers, what is private in its order."""
    return answer[(answer["answer"] == name) & answer["place"].notna()]


def test_an_answer_is_both_rankings_at_the_nearest_setting(folder: Path) -> None:
    answer = dpbandits.choose(arms=6, horizon=2e5, epsilon=0.19, project=folder)
    printed, tuned = of(answer, AS_PRINTED), of(answer, TUNED)
    assert printed["algorithm"].tolist()[:2] == ["adap-ucb", "lazy-dp-ts"]
    assert printed["interpretation"].tolist()[:2] == ["", "log=base2"]
    assert printed["verdict"].tolist()[:2] == [BEST, "behind"]
    assert printed["place"].tolist()[:4] == [1, 2, 3, 4]
    first = printed.iloc[0]
    assert (first["arms"], first["horizon"], first["epsilon"]) == (5, 10_000, 0.2)
    assert (first["parameters"], first["constant"]) == ("epsilon=0.19", 3.1)
    assert first["guarantee"] == "0.19-DP (pure), central, proved"
    assert first["price"] == pytest.approx(4.0, rel=0.1)
    assert first["lo"] < first["price"] < first["hi"]
    best = tuned.iloc[0]
    assert (best["algorithm"], best["verdict"]) == ("lazy-dp-ts", BEST)
    assert best["parameters"] == "epsilon=0.19 constant=0.375"
    assert best["price"] == pytest.approx(25.0 / 18.0, rel=0.1)
    notes = " ".join(answer.attrs["notes"])
    assert "Measured: arms 5, horizon 10,000, epsilon 0.2." in notes
    assert "Outside of the grid: horizon 200,000 (measured: 10,000 to 100,000)" in notes
    assert "epsilon 0.19 (measured: 0.2 to 5)" in notes
    assert UNIT in notes
    assert WARNING in notes
    # What keeps no guarantee is shown below, and wins nothing.
    broken = answer[answer["verdict"] == BROKEN]
    shown = set(zip(broken["algorithm"], broken["variant"], strict=True))
    assert {("adap-ucb", "as-coded"), ("gdp-ncb", "as-written")} <= shown
    assert broken["place"].isna().all()
    free = answer[answer["algorithm"] == "ucb1"].iloc[0]
    assert pd.isna(free["place"])
    assert free["verdict"] == UNMET
    assert free["guarantee"] == "no privacy guarantee"


def test_the_answer_is_said_with_the_command_that_plays_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = dpbandits.choose(arms=5, horizon=2_000, epsilon=0.2, project=folder)
    printed, first, tuned, second = answer.attrs["answers"]
    assert re.match(
        r"As printed: take AdaP-UCB, ahead of Lazy-DP-TS by 1\.\d+ \[.*; price ", printed
    )
    assert tuned.startswith("Tuned: take Lazy-DP-TS with constant 0.375, ahead of LDP-UCB-L by 2.")
    assert second == (
        "  dpbandits simulate lazy-dp-ts --params epsilon=0.2 constant=0.375 "
        "--interpretations log=base2 --arms 0.7 0.5 --horizon 2000 --runs 20"
    )
    for line in (first, second):
        words = shlex.split(line)[1:]
        assert main([*words, "--no-cache"]) == 0
        assert "0.2-DP" in capsys.readouterr().out


def test_ties_and_open_logarithms_are_said(folder: Path) -> None:
    answer = dpbandits.choose(arms=20, horizon=100_000, epsilon=5, project=folder)
    tie = of(answer, AS_PRINTED)
    assert set(tie["algorithm"][tie["verdict"] == TIED]) == {"adap-ucb", "lazy-dp-ts"}
    assert not (tie["verdict"] == BEST).any()
    assert "tied with" in answer.attrs["answers"][0]
    assert not any("grid" in note for note in answer.attrs["notes"])
    # With base 2, as printed, Lazy-DP-TS is behind, with the natural logarithm alike.
    answer = dpbandits.choose(arms=20, horizon=10_000, epsilon=0.2, project=folder)
    depends = of(answer, AS_PRINTED)
    assert depends["algorithm"].tolist()[:2] == ["adap-ucb", "lazy-dp-ts"]
    assert depends["verdict"].tolist()[:2] == [DEPENDS, TIED]
    assert "another base of a logarithm may change this" in answer.attrs["answers"][0]


def test_best_arms_are_ranked_by_success(folder: Path) -> None:
    asked = partial(dpbandits.choose, arms=20, budget=1_000, epsilon=1, project=folder)
    few, many = of(asked(dimensions=3), AS_PRINTED), of(asked(), AS_PRINTED)
    assert set(few["family"]) == {"2 dimensions"}
    assert few["algorithm"].tolist()[:2] == ["dp-bai", "dp-od"]
    assert few["success"].tolist()[:2] == pytest.approx([0.84, 0.82])
    assert set(many["family"]) == {"20 dimensions"}
    # With an axis an arm DP-BAI is Baseline, and so is what is said of it.
    assert set(many["algorithm"][many["verdict"] == TIED]) == {"baseline", "dp-bai", "dp-od"}
    ends = few[["lo", "hi", "least", "most"]]
    assert ((ends >= 0.0) & (ends <= 1.0)).all(axis=None)
    answer = asked(dimensions=2)
    assert answer.attrs["answers"][0].startswith("take DP-BAI (tied with DP-OD), ahead of DP-OD by")
    assert "dpbandits identify dp-bai --params epsilon=1 --features" in answer.attrs["answers"][1]


def test_tuned_parameters_are_scaled_to_the_question(folder: Path) -> None:
    asked = {"arms": 20, "horizon": 50_000, "epsilon": 1.0, "delta": 1e-6}
    answer = of(dpbandits.choose(**asked, project=folder), TUNED)
    row = answer[answer["algorithm"] == "m-ts-gaussian"].iloc[0]
    values = dict(text.split("=") for text in row["parameters"].split())
    # 50 of the 5000 pre-pulls that fit at T = 100000, of the 2500 that fit here.
    assert values["b"] == "25"
    assert "GDP, central, proved; (1, 1e-06)-DP" in row["guarantee"]
    known = dpbandits.guarantee("m-ts-gaussian", horizon=50_000, b=25, c=float(values["c"]))
    assert known.parameter == pytest.approx(level(1.0), rel=1e-4)


def test_the_nearest_setting_is_by_ratios() -> None:
    table = with_dimensions(computed()["extra-regret"])
    assert set(table["family"]) == {BINARY}
    assert set(nearest(table, AskedSetting(9, 30_000, 2.3))["arms"]) == {5}
    assert set(nearest(table, AskedSetting(11, 31_000, 2.2))["horizon"]) == {10_000}
    assert set(nearest(table, AskedSetting(11, 32_000, 2.3))["epsilon"]) == {5.0}


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
    ({"trust": "pure"}, "allowed: central, local"),
    ({"delta": 0.1}, "delta is 0.1; allowed: 0 or 1e-06"),
    ({"trust": "local", "delta": 1e-6}, "allowed: 0 with local trust"),
    ({"dimensions": 2}, "dimensions is 2; allowed: with a budget alone"),
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
    regret = computed()["extra-regret"]
    publish(tmp_path, computed() | {"extra-regret": regret[regret["privacy"] != LOCAL]})
    asked = partial(dpbandits.choose, **ASKED, trust="local", project=tmp_path)
    refused(asked, "no algorithm was measured that is local, epsilon-DP; allowed: central")


def test_a_table_of_an_older_version_is_refused(tmp_path: Path) -> None:
    older = {"extra-regret": computed()["extra-regret"].drop(columns="constant")}
    folder = publish(tmp_path, computed() | older)
    refused(partial(dpbandits.choose, **ASKED, project=folder), "has no column constant")
    assert published_tables(Project.load(folder)) is None


def test_without_tables_the_pages_stay(tmp_path: Path) -> None:
    project = Project.load(publish(tmp_path, {}))
    assert published_tables(project) is None
    assert choosing_page(project, "as it is") == which_one(project, "as it is") == "as it is"


def test_the_command_prints_the_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["choose", "--arms", "5", "--horizon", "1e4", "--epsilon", "0.2", "--project"]
    assert main([*words, str(folder)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("As printed: take AdaP-UCB, ahead of")
    assert "Asked: arms 5, horizon 10,000, epsilon 0.2; central, epsilon-DP." in printed
    assert re.search(r"^1 +Lazy-DP-TS, log=base2 +best +0.375 ", printed, re.MULTILINE)
    assert main([*words, str(folder), "--trust", "local"]) == 0
    assert LOCAL_FIELD in capsys.readouterr().out
    assert main([*words, str(folder), "--trust", "local", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("as printed,1,ldp-ucb-l,LDP-UCB-L")


# The page: the rows of its answers are recomputed from the published tables.

PRICE = r"<br>(\S+); (.+?) ×(\S+) \|"
ANSWER = re.compile(
    rf"^\| (central|local)<br>(\d+), (\S+), (\S+) \| (.+?){PRICE} (.+?) \((\S+)\){PRICE}$",
    re.MULTILINE,
)


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"docs/tables/choosing/{name}.csv", keep_default_na=False)


def at(table: pd.DataFrame, arms: str, horizon: str, epsilon: str) -> pd.DataFrame:
    horizons = {readable(f"{number:.0e}"): number for number in (10**4, 10**5, 10**6)}
    setting = [int(arms), horizons[horizon], float(epsilon)]
    found = table[SETTING[1:]].apply(pd.to_numeric, errors="coerce")
    return table[(found == setting).all(axis=1) & (table["family"] == BINARY)]


def check_answers(folder: Path, page: str) -> int:
    """Recompute every row of the table of answers; return how many there are."""
    scores, winners = read(folder, "extra-regret"), read(folder, "extra-winners")
    scores = scores[scores["ranked"]]
    rows = ANSWER.findall(page)
    for trust, arms, horizon, budget, *cells in rows:
        kind, setting = LOCAL if trust == "local" else PURE, (arms, horizon, budget)
        for name, take, *shown in (
            (AS_PRINTED, cells[0], "", *cells[1:4]),
            (TUNED, *cells[4:]),
        ):
            field = at(scores[scores["answer"] == name], *setting)
            field = field[field["privacy"].isin(CLASSES[kind])]
            field = field.assign(score=pd.to_numeric(field["score"]))
            field = field.sort_values(["score", "algorithm"])
            first, other = field.iloc[0], field.iloc[1]
            own = winners[(winners["privacy"] == kind) & (winners["answer"] == name)]
            [row] = at(own, *setting).to_dict("records")
            is_won = row["verdict"] == WINNER
            assert is_won == (float(row["q"]) <= 0.05)
            words = first["name"] + " (log)" * bool(row["as_ranked"])
            assert take == (f"**{first['name']}**" if is_won else words)
            if name == TUNED:
                assert shown[0] == f"{float(first['constant']):.3g}"
            ratio = float(other["price"]) / float(first["price"])
            assert float(row["margin"]) == pytest.approx(ratio, rel=0.01)
            numbers = f"{float(first['price']):.2g}", other["name"], f"{float(row['margin']):.2g}"
            assert shown[1:] == [*numbers]
    return len(rows)


@pytest.mark.slow
def test_every_number_of_the_page_is_that_of_the_tables(
    shared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = grid_rows()[SETTING[1:]].dropna().drop_duplicates()
    questions = [
        {"family": BINARY, "arms": int(arms), "horizon": int(horizon), "epsilon": epsilon}
        for arms, horizon, epsilon in settings.itertuples(index=False)
    ]
    monkeypatch.setattr(page_module, "ANSWERED", questions)
    page = choosing_page(Project.load(shared), "")
    assert check_answers(shared, page) == 2 * len(questions)
    # Made up so: a local algorithm leads at epsilon = 1, as printed.
    assert re.search(r"Central trust, as printed: .*LDP-UCB-L (is first )?in 3 \(3[ )]", page)
    assert "**AdaP-UCB** has the least regret as printed, in 4 of 9 settings" in page
    assert "With tuned constants Lazy-DP-TS is first in 9 (" in page
    assert "| 2 dimensions | 84.0 [" in page
    assert "Of 2 settings none is won beyond chance" in page
    assert "| Lazy-DP-TS | 3 | 0.375 | 3.4 to 3.4 | 1.00 | 1.00 | The bonus raises" in page
    assert WARNING in page
    assert LOCAL_FIELD in page
    tables = published_tables(Project.load(shared))
    assert tables is not None
    assert page_values(tables)["least_budget"] == pytest.approx(17.2, abs=0.05)
    # Other tables give another page.
    other = computed()["extra-winners"].assign(q=1.0, verdict="tie", as_ranked="")
    changed = choosing_page(
        Project.load(publish(tmp_path, computed() | {"extra-winners": other})), ""
    )
    assert "With tuned constants no algorithm is ahead beyond chance: Lazy-DP-TS" in changed
    assert check_answers(tmp_path, changed) > 0


def test_the_front_page_has_the_answer(folder: Path) -> None:
    text = which_one(Project.load(folder), "<!-- begin which one -->\n<!-- end which one -->\n")
    assert "- **Central trust** (one trusted learner sees the rewards): " in text
    answer = dpbandits.choose(arms=20, horizon=1e6, epsilon=1.0, project=folder)
    printed, _, tuned, _ = answer.attrs["answers"]
    assert f"{printed}\n{tuned}\n" in text
    with pytest.raises(InputError, match="marks"):
        which_one(Project.load(folder), "nothing")


def test_the_published_page_is_that_of_the_published_tables() -> None:
    assert set(NAMES_OF_TABLES) == set(STUDY.tables)
    if published_tables(PROJECT) is not None:
        assert check_answers(ROOT, choosing_page(PROJECT, "")) == 12
