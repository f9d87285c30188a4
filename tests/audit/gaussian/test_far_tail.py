"""Chances of one transcript, at any horizon."""

import math

import pytest
from scipy.special import log_ndtr

from dpbandits.auditing.thompson import (
    ABANDONED,
    abandoned_arm,
    dp_ts_ucb,
    modified_ts,
    ts_gaussian,
)
from gaussian_by_hand import batch_steps, thompson_steps


@pytest.mark.parametrize(
    ("b", "c", "count"), [(0, 1.0, "n+1"), (3, 0.4, "n+1"), (0, 2.0, "n"), (2, 5.0, "n")]
)
def test_thompson_sampling_abandons_an_arm_with_the_chance_by_hand(
    b: int, c: float, count: str
) -> None:
    rounds = 40
    found = abandoned_arm(modified_ts(b, c, rounds, count))
    forced, prior = (b, 1) if count == "n+1" else (max(b, 1), 0)
    arms = ([] if forced else [0]) + [1] * (rounds - 2 * forced - (0 if forced else 1))
    tables = ABANDONED.tables(rounds)
    for log, table in zip((found.log_p, found.log_q), tables, strict=True):
        log += found.log_shared
        chances = list(thompson_steps(arms, table, forced, c, prior))
        assert log == pytest.approx(sum(map(math.log, chances)), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_dp_ts_ucb_abandons_an_arm_with_the_chance_by_hand(alpha: float) -> None:
    horizon = 30
    sampler = dp_ts_ucb(alpha, horizon)
    found = abandoned_arm(sampler)
    arms = [1] * (sampler.rounds - 2)
    tables = ABANDONED.tables(horizon)
    for log, table in zip((found.log_p, found.log_q), tables, strict=True):
        log += found.log_shared
        chances = list(batch_steps(arms, table, math.log(horizon) ** alpha))
        assert log == pytest.approx(sum(map(math.log, chances)), rel=1e-12)


def test_the_bound_grows_like_the_root_of_the_horizon() -> None:
    # In the interpretation 1/n, scores tend to 1 under x and 0 under x'.
    rate = math.sqrt(2.0) * (math.sqrt(-log_ndtr(-1.0)) - math.sqrt(-log_ndtr(0.0)))
    found = [
        abandoned_arm(ts_gaussian(horizon, "n")).mu / math.sqrt(horizon)
        for horizon in (10**4, 10**6)
    ]
    assert found[1] == pytest.approx(rate, rel=1e-3)
    assert abs(found[1] - rate) < abs(found[0] - rate)
