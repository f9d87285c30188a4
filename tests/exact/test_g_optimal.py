"""G-optimal designs and their whole numbers of pulls (Yang and Tan, 2022)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpbandits.algorithms.best_arm.g_optimal import Design, efficient_counts, g_optimal
from dpbandits.algorithms.best_arm.span import FloatArray
from support import message_of


def variances(features: FloatArray, weights: FloatArray) -> FloatArray:
    inverse = np.linalg.inv((features.T * weights) @ features)
    return np.asarray(np.einsum("ij,jk,ik->i", features, inverse, features))


def verify(features: FloatArray, design: Design) -> None:
    """Check the certificate of Kiefer and Wolfowitz and the size of the support.

    The search stops at 1e-9 of the dimension and the polish solves the support to rounding: 1e-8.
    """
    rank = features.shape[1]
    assert (design.weights >= 0).all()
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    found = variances(features, design.weights)
    assert found.max() == pytest.approx(rank, rel=1e-8)
    assert design.certificate == pytest.approx(rank, rel=1e-8)
    assert np.allclose(found[design.weights > 0], rank, rtol=1e-8)
    assert np.count_nonzero(design.weights) <= rank * (rank + 1) // 2


@given(omegas=st.lists(st.floats(0.0, 0.8), min_size=27, max_size=27))
def test_instance_of_section_5(omegas: list[float]) -> None:
    # dp-bai, Section 5: weight 1/2 on arms 1 and 3; a^T V^-1 a is 2 on them, 1.62 on arm 2 and
    # 1/50 + 2 omega^2 on the others.
    features = np.array([[0, 1], [0, 0.9], [10, 0], *([1, omega] for omega in omegas)])
    design = g_optimal(features)
    # Exact to rounding: ceil(m/2) pulls of each must not become one more (tolerance 1e-9 pulls).
    assert np.allclose(design.weights, [0.5, 0, 0.5, *[0] * 27], rtol=0, atol=1e-14)
    expected = [2, 1.62, 2, *(0.02 + 2 * omega**2 for omega in omegas)]
    assert np.allclose(variances(features, design.weights), expected, rtol=1e-12)
    verify(features, design)


@settings(max_examples=150)
@given(
    features=st.integers(1, 5).flatmap(
        lambda rank: arrays(
            np.float64,
            st.tuples(st.integers(rank, 30), st.just(rank)),
            elements=st.integers(-3, 3).map(float),
        )
    )
)
def test_designs_on_a_grid(features: FloatArray) -> None:
    # Twins, zeros and symmetric sets, whose optimum is not unique.
    independent = features + 7 * np.eye(*features.shape)
    verify(independent, g_optimal(independent))


@pytest.mark.parametrize("rank", range(1, 7))
def test_designs_on_random_sets(rank: int) -> None:
    generator = np.random.default_rng(rank)
    for _ in range(20):
        features = generator.normal(size=(generator.integers(rank, 300), rank))
        verify(features, g_optimal(features))


def test_no_design_has_a_larger_determinant() -> None:
    # Kiefer and Wolfowitz: the optimum of log det V, compared with random designs.
    generator = np.random.default_rng(1)
    features = generator.normal(size=(20, 3))
    best = g_optimal(features).weights
    nearby = best * generator.uniform(0.9, 1.1, (200, 20))
    for other in [*generator.dirichlet(np.full(20, 0.2), 500), *nearby]:
        moment = (features.T * other / other.sum()) @ features
        optimal = np.linalg.slogdet((features.T * best) @ features)[1]
        assert np.linalg.slogdet(moment)[1] <= optimal + 1e-12


@pytest.mark.parametrize("copies", [1, 3, 40])
def test_independent_features_share_alike(copies: int) -> None:
    # r independent features: 1/r each; with copies any split is optimal, at most r(r + 1)/2 arms.
    features = np.vstack([np.diag([1.0, 5.0, 0.01, 2.0])] * copies)
    design = g_optimal(features)
    verify(features, design)
    assert np.allclose(design.weights.reshape(copies, 4).sum(axis=0), 0.25, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n", "rank"), [(200, 6), (1000, 4)])
def test_large_support_is_reduced(n: int, rank: int) -> None:
    # Directions all around: the uniform start is nearly optimal, and Caratheodory has to help.
    features = np.random.default_rng(2).normal(size=(n, rank - 1))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    features = np.column_stack([np.ones(n), features])
    verify(features, g_optimal(features))


def test_units_do_not_matter() -> None:
    features = np.random.default_rng(3).normal(size=(40, 4))
    plain, scaled = g_optimal(features), g_optimal(features * [1e-6, 1e-3, 1.0, 1e6])
    assert np.allclose(plain.weights, scaled.weights, rtol=0, atol=1e-9)


def test_rounding_does_not_choose_between_optima() -> None:
    # Twins and symmetric sets, whose optimum is not unique, in coordinates that differ by a map.
    generator = np.random.default_rng(4)
    for _ in range(100):
        features = generator.integers(-1, 2, size=(20, 3)) + 3.0 * np.eye(20, 3)
        rotation = np.linalg.qr(generator.normal(size=(3, 3)))[0]
        plain, turned = g_optimal(features), g_optimal(features @ rotation)
        assert np.allclose(plain.weights, turned.weights, rtol=0, atol=1e-9)


def test_wrong_features() -> None:
    for features in (np.zeros((3, 1)), np.ones((3, 2)), np.ones((1, 2)), np.ones((3, 0))):
        assert "lower rank; allowed: rank" in message_of(lambda each=features: g_optimal(each))


@given(
    shares=st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any),
    extra=st.integers(0, 10_000),
)
def test_efficient_counts(shares: list[int], extra: int) -> None:
    weights = np.array(shares) / sum(shares)
    support = np.count_nonzero(weights)
    counts = efficient_counts(weights, support + extra)
    assert counts.sum() == support + extra
    assert ((counts > 0) == (weights > 0)).all()
    # Apportionment by the method of Adams has no shift that would help: between any two features
    # of the support, (n_i - 1) / w_i <= n_j / w_j.
    used = weights > 0
    most, least = (counts[used] - 1) / weights[used], counts[used] / weights[used]
    assert most.max() <= least.min() * (1 + 1e-8)


def test_efficient_counts_by_hand() -> None:
    # N = 7, l = 3: ceil(5.5 w) = 3, 2, 2 for w = 0.5, 0.3, 0.2, which sum to 7.
    assert efficient_counts(np.array([0.5, 0.0, 0.3, 0.2]), 7).tolist() == [3, 0, 2, 2]
    # N = 5, equal thirds: ceil(3.5/3) = 2 each is one too many; it is taken from the first.
    assert efficient_counts(np.full(3, 1 / 3), 5).tolist() == [1, 2, 2]
