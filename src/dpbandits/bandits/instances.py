"""Bandit instances: one reward law per arm."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def read_only(values: ArrayLike) -> NDArray[Any]:
    """Return a copy that nobody can write to: results are kept under what it was made of."""
    array = np.array(values)
    array.flags.writeable = False
    # Only the owner of memory can be made writable again.
    return array.view()


@dataclass(frozen=True)
class Bandit:
    """Independent arms; they are numbered 0 to K - 1 in the given order.

    Its arrays are read-only.

    Attributes:
        arms: the reward law of each arm.
        nominal: means that regret may be scored by instead of the true ones, where a paper does
            so (DP-NCB, panel f); one an arm, in [0, 1], or none.
        logarithms: logarithms of the means, where these may be too small for a double (DP-NCB,
            panel a); one an arm, finite, or none. What is drawn depends on neither of them.
    """

    arms: tuple[Law, ...]
    nominal: tuple[float, ...] = field(default=(), kw_only=True)
    logarithms: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Raise InputError unless there are between 2 and a million arms, each with its numbers."""
        for key in ("arms", "nominal", "logarithms"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        if not 2 <= len(self.arms) <= MAXIMAL_ARMS:
            raise InputError(f"bandit: {len(self.arms)} arms; allowed: 2 to {MAXIMAL_ARMS}")
        for key in ("nominal", "logarithms"):
            if len(getattr(self, key)) not in (0, len(self.arms)):
                raise InputError(
                    f"bandit: {len(getattr(self, key))} {key} for {len(self.arms)} arms; "
                    f"allowed: one an arm"
                )
        for mean in self.nominal:
            if not 0.0 <= mean <= 1.0:
                raise InputError(f"bandit: nominal mean is {mean!r}; allowed: 0 to 1")
        for arm, logarithm in zip(self.arms, self.logarithms, strict=False):
            mean = math.exp(min(logarithm, 1.0))
            if math.isinf(logarithm) or not math.isclose(mean, arm.mean, abs_tol=1e-300):
                raise InputError(
                    f"bandit: logarithm is {logarithm!r}; allowed: that of the mean {arm.mean!r}"
                )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: arrays that follow from them would arrive writable elsewhere."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Exact means, shape (K,)."""
        return read_only([float(arm.mean) for arm in self.arms])

    @cached_property
    def nominal_means(self) -> NDArray[np.float64]:
        """Means that regret may be scored by, shape (K,): the nominal ones, or the true ones."""
        return read_only(np.array(self.nominal, np.float64)) if self.nominal else self.means

    @cached_property
    def log_means(self) -> NDArray[np.float64]:
        """Logarithms of the means, shape (K,); minus infinity where a mean is 0."""
        if self.logarithms:
            return read_only(np.array(self.logarithms, np.float64))
        with np.errstate(divide="ignore"):
            return read_only(np.log(self.means))

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """Largest mean minus each mean, shape (K,)."""
        return read_only(self.means.max() - self.means)

    @cached_property
    def laws(self) -> NDArray[np.int64]:
        """Codes of the laws, shape (K,), for kernels."""
        return read_only(np.array([arm.code for arm in self.arms], np.int64))

    @cached_property
    def law_parameters(self) -> NDArray[np.float64]:
        """The parameter of each law, shape (K,), for kernels."""
        return read_only([arm.parameter for arm in self.arms])

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
