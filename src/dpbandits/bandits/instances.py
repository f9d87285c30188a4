"""Reward laws with their exact means, and bandits: one law an arm, or features besides."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.bandits import draws
from dpbandits.errors import InputError
from dpbandits.kernels import Arms

MAXIMAL_ARMS = 1_000_000
MAXIMAL_DIMENSION = 10_000
BEST_ARM_TOLERANCE = 1e-12  # means nearer than this to the largest are equal to it


def read_only(values: ArrayLike) -> NDArray[Any]:
    """Return a copy that nobody can write to: results are kept under what it was made of."""
    array = np.array(values)
    array.flags.writeable = False
    # Only the owner of memory can be made writable again.
    return array.view()


@dataclass(frozen=True)
class Law:
    """The reward law of one arm; make one with ``Bernoulli``, ``Uniform`` and the others below.

    Their names have a capital; in lower case they are those of bandits (``bernoulli``).
    """

    name: str  # in descriptions
    code: int  # in kernels (``bandits.draws``)
    parameter: float  # in kernels
    mean: float  # exact
    largest: float = 1.0  # upper end of its rewards, which begin at 0


def _parameter(law: str, key: str, value: Any, high: float, *, positive: bool = False) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= high or (positive and value == 0):
        allowed = f"above 0, at most {high:g}" if positive else f"0 to {high:g}"
        raise InputError(f"{law}: {key} is {value!r}; allowed: {allowed}")
    return float(value)


def Bernoulli(mean: float) -> Law:
    """Reward 1 with probability ``mean`` in [0, 1], else 0."""
    mean = _parameter("bernoulli", "mean", mean, 1.0)
    return Law("bernoulli", draws.BERNOULLI, mean, mean)


def TruncatedExponential(rate: float) -> Law:
    """Exponential law of a rate up to 700, conditioned on [0, 1] (TS-is-DP, Section 5.2).

    Density rate * exp(-rate x) / (1 - exp(-rate)) on [0, 1].
    """
    name = "truncated-exponential"
    rate = _parameter(name, "rate", rate, 700.0, positive=True)
    # By its series where the two terms cancel.
    mean = 0.5 - rate / 12.0 if rate < 1e-4 else 1.0 / rate - 1.0 / math.expm1(rate)
    return Law(name, draws.TRUNCATED_EXPONENTIAL, rate, mean)


def ClippedExponential(rate: float) -> Law:
    """min(X, 1) for exponential X: another interpretation of "exponential on [0, 1]"."""
    name = "clipped-exponential"
    rate = _parameter(name, "rate", rate, 700.0, positive=True)
    return Law(name, draws.CLIPPED_EXPONENTIAL, rate, -math.expm1(-rate) / rate)


def Uniform(high: float) -> Law:
    """Uniform law on [0, ``high``]; ``high`` from 0 (always 0) to 2.

    Above 1 rewards leave the unit interval that the papers' guarantees assume (BAI-E7): they
    are drawn as stated, and only best-arm identification takes them.
    """
    high = _parameter("uniform", "high", high, 2.0)
    return Law("uniform", draws.UNIFORM, high, high / 2.0, high)


def FourthRoot() -> Law:
    """U^(1/4) for uniform U, which is Beta(4, 1) (DP-NCB, panel f)."""
    return Law("fourth-root", draws.FOURTH_ROOT, 1.0, 0.8)


def TwoPoint() -> Law:
    """0.4 or 1 with probability 1/2 each (DP-NCB, panel f)."""
    return Law("two-point", draws.TWO_POINT, 1.0, 0.7)


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
        """Raise InputError unless there are 2 to a million arms, each with its numbers."""
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
        return {part.name: getattr(self, part.name) for part in fields(self)}

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

    @cached_property
    def arrays(self) -> Arms:
        """What a kernel sees of the arms."""
        return Arms(self.laws, self.law_parameters)

    @property
    def largest_reward(self) -> float:
        """Upper end of the rewards of all arms: 1, unless uniform laws reach above it."""
        return max(arm.largest for arm in self.arms)

    def draw(self, arm: int, generator: np.random.Generator) -> float:
        """Draw one reward of ``arm``, in plain Python, from the same stream as the kernels do."""
        law = self.arms[arm]
        return float(draws.draw_reward.py_func(law.code, law.parameter, generator))

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        """Draw the sum of ``count`` rewards of ``arm``, from the same stream as the kernels do."""
        law = self.arms[arm]
        return float(draws.draw_reward_sum.py_func(law.code, law.parameter, count, generator))

    def describe(self) -> list[dict[str, Any]]:
        """Canonical description, one entry an arm; seeds and caches are keyed by it."""
        return [{"law": arm.name, "parameter": arm.parameter} for arm in self.arms]


@dataclass(frozen=True)
class LinearBandit(Bandit):
    """Arms with features: mean of arm i = <features[i], theta>. ``dpbandits.linear`` validates."""

    features: tuple[tuple[float, ...], ...] = ()  # one row an arm, shape (K, d)
    theta: tuple[float, ...] = ()  # unknown to algorithms, shape (d,)

    def __post_init__(self) -> None:
        """Keep features and parameter as they are now."""
        super().__post_init__()
        object.__setattr__(self, "features", tuple(tuple(row) for row in self.features))
        object.__setattr__(self, "theta", tuple(self.theta))

    @cached_property
    def feature_matrix(self) -> NDArray[np.float64]:
        """The features as an array, shape (K, d)."""
        return read_only(self.features)

    @cached_property
    def best_arm(self) -> int:
        """The one arm with the largest mean."""
        return int(self.means.argmax())

    def describe(self) -> list[dict[str, Any]]:
        """Canonical description: features, laws and theta."""
        [law] = {arm.name for arm in self.arms}
        features = [list(row) for row in self.features]
        return [{"law": law, "features": features, "theta": list(self.theta)}]


def _numbers(key: str, values: object) -> list[Any]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"bandit: {key} is {values!r}; allowed: a list of numbers")
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def require_rewards(place: str, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rewards; InputError where one is outside [0, 1]."""
    outside = rewards[~((rewards >= 0.0) & (rewards <= 1.0))]
    if outside.size:
        raise InputError(f"{place}: reward is {outside[0]:.6g}; allowed: 0 to 1")
    return rewards


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


LAWS: dict[str, Callable[[float], Law]] = {
    "uniform": lambda mean: Uniform(2.0 * mean),
    "bernoulli": Bernoulli,
}
"""Name of a family of laws -> the law of a given mean."""


def linear(features: ArrayLike, theta: ArrayLike, law: str = "uniform") -> LinearBandit:
    """Make a linear bandit.

    Args:
        features: one row an arm, shape (K, d), K at least 2; finite, not all 0.
        theta: the parameter, shape (d,); every mean <features[i], theta> has to suit the law.
        law: ``uniform``, Uniform[0, 2 mean] with means from 0 to 1 (above 1/2 rewards leave the
            unit interval), or ``bernoulli``, means from 0 to 1.

    Raises:
        InputError: wrong shapes, numbers that are not finite, features of rank 0, a mean that the
            law does not take, or more than one best arm.

    Example:
        >>> import dpbandits
        >>> dpbandits.linear([[1, 0], [0, 2]], [0.5, 0.2]).means
        array([0.5, 0.4])
    """
    matrix, vector = _array("features", features, 2), _array("theta", theta, 1)
    arms, dimension = matrix.shape
    if arms < 2 or not 1 <= dimension <= MAXIMAL_DIMENSION:
        raise InputError(
            f"linear: features have shape {arms} x {dimension}; allowed: at least 2 arms, "
            f"dimension 1 to {MAXIMAL_DIMENSION}"
        )
    if vector.size != dimension:
        raise InputError(f"linear: theta has {vector.size} entries; allowed: {dimension}")
    if not matrix.any():
        raise InputError("linear: features have rank 0; allowed: at least one that is not 0")
    if law not in LAWS:
        raise InputError.unknown("linear: law", law, LAWS)
    means = matrix @ vector
    laws = tuple(_law(law, arm, float(mean)) for arm, mean in enumerate(means))
    best = np.flatnonzero(means >= means.max() - BEST_ARM_TOLERANCE)
    if best.size > 1:
        shared = ", ".join(map(str, best[:6]))
        raise InputError(f"linear: arms {shared} share the largest mean; allowed: one best arm")
    return LinearBandit(laws, tuple(map(tuple, matrix.tolist())), tuple(vector.tolist()))


def _law(law: str, arm: int, mean: float) -> Law:
    try:
        # A product of numbers that cancel may miss 0 by a rounding.
        return LAWS[law](0.0 if -BEST_ARM_TOLERANCE < mean < 0.0 else mean)
    except InputError:
        raise InputError(
            f"linear: mean of arm {arm} is {mean:.6g}; allowed: 0 to 1 for {law} rewards"
        ) from None


def _array(key: str, values: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    allowed = "rows of numbers of one length" if dimensions == 2 else "a list of numbers"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"linear: {key} are no numbers; allowed: {allowed}") from None
    if array.ndim != dimensions:
        raise InputError(f"linear: {key} have {array.ndim} axes; allowed: {allowed}")
    if not np.isfinite(array).all():
        raise InputError(f"linear: {key} are not all finite; allowed: {allowed}")
    return array


INSTANCES: dict[str, tuple[str, Callable[[Sequence[float]], Bandit]]] = {
    "bernoulli": ("means", bernoulli),
    "truncated-exponential": ("rates", truncated_exponential),
    "clipped-exponential": ("rates", clipped_exponential),
    "uniform": ("highs", uniform),
}
"""Law -> the key that holds its parameters, and the function that makes the instance."""


def bandit_from(description: Mapping[str, Any]) -> Bandit:
    """Make an instance from a mapping such as ``{law: bernoulli, means: [0.7, 0.5]}``.

    Raises:
        InputError: no mapping, unknown law, or keys other than ``law`` and the law's own.
    """
    if not isinstance(description, Mapping):
        raise InputError(f"bandit is {description!r}; allowed: a mapping with the key law")
    law = description.get("law")
    if law != "linear" and (not isinstance(law, str) or law not in INSTANCES):
        raise InputError(f"bandit: law is {law!r}; allowed: {', '.join([*INSTANCES, 'linear'])}")
    needed = ["features", "theta"] if law == "linear" else [INSTANCES[law][0]]
    allowed = ["law", *needed, *(["rewards"] if law == "linear" else [])]
    if not {"law", *needed} <= set(description) <= set(allowed):
        raise InputError(
            f"bandit: keys {sorted(map(str, description))}; allowed for {law}: {', '.join(allowed)}"
        )
    if law == "linear":
        rewards = str(description.get("rewards", "uniform"))
        return linear(description["features"], description["theta"], law=rewards)
    return INSTANCES[law][1](description[needed[0]])
