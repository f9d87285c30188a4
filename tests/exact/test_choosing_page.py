"""The page of advice: each of its numbers is recomputed from the published tables."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from choosing_rows import FAMILIES, rows_of
from dpbandits.comparisons.choosing.ranking import choose
from dpbandits.comparisons.choosing.scores import CLASSES, DESCRIPTIONS, OTHERS, PLAYERS, SHOWN
from dpbandits.comparisons.choosing.tables import TABLES
from dpbandits.errors import InputError
from dpbandits.pages.choosing import NAMES, choosing_page, page_values, published, which_one
from dpbandits.pipeline.project import Project

ROOT = Path(__file__).parents[2]
SETTINGS = [(5, 10_000), (5, 100_000), (20, 10_000)]


def regret_rows() -> pd.DataFrame:
    """Made-up regrets: AdaP-UCB wins at epsilon 0.2, a local algorithm at 1, a tie at 5."""
    parts = []
    for number, (arms, horizon) in enumerate(SETTINGS):
        for epsilon in (0.2, 1.0, 5.0):
            scores = {"adap-ucb": 80.0, "lazy-dp-ts": 100.0, "dp-ts": 130.0, "dp-se": 160.0}
            scores |= {"m-ts-gaussian": 150.0, "ldp-ucb-l": 60.0 if epsilon == 1.0 else 300.0}
            scores |= {"ldp-ncb": 400.0}
            scores |= {"lazy-dp-ts": 80.0} if epsilon == 5.0 else {}
            scores |= {"ucb1": 40.0} if epsilon == 1.0 else {}
            setting = {"arms": arms, "horizon": horizon, "epsilon": epsilon}
            parts.append(rows_of(scores, 4.0, 100 * number + int(10 * epsilon), **setting))
    rows = pd.concat(parts, ignore_index=True).assign(alpha=np.nan, b=np.nan, c=np.nan)
    rows.loc[rows["algorithm"] == "m-ts-gaussian", ["b", "c"]] = [50.0, 9.0]
    # DP-SE collapses on one family, and AdaP-UCB a little.
    is_one = rows["instance"] == FAMILIES[0]
    rows.loc[is_one & (rows["algorithm"] == "adap-ucb"), "value"] += 30.0
    rows.loc[rows["instance"].eq(FAMILIES[1]) & (rows["algorithm"] == "adap-ucb"), "value"] -= 30.0
    return rows


def logarithm_rows() -> pd.DataFrame:
    """Made-up regrets of Lazy-DP-TS with base 2: on twenty arms it is as good as AdaP-UCB."""
    parts = [
        rows_of({"lazy-dp-ts": 80.0 if arms == 20 else 120.0}, 4.0, 7, **setting)
        for arms, horizon in SETTINGS
        for epsilon in (0.2, 1.0, 5.0)
        for setting in [{"arms": arms, "horizon": horizon, "epsilon": epsilon}]
    ]
    rows = pd.concat(parts, ignore_index=True).assign(interpretation="log=base2")
    return rows.assign(alpha=np.nan, b=np.nan, c=np.nan)


def trial_rows() -> pd.DataFrame:
    hits = {"dp-bai": 900, "baseline": 700, "dp-bai-gauss": 905, "sequential-halving": 950}
    rows = [
        {"algorithm": name, "value": count, "trials": 1000, "instance": family, "epsilon": epsilon}
        for name, count in hits.items()
        for family in FAMILIES
        for epsilon in ([0.2, 1.0] if name != "sequential-halving" else [np.nan])
    ]
    tags = {"arms": 5, "horizon": 1000, "variant": "", "interpretation": "", "metric": "success"}
    return pd.DataFrame(rows).assign(**tags)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with config and all tables of the comparison, published."""
    found = tmp_path_factory.mktemp("published")
    (found / "config").symlink_to(ROOT / "config")
    (found / "docs/tables/choosing").mkdir(parents=True)
    (found / "docs/tables/privacy-audit").symlink_to(ROOT / "docs/tables/privacy-audit")
    regret, trials = {"regret": regret_rows()}, {"best-arm": trial_rows()}
    both = regret | {"logarithms": logarithm_rows()}
    untuned = regret["regret"][regret["regret"]["algorithm"] == "m-ts-gaussian"]
    slower = untuned.assign(value=untuned["value"] * np.where(untuned["epsilon"] == 1.0, 0.5, 3.0))
    made = {
        "extra-regret": TABLES["regret"](both),
        "extra-winners": TABLES["winning"](both),
        "extra-tuning": TABLES["tuning"](regret | {"untuned": slower.drop(columns=["b", "c"])}),
        "extra-best-arm": TABLES["best-arm"](trials),
        "extra-best-arm-winners": TABLES["winning"](trials),
    }
    assert set(made) == set(NAMES)
    for name, table in made.items():
        table.to_csv(found / f"docs/tables/choosing/{name}.csv", index=False)
    return found


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return choosing_page(Project.load(folder))


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"docs/tables/choosing/{name}.csv")


def by_default(folder: Path) -> pd.DataFrame:
    """Return the regrets with default logarithms."""
    table = read(folder, "extra-regret")
    return table[~table["interpretation"].isin(OTHERS)]


def check_counts(folder: Path, page: str) -> int:
    """Recompute every count of wins and ties on a page; return how many sentences have one."""
    sections = re.split(r"\n#{3,4} ", page)
    seen = 0
    for kind in SHOWN:
        own = [each for each in sections if each.startswith(f"{DESCRIPTIONS[kind]}\n")]
        for name, text in zip(("extra-winners", "extra-best-arm-winners"), own, strict=False):
            table = read(folder, name)
            table = table[(table["class"] == kind) & table["left_out"].isna()]
            is_won = table["q"] <= 0.05
            won = Counter(table[is_won]["first"].map(lambda each: PLAYERS[each][0]))
            tied = Counter(
                PLAYERS[each][0] for names in table[~is_won]["tied"] for each in names.split()
            )
            lines = re.findall(
                r"- (.+) wins (\d+) of (\d+) questions, and is among those tied at (\d+) more", text
            )
            assert {line[0] for line in lines} == set(won)
            for player, wins, questions, ties in lines:
                expected = (won[player], len(table), tied[player])
                assert (int(wins), int(questions), int(ties)) == expected
            [line] = re.findall(r"- (\d+) of (\d+) questions are ties", text)
            assert [int(each) for each in line] == [int((~is_won).sum()), len(table)]
            for winners, close in re.findall(
                r"- Of (\d+) winners (\d+) lead by less than 5 %", text
            ):
                assert int(winners) == is_won.sum()
                assert int(close) == (table["margin"][is_won] < 1.05).sum()
            seen += len(lines) + 1 + check_logarithms(table, text)
    return seen


def check_logarithms(table: pd.DataFrame, text: str) -> int:
    """Recompute how many winners remain with other logarithms; return how many sentences say it."""
    found = re.findall(
        r"there are (\d+) winners\.\n  Of these, (\d+) remain with base 2 for all, (\d+) with the "
        r"natural logarithm for all, (\d+) with every choice",
        text,
    )
    default = table["default"].dropna()
    remain = [(table.loc[default.index, base] == default).sum() for base in ("base2", "natural")]
    expected = [len(default), *remain, (table["verdict"] == "winner").sum()]
    assert all([int(each) for each in line] == expected for line in found)
    return len(found)


def test_every_count_of_wins_and_ties_is_that_of_the_tables(folder: Path, page: str) -> None:
    assert check_counts(folder, page) >= 8


def check_prices(folder: Path, page: str) -> int:
    """Recompute every price of privacy on a page; return how many there are."""
    table = by_default(folder)
    words = {description: kind for kind, description in DESCRIPTIONS.items()}
    section = page.partition("### Price of privacy")[2].partition("###")[0]
    seen = 0
    for line in re.findall(r"^\| (\d+ \| [\d,]+ \| .+) \|$", section, re.MULTILINE):
        arms, horizon, description, *cells = line.split(" | ")
        own = table[
            (table["arms"] == int(arms)) & (table["horizon"] == int(horizon.replace(",", "")))
        ]
        free = own[own["class"] == "none"]["regret"].min()
        own = own[own["class"].isin(CLASSES[words[description]])]
        for epsilon, cell in zip((0.2, 1.0, 5.0), cells, strict=False):
            here = own[own["epsilon"] == epsilon].sort_values("regret").iloc[0]
            assert cell == f"{here['regret'] / free:.3g} ({here['name']})"
            seen += 1
    return seen


def test_every_price_of_privacy_is_that_of_the_tables(folder: Path, page: str) -> None:
    assert check_prices(folder, page) == 3 * 2 * 2


def check_worst(folder: Path, page: str) -> int:
    """Recompute every sentence on the worst family; return how many there are."""
    table = by_default(folder)
    section = page.partition("### Worst family")[2].partition("###")[0]
    found = re.findall(
        r"- K = (\d+), T = ([\d,]+): (.+) has the smallest mean, (.+) times that "
        r"without privacy, and (.+) times on its worst family \((.+)\)\. (.+)",
        section,
    )
    for arms, horizon, name, price, worst, family, rest in found:
        here = (table["arms"] == int(arms)) & (table["horizon"] == int(horizon.replace(",", "")))
        own = table[here & (table["epsilon"] == 1.0) & table["class"].isin(CLASSES["pure"])]
        best = own.sort_values("regret").iloc[0]
        safest = own.sort_values("worst").iloc[0]
        expected = (best["name"], f"{best['price']:.3g}", f"{best['worst']:.3g}")
        assert (name, price, worst, family) == (*expected, best["worst_instance"])
        if safest["name"] != name:
            assert rest == f"{safest['name']} has the smallest worst ratio, {safest['worst']:.3g}."
    return len(found)


def test_the_worst_families_are_those_of_the_tables(folder: Path, page: str) -> None:
    assert check_worst(folder, page) == 2


def check_tuning(folder: Path, page: str) -> None:
    """Recompute the sentences on tuning."""
    table = read(folder, "extra-tuning")
    gains, harms = (table["lo"] > 1).sum(), (table["hi"] < 1).sum()
    assert f"gains at {gains} of {len(table)} settings and loses at {harms}" in page
    gain = table["gain"]
    assert f"is {gain.median():.3g} times the tuned one in the median, and {gain.max():.3g}" in page


def test_tuning_is_that_of_the_tables(folder: Path, page: str) -> None:
    check_tuning(folder, page)
    assert "gains at 6 of 9 settings and loses at 3" in page


def test_weaker_and_stronger_privacy_are_counted(folder: Path, page: str) -> None:
    # Made up so: a local algorithm wins at epsilon = 1, in each of the three settings.
    assert "wins 3 of the 9 questions for epsilon-DP, and is among those tied at 0." in page
    assert (
        "only the latter wins 0 of 9 questions for (epsilon, 1e-6)-DP, and is among those" in page
    )


def test_the_logarithms_that_decide_are_said(page: str) -> None:
    # Made up so: with base 2 Lazy-DP-TS is as good as AdaP-UCB on twenty arms.
    assert "there are 6 winners.\n  Of these, 5 remain with base 2 for all, 6 with" in page
    assert "log: AdaP-UCB" in page
    assert "With the default bases (natural for Lazy-DP-TS) there" in page


def test_the_least_audited_winner_is_named(folder: Path) -> None:
    found = published(Project.load(folder))
    assert found is not None
    values = page_values(found)
    assert values["by_runs"] == {"names": ["Lazy-DP-TS", "DP-TS"], "horizon": 8}
    assert values["least_budget"] == pytest.approx(17.2, abs=0.05)


def test_other_results_give_another_page(folder: Path, page: str, tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    (tmp_path / "docs/tables/choosing").mkdir(parents=True)
    (tmp_path / "docs/tables/privacy-audit").symlink_to(ROOT / "docs/tables/privacy-audit")
    for name in NAMES:
        table = read(folder, name)
        if name == "extra-winners":
            table["q"], table["verdict"], table["tied"] = 1.0, "tie", "adap-ucb dp-se"
        table.to_csv(tmp_path / f"docs/tables/choosing/{name}.csv", index=False)
    changed = choosing_page(Project.load(tmp_path))
    assert "- 9 of 9 questions are ties." in changed
    assert check_counts(tmp_path, changed) > 0
    with pytest.raises(AssertionError):
        check_counts(folder, changed)


def test_the_front_page_says_which_wins_most(folder: Path) -> None:
    text = which_one(Project.load(folder), "<!-- begin which one -->\n<!-- end which one -->\n")
    assert "- For epsilon-DP, central: " in text
    assert "LDP-UCB-L has less regret than LDP-NCB" in text
    first = choose(arms=20, horizon=1e6, epsilon=1.0, project=folder).iloc[0]
    assert re.search(
        rf"^1 +{first['name']} +{first['verdict']} +{first['regret']:,.0f} ", text, re.M
    )
    with pytest.raises(InputError, match="marks"):
        which_one(Project.load(folder), "nothing")


def test_without_published_tables_the_page_says_so(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    text = choosing_page(Project.load(tmp_path))
    assert "not published yet" in text
    assert "## Method" in text


def test_the_published_page_is_that_of_the_published_tables() -> None:
    project = Project.load(ROOT)
    text = (ROOT / "docs/choosing.md").read_text(encoding="utf-8")
    assert text == choosing_page(project)
    if published(project) is not None:
        assert check_counts(ROOT, text) > 0
        assert check_prices(ROOT, text) > 0
        assert check_worst(ROOT, text) > 0
        check_tuning(ROOT, text)
