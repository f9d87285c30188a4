"""Certificates from simulated outputs: never above the truth more often than stated.

The truth is enumerated. Over 1,000 fixed seeds, a 95 % bound may be wrong in 5 % of them; the line
is the 99.9 % quantile of a binomial with that chance.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, chisquare

from audit.agreement import sequence_chances
from dpbandits.auditing.inputs import hold_pair
from dpbandits.auditing.likelihood import (
    Outputs,
    _count,
    delta_certificate,
    simulate,
    threshold_certificate,
    weighted_certificate,
)
from dpbandits.auditing.thompson import ts_gaussian
from gaussian_by_hand import enumerated, largest_mu, thompson_steps

SEEDS, ROUNDS = 1_000, 6
MOST_ERRORS = int(binom.ppf(0.999, SEEDS, 0.05))
PAIR = hold_pair(1.0, ROUNDS)
SAMPLER = ts_gaussian(ROUNDS)


def _truth() -> tuple[np.ndarray, np.ndarray]:
    p, q, _ = enumerated(
        lambda arms, rewards: thompson_steps(arms, rewards, 0, 1.0, 1), PAIR.tables, ROUNDS, 1.0
    )
    return p, q


P, Q = _truth()
MU = largest_mu(P, Q)


def outputs(generator: np.random.Generator, runs: int, law: np.ndarray) -> Outputs:
    """Draw outputs of a law over all sequences, with their exact likelihood ratios."""
    drawn = generator.choice(law.size, runs, p=law / law.sum())
    return Outputs(np.log(P / law)[drawn], np.log(Q / law)[drawn])


def test_simulated_ratios_are_exact() -> None:
    for under, law in ((0, P), (1, Q)):
        found = simulate(SAMPLER, PAIR.tables, 5_000, np.random.default_rng(1), under=under)
        values, places = np.unique(np.round(np.log(Q / P), 8), return_inverse=True)
        assert np.isin(np.round(found.ratios, 8), values).all()
        expected = 5_000 * np.bincount(places, weights=law)
        seen = np.searchsorted(values, np.round(found.ratios, 8))
        counts = np.bincount(seen, minlength=values.size)
        # Values with fewer expected are counted together.
        group = np.where(expected >= 5.0, np.arange(values.size), values.size)
        sums = [np.bincount(group, weights=numbers) for numbers in (counts, expected)]
        assert chisquare(*(numbers[sums[1] > 0.0] for numbers in sums)).pvalue > 1e-3


@pytest.mark.parametrize("lowered", [0.5, 1.5])
def test_weights_are_those_of_the_law_that_was_played(lowered: float) -> None:
    # R is played, not given; if its weights were wrong, thinned counts would miss Q(E) and P(E).
    runs, tau = 40_000, 0.1
    generator = np.random.default_rng(2)
    found = simulate(SAMPLER, PAIR.tables, runs, generator, lowered=lowered)
    inside = np.log(Q / P) >= tau
    for logs, law in ((found.log_q, Q), (found.log_p, P)):
        largest = logs.max()
        thinned = (found.ratios >= tau) & (np.log(generator.random(runs)) < logs - largest)
        expected = math.exp(-largest) * float(law[inside].sum())
        assert binomtest(int(thinned.sum()), runs, expected).pvalue > 1e-3 / 4.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["counts", "under x'", "third law"])
def test_certificates_err_as_often_as_stated_at_most(kind: str) -> None:
    third = P**1.3 / Q**0.3
    third /= third.sum()
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([3, seed])
        if kind == "counts":
            first, second = (outputs(generator, 400, law) for law in (P, Q))
            found.append(threshold_certificate(first, second).mu)
        else:
            law = Q if kind == "under x'" else third
            drawn = outputs(generator, 400, law)
            drawn = drawn if kind == "under x'" else drawn.reverse()
            found.append(weighted_certificate(drawn, generator).mu)
    assert (np.array(found) > MU).sum() <= MOST_ERRORS
    assert np.mean(found) > 0.2 * MU


@pytest.mark.parametrize(("tau", "weight"), [(0.3, 0.2), (0.6, 0.4)])
def test_both_chances_of_an_event_are_enclosed_closely(tau: float, weight: float) -> None:
    third = Q**1.3 / P**0.3
    third /= third.sum()
    inside = (np.log(Q / P) >= tau) & (np.log(Q / third) <= weight)
    generator = np.random.default_rng(10)
    drawn = outputs(generator, 400_000, third)
    found = _count(drawn, generator.random(400_000), tau, weight, 1e-3)
    assert 0.0 < found.log_alpha - math.log(P[inside].sum()) < 0.1
    assert 0.0 < math.log(Q[inside].sum()) - found.log_power < 0.1


@pytest.mark.parametrize("kind", ["counts", "weights"])
def test_equal_inputs_give_zero(kind: str) -> None:
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([4, seed])
        # A statistic without meaning in the place of the ratio.
        noise = [generator.standard_normal(400) for _ in range(2)]
        first, second = (Outputs(-values / 2.0, values / 2.0) for values in noise)
        if kind == "counts":
            found.append(threshold_certificate(first, second).mu)
        else:
            zeros = np.zeros(400)
            found.append(weighted_certificate(Outputs(zeros, zeros), generator).mu)
    assert (np.array(found) > 0.0).sum() <= MOST_ERRORS


def test_many_runs_come_close_to_the_truth() -> None:
    generator = np.random.default_rng(5)
    under_x, under_y = (
        simulate(SAMPLER, PAIR.tables, 200_000, generator, under=law) for law in (0, 1)
    )
    found = [
        threshold_certificate(under_x, under_y).mu,
        weighted_certificate(under_x.reverse(), generator).mu,
    ]
    assert max(found) > 0.95 * MU
    assert max(found) <= MU * 1.02


def test_importance_sampling_reaches_events_that_counts_do_not() -> None:
    rounds, runs = 60, 20_000
    sampler, pair = ts_gaussian(rounds), hold_pair(1.0, rounds)
    generator = np.random.default_rng(6)
    under_x, under_y = (
        simulate(sampler, pair.tables, runs, generator, under=law) for law in (0, 1)
    )
    counted = threshold_certificate(under_y.reverse(), under_x.reverse())
    lowered = simulate(sampler, pair.tables, runs, generator, lowered=1.0)
    weighted = weighted_certificate(lowered.reverse(), generator)
    assert weighted.mu > 1.2 * counted.mu
    assert weighted.log_alpha < math.log(1.0 / runs)


def test_delta_is_bounded_from_below() -> None:
    epsilon = 0.5
    truth = float(np.maximum(Q - math.exp(epsilon) * P, 0.0).sum())
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([7, seed])
        found.append(delta_certificate(outputs(generator, 2_000, Q), epsilon, generator))
    errors = int((np.array(found) > truth).sum())
    assert 0 < errors <= MOST_ERRORS
    assert np.mean(found) > 0.8 * truth


def test_a_badly_chosen_event_gives_zero() -> None:
    generator = np.random.default_rng(8)
    drawn = outputs(generator, 1_000, Q)
    assert _count(drawn, generator.random(1_000), 100.0, 0.0, 0.05).mu == 0.0


def test_three_arms_have_the_chances_of_their_sequences() -> None:
    sampler, pair = ts_gaussian(3), hold_pair(0.5, 3, 3)
    chances = [sequence_chances(sampler, table) for table in pair.tables]
    values = {
        round(math.log(chances[1][arms] / chances[0][arms]), 9)
        for arms in itertools.product(range(3), repeat=3)
    }
    found = simulate(sampler, pair.tables, 2_000, np.random.default_rng(9))
    assert set(np.round(found.ratios, 9)) <= values
