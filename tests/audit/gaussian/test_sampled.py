"""Certificates from simulated outputs: never above the truth more often than stated.

The truth is enumerated. Over 1,000 fixed seeds, a 95 % bound may be wrong in 5 % of them; the line
is the 99.9 % quantile of a binomial with that chance.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from audit.agreement import sequence_chances
from dpbandits.auditing.events import Event
from dpbandits.auditing.inputs import hold
from dpbandits.auditing.likelihood import (
    best_threshold,
    simulate,
)
from dpbandits.auditing.thompson import ts_gaussian
from gaussian_by_hand import enumerated, largest_mu, thompson_steps

SEEDS, ROUNDS = 1_000, 6
MOST_ERRORS = int(binom.ppf(0.999, SEEDS, 0.05))
PAIR = hold(1.0, ROUNDS)
SAMPLER = ts_gaussian(ROUNDS)


def _truth() -> tuple[np.ndarray, np.ndarray]:
    p, q, _ = enumerated(
        lambda arms, rewards: thompson_steps(arms, rewards, 0, 1.0, 1),
        PAIR.tables(ROUNDS),
        ROUNDS,
        1.0,
    )
    return p, q


P, Q = _truth()
TRUE_MU = largest_mu(P, Q)


def ratios(generator: np.random.Generator, runs: int, law: np.ndarray) -> np.ndarray:
    """Draw outputs of a law over all sequences; return their exact log-likelihood ratios."""
    drawn = generator.choice(law.size, runs, p=law / law.sum())
    return np.asarray(np.log(Q / P)[drawn])


def certified(under_p: np.ndarray, under_q: np.ndarray) -> float:
    """Return the bound on mu of the threshold that is chosen."""
    _, log_p, log_q, _ = best_threshold(under_p, under_q)
    return Event("", log_p, log_q).mu if log_q > log_p else 0.0


def test_simulated_ratios_are_exact() -> None:
    for second, law in ((False, P), (True, Q)):
        found = simulate(SAMPLER, PAIR, 5_000, np.random.default_rng(1), second=second)
        values, places = np.unique(np.round(np.log(Q / P), 8), return_inverse=True)
        assert np.isin(np.round(found, 8), values).all()
        expected = 5_000 * np.bincount(places, weights=law)
        seen = np.searchsorted(values, np.round(found, 8))
        counts = np.bincount(seen, minlength=values.size)
        # Values with fewer expected are counted together.
        group = np.where(expected >= 5.0, np.arange(values.size), values.size)
        sums = [np.bincount(group, weights=numbers) for numbers in (counts, expected)]
        assert chisquare(*(numbers[sums[1] > 0.0] for numbers in sums)).pvalue > 1e-3


@pytest.mark.slow
def test_certificates_err_as_often_as_stated_at_most() -> None:
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([3, seed])
        first, second = (ratios(generator, 400, law) for law in (P, Q))
        found.append(certified(first, second))
    assert (np.array(found) > TRUE_MU).sum() <= MOST_ERRORS
    assert np.mean(found) > 0.2 * TRUE_MU


def test_equal_inputs_give_zero() -> None:
    """A statistic without meaning in the place of the ratio."""
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([4, seed])
        noise = [generator.standard_normal(400) for _ in range(2)]
        first, second = noise
        found.append(certified(first, second))
    assert (np.array(found) > 0.0).sum() <= MOST_ERRORS


def test_many_runs_come_close_to_the_truth() -> None:
    generator = np.random.default_rng(5)
    under_x, under_y = (
        simulate(SAMPLER, PAIR, 200_000, generator, second=second) for second in (False, True)
    )
    found = certified(under_x, under_y)
    assert 0.9 * TRUE_MU < found <= TRUE_MU * 1.02


def test_three_arms_have_the_chances_of_their_sequences() -> None:
    sampler, pair = ts_gaussian(3), hold(0.5, 3, arms=3)
    chances = [sequence_chances(sampler, table) for table in pair.tables(3)]
    values = {
        round(math.log(chances[1][arms] / chances[0][arms]), 9)
        for arms in itertools.product(range(3), repeat=3)
    }
    found = simulate(sampler, pair, 2_000, np.random.default_rng(9), second=False)
    assert set(np.round(found, 9)) <= values
