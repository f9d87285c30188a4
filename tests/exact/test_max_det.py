"""Max-Det collections (dp-bai, Section 3.1, Lemma G.1; BAI-C10) and their spans."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpbandits.algorithms.best_arm import max_det as module
from dpbandits.algorithms.best_arm.max_det import MaxDet, max_det
from dpbandits.algorithms.best_arm.span import FloatArray, multiply_rows, rank_of, span_of
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


def volume(features: FloatArray, members: tuple[int, ...]) -> float:
    return float(np.exp(np.linalg.slogdet(features[list(members)])[1]))


def approximate(features: FloatArray, monkeypatch: pytest.MonkeyPatch) -> MaxDet:
    """Search by exchanges, as beyond 200,000 subsets."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "MOST_SUBSETS", 0)
        return max_det(features)


@settings(max_examples=200)
@given(features=feature_sets())
def test_no_subset_is_larger_and_none_of_its_size_comes_first(features: FloatArray) -> None:
    found = max_det(features)
    subsets = itertools.combinations(range(len(features)), features.shape[1])
    volumes = {each: volume(features, each) for each in subsets}
    largest = max(volumes.values())
    # Integer volumes: those that differ at all differ by more than rounding.
    assert found.arms == min(each for each in volumes if volumes[each] > largest * (1 - 1e-9))
    assert found.exact


@settings(max_examples=300)
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


@pytest.mark.parametrize("rank", range(1, 7))
def test_coefficients_of_random_sets(rank: int) -> None:
    generator = np.random.default_rng(rank)
    for _ in range(100):
        features = generator.normal(size=(generator.integers(rank, 200), rank))
        assert np.abs(max_det(features).coefficients).max() <= EDGE


def test_exchange_against_exhaustive_search(monkeypatch: pytest.MonkeyPatch) -> None:
    # A set that no exchange enlarges has at least r^(-r/2) of the largest volume: the members of
    # the largest set are combinations with coefficients up to 1, and Hadamard bounds their
    # determinant by r^(r/2). Random sets are far better: a mean of 0.95 is asked of them here.
    generator = np.random.default_rng(1)
    ratios = []
    for _ in range(200):
        rank = int(generator.integers(2, 5))
        features = generator.normal(size=(12, rank))
        exact, found = max_det(features), approximate(features, monkeypatch)
        assert exact.exact
        assert not found.exact
        assert np.abs(found.coefficients).max() <= EDGE
        ratio = volume(features, found.arms) / volume(features, exact.arms)
        assert rank ** (-rank / 2) <= ratio <= 1 + 1e-9
        ratios.append(ratio)
    assert np.mean(ratios) > 0.95
    assert min(ratios) < 1, "the exchange is a heuristic, and the comparison can tell"


@pytest.mark.parametrize("exhaustive", [True, False])
def test_coordinates_do_not_matter(exhaustive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # dp-bai, Algorithm 1 (d): same arms and same coefficients after any invertible linear map.
    generator = np.random.default_rng(2)
    for _ in range(50):
        rank = int(generator.integers(1, 6))
        features = generator.normal(size=(30, rank))
        rotation = np.linalg.qr(generator.normal(size=(rank, rank)))[0]
        images = [features @ (rotation * generator.uniform(0.1, 10, rank)), features * 1e-150]
        for image in images:
            if exhaustive:
                plain, mapped = max_det(features), max_det(image)
            else:
                plain, mapped = (approximate(each, monkeypatch) for each in (features, image))
            assert plain.arms == mapped.arms
            assert np.allclose(plain.coefficients, mapped.coefficients, rtol=0, atol=1e-10)


def test_instance_of_section_5() -> None:
    # Section 5: arms 1 and 3 for every omega; arm 2 = 0.9 arm 1, arm i = omega_i arm 1 + 0.1 arm 3.
    omegas = np.random.default_rng(3).uniform(0, 0.8, 27)
    features = np.array([[0, 1], [0, 0.9], [10, 0], *([1, omega] for omega in omegas)])
    found = max_det(features)
    assert found.arms == (0, 2)
    expected = np.column_stack([np.r_[1, 0.9, 0, omegas], np.r_[0, 0, 1, np.full(27, 0.1)]])
    assert np.allclose(found.coefficients, expected, rtol=0, atol=1e-15)


def test_one_dimension_and_the_number_of_subsets() -> None:
    # Section 3.1 and Lemma G.1: r = 1 takes the largest |coordinate|; beyond 200,000 subsets
    # exchanges are made.
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


def test_wrong_features() -> None:
    for features in (np.zeros((3, 1)), np.ones((3, 2)), np.ones((1, 2)), np.ones((3, 0))):
        assert "lower rank; allowed: rank" in message_of(lambda each=features: max_det(each))


@settings(max_examples=200)
@given(
    features=arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.integers(1, 5)),
        elements=st.integers(-3, 3).map(float),
    )
)
def test_span(features: FloatArray) -> None:
    span = span_of(features)
    # An integer matrix of this size has exact minors far from 0 or none: numpy's own rank agrees.
    assert span.rank == np.linalg.matrix_rank(features)
    assert span.coordinates.shape == (len(features), span.rank)
    products = span.coordinates @ span.coordinates.T
    assert np.allclose(products, features @ features.T, rtol=0, atol=1e-9), "orthonormal basis"
    if span.rank:
        assert np.linalg.matrix_rank(features[span.pivots]) == span.rank
    if span.rank == features.shape[1]:
        assert span.coordinates is features, "dp-bai, Appendix E.1: the axes stay"
    for i, j in itertools.combinations(range(len(features)), 2):
        if np.array_equal(features[i], features[j]):
            assert np.array_equal(span.coordinates[i], span.coordinates[j])


def test_standard_axes_are_kept() -> None:
    span = span_of(np.eye(8)[[1, 4, 6]])
    assert np.array_equal(span.coordinates, np.eye(3))


def test_tolerance_of_the_rank() -> None:
    # Not in the paper: singular values 1 and 1e-6; by default those above max(n, d) eps count.
    features = np.diag([1.0, 1e-6])
    assert rank_of(features) == 2
    assert rank_of(features, 1e-5) == span_of(features, 1e-5).rank == 1
    assert rank_of(np.diag([1.0, 5e-16])) == 2
    assert rank_of(np.diag([1.0, 4e-16])) == 1


def test_rows_are_multiplied_alike() -> None:
    left, right = np.random.default_rng(6).normal(size=(2, 7, 7))
    left[4] = left[1]
    product = multiply_rows(left, right)
    assert np.allclose(product, left @ right, rtol=0, atol=1e-12)
    assert np.array_equal(product[4], product[1])
