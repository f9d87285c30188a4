"""The privacy audit of dp-bai against the kernels, on tables that are certain.

Rewards are Bernoulli of mean 0 or 1, so that the sums are known and the noise alone decides.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

import dpbandits
from dp_bai_trials import near
from dpbandits.auditing.best_arm import (
    WITNESS,
    dp_od_scales,
    tree_chances,
    unit_vectors,
)
from dpbandits.auditing.laplace import log_tail, log_tail_of_two

Values = NDArray[np.float64]

DIAGONAL = unit_vectors(46.0, 224.0)


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
    "DP-OD on diagonals and their midpoint": (
        "dp-od",
        np.vstack([DIAGONAL, DIAGONAL.mean(axis=0)]),
        [1, 0],
        7,
        lambda: two_sums(2, dp_od_scales(DIAGONAL, "l2")),
    ),
    "features u, u/2, u/4": (
        "dp-bai",
        np.array(WITNESS),
        [1],
        7,
        lambda: float((1.0 - np.exp(log_tail(2, 1.0 / 0.7))) ** 2),
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
    """20000 trials each, within 4.5 standard errors: one of eight wrong once in 18000 times."""
    algorithm, features, means, budget, chance = KERNELS[case]
    assert near(success(algorithm, features, means, budget), chance(), 20_000)


def test_kernel_and_engine_would_differ_at_another_scale() -> None:
    """Negative control of the test above: noise for 0.8 in place of 0.7."""
    found = success("dp-bai", np.eye(2), [1, 0], 6)
    assert not near(found, 1.0 - float(np.exp(log_tail_of_two(2 * 0.8))), 20_000)
