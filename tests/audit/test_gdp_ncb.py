"""Exact losses of GDP-NCB's releases against plain plays, the reference and quadrature.

Binomial tests have fixed seeds and reject correct code once in ten thousand times at most each.
"""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.auditing.events import Event
from dpbandits.auditing.gdp_ncb import (
    carried_rules,
    carried_split,
    carried_witness,
    coded_split,
    exploration_witness,
    in_window,
    least_pulls,
    release_witness,
    releases,
    scaled_split,
)
from dpbandits.auditing.statements import gdp_ncb_rows, stop_test_rows
from dpbandits.auditing.support import GivenDraws, Table
from dpbandits.privacy.witnesses import (
    PhaseTwo,
    as_coded,
    deciding_releases,
    published_threshold,
)
from support import settings_of

GDP = REGRET["gdp-ncb"]
LINE = 1e-4


class GivenArms(GivenDraws):
    """Draws that choose given arms, and Laplace noise from a generator."""

    def __init__(self, arms: list[int], noise: np.random.Generator) -> None:
        super().__init__([(arm + 0.5) / 2.0 for arm in arms])
        self.standard_exponential = noise.standard_exponential


def episode_rewards(rules: PhaseTwo, other: int, own: int) -> list[float]:
    """Return rewards of the changed arm in its episodes: a sum of 1 less than is needed."""
    level = rules.index(0.0, other + 1)
    rewards = []
    for length in rules.episodes():
        lacking = level > rules.index(0.0, own + length)
        needed = (own + length) * rules.mean_at(level, own + length) if lacking else 0.0
        rewards += [min(max(needed - 1.0, 0.0), length) / length] * length
    return rewards


def decisions(case: str, rules: PhaseTwo, other: int, own: int) -> int:
    """Return how many episodes the changed arm has in a row if it wins as long as it can."""
    if case == "carried":
        return releases(rules, other, own)
    level = rules.index(0.0, other + 1)
    able = [length for length in rules.episodes() if rules.index(1.0, own + length) > level]
    return len(able) + 1


def played(case: str, rules: PhaseTwo, split: tuple[int, int], changed: bool, runs: int) -> int:
    """Count the runs of the reference in which the changed arm has all these episodes.

    With fewer pulls it is arm 2 as coded, which loses ties, and arm 1 where means are carried.
    """
    other, own = split
    interpretations = GDP.interpretations_from(CASES[case])
    bandit = dpbandits.bernoulli([0.5, 0.5])
    settings = settings_of(GDP, {"epsilon": rules.epsilon}, interpretations, bandit, rules.horizon)
    noise = np.random.default_rng(11 + changed)
    rewards = [float(changed), *[0.0] * (own - 1), *episode_rewards(rules, other, own)]
    mine = 0 if case == "carried" else 1
    wanted, count = decisions(case, rules, other, own), 0
    for _ in range(runs):
        table: Any = Table(tuple((0.0,) if arm != mine else tuple(rewards) for arm in (0, 1)))
        draws: Any = GivenArms([mine] * own + [1 - mine] * other, noise)
        chunks = GDP.reference(settings, table, draws)
        arms = [arm for arm, _, _ in islice(chunks, rules.rounds + wanted)]
        count += 1 - mine not in arms[rules.rounds :]
    return count


CASES = {
    **{variant: GDP.presets[variant] for variant in ("as-coded", "repaired")},
    "carried": {"cap": "root", "stop_test": "off", "release_log": "base2"},
}


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_reference_plays_the_event_as_often(case: str, changed: bool) -> None:
    """The changed arm has a pull less than the other one, so that it comes first."""
    horizon, epsilon, split = 200, 2.0, (8, 7)
    noise = "natural" if case == "as-coded" else "base2"
    make = carried_rules if case == "carried" else as_coded
    search = carried_witness if case == "carried" else release_witness
    rules = make(horizon, epsilon, noise)
    witness = search(rules, *split)
    chance = math.exp(witness.log_q if changed else witness.log_p)
    runs = 6000
    count = played(case, rules, split, changed, runs)
    assert 100 < count < runs - 100
    assert stats.binomtest(count, runs, chance).pvalue > LINE
    # Negative control: half the noise.
    halved = replace(rules, noise_log=0.5 * rules.noise_log)
    found = search(halved, *split)
    wrong = math.exp(found.log_q if changed else found.log_p)
    assert stats.binomtest(count, runs, wrong).pvalue < LINE


def test_the_integral_over_the_other_arm_is_adaptive_quadrature() -> None:
    rules = carried_rules(1000, 2.0, "natural")
    other, changed = 15, 17
    sigma = rules.scale / other
    pulls = [changed, *(changed + length for length in rules.episodes())]
    witness = carried_witness(rules, other, changed)
    consulted = releases(rules, other, changed)
    zero = rules.index(0.0, other + 1)

    def accepted(mean: float, added: float) -> float:
        level, product = rules.index(mean, other + 1), 1.0
        for n in pulls[:consulted]:
            counted = max(n, changed + 1)
            if rules.index(0.0, counted) > level:
                continue
            length = n - changed
            needed = n * rules.mean_at(zero, counted) if rules.index(0.0, counted) < zero else 0.0
            theta = rules.mean_at(level, counted)
            if theta >= 1.0:
                return 0.0
            short = min(max(needed - 1.0, 0.0), length) + added - n * theta
            product *= stats.laplace.cdf(short / rules.scale)
        return product

    chances = []
    for added in (0.0, 1.0):
        inside = integrate.quad(
            lambda mean, added=added: (
                accepted(mean, added) * stats.laplace.pdf(mean / sigma) / sigma
            ),
            0.0,
            1.0,
            limit=300,
            epsabs=1e-14,
        )[0]
        ends = accepted(0.0, added) / 2.0 + accepted(1.0, added) * stats.laplace.sf(1.0 / sigma)
        chances.append(inside + ends)
    assert math.exp(witness.log_p) == pytest.approx(chances[0], rel=1e-6)
    assert witness.epsilon == pytest.approx(math.log(chances[1] / chances[0]), rel=1e-5)


def test_small_constants_attain_the_number_of_releases() -> None:
    """Each release costs epsilon / ln T; doublings are counted by a base-2 logarithm."""
    for doublings in (3, 5, 8):
        rules, witness = scaled_split(doublings, 1.0, "natural", coded_split)
        other, changed = map(int, witness.place)
        assert len(deciding_releases(rules, other, changed)) == doublings
        most = doublings / math.log(rules.horizon)
        assert 0.9 * most < witness.epsilon <= most * (1.0 + 1e-9)
    assert witness.epsilon > 1.2


@pytest.mark.parametrize("changed", [0.0, 1.0])
def test_small_constants_against_a_plain_play(changed: float) -> None:
    """Equation 4 and lines 20 and 21 of Algorithm 1, written out for c = alpha = 0.01."""
    rules, witness = scaled_split(5, 1.0, "natural", coded_split)
    other, own = map(int, witness.place)
    assert other == own
    horizon, log = rules.horizon, math.log(math.isqrt(rules.horizon) + 1)

    def index(mean: Any, pulls: int) -> Any:
        last = 4.0 * math.sqrt(0.02) * log**1.5 / pulls
        return mean + 0.02 * np.sqrt(2.0 * mean * log / pulls) + 0.01 * log**2 / pulls + last

    runs, generator = 200_000, np.random.default_rng(21)
    plays = np.full(runs, True)
    left, length, rewards = horizon - other - own, 2, episode_rewards(rules, other, own)
    while left > length:
        total, rewards = sum(rewards[:length]), rewards[length:]
        noise = generator.laplace(0.0, math.log(horizon), runs)
        means = np.clip((total + changed + noise) / (own + length), 0.0, 1.0)
        plays &= index(means, own + length) >= index(0.0, other + 1)
        left, length = left - length, 2 * length
    count, chance = int(plays.sum()), math.exp(witness.log_p)
    likely = chance * math.exp(changed * witness.epsilon)
    assert stats.binomtest(count, runs, likely).pvalue > LINE
    # Negative control: the chance under the other rewards.
    swapped = chance * math.exp((1.0 - changed) * witness.epsilon)
    assert stats.binomtest(count, runs, swapped).pvalue < LINE


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("doublings", [3, 5, 8, 12])
@pytest.mark.parametrize(
    ("search", "make"), [(coded_split, as_coded), (carried_split, carried_rules)]
)
def test_base_2_noise_passes_with_zeros_and_with_carried_means(
    doublings: int, epsilon: float, search: Any, make: Any
) -> None:
    _, witness = scaled_split(doublings, epsilon, "base2", search)
    assert 0.0 < witness.epsilon <= epsilon
    for horizon in (10**3, 10**5):
        assert search(make(horizon, epsilon, "base2")).epsilon <= epsilon


def test_natural_noise_fails_where_base_2_passes() -> None:
    for search, least in ((carried_split, 1.4), (coded_split, 1.1)):
        _, witness = scaled_split(5, 1.0, "natural", search)
        assert witness.epsilon > least


ORDER = -(2**10 - 33) * math.log(2.0)


def test_uniform_windows_hide_only_rare_events() -> None:
    rare = in_window(Event("", -3000.0, -2999.0), 2**10, ORDER)
    assert rare.epsilon < 1e-9
    likely = in_window(Event("", -20.0, -19.0), 2**10, ORDER)
    assert likely.epsilon == pytest.approx(1.0, abs=1e-9)
    assert likely.epsilon <= 1.0


def test_rows_of_both_kinds() -> None:
    rows = list(gdp_ncb_rows((1.0,), (10**4,), (3, 5), 2**12))
    assert {row.statement for row in rows} == {"AUD-13", "AUD-14", "AUD-15"}
    assert max(row.ratio for row in rows if row.statement == "AUD-15") <= 1.0
    assert max(row.ratio for row in rows if row.statement == "AUD-13" and row.scaled) > 1.1
    stopped = list(stop_test_rows((0.2,), (10**7,), (16, 64), 2**24))
    assert all(row.ratio > 1.0 for row in stopped)
    [published] = [row for row in stopped if not row.scaled and row.algorithm == "gdp-ncb"]
    assert published.ratio == pytest.approx(1.0018205, abs=1e-7)
    assert published.log10_alpha == pytest.approx(-1_390_984.14, abs=0.01)
    threshold = math.floor(published_threshold(10**7, 0.2))
    assert f"rounds 1 to {2 * (threshold - 81) + 1} are" in published.event


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.6, math.log(2.0), 0.7, 2.0])
@pytest.mark.parametrize("threshold", [40.0, 40.3, 2_310_444.6])
def test_one_pull_less_than_the_least_refutes_nothing(threshold: float, epsilon: float) -> None:
    scale = 6.0 / epsilon
    pulls = least_pulls(threshold, scale, epsilon)
    assert exploration_witness(threshold, scale, pulls).epsilon > epsilon
    below = exploration_witness(threshold, scale, pulls - 1).epsilon
    assert below <= epsilon * (1.0 + 1e-9)
