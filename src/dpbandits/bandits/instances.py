"""Bandit instances: one reward law per arm."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits.draws import draw_reward, draw_reward_sum
from dpbandits.bandits.laws import (
    Bernoulli,
    ClippedExponential,
    Law,
    TruncatedExponential,
    Uniform,
)
from dpbandits.errors import InputError

MAXIMAL_ARMS = 1_000_000


@dataclass(frozen=True)
class Bandit:
    """Independent arms; they are numbered 0 to K - 1 in the given order."""

    arms: tuple[Law, ...]

    def __post_init__(self) -> None:
        """Raise InputError unless there are between 2 and a million arms."""
        if not 2 <= len(self.arms) <= MAXIMAL_ARMS:
            raise InputError(f"bandit: {len(self.arms)} arms; allowed: 2 to {MAXIMAL_ARMS}")

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Exact means, shape (K,)."""
        return np.array([arm.mean for arm in self.arms], dtype=np.float64)

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """Largest mean minus each mean, shape (K,)."""
        return np.asarray(self.means.max() - self.means)

    @cached_property
    def laws(self) -> NDArray[np.int64]:
        """Codes of the laws, shape (K,), for kernels."""
        return np.array([arm.code for arm in self.arms], dtype=np.int64)

    @cached_property
    def law_parameters(self) -> NDArray[np.float64]:
        """The parameter of each law, shape (K,), for kernels."""
        return np.array([arm.parameter for arm in self.arms])

    @property
    def largest_reward(self) -> float:
        """Upper end of the rewards of all arms: 1, but for uniform laws that reach above it."""
        return max(arm.largest for arm in self.arms)

    def draw(self, arm: int, generator: np.random.Generator) -> float:
        """Draw one reward of ``arm``, in plain Python, from the same stream as the kernels do."""
        law = self.arms[arm]
        return float(draw_reward.py_func(law.code, law.parameter, generator))

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        """Draw the sum of ``count`` rewards of ``arm``, from the same stream as the kernels do."""
        law = self.arms[arm]
        return float(draw_reward_sum.py_func(law.code, law.parameter, count, generator))

    def describe(self) -> list[dict[str, Any]]:
        """Canonical description, one entry an arm; seeds and caches are keyed by it."""
        return [{"law": arm.name, "parameter": arm.parameter} for arm in self.arms]


def _numbers(key: str, values: object) -> list[Any]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"bandit: {key} is {values!r}; allowed: a list of numbers")
    return [each.item() if isinstance(each, np.generic) else each for each in values]


def bernoulli(means: Sequence[float]) -> Bandit:
    """Arms that pay 1 with the given probabilities (each in [0, 1])."""
    return Bandit(tuple(Bernoulli(mean) for mean in _numbers("means", means)))


def truncated_exponential(rates: Sequence[float]) -> Bandit:
    """Arms with exponential rewards conditioned on [0, 1]; rates above 0."""
    return Bandit(tuple(TruncatedExponential(rate) for rate in _numbers("rates", rates)))


def clipped_exponential(rates: Sequence[float]) -> Bandit:
    """Arms with exponential rewards clipped at 1; rates above 0."""
    return Bandit(tuple(ClippedExponential(rate) for rate in _numbers("rates", rates)))


def uniform(highs: Sequence[float]) -> Bandit:
    """Arms with uniform rewards on [0, high]; each high from 0 to 2."""
    return Bandit(tuple(Uniform(high) for high in _numbers("highs", highs)))


INSTANCES: dict[str, tuple[str, Callable[[Sequence[float]], Bandit]]] = {
    "bernoulli": ("means", bernoulli),
    "truncated-exponential": ("rates", truncated_exponential),
    "clipped-exponential": ("rates", clipped_exponential),
    "uniform": ("highs", uniform),
}
"""Law -> the key that holds its parameters, and the function that makes the instance."""
