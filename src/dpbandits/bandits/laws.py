"""Reward laws with their exact means, on [0, 1] but for the uniform one."""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

from dpbandits.bandits import draws
from dpbandits.errors import InputError


def _require_number(law: str, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{law}: {key} is {value!r}; allowed: a number")
    if not abs(value) <= sys.float_info.max:
        raise InputError(f"{law}: {key} is {value!r}; allowed: a finite number")
    return float(value)


@dataclass(frozen=True)
class Bernoulli:
    """Reward 1 with probability ``mean`` in [0, 1], else 0."""

    mean: float
    name: ClassVar[str] = "bernoulli"
    code: ClassVar[int] = draws.BERNOULLI

    def __post_init__(self) -> None:
        """Raise InputError unless the mean is in [0, 1]."""
        if not 0.0 <= _require_number(self.name, "mean", self.mean) <= 1.0:
            raise InputError(f"bernoulli: mean is {self.mean!r}; allowed: 0 to 1")

    @property
    def parameter(self) -> float:
        """Parameters of the law for the kernels."""
        return float(self.mean)

    @property
    def largest(self) -> float:
        """Upper end of the rewards: 1."""
        return 1.0


@dataclass(frozen=True)
class _Exponential:
    rate: float
    name: ClassVar[str] = "exponential"
    largest: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        """Raise InputError unless the rate is positive (at most 700, where e^rate overflows)."""
        if not 0.0 < _require_number(self.name, "rate", self.rate) <= 700.0:
            raise InputError(f"{self.name}: rate is {self.rate!r}; allowed: above 0, at most 700")

    @property
    def parameter(self) -> float:
        """Parameters of the law for the kernels."""
        return float(self.rate)


@dataclass(frozen=True)
class TruncatedExponential(_Exponential):
    """Exponential law of the given rate, conditioned on [0, 1] (TS-is-DP, Section 5.2).

    Density rate * exp(-rate x) / (1 - exp(-rate)) on [0, 1].
    """

    name: ClassVar[str] = "truncated-exponential"
    code: ClassVar[int] = draws.TRUNCATED_EXPONENTIAL

    @property
    def mean(self) -> float:
        """Return 1/rate - 1/(e^rate - 1), by its series where the two terms cancel."""
        rate = float(self.rate)
        if rate < 1e-4:
            return 0.5 - rate / 12.0
        return 1.0 / rate - 1.0 / math.expm1(rate)


@dataclass(frozen=True)
class ClippedExponential(_Exponential):
    """min(X, 1) for exponential X: another interpretation of "exponential on [0, 1]" (TSDP-E11)."""

    name: ClassVar[str] = "clipped-exponential"
    code: ClassVar[int] = draws.CLIPPED_EXPONENTIAL

    @property
    def mean(self) -> float:
        """Return (1 - e^-rate) / rate."""
        return -math.expm1(-float(self.rate)) / float(self.rate)


@dataclass(frozen=True)
class Uniform:
    """Uniform law on [0, ``high``]; ``high`` from 0 (always 0) to 2.

    Above 1 rewards leave the unit interval that the papers' guarantees assume (BAI-E7): they
    are drawn as stated, and only best-arm identification takes them.
    """

    high: float
    name: ClassVar[str] = "uniform"
    code: ClassVar[int] = draws.UNIFORM

    def __post_init__(self) -> None:
        """Raise InputError unless the upper end is in [0, 2]."""
        if not 0.0 <= _require_number(self.name, "high", self.high) <= 2.0:
            raise InputError(f"uniform: high is {self.high!r}; allowed: 0 to 2")

    @property
    def mean(self) -> float:
        """Half the upper end."""
        return float(self.high) / 2.0

    @property
    def parameter(self) -> float:
        """Parameters of the law for the kernels."""
        return float(self.high)

    @property
    def largest(self) -> float:
        """Upper end of the rewards."""
        return float(self.high)


@dataclass(frozen=True)
class FourthRoot:
    """U^(1/4) for uniform U, which is Beta(4, 1) (DP-NCB, panel f)."""

    name: ClassVar[str] = "fourth-root"
    code: ClassVar[int] = draws.FOURTH_ROOT
    mean: ClassVar[float] = 0.8
    parameter: ClassVar[float] = 1.0
    largest: ClassVar[float] = 1.0


@dataclass(frozen=True)
class TwoPoint:
    """0.4 or 1 with probability 1/2 each (DP-NCB, panel f)."""

    name: ClassVar[str] = "two-point"
    code: ClassVar[int] = draws.TWO_POINT
    mean: ClassVar[float] = 0.7
    parameter: ClassVar[float] = 1.0
    largest: ClassVar[float] = 1.0


Law = Bernoulli | TruncatedExponential | ClippedExponential | Uniform | FourthRoot | TwoPoint
"""Any reward law of one arm."""
