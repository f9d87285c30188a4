"""The exact privacy audit of dp-bai: against other computations, simulations and the kernels.

"spec" is the restatement of dp-bai, "audit spec" that of the audit. Simulations have fixed seeds
and are compared within 4.5 standard errors, which a right number misses once in 150000 times.
"""

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import laplace, norm

import dpbandits
from dpbandits import InputError, privacy
from dpbandits.algorithms.best_arm.g_optimal import g_optimal
from dpbandits.papers.dp_bai.audit import (
    difference_loss,
    dp_od_scales,
    largest_loss,
    sign_loss,
    square_loss,
    tree_chances,
    tree_loss,
)
from dpbandits.papers.dp_bai.gauss_audit import (
    DELTAS,
    EPSILONS,
    LARGER_EPSILONS,
    deviation,
    needed_delta,
)
from dpbandits.papers.dp_bai.instances import section5, two_armed
from dpbandits.papers.dp_bai.laplace import log_selection, log_tail, log_tail_of_two
from dpbandits.papers.dp_bai.privacy_tables import limit_losses, unit_vectors
from dpbandits.papers.dp_bai.pure_noise import (
    cone_chance,
    crossing,
    linear_limit,
    log_gauss_tail,
    uniform_limit,
)

Values = NDArray[np.float64]

ROOT2 = math.sqrt(2.0)
DIAGONAL = unit_vectors(46.0, 224.0)
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]) / ROOT2
TRIALS = 200_000


def near(found: float, expected: float, trials: int = TRIALS) -> bool:
    """Whether a share of trials is within 4.5 standard errors of a chance."""
    return abs(found - expected) < 4.5 * math.sqrt(expected * (1.0 - expected) / trials)


# Laws of the noise.


@pytest.mark.parametrize("c", [-40.0, -3.0, -1e-9, 0.0, 0.5, 8.0, 900.0])
def test_one_tail_is_that_of_scipy(c: float) -> None:
    assert log_tail(c, 2.0) == pytest.approx(laplace.logsf(c, scale=2.0), rel=1e-12)


@pytest.mark.parametrize("second", [1e-6, 0.3, 0.999, 1.0 - 1e-9, 1.0, 7.0])
def test_two_tails_are_those_of_the_audit_spec(second: float) -> None:
    """Audit spec 2.2, in 60 digits, where b1 - b2 does not cancel."""
    with mpmath.workdps(60):
        b1, b2 = mpmath.mpf(1), mpmath.mpf(second)
        for c in (0.0, 1e-3, 1.0, 10.0, 200.0):
            if second == 1.0:
                chance = mpmath.exp(-c) * (mpmath.mpf("0.5") + mpmath.mpf(c) / 4)
            else:
                parts = b1**2 * mpmath.exp(-c / b1) - b2**2 * mpmath.exp(-c / b2)
                chance = parts / (2 * (b1**2 - b2**2))
            assert log_tail_of_two(c, 1.0, second) == pytest.approx(
                float(mpmath.log(chance)), rel=1e-12
            )
            below = float(mpmath.log(1 - chance))
            # The complement of a chance near 1 keeps its absolute digits.
            assert log_tail_of_two(-c, second, 1.0) == pytest.approx(below, rel=1e-12, abs=1e-15)


def test_two_tails_are_a_quadrature() -> None:
    for c, first, second in ((0.7, 1.0, 0.4), (-1.5, 2.0, 2.0), (6.0, 0.5, 3.0)):

        def integrand(
            z: float, c: float = c, first: float = first, second: float = second
        ) -> float:
            return float(laplace.pdf(z) * laplace.sf((c - first * z) / second))

        kink = c / first
        ends = sorted([-60.0, 0.0, kink, 60.0])
        value = sum(quad(integrand, *pair, epsabs=1e-14)[0] for pair in itertools.pairwise(ends))
        assert np.exp(log_tail_of_two(c, first, second)) == pytest.approx(value, rel=1e-10)


def test_selection_of_one_of_two_is_a_difference() -> None:
    """Below -30 the complement in the closed form has lost its digits, not the integral."""
    for c in (-8.0, -0.3, 0.0, 2.0, 25.0, 300.0):
        expected = float(log_tail_of_two(c))
        assert log_selection([0.0], [c]) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_selections_are_all_there_is(kept: int) -> None:
    """Chances of all sets of survivors sum to 1, ties and far apart sums included."""
    for sums in ([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 25.0], [-2.0, 0.5, 3.0, 3.1]):
        values, total = np.array(sums), 0.0
        for high in itertools.combinations(range(4), kept):
            low = [arm for arm in range(4) if arm not in high]
            total += math.exp(log_selection(values[list(high)], values[low]))
        assert total == pytest.approx(1.0, abs=1e-12)


def test_selection_of_alike_sums_is_by_symmetry() -> None:
    for kept, lost in ((1, 3), (2, 2), (2, 1), (5, 5)):
        chance = np.exp(log_selection(np.full(kept, 0.3), np.full(lost, 0.3)))
        assert chance == pytest.approx(1.0 / math.comb(kept + lost, kept), rel=1e-12)


def test_selections_agree_with_draws() -> None:
    generator = np.random.default_rng(20240120)
    sums = np.array([0.0, 1.0, 1.5, 3.0])
    noisy = sums + generator.laplace(size=(TRIALS, 4))
    for high in itertools.combinations(range(4), 2):
        low = [arm for arm in range(4) if arm not in high]
        found = (noisy[:, list(high)].min(axis=1) > noisy[:, low].max(axis=1)).mean()
        assert near(float(found), math.exp(log_selection(sums[list(high)], sums[low])))


# Losses.


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("pulls", [1, 3, 11])
def test_one_dimension_uses_the_whole_epsilon(pulls: int, epsilon: float) -> None:
    """Audit spec 4.3 and 9: equal to epsilon to 1e-12, at every T; 1.1 epsilon (E7)."""
    assert sign_loss(pulls, epsilon).value == pytest.approx(epsilon, rel=1e-12)
    assert sign_loss(pulls, epsilon, 1.1).value == pytest.approx(1.1 * epsilon, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_two_sums_approach_epsilon_from_below(epsilon: float) -> None:
    """epsilon + ln((2 + (n - 1) epsilon) / (2 + n epsilon)), from the two-release formula."""
    for pulls in (1, 2, 5, 500):
        expected = epsilon + math.log((2 + (pulls - 1) * epsilon) / (2 + pulls * epsilon))
        found = difference_loss(pulls, epsilon)
        assert found.value == pytest.approx(expected, rel=1e-9)
        assert found.value < epsilon
        chance = float(log_tail_of_two(pulls * epsilon))
        assert found.log_chance == pytest.approx(chance, rel=1e-12)


def test_losses_of_two_sums_are_those_of_all_pairs() -> None:
    """Every pair of sums (s_1, s_2) and every neighbour, without reducing to differences."""
    pulls, epsilon, worst = 4, 0.7, 0.0
    sums = list(itertools.product(range(pulls + 1), repeat=2))
    for pair, other in itertools.product(sums, sums):
        if sum(abs(a - b) for a, b in zip(pair, other, strict=True)) == 1:
            for sign in (1, -1):
                logs = [log_tail_of_two(sign * epsilon * (b - a)) for a, b in (pair, other)]
                worst = max(worst, abs(float(logs[0] - logs[1])))
    assert difference_loss(pulls, epsilon).value == pytest.approx(worst, rel=1e-12)


def test_too_little_noise_is_caught() -> None:
    """Negative control: noise for 2 epsilon at a claim of epsilon. Null: equal tables lose 0."""
    epsilon = 0.5
    assert sign_loss(3, 2 * epsilon).value == pytest.approx(2 * epsilon)
    assert difference_loss(5, 2 * epsilon).value > 1.3 * epsilon
    chances = tree_chances(3, (1, 2), 2 * epsilon)
    assert tree_loss(chances, sequence=True).value > 1.3 * epsilon
    assert tree_loss(chances, sequence=False).value > 1.3 * epsilon
    assert largest_loss(np.log(np.full((3, 3), 0.25)), axes=(0, 1)).value == 0.0


def test_largest_loss_finds_the_pair_and_its_chance() -> None:
    chances = np.log([[0.5, 0.4, 0.1], [0.5, 0.2, 0.1]])
    found = largest_loss(chances, axes=(1,))
    assert found.value == pytest.approx(math.log(4.0))
    assert found.log_chance == pytest.approx(math.log(0.1))
    assert largest_loss(chances, axes=(0,)).value == pytest.approx(math.log(2.0))


@pytest.mark.parametrize(("arms", "pulls"), [(3, (2, 2)), (4, (1, 2))])
def test_two_phases_keep_within_epsilon(arms: int, pulls: tuple[int, int]) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        chances = tree_chances(arms, pulls, epsilon)
        losses = [tree_loss(chances, sequence=sequence).value for sequence in (True, False)]
        # The sequence says more than the arm alone.
        assert losses[1] <= losses[0] * (1 + 1e-12)
        assert losses[0] <= epsilon * (1 + 1e-9)


def test_chances_of_two_phases_sum_to_one() -> None:
    """Arm 0 at table (s, t) has the chance that another arm has with the two tables exchanged."""
    chances = np.exp(logsumexp(tree_chances(3, (1, 2), 0.8), axis=0))
    for first in itertools.product(range(2), repeat=3):
        for second in itertools.product(range(3), repeat=3):
            total = sum(
                chances[(*np.roll(first, -arm).tolist(), *np.roll(second, -arm).tolist())]
                for arm in range(3)
            )
            assert total == pytest.approx(1.0, abs=1e-12)


def test_two_phases_agree_with_draws() -> None:
    """Four arms, fixed sums, epsilon = 0.9: every pair of survivors with arm 0 as the winner."""
    generator = np.random.default_rng(20240121)
    epsilon, first, second = 0.9, np.array([1, 2, 0, 1]), np.array([2, 0, 3, 1])
    chances = np.exp(tree_chances(4, (2, 3), epsilon))[(slice(None), *first, *second)]
    scale = 1.0 / epsilon
    noisy = first + generator.laplace(scale=scale, size=(TRIALS, 4))
    again = second + generator.laplace(scale=scale, size=(TRIALS, 4))
    survivors = np.sort(np.argsort(-noisy, axis=1)[:, :2], axis=1)
    for other in range(1, 4):
        wins = (survivors == [0, other]).all(axis=1) & (again[:, 0] > again[:, other])
        assert near(float(wins.mean()), float(chances[other - 1]))


def test_pooled_samples_are_not_private() -> None:
    """Spec E10 and audit spec 4.3: a negative control, which a sound audit has to catch."""
    for arms in (3, 4):
        chances = tree_chances(arms, (1, 2), 1.0, pooled=True)
        assert tree_loss(chances, sequence=True).value > 1.2


# DP-OD.


@pytest.mark.parametrize("ratio", [1.0, 2.0, 20.0])
def test_axis_aligned_arms_have_the_noise_of_the_spec(ratio: float) -> None:
    """Spec 3.3: Lap(max(x,y)/(x eps n)) and Lap(max(x,y)/(y eps n)); l1 is l2."""
    for norm_name in ("l1", "l2"):
        assert dp_od_scales([[1.0, 0.0], [0.0, ratio]], norm_name) == pytest.approx((ratio, 1.0))


@pytest.mark.parametrize(
    "features", [DIAGONAL, [[1.0, 0.3], [-0.2, 0.7]], [[2.0, 1.0], [2.0, 0.9]]]
)
def test_scales_are_those_of_least_squares(features: Values) -> None:
    """The scores' difference moves by <a_1 - a_2, V^{-1} xi> under noise xi, V as spec 2.6."""
    matrix, pulls = np.asarray(features), 7
    inverse = np.linalg.inv(pulls * matrix.T @ matrix)
    moved = np.abs(pulls * (matrix[0] - matrix[1]) @ inverse)
    largest = np.linalg.norm(matrix, axis=1).max()
    assert dp_od_scales(features, "l2") == pytest.approx(tuple(moved * largest), rel=1e-9)


def test_antipodal_diagonal_arms_exceed_epsilon_in_l2() -> None:
    """Audit spec 4.3: angles 46 and 224 degrees, up to sqrt 2 epsilon; l1 keeps epsilon."""
    for pulls, least in ((5, 1.24), (50, 1.39), (500, 1.41)):
        found = difference_loss(pulls, 1.0, scales=dp_od_scales(DIAGONAL, "l2")).value
        assert least < found < ROOT2
    assert difference_loss(500, 1.0, scales=dp_od_scales(DIAGONAL, "l1")).value < 1.0


def test_worst_angles_are_near_antipodal_diagonals() -> None:
    """No pair of unit vectors can exceed sqrt 2 (l2) or 1 (l1)."""
    limits = limit_losses("l2")
    assert ROOT2 * math.cos(math.radians(1.0)) - 1e-12 <= np.nanmax(limits) < ROOT2
    first, second = np.unravel_index(np.nanargmax(limits), limits.shape)
    assert abs(abs(int(first) - int(second)) - 180) in (1, 2)
    assert np.nanmax(limit_losses("l1")) <= 1.0 + 1e-12
    # The limit is 1 over the larger scale.
    for one, other in ((46, 224), (10, 200), (0, 90)):
        expected = 1.0 / max(dp_od_scales(unit_vectors(one, other), "l2"))
        assert limits[one, other] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_square_has_the_loss_of_the_audit_spec(epsilon: float) -> None:
    """Audit spec 4.3: exactly sqrt(2) epsilon in l2, epsilon in l1; P = exp(-sqrt(2) n eps/L)/4."""
    for pulls in (1, 4):
        found = square_loss(pulls, epsilon, "l2")
        assert found.value == pytest.approx(ROOT2 * epsilon, rel=1e-12)
        least = -ROOT2 * pulls * epsilon - math.log(4.0)
        assert found.log_chance >= least - 1e-12
        assert square_loss(pulls, epsilon, "l1").value == pytest.approx(epsilon, rel=1e-12)


def test_the_uniform_design_is_optimal_on_the_square() -> None:
    """The certificate is 2 there; the solver may return another design of the same moments."""
    moments = SQUARE.T @ SQUARE / 4
    variances = ((SQUARE @ np.linalg.inv(moments)) * SQUARE).sum(axis=1)
    np.testing.assert_allclose(variances, 2.0, rtol=1e-12)
    weights = g_optimal(SQUARE).weights
    np.testing.assert_allclose((SQUARE.T * weights) @ SQUARE, moments, atol=1e-9)


def test_the_square_agrees_with_draws() -> None:
    """Score by score, n = 2, arm 3 with rewards 1 and all others 0, epsilon = 0.5, l2."""
    generator = np.random.default_rng(20240122)
    pulls, epsilon = 2, 0.5
    inverse = np.linalg.inv(pulls * SQUARE.T @ SQUARE)
    for rewards_of_first, chance in (
        (0, 0.25 * math.exp(-ROOT2 * 2 * epsilon)),
        (1, 0.25 * math.exp(-ROOT2 * 1 * epsilon)),
    ):
        sums = np.array([rewards_of_first, 0.0, 2.0, 0.0])
        noisy = SQUARE.T @ sums + generator.laplace(scale=1.0 / epsilon, size=(TRIALS, 2))
        winners = (noisy @ inverse @ SQUARE.T).argmax(axis=1)
        assert near(float((winners == 0).mean()), chance)


def test_dp_od_refuses_in_one_line() -> None:
    with pytest.raises(InputError, match="norm is 'l3'; allowed: l1, l2"):
        dp_od_scales(DIAGONAL, "l3")
    with pytest.raises(InputError, match="two independent arms"):
        dp_od_scales([[1.0, 1.0], [2.0, 2.0]], "l2")


# The kernels, on tables that are certain: Bernoulli rewards of mean 0 or 1.


def success(algorithm: str, features: Values, means: list[int], budget: int) -> float:
    """Return the share of 20000 trials at epsilon = 0.7 that recommend the first arm."""
    matrix = np.asarray(features, dtype=np.float64)
    theta = np.linalg.lstsq(matrix, np.array(means, dtype=np.float64))[0]
    found = dpbandits.identify(
        algorithm=algorithm,
        params={"epsilon": 0.7},
        bandit=dpbandits.linear(matrix, theta.round(12), law="bernoulli"),
        budget=budget,
        runs=20_000,
        seed=3,
    )
    return float(found.success.mean())


def two_sums(pulls: int, scales: tuple[float, float] = (1.0, 1.0)) -> float:
    """Return the chance that a sum of n rewards 1 stays ahead of a sum of zeros."""
    return 1.0 - float(np.exp(log_tail_of_two(pulls, scales[0] / 0.7, scales[1] / 0.7)))


KERNELS: dict[str, tuple[str, Values, list[int], int, Callable[[], float]]] = {
    "two arms": ("dp-bai", np.eye(2), [1, 0], 6, lambda: two_sums(2)),
    "two arms of Baseline": ("baseline", np.eye(2), [1, 0], 5, lambda: two_sums(2)),
    "one dimension": (
        "dp-bai",
        np.array([[1.0], [0.0]]),
        [1, 0],
        4,
        lambda: 1.0 - float(np.exp(log_tail(3, 1.0 / 0.7))),
    ),
    "DP-OD on axes": (
        "dp-od",
        np.diag([1.0, 3.0]),
        [1, 0],
        8,
        lambda: two_sums(3, (3.0, 1.0)),
    ),
    "DP-OD on diagonals": (
        "dp-od",
        DIAGONAL,
        [1, 0],
        6,
        lambda: two_sums(2, dp_od_scales(DIAGONAL, "l2")),
    ),
    "two phases of four": (
        "dp-bai",
        np.eye(4),
        [1, 0, 0, 0],
        16,
        lambda: float(np.exp(logsumexp(tree_chances(4, (1, 2), 0.7)[:, 1, 0, 0, 0, 2, 0, 0, 0]))),
    ),
}


@pytest.mark.parametrize("case", KERNELS)
def test_engine_and_kernel_agree(case: str) -> None:
    """20000 trials each, within 4.5 standard errors: one of six wrong once in 25000 times."""
    algorithm, features, means, budget, chance = KERNELS[case]
    assert near(success(algorithm, features, means, budget), chance(), 20_000)


def test_kernel_and_engine_would_differ_at_another_scale() -> None:
    """Negative control of the test above: noise for 0.8 in place of 0.7."""
    found = success("dp-bai", np.eye(2), [1, 0], 6)
    assert not near(found, 1.0 - float(np.exp(log_tail_of_two(2 * 0.8))), 20_000)


# DP-BAI-Gauss.


def excess(epsilon: float, m: float, s: float) -> mpmath.mpf:
    """Return Phi(-s m) - exp(epsilon) Phi(-(s + 1) m) in 40 digits (audit spec 4.3)."""
    with mpmath.workdps(40):
        far = mpmath.ncdf(-(mpmath.mpf(s) + 1) * m)
        return mpmath.ncdf(-mpmath.mpf(s) * m) - mpmath.exp(epsilon) * far


def test_needed_delta_in_one_dimension_is_the_maximum_of_the_audit_spec() -> None:
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
        scale = sigma * (ROOT2 if two_sums else 1.0)
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
    """Spec E9: proved for epsilon < 1. Ours: at 5 some table of [0, 1] needs 0.3035 > 0.3."""
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


def test_too_little_gaussian_noise_is_caught() -> None:
    """Negative control: a third of the classical deviation at epsilon = 0.5."""
    for delta in (1e-5, 0.01, 0.1):
        sigma = deviation(0.5, delta, "classical") / 3
        assert needed_delta(0.5, sigma, 5000, two_sums=False, binary=True) > delta


def test_unknown_calibration_is_refused() -> None:
    with pytest.raises(InputError, match="calibration is 'other'; allowed: classical, analytic"):
        deviation(1.0, 0.1, "other")


# Pure noise.


def test_limits_of_pure_noise_are_those_of_the_spec() -> None:
    """Spec 3.2, for every omega: 3/8, 21/44 and 1/30; spec 3.3: 1/2 for two arms."""
    for draw in range(20):
        features = section5(draw=draw).feature_matrix
        assert linear_limit(features, (0, 2), (1.0, 1.0)) == pytest.approx(3 / 8, rel=1e-10)
        assert linear_limit(features, (0, 2), (10.0, 1.0)) == pytest.approx(21 / 44, rel=1e-10)
    assert uniform_limit(30) == pytest.approx(1 / 30, rel=1e-10)
    pair = two_armed(ratio=5.0).feature_matrix
    assert linear_limit(pair, (0, 1), (5.0, 1.0)) == pytest.approx(0.5, rel=1e-10)


def test_cones_agree_with_draws() -> None:
    generator = np.random.default_rng(20240123)
    noise = generator.laplace(size=(TRIALS, 2)) * [3.0, 1.0]
    for normals in ([[1.0, 0.2], [0.3, -1.0]], [[-1.0, 0.0]], [[1.0, 1.0], [-1.0, 0.5]]):
        inside = (noise @ np.array(normals).T > 0.0).all(axis=1)
        assert near(float(inside.mean()), cone_chance(np.array(normals), (3.0, 1.0)))


@pytest.mark.parametrize(
    ("algorithm", "limit"), [("dp-bai", 3 / 8), ("dp-od", 21 / 44), ("baseline", 1 / 30)]
)
def test_kernels_tend_to_the_limits(algorithm: str, limit: float) -> None:
    """At epsilon = 1e-7 and T = 100 the means move the noise by less than 1e-4 deviations."""
    found = dpbandits.identify(
        algorithm=algorithm,
        params={"epsilon": 1e-7},
        bandit=section5(),
        budget=100,
        runs=20_000,
        seed=5,
    )
    assert near(float(found.success.mean()), limit, 20_000)


@pytest.mark.parametrize(
    ("delta", "level", "digits"),
    [
        (0.5, 7.8e-2, 0.01),
        (0.3, 3.1e-3, 0.02),
        (0.1, 1.5e-6, 0.04),
        (0.01, 6e-14, 0.1),
        (1e-5, 5e-37, 0.1),
    ],
)
def test_tails_cross_where_the_spec_says(delta: float, level: float, digits: float) -> None:
    """Spec 7.1, C16, to the digits printed; Gauss is the lighter tail beyond and not before."""
    found = crossing(delta)
    assert math.exp(found) == pytest.approx(level, rel=digits)
    grid = np.linspace(0.01, 200.0, 5000)
    logs = log_tail_of_two(grid)
    beyond = logs < found - 1e-9
    assert (log_gauss_tail(grid[beyond], delta) < logs[beyond]).all()
    before = logs > found + 1e-9
    assert (log_gauss_tail(grid[before], delta) > logs[before]).all()


def test_gauss_is_lighter_everywhere_at_large_delta() -> None:
    """Spec 7.1: its deviation is the smaller one iff delta > 1.25/e = 0.46; at 0.9 by far."""
    assert math.exp(crossing(0.9)) == pytest.approx(0.5, rel=1e-12)
    assert deviation(1.0, 1.25 / math.e, "classical") == pytest.approx(ROOT2, rel=1e-12)
