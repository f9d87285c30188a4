"""Checks of parameters, each ending in one clear line."""

import sys

from dpbandits.errors import InputError


def require_integer(owner: str, key: str, value: object, minimum: int) -> int:
    """Return ``value`` if it is an integer of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise InputError(f"{owner}: {key} is {value!r}; allowed: an integer, at least {minimum}")
    return value


def require_positive(owner: str, key: str, value: object) -> float:
    """Return ``value`` as a float if it is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{owner}: {key} is {value!r}; allowed: a number above 0")
    if not 0 < value <= sys.float_info.max:
        raise InputError(f"{owner}: {key} is {value!r}; allowed: a finite number above 0")
    return float(value)


def require_unit_interval(owner: str, key: str, value: object) -> float:
    """Return ``value`` as a float if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{owner}: {key} is {value!r}; allowed: a number from 0 to 1")
    return float(value)
