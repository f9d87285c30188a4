"""The first epoch of DP-SE: chances by formula, in many digits, and by the reference."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.auditing.best_arm import elimination_loss, first_epoch, outcome_chances
from dpbandits.auditing.support import Table
from dpbandits.errors import InputError
from support import settings_of

HORIZON, EPSILON = 4000, 1.0


def tail(c: mpmath.mpf) -> mpmath.mpf:
    """P(L1 + L2 > c), equal scales 1."""
    return mpmath.exp(-c) * (2 + c) / 4 if c >= 0 else 1 - mpmath.exp(c) * (2 - c) / 4


def test_chances_in_forty_digits() -> None:
    pulls, lead = first_epoch(HORIZON, EPSILON)
    chances = outcome_chances(HORIZON, EPSILON)
    for difference in (-pulls, -math.ceil(lead), -3, 0, 5, math.floor(lead), pulls):
        with mpmath.workdps(1500):
            first = tail(mpmath.mpf(lead) + difference)
            second = tail(mpmath.mpf(lead) - difference)
            expected = [float(mpmath.log(p)) for p in (first, second, 1 - first - second)]
        found = chances[:, difference + pulls]
        # The last one is a difference of tails where one arm is far ahead.
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_the_loss_approaches_epsilon_and_never_exceeds_it() -> None:
    for epsilon in (0.2, 1.0):
        loss = elimination_loss(10_000, epsilon)
        assert 0.99 * epsilon < loss.epsilon <= epsilon
        observable = elimination_loss(10_000, epsilon, math.log(1e-6))
        assert observable.log_unlikely >= math.log(1e-6)
        assert 0.9 * epsilon < observable.epsilon < loss.epsilon


def test_the_reference_drops_an_arm_as_often() -> None:
    pulls, lead = first_epoch(HORIZON, EPSILON)
    difference = math.floor(lead)
    algorithm = REGRET["dp-se"]
    bandit = dpbandits.bernoulli([0.5, 0.5])
    settings = settings_of(
        algorithm, {"epsilon": EPSILON}, algorithm.interpretations_from({}), bandit, HORIZON
    )
    generator, runs, dropped = np.random.default_rng(4), 500, 0
    rewards = ((1.0,) * difference + (0.0,) * HORIZON, (0.0,) * HORIZON)
    for _ in range(runs):
        table: Any = Table(rewards)
        counts = [0, 0]
        for arm, length, _ in algorithm.reference(settings, table, generator):
            counts[arm] += length
        assert counts[1] in (pulls, HORIZON // 2)
        dropped += counts[1] == pulls
    chances = np.exp(
        outcome_chances(HORIZON, EPSILON)[1, [pulls + difference, pulls + difference - 2]]
    )
    assert stats.binomtest(dropped, runs, chances[0]).pvalue > 1e-3
    assert stats.binomtest(dropped, runs, chances[1]).pvalue < 1e-3


def test_a_horizon_below_the_epoch_is_an_error() -> None:
    with pytest.raises(InputError, match="horizon is 1000"):
        first_epoch(1000, 1.0)
