"""The exact privacy audit of dp-bai: against other computations, simulations and the kernels.

Simulations have fixed seeds and are compared within 4.5 standard errors (``dp_bai_trials``).
"""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

from dp_bai_trials import TRIALS, near
from dpbandits import InputError
from dpbandits.algorithms.best_arm.designs import g_optimal
from dpbandits.auditing.best_arm import (
    difference_loss,
    dp_od_scales,
    limit_losses,
    sign_loss,
    square_loss,
    three_arm_pulls,
    tree_chances,
    tree_loss,
    unit_vectors,
)
from dpbandits.auditing.laplace import largest_loss, log_tail_of_two

Values = NDArray[np.float64]

ROOT2 = math.sqrt(2.0)
DIAGONAL = unit_vectors(46.0, 224.0)
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]) / ROOT2


def with_midpoint(features: Values) -> Values:
    """Return two features and half their sum below them."""
    return np.vstack([features, np.mean(features, axis=0)])


# Losses.


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("pulls", [1, 3, 11])
def test_one_dimension_uses_the_whole_epsilon(pulls: int, epsilon: float) -> None:
    """By hand: equal to epsilon to 1e-12, at every T; 1.1 epsilon (BAI-E7)."""
    assert sign_loss(pulls, epsilon).epsilon == pytest.approx(epsilon, rel=1e-12)
    assert sign_loss(pulls, epsilon, 1.1).epsilon == pytest.approx(1.1 * epsilon, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_two_sums_approach_epsilon_from_below(epsilon: float) -> None:
    """epsilon + ln((2 + (n - 1) epsilon) / (2 + n epsilon)), from the two-release formula."""
    for pulls in (1, 2, 5, 500):
        expected = epsilon + math.log((2 + (pulls - 1) * epsilon) / (2 + pulls * epsilon))
        found = difference_loss(pulls, epsilon)
        assert found.epsilon == pytest.approx(expected, rel=1e-9)
        assert found.epsilon < epsilon
        chance = float(log_tail_of_two(pulls * epsilon))
        assert found.log_unlikely == pytest.approx(chance, rel=1e-12)


def test_losses_of_two_sums_are_those_of_all_pairs() -> None:
    """Every pair of sums (s_1, s_2) and every neighbour, without reducing to differences."""
    pulls, epsilon, worst = 4, 0.7, 0.0
    sums = list(itertools.product(range(pulls + 1), repeat=2))
    for pair, other in itertools.product(sums, sums):
        if sum(abs(a - b) for a, b in zip(pair, other, strict=True)) == 1:
            for sign in (1, -1):
                logs = [log_tail_of_two(sign * epsilon * (b - a)) for a, b in (pair, other)]
                worst = max(worst, abs(float(logs[0] - logs[1])))
    assert difference_loss(pulls, epsilon).epsilon == pytest.approx(worst, rel=1e-12)


def test_too_little_noise_is_caught() -> None:
    """Negative control: noise for 2 epsilon at a claim of epsilon. Null: equal tables lose 0."""
    epsilon = 0.5
    assert sign_loss(3, 2 * epsilon).epsilon == pytest.approx(2 * epsilon)
    assert difference_loss(5, 2 * epsilon).epsilon > 1.3 * epsilon
    chances = tree_chances(3, (1, 2), 2 * epsilon)
    assert tree_loss(chances, sequence=True).epsilon > 1.3 * epsilon
    assert tree_loss(chances, sequence=False).epsilon > 1.3 * epsilon
    assert largest_loss(np.log(np.full((3, 3), 0.25)), axes=(0, 1)).epsilon == 0.0


def test_largest_loss_finds_the_pair_and_its_chance() -> None:
    chances = np.log([[0.5, 0.4, 0.1], [0.5, 0.2, 0.1]])
    found = largest_loss(chances, axes=(1,))
    assert found.epsilon == pytest.approx(math.log(4.0))
    assert found.log_unlikely == pytest.approx(math.log(0.1))
    assert largest_loss(chances, axes=(0,)).epsilon == pytest.approx(math.log(2.0))


@pytest.mark.parametrize(("arms", "pulls"), [(3, (2, 2)), (4, (1, 2))])
def test_two_phases_keep_within_epsilon(arms: int, pulls: tuple[int, int]) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        chances = tree_chances(arms, pulls, epsilon)
        losses = [tree_loss(chances, sequence=sequence).epsilon for sequence in (True, False)]
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
    """BAI-E10: a negative control, which a sound audit has to catch."""
    for arms in (3, 4):
        chances = tree_chances(arms, (1, 2), 1.0, pooled=True)
        assert tree_loss(chances, sequence=True).epsilon > 1.2


# DP-OD.


@pytest.mark.parametrize("ratio", [1.0, 2.0, 20.0])
def test_axis_aligned_arms_have_the_noise_of_the_spec(ratio: float) -> None:
    """dp-bai, Appendix E.2: Lap(max(x,y)/(x eps n)) and Lap(max(x,y)/(y eps n)); l1 is l2."""
    for norm_name in ("l1", "l2"):
        assert dp_od_scales([[1.0, 0.0], [0.0, ratio]], norm_name) == pytest.approx((ratio, 1.0))


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


def test_antipodal_diagonal_arms_exceed_epsilon_in_l2() -> None:
    """By hand: angles 46 and 224 degrees, up to sqrt 2 epsilon; l1 keeps epsilon."""
    for pulls, least in ((5, 1.24), (50, 1.39), (500, 1.41)):
        found = difference_loss(pulls, 1.0, scales=dp_od_scales(DIAGONAL, "l2")).epsilon
        assert least < found < ROOT2
    assert difference_loss(500, 1.0, scales=dp_od_scales(DIAGONAL, "l1")).epsilon < 1.0


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
    """By hand: exactly sqrt(2) epsilon in l2, epsilon in l1; P = exp(-sqrt(2) n eps/L)/4."""
    for pulls in (1, 4):
        found = square_loss(pulls, epsilon, "l2")
        assert found.epsilon == pytest.approx(ROOT2 * epsilon, rel=1e-12)
        least = -ROOT2 * pulls * epsilon - math.log(4.0)
        assert found.log_unlikely >= least - 1e-12
        assert square_loss(pulls, epsilon, "l1").epsilon == pytest.approx(epsilon, rel=1e-12)


def test_the_uniform_design_is_optimal_on_the_square() -> None:
    """The certificate is 2 there; the solver may return another design of the same moments."""
    moments = SQUARE.T @ SQUARE / 4
    variances = ((SQUARE @ np.linalg.inv(moments)) * SQUARE).sum(axis=1)
    np.testing.assert_allclose(variances, 2.0, rtol=1e-12)
    weights = g_optimal(SQUARE)
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


@pytest.mark.parametrize("features", [DIAGONAL, np.diag([1.0, 3.0])])
def test_the_midpoint_is_never_alone_ahead_and_gets_no_pulls(features: Values) -> None:
    """What makes two arms an instance with K > 2: half their sum has half the sum of estimates."""
    three = with_midpoint(features)
    weights = g_optimal(three)
    np.testing.assert_allclose(weights, [0.5, 0.5, 0.0], atol=1e-12)
    # The certificate of the optimum: the largest variance of an estimate is the dimension.
    moments = (three.T * weights) @ three
    variances = ((three @ np.linalg.inv(moments)) * three).sum(axis=1)
    assert variances[:2] == pytest.approx([2.0, 2.0])
    assert variances[2] == pytest.approx(1.0)
    theta = np.linalg.solve(features, [0.6, 0.4])
    assert three @ theta == pytest.approx([0.6, 0.4, 0.5])
    assert [three_arm_pulls(budget) for budget in (4, 7, 10_002)] == [1, 2, 5000]


def test_the_loss_of_three_arms_agrees_with_draws() -> None:
    """DP-OD step by step on two neighbouring tables, n = 6, epsilon = 1, two million runs each.

    The log ratio of the chances that arm 1 is returned exceeds epsilon by more than 4.5 standard
    errors with the Euclidean norm, and with l1 it does not.
    """
    features, pulls, epsilon, runs = with_midpoint(DIAGONAL), 6, 1.0, 2_000_000
    moments = pulls * DIAGONAL.T @ DIAGONAL
    for norm_name, order in (("l2", 2), ("l1", 1)):
        scale = float(np.linalg.norm(features, order, axis=1).max()) / epsilon
        shares = []
        for seed, sums in enumerate(([0.0, 5.0], [0.0, 6.0])):
            generator = np.random.default_rng([20240125, order, seed])
            noisy = np.array(sums) @ DIAGONAL + generator.laplace(scale=scale, size=(runs, 2))
            estimates = noisy @ np.linalg.inv(moments) @ features.T
            winners = estimates.argmax(axis=1)
            assert not (winners == 2).any()
            shares.append(float((winners == 0).mean()))
        loss = math.log(shares[0] / shares[1])
        error = math.sqrt(sum((1.0 - share) / (share * runs) for share in shares))
        scales = dp_od_scales(DIAGONAL, norm_name)
        exact = [
            float(log_tail_of_two(gap, scales[0] / epsilon, scales[1] / epsilon)) for gap in (5, 6)
        ]
        assert abs(loss - (exact[0] - exact[1])) < 4.5 * error
        assert (loss - 4.5 * error > epsilon) == (norm_name == "l2")


def test_dp_od_refuses_in_one_line() -> None:
    with pytest.raises(InputError, match="norm is 'l3'; allowed: l1, l2"):
        dp_od_scales(DIAGONAL, "l3")
    with pytest.raises(InputError, match="two independent arms"):
        dp_od_scales([[1.0, 1.0], [2.0, 2.0]], "l2")
