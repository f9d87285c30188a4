"""The run that Figures 1 and 2 of dp-ts-ucb draw: it is the kernel's, and obeys Algorithm 1."""

import pandas as pd
import pytest

from dpbandits.algorithms.dp_ts_ucb import ALGORITHM
from dpbandits.bandits import bernoulli
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.papers.dp_ts_ucb.analytic import ALPHA, RUN_HORIZON, RUN_MEANS, STREAM, trace
from dpbandits.papers.dp_ts_ucb.diagrams import DIAGRAMS
from dpbandits.privacy import dp_ts_ucb_budget
from dpbandits.reporting.draw import drawn_diagram

ARMS = len(RUN_MEANS)
BUDGET = int(dp_ts_ucb_budget(ALPHA, RUN_HORIZON))


@pytest.fixture(scope="module")
def run() -> pd.DataFrame:
    return trace()


def test_every_round_has_a_row_for_every_arm_and_one_pull(run: pd.DataFrame) -> None:
    assert len(run) == ARMS * RUN_HORIZON
    assert (run.groupby("x")["pulled"].sum() == 1).all()


def test_the_pulls_are_those_of_the_reference(run: pd.DataFrame) -> None:
    """The reference plays the same stream by its own code, Algorithm 1 line by line."""
    interpretations = {name: allowed[0] for name, allowed in ALGORITHM.interpretations.items()}
    settings = ALGORITHM.settings(RUN_HORIZON, ARMS, alpha=ALPHA, **interpretations)
    generator = run_generator(DEFAULT_ROOT_SEED, stream_key(STREAM), 0)
    chunks = ALGORITHM.reference(settings, bernoulli(RUN_MEANS), generator)
    expected = [arm + 1 for arm, length, _ in chunks for _ in range(length)]
    assert run[run["pulled"] == 1].sort_values("x")["arm"].tolist() == expected


def test_the_arm_of_the_largest_value_is_pulled(run: pd.DataFrame) -> None:
    """Values read off a copied stream would not lead to the kernel's pulls, were they others."""
    values = run.pivot(index="x", columns="arm", values="y").iloc[ARMS:]
    pulled = run.pivot(index="x", columns="arm", values="pulled").iloc[ARMS:]
    pd.testing.assert_series_equal(values.idxmax(axis=1), pulled.idxmax(axis=1))
    # Control: with the values of the round before, other arms would be pulled.
    assert (values.shift().iloc[1:].idxmax(axis=1) != pulled.iloc[1:].idxmax(axis=1)).any()


def test_an_epoch_has_its_budget_of_draws_and_then_the_largest_of_them(run: pd.DataFrame) -> None:
    reused = 0
    for _, rows in run[run["event"] != "start"].groupby("arm"):
        epoch = rows["completed"].shift(fill_value=0).cumsum()
        for _, own in rows.groupby(epoch):
            fresh, again = (own[own["event"] == event] for event in ("fresh", "reuse"))
            assert len(fresh) == min(len(own), BUDGET)
            assert own["event"].is_monotonic_increasing
            assert own["estimate"].nunique() == own["count"].nunique() == 1
            largest = max(0.0, fresh["y"].max())
            assert (again["y"] == largest).all()
            reused += len(again)
    assert reused > 0


def test_batches_double_and_every_reward_enters_one(run: pd.DataFrame) -> None:
    for _, rows in run[run["pulled"] == 1].sort_values("x").groupby("arm"):
        sizes = rows["batch"].tolist()
        doubling = [2**epoch for epoch in range(8) for _ in range(2**epoch)]
        assert sizes == doubling[: len(sizes)]
        assert rows.loc[rows["completed"] == 1, "batch"].is_unique


def test_figure_2_puts_every_pull_into_one_batch(run: pd.DataFrame) -> None:
    _, points = drawn_diagram(DIAGRAMS["fig2"], run)
    pulls = run[run["pulled"] == 1].sort_values("x")
    shown = points.sort_values("x")
    assert shown["x"].tolist() == pulls["x"].tolist()
    assert shown["y"].tolist() == pulls["arm"].tolist()
    full = shown[shown["series"].str.contains("batch of")]
    sizes = full["series"].str.extract(r"batch of (\d+)")[0].astype(int)
    assert (full.groupby("series").size() == sizes.groupby(full["series"]).first()).all()
