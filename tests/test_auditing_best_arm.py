"""The exact audit of dp-bai: other computations, many digits, simulations, the kernels, controls.

Simulations have fixed seeds and are compared within 4.5 standard errors (``agreement.near``).
"""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import norm

import dpbandits
from agreement import near
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.auditing.best_arm import (
    WITNESS,
    WORST,
    deviation,
    difference_chances,
    dp_od_scales,
    gaussian_witness,
    sign_chances,
    square_chances,
    three_arm_pulls,
    tree_chances,
    unit_vectors,
    witness_pulls,
)
from dpbandits.auditing.laplace import largest_loss, log_tail, log_tail_of_two
from support import refused

Values = NDArray[np.float64]

ROOT2 = math.sqrt(2.0)
DIAGONAL = unit_vectors(46.0, 224.0)


# Losses.


def test_one_dimension_uses_the_whole_epsilon() -> None:
    """By hand: equal to epsilon to 1e-12, at every T; 1.1 epsilon (BAI-E7)."""
    for pulls, epsilon, most in product([1, 3, 11], [0.1, 1.0, 5.0], [1.0, 1.1]):
        found = largest_loss(sign_chances(pulls, epsilon, most)).epsilon
        assert found == pytest.approx(most * epsilon, rel=1e-12)


def test_losses_of_two_sums_are_those_of_all_pairs() -> None:
    """Every pair of sums (s_1, s_2) and every neighbour, without reducing to differences."""
    pulls, epsilon, worst = 4, 0.7, 0.0
    for pair, other in product(product(range(pulls + 1), repeat=2), repeat=2):
        if sum(abs(a - b) for a, b in zip(pair, other, strict=True)) == 1:
            for sign in (1, -1):
                logs = [log_tail_of_two(sign * epsilon * (b - a)) for a, b in (pair, other)]
                worst = max(worst, abs(float(logs[0] - logs[1])))
    assert largest_loss(difference_chances(pulls, epsilon)).epsilon == pytest.approx(
        worst, rel=1e-12
    )


def test_too_little_noise_is_caught() -> None:
    """Negative control: noise for 2 epsilon at a claim of epsilon. Null: equal tables lose 0."""
    tree = tree_chances(3, (1, 2), 1.0)
    for chances in (difference_chances(5, 1.0), tree, logsumexp(tree, axis=0, keepdims=True)):
        assert largest_loss(chances).epsilon > 1.3 * 0.5
    assert largest_loss(np.log(np.full((2, 3, 3), 0.25))).epsilon == 0.0


def test_chances_of_two_phases_sum_to_one() -> None:
    """Arm 0 at table (s, t) has the chance that another arm has with the two tables exchanged."""
    chances = np.exp(logsumexp(tree_chances(3, (1, 2), 0.8), axis=0))
    for sums in product(*[range(2)] * 3, *[range(3)] * 3):
        turned = [np.roll(np.reshape(sums, (2, 3)), -arm, axis=1) for arm in range(3)]
        assert sum(chances[(*each.flat,)] for each in turned) == pytest.approx(1.0, abs=1e-12)


def test_pooled_samples_are_not_private() -> None:
    """A negative control, which a sound audit has to catch."""
    for arms in (3, 4):
        chances = tree_chances(arms, (1, 2), 1.0)
        sums = np.indices(chances.shape[1:], dtype=np.float64)
        for other in range(1, arms):
            first, second = sums[0] - sums[other], sums[arms] - sums[arms + other]
            # The second phase compares the sums of both.
            chances[other - 1] += log_tail_of_two(-first - second) - log_tail_of_two(-second)
        assert largest_loss(chances).epsilon > 1.2


# DP-OD.


@pytest.mark.parametrize(
    "features", [DIAGONAL, [[1.0, 0.3], [-0.2, 0.7]], [[2.0, 1.0], [2.0, 0.9]]]
)
def test_scales_are_those_of_least_squares(features: Values) -> None:
    """The scores' difference moves by <a_1 - a_2, V^{-1} xi> under noise xi."""
    matrix, pulls = np.asarray(features), 7
    inverse = np.linalg.inv(pulls * matrix.T @ matrix)
    moved = np.abs(pulls * (matrix[0] - matrix[1]) @ inverse)
    largest = np.linalg.norm(matrix, axis=1).max()
    assert dp_od_scales(features, "l2") == pytest.approx(tuple(moved * largest), rel=1e-9)


def limit_losses(norm: str) -> Values:
    """Return the limit 1 / (L max |w_k|) of the loss over epsilon by both angles, or NaN."""
    vectors = unit_vectors(*np.arange(360.0))
    lengths = np.linalg.norm(vectors, {"l1": 1, "l2": 2}[norm], axis=1)
    largest = np.maximum(lengths[:, None], lengths[None, :])
    total = vectors[:, None, :] + vectors[None, :, :]
    area = vectors[:, None, 0] * vectors[None, :, 1] - vectors[:, None, 1] * vectors[None, :, 0]
    independent = np.abs(area) > 1e-9
    weights = np.abs(total).max(axis=2) / np.where(independent, np.abs(area), 1.0)
    return np.where(independent, 1.0 / (largest * np.maximum(weights, 1e-300)), np.nan)


def test_worst_angles_are_near_antipodal_diagonals() -> None:
    """No pair of unit vectors can exceed sqrt 2 (l2) or 1 (l1)."""
    limits = {norm_name: limit_losses(norm_name) for norm_name in WORST}
    most = {norm_name: np.nanmax(each) for norm_name, each in limits.items()}
    assert ROOT2 * math.cos(math.radians(1.0)) - 1e-12 <= most["l2"] < ROOT2
    assert most["l1"] <= 1.0 + 1e-12
    for norm_name, (one, other) in WORST.items():
        assert limits[norm_name][int(one), int(other)] == pytest.approx(most[norm_name], rel=1e-12)
    # The limit is 1 over the larger scale.
    for one, other in ((46, 224), (10, 200), (0, 90)):
        expected = 1.0 / max(dp_od_scales(unit_vectors(one, other), "l2"))
        assert limits["l2"][one, other] == pytest.approx(expected, rel=1e-9)


def test_the_square_has_the_loss_of_the_audit_spec() -> None:
    """By hand: exactly sqrt(2) epsilon in l2, epsilon in l1; P = exp(-sqrt(2) n eps/L)/4."""
    for epsilon, pulls, (norm_name, ratio) in product(
        [0.1, 1.0, 5.0], [1, 4], [("l2", ROOT2), ("l1", 1.0)]
    ):
        found = largest_loss(square_chances(pulls, epsilon, norm_name))
        assert found.epsilon == pytest.approx(ratio * epsilon, rel=1e-12)
        least = -ROOT2 * pulls * epsilon - math.log(4.0)
        assert norm_name == "l1" or found.log_unlikely >= least - 1e-12


def success(algorithm: str, features: Values, means: list[int], budget: int) -> float:
    """Return the share of 20000 trials at epsilon = 0.7 that recommend the first arm."""
    matrix = np.asarray(features, dtype=np.float64)
    theta = np.linalg.lstsq(matrix[: len(means)], np.array(means, dtype=np.float64))[0]
    found = dpbandits.identify(
        algorithm=algorithm,
        params={"epsilon": 0.7},
        bandit=dpbandits.linear(matrix, theta.round(12), law="bernoulli"),
        budget=budget,
        runs=20_000,
        seed=3,
    )
    return float(found.success.mean())


def one_sum(pulls: int) -> float:
    """Return the chance that a sum of n rewards 1 stays above 0."""
    return 1.0 - float(np.exp(log_tail(pulls, 1.0 / 0.7)))


def two_sums(pulls: int, scales: tuple[float, float] = (1.0, 1.0)) -> float:
    """Return the chance that a sum of n rewards 1 stays ahead of a sum of zeros."""
    return 1.0 - float(np.exp(log_tail_of_two(pulls, scales[0] / 0.7, scales[1] / 0.7)))


KERNELS: list[tuple[str, Values, list[int], int, float]] = [
    ("dp-bai", np.eye(2), [1, 0], 6, two_sums(2)),
    ("baseline", np.eye(2), [1, 0], 5, two_sums(2)),
    ("dp-bai", np.array([[1.0], [0.0]]), [1, 0], 4, one_sum(3)),
    ("dp-od", np.diag([1.0, 3.0]), [1, 0], 8, two_sums(3, (3.0, 1.0))),
    ("dp-od", DIAGONAL, [1, 0], 6, two_sums(2, dp_od_scales(DIAGONAL, "l2"))),
    # Half the sum of two features has half the sum of their estimates: it is not pulled.
    (
        "dp-od",
        np.vstack([DIAGONAL, DIAGONAL.mean(axis=0)]),
        [1, 0],
        7,
        two_sums(three_arm_pulls(7), dp_od_scales(DIAGONAL, "l2")),
    ),
    ("dp-bai", np.array(WITNESS), [1], 7, one_sum(witness_pulls(7)) ** 2),
    (
        "dp-bai",
        np.eye(4),
        [1, 0, 0, 0],
        16,
        float(np.exp(logsumexp(tree_chances(4, (1, 2), 0.7)[:, 1, 0, 0, 0, 2, 0, 0, 0]))),
    ),
]


def test_engine_and_kernel_agree() -> None:
    """20000 trials each, within 4.5 standard errors: one of eight wrong once in 18000 times."""
    for *case, chance in KERNELS:
        assert near(success(*case), chance, 20_000)
    # Negative control: noise for 0.8 in place of 0.7.
    wrong = 1.0 - float(np.exp(log_tail_of_two(2 * 0.8)))
    assert not near(success(*KERNELS[0][:4]), wrong, 20_000)


def excess(epsilon: float, m: float, s: float) -> mpmath.mpf:
    """Return Phi(-s m) - exp(epsilon) Phi(-(s + 1) m) in 40 digits."""
    with mpmath.workdps(40):
        far = mpmath.ncdf(-(mpmath.mpf(s) + 1) * m)
        return mpmath.ncdf(-mpmath.mpf(s) * m) - mpmath.exp(epsilon) * far


def needed_delta(epsilon: float, sigma: float, pulls: int, **kind: bool) -> float:
    return gaussian_witness(epsilon, sigma, pulls, **kind).delta(epsilon)  # type: ignore[arg-type]


def test_needed_delta_is_a_scan_over_tables() -> None:
    """Both outputs, neighbours in both directions, sums 0..n; in between on a grid of 1/400."""
    for two_sums, binary in product([True, False], [True, False]):
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


def test_the_classical_calibration_holds_below_1_and_fails_far_above() -> None:
    """BAI-E9: proved for epsilon < 1. Ours: at 5 some table of [0, 1] needs 0.3035 > 0.3."""
    for delta in (1e-6, 1e-5, 0.01, 0.1, 0.2, 0.3, 0.38, 0.42, 0.5, 0.9):
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


def test_too_little_gaussian_noise_is_caught() -> None:
    """Negative control: a third of the classical deviation at epsilon = 0.5."""
    for delta in (1e-5, 0.01, 0.1):
        sigma = deviation(0.5, delta, "classical") / 3
        assert needed_delta(0.5, sigma, 5000, two_sums=False, binary=True) > delta


# The witness: three arms with features u, u/2, u/4.


def test_the_witness_has_the_pulls_of_two_phases() -> None:
    """Four pulls are set aside."""
    assert phase_schedule(3, 2).reserved == 4
    assert [witness_pulls(budget) for budget in (7, 12, 10_002)] == [2, 4, 4999]
    refused(lambda: witness_pulls(4), "budget is 4; allowed: above 4")


def test_the_kernel_plays_the_witness_so() -> None:
    """Rewards of arm 1 are all 1: it is returned where both of its noisy means are above 0."""
    found = dpbandits.identify(
        algorithm="dp-bai-gauss",
        params={"epsilon": 0.6, "delta": 0.3},
        bandit=dpbandits.linear(WITNESS, [1.0, 0.0], law="bernoulli"),
        budget=7,
        runs=20_000,
        seed=5,
    )
    chance = norm.cdf(2.0 / deviation(0.6, 0.3, "classical"))
    assert (found.pulls[:, 0] >= 2).all()
    assert near((found.pulls[:, 0] == 4).mean(), chance, 20_000)
    assert near(found.success.mean(), chance**2, 20_000)
