"""Linear bandits: every arm has a known feature vector, and its mean is linear in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.bandits.instances import Bandit, read_only
from dpbandits.bandits.laws import Bernoulli, Law, Uniform
from dpbandits.errors import InputError

MAXIMAL_DIMENSION = 10_000
BEST_ARM_TOLERANCE = 1e-12
"""Means nearer than this to the largest are equal to it, but for rounding."""

LAWS: dict[str, Callable[[float], Law]] = {
    "uniform": lambda mean: Uniform(2.0 * mean),
    "bernoulli": Bernoulli,
}
"""Name of a family of laws -> the law of a given mean."""


@dataclass(frozen=True)
class LinearBandit(Bandit):
    """Arms with features: mean of arm i = <features[i], theta>.

    Make one with ``dpbandits.linear``, which validates.

    Attributes:
        arms: the reward law of each arm.
        features: one row an arm, as tuples; shape (K, d).
        theta: the parameter, unknown to algorithms; shape (d,).
    """

    features: tuple[tuple[float, ...], ...] = ()
    theta: tuple[float, ...] = ()

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
    rows = tuple(tuple(float(each) for each in row) for row in matrix)
    return LinearBandit(laws, rows, tuple(float(each) for each in vector))


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
    except (TypeError, ValueError):
        raise InputError(f"linear: {key} are no numbers; allowed: {allowed}") from None
    if array.ndim != dimensions:
        raise InputError(f"linear: {key} have {array.ndim} axes; allowed: {allowed}")
    if not np.isfinite(array).all():
        raise InputError(f"linear: {key} are not all finite; allowed: {allowed}")
    return array


def linear_from(description: Mapping[str, Any]) -> LinearBandit:
    """Make a linear bandit from a mapping with the keys features, theta and rewards.

    Raises:
        InputError: another key, or what ``linear`` rejects.
    """
    given = {key: value for key, value in description.items() if key != "law"}
    if not {"features", "theta"} <= set(given) <= {"features", "theta", "rewards"}:
        raise InputError(
            f"bandit: keys {sorted(map(str, description))}; allowed for linear: law, features, "
            f"theta, rewards"
        )
    return linear(given["features"], given["theta"], str(given.get("rewards", "uniform")))
