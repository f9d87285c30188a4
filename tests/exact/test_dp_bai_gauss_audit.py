"""The exact audit of DP-BAI-Gauss: in many digits, by scans and simulations, with controls.

Simulations have fixed seeds and are compared within 4.5 standard errors.
"""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

import dpbandits
from dpbandits import InputError, privacy
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.auditing.best_arm import WITNESS, deviation, gaussian_witness, witness_pulls
from dpbandits.papers.dp_bai.privacy import DELTAS, EPSILONS, LARGER_EPSILONS


def excess(epsilon: float, m: float, s: float) -> mpmath.mpf:
    """Return Phi(-s m) - exp(epsilon) Phi(-(s + 1) m) in 40 digits."""
    with mpmath.workdps(40):
        far = mpmath.ncdf(-(mpmath.mpf(s) + 1) * m)
        return mpmath.ncdf(-mpmath.mpf(s) * m) - mpmath.exp(epsilon) * far


def needed_delta(epsilon: float, sigma: float, pulls: int, **kind: bool) -> float:
    return gaussian_witness(epsilon, sigma, pulls, **kind).delta(epsilon)  # type: ignore[arg-type]


def test_needed_delta_in_one_dimension_is_the_maximum_over_tables() -> None:
    for epsilon, delta in ((0.5, 0.01), (5.0, 0.3), (10.0, 0.1), (20.0, 1e-5)):
        m = 1.0 / deviation(epsilon, delta, "classical")
        expected = max(max(excess(epsilon, m, s) for s in range(60)), mpmath.mpf(0))
        found = needed_delta(epsilon, 1.0 / m, 60, two_sums=False, binary=True)
        assert found == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("two_sums", [True, False])
def test_needed_delta_is_a_scan_over_tables(two_sums: bool, binary: bool) -> None:
    """Both outputs, neighbours in both directions, sums 0..n; in between on a grid of 1/400."""
    pulls, step = 6, 1.0 if binary else 1 / 400
    for epsilon, delta in ((1.0, 0.3), (5.0, 0.3), (8.0, 0.5), (20.0, 0.9)):
        sigma = deviation(epsilon, delta, "classical")
        low = -pulls if two_sums else 0
        sums = np.arange(low, pulls - 1 + step / 2, step)
        scale = sigma * (math.sqrt(2.0) if two_sums else 1.0)
        wins = [norm.cdf(sums / scale), norm.cdf((sums + 1) / scale)]
        loses = [norm.sf(sums / scale), norm.sf((sums + 1) / scale)]
        scans = [p - math.exp(epsilon) * q for p, q in (wins, wins[::-1], loses, loses[::-1])]
        expected = max(float(np.max(scans)), 0.0)
        found = needed_delta(epsilon, sigma, pulls, two_sums=two_sums, binary=binary)
        assert found == pytest.approx(expected, abs=1e-9 if binary else 1e-4)


def test_needed_delta_is_at_most_that_of_the_released_sum() -> None:
    """Deciding by a released sum is post-processing: Gaussian DP with eta = 1 / deviation."""
    for epsilon, delta in itertools.product((*EPSILONS, *LARGER_EPSILONS), DELTAS):
        for calibration in ("classical", "analytic"):
            sigma = deviation(epsilon, delta, calibration)
            limit = privacy.delta(epsilon, 1.0 / sigma)
            found = needed_delta(epsilon, sigma, 5000, two_sums=False, binary=False)
            assert found <= limit * (1 + 1e-9)
            if calibration == "analytic":
                assert limit == pytest.approx(delta, rel=1e-9)


def test_the_classical_calibration_holds_below_1_and_fails_far_above() -> None:
    """BAI-E9: proved for epsilon < 1. Ours: at 5 some table of [0, 1] needs 0.3035 > 0.3."""
    for delta in DELTAS:
        sigma = deviation(0.5, delta, "classical")
        assert needed_delta(0.5, sigma, 5000, two_sums=False, binary=False) < delta / 5
    sigma = deviation(5.0, 0.3, "classical")
    assert needed_delta(5.0, sigma, 11, two_sums=False, binary=True) < 0.3
    found = needed_delta(5.0, sigma, 11, two_sums=False, binary=False)
    assert found == pytest.approx(0.303538, abs=1e-6)
    best = 5.0 * sigma**2 - 0.5
    assert 0.0 < best < 1.0
    assert found == pytest.approx(float(excess(5.0, 1.0 / sigma, best)), rel=1e-9)
    sigma = deviation(10.0, 0.1, "classical")
    assert needed_delta(10.0, sigma, 11, two_sums=False, binary=True) > 0.4


def test_rewards_of_0_and_1_are_enough_at_some_delta() -> None:
    """At epsilon = 5 and delta = 0.4, off the grid, the sums 0 and 1 need 0.4313."""
    sigma = deviation(5.0, 0.4, "classical")
    found = needed_delta(5.0, sigma, 11, two_sums=False, binary=True)
    assert found == pytest.approx(float(excess(5.0, 1.0 / sigma, 0)), rel=1e-9)
    assert found == pytest.approx(0.431299, abs=1e-6)


def test_too_little_gaussian_noise_is_caught() -> None:
    """Negative control: a third of the classical deviation at epsilon = 0.5."""
    for delta in (1e-5, 0.01, 0.1):
        sigma = deviation(0.5, delta, "classical") / 3
        assert needed_delta(0.5, sigma, 5000, two_sums=False, binary=True) > delta


# The witness: three arms with features u, u/2, u/4.


def play(first: list[float], noise: float, budget: int, runs: int, seed: int) -> np.ndarray:
    """Return the arm that the second phase pulls, by Algorithm 2 step by step on one table.

    Written anew from the algorithm: sizes by Equations 4 to 8, a Max-Det collection of one arm by
    the longest feature, the two arms with the largest private means kept.

    Args:
        first: rewards of the first phase's pulls of arm 0.
        noise: deviation of the noise on a mean, times its pulls.
        budget: T.
        runs: number of runs.
        seed: of the noise.
    """
    features = np.array(WITNESS)[:, 0]
    pulls = -(-(budget - 4) // 2)
    assert len(first) == pulls
    generator = np.random.default_rng(seed)
    private = np.mean(first) + noise / pulls * generator.standard_normal(runs)
    estimates = private[:, None] * features / features[0]
    kept = np.argsort(-estimates, axis=1)[:, :2]
    return np.asarray(kept[np.arange(runs), features[kept].argmax(axis=1)])


def test_the_witness_has_the_phases_that_it_is_said_to_have() -> None:
    """Sizes 3, 2, 1 with lambda = e; four pulls are set aside; all means in [0, 1], one best."""
    schedule = phase_schedule(3, 2)
    assert schedule.sizes == (3, 2, 1)
    assert schedule.shrinkage == pytest.approx(math.e)
    assert (schedule.phases, schedule.early_phases, schedule.reserved) == (2, 2, 4)
    assert [witness_pulls(budget) for budget in (7, 12, 10_002)] == [2, 4, 4999]
    means = np.array(WITNESS) @ [1.0, 0.0]
    assert means.tolist() == [1.0, 0.5, 0.25]
    with pytest.raises(InputError, match="budget is 4; allowed: above 4"):
        witness_pulls(4)


@pytest.mark.parametrize(("delta", "s"), [(0.38, 0.0), (0.3, 0.0706)])
def test_the_delta_that_the_witness_needs_is_that_of_simulated_runs(delta: float, s: float) -> None:
    """Two neighbouring tables, four million runs each at epsilon = 5 and T = 7.

    The need is P(second phase pulls arm 2 | x) - e^5 P(the same | x'), which at delta = 0.38 has a
    standard error of about 0.002 over delta 0.38: that it exceeds delta is seen by simulation too.
    """
    runs, sigma = 4_000_000, deviation(5.0, delta, "classical")
    tables = [s, 0.0], [s, 1.0]
    pulled = [play(table, sigma, 7, runs, seed) for seed, table in enumerate(tables)]
    shares = [float((arms == 1).mean()) for arms in pulled]
    errors = [math.sqrt(share * (1 - share) / runs) for share in shares]
    need = shares[0] - math.exp(5.0) * shares[1]
    error = math.hypot(errors[0], math.exp(5.0) * errors[1])
    expected = norm.cdf(-s / sigma) - math.exp(5.0) * norm.cdf(-(s + 1.0) / sigma)
    exact = needed_delta(5.0, sigma, witness_pulls(7), two_sums=False, binary=False)
    assert expected == pytest.approx(exact, rel=1e-4)
    assert abs(need - expected) < 4.5 * error
    assert {0, 1} == set(pulled[0].tolist())
    if delta == 0.38:
        assert need - 4.5 * error > delta


def test_simulated_runs_would_show_another_noise() -> None:
    """Negative control: noise for epsilon = 4.9 at the same tables is told apart."""
    runs, sigma = 4_000_000, deviation(5.0, 0.38, "classical")
    pulled = play([0.0, 1.0], deviation(4.9, 0.38, "classical"), 7, runs, 3)
    share = float((pulled == 1).mean())
    assert abs(share - norm.cdf(-1.0 / sigma)) > 4.5 * math.sqrt(share * (1 - share) / runs)


def test_the_kernel_plays_the_witness_so() -> None:
    """Rewards of arm 1 are all 1: it is returned where both of its noisy means are above 0."""
    epsilon, delta, runs = 0.6, 0.3, 20_000
    found = dpbandits.identify(
        algorithm="dp-bai-gauss",
        params={"epsilon": epsilon, "delta": delta},
        bandit=dpbandits.linear(WITNESS, [1.0, 0.0], law="bernoulli"),
        budget=7,
        runs=runs,
        seed=5,
    )
    sigma = deviation(epsilon, delta, "classical")
    chance = norm.cdf(2.0 / sigma) ** 2
    assert (found.pulls[:, 0] >= 2).all()
    second = (found.pulls[:, 0] == 4).mean()
    for share, expected in ((found.success.mean(), chance), (second, norm.cdf(2.0 / sigma))):
        assert abs(share - expected) < 4.5 * math.sqrt(expected * (1 - expected) / runs)


def test_unknown_calibration_is_refused() -> None:
    with pytest.raises(InputError, match="calibration is 'other'; allowed: classical, analytic"):
        deviation(1.0, 0.1, "other")
