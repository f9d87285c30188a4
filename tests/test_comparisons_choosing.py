"""The comparisons across papers: who plays, planted winners and ties, tuning, equal privacy."""

import itertools
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from choosing_rows import INSTANCES, frames_of, rows_of, trial_rows
from dpbandits.algorithms import IDENTIFICATION, REGISTRY
from dpbandits.algorithms import REGRET as REGRET_ALGORITHMS
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.comparisons.choose import KEPT
from dpbandits.comparisons.choosing import (
    LEAST,
    RATE,
    TABLES,
    TIE,
    WINNER,
    family_scores,
    mean_scores,
    winners,
)
from dpbandits.comparisons.choosing_figures import DIAGRAMS
from dpbandits.comparisons.field import (
    APPROXIMATE,
    BEST_ARM,
    CLASSES,
    DELTA,
    FORMULAS,
    LOCAL,
    NONE,
    PLAYERS,
    PRINTED,
    PURE,
    REGRET,
    SETTING,
    least_alpha,
    level,
    share_b,
    share_c,
)
from dpbandits.comparisons.instances import INSTANCES as MAKERS
from dpbandits.config import Context
from dpbandits.engine.cells import Series
from dpbandits.engine.identity import sources_of
from dpbandits.metrics.intervals import rate_interval
from dpbandits.pipeline.project import Project
from dpbandits.privacy import dp_ts_ucb_gdp, modified_ts_gdp
from dpbandits.reporting.draw import drawn_diagram
from support import ROOT, refused
from synthetic_results import ACROSS

STUDY = Project.load(ROOT).study("choosing")
PURE_ALGORITHMS = [name for name, (_, kind) in REGRET.items() if kind == PURE]


@cache
def tuning_rows() -> pd.DataFrame:
    """Made-up tuning results: the best share is 0.01 everywhere."""
    rows = [
        {**series.tags, "algorithm": series.cell.definition.id, "metric": "pseudo_regret"}
        for series in STUDY.simulation("tuning").series()
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(value=100.0 + (frame["share"] - 0.01).abs())


@pytest.fixture(scope="module")
def played() -> list[Series]:
    """Every series of the comparison at the paper scale."""
    return STUDY.simulation("regret").series(tuning_rows())


@pytest.fixture(scope="module")
def best_arms() -> list[Series]:
    return STUDY.simulation("best-arm").series()


def map_of(rows: pd.DataFrame) -> pd.DataFrame:
    return winners(mean_scores(family_scores(rows)))


def test_every_registered_algorithm_plays_under_its_name(
    played: list[Series], best_arms: list[Series]
) -> None:
    ids = [{series.cell.definition.id for series in plan} for plan in (played, best_arms)]
    assert ids[0] == set(REGRET_ALGORITHMS) == set(REGRET)
    assert ids[1] == set(IDENTIFICATION) == set(BEST_ARM)
    assert all(REGISTRY[name].name == title for name, (title, _) in PLAYERS.items())


def test_every_variant_keeps_the_budget_of_its_class_as_audited(
    played: list[Series], best_arms: list[Series]
) -> None:
    largest = max(series.tags.get("epsilon", 0.0) for series in played)
    # Guarantees do not depend on the arms: one instance stands for all.
    for series in [s for s in played if s.tags["instance"] == "linear"] + best_arms:
        cell = series.cell
        kind = PLAYERS[cell.definition.id][1]
        known = guarantee_of(
            cell.definition,
            cell.parameters,
            cell.horizon,
            variant=cell.variant,
            interpretations=dict(cell.interpretations),
            bandit=cell.bandit,
        )
        if kind == NONE:
            assert "epsilon" not in series.tags
            assert series not in played or known.epsilon(DELTA) > largest
            continue
        assert known.status in KEPT, series.label
        assert (known.model == "local") == (kind == "local")
        if kind == APPROXIMATE:
            assert known.epsilon(DELTA) <= series.tags["epsilon"] * (1 + 1e-6), series.label
        else:
            assert (known.kind, known.parameter) == ("pure", series.tags["epsilon"]), series.label


def test_every_algorithm_plays_on_every_instance_of_every_question(played: list[Series]) -> None:
    """No winner is one since another was not played; DP-TS-UCB alone meets few budgets."""
    tags = pd.DataFrame([{**s.tags, "id": s.cell.definition.id} for s in played])
    asked = itertools.product([2, 5, 20, 50], [10**4, 10**5, 10**6])
    lengths = {(arms, horizon) for arms, horizon in asked if arms * horizon <= 2 * 10**7}
    assert set(zip(tags["arms"], tags["horizon"], strict=True)) == lengths
    budgets = tags.groupby("id")["epsilon"].unique()
    for name, (_, kind) in REGRET.items():
        expected = [20] if name == "dp-ts-ucb" else [0.05, 0.2, 1, 5, 20]
        assert kind == NONE or list(budgets[name]) == expected
    counts = tags.groupby(["id", *SETTING], dropna=False).size().reset_index(name="instances")
    instances = counts.groupby("arms")["instances"].unique().map(list).to_dict()
    assert instances == {2: [17], 5: [19], 20: [19], 50: [19]}
    assert (counts.groupby("id")[["arms", "horizon"]].nunique() == [4, 3]).all(axis=None)


def test_every_open_logarithm_is_played_both_ways(played: list[Series]) -> None:
    def labels(series: list[Series]) -> set[str]:
        keys = [*SETTING, "instance"]
        return {str((s.cell.definition.id, *(s.tags[key] for key in keys))) for s in series}

    others = STUDY.simulation("logarithms").series()
    is_open = {n for n in REGRET if "base2" in REGISTRY[n].interpretations.get("log", ())}
    labels_of = {(s.cell.definition.id, s.tags.get("log")) for s in others}
    assert labels_of == {
        ("lazy-dp-ts", "base2"),
        ("dp-ts", "natural"),
        ("anytime-lazy-ucb", "natural"),
    }
    assert PRINTED.keys() <= is_open
    assert is_open == {"lazy-dp-ts", "anytime-lazy-ucb", "dp-ts"}
    assert labels(others) == labels([s for s in played if s.cell.definition.id in is_open])
    for series in others:
        default = REGISTRY[series.cell.definition.id].interpretations["log"][0]
        assert {default, dict(series.cell.interpretations)["log"]} == {"base2", "natural"}


def test_tuning_shares_neither_instances_nor_streams_with_the_comparison(
    played: list[Series],
) -> None:
    tuned = STUDY.simulation("tuning").series()
    assert max(s.runs.stop for s in played) <= min(s.runs.start for s in tuned)
    bandits = [{str(s.cell.bandit.describe()) for s in plan} for plan in (played, tuned)]
    assert not bandits[0] & bandits[1]


def test_instances_have_one_best_arm_in_an_order_of_their_own() -> None:
    for arms in (2, 5, 20, 50):
        made = [
            MAKERS["one-good"](arms, 0.75, 0.5),
            MAKERS["falling"](arms, 0.75, 0.25, 2),
            MAKERS["flattening"](arms, 0.75, 0.25, 2),
            MAKERS["random-means"](arms, 1),
            *(MAKERS["drawn"](arms, number) for number in range(1, 13)),
        ]
        means = np.array([bandit.means for bandit in made])
        assert ((means == means.max(axis=1, keepdims=True)).sum(axis=1) == 1).all()
        assert ((means >= 0.0) & (means <= 1.0)).all()
        assert len(set(means[:3].argmax(axis=1))) == 1
        axes = MAKERS["falling"](arms, 0.75, 0.25, 2, axes=True)
        np.testing.assert_array_equal(axes.means, means[1])


def test_the_shapes_are_those_of_their_names() -> None:
    for shape, means in {
        "falling": 0.75 - 0.5 * np.linspace(0, 1, 5) ** 2,
        "flattening": [0.75, 0.53125, 0.375, 0.28125, 0.25],
    }.items():
        found = np.sort(MAKERS[shape](5, 0.75, 0.25, 2).means)[::-1]
        np.testing.assert_allclose(found, means)
    plane = MAKERS["quarter-circle"](20, [0.55, 0.5])
    assert np.shape(plane.features) == (20, 2)
    np.testing.assert_allclose(plane.means, np.dot(plane.features, [0.55, 0.5]))


def test_a_planted_winner_is_found() -> None:
    scores = dict.fromkeys(PURE_ALGORITHMS, 100.0) | {"adap-ucb": 80.0, "ucb1": 40.0}
    table = map_of(rows_of(scores, spread=0.1, seed=1))
    row = table[table["class"] == PURE].iloc[0]
    assert (row["verdict"], row["first"], row["tied"]) == (WINNER, "adap-ucb", "adap-ucb")
    assert row["q"] < RATE
    assert row["margin_lo"] < 1.25 < row["margin_hi"]


@pytest.mark.slow
def test_planted_ties_stay_ties_at_the_stated_rate() -> None:
    """Null control: of maps of 8 ties, the share with any winner is at most the stated rate."""
    maps, named = 40, 0
    scores = {"dp-se": 100.0, "adap-ucb": 100.0, "lazy-dp-ts": 150.0}
    for seed in range(maps):
        rows = [rows_of(scores, 0.2, 1000 * seed + n, epsilon=1.0 + n) for n in range(8)]
        table = map_of(pd.concat(rows, ignore_index=True))
        named += int((table["verdict"] == WINNER).any())
        ties = table[table["verdict"] == TIE]["tied"].str.split()
        assert ties.map({"dp-se", "adap-ucb"}.issubset).all()
    # Where every winner would be wrong the false discovery rate is the chance of any: 5 %; seven
    # of forty or more have a chance of 0.3 % then.
    assert named < 7


def test_most_named_winners_are_right_in_a_mixed_map() -> None:
    rows = []
    for number in range(40):
        scores = {"dp-se": 100.0 if number % 2 else 60.0, "adap-ucb": 100.0, "dp-ts": 150.0}
        rows.append(rows_of(scores, 0.2, 7000 + number, epsilon=1.0 + number))
    table = map_of(pd.concat(rows, ignore_index=True))
    table = table[table["class"] == PURE]
    has_best = table["epsilon"].astype(int) % 2 == 1
    won = table["verdict"] == WINNER
    assert won[has_best].mean() > 0.7
    wrong = won & ~(has_best & (table["first"] == "dp-se"))
    assert wrong.sum() <= RATE * won.sum() + 1


def test_results_do_not_depend_on_the_order_of_algorithms() -> None:
    scores = {name: 100.0 + 5.0 * place for place, name in enumerate(PURE_ALGORITHMS)}
    rows = rows_of(scores | {"ucb1": 50.0}, 0.1, 3)
    first, second = map_of(rows), map_of(rows.sample(frac=1.0, random_state=1))
    pd.testing.assert_frame_equal(first, second, rtol=1e-9)


def test_equal_scores_without_spread_are_a_tie() -> None:
    for other, answer in ((100.0, TIE), (101.0, WINNER)):
        table = map_of(rows_of({"dp-se": 100.0, "adap-ucb": other}, 0.0, 1))
        assert set(table["verdict"]) == {answer}
    assert set(table["first"]) == {"dp-se"}


def test_every_instance_counts_alike_whatever_its_regret() -> None:
    """The score is a geometric mean of ratios, beside it are the mean regret and the tail."""
    rows = rows_of({"dp-se": 100.0, "adap-ucb": 50.0, "ucb1": 50.0}, 0.0, 1)
    is_one = rows["instance"] == INSTANCES[0]
    rows.loc[is_one, "value"] *= 1000.0
    rows.loc[is_one & (rows["algorithm"] == "dp-se"), "value"] /= 16.0
    row = mean_scores(family_scores(rows)).set_index("algorithm").loc["dp-se"]
    assert row["price"] == pytest.approx(2.0 * 16.0 ** (-1 / len(INSTANCES)))
    assert row["tail"] == pytest.approx(2.0)
    assert row["score"] == pytest.approx((100.0 * 11 + 100_000.0 / 16) / 12)
    # The one instance with most regret decides the mean of regrets, and not the winner.
    assert map_of(rows).iloc[0]["first"] == "adap-ucb"


def test_no_regret_counts_as_one_reward() -> None:
    scores = family_scores(rows_of({"dp-se": 0.0}, 0.0, 1))
    np.testing.assert_array_equal(np.exp(scores["scale"]), LEAST)


def test_intervals_of_prices_cover() -> None:
    rows = [rows_of({"dp-se": 100.0}, 0.5, seed, epsilon=1.0 + seed) for seed in range(200)]
    base = rows_of({"ucb1": 50.0}, 0.0, 0)
    means = mean_scores(family_scores(pd.concat([*rows, base], ignore_index=True)))
    means = means[means["algorithm"] == "dp-se"]
    assert 0.9 < (means["price_lo"].le(2.0) & means["price_hi"].ge(2.0)).mean() < 0.99


def test_a_question_that_not_all_were_played_at_is_not_answered() -> None:
    one = rows_of({"dp-se": 100.0, "adap-ucb": 80.0, "dp-ts": 90.0}, 0.01, 1)
    other = rows_of({"dp-se": 100.0, "adap-ucb": 80.0}, 0.01, 2, horizon=100_000)
    assert set(map_of(pd.concat([one, other], ignore_index=True))["horizon"]) == {10_000}
    with_base = with_base2({"lazy-dp-ts": 50.0, "dp-se": 80.0}, {"lazy-dp-ts": 60.0})
    other = rows_of({"lazy-dp-ts": 50.0, "dp-se": 80.0}, 0.01, 2, horizon=100_000)
    assert set(map_of(pd.concat([with_base, other], ignore_index=True))["horizon"]) == {10_000}


def with_base2(scores: dict[str, float], base2: dict[str, float]) -> pd.DataFrame:
    """Results with default logarithms, and of some algorithms with base 2."""
    other = rows_of(base2, 0.01, 2).assign(interpretation="log=base2")
    return pd.concat([rows_of(scores, 0.01, 1), other], ignore_index=True)


OPEN = [
    # Lazy-DP-TS with base 2, as printed, DP-TS with the natural logarithm, which is not -> first,
    # who ties, whom other bases put before the first
    (60.0, 85.0, "lazy-dp-ts", "lazy-dp-ts", ""),
    (90.0, 95.0, "adap-ucb", "adap-ucb lazy-dp-ts", "lazy-dp-ts"),
    (70.0, 60.0, "lazy-dp-ts", "lazy-dp-ts dp-ts", "dp-ts"),
]


@pytest.mark.parametrize(("base2", "natural", "first", "tied", "otherwise"), OPEN)
def test_a_winner_wins_whichever_logarithm_each_has(
    base2: float, natural: float, first: str, tied: str, otherwise: str
) -> None:
    scores = {"lazy-dp-ts": 50.0, "adap-ucb": 80.0, "dp-ts": 100.0}
    other = rows_of({"dp-ts": natural}, 0.01, 3).assign(interpretation="log=natural")
    rows = pd.concat([with_base2(scores, {"lazy-dp-ts": base2}), other], ignore_index=True)
    row = map_of(rows).iloc[0]
    assert row["verdict"] == (TIE if " " in tied else WINNER)
    assert (row["first"], row["tied"], row["otherwise"]) == (first, tied, otherwise)
    # By the printed bases the first wins, whatever others do.
    assert row["as_ranked"] == first
    assert row["margin"] == pytest.approx(
        80.0 / base2 if first == "lazy-dp-ts" else 90 / 80, rel=0.02
    )


@pytest.mark.parametrize("natural", [60.0, 120.0])
def test_where_no_base_is_printed_the_least_favourable_ranks(natural: float) -> None:
    rows = rows_of({"anytime-lazy-ucb": 100.0, "dp-se": 110.0, "ucb1": 50.0}, 0.01, 1)
    other = rows_of({"anytime-lazy-ucb": natural}, 0.01, 2).assign(interpretation="log=natural")
    means = mean_scores(family_scores(pd.concat([rows, other], ignore_index=True)))
    ranked = means[means["ranked"]].set_index("algorithm")["score"]
    assert len(ranked) == 3
    assert ranked["anytime-lazy-ucb"] == pytest.approx(max(natural, 100.0), rel=0.02)


def test_stricter_algorithms_take_part_where_less_is_asked() -> None:
    scores = {"dp-se": 100.0, "m-ts-gaussian": 200.0, "ldp-ncb": 50.0, "ldp-ucb-l": 60.0}
    firsts = map_of(rows_of(scores, 0.01, 1)).set_index("class")["first"]
    assert firsts.to_dict() == dict.fromkeys(CLASSES, "ldp-ncb")


def test_an_arm_that_is_missed_by_few_wins() -> None:
    rows = trial_rows()
    assert (map_of(rows)["verdict"] == TIE).all()
    # The families are by design: that DP-OD leads is a matter of trials, not of families. Baseline
    # is DP-BAI there, which therefore is no rival of its own.
    for hits, verdict in (((760, 790), WINNER), ((725, 745), TIE)):
        rows.loc[(rows["algorithm"] == "dp-od"), "value"] = [820, *hits]
        table = map_of(rows)
        assert set(table["first"]) == {"dp-od"}
        assert table.set_index("class")["verdict"][PURE] == verdict
        assert not table["tied"].str.contains("dp-bai ").any()


@given(
    hits=st.lists(st.integers(0, 40), min_size=3, max_size=3),
    trials=st.sampled_from([40, 1000]),
)
def test_intervals_of_shares_lie_inside_0_and_1(hits: list[int], trials: int) -> None:
    """They are of trials: no spread between families that someone chose widens them."""
    rows = trial_rows().assign(trials=trials)
    rows["value"] = rows["instance"].map(dict(zip(rows["instance"].unique(), hits, strict=True)))
    table = TABLES["best-arm"]({"best-arm": rows})
    for share, (lo, hi) in {"success": ("lo", "hi"), "plane": ("plane_lo", "plane_hi")}.items():
        ends = table[[lo, share, hi]].to_numpy()
        assert ((ends >= 0.0) & (ends <= 1.0)).all()
        assert (np.diff(ends) >= 0.0).all()
        assert (ends[:, 2] > ends[:, 0]).all()
    assert (np.diff(table[["least", "success", "most"]]) >= -1e-12).all()
    expected = rate_interval(sum(hits[1:]), 2 * trials)
    np.testing.assert_allclose(table[["success", "lo", "hi"]].iloc[0], expected)


@pytest.mark.parametrize("name", STUDY.figure_entries)
def test_every_figure_is_drawn_with_text_that_is_large_enough(name: str) -> None:
    frames = frames_of(STUDY.figure_entries[name]["reads"])
    drawn, _ = drawn_diagram(DIAGRAMS[name], pd.concat(frames.values(), ignore_index=True))
    drawn.canvas.draw()
    assert min(text.get_fontsize() for text in drawn.findobj(Text) if text.get_text()) >= 7.0


KINDS = {name: kind for name, (_, kind) in REGRET.items() if name not in ("kl-ucb", "ts-beta")}
OF_PAPERS = ("ts-is-dp-arms", "dp-ts-ucb-arms", "dp-ncb-arms")
HORIZON = 100_000


def context(tuning: pd.DataFrame | None = None, **tags: Any) -> Context:
    return Context(tags, HORIZON, 5, tuning)


def series(name: str) -> list[Series]:
    plan = ACROSS.plan(name)
    return plan.series(ACROSS.frame(plan.tuned_by) if plan.tuned_by else None)


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_algorithm_plays_at_every_budget_that_it_can_meet(name: str) -> None:
    """As written, but where that is uniform play to the end (dp-ncb, Section 6)."""
    budgets: dict[str, list[float | None]] = {}
    for line in series(name):
        cell, budget = line.cell, line.tags.get("epsilon")
        algorithm = cell.definition.id
        budgets.setdefault(algorithm, []).append(budget)
        is_uniform = "gdp-ncb" in algorithm or "ldp-ncb" in algorithm
        assert cell.variant == ("repaired" if is_uniform else "as-written")
        printed = {"log": "base2"} if algorithm == "lazy-dp-ts" else {}
        chosen = cell.definition.interpretations_from(printed, cell.variant)
        assert dict(cell.interpretations) == chosen
        guarantee = guarantee_of(cell.definition, cell.parameters, cell.horizon)
        if KINDS[algorithm] == APPROXIMATE:
            # The inverse of the conversion is found by bisection to about 1e-9.
            assert guarantee.epsilon(DELTA) == pytest.approx(budget, rel=1e-6)
        elif KINDS[algorithm] in (PURE, LOCAL):
            assert (guarantee.kind, guarantee.parameter) == ("pure", budget)
        else:
            # TS-Gaussian has a level, sqrt(T/2), far beyond every budget.
            assert guarantee.epsilon(DELTA) > 1000
    every = budgets["dp-se"]
    # Theorem 4.4: sqrt(2 c0) = 2.875 at alpha = 1, whatever T is.
    few = [budget for budget in every if level(budget) >= 2.875]
    met = dict.fromkeys((PURE, LOCAL, APPROXIMATE), every) | {NONE: [None]}
    assert budgets == {name: met[kind] for name, kind in KINDS.items()} | {"dp-ts-ucb": few}


def test_the_tables_depend_on_no_kernel() -> None:
    """An edit of a kernel moves the results that play it, and no other."""
    sources = {path.as_posix() for path in sources_of("dpbandits.comparisons.equal_privacy")}
    assert not [path for path in sources if path.startswith("algorithms/")]


def test_from_zeros_little_noise_locks_the_best_arm_out() -> None:
    """As the caption says of the published curve."""
    table = pd.read_csv(ROOT / "docs/figures/equal-privacy/extra-equal-privacy-b.csv")
    regret = table[table["series"] == "GDP-NCB"].set_index("x")["y"]
    assert regret[100] > 1.5 * regret[5]


def test_tuning_and_comparison_share_no_run_and_no_paper_is_left_out() -> None:
    for name in OF_PAPERS:
        plan = ACROSS.plan(name)
        assert plan.tuned_by is not None
        tuning = ACROSS.plan(plan.tuned_by)
        assert (tuning.spec.instance, tuning.horizon) == (plan.spec.instance, plan.horizon)
        assert plan.spec.runs.first + plan.runs <= tuning.spec.runs.first


def test_the_least_alpha_meets_the_budget_and_a_smaller_one_does_not() -> None:
    for budget in [17.5, 20, 100, 1000]:
        alpha = least_alpha(context(epsilon=budget))
        assert 0 < alpha < 1
        assert dp_ts_ucb_gdp(alpha, HORIZON) == pytest.approx(level(budget), rel=1e-9)
        assert dp_ts_ucb_gdp(alpha - 1e-3, HORIZON) > level(budget)
    assert least_alpha(context(epsilon=1e6)) == 0
    # dp-ts-ucb, DTU-F6: alpha = 1 is worth epsilon = 17.2.
    refused(
        lambda: least_alpha(context(epsilon=17)), "epsilon is 17: DP-TS-UCB is 2.875-Gaussian DP"
    )


def test_pre_pulls_fit_into_the_horizon_and_meet_the_budget() -> None:
    for share in [0, 0.0005, 0.1, 1]:
        asked = context(epsilon=5, share=share)
        b, c = share_b(asked), share_c(asked)
        assert b == share * HORIZON / 5
        assert modified_ts_gdp(b, c, HORIZON) == pytest.approx(level(5), rel=1e-9)
    assert share_b(Context({"share": 1}, 1003, 5)) * 5 <= 1003


def test_what_is_tuned_has_the_smallest_mean_at_its_own_budget() -> None:
    """Two budgets, three shares, two runs; the share of the best single run is not the best."""
    values = {1: ((9, 9), (1, 11), (5, 6)), 2: ((3, 3), (4, 4), (5, 5))}
    rows = [
        {"epsilon": budget, "share": share, "value": value}
        for budget, of_shares in values.items()
        for share, own in zip((0, 0.0025, 0.005), of_shares, strict=True)
        for value in own
    ]
    tuning = pd.DataFrame(rows).assign(algorithm="m-ts-gaussian", metric="pseudo_regret")
    for budget, share, b in ((1, 0.005, 100), (2, 0, 0)):
        asked = context(tuning, epsilon=budget)
        assert FORMULAS["tuned_b"](asked) == b
        assert FORMULAS["tuned_c"](asked) == share_c(context(epsilon=budget, share=share))
    refused(lambda: FORMULAS["tuned_b"](context(epsilon=1)), "needs the key tuned_by")
