"""The lattices give the exact law of the rounded log-likelihood ratio."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpbandits import privacy
from dpbandits.auditing.inputs import constant, hold, make_pair
from dpbandits.auditing.lattice import (
    LossLaw,
    best_threshold,
    delta_at,
    epsilon_at,
    loss_law,
    loss_law_many,
)
from dpbandits.auditing.thompson import Sampler, dp_ts_ucb, modified_ts, ts_gaussian
from dpbandits.errors import InputError
from gaussian_by_hand import batch_steps, enumerated, largest_mu, thompson_steps

STEP, WIDTH = 0.02, 30.0
DP_TS_UCB_HORIZON = 9


def _cases() -> list[tuple[str, Sampler, object]]:
    cases: list[tuple[str, Sampler, object]] = []
    for rounds in range(2, 11):
        cases.append(
            (f"ts-{rounds}", ts_gaussian(rounds), lambda a, r: thompson_steps(a, r, 0, 1.0, 1))
        )
    for b, c, count in ((1, 2.0, "n+1"), (2, 0.5, "n+1"), (0, 1.0, "n"), (2, 3.0, "n")):
        prior, forced = (1, b) if count == "n+1" else (0, max(b, 1))
        cases.append(
            (
                f"m-ts-{b}-{c}-{count}",
                modified_ts(b, c, 10, count),
                lambda a, r, forced=forced, c=c, prior=prior: thompson_steps(
                    a, r, forced, c, prior
                ),
            )
        )
    for alpha in (0.0, 0.5, 1.0):
        variance = math.log(DP_TS_UCB_HORIZON) ** alpha
        cases.append(
            (
                f"dp-ts-ucb-{alpha}",
                dp_ts_ucb(alpha, DP_TS_UCB_HORIZON),
                lambda a, r, variance=variance: batch_steps(a, r, variance),
            )
        )
    return cases


CASES = _cases()


@pytest.mark.parametrize(("name", "sampler", "steps"), CASES, ids=[case[0] for case in CASES])
def test_lattice_equals_enumeration(name: str, sampler: Sampler, steps) -> None:  # type: ignore[no-untyped-def]
    pair = hold(0.7, sampler.rounds)
    decisions = sampler.rounds - 2 * sampler.forced_pulls
    p, q, cells = enumerated(steps, pair.tables(sampler.rounds), decisions, STEP)
    law = loss_law(sampler, pair, step=STEP, width=WIDTH)
    middle = round(WIDTH / STEP)
    for masses, chances in ((law.p, p), (law.q, q)):
        expected = np.bincount(cells + middle, weights=chances, minlength=masses.size)
        np.testing.assert_allclose(masses, expected, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("rounds", [2, 6, 10])
def test_a_fine_lattice_has_the_mu_of_the_exact_ratio(rounds: int) -> None:
    pair = constant(0.0, 1.0)
    p, q, _ = enumerated(
        lambda a, r: thompson_steps(a, r, 0, 1.0, 1), pair.tables(rounds), rounds, STEP
    )
    law = loss_law(ts_gaussian(rounds), pair, step=2e-4, width=5.0)
    exact, found = largest_mu(p, q), best_threshold(law, 1e-12).mu
    assert exact - 1e-3 < found <= exact + 1e-12
    excess = np.maximum(q - math.exp(0.5) * p, 0.0).sum()
    assert excess - 1e-3 < delta_at(law, 0.5) <= excess + 1e-12


def test_absorbing_cells_lose_no_mass_and_gain_no_loss() -> None:
    sampler, pair = ts_gaussian(60), constant(0.0, 1.0)
    whole = best_threshold(loss_law(sampler, pair)).mu
    for law in (
        loss_law(sampler, pair, width=0.5),
        loss_law(sampler, pair, most_pulls=3),
    ):
        assert law.p.sum() == pytest.approx(1.0, abs=1e-12)
        assert law.q.sum() == pytest.approx(1.0, abs=1e-12)
        assert 0.0 < best_threshold(law).mu < whole + 1e-3


@pytest.mark.parametrize(
    ("sampler", "arms"),
    [(ts_gaussian(300), 2), (modified_ts(20, 0.5, 200), 2), (ts_gaussian(12), 3)],
)
def test_masses_sum_to_one_and_equal_inputs_have_no_loss(sampler: Sampler, arms: int) -> None:
    make = loss_law if arms == 2 else loss_law_many
    pair = constant(0.25, 1.0, arms=arms)
    law = make(sampler, pair)
    assert law.p.sum() == pytest.approx(1.0, abs=1e-12)
    assert law.q.sum() == pytest.approx(1.0, abs=1e-12)
    null = make(sampler, replace(pair, second=pair.first))
    assert best_threshold(null).mu == 0.0
    assert delta_at(null, 0.0) == 0.0
    assert epsilon_at(null, 1e-6) == 0.0


@pytest.mark.parametrize("rounds", [3, 9])
def test_both_lattices_agree_on_two_arms(rounds: int) -> None:
    pair = hold(1.0, rounds)
    one = loss_law(ts_gaussian(rounds), pair, step=STEP, width=3.0)
    other = loss_law_many(ts_gaussian(rounds), pair, step=STEP, width=3.0)
    np.testing.assert_allclose(one.p, other.p, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-13)


def test_an_arm_that_hardly_ever_wins_changes_nothing() -> None:
    rounds = 8
    sampler = modified_ts(3, 0.001, rounds + 6)
    two = constant(1.0, 1.0)
    three = make_pair([[0.0], [1.0], [0.0]], [[1.0], [1.0], [0.0]], after=[1.0, 1.0, 0.0])
    longer = modified_ts(3, 0.001, rounds + 9)
    one = loss_law_many(sampler, two, step=STEP, width=10.0)
    other = loss_law_many(longer, three, step=STEP, width=10.0)
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("horizon", [10, 100, 300])
def test_bounds_stay_below_what_is_proved(horizon: int) -> None:
    for pair in (constant(0.5, 1.0), hold(1.5, horizon)):
        law = loss_law(ts_gaussian(horizon), pair)
        level = privacy.ts_gaussian_gdp(horizon)
        assert 0.1 * level < best_threshold(law).mu < level
        for delta in (1e-6, 1e-3):
            bounds = [epsilon_at(each, delta) for each in (law, law.reversed)]
            assert min(bounds) > 0.0
            assert max(bounds) < privacy.epsilon(delta, privacy.ts_gaussian_gdp(horizon))


def test_epsilon_and_delta_are_inverse() -> None:
    law = loss_law(ts_gaussian(30), constant(0.0, 1.0))
    epsilon = epsilon_at(law, 1e-3)
    assert delta_at(law, epsilon * (1.0 + 1e-9)) <= 1e-3 <= delta_at(law, epsilon * (1.0 - 1e-9))


def test_tails_near_one_keep_their_digits() -> None:
    # Two cells with known errors, one of which is far below the spacing of numbers near 1.
    law = LossLaw(np.array([-1.0, 1.0]), np.array([1e-3, 1.0]), np.array([1e-30, 1.0]))
    expected = 11.464025 - 3.090232
    assert best_threshold(law, 1e-40).mu == pytest.approx(expected, abs=1e-5)
    assert best_threshold(law).mu == 0.0


def test_what_is_no_lattice_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="3 arms; allowed: 2"):
        loss_law(ts_gaussian(5), constant(0.0, 1.0, arms=3))
    with pytest.raises(InputError, match="rewards are 4 per arm"):
        ts_gaussian(5).centres(np.zeros((2, 2, 4)))
    with pytest.raises(InputError, match=r"rewards leave \[0, 1\]"):
        ts_gaussian(5).centres(np.full((2, 2, 5), 1.5))
