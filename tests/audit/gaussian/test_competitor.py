"""The best that the first epoch of DP-TS-UCB can leak."""

import itertools
import math

import numpy as np
import pytest

from dpbandits.auditing.inputs import constant
from dpbandits.auditing.lattice import best_threshold, first_epoch_law, ideal_mu, loss_law
from dpbandits.auditing.thompson import dp_ts_ucb


def test_the_law_is_that_of_trials_stopped_at_two_successes() -> None:
    trials, chances = 6, np.array([0.2, 0.5])
    expected: dict[float, np.ndarray] = {}
    for outcome in itertools.product((0, 1), repeat=trials):
        ones = np.flatnonzero(outcome)
        end = ones[1] + 1 if ones.size >= 2 else trials
        seen = outcome[:end]
        likelihoods = [math.prod(p if one else 1.0 - p for one in seen) for p in chances]
        whole = np.array([math.prod(p if one else 1.0 - p for one in outcome) for p in chances])
        key = round(math.log(likelihoods[1] / likelihoods[0]), 9)
        expected[key] = expected.get(key, 0.0) + whole
    law = first_epoch_law(trials, (np.log(chances), np.log1p(-chances)))
    assert law.p.sum() == pytest.approx(1.0, abs=1e-12)
    keys = sorted(expected)
    np.testing.assert_allclose(np.unique(np.round(law.ratios, 9)), keys, atol=1e-8)
    for key in keys:
        place = np.abs(law.ratios - key) < 1e-8
        found = [law.p[place].sum(), law.q[place].sum()]
        np.testing.assert_allclose(found, expected[key], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_the_algorithm_leaks_less_at_the_audited_pair(alpha: float) -> None:
    horizon = 200
    sampler = dp_ts_ucb(alpha, horizon)
    found = best_threshold(loss_law(sampler, constant(0.0, 1.0), most_pulls=2)).mu
    assert 0.3 * ideal_mu(alpha, horizon) < found < ideal_mu(alpha, horizon)
