"""What a policy remembers: numbers and arrays on ``self``, kept in arrays between two batches."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.errors import InputError

Memory = dict[str, NDArray[Any]]
"""Name of an attribute -> its array; a number is an array of shape ()."""

_TYPES = {"b": np.bool_, "i": np.int64, "f": np.float64}
_WORDS = {"b": "a bool", "i": "an integer", "f": "a number"}


def class_numbers(policy: type) -> dict[str, Any]:
    """Return the numbers in the body of a class, and of those that it inherits from."""
    found: dict[str, Any] = {}
    for each in reversed(policy.__mro__[:-1]):
        own = {name: value for name, value in vars(each).items() if not name.startswith("__")}
        found |= {name: value for name, value in own.items() if kind_of_number(value)}
    return found


def kind_of_number(value: object) -> str:
    """Return ``b``, ``i`` or ``f`` for a number, of Python or numpy, and "" for anything else."""
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | np.integer):
        return "i"
    return "f" if isinstance(value, float | np.floating) else ""


def memory_of(place: str, me: Any, parameters: Collection[str]) -> Memory:
    """Return copies of all that an object remembers.

    Args:
        place: what error messages begin with.
        me: an object of the policy's class.
        parameters: names of its parameters, which are left out.

    Raises:
        InputError: an attribute is neither a number nor an array of numbers.
    """
    own = {**class_numbers(type(me)), **vars(me)}
    return {
        name: _array_of(f"{place}: self.{name}", value)
        for name, value in own.items()
        if name not in parameters
    }


def _array_of(title: str, value: object) -> NDArray[Any]:
    kind = kind_of_number(value)
    if kind:
        try:
            return np.array(value, _TYPES[kind])
        except OverflowError:
            raise InputError(f"{title} is {value!r}; allowed: integers of 64 bits") from None
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "biuf":
        return np.array(value, order="C")
    raise InputError(
        f"{title} is {type(value).__name__}; allowed: numbers, and numpy arrays of numbers"
    )


def require_alike(place: str, found: Memory, expected: Memory, allowed: str) -> None:
    """Raise InputError where two memories differ in names, types or shapes.

    Args:
        place: what error messages begin with.
        found: one of them; its integers may stand for numbers.
        expected: the other one.
        allowed: what is allowed, in words.
    """
    for name in {**expected, **found}:
        titles = [_title(memory.get(name)) for memory in (found, expected)]
        if titles[0] != titles[1] and titles != [_WORDS["i"], _WORDS["f"]]:
            raise InputError(
                f"{place}: self.{name} is {titles[0]}, and was {titles[1]}; allowed: {allowed}"
            )


def _title(array: NDArray[Any] | None) -> str:
    if array is None:
        return "not set"
    return f"{array.dtype} of shape {array.shape}" if array.shape else _WORDS[array.dtype.kind]
