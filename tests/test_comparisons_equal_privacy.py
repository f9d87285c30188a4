"""The comparison at equal privacy: who plays, at which budget, and tuned by what."""

from typing import Any

import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.comparisons.equal_privacy import FORMULAS, tuned
from dpbandits.comparisons.field import (
    APPROXIMATE,
    DELTA,
    LOCAL,
    NONE,
    PURE,
    REGRET,
    least_alpha,
    level,
    share_b,
    share_c,
)
from dpbandits.config import Context
from dpbandits.engine.cells import Series
from dpbandits.engine.identity import sources_of
from dpbandits.errors import InputError
from dpbandits.privacy import dp_ts_ucb_gdp, epsilon, modified_ts_gdp
from synthetic_results import ACROSS

KINDS = {name: kind for name, (_, kind) in REGRET.items() if name not in ("kl-ucb", "ts-beta")}
INSTANCES = ("ts-is-dp-arms", "dp-ts-ucb-arms", "dp-ncb-arms")
HORIZON = 100_000


def context(tags: dict[str, Any], tuning: pd.DataFrame | None = None) -> Context:
    return Context(tags, HORIZON, 5, tuning)


def series(name: str) -> list[Series]:
    plan = ACROSS.plan(name)
    return plan.series(ACROSS.frame(plan.tuned_by) if plan.tuned_by else None)


@pytest.mark.parametrize("name", INSTANCES)
def test_every_algorithm_plays_at_every_budget_that_it_can_meet(name: str) -> None:
    """As written, but where that is uniform play to the end (dp-ncb, Section 6)."""
    budgets: dict[str, list[float | None]] = {}
    for line in series(name):
        cell, budget = line.cell, line.tags.get("epsilon")
        algorithm, variant = cell.definition.id, cell.variant
        budgets.setdefault(algorithm, []).append(budget)
        assert variant == (
            "repaired" if "gdp-ncb" in algorithm or "ldp-ncb" in algorithm else "as-written"
        )
        assert dict(cell.interpretations) == cell.definition.interpretations_from({}, variant)
        guarantee = guarantee_of(cell.definition, cell.parameters, cell.horizon)
        if KINDS[algorithm] == APPROXIMATE:
            # The inverse of the conversion is found by bisection to about 1e-9.
            assert guarantee.epsilon(DELTA) == pytest.approx(budget, rel=1e-6)
        elif KINDS[algorithm] in (PURE, LOCAL):
            assert (guarantee.kind, guarantee.parameter) == ("pure", budget)
        else:
            # TS-Gaussian has a level, sqrt(T/2), far beyond every budget.
            assert guarantee.epsilon(DELTA) > 1000
    assert set(budgets) == set(KINDS)
    every = budgets["dp-se"]
    # Theorem 4.4: sqrt(2 c0) = 2.875 at alpha = 1, whatever T is.
    few = [budget for budget in every if level(budget) >= 2.875]
    for algorithm, played in budgets.items():
        expected = few if algorithm == "dp-ts-ucb" else every
        assert played == ([None] if KINDS[algorithm] == NONE else expected)


def test_the_tables_depend_on_no_kernel() -> None:
    """An edit of a kernel moves the results that play it, and no other."""
    sources = {path.as_posix() for path in sources_of("dpbandits.comparisons.equal_privacy")}
    assert not [path for path in sources if path.startswith("algorithms/")]


def test_from_zeros_little_noise_locks_the_best_arm_out() -> None:
    """As the caption says; with the means carried on, as printed, regret falls to the end."""
    final = {}
    for line in series("ts-is-dp-arms"):
        cell, budget = line.cell, line.tags.get("epsilon")
        if cell.definition.id != "gdp-ncb" or budget not in (5, 100):
            continue
        for start in ("zeros", "carried"):
            final[start, budget] = dpbandits.simulate(
                algorithm=cell.definition.id,
                params=vars(cell.parameters),
                bandit=cell.bandit,
                horizon=cell.horizon,
                runs=len(line.runs),
                variant=cell.variant,
                interpretations={"start": start},
            ).pseudo_regret.mean()
    assert final["zeros", 100] > 1.5 * final["zeros", 5]
    assert final["carried", 100] < final["carried", 5]


def test_tuning_and_comparison_share_no_run_and_no_paper_is_left_out() -> None:
    for name in INSTANCES:
        plan = ACROSS.plan(name)
        assert plan.tuned_by is not None
        tuning = ACROSS.plan(plan.tuned_by)
        assert (tuning.spec.instance, tuning.horizon) == (plan.spec.instance, plan.horizon)
        assert plan.spec.runs.first + plan.runs <= tuning.spec.runs.first


def test_a_level_is_worth_its_budget() -> None:
    """ts-is-dp, Appendix D: eta = 1 and 5 are worth 4.88 and 35.57 at delta = 1e-6."""
    assert level(4.88) == pytest.approx(1, abs=2e-3)
    assert level(35.57) == pytest.approx(5, abs=2e-3)
    assert epsilon(DELTA, level(0.2)) == pytest.approx(0.2, rel=1e-6)


def test_the_least_alpha_meets_the_budget_and_a_smaller_one_does_not() -> None:
    for budget in [17.5, 20, 100, 1000]:
        alpha = least_alpha(context({"epsilon": budget}))
        assert 0 < alpha < 1
        assert dp_ts_ucb_gdp(alpha, HORIZON) == pytest.approx(level(budget), rel=1e-9)
        assert dp_ts_ucb_gdp(alpha - 1e-3, HORIZON) > level(budget)


def test_alpha_ends_where_the_algorithm_does() -> None:
    assert least_alpha(context({"epsilon": 1e6})) == 0
    # dp-ts-ucb, DTU-F6: alpha = 1 is worth epsilon = 17.2.
    with pytest.raises(InputError, match=r"epsilon is 17: DP-TS-UCB is 2\.875-Gaussian DP"):
        least_alpha(context({"epsilon": 17}))


def test_pre_pulls_fit_into_the_horizon_and_meet_the_budget() -> None:
    for share in [0, 0.0005, 0.1, 1]:
        tags = {"epsilon": 5, "share": share}
        b, c = share_b(context(tags)), share_c(context(tags))
        assert b == share * HORIZON / 5
        assert modified_ts_gdp(b, c, HORIZON) == pytest.approx(level(5), rel=1e-9)
        assert share_b(Context({"share": 1}, 1003, 5)) * 5 <= 1003


def made_up_tuning() -> pd.DataFrame:
    """Two budgets, three pairs, two runs; the pair of the best single run is not the best."""
    rows = [
        {"epsilon": budget, "b": b, "c": 10.0 / (b + 1), "run": run, "t": HORIZON, "value": value}
        for budget, values in ((1, ((9, 9), (1, 11), (5, 6))), (2, ((3, 3), (4, 4), (5, 5))))
        for b, own in zip((0, 50, 100), values, strict=True)
        for run, value in enumerate(own)
    ]
    return pd.DataFrame(rows).assign(metric="pseudo_regret")


def test_the_tuned_pair_has_the_smallest_mean_at_its_own_budget() -> None:
    assert tuned(context({"epsilon": 1}, made_up_tuning())) == (100, pytest.approx(10 / 101))
    assert tuned(context({"epsilon": 2}, made_up_tuning())) == (0, 10.0)
    assert FORMULAS["tuned_b"](context({"epsilon": 1}, made_up_tuning())) == 100
    with pytest.raises(InputError, match="needs the key tuned_by"):
        tuned(context({"epsilon": 1}))
