"""The comparison that ranks private bandits: who plays, planted winners and ties, tuning, maps."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from choosing_rows import FAMILIES, grid_rows, rows_of
from dpbandits.algorithms import IDENTIFICATION, REGISTRY
from dpbandits.algorithms import REGRET as REGRET_ALGORITHMS
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.comparisons.choosing.diagrams import draw_map, shade
from dpbandits.comparisons.choosing.formulas import tuned_b, tuned_c
from dpbandits.comparisons.choosing.instances import INSTANCES
from dpbandits.comparisons.choosing.ranking import (
    BEST,
    DEPENDS,
    KEPT,
    TIED,
    Question,
    nearest,
    ranked,
)
from dpbandits.comparisons.choosing.scores import (
    APPROXIMATE,
    BEST_ARM,
    CLASSES,
    DELTA,
    NONE,
    PLAYERS,
    PURE,
    RATE,
    REGRET,
    SHOWN,
    TIE,
    WINNER,
    family_scores,
    full_field,
    mean_scores,
    winners,
)
from dpbandits.comparisons.choosing.tables import TABLES, tuning
from dpbandits.comparisons.equal_privacy.formulas import share_c
from dpbandits.config import Context
from dpbandits.engine.cells import Cell, Series
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from dpbandits.privacy import Guarantee

ROOT = Path(__file__).parents[2]
PURE_ALGORITHMS = [name for name, (_, kind) in REGRET.items() if kind == PURE]


@pytest.fixture(scope="module")
def project() -> Project:
    return Project.load(ROOT)


def tuning_rows(project: Project) -> pd.DataFrame:
    """Made-up tuning results: the best share is 0.01 everywhere."""
    rows = [
        {**each.tags, "algorithm": each.cell.definition.id, "metric": "pseudo_regret"}
        for each in project.study("choosing").simulation("tuning").series()
    ]
    frame = pd.DataFrame(rows)
    wanted = frame["share"].where(frame["algorithm"] != "m-ts-gaussian", 0.5 * frame["share"])
    return frame.assign(value=100.0 + (frame["share"] - 0.01).abs() + 0.0 * wanted)


@pytest.fixture(scope="module")
def played(project: Project) -> list[Series]:
    """Every series of the comparison at the paper scale."""
    return project.study("choosing").simulation("regret").series(tuning_rows(project))


@pytest.fixture(scope="module")
def best_arms(project: Project) -> list[Series]:
    return project.study("choosing").simulation("best-arm").series()


def map_of(rows: pd.DataFrame) -> pd.DataFrame:
    return winners(mean_scores(family_scores(rows)))


def test_every_registered_algorithm_plays_under_its_name(
    played: list[Series], best_arms: list[Series]
) -> None:
    assert {each.cell.definition.id for each in played} == set(REGRET_ALGORITHMS) == set(REGRET)
    assert {each.cell.definition.id for each in best_arms} == set(IDENTIFICATION) == set(BEST_ARM)
    assert {name: REGISTRY[name].name for name in PLAYERS} == {
        name: title for name, (title, _) in PLAYERS.items()
    }


def guarantee_of_cell(cell: Cell) -> Guarantee:
    """Return what is known of the guarantee of what a cell plays."""
    return guarantee_of(
        cell.definition,
        cell.parameters,
        cell.horizon,
        variant=cell.variant,
        interpretations=dict(cell.interpretations),
        bandit=cell.bandit,
    )


def test_every_variant_keeps_the_budget_of_its_class_as_audited(
    played: list[Series], best_arms: list[Series]
) -> None:
    for each in [*played, *best_arms]:
        kind = PLAYERS[each.cell.definition.id][1]
        if kind == NONE:
            assert "epsilon" not in each.tags
            continue
        epsilon, found = each.tags["epsilon"], guarantee_of_cell(each.cell)
        assert found.status in KEPT, each.label
        assert (found.model == "local") == (kind == "local")
        if kind == APPROXIMATE:
            assert found.epsilon(DELTA) <= epsilon * (1 + 1e-6), each.label
        else:
            assert (found.kind, found.parameter) == ("pure", epsilon), each.label


def test_what_is_not_private_keeps_no_budget_of_the_grid(played: list[Series]) -> None:
    largest = max(each.tags.get("epsilon", 0.0) for each in played)
    free = [each for each in played if PLAYERS[each.cell.definition.id][1] == NONE]
    assert all(guarantee_of_cell(each.cell).epsilon(DELTA) > largest for each in free)


def test_the_grid_is_that_of_the_question(played: list[Series]) -> None:
    tags = pd.DataFrame([each.tags for each in played])
    assert sorted(tags["arms"].unique()) == [2, 5, 20, 50]
    assert (tags["horizon"].min(), tags["horizon"].max()) == (10_000, 10_000_000)
    assert (tags["epsilon"].min(), tags["epsilon"].max()) == (0.05, 20)
    families = tags.groupby("arms")["instance"].nunique()
    assert families.to_dict() == {2: 5, 5: 7, 20: 7, 50: 7}
    # At the longest horizon those alone whose cost does not grow with it: they play episodes.
    longest = {
        each.cell.definition.id for each in played if each.tags["horizon"] == tags["horizon"].max()
    }
    assert longest == {"dp-ts-ucb", "adap-ucb", "gdp-ncb", "anytime-gdp-ncb"}


def test_every_algorithm_of_a_setting_plays_on_the_same_families(played: list[Series]) -> None:
    tags = pd.DataFrame([{**each.tags, "id": each.cell.definition.id} for each in played])
    counts = tags.groupby(["arms", "horizon", "epsilon", "id"], dropna=False)["instance"]
    found = counts.agg(lambda names: " ".join(sorted(names))).reset_index()
    assert (found.groupby("arms")["instance"].nunique() == 1).all()


def test_tuning_shares_neither_instances_nor_streams_with_the_comparison(
    project: Project, played: list[Series]
) -> None:
    tuned = project.study("choosing").simulation("tuning").series()
    ends = [
        max(s.runs.stop for s in played),
        min(s.runs.start for s in tuned),
    ]
    assert ends[0] <= ends[1]
    bandits = [{str(s.cell.bandit.describe()) for s in each} for each in (played, tuned)]
    assert not bandits[0] & bandits[1]


@pytest.mark.parametrize("arms", [2, 5, 20, 50])
def test_families_have_one_best_arm_in_an_order_of_their_own(arms: int) -> None:
    made = [
        INSTANCES["one-good"](arms, 0.75, 0.5),
        INSTANCES["falling"](arms, 0.75, 0.25, 2),
        INSTANCES["flattening"](arms, 0.75, 0.25, 2),
        INSTANCES["random-means"](arms, 1),
    ]
    for bandit in made:
        assert np.sum(bandit.means == bandit.means.max()) == 1
    assert len({int(bandit.means.argmax()) for bandit in made[:3]}) == 1
    linear = INSTANCES["falling"](arms, 0.75, 0.25, 2, axes=True)
    np.testing.assert_array_equal(linear.means, made[1].means)


def test_the_shapes_are_those_of_their_names() -> None:
    x = np.linspace(0, 1, 5)
    falling = np.sort(INSTANCES["falling"](5, 0.75, 0.25, 2).means)[::-1]
    flattening = np.sort(INSTANCES["flattening"](5, 0.75, 0.25, 2).means)[::-1]
    np.testing.assert_allclose(falling, 0.75 - 0.5 * x**2)
    np.testing.assert_allclose(flattening, [0.75, 0.53125, 0.375, 0.28125, 0.25])


def test_tuned_parameters_are_those_of_the_smallest_regret_on_the_tuning_instances(
    project: Project,
) -> None:
    context = Context({"arms": 5, "horizon": 10_000, "epsilon": 1}, 10_000, 5, tuning_rows(project))
    assert tuned_b(context) == 20
    shared = Context({"share": 0.01, "epsilon": 1}, 10_000, 5)
    assert tuned_c(context) == share_c(shared)
    with pytest.raises(InputError, match="needs the key tuned_by"):
        tuned_b(Context({"arms": 5, "horizon": 10_000, "epsilon": 1}, 10_000, 5))


def test_a_planted_winner_is_found() -> None:
    scores = dict.fromkeys(PURE_ALGORITHMS, 100.0) | {"adap-ucb": 80.0, "ucb1": 40.0}
    found = map_of(rows_of(scores, spread=10.0, seed=1))
    row = found[found["class"] == PURE].iloc[0]
    assert (row["verdict"], row["first"], row["tied"]) == (WINNER, "adap-ucb", "adap-ucb")
    assert row["q"] < RATE
    assert row["margin"] == pytest.approx(1.25, abs=0.1)


def settings(count: int) -> Iterator[dict[str, float]]:
    return ({"epsilon": 1.0 + number} for number in range(count))


@pytest.mark.slow
def test_planted_ties_stay_ties_at_the_stated_rate() -> None:
    """Null control: of maps of 8 ties, the share with any winner is at most the stated rate."""
    maps, named = 40, 0
    for seed in range(maps):
        scores = {"dp-se": 100.0, "adap-ucb": 100.0, "lazy-dp-ts": 130.0}
        rows = [
            rows_of(scores, 20.0, 1000 * seed + n, **each) for n, each in enumerate(settings(8))
        ]
        found = map_of(pd.concat(rows, ignore_index=True))
        named += int((found["verdict"] == WINNER).any())
        ties = found[found["verdict"] == TIE]["tied"].str.split()
        assert ties.map({"dp-se", "adap-ucb"}.issubset).all()
    # Where every winner would be wrong the false discovery rate is the chance of any: 5 %; seven
    # of forty or more have a chance of 0.3 % then.
    assert named < 7


def test_without_the_correction_the_null_control_would_be_seen() -> None:
    """The test above can fail: at a rate of 1 every tie has a winner."""
    rows = rows_of({"dp-se": 100.0, "adap-ucb": 100.0}, 20.0, 5)
    assert (winners(mean_scores(family_scores(rows)), rate=1.0)["verdict"] == WINNER).all()


def test_most_named_winners_are_right_in_a_mixed_map() -> None:
    rows = []
    for number, each in enumerate(settings(60)):
        best = 100.0 if number % 2 else 80.0
        scores = {"dp-se": best, "adap-ucb": 100.0, "dp-ts": 120.0}
        rows.append(rows_of(scores, 20.0, 7000 + number, **each))
    found = map_of(pd.concat(rows, ignore_index=True))
    found = found[found["class"] == PURE]
    has_best = found["epsilon"].astype(int) % 2 == 1
    won = found["verdict"] == WINNER
    assert won[has_best].mean() > 0.7
    wrong = won & ~(has_best & (found["first"] == "dp-se"))
    assert wrong.sum() <= RATE * won.sum() + 1


def test_results_do_not_depend_on_the_order_of_algorithms() -> None:
    scores = {name: 100.0 + 5.0 * place for place, name in enumerate(PURE_ALGORITHMS)}
    rows = rows_of(scores | {"ucb1": 50.0}, 10.0, 3)
    mixed = rows.sample(frac=1.0, random_state=1)
    first, second = map_of(rows), map_of(mixed)
    columns = ["class", "first", "second", "verdict", "tied", "left_out"]
    pd.testing.assert_frame_equal(first[columns], second[columns])
    np.testing.assert_allclose(first[["q", "margin"]], second[["q", "margin"]], rtol=1e-9)


def test_equal_scores_without_spread_are_a_tie() -> None:
    rows = rows_of({"dp-se": 100.0, "adap-ucb": 100.0}, 0.0, 1)
    assert (map_of(rows)["verdict"] == TIE).all()
    apart = rows_of({"dp-se": 100.0, "adap-ucb": 101.0}, 0.0, 1)
    assert set(map_of(apart)["first"]) == {"dp-se"}
    assert (map_of(apart)["verdict"] == WINNER).all()


def test_scores_are_means_over_families_with_their_ratio_and_the_worst() -> None:
    rows = rows_of({"dp-se": 100.0, "ucb1": 50.0}, 0.0, 1)
    rows.loc[(rows["instance"] == "two") & (rows["algorithm"] == "dp-se"), "value"] = 400.0
    own = mean_scores(family_scores(rows)).set_index("algorithm").loc["dp-se"]
    assert own["score"] == 200.0
    assert own["price"] == 4.0
    assert (own["worst"], own["worst_instance"]) == (8.0, "two")


def test_intervals_of_means_cover() -> None:
    rows = [
        rows_of({"dp-se": 100.0}, 20.0, seed, **each) for seed, each in enumerate(settings(200))
    ]
    base = rows_of({"ucb1": 1.0}, 0.0, 0)
    own = mean_scores(family_scores(pd.concat([*rows, base], ignore_index=True)))
    own = own[own["algorithm"] == "dp-se"]
    assert 0.9 < own["lo"].le(100.0).mul(own["hi"].ge(100.0)).mean() < 0.99


def test_who_was_not_played_is_named() -> None:
    one = rows_of({"dp-se": 100.0, "adap-ucb": 80.0, "dp-ts": 90.0}, 1.0, 1)
    other = rows_of({"dp-se": 100.0, "adap-ucb": 80.0}, 1.0, 2, horizon=100_000)
    found = map_of(pd.concat([one, other], ignore_index=True))
    found = found[found["class"] == PURE].set_index("horizon")
    assert found["left_out"].to_dict() == {10_000: "", 100_000: "dp-ts"}


def with_base2(scores: dict[str, float], base2: dict[str, float]) -> pd.DataFrame:
    """Results with default logarithms, and of some algorithms with base 2."""
    other = rows_of(base2, 1.0, 2).assign(interpretation="log=base2")
    return pd.concat([rows_of(scores, 1.0, 1), other], ignore_index=True)


def test_a_winner_wins_whichever_logarithm_each_has() -> None:
    scores = {"lazy-dp-ts": 50.0, "adap-ucb": 80.0, "dp-se": 100.0}
    row = map_of(with_base2(scores, {"lazy-dp-ts": 60.0})).iloc[0]
    assert (row["verdict"], row["first"], row["tied"]) == (WINNER, "lazy-dp-ts", "lazy-dp-ts")
    assert row[["default", "base2", "natural"]].tolist() == ["lazy-dp-ts"] * 3
    assert row["margin"] == pytest.approx(1.6, abs=0.02)
    row = map_of(with_base2(scores, {"lazy-dp-ts": 90.0})).iloc[0]
    assert (row["verdict"], row["tied"]) == (TIE, "lazy-dp-ts adap-ucb")
    assert row[["default", "base2", "natural"]].tolist() == ["lazy-dp-ts", "adap-ucb", "lazy-dp-ts"]


def test_a_winner_may_depend_on_the_logarithms_of_two_at_once() -> None:
    """One base for all leaves the winner in its place, a worse one for it alone does not."""
    scores = {"lazy-dp-ts": 50.0, "dp-ts": 80.0}
    rows = with_base2(scores, {"lazy-dp-ts": 70.0})
    natural = rows_of({"dp-ts": 60.0}, 1.0, 3).assign(interpretation="log=natural")
    table = map_of(pd.concat([rows, natural], ignore_index=True))
    row = table.iloc[0]
    assert row[["default", "base2", "natural"]].tolist() == ["lazy-dp-ts"] * 3
    assert row["verdict"] == TIE


def test_a_ranking_says_that_its_first_depends_on_a_logarithm() -> None:
    scores = {"lazy-dp-ts": 50.0, "adap-ucb": 80.0, "dp-se": 100.0, "ucb1": 10.0}
    rows = with_base2(scores, {"lazy-dp-ts": 90.0}).assign(alpha=np.nan, b=np.nan, c=np.nan)
    table = TABLES["regret"]({"regret": rows})
    found = ranked(table, map_of(rows), Question(5, 10_000, 1.0), "regret")
    assert found["algorithm"].tolist() == ["lazy-dp-ts", "adap-ucb", "dp-se", "ucb1"]
    assert found["verdict"].tolist()[:3] == [DEPENDS, TIED, "behind"]


def test_a_logarithm_that_was_not_played_is_named() -> None:
    one = with_base2({"lazy-dp-ts": 50.0, "dp-se": 80.0}, {"lazy-dp-ts": 60.0})
    other = rows_of({"lazy-dp-ts": 50.0, "dp-se": 80.0}, 1.0, 2, horizon=100_000)
    found = map_of(pd.concat([one, other], ignore_index=True))
    found = found[found["class"] == PURE].set_index("horizon")
    assert found["left_out"].to_dict() == {10_000: "", 100_000: "lazy-dp-ts log=base2"}


def test_a_winner_is_not_sure_where_a_logarithm_was_not_played() -> None:
    scores = {"lazy-dp-ts": 50.0, "dp-se": 80.0, "ucb1": 10.0}
    one = with_base2(scores, {"lazy-dp-ts": 60.0})
    rows = pd.concat([one, rows_of(scores, 1.0, 2, horizon=100_000)], ignore_index=True)
    table = TABLES["regret"]({"regret": rows.assign(alpha=np.nan, b=np.nan, c=np.nan)})
    words = [
        ranked(table, map_of(rows), Question(5, horizon, 1.0), "regret")["verdict"].iloc[0]
        for horizon in (10_000, 100_000)
    ]
    assert words == [BEST, DEPENDS]


def test_every_open_logarithm_is_played_both_ways_where_all_are(
    project: Project, played: list[Series]
) -> None:
    others = project.study("choosing").simulation("logarithms").series()

    def settings_of(series: Sequence[Series]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for each in series:
            tags = {key: value for key, value in each.tags.items() if key != "log"}
            found.setdefault(each.cell.definition.id, set()).add(str(tags))
        return found

    usual, other = settings_of(played), settings_of(others)
    is_open = {name for name in usual if "base2" in REGISTRY[name].interpretations.get("log", ())}
    assert set(other) == is_open == {"lazy-dp-ts", "anytime-lazy-ucb", "dp-ts"}
    for name, settings in other.items():
        # DP-TS is the slowest: nothing is asked where it was not played.
        assert settings == usual[name] & usual["dp-ts"]
    for each in others:
        name = each.cell.definition.id
        default = REGISTRY[name].interpretations["log"][0]
        assert {default, dict(each.cell.interpretations)["log"]} == {"base2", "natural"}


def test_stricter_algorithms_take_part_where_less_is_asked() -> None:
    rows = rows_of(
        {"dp-se": 100.0, "m-ts-gaussian": 200.0, "ldp-ncb": 50.0, "ldp-ucb-l": 60.0}, 1.0, 1
    )
    found = map_of(rows).set_index("class")["first"]
    assert found.to_dict() == dict.fromkeys(CLASSES, "ldp-ncb")


def test_trials_are_judged_by_the_share_that_misses() -> None:
    counted = [
        {"algorithm": name, "value": hits, "trials": 1000, "instance": family}
        for name, hits in {"dp-bai": 900, "baseline": 700, "sequential-halving": 950}.items()
        for family in FAMILIES
    ]
    tags = {"arms": 5, "horizon": 1000, "variant": "", "interpretation": "", "metric": "success"}
    rows = pd.DataFrame(counted).assign(**tags, epsilon=1.0)
    rows.loc[rows["algorithm"] == "sequential-halving", "epsilon"] = np.nan
    found = mean_scores(family_scores(rows)).set_index("algorithm")["score"]
    assert found["dp-bai"] == pytest.approx(0.1)
    assert set(map_of(rows)["first"]) == {"dp-bai"}


def test_the_gain_by_tuning_is_a_ratio_with_an_interval() -> None:
    tuned = rows_of({"m-ts-gaussian": 50.0}, 2.0, 1).assign(b=7, c=3.0)
    untuned = rows_of({"m-ts-gaussian": 100.0}, 2.0, 2)
    row = tuning({"regret": tuned, "untuned": untuned}).iloc[0]
    assert row["lo"] < 2.0 < row["hi"]
    assert row["gain"] == pytest.approx(2.0, rel=0.05)
    assert (row["b"], row["c"]) == (7, 3.0)
    same = tuning({"regret": tuned, "untuned": tuned.drop(columns=["b", "c"])}).iloc[0]
    assert same["gain"] == same["lo"] == same["hi"] == 1.0


def test_colours_are_deeper_the_larger_the_margin() -> None:
    depths = [sum(shade("adap-ucb", margin)) for margin in (1.0, 1.5, 3.0, 4.0)]
    assert depths == sorted(depths, reverse=True)
    assert shade("adap-ucb", 9.0) == shade("adap-ucb", 4.0) == shade("adap-ucb", float("nan"))


def test_the_nearest_setting_is_by_ratios() -> None:
    table = TABLES["regret"]({"regret": grid_rows()})
    own = nearest(full_field(table), Question(9, 30_000, 2.3))
    assert set(own["arms"]) == {5}
    assert set(nearest(table, Question(11, 31_000, 2.2))["horizon"]) == {10_000}
    assert set(nearest(table, Question(11, 32_000, 2.3))["epsilon"]) == {5.0}


def test_horizons_with_a_few_algorithms_alone_answer_nothing() -> None:
    rows = grid_rows()
    longer = rows[(rows["horizon"] == 100_000) & (rows["algorithm"] == "adap-ucb")]
    table = TABLES["regret"]({"regret": pd.concat([rows, longer.assign(horizon=10**7)])})
    assert full_field(table)["horizon"].max() == 100_000


def test_a_ranking_needs_an_algorithm_of_the_class() -> None:
    table = TABLES["regret"]({"regret": grid_rows()})
    table = table[table["class"] != "local"]
    with pytest.raises(InputError, match="class is 'local', of which no algorithm was measured"):
        ranked(table, pd.DataFrame(), Question(5, 1000, 1.0, "local"), "regret")


def test_the_map_has_a_point_for_each_question() -> None:
    drawn, points = draw_map(grid_rows(), "horizon $T$")
    table = map_of(grid_rows())
    assert len(points) == (table["class"].isin(SHOWN) & (table["left_out"] == "")).sum()
    assert points["series"].str.contains("tie of").any()
    # Of the local class there is one algorithm, and no comparison.
    assert len(drawn.axes) == 2
