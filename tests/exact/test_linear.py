"""Linear bandits: means, laws, descriptions, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.bandits import bandit_from
from dpbandits.bandits.draws import FOURTH_ROOT, TWO_POINT, UNIFORM, draw_reward
from dpbandits.papers.dp_bai.instances import section5, sphere, standard_basis, two_armed
from support import message_of


def test_means_are_products_of_features_and_theta() -> None:
    bandit = dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    np.testing.assert_allclose(bandit.means, [0.5, 0.45, 0.45], rtol=1e-15)
    assert bandit.best_arm == 0
    assert [arm.largest for arm in bandit.arms] == pytest.approx([1.0, 0.9, 0.9])
    assert not bandit.feature_matrix.flags.writeable


def test_the_instance_of_section_5() -> None:
    # dp-bai, Section 5, I-A: means 0.5, 0.45, 0.45 and 0.045 + omega/2, at most 0.445.
    for draw in range(20):
        bandit = section5(draw=draw)
        omega = bandit.feature_matrix[3:, 1]
        assert len(bandit.arms) == 30
        np.testing.assert_allclose(bandit.means[:3], [0.5, 0.45, 0.45], rtol=1e-15)
        np.testing.assert_allclose(bandit.means[3:], 0.045 + omega / 2, rtol=1e-14)
        assert omega.min() >= 0
        assert omega.max() <= 0.8
        assert bandit.largest_reward <= 1
    assert section5(draw=1) != section5(draw=0)


def test_the_two_armed_instance_leaves_the_unit_interval() -> None:
    # BAI-E7: Uniform[0, 1.1] at Delta = 0.05, whatever the ratio.
    for ratio in (1, 2, 5, 100):
        bandit = two_armed(ratio)
        np.testing.assert_allclose(bandit.means, [0.55, 0.5], rtol=1e-15)
        assert bandit.largest_reward == pytest.approx(1.1)


def test_our_instances() -> None:
    assert standard_basis().means.tolist() == [0.5] + [0.45] * 7
    # dp-bai, Section 5, I-C (ii): mu_1 = 0.5 and all other means in [0.15, 0.45].
    means = sphere().means
    assert means[0] == pytest.approx(0.5)
    assert means[1:].min() >= 0.15 - 1e-12
    assert means[1:].max() <= 0.45 + 1e-12
    np.testing.assert_allclose(
        np.linalg.norm(sphere().feature_matrix[1:, 1:], axis=1), 1, rtol=1e-12
    )


def test_a_description_makes_the_same_bandit() -> None:
    features, theta = [[0.0, 1.0], [0.0, 0.9], [10.0, 0.0]], [0.045, 0.5]
    described = {"law": "linear", "features": features, "theta": theta}
    assert bandit_from(described) == dpbandits.linear(features, theta)
    assert bandit_from({**described, "rewards": "bernoulli"}).arms[0].mean == 0.5


@pytest.mark.parametrize(
    ("features", "theta", "law", "words"),
    [
        ([[1, 0]], [1, 0], "uniform", "1 x 2; allowed: at least 2 arms"),
        ([1, 2], [1], "uniform", "features have 1 axes"),
        ([[1, 0], [0, 1]], [1], "uniform", "theta has 1 entries; allowed: 2"),
        ([[1, 0], [0]], [1, 0], "uniform", "features are no numbers"),
        ([["a", 0], [0, 1]], [1, 0], "uniform", "features are no numbers"),
        ([[math.nan, 0], [0, 1]], [1, 0], "uniform", "features are not all finite"),
        ([[0, 0], [0, 0]], [1, 0], "uniform", "rank 0"),
        ([[1, 0], [0, 1]], [0.4, 0.4], "uniform", "arms 0, 1 share the largest mean"),
        ([[1, 0], [0, 1]], [1.4, 0.4], "uniform", "mean of arm 0 is 1.4; allowed: 0 to 1"),
        ([[1, 0], [0, 1]], [0.4, -0.4], "bernoulli", "mean of arm 1 is -0.4; allowed: 0 to 1"),
        ([[1, 0], [0, 1]], [0.5, 0.4], "gauss", "law is 'gauss'; allowed: uniform, bernoulli"),
    ],
)
def test_refusals(features: Any, theta: Any, law: str, words: str) -> None:
    assert words in message_of(lambda: dpbandits.linear(features, theta, law))


def test_refused_descriptions() -> None:
    given = {"law": "linear", "features": [[1, 0], [0, 1]], "theta": [0.5, 0.4]}
    assert "allowed for linear" in message_of(lambda: bandit_from({**given, "means": [1]}))
    assert "linear" in message_of(lambda: bandit_from({"law": "nothing"}))
    assert "ratio is 0" in message_of(lambda: two_armed(0))
    assert "gap is 0.6" in message_of(lambda: two_armed(2, 0.6))
    assert "high is 2.5; allowed: 0 to 2" in message_of(lambda: dpbandits.uniform([2.5, 1]))


def test_regret_algorithms_refuse_rewards_above_one() -> None:
    bandit = dpbandits.uniform([1.1, 0.5])
    message = message_of(
        lambda: dpbandits.simulate(algorithm="ucb1", bandit=bandit, horizon=10, runs=1)
    )
    assert "rewards reach 1.1; allowed: at most 1" in message


class OneUniform:
    """A generator whose uniform is given."""

    def __init__(self, uniform: float) -> None:
        self.uniform = uniform

    def random(self) -> float:
        return self.uniform


@pytest.mark.parametrize("uniform", [0.0, 0.2, 0.5, 0.99])
def test_inversion_of_the_laws_without_a_rate(uniform: float) -> None:
    given: Any = OneUniform(uniform)
    assert draw_reward.py_func(UNIFORM, 0.9, given) == 0.9 * uniform
    # P(U^(1/4) < x) = x^4, the law Beta(4, 1) of DP-NCB, panel f.
    assert draw_reward.py_func(FOURTH_ROOT, 1.0, given) ** 4 == pytest.approx(uniform)
    assert draw_reward.py_func(TWO_POINT, 1.0, given) == (0.4 if uniform < 0.5 else 1.0)
