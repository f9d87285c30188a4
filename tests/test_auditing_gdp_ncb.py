"""The exact witnesses on the privacy of GDP-NCB (NCB-C15): by hand, in many digits, by plays.

They are derived in docs/audit.md; more plays are in `tests/law`. Binomial tests have
fixed seeds and reject correct code once in ten thousand times at most each.
"""

import math
import re
from dataclasses import replace
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import dpbandits
from agreement import GivenArms, Table
from dpbandits.algorithms import REGRET, gdp_ncb
from dpbandits.auditing.events import Event
from dpbandits.auditing.gdp_ncb import (
    CODED,
    carried_episodes,
    carried_rules,
    carried_witness,
    exploration_witness,
    in_window,
    least_pulls,
    release_witness,
)
from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.analytic import CODED_HORIZONS
from dpbandits.privacy.witnesses import (
    ALPHA,
    C,
    PhaseTwo,
    as_coded,
    deciding_releases,
    explored,
    log_cdf,
    published_threshold,
    stop_rules,
)
from shared import ExactResults
from support import settings_of

GDP = REGRET["gdp-ncb"]
LINE = 1e-4


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
        return len(carried_episodes(rules, other, own))
    level = rules.index(0.0, other + 1)
    able = [length for length in rules.episodes() if rules.index(1.0, own + length) > level]
    return len(able) + 1


def played(case: str, rules: PhaseTwo, split: tuple[int, int], changed: bool, runs: int) -> int:
    """Count the runs of the reference in which the changed arm has all these episodes.

    With fewer pulls it is arm 2 as coded, which loses ties, and arm 1 where means are carried.
    """
    other, own = split
    bandit = dpbandits.bernoulli([0.5, 0.5])
    chosen = GDP.interpretations_from(CASES[case])
    settings = settings_of(GDP, {"epsilon": rules.epsilon}, chosen, bandit, rules.horizon)
    noise = np.random.default_rng(11 + changed)
    rewards = (float(changed), *[0.0] * (own - 1), *episode_rewards(rules, other, own))
    mine = 0 if case == "carried" else 1
    wanted, count = decisions(case, rules, other, own), 0
    for _ in range(runs):
        table: Any = Table(tuple(rewards if arm == mine else (0.0,) for arm in (0, 1)))
        draws: Any = GivenArms([mine] * own + [1 - mine] * other, noise)
        chunks = islice(GDP.reference(settings, table, draws), rules.rounds + wanted)
        count += 1 - mine not in [arm for arm, _, _ in chunks][rules.rounds :]
    return count


CASES = {
    **{variant: GDP.presets[variant] for variant in ("as-coded", "repaired")},
    "carried": {"cap": "root", "stop_test": "off", "release_log": "base2"},
}


@pytest.mark.slow
def test_the_reference_plays_the_event_as_often() -> None:
    """The changed arm has a pull less than the other one, so that it comes first."""
    split, runs = (8, 7), 6000
    for case, changed in product(CASES, [False, True]):
        make, search = as_coded, release_witness
        if case == "carried":
            make, search = carried_rules, carried_witness
        rules = make(200, 2.0, "natural" if case == "as-coded" else "base2")
        # Negative control: half the noise.
        halved = replace(rules, noise_log=0.5 * rules.noise_log)
        found = [search(each, *split) for each in (rules, halved)]
        right, wrong = (math.exp(each.log_q if changed else each.log_p) for each in found)
        count = played(case, rules, split, changed, runs)
        assert 100 < count < runs - 100
        assert stats.binomtest(count, runs, right).pvalue > LINE
        assert stats.binomtest(count, runs, wrong).pvalue < LINE


@pytest.mark.slow
def test_the_integral_over_the_other_arm_is_adaptive_quadrature() -> None:
    rules = carried_rules(1000, 2.0, "natural")
    other, changed = 15, 17
    sigma = rules.scale / other
    pulls = [changed, *(changed + length for length in rules.episodes())]
    witness = carried_witness(rules, other, changed)
    consulted = len(carried_episodes(rules, other, changed))
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

    def weighted(mean: float, added: float) -> float:
        return accepted(mean, added) * stats.laplace.pdf(mean / sigma) / sigma

    chances = []
    for added in (0.0, 1.0):
        inside = integrate.quad(weighted, 0.0, 1.0, (added,), limit=300, epsabs=1e-14)[0]
        ends = accepted(0.0, added) / 2.0 + accepted(1.0, added) * stats.laplace.sf(1.0 / sigma)
        chances.append(inside + ends)
    assert math.exp(witness.log_p) == pytest.approx(chances[0], rel=1e-6)
    assert witness.epsilon == pytest.approx(math.log(chances[1] / chances[0]), rel=1e-5)


def test_small_constants_attain_the_number_of_releases() -> None:
    """Each release costs epsilon / ln T; doublings are counted by a base-2 logarithm."""
    for doublings in (3, 5, 8):
        rules, witness = CODED.scaled(doublings, 1.0)
        other, changed = map(int, witness.place)
        assert len(deciding_releases(rules, other, changed)) == doublings
        most = doublings / math.log(rules.horizon)
        assert 0.9 * most < witness.epsilon <= most * (1.0 + 1e-9)
    assert witness.epsilon > 1.2


def test_uniform_windows_hide_only_rare_events() -> None:
    order = -(2**10 - 33) * math.log(2.0)
    assert in_window(Event("", -3000.0, -2999.0), 2**10, order).epsilon < 1e-9
    likely = in_window(Event("", -20.0, -19.0), 2**10, order)
    assert 1.0 - 1e-9 <= likely.epsilon <= 1.0


def test_one_pull_less_than_the_least_refutes_nothing() -> None:
    for threshold, epsilon in product([40.0, 40.3, 231_044.6], [0.05, 0.6, math.log(2.0), 2.0]):
        scale = 6.0 / epsilon
        pulls = least_pulls(threshold, scale, epsilon)
        fewer, least = (exploration_witness(threshold, scale, pulls - n).epsilon for n in (1, 0))
        assert fewer <= epsilon * (1.0 + 1e-9)
        assert least > epsilon


FRAMES = ExactResults("dp-ncb")
PAGE = Path(__file__).parents[1] / "docs/audit.md"


def coded(horizon: int, epsilon: float) -> tuple[PhaseTwo, int, int]:
    """Return the rules of the code and the pulls of Phase I."""
    rules = as_coded(horizon, epsilon)
    return rules, *explored(rules.rounds)


def test_the_constants_are_those_of_the_kernel() -> None:
    assert (C, ALPHA) == (gdp_ncb.C, gdp_ncb.ALPHA)


def cdf(x: mpmath.mpf) -> mpmath.mpf:
    """The standard Laplace distribution function."""
    return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2


def test_the_product_telescopes() -> None:
    for pulls, threshold in product([1, 3, 50, 90], [2.5, 7.0, 60.0]):
        with mpmath.workdps(40):
            logs = [mpmath.log(cdf((threshold - i) / mpmath.mpf(4))) for i in range(pulls + 1)]
            steps = [before - after for before, after in pairwise(logs)]
            expected = float(mpmath.fsum(steps))
        found = exploration_witness(threshold, 4.0, pulls).epsilon
        assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("horizon", "offset"), [(10**7, -81), (10**8, -92)])
def test_the_least_that_refutes_as_written(horizon: int, offset: int) -> None:
    """The fewest pulls at which the loss exceeds epsilon; one fewer does not, by high precision."""
    log = mpmath.log(horizon)
    threshold = 1600 * (9 * log + 5 * log**2)
    losses = [
        -mpmath.log(cdf((threshold - int(threshold) - offset + fewer) / (5 * log))) * 5
        for fewer in (0, 1)
    ]
    assert losses[1] <= 1.0 < losses[0]
    row = FRAMES.rows("privacy-witnesses", horizon=horizon, quantity="least")
    assert row["x"].item() == offset
    assert row["y"].item() == pytest.approx(float(losses[0]), rel=1e-8)


def test_the_loss_as_written_is_above_any_epsilon() -> None:
    """It grows by epsilon / L with each pull; n may be as large as (T - 1) / 2."""
    threshold, scale = published_threshold(1e7, 0.2), math.log(1e7) / 0.2
    found = exploration_witness(threshold, scale, (10**7 - 1) // 2)
    assert found.epsilon / 0.2 == pytest.approx(166_855, rel=1e-3)
    # From n = TH on it is above epsilon for every epsilon below ln 2.
    for epsilon in (0.1, 0.69):
        threshold, scale = published_threshold(1e7, epsilon), math.log(1e7) / epsilon
        assert exploration_witness(threshold, scale, math.ceil(threshold)).epsilon > epsilon


def test_uniform_windows_do_not_hide_the_loss_of_the_anytime_version() -> None:
    """1.003 epsilon at n = TH - 84, 1.92 at most; at TH the uniform windows are likelier."""
    window, epsilon = 2**24, 0.2
    rules = stop_rules(window, epsilon)
    near = math.floor(rules[0])
    losses = {
        offset: in_window(exploration_witness(*rules, near + offset), window).epsilon / epsilon
        for offset in (-85, -84, -70, -50, *range(-38, -31), -20, -10, 0)
    }
    assert losses[-85] < 1.0 < losses[-84]
    assert losses[-84] == pytest.approx(1.0032, abs=5e-5)
    assert max(losses.values()) == losses[-35]
    assert losses[-35] == pytest.approx(1.919, abs=5e-4)
    assert losses[0] < 1e-5
    assert 2 * near + 1 < window


def test_the_loss_as_written_does_not_hang_on_base_or_clip() -> None:
    """docs/audit.md, "What does not change it"."""
    for horizon in (10**7, 10**8):
        log = math.log2(horizon)
        threshold = 1600.0 * (9.0 * log + log**2 / 0.2)
        found = exploration_witness(threshold, log / 0.2, math.floor(threshold) + 100)
        assert found.epsilon / 0.2 > 7.0
        # With means clipped to [0, 1] in the test, those at sums up to TH cannot stop the phase.
        threshold, scale = published_threshold(horizon, 0.2), math.log(horizon) / 0.2
        sums = math.floor(threshold) + np.arange(1, 101)
        after, before = (log_cdf((threshold - sums + fewer) / scale) for fewer in (0, 1))
        assert float(np.sum(before - after)) / 0.2 > 5.0


@pytest.mark.parametrize(("horizon", "epsilon"), [(10**6, 2.0), (10**8, 0.2)])
def test_what_is_needed_is_where_the_kernel_turns(horizon: int, epsilon: float) -> None:
    """At the needed mean the kernel's index of arm 2 is that of arm 1; just above it is larger."""
    bandit = dpbandits.bernoulli([0.5, 0.5])
    interpretations = GDP.interpretations_from({}, "as-coded")
    settings = settings_of(GDP, {"epsilon": epsilon}, interpretations, bandit, horizon)
    window = gdp_ncb.open_window(settings, horizon)
    first, second = explored(math.isqrt(horizon) + 1)
    assert first + second == window.cap
    for each in deciding_releases(*coded(horizon, epsilon)):
        state = GDP.state(2)
        state.explored[:], state.episodes[:] = (first, second), (1, each.length)
        state.private_means[:] = 0.0, each.needed / (second + each.length)
        one, two = gdp_ncb._indices(settings, window, state)
        assert two == pytest.approx(one, rel=1e-12)
        state.private_means[1] += 1e-6
        one, two = gdp_ncb._indices(settings, window, state)
        assert two > one
        assert 0.0 <= each.rewards <= each.length


def test_the_kernel_begins_phase_two_with_arm_2_and_loses_ties() -> None:
    for horizon in CODED_HORIZONS:
        rules, first, second = coded(horizon, 0.2)
        assert rules.rounds == theory.capped_phase_one(horizon)
        other = rules.index(0.0, first + 1)
        assert rules.index(0.0, second + 1) > other
        # The same number of pulls after the first episode: equal to the last bit.
        assert rules.index(0.0, second + 2) == other
        assert deciding_releases(*coded(horizon, 0.2))[0].needed == 0.0


def test_counts_of_phase_one() -> None:
    """501 and 500 pulls with arm 2 in round s: 1000 choose 499 of 2^1001."""
    expected = mpmath.binomial(1000, 499) / mpmath.mpf(2) ** 1001
    found = release_witness(*coded(10**6, 2.0)).log_shared
    assert math.exp(found) == pytest.approx(float(expected), rel=1e-9)


def test_the_bound_of_the_repaired_variant_is_at_most_1() -> None:
    """m + 1 <= log2(T - W + 2): episodes of 2, 4, ..., 2^m pulls take 2^(m+1) - 2 rounds."""
    for horizon in [2, 3, 7, 40, 1000, 12_345, 10**6, 2**20, 2**33 - 1, 10**10]:
        rounds = theory.capped_phase_one(horizon)
        releases, left = theory.releases(horizon, rounds), max(horizon - rounds, 0)
        assert 2 ** (releases + 1) - 2 <= left < 2 ** (releases + 2) - 2
        with_zeros = theory.composed_loss(horizon, rounds, release_log="base2")
        assert with_zeros <= (math.log2(left + 2) - 1.0) / math.log2(horizon) + 1e-12 < 1.0
        # One release more, where Phase II begins with means of Phase I.
        assert theory.composed_loss(horizon, rounds, 1.0, "base2") <= 1.0


@pytest.mark.slow
def test_the_tables_of_the_page() -> None:
    """Rows of T, epsilon, n or the number of releases, loss, log10 of probabilities."""
    rows = re.findall(
        r"^\| (1e\d) \| ([\d.]+) \| (\S.*?) \| ([\d.]+) \| (-[\d.]+) \|", PAGE.read_text(), re.M
    )
    assert len(rows) == 8
    for horizon, epsilon, third, loss, log10 in rows:
        found = FRAMES.rows("privacy-witnesses", horizon=float(horizon), epsilon=float(epsilon))
        x = float(horizon)
        if "TH" in third:
            x = float(third.replace("TH", "").replace(" ", "") or 0)
        else:
            assert int(third) == len(deciding_releases(*coded(int(x), float(epsilon))))
        row = found[(found["x"] == x) & found["quantity"].isin(["witnessed", "least"])]
        digits = len(loss.partition(".")[2])
        assert row["y"].item() == pytest.approx(float(loss), abs=0.51 * 10**-digits)
        assert row["log10_probability"].item() == pytest.approx(float(log10), abs=0.051)
