"""Checks of arguments: each returns the accepted value or raises InputError."""

import operator
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.errors import InputError

FloatArray = NDArray[np.float64]

# Larger numbers mean nothing here, and their squares would overflow.
_LARGEST = 1e100

Numbers = Any
"""A float, or an array where an argument is one."""


def refusal(name: str, value: object, allowed: str) -> InputError:
    """The error that says which argument has which value, and what is allowed."""
    return InputError(f"{name}={value!r} is not allowed: it must be {allowed}")


def _numbers(
    accept: Callable[[FloatArray], NDArray[np.bool_]], allowed: str
) -> Callable[[str, ArrayLike], FloatArray]:
    """Return the check of an argument (name, value) that returns an array of floats."""

    def check(name: str, value: ArrayLike) -> FloatArray:
        try:
            given = np.asarray(value)
        except ValueError as error:
            raise refusal(name, value, allowed) from error
        # Text and truth values would turn into numbers silently.
        if given.dtype.kind not in "iuf":
            raise refusal(name, value, allowed)
        array = given.astype(np.float64)
        wrong = ~((array <= _LARGEST) & accept(array))
        if wrong.any():
            raise refusal(name, float(array[wrong].flat[0]), allowed)
        return array

    return check


positive = _numbers(lambda array: array > 0, f"above 0 and at most {_LARGEST}")
non_negative = _numbers(lambda array: array >= 0, f"from 0 to {_LARGEST}")
above_one = _numbers(lambda array: array > 1, f"above 1 and at most {_LARGEST}")
probability = _numbers(lambda array: (array > 0) & (array < 1), "strictly between 0 and 1")
unit_interval = _numbers(lambda array: (array >= 0) & (array <= 1), "from 0 to 1")


def scalar(name: str, array: FloatArray) -> float:
    """The single number of an argument that may not be an array."""
    if array.ndim:
        raise refusal(name, array.tolist(), "a single number")
    return float(array)


def integer(name: str, value: object, minimum: int) -> int:
    """An integer of at least the minimum; a bool and a float are rejected."""
    allowed = f"an integer, {minimum} or above, and at most {_LARGEST}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise refusal(name, value, allowed) from error
    if isinstance(value, bool) or not minimum <= number <= _LARGEST:
        raise refusal(name, value, allowed)
    return number


def choice(name: str, value: str, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    if value not in allowed:
        raise refusal(name, value, "one of " + ", ".join(allowed))
    return value


def unwrap(answer: ArrayLike) -> Numbers:
    """A float for a result without axes, the array otherwise."""
    return np.asarray(answer, dtype=np.float64)[()]
