"""Random numbers that are drawn from elsewhere than the generator of a run."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from dpbandits.errors import InputError

COMPILED = ("np.random, compiled", "random, compiled")


def global_states() -> dict[str, Any]:
    """Return the states of the global generators of Python, numpy and compiled functions."""
    name, key, position, *rest = np.random.get_state(legacy=True)
    numpy = (name, np.asarray(key).tobytes(), position, *rest)
    return {"random": random.getstate(), "np.random": numpy} | _compiled_states()


def _compiled_states() -> dict[str, Any]:
    """Return the states of the global generators of numba, where this version shows them."""
    try:
        helpers: Any = import_module("numba._helperlib")
        pointers = (helpers.rnd_get_np_state_ptr(), helpers.rnd_get_py_state_ptr())
        return dict(zip(COMPILED, map(helpers.rnd_get_state, pointers), strict=True))
    except (ImportError, AttributeError):
        return {}


def is_alone() -> bool:
    """Return whether no other thread runs."""
    return threading.active_count() == 1


@contextmanager
def refuse_hidden_randomness(place: str) -> Iterator[None]:
    """Raise InputError where what is done inside draws from a global generator.

    Where other threads run they may have drawn the numbers: then only the generators of compiled
    functions are compared, of which every thread has its own.

    Args:
        place: what the line begins with.
    """
    alone, before = is_alone(), global_states()
    yield
    after = global_states()
    for name, state in before.items():
        if after[name] != state and (alone or name in COMPILED):
            raise InputError(
                f"{place}: numbers are drawn from {name}; allowed: from the generator alone"
            )
