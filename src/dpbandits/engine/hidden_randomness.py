"""Random numbers that are drawn from elsewhere than the generator of a run."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from dpbandits.errors import InputError


def global_states() -> dict[str, Any]:
    """Return the states of the global generators of Python, numpy and compiled functions."""
    name, key, position, *rest = np.random.get_state(legacy=True)
    numpy = (name, np.asarray(key).tobytes(), position, *rest)
    return {"random": random.getstate(), "np.random": numpy} | _compiled_states()


def _compiled_states() -> dict[str, Any]:
    """Return the states of the global generators of numba, where this version shows them."""
    try:
        helpers: Any = import_module("numba._helperlib")
        return {
            "np.random, compiled": helpers.rnd_get_state(helpers.rnd_get_np_state_ptr()),
            "random, compiled": helpers.rnd_get_state(helpers.rnd_get_py_state_ptr()),
        }
    except (ImportError, AttributeError):
        return {}


@contextmanager
def refuse_hidden_randomness(place: str) -> Iterator[None]:
    """Raise InputError where what is done inside draws from a global generator.

    Args:
        place: what the line begins with.
    """
    before = global_states()
    yield
    after = global_states()
    for name, state in before.items():
        if after[name] != state:
            raise InputError(
                f"{place}: numbers are drawn from {name}; allowed: from the generator alone"
            )
