"""Instances, as the experiments file names them under ``make``: the paper's and others."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from dpbandits.bandits import Bandit, Bernoulli, FourthRoot, Law, TwoPoint, Uniform, bernoulli
from dpbandits.errors import InputError

ARMS = 50
WEAK_MEAN = 0.002
"""Below 0.9 / 256, so that by the paper's lemmas such an arm is not pulled in Phase II."""


@cache
def drawn_means(seed: int = 42, low: float = 0.005) -> tuple[float, ...]:
    """Return the fifty means of panels (b) to (f): the first draws of a legacy generator.

    Uniform on [low, 1]; the largest, 0.97006, is that of arm 11.

    Args:
        seed: of numpy's legacy generator; the released code has 42.
        low: lower end of the means, from 0 to 1.

    Raises:
        InputError: ``low`` is outside its range.
    """
    if not 0 <= low <= 1:
        raise InputError(f"fifty-arms: low is {low!r}; allowed: 0 to 1")
    # The same numbers as the released code needs the same generator.
    return tuple(np.random.RandomState(seed).uniform(low, 1.0, ARMS).tolist())


@cache
def fifty_arms(seed: int = 42, low: float = 0.005) -> Bandit:
    """Return the fifty Bernoulli arms, panels (b) to (e); arguments as ``drawn_means``."""
    return bernoulli(drawn_means(seed, low))


def _law_of(nominal: float) -> Law:
    """Return the law of a nominal mean in panel (f), whose true mean is another below 0.75."""
    if nominal >= 0.75:
        return Bernoulli(nominal)
    if nominal >= 0.5:
        return FourthRoot()
    return TwoPoint() if nominal >= 0.25 else Uniform(1.0)


@cache
def mixed_arms(seed: int = 42, low: float = 0.005) -> Bandit:
    """Return the panel (f): the means of ``fifty_arms`` choose the law of each arm.

    They are kept as nominal means, by which the released code scores regret.
    """
    nominal = drawn_means(seed, low)
    return Bandit(tuple(_law_of(mean) for mean in nominal), nominal=nominal)


@cache
def vanishing_arm(horizon: int) -> Bandit:
    """Return the panel (a): Bernoulli arms with means (2e)^-T and 1, the bad one first.

    The mean is 0 in double precision from T = 441 on; its logarithm is kept exactly.

    Args:
        horizon: T, at least 1.

    Raises:
        InputError: T is below 1.
    """
    if not horizon >= 1:
        raise InputError(f"vanishing-arm: horizon is {horizon!r}; allowed: at least 1")
    logarithm = -horizon * (1.0 + math.log(2.0))
    bad, good = Bernoulli(math.exp(logarithm)), Bernoulli(1.0)
    return Bandit((bad, good), logarithms=(logarithm, 0.0))


@cache
def weak_arms() -> Bandit:
    """Return 45 arms with mean 0.002, far below mu*/256, and five from 0.5 to 0.9 (for C22)."""
    return bernoulli([WEAK_MEAN] * 45 + [0.5, 0.6, 0.7, 0.8, 0.9])


INSTANCES: dict[str, Callable[..., Bandit]] = {
    "fifty-arms": fifty_arms,
    "mixed-arms": mixed_arms,
    "vanishing-arm": vanishing_arm,
    "weak-arms": weak_arms,
}
