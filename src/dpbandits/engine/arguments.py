"""Arguments that the Python functions share, checked in one line each."""

from numbers import Integral
from typing import Any

import numpy as np

from dpbandits.engine.cache import Cache
from dpbandits.errors import InputError


def require_seed(seed: object) -> int:
    """Return the root seed; InputError unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed is {seed!r}; allowed: a whole number of at least 0")
    return int(seed)


def require_workers(workers: object) -> int:
    """Return the number of worker processes; InputError unless it is at least 1."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers is {workers!r}; allowed: a whole number of at least 1")
    return workers


def require_cache(cache: object) -> Cache:
    """Return the cache to use, the default one or none; InputError unless it is True or False."""
    if not isinstance(cache, bool):
        raise InputError(f"cache is {cache!r}; allowed: True or False")
    return Cache(is_used=cache)


def whole_number(value: Any) -> Any:
    """Return a float that is a whole number, such as 1e5, as an int; anything else as it is."""
    if isinstance(value, float | np.floating) and value.is_integer():
        return int(value)
    return value
