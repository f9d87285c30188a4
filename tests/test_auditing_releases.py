"""Exact chances of decisions between noisy releases: other formulas, quadrature, plays, controls.

Simulations have fixed seeds; chi-square tests reject correct code once in a thousand times at most.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.stats import laplace

import dpbandits
from agreement import Table, chi_square, played_sequences, question_of
from dpbandits.algorithms import IDENTIFICATION, REGRET
from dpbandits.algorithms.base import Task
from dpbandits.auditing.best_arm import first_epoch, outcome_chances
from dpbandits.auditing.events import Event
from dpbandits.auditing.index_policies import (
    LEAST_CHANCE,
    MARGIN,
    Policy,
    abandoned_arm,
    abandoned_rows,
    adap_ucb_policy,
    anytime_lazy_ucb_policy,
    by_loss,
    constant_means,
    largest_leaks,
    sequence_chances,
)
from dpbandits.auditing.inputs import audit_pair, constant, table_bandit
from dpbandits.auditing.laplace import (
    fit,
    laplace_breaks,
    laplace_density,
    laplace_mass,
    largest_loss,
    log_selection,
    log_tail,
    log_tail_of_two,
)
from dpbandits.auditing.statements import report_event, report_rows, reports_of
from dpbandits.auditing.support import Case, GivenDraws, separation, transcript
from dpbandits.kernels import Segments
from support import mostly_slow, refused, settings_of


def test_one_tail_is_that_of_scipy() -> None:
    c = np.array([-40.0, -3.0, -1e-9, 0.0, 0.5, 8.0, 900.0])
    assert log_tail(c, 2.0) == pytest.approx(laplace.logsf(c, scale=2.0), rel=1e-12)


def test_two_tails_are_those_of_the_audit_spec() -> None:
    """By hand, in 60 digits, where b1 - b2 does not cancel."""
    for second, c in product(
        [1e-6, 0.3, 0.999, 1.0 - 1e-9, 1.0, 7.0], [0.0, 1e-3, 1.0, 10.0, 200.0]
    ):
        with mpmath.workdps(60):
            b1, b2 = mpmath.mpf(1), mpmath.mpf(second)
            if second == 1.0:
                chance = mpmath.exp(-c) * (mpmath.mpf("0.5") + mpmath.mpf(c) / 4)
            else:
                parts = b1**2 * mpmath.exp(-c / b1) - b2**2 * mpmath.exp(-c / b2)
                chance = parts / (2 * (b1**2 - b2**2))
            above, below = float(mpmath.log(chance)), float(mpmath.log(1 - chance))
        assert log_tail_of_two(c, 1.0, second) == pytest.approx(above, rel=1e-12)
        # The complement of a chance near 1 keeps its absolute digits.
        assert log_tail_of_two(-c, second, 1.0) == pytest.approx(below, rel=1e-12, abs=1e-15)


def test_selection_of_one_of_two_is_a_difference() -> None:
    """Below -30 the complement in the closed form has lost its digits, not the integral."""
    for c in (-8.0, -0.3, 0.0, 2.0, 25.0, 300.0):
        expected = float(log_tail_of_two(c))
        assert log_selection([0.0], [c]) == pytest.approx(expected, rel=1e-11)


def test_selections_are_all_there_is() -> None:
    """Chances of all sets of survivors sum to 1, ties and far apart sums included."""
    rows = ([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 25.0], [-2.0, 0.5, 3.0, 3.1])
    for kept, sums in product((1, 2, 3), map(np.array, rows)):
        sets = map(list, combinations(range(4), kept))
        chances = [math.exp(log_selection(sums[high], np.delete(sums, high))) for high in sets]
        assert sum(chances) == pytest.approx(1.0, abs=1e-12)


POLICIES: dict[str, Callable[[int, float], Policy]] = {
    "adap-ucb": adap_ucb_policy,
    "anytime-lazy-ucb": anytime_lazy_ucb_policy,
}


def test_round_3_is_the_comparison_of_two_releases() -> None:
    """P(L1 - L2 > c) = exp(-c) (1/2 + c/4), the counts being equal and c the gap of the means."""
    for make in POLICIES.values():
        chances = sequence_chances(make(3, 1.0), constant_means(0.0, 1.0, 0, 0.0))
        assert chances[0, 1, 0] == pytest.approx(math.exp(-1.0) * 0.75, rel=1e-12)


@pytest.mark.slow
def test_chances_sum_to_1() -> None:
    for changed, release, (name, horizon) in product(
        [0.0, 1.0], [0, 1], [("adap-ucb", 30), ("anytime-lazy-ucb", 14)]
    ):
        means = constant_means(0.0, 1.0, release, changed)
        chances = sequence_chances(POLICIES[name](horizon, 0.5), means)
        assert sum(chances.values()) == pytest.approx(1.0, abs=1e-10)
        assert len({len(arms) for arms in chances}) == 1


def test_of_losses_that_differ_by_rounding_the_likeliest_event_is_shown() -> None:
    rare, likely = Event("rare", -9.0 - 1e-14, -8.0), Event("likely", -3.0, -2.0)
    larger = Event("larger", -9.0 - 1e-9, -8.0)
    assert max([rare, likely], key=by_loss) is likely
    assert max([likely, larger], key=by_loss) is larger


CHANGED = [constant_means(0.0, 0.0, 0, changed) for changed in (0.0, 1.0)]


@pytest.mark.parametrize("name", POLICIES)
def test_no_loss_exceeds_epsilon_and_some_attains_it(name: str) -> None:
    horizon = {"adap-ucb": 30, "anytime-lazy-ucb": 14}[name]
    for epsilon in (0.2, 1.0):
        [leak] = largest_leaks(POLICIES[name](horizon, epsilon), *CHANGED, (LEAST_CHANCE,))
        assert 0.99 * epsilon < leak.epsilon - MARGIN <= epsilon


def test_half_the_noise_is_caught_and_the_null_pair_loses_nothing() -> None:
    for name, policy in POLICIES.items():
        halved = Policy(14, 2.0, name == "adap-ucb", policy(14, 1.0).bonus)
        [leak] = largest_leaks(halved, *CHANGED, (1e-6,))
        assert leak.epsilon > 1.5, name
        [leak] = largest_leaks(policy(10, 1.0), CHANGED[1], CHANGED[1], (LEAST_CHANCE,))
        assert leak.epsilon == 0.0, name


ROUNDS = 10
PLAYED = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0))


@pytest.mark.slow
def test_the_kernel_plays_these_sequences_as_often() -> None:
    for (first, second, changed), name in product(PLAYED, POLICIES):
        tables = np.tile([[first], [second]], (2, 1, ROUNDS))
        # The first reward of the second private mean of arm 1.
        tables[:, 0, 1] = changed
        counts = played_sequences(name, {"epsilon": 1.0}, {}, tables, False, 20_000, 5)
        table = constant_means(first, second, 1, changed)
        policy = POLICIES[name](ROUNDS, 1.0)
        assert chi_square(counts, sequence_chances(policy, table)) > 0.001
        # Negative controls: a noise 10 % off, the reward unchanged.
        wrong = Policy(ROUNDS, 1.1, name == "adap-ucb", policy.bonus)
        if first == second:
            assert chi_square(counts, sequence_chances(wrong, table)) < 1e-6
        if changed != first:
            unchanged = sequence_chances(policy, constant_means(first, second, 1, first))
            assert chi_square(counts, unchanged) < 1e-6


def chosen_settings(name: str, epsilon: float, horizon: int, variant: str = "as-written") -> Any:
    """Return the settings of an algorithm with two arms."""
    algorithm = REGRET[name]
    chosen, bandit = algorithm.interpretations_from({}, variant), dpbandits.bernoulli([0.5, 0.5])
    return settings_of(algorithm, {"epsilon": epsilon}, chosen, bandit, horizon)


def test_pieces_integrate_a_laplace_law() -> None:
    law = fit(lambda x: laplace_density(x, 0.7, 0.3), laplace_breaks(0.7, 0.3))
    assert law.total() == pytest.approx(1.0, abs=1e-14)
    low, high = np.array([-1.0, 0.1, 2.0, -np.inf]), np.array([0.5, 0.9, 2.5, np.inf])
    expected = laplace_mass((low - 0.7) / 0.3, (high - 0.7) / 0.3)
    assert law.mass(low, high) == pytest.approx(expected, rel=1e-12)


def chances(horizon: int, epsilon: float, reward: float) -> list[float]:
    event = abandoned_arm(horizon, epsilon, reward)
    return [math.exp(event.log_p), math.exp(event.log_q)]


@pytest.mark.slow
def test_the_kernel_plays_the_sequence_as_often() -> None:
    horizon, epsilon, runs = 7, 5.0, 200_000
    play = question_of("lazy-dp-ts", horizon, {"epsilon": epsilon}).mechanism(constant(0, 0)).sample
    exact, noisier = chances(horizon, epsilon, 0.0), chances(horizon, 1.2 * epsilon, 0.0)
    for changed in (0, 1):
        outputs = play(changed == 1, np.random.default_rng(7), runs)
        count = int((outputs == [0] + [1] * (horizon - 1)).all(axis=1).sum())
        assert stats.binomtest(count, runs, exact[changed]).pvalue > 1e-3
        for wrong in (exact[1 - changed], noisier[changed]):
            assert stats.binomtest(count, runs, wrong).pvalue < 1e-6


def test_the_loss_grows_to_epsilon_and_not_beyond() -> None:
    ratios = [row.ratio for row in abandoned_rows((5.0,), (8, 16, 24)) if "always 0" in row.pair]
    assert ratios == sorted(ratios)
    assert 0.9 < ratios[-1] <= 1.0
    [low, high] = [row.ratio for row in abandoned_rows((1.0,), (16,))]
    assert (low, high) == (pytest.approx(0.0741, abs=5e-5), pytest.approx(0.0731, abs=5e-5))


HORIZON, EPSILON = 4000, 1.0


def tail_epoch(c: mpmath.mpf) -> mpmath.mpf:
    """P(L1 + L2 > c), equal scales 1."""
    return mpmath.exp(-c) * (2 + c) / 4 if c >= 0 else 1 - mpmath.exp(c) * (2 - c) / 4


def test_chances_in_forty_digits() -> None:
    pulls, lead = first_epoch(HORIZON, EPSILON)
    chances = outcome_chances(HORIZON, EPSILON)
    for difference in (-pulls, -math.ceil(lead), -3, 0, 5, math.floor(lead), pulls):
        with mpmath.workdps(1500):
            first = tail_epoch(mpmath.mpf(lead) + difference)
            second = tail_epoch(mpmath.mpf(lead) - difference)
            expected = [float(mpmath.log(p)) for p in (first, second, 1 - first - second)]
        found = chances[:, difference + pulls]
        # The last one is a difference of tails where one arm is far ahead.
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_the_loss_approaches_epsilon_and_never_exceeds_it() -> None:
    for epsilon in (0.2, 1.0):
        chances = outcome_chances(10_000, epsilon)
        observable = largest_loss(chances, math.log(1e-6))
        assert observable.log_unlikely >= math.log(1e-6)
        assert 0.9 * epsilon < observable.epsilon < largest_loss(chances).epsilon
        assert 0.99 * epsilon < largest_loss(chances).epsilon <= epsilon


@pytest.mark.slow
def test_the_reference_drops_an_arm_as_often() -> None:
    pulls, lead = first_epoch(HORIZON, EPSILON)
    difference = math.floor(lead)
    settings = chosen_settings("dp-se", EPSILON, HORIZON)
    generator, runs, dropped = np.random.default_rng(4), 500, 0
    rewards = ((1.0,) * difference + (0.0,) * HORIZON, (0.0,) * HORIZON)
    for _ in range(runs):
        table: Any = Table(rewards)
        chunks = REGRET["dp-se"].reference(settings, table, generator)
        count = sum(length for arm, length, _ in chunks if arm == 1)
        assert count in (pulls, HORIZON // 2)
        dropped += count == pulls
    places = [pulls + difference, pulls + difference - 2]
    right, wrong = np.exp(outcome_chances(HORIZON, EPSILON)[1, places])
    assert stats.binomtest(dropped, runs, right).pvalue > 1e-3
    assert stats.binomtest(dropped, runs, wrong).pvalue < 1e-3


def test_a_horizon_below_the_epoch_is_an_error() -> None:
    refused(lambda: first_epoch(1000, 1.0), "horizon is 1000")


FIRST = audit_pair([[0.0], [0.5]], [[1.0], [0.5]], after=[0.0, 0.0])
NULL = audit_pair([[0.0], [0.5]], [[0.0], [0.5]], after=[0.0, 0.0])


def test_an_algorithm_with_noise_is_refused() -> None:
    for name in ("adap-ucb", "anytime-lazy-ucb", "ts-gaussian"):
        case = Case(REGRET[name], "as-written", 4, 4, FIRST, parameters=REGRET[name].example)
        refused(partial(separation, case), "support argument: the algorithm draws")


def test_the_null_pair_is_not_separated() -> None:
    assert separation(Case(REGRET["ucb1"], "as-written", 4, 4, NULL)).epsilon == 0.0


def test_the_sequence_is_that_of_the_table_with_more_draws() -> None:
    """NCB as coded stops its uniform play one round later where the first reward is 0."""
    case = Case(REGRET["ncb"], "as-coded", 100, 60, constant(1.0, 0.0), (0,) * 60)
    found = separation(case)
    assert found.log_q == -math.inf
    assert found.log_p == pytest.approx(-43 * math.log(2.0))
    assert found.place == (0,) * 43
    assert transcript(replace(case, rounds=43), True) == ((*(0,) * 42, 1), 42)


def test_recommendations_follow_the_larger_reward() -> None:
    pair = audit_pair([[0.0], [0.0]], [[0.0], [1.0]])
    for name, budget in (("od-linbai", 3), ("sequential-halving", 2)):
        algorithm, bandit = IDENTIFICATION[name], table_bandit(None, pair, True)
        case = Case(algorithm, "as-written", budget, 1, pair)
        assert [transcript(case, second) for second in (False, True)] == [((0,), 0), ((1,), 0)]
        chosen = algorithm.parameters_from({}), algorithm.interpretations_from({})
        trial = algorithm.reference(Task(*chosen, bandit, budget), np.random.default_rng(1))
        assert trial.pulls(2).tolist() == [1, 1]


def test_given_draws_are_all_there_is() -> None:
    draws: Any = GivenDraws([0.25])
    assert draws.random() == 0.25
    refused(draws.random, "more than the given numbers")
    refused(lambda: draws.standard_normal(), "draws by standard_normal")


LDP = REGRET["ldp-ncb"]


def test_the_loss_is_the_largest_density_ratio() -> None:
    for location, scale in [(0.0, 5.0), (5.0, 1.0), (0.3, 0.5)]:
        grid = np.linspace(location - 20.0 * scale, location + 1.0 + 20.0 * scale, 4001)
        laws = [laplace(reward + location, scale) for reward in (0.0, 1.0)]
        event = report_event(location, scale)
        largest = np.abs(laws[1].logpdf(grid) - laws[0].logpdf(grid)).max()
        assert event.epsilon == pytest.approx(largest, rel=1e-9)
        exceeds = [law.sf(location + 1.0) for law in laws]
        assert [math.exp(event.log_p), math.exp(event.log_q)] == pytest.approx(exceeds, rel=1e-12)


def test_what_each_variant_loses() -> None:
    rows = list(report_rows((0.2, 1.0)))
    for row in rows:
        of_phase_one = row.variant == "as-coded" and "Phase I " in row.pair
        of_phase_one = of_phase_one and row.algorithm != "ldp-ucb-l"
        assert (row.ratio > 1.0 + 1e-9) == (of_phase_one and row.claimed < 1.0)
        assert not of_phase_one or row.lower == pytest.approx(1.0, rel=1e-12)
    assert any(row.ratio > 4.9 for row in rows)


@pytest.mark.parametrize("variant", mostly_slow(LDP.variants, "as-coded"))
def test_the_kernel_draws_the_noise_of_the_report(variant: str) -> None:
    """Variance 2 b^2, its relative standard error sqrt(5 / runs); within five of them."""
    epsilon, runs = 0.25, 20_000
    settings = chosen_settings("ldp-ncb", epsilon, 10, variant)._replace(horizon=1)
    generator, zeros = np.random.default_rng(2), dpbandits.bernoulli([0.0, 0.0]).arrays
    arms, lengths = np.empty((2, 1), np.int64)
    noises = np.empty(runs)
    for run in range(runs):
        state = LDP.state(2)
        LDP.advance(settings, state, zeros, generator, Segments(arms, lengths, np.empty(1)))
        noises[run] = state.private_sums.sum()
    location, scale, _ = reports_of(LDP, variant, epsilon)[0]
    deviation = math.sqrt(2.0) * scale
    assert abs(noises.mean() - location) < 5.0 * deviation / math.sqrt(runs)
    assert abs(noises.var() / deviation**2 - 1.0) < 5.0 * math.sqrt(5.0 / runs)
