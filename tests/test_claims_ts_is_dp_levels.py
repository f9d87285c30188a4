"""Realised levels and exact curves of ts-is-dp against the same numbers computed directly."""

import numpy as np
import pytest
from scipy import optimize

from dpbandits import privacy
from dpbandits.claims.evidence import Evidence
from dpbandits.errors import InputError
from dpbandits.papers.ts_is_dp import exact_statistics, statistics
from dpbandits.papers.ts_is_dp.analytic import renyi_delta
from shared import ExactResults
from ts_is_dp_results import World, make

EVIDENCE = Evidence.of_frames(
    {name: make(name, World()) for name in ("bernoulli-verdicts", "plain-levels")}
)
CURVES = Evidence.of_frames(ExactResults("ts-is-dp"))
HORIZON = 100_000


@pytest.mark.parametrize(("b", "horizon"), [(0, 50), (1, 50), (7, 50), (10, 50), (12, 50)])
def test_pre_pull_sums_are_those_of_the_rounds_played_one_by_one(b: int, horizon: int) -> None:
    """Five arms; the last case is cut by the horizon."""
    sums, pulls = np.zeros(5), np.zeros(5)
    for arm in np.repeat(np.arange(5), b)[:horizon]:
        sums += np.where(pulls > 0, 1.0 / (pulls + 1.0), 0.0)
        pulls[arm] += 1
    assert statistics.prepull_sums(b, 5, horizon) == pytest.approx(sums)


def test_realised_levels_leave_the_pre_pulls_out_and_are_over_lemma_5() -> None:
    """Root of the largest arm's sum over c, over sqrt(T/(c (b + 1))): c cancels."""
    sums = EVIDENCE.per_arm("bernoulli-verdicts", "inverse_counts", eta=2, b=500)
    rest = sums - statistics.prepull_sums(500, 5, HORIZON)
    levels = np.sqrt(rest.max(axis=1) / (HORIZON / 501))
    where = {"family": "bernoulli", "eta": 2, "b_grid": (500,)}
    found = statistics.realised_levels(EVIDENCE, **where)["b=500"]
    assert found.value == pytest.approx(levels.mean())
    largest = statistics.largest_realised_levels(EVIDENCE, **where)["b=500"]
    assert largest.value == pytest.approx(levels.max())


def test_plain_levels_are_over_lemma_4_at_their_own_horizon() -> None:
    for horizon in (1000, HORIZON):
        sums = EVIDENCE.per_arm("plain-levels", "inverse_counts", horizon=horizon)
        levels = np.sqrt(sums.max(axis=1) / (horizon / 2))
        found = statistics.plain_level(EVIDENCE, horizon=horizon)
        assert found.value == pytest.approx(levels.mean())
        largest = statistics.largest_plain_level(EVIDENCE, horizon=horizon)
        assert largest.value == pytest.approx(levels.max())


def test_the_plain_level_is_one_where_every_round_charges_a_half() -> None:
    sums = np.array([[0.0, 500.0], [125.0, 0.0]])
    assert statistics.plain_levels(sums, 1000).tolist() == pytest.approx([1.0, 0.5])


@pytest.mark.parametrize("delta", [1e-10, 1e-4, 1e-1])
def test_delta_by_renyi_dp_is_the_least_over_the_orders(delta: float) -> None:
    """exp((alpha - 1)(alpha T/4 - epsilon)), minimised by another routine."""
    epsilon = privacy.epsilon(delta, privacy.ts_gaussian_gdp(1000))
    found = optimize.minimize_scalar(
        lambda order: (order - 1) * (order * 250 - epsilon), bounds=(1, 3), method="bounded"
    )
    assert float(renyi_delta(np.array(epsilon), 1000)) == pytest.approx(np.exp(found.fun), rel=1e-6)
    # And back: at that delta Renyi DP gives that epsilon.
    back = privacy.ts_gaussian_rdp_epsilon(float(renyi_delta(np.array(epsilon), 1000)), 1000)
    assert back == pytest.approx(epsilon)
    assert renyi_delta(np.array(100.0), 1000) == 1.0


def test_an_advantage_at_small_delta_depends_on_order_and_measure() -> None:
    """At delta 1e-10 GDP gives 391.364 and RDP 401.743, at 1e-1 277.685 and 297.985."""
    best = exact_statistics.small_delta_advantage(CURVES, order="best", measure="epsilon")
    assert best["difference of epsilon"].value == pytest.approx(10.379 / 20.300, rel=1e-3)
    assert best["ratio of epsilon minus 1"].value == pytest.approx(0.02652 / 0.07310, rel=1e-3)
    fixed = exact_statistics.small_delta_advantage(CURVES, order=1.15, measure="epsilon")
    # 1.15 T/4 + ln(1/delta)/0.15 is 441.01 and 302.85.
    assert fixed["difference of epsilon"].value == pytest.approx(49.642 / 25.166, rel=1e-3)
    (delta,) = exact_statistics.small_delta_advantage(
        CURVES, order="best", measure="delta"
    ).values()
    ends = exact_statistics.advantage_at_ends(CURVES, order="best", measure="delta")
    assert delta.value == pytest.approx(ends["delta 1e-10"].value / ends["delta 1e-1"].value)
    with pytest.raises(InputError, match=r"order is 1\.15 with measure 'delta'"):
        exact_statistics.small_delta_advantage(CURVES, order=1.15, measure="delta")


@pytest.mark.parametrize(("by", "turn"), [("difference", 1.18229), ("ratio", 1.16579)])
def test_turning_orders_are_where_both_ends_have_the_same_advantage(by: str, turn: float) -> None:
    order = CURVES.number("constants", quantity="turning-order", measure=by)
    assert order == pytest.approx(turn, abs=1e-5)
    small, large = (
        (
            privacy.ts_gaussian_rdp_epsilon(delta, 1000, order),
            privacy.epsilon(delta, privacy.ts_gaussian_gdp(1000)),
        )
        for delta in (1e-10, 1e-1)
    )
    if by == "ratio":
        assert small[0] / small[1] == pytest.approx(large[0] / large[1])
    else:
        assert small[0] - small[1] == pytest.approx(large[0] - large[1])


def test_a_factor_on_half_is_where_the_share_turns() -> None:
    where = {"analysis": "standard-dp", "split": "best", "arms": 2}
    factor = exact_statistics.factor_on_half(CURVES, **where).value
    at = exact_statistics.share_weaker(CURVES, factor=factor, **where).value
    above = exact_statistics.share_weaker(CURVES, factor=factor * (1 + 1e-9), **where).value
    assert above < 0.5 <= at


def test_the_pooled_share_is_that_of_both_methods_and_both_numbers_of_arms() -> None:
    where = {"factor": 10, "split": "best"}
    shares = [
        exact_statistics.share_weaker(CURVES, analysis="standard-dp", arms=arms, **where).value
        for arms in (2, 10)
    ]
    pooled = exact_statistics.pooled_share_weaker(CURVES, **where).value
    assert exact_statistics.rdp_share_weaker(CURVES, measure="epsilon", factor=10).value == 0.0
    assert pooled == pytest.approx(sum(shares) / 4)


def test_corollary_1_gives_no_delta_below_1_under_its_least_epsilon() -> None:
    for arms in (2, 10):
        least = CURVES.number("constants", quantity="least-epsilon", arms=arms)
        for delta in (0.5, 0.99, 0.999999):
            assert privacy.ts_standard_epsilon(delta, 1000, arms) > least


def test_lemma_13_admits_a_shift_whose_delta_is_larger() -> None:
    """2 epsilon/sqrt(ln(1/(2 delta))) at epsilon = 1 and delta = 1e-6."""
    shift = CURVES.number("constants", quantity="quoted-shift")
    assert shift == pytest.approx(2 / np.sqrt(np.log(1 / 2e-6)))
    true = CURVES.number("constants", quantity="quoted-delta")
    assert true == pytest.approx(privacy.delta(1.0, shift))
    assert true > 1e4 * 1e-6
