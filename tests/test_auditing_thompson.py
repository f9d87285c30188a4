"""The engines of Gaussian Thompson sampling: enumeration, quadrature, plays of the kernels.

Each of the 12 comparisons with the kernels is a chi-square test at 0.001/12, so that correct code
fails with probability 0.001 at most over the choice of seeds, which are fixed. Chances by hand
share nothing with the audit: running sums and batches, normal probabilities by norm of scipy.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import binom, norm

from agreement import chi_square, played_sequences, sequence_chances
from dpbandits.auditing.events import Event
from dpbandits.auditing.inputs import constant, hold
from dpbandits.auditing.lattice import (
    LossLaw,
    best_threshold,
    delta_at,
    epsilon_at,
    loss_law,
    loss_law_many,
)
from dpbandits.auditing.thompson import (
    ABANDONED,
    OTHER_PULLS,
    PULLS,
    Sampler,
    abandoned_arm,
    dp_ts_ucb,
    log_chance,
    log_ndtr_of_one,
    modified_ts,
    score_shift,
    simulate,
    simulated_threshold,
    ts_gaussian,
    worst_decision,
)
from support import mostly_slow

GOLDEN = 0.618034
"""Step of the audit's dither, which is a convention."""


def thompson_steps(
    arms: Sequence[int], rewards: np.ndarray, b: int, c: float, prior: int
) -> Iterator[float]:
    """Yield the chance of each decision of a sequence after ``b`` forced pulls of both arms."""
    pulls = [b, b]
    sums = [float(rewards[arm, :b].sum()) for arm in range(2)]
    for arm in arms:
        counts = [pulls[i] + prior for i in range(2)]
        centres = [sums[i] / counts[i] for i in range(2)]
        deviation = math.sqrt(c / counts[0] + c / counts[1])
        yield float(norm.cdf((centres[arm] - centres[1 - arm]) / deviation))
        sums[arm] += rewards[arm, pulls[arm]]
        pulls[arm] += 1


def batch_steps(arms: Sequence[int], rewards: np.ndarray, variance: float) -> Iterator[float]:
    """Yield the chance of each decision of DP-TS-UCB after one pull of both arms."""
    means = [float(rewards[arm, 0]) for arm in range(2)]
    sizes, waiting, taken = [1, 1], [[], []], [1, 1]  # type: ignore[var-annotated]
    for arm in arms:
        deviation = math.sqrt(variance / sizes[0] + variance / sizes[1])
        yield float(norm.cdf((means[arm] - means[1 - arm]) / deviation))
        waiting[arm].append(rewards[arm, taken[arm]])
        taken[arm] += 1
        if len(waiting[arm]) == 2 * sizes[arm]:
            sizes[arm] = len(waiting[arm])
            means[arm] = float(np.mean(waiting[arm]))
            waiting[arm] = []


def enumerated(steps, tables: np.ndarray, decisions: int, step: float):  # type: ignore[no-untyped-def]
    """Return chances under x and x' and the rounded ratio of every arm sequence."""
    p, q, cells = [], [], []
    for arms in itertools.product(range(2), repeat=decisions):
        chances = [list(steps(arms, table)) for table in tables]
        cell, dither = 0, 0.0
        for one, other in zip(*chances, strict=True):
            dither = (dither + GOLDEN) % 1.0
            cell += math.floor((math.log(other) - math.log(one)) / step + dither)
        p.append(math.prod(chances[0]))
        q.append(math.prod(chances[1]))
        cells.append(cell)
    return np.array(p), np.array(q), np.array(cells)


def steps_of(b: int, c: float, count: str) -> Any:
    """Return what computes the chances of the steps of Modified TS."""
    forced, prior = (b, 1) if count == "n+1" else (max(b, 1), 0)
    return lambda arms, rewards: thompson_steps(arms, rewards, forced, c, prior)


def batches_of(alpha: float, horizon: int) -> Any:
    """Return what computes the chances of the steps of DP-TS-UCB."""
    return lambda arms, rewards: batch_steps(arms, rewards, math.log(horizon) ** alpha)


TS_STEPS = steps_of(0, 1.0, "n+1")


def largest_mu(p: np.ndarray, q: np.ndarray) -> float:
    """Return the largest mu over thresholds on the exact ratio."""
    order = np.argsort(q / p)
    alpha = np.cumsum(p[order][::-1])[::-1][1:]
    beta = np.cumsum(q[order])[:-1]
    return float((norm.isf(alpha) - norm.ppf(beta)).max())


RUNS, ROOT = 200_000, 20261122

CASES: dict[str, tuple[str, dict[str, Any], dict[str, str], Sampler, int]] = {
    "ts": ("ts-gaussian", {}, {}, ts_gaussian(5), 2),
    "ts 1/n": ("ts-gaussian", {}, {"count": "n"}, ts_gaussian(6, "n"), 2),
    "m-ts": ("m-ts-gaussian", {"b": 1, "c": 2.0}, {}, modified_ts(1, 2.0, 6), 2),
    "dp-ts-ucb": ("dp-ts-ucb", {"alpha": 0.5}, {}, dp_ts_ucb(0.5, 8), 2),
    "ts, 3 arms": ("ts-gaussian", {}, {}, ts_gaussian(4), 3),
    "dp-ts-ucb, 3 arms": ("dp-ts-ucb", {"alpha": 1.0}, {}, dp_ts_ucb(1.0, 7, 3), 3),
}
LINE = 0.001 / (2 * len(CASES))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("number", [0, 1])
def test_played_sequences_have_the_engines_chances(name: str, number: int) -> None:
    algorithm, parameters, interpretations, sampler, arms = CASES[name]
    tables = constant(0.0, 1.0, arms=arms).tables(sampler.rounds)
    counts = played_sequences(
        algorithm, parameters, interpretations, tables, number == 1, RUNS, ROOT
    )
    chances = sequence_chances(sampler, tables[number])
    assert math.fsum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    assert chi_square(counts, chances) > LINE


@pytest.mark.slow
def test_a_wrong_variance_is_seen() -> None:
    sampler = ts_gaussian(5)
    tables = constant(0.0, 1.0).tables(5)
    counts = played_sequences("ts-gaussian", {}, {}, tables, False, RUNS, ROOT)
    wrong = replace(sampler, variance_factor=1.2)
    assert chi_square(counts, sequence_chances(wrong, tables[0])) < LINE


CASES_CHOICE = {
    "far apart": ((0.0, 1.0, 2.0), (0.3, 0.1, 0.2)),
    "one narrow": ((0.5, 1.0, 0.9), (0.7, 0.01, 0.2)),
    "four": ((0.0, 0.4, 0.5, 0.2), (0.7, 0.1, 0.05, 0.5)),
}


def exact(arm: int, centres: np.ndarray, deviations: np.ndarray) -> float:
    """Return the log chance by adaptive quadrature with 16 digits."""
    mpmath.mp.dps = 16
    others = [i for i in range(centres.size) if i != arm]

    def integrand(u: mpmath.mpf) -> mpmath.mpf:
        chances = (mpmath.ncdf((u - centres[i]) / deviations[i]) for i in others)
        return mpmath.npdf(u, centres[arm], deviations[arm]) * mpmath.fprod(chances)

    steps = (-12, -5, -2, 0, 2, 5, 12)
    points = {float(m + s * k) for m, s in zip(centres, deviations, strict=True) for k in steps}
    return float(mpmath.log(mpmath.quad(integrand, sorted(points))))


@pytest.mark.parametrize("name", mostly_slow(CASES_CHOICE, "one narrow"))
def test_chances_are_those_of_adaptive_quadrature(name: str) -> None:
    centres, deviations = (np.array(values) for values in CASES_CHOICE[name])
    for arm in range(centres.size):
        found = log_chance(arm, centres, deviations)
        assert found == pytest.approx(exact(arm, centres, deviations), abs=1e-9)


def test_an_arm_is_abandoned_with_the_chance_by_hand() -> None:
    cases: list[tuple[Sampler, Any, list[int]]] = []
    for b, c, count in [(0, 1.0, "n+1"), (3, 0.4, "n+1"), (0, 2.0, "n"), (2, 5.0, "n")]:
        forced = max(b, 1) if count == "n" else b
        first = [] if forced else [0]
        arms = first + [1] * (40 - 2 * forced - len(first))
        cases.append((modified_ts(b, c, 40, count), steps_of(b, c, count), arms))
    for alpha in (0.0, 1.0):
        sampler = dp_ts_ucb(alpha, 30)
        cases.append((sampler, batches_of(alpha, 30), [1] * (sampler.rounds - 2)))
    for sampler, steps, arms in cases:
        found = abandoned_arm(sampler)
        tables = ABANDONED.tables(40)
        for log, table in zip((found.log_p, found.log_q), tables, strict=True):
            by_hand = sum(map(math.log, steps(arms, table)))
            assert log + found.log_shared == pytest.approx(by_hand, rel=1e-12)


def test_two_arms_have_the_normal_chance_however_small() -> None:
    found = log_chance(0, np.array([0.0, 60.0]), np.array([0.6, 0.8]))
    assert found == pytest.approx(float(mpmath.log(mpmath.ncdf(-60))), rel=1e-12)
    mpmath.mp.dps = 40
    for x in [-200.0, -37.5, -36.5, -5.0, 0.0, 4.9, 5.1, 8.0]:
        assert log_ndtr_of_one(x) == pytest.approx(float(mpmath.log(mpmath.ncdf(x))), rel=1e-9)


def test_lemma_3_is_attained_in_the_limit() -> None:
    for pulls in PULLS:
        levels = [score_shift(pulls, others) for others in (1, 10, 1_000, 10**9)]
        assert levels == sorted(levels)
        assert levels[-1] < 1.0 / math.sqrt(pulls + 1)
        assert levels[-1] == pytest.approx(1.0 / math.sqrt(pulls + 1), rel=1e-8)
    assert score_shift(0, 5) == 0.0


def test_the_worst_decision_is_that_of_a_search_over_rewards() -> None:
    for epsilon in (0.1, 1.3):
        needed = 0.0
        for pulls, others in itertools.product(PULLS, OTHER_PULLS):
            deviation = math.sqrt(1.0 / (pulls + 1) + 1.0 / (others + 1))
            # Sums of rewards of both arms; one reward of the first arm is 0 in x and 1 in x'.
            sums = np.linspace(0.0, pulls - 1.0, 301)[:, None]
            mean = np.linspace(0.0, others, 301)[None, :] / (others + 1)
            before, after = (((sums + more) / (pulls + 1) - mean) / deviation for more in (0, 1))
            for likely, unlikely in ((after, before), (-before, -after)):
                excess = norm.cdf(likely) - math.exp(epsilon) * norm.cdf(unlikely)
                needed = max(needed, float(excess.max()))
        found = worst_decision(epsilon).delta(epsilon)
        assert needed - 1e-12 <= found <= needed + 1e-5


STEP, WIDTH = 0.02, 30.0


M_TS = ((1, 2.0, "n+1"), (2, 0.5, "n+1"), (0, 1.0, "n"), (2, 3.0, "n"))
CASES_LATTICE: list[tuple[Sampler, Any]] = [
    *((ts_gaussian(rounds), TS_STEPS) for rounds in (2, 3, 5, 10)),
    *((modified_ts(b, c, 10, n), steps_of(b, c, n)) for b, c, n in M_TS),
    *((dp_ts_ucb(alpha, 9), batches_of(alpha, 9)) for alpha in (0.0, 0.5, 1.0)),
]


@pytest.mark.slow
def test_lattice_equals_enumeration() -> None:
    middle = round(WIDTH / STEP)
    for sampler, steps in CASES_LATTICE:
        pair = hold(0.7, sampler.rounds)
        decisions = sampler.rounds - 2 * sampler.forced_pulls
        p, q, cells = enumerated(steps, pair.tables(sampler.rounds), decisions, STEP)
        law = loss_law(sampler, pair, step=STEP, width=WIDTH)
        for masses, chances in ((law.p, p), (law.q, q)):
            expected = np.bincount(cells + middle, weights=chances, minlength=masses.size)
            np.testing.assert_allclose(masses, expected, rtol=0.0, atol=1e-13, err_msg=str(sampler))


def test_a_fine_lattice_has_the_mu_of_the_exact_ratio() -> None:
    for rounds in (2, 9):
        pair = constant(0.0, 1.0)
        p, q, _ = enumerated(TS_STEPS, pair.tables(rounds), rounds, STEP)
        law = loss_law(ts_gaussian(rounds), pair, step=2e-4, width=5.0)
        excess = np.maximum(q - math.exp(0.5) * p, 0.0).sum()
        for exact, found in (
            (largest_mu(p, q), best_threshold(law, 1e-12).mu),
            (excess, delta_at(law, 0.5)),
        ):
            assert exact - 1e-3 < found <= exact + 1e-12


def test_absorbing_cells_lose_no_mass_and_gain_no_loss() -> None:
    sampler, pair = ts_gaussian(60), constant(0.0, 1.0)
    whole = best_threshold(loss_law(sampler, pair)).mu
    limits: list[dict[str, Any]] = [{"width": 0.5}, {"most_pulls": 3}]
    for law in (loss_law(sampler, pair, **each) for each in limits):
        assert [law.p.sum(), law.q.sum()] == pytest.approx([1.0, 1.0], abs=1e-12)
        assert 0.0 < best_threshold(law).mu < whole + 1e-3


@pytest.mark.parametrize(
    ("sampler", "arms"),
    [(ts_gaussian(300), 2), (modified_ts(20, 0.5, 200), 2), (ts_gaussian(12), 3)],
)
def test_masses_sum_to_one_and_equal_inputs_have_no_loss(sampler: Sampler, arms: int) -> None:
    make = loss_law if arms == 2 else loss_law_many
    pair = constant(0.25, 1.0, arms=arms)
    law = make(sampler, pair)
    assert [law.p.sum(), law.q.sum()] == pytest.approx([1.0, 1.0], abs=1e-12)
    null = make(sampler, replace(pair, second=pair.first))
    assert best_threshold(null).mu == delta_at(null, 0.0) == epsilon_at(null, 1e-6) == 0.0


def test_both_lattices_agree_on_two_arms() -> None:
    for rounds in (3, 9):
        case = ts_gaussian(rounds), hold(1.0, rounds)
        one, other = (make(*case, step=STEP, width=3.0) for make in (loss_law, loss_law_many))
        np.testing.assert_allclose([one.p, one.q], [other.p, other.q], rtol=0.0, atol=1e-13)


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


SEEDS, ROUNDS = 1_000, 6
MOST_ERRORS = int(binom.ppf(0.999, SEEDS, 0.05))
PAIR, SAMPLER = hold(1.0, ROUNDS), ts_gaussian(ROUNDS)
P, Q, _ = enumerated(TS_STEPS, PAIR.tables(ROUNDS), ROUNDS, 1.0)
TRUE_MU = largest_mu(P, Q)


def ratios(generator: np.random.Generator, runs: int, law: np.ndarray) -> np.ndarray:
    """Draw outputs of a law over all sequences; return their exact log-likelihood ratios."""
    drawn = generator.choice(law.size, runs, p=law / law.sum())
    return np.asarray(np.log(Q / P)[drawn])


def certified(under_p: np.ndarray, under_q: np.ndarray) -> float:
    """Return the bound on mu of the threshold that is chosen."""
    _, log_p, log_q, _ = simulated_threshold(under_p, under_q)
    return Event("", log_p, log_q).mu if log_q > log_p else 0.0


def test_a_threshold_is_certified_on_runs_that_did_not_choose_it() -> None:
    assert certified(np.zeros(2_000), np.repeat([1.0, 0.0], 1_000)) == 0.0


def test_simulated_ratios_are_exact() -> None:
    three = ts_gaussian(3), hold(0.5, 3, arms=3)
    tables = three[1].tables(3)
    laws = [np.array([*sequence_chances(three[0], table).values()]) for table in tables]
    for (sampler, pair), law in (((SAMPLER, PAIR), [P, Q]), (three, laws)):
        ratios = np.round(np.log(law[1] / law[0]), 8)
        for second in (False, True):
            drawn = simulate(sampler, pair, 5_000, np.random.default_rng(1), second=second)
            chances: Any = {each: law[second][ratios == each].sum() for each in ratios.tolist()}
            counts: Any = Counter(np.round(drawn, 8).tolist())
            assert chi_square(counts, chances) > 1e-3


@pytest.mark.slow
def test_certificates_err_as_often_as_stated_at_most() -> None:
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([3, seed])
        found.append(certified(*(ratios(generator, 400, law) for law in (P, Q))))
    assert (np.array(found) > TRUE_MU).sum() <= MOST_ERRORS
    assert np.mean(found) > 0.2 * TRUE_MU


def test_equal_inputs_give_zero() -> None:
    """A statistic without meaning in the place of the ratio."""
    draws = (np.random.default_rng([4, seed]).standard_normal((2, 400)) for seed in range(SEEDS))
    assert sum(certified(*noise) > 0.0 for noise in draws) <= MOST_ERRORS


def test_many_runs_come_close_to_the_truth() -> None:
    rng = np.random.default_rng(5)
    drawn = [simulate(SAMPLER, PAIR, 200_000, rng, second=second) for second in (False, True)]
    assert 0.9 * TRUE_MU < certified(*drawn) <= TRUE_MU * 1.02
