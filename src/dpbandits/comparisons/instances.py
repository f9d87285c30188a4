"""Families of instances for any number of arms, as the experiments file names them.

Arms stand in an order drawn once for their number, so that no rule for ties gains by it.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpbandits.bandits import Bandit, bernoulli, linear, truncated_exponential, uniform
from dpbandits.papers.dp_ncb.instances import fifty_arms

Means = NDArray[np.float64]

ORDER = 20240719
"""Root of the draws of the order of arms."""


def _rate(mean: float) -> float:
    """Return the rate of the truncated exponential law of a mean from 0.01 to 0.49."""
    return float(brentq(lambda rate: 1.0 / rate - 1.0 / math.expm1(rate) - mean, 0.05, 200.0))


LAWS: dict[str, Callable[[Means], Bandit]] = {
    "bernoulli": lambda means: bernoulli(means.tolist()),
    "uniform": lambda means: uniform((2.0 * _halved(means)).tolist()),
    "exponential": lambda means: truncated_exponential([*map(_rate, _halved(means))]),
}
"""Law of the rewards -> the arms; where rewards are not 0 or 1, of means below 1/2."""


def _halved(means: Means) -> Means:
    return 0.01 + 0.48 * means


def _bandit(means: Means, axes: bool = False, rewards: str = "bernoulli") -> Bandit:
    """Return arms of these means; with ``axes`` as a linear bandit, an axis an arm."""
    mixed = np.random.default_rng([ORDER, means.size]).permutation(means)
    return linear(np.eye(mixed.size), mixed, law="bernoulli") if axes else LAWS[rewards](mixed)


@cache
def one_good(arms: int, best: float, others: float) -> Bandit:
    """Return one arm of mean ``best`` among equal others."""
    return _bandit(np.array([best] + [others] * (arms - 1)))


@cache
def falling(arms: int, best: float, worst: float, power: float) -> Bandit:
    """Return means that fall from ``best`` to ``worst``: by x^power, x from 0 to 1.

    Power 1 is linear, above 1 concave (many good arms).
    """
    return _bandit(best - (best - worst) * np.linspace(0.0, 1.0, arms) ** power)


@cache
def flattening(arms: int, best: float, worst: float, power: float) -> Bandit:
    """Return means that fall from ``best`` to ``worst``, convex where power is above 1."""
    return _bandit(worst + (best - worst) * np.linspace(1.0, 0.0, arms) ** power)


@cache
def random_means(arms: int, seed: int) -> Bandit:
    """Return means that are drawn uniformly from [0, 1] once."""
    return _bandit(np.random.default_rng([seed, arms]).random(arms))


@cache
def drawn(arms: int, number: int, rewards: str = "bernoulli", axes: bool = False) -> Bandit:
    """Return an instance drawn at random: how good its arms are, how far apart, and their shape.

    The lowest and the highest mean are two uniform draws. The others lie between, at U^p of the
    way up, U uniform and p from 1/4 (many good arms) to 4 (few), its logarithm uniform.
    """
    generator = np.random.default_rng([ORDER, arms, number])
    lowest, highest = np.sort(generator.random(2))
    power = 4.0 ** generator.uniform(-1.0, 1.0)
    between = generator.random(arms - 2) ** power
    means = lowest + (highest - lowest) * np.concatenate(([0.0, 1.0], between))
    return _bandit(means, axes, rewards)


@cache
def directions(arms: int, dimensions: int, number: int) -> Bandit:
    """Return arms and a parameter in directions drawn at random, none with a negative entry."""
    generator = np.random.default_rng([ORDER, arms, dimensions, number])
    vectors = np.abs(generator.standard_normal((arms + 1, dimensions)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return linear(vectors[1:], vectors[0], law="bernoulli")


INSTANCES: dict[str, Callable[..., Bandit]] = {
    "one-good": one_good,
    "falling": falling,
    "flattening": flattening,
    "random-means": random_means,
    "drawn": drawn,
    "directions": directions,
    "fifty-arms": fifty_arms,
}
