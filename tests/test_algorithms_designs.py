"""Which arms are pulled, and when: spans, Max-Det collections, G-optimal designs, schedules.

The numbers are those of dp-bai, Section 3.1, Appendix B and Section 5.
"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpbandits.algorithms.best_arm import designs
from dpbandits.algorithms.best_arm.designs import (
    FloatArray,
    MaxDet,
    efficient_counts,
    g_optimal,
    max_det,
    multiply_rows,
    rank_of,
    span_of,
)
from dpbandits.algorithms.best_arm.eliminations import (
    SCHEDULES,
    halving_schedule,
    phase_schedule,
    rounds_of,
)
from support import message_of

EDGE = 1 + 1e-8  # dp-bai, Section 3.1 and Lemma G.1, the bound on |alpha| with its slack


@st.composite
def feature_sets(draw: st.DrawFn, most: int = 12) -> FloatArray:
    """Draw features of full column rank on a grid, so that equal volumes and twins are common."""
    rank = draw(st.integers(1, 6))
    n = draw(st.integers(rank, most))
    features = draw(arrays(np.float64, (n, rank), elements=st.integers(-3, 3).map(float)))
    features[:rank] += 7 * np.eye(rank)  # dominant diagonals are independent
    return features[draw(st.permutations(range(n)))]


def section_5(omegas: FloatArray | list[float]) -> FloatArray:
    return np.array([[0, 1], [0, 0.9], [10, 0], *([1, omega] for omega in omegas)])


def volume(features: FloatArray, members: tuple[int, ...]) -> float:
    return float(np.exp(np.linalg.slogdet(features[list(members)])[1]))


def approximate(features: FloatArray) -> MaxDet:
    """Search by exchanges, as beyond 200,000 subsets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(designs, "MOST_SUBSETS", 0)
        return max_det(features)


# Max-Det collections


@given(features=feature_sets())
def test_no_subset_is_larger_and_none_of_its_size_comes_first(features: FloatArray) -> None:
    found = max_det(features)
    subsets = itertools.combinations(range(len(features)), features.shape[1])
    volumes = {members: volume(features, members) for members in subsets}
    largest = max(volumes.values())
    # Integer volumes: those that differ at all differ by more than rounding.
    assert found.arms == min(arms for arms in volumes if volumes[arms] > largest * (1 - 1e-9))
    assert found.exact


@pytest.mark.slow
@settings(max_examples=120)
@given(features=feature_sets(40))
def test_coefficients(features: FloatArray) -> None:
    found = max_det(features)
    assert np.abs(found.coefficients).max() <= EDGE
    members = list(found.arms)
    assert np.allclose(found.coefficients @ features[members], features, rtol=0, atol=1e-9)
    assert np.array_equal(found.coefficients[members], np.eye(len(members)))
    # Not in the paper: twins are told apart by the tie rule alone, not by rounding.
    for i, j in itertools.combinations(range(len(features)), 2):
        if np.array_equal(features[i], features[j]) and not {i, j} & set(members):
            assert np.array_equal(found.coefficients[i], found.coefficients[j])


def test_exchange_against_exhaustive_search() -> None:
    # A set that no exchange enlarges has at least r^(-r/2) of the largest volume: the members of
    # the largest set are combinations with coefficients up to 1, and Hadamard bounds their
    # determinant by r^(r/2). Random sets are far better: a mean of 0.95 is asked of them here.
    generator = np.random.default_rng(1)
    ratios = []
    for _ in range(80):
        rank = int(generator.integers(2, 5))
        features = generator.normal(size=(12, rank))
        exact, found = max_det(features), approximate(features)
        assert (exact.exact, found.exact) == (True, False)
        assert np.abs(found.coefficients).max() <= EDGE
        ratio = volume(features, found.arms) / volume(features, exact.arms)
        assert rank ** (-rank / 2) <= ratio <= 1 + 1e-9
        ratios.append(ratio)
    assert np.mean(ratios) > 0.95
    assert min(ratios) < 1, "the exchange is a heuristic, and the comparison can tell"


def test_coordinates_do_not_matter() -> None:
    # dp-bai, Algorithm 1 (d): same arms and same coefficients after any invertible linear map.
    for search in [max_det, approximate]:
        generator = np.random.default_rng(2)
        for _ in range(20):
            rank = int(generator.integers(1, 6))
            features = generator.normal(size=(30, rank))
            rotation = np.linalg.qr(generator.normal(size=(rank, rank)))[0]
            plain = search(features)
            for image in (
                features @ (rotation * generator.uniform(0.1, 10, rank)),
                features * 1e-150,
            ):
                mapped = search(image)
                assert plain.arms == mapped.arms
                assert np.allclose(plain.coefficients, mapped.coefficients, rtol=0, atol=1e-10)


def test_one_dimension_and_the_number_of_subsets() -> None:
    # r = 1 takes the largest |coordinate|; beyond 200,000 subsets exchanges are made.
    one = np.random.default_rng(4).normal(size=(200_001, 1))
    assert max_det(one).arms == (int(np.abs(one).argmax()),)
    assert max_det(one).exact
    generator = np.random.default_rng(5)
    assert max_det(generator.normal(size=(632, 2))).exact  # 199,396 subsets
    assert not max_det(generator.normal(size=(633, 2))).exact  # 200,028 subsets


def test_nearly_dependent_features_are_solved_by_least_squares() -> None:
    # Not in the paper: a warning from a condition number of 1e8 on.
    features = np.array([[1.0, 0.0], [1.0, 1e-9], [0.5, 0.0]])
    with pytest.warns(RuntimeWarning, match="nearly dependent"):
        found = max_det(features)
    assert np.allclose(found.coefficients @ features[list(found.arms)], features, atol=1e-12)
    max_det(np.array([[1.0, 0.0], [1.0, 1e-7], [0.5, 0.0]]))  # a warning would be an error


# G-optimal designs


def variances(features: FloatArray, weights: FloatArray) -> FloatArray:
    inverse = np.linalg.inv((features.T * weights) @ features)
    return np.asarray(np.einsum("ij,jk,ik->i", features, inverse, features))


def verify(features: FloatArray, weights: FloatArray) -> None:
    """Check the certificate of Kiefer and Wolfowitz and the size of the support.

    The search stops at 1e-9 of the dimension and the polish solves the support to rounding: 1e-8.
    """
    rank = features.shape[1]
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    found = variances(features, weights)
    assert found.max() == pytest.approx(rank, rel=1e-8)
    assert np.allclose(found[weights > 0], rank, rtol=1e-8)
    assert np.count_nonzero(weights) <= rank * (rank + 1) // 2


@given(omegas=st.lists(st.floats(0.0, 0.8), min_size=27, max_size=27))
def test_design_of_section_5(omegas: list[float]) -> None:
    # dp-bai, Section 5: weight 1/2 on arms 1 and 3; a^T V^-1 a is 2 on them, 1.62 on arm 2 and
    # 1/50 + 2 omega^2 on the others.
    features = section_5(omegas)
    weights = g_optimal(features)
    # Exact to rounding: ceil(m/2) pulls of each must not become one more (tolerance 1e-9 pulls).
    assert np.allclose(weights, [0.5, 0, 0.5, *[0] * 27], rtol=0, atol=1e-14)
    expected = [2, 1.62, 2, *(0.02 + 2 * omega**2 for omega in omegas)]
    assert np.allclose(variances(features, weights), expected, rtol=1e-12)
    verify(features, weights)


@given(features=feature_sets(30))
def test_designs_on_a_grid(features: FloatArray) -> None:
    # Twins, zeros and symmetric sets, whose optimum is not unique.
    verify(features, g_optimal(features))


@pytest.mark.slow
def test_designs_of_copies_and_of_large_supports() -> None:
    # r independent features: 1/r each; with copies any split is optimal, at most r(r + 1)/2 arms.
    for copies in [1, 3, 40]:
        features = np.vstack([np.diag([1.0, 5.0, 0.01, 2.0])] * copies)
        weights = g_optimal(features)
        verify(features, weights)
        assert np.allclose(weights.reshape(copies, 4).sum(axis=0), 0.25, rtol=0, atol=1e-12)
    # Directions all around: the uniform start is nearly optimal, and Caratheodory has to help.
    for n, rank in [(60, 5), (80, 4)]:
        features = np.random.default_rng(2).normal(size=(n, rank - 1))
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        features = np.column_stack([np.ones(n), features])
        verify(features, g_optimal(features))


def test_neither_units_nor_rounding_choose_between_optima() -> None:
    features = np.random.default_rng(3).normal(size=(40, 4))
    images = [(features, features * [1e-6, 1e-3, 1.0, 1e6])]
    # Twins and symmetric sets, whose optimum is not unique, in coordinates that differ by a map.
    generator = np.random.default_rng(4)
    for _ in range(100):
        features = generator.integers(-1, 2, size=(20, 3)) + 3.0 * np.eye(20, 3)
        rotation = np.linalg.qr(generator.normal(size=(3, 3)))[0]
        images.append((features, features @ rotation))
    for one, other in images:
        assert np.allclose(g_optimal(one), g_optimal(other), rtol=0, atol=1e-9)


@given(
    shares=st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any),
    extra=st.integers(0, 10_000),
)
def test_efficient_counts(shares: list[int], extra: int) -> None:
    weights = np.array(shares) / sum(shares)
    support = int(np.count_nonzero(weights))
    counts = efficient_counts(weights, support + extra)
    assert counts.sum() == support + extra
    assert ((counts > 0) == (weights > 0)).all()
    # Apportionment by the method of Adams has no shift that would help: between any two features
    # of the support, (n_i - 1) / w_i <= n_j / w_j.
    used = weights > 0
    most, least = (counts[used] - 1) / weights[used], counts[used] / weights[used]
    assert most.max() <= least.min() * (1 + 1e-8)


def test_efficient_counts_by_hand() -> None:
    # N = 5, equal thirds: ceil(3.5/3) = 2 each is one too many; it is taken from the first.
    assert efficient_counts(np.full(3, 1 / 3), 5).tolist() == [1, 2, 2]


# Spans


@given(
    features=arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.integers(1, 5)),
        elements=st.integers(-3, 3).map(float),
    )
)
def test_span(features: FloatArray) -> None:
    coordinates, pivots = span_of(features)
    # An integer matrix of this size has exact minors far from 0 or none: numpy's own rank agrees.
    assert pivots.size == np.linalg.matrix_rank(features)
    assert coordinates.shape == (len(features), pivots.size)
    products = coordinates @ coordinates.T
    assert np.allclose(products, features @ features.T, rtol=0, atol=1e-9), "orthonormal basis"
    if pivots.size:
        assert np.linalg.matrix_rank(features[pivots]) == pivots.size
    if pivots.size == features.shape[1]:
        assert coordinates is features, "dp-bai, Appendix E.1: the axes stay"
    for i, j in itertools.combinations(range(len(features)), 2):
        if np.array_equal(features[i], features[j]):
            assert np.array_equal(coordinates[i], coordinates[j])


def test_ranks_axes_and_rows() -> None:
    # Not in the paper: singular values from above max(n, d) eps count.
    ranks = [rank_of(np.diag([1.0, size])) for size in (1e-6, 5e-16, 4e-16)]
    assert ranks == [2, 2, 1]
    assert np.array_equal(span_of(np.eye(8)[[1, 4, 6]])[0], np.eye(3)), "standard axes are kept"
    left, right = np.random.default_rng(6).normal(size=(2, 7, 7))
    left[4] = left[1]
    product = multiply_rows(left, right)
    assert np.allclose(product, left @ right, rtol=0, atol=1e-12)
    assert np.array_equal(product[4], product[1]), "equal rows have equal products"


def test_wrong_features() -> None:
    for search in [max_det, g_optimal]:
        for features in (np.zeros((3, 1)), np.ones((3, 2)), np.ones((1, 2)), np.ones((3, 0))):
            assert "lower rank; allowed: rank" in message_of(lambda each=features: search(each))


# Schedules

# Equations 7 and 8: (K, d), lambda, h, then s, M1, M, T - T' as `consistent` and as `literal`.
VECTORS: list[tuple[Any, ...]] = [
    (3, 2, math.e, (2, 1, 0), ((3, 2, 1), 2, 2, 4), ((3, 2, 1), 2, 2, 4)),
    (4, 2, 4.879108, (3, 0), ((4, 1), 1, 1, 2), ((4, 1), 1, 1, 2)),
    (4, 4, 2, (0,), ((4, 2, 1), 0, 2, 8), ((4, 2, 1), 1, 2, 8)),
    (8, 8, 2, (0,), ((8, 4, 2, 1), 0, 3, 48), ((8, 4, 2, 1), 1, 3, 40)),
    (10, 4, 3.641812, (6, 1, 0), ((10, 5, 4, 2, 1), 2, 4, 16), ((10, 5, 2, 1), 2, 3, 12)),
    (
        *(200, 6, 18.752923, (191, 10, 0)),
        ((200, 19, 9, 5, 3, 2, 1), 2, 6, 48),
        ((200, 19, 5, 3, 2, 1), 2, 5, 39),
    ),
    # dp-bai, Appendix B.
    (
        *(10_000, 16, 27.64963, (9936, 359, 13, 0)),
        ((10_000, 423, 77, 64, 32, 16, 8, 4, 2, 1), 3, 9, 432),
        ((10_000, 423, 77, 32, 16, 8, 4, 2, 1), 3, 8, 368),
    ),
    # dp-bai, Section 5 and Appendix E.2, the instances of the paper.
    (30, 2, 128.7640, (29, 0), ((30, 1), 1, 1, 2), ((30, 1), 1, 1, 2)),
    (2, 2, 2, (1, 0), ((2, 1), 1, 1, 2), ((2, 1), 1, 1, 2)),
    # Not in the paper: d = 1 has q = 1 and, for K > 2, an infinite lambda.
    (50, 1, math.inf, (49, 0), ((50, 1), 1, 1, 1), ((50, 1), 1, 1, 1)),
    (2, 1, 2, (1, 0), ((2, 1), 1, 1, 1), ((2, 1), 1, 1, 1)),
]


def test_schedules_of_the_spec() -> None:
    for arms, dimension, shrinkage, shrinking, stated, literal in VECTORS:
        schedule = phase_schedule(arms, dimension)
        assert schedule.shrinkage == pytest.approx(shrinkage, abs=5e-5)  # printed digits
        assert schedule.shrinking == shrinking
        # Last line of dp-bai, Equations 7 and 8.
        sizes, early, phases, reserved = stated
        printed = ((*sizes, 1), early + 1, phases + 1, reserved + dimension)
        expected = {"consistent": stated, "literal": literal, "printed": printed}
        for interpretation, parts in expected.items():
            found = phase_schedule(arms, dimension, interpretation)
            assert (found.sizes, found.early_phases, found.phases, found.reserved) == parts
    # K - q = 7 and d = 40, lambda = 2 as 2^(log 40) = 12.9: (7 + 1)/2 - 1 = 3, 1, 0; no whole
    # quotient is rounded up.
    schedule = phase_schedule(7 + 400, 40)
    assert (schedule.shrinkage, schedule.shrinking) == (2, (7, 3, 1, 0))


@given(
    arms=st.integers(2, 20_000),
    dimension=st.integers(1, 200),
    interpretation=st.sampled_from(list(SCHEDULES)),
)
def test_properties_of_a_schedule(arms: int, dimension: int, interpretation: str) -> None:
    schedule = phase_schedule(arms, dimension, interpretation)
    sizes, early = schedule.sizes, schedule.early_phases
    assert sizes[0] == arms
    assert sizes[-1] == 1
    assert len(sizes) == schedule.phases + 1
    repeated = 1 if interpretation == "printed" else 0
    assert sum(a == b for a, b in itertools.pairwise(sizes)) == repeated
    assert list(sizes) == sorted(sizes, reverse=True)
    assert schedule.late_pulls == math.ceil(dimension**2 / 4)
    assert 0 <= early <= schedule.phases
    assert schedule.shrinkage >= 2
    # T' = T - M1 d - (M - M1) q.
    late = schedule.phases - early
    assert schedule.reserved == early * dimension + late * schedule.late_pulls
    if interpretation == "consistent":
        # BAI-E1: what the proof of App. G needs. The slack is that of the rounded lambda.
        assert (early == 0) == (arms <= schedule.late_pulls)
        rest = [size - schedule.halving[0] + 1 for size in sizes[: early + 1]]
        for before, after in itertools.pairwise(rest):
            assert before / after <= schedule.shrinkage * (1 + 1e-9)


@given(excess=st.integers(2, 10**6), dimension=st.integers(2, 200))
def test_shrinkage_is_the_smallest_that_is_allowed(excess: int, dimension: int) -> None:
    schedule = phase_schedule(excess + math.ceil(dimension**2 / 4), dimension)
    power, goal = math.log(dimension), math.log(excess)
    assert power * math.log(schedule.shrinkage) >= goal - 1e-9
    smaller = schedule.shrinkage * (1 - 1e-6)
    assert smaller < 2 or power * math.log(smaller) < goal


@given(arms=st.integers(2, 100_000), late_pulls=st.integers(0, 3))
def test_halving_schedule(arms: int, late_pulls: int) -> None:
    # K, ceil(K/2), ..., 1 with M = ceil(log2 K) phases, T' = T - M for the Baseline.
    schedule = halving_schedule(arms, late_pulls)
    phases = (arms - 1).bit_length()
    assert schedule.sizes == tuple(-(-arms // 2**phase) for phase in range(phases + 1))
    assert schedule.phases == phases
    assert schedule.reserved == phases * late_pulls


def test_rounds_of_od_linbai() -> None:
    # dp-bai, Section 5 and Appendix E.2: one round; m = T - 3 and m = T - 2.
    assert rounds_of(30, 2) == ((30, 1), 1, 3, 3)
    assert rounds_of(2, 2) == ((2, 1), 1, 2, 2)
    # Yang and Tan (2022): rank 1 has m = T - 1; d_0 = 6, R = 3, m = (T - 21 - 3 - 2) / 3.
    assert rounds_of(9, 1) == ((9, 1), 1, 1, 1)
    assert rounds_of(200, 6) == ((200, 3, 2, 1), 3, 26, 21)
    assert rounds_of(8, 8) == ((8, 4, 2, 1), 3, 8 + 4 + 2, 8)
