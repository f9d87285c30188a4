"""Families of instances for any number of arms, as the experiments file names them.

Arms stand in an order drawn once for their number, so that no rule for ties gains by it.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, bernoulli, linear
from dpbandits.papers.dp_ncb.instances import fifty_arms

Means = NDArray[np.float64]

ORDER = 20240719
"""Root of the draws of the order of arms."""


def _bandit(means: Means, axes: bool) -> Bandit:
    """Return Bernoulli arms of these means; with ``axes`` as a linear bandit, an axis an arm."""
    mixed = np.random.default_rng([ORDER, means.size]).permutation(means)
    if axes:
        return linear(np.eye(mixed.size), mixed, law="bernoulli")
    return bernoulli(mixed.tolist())


@cache
def one_good(arms: int, best: float, others: float, axes: bool = False) -> Bandit:
    """Return one arm of mean ``best`` among equal others."""
    return _bandit(np.array([best] + [others] * (arms - 1)), axes)


@cache
def falling(arms: int, best: float, worst: float, power: float, axes: bool = False) -> Bandit:
    """Return means that fall from ``best`` to ``worst``: by x^power, x from 0 to 1.

    Power 1 is linear, above 1 concave (many good arms).
    """
    return _bandit(best - (best - worst) * np.linspace(0.0, 1.0, arms) ** power, axes)


@cache
def flattening(arms: int, best: float, worst: float, power: float, axes: bool = False) -> Bandit:
    """Return means that fall from ``best`` to ``worst``, convex where power is above 1."""
    return _bandit(worst + (best - worst) * np.linspace(1.0, 0.0, arms) ** power, axes)


@cache
def random_means(arms: int, seed: int, axes: bool = False) -> Bandit:
    """Return means that are drawn uniformly from [0, 1] once."""
    return _bandit(np.random.default_rng([seed, arms]).random(arms), axes)


@cache
def drawn(arms: int, number: int) -> Bandit:
    """Return an instance drawn at random: how good its arms are, how far apart, and their shape.

    The lowest and the highest mean are two uniform draws. The others lie between, at U^p of the
    way up, U uniform and p from 1/4 (many good arms) to 4 (few), its logarithm uniform.
    """
    generator = np.random.default_rng([ORDER, arms, number])
    lowest, highest = np.sort(generator.random(2))
    power = 4.0 ** generator.uniform(-1.0, 1.0)
    between = generator.random(arms - 2) ** power
    return _bandit(lowest + (highest - lowest) * np.concatenate(([0.0, 1.0], between)), False)


def quarter_circle(arms: int, theta: Sequence[float]) -> Bandit:
    """Return arms in two dimensions, in directions from one axis to the other."""
    angles = np.linspace(0.0, np.pi / 2, arms)
    return linear(np.stack([np.cos(angles), np.sin(angles)], axis=1), theta, law="bernoulli")


INSTANCES: dict[str, Callable[..., Bandit]] = {
    "one-good": one_good,
    "falling": falling,
    "flattening": flattening,
    "random-means": random_means,
    "drawn": drawn,
    "quarter-circle": quarter_circle,
    "fifty-arms": fifty_arms,
}
