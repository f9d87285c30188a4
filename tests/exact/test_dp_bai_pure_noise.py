"""Pure noise in dp-bai: its limits and tails against printed values, simulations and the kernels.

Simulations have fixed seeds and are compared within 4.5 standard errors (``dp_bai_trials``).
"""

import math

import numpy as np
import pytest

import dpbandits
from dp_bai_trials import TRIALS, near
from dpbandits.auditing.best_arm import deviation
from dpbandits.auditing.laplace import log_tail_of_two
from dpbandits.papers.dp_bai.instances import section5, two_armed
from dpbandits.papers.dp_bai.privacy import (
    cone_chance,
    crossing,
    linear_limit,
    log_gauss_tail,
    uniform_limit,
)


def test_limits_of_pure_noise_are_those_of_the_spec() -> None:
    """Section 5, for every omega: 3/8, 21/44 and 1/30; Appendix E.2: 1/2 for two arms."""
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
    """BAI-C16, to the digits printed; Gauss is the lighter tail beyond and not before."""
    found = crossing(delta)
    assert math.exp(found) == pytest.approx(level, rel=digits)
    grid = np.linspace(0.01, 200.0, 5000)
    logs = log_tail_of_two(grid)
    beyond = logs < found - 1e-9
    assert (log_gauss_tail(grid[beyond], delta) < logs[beyond]).all()
    before = logs > found + 1e-9
    assert (log_gauss_tail(grid[before], delta) > logs[before]).all()


def test_gauss_is_lighter_everywhere_at_large_delta() -> None:
    """Its deviation is the smaller one iff delta > 1.25/e = 0.46; at 0.9 by far."""
    assert math.exp(crossing(0.9)) == pytest.approx(0.5, rel=1e-12)
    assert deviation(1.0, 1.25 / math.e, "classical") == pytest.approx(math.sqrt(2.0), rel=1e-12)
