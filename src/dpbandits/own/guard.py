"""Checks of users' algorithms while they are played; those of the registry are trusted.

Every batch of segments or trials is checked before the engine records it: a fault is one line that
names the algorithm, the round and the value, and nothing of it reaches the cache. What takes longer
is left to ``check_algorithm``.
"""

import math
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import Definition
from dpbandits.algorithms.base import (
    LARGEST_INTEGER,
    Algorithm,
    IdentificationAlgorithm,
    Outcome,
    Task,
)
from dpbandits.bandits.draws import UNIFORM
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import Arms, Segments, first_fault

UNWRITTEN = -(2**62)
"""In buffers that nothing has been written to."""


def place_of(algorithm: str, number: int | None = None) -> str:
    """Return how messages name an algorithm, and a round of it."""
    return f"algorithm {algorithm}" + ("" if number is None else f", round {number}")


def guarded(definition: Definition) -> Any:
    """Return an algorithm whose functions are checked whenever they are called."""
    if isinstance(definition, IdentificationAlgorithm):
        require, play = partial(_require, definition), partial(_play, definition)
        return replace(definition, require=require, play=play)
    assert isinstance(definition, Algorithm)
    return replace(
        definition,
        settings=partial(_settings, definition),
        state=partial(_state, definition),
        advance=partial(_advance, definition),
        skip=None,
    )


def _settings(algorithm: Algorithm, horizon: int, arms: int, **chosen: Any) -> Any:
    """Return the settings of the kernel; InputError where the user's fail, or have a fault."""
    place = place_of(algorithm.id)
    with user_code(place, "settings"):
        settings = algorithm.settings(horizon, arms, **chosen)
    given = getattr(settings, "horizon", None)
    if given is None or given != horizon:
        raise InputError(f"{place}: horizon of the settings is {given!r}; allowed: {horizon}")
    return settings


def _require(algorithm: IdentificationAlgorithm, task: Task) -> None:
    """Raise InputError where the budget is too small, or where the user's code fails."""
    with user_code(place_of(algorithm.id), "require"):
        algorithm.require(task)


def _state(algorithm: Algorithm, arms: int) -> Any:
    """Return the state before round 1, in arrays that no other run has."""
    place = place_of(algorithm.id)
    with user_code(place, "state"):
        state = deepcopy(algorithm.state(arms))
    clock = getattr(state, "clock", None)
    is_clock = isinstance(clock, np.ndarray) and clock.shape == (1,) and clock.dtype.kind == "i"
    if not isinstance(state, tuple) or not is_clock or clock[0] != 0:  # type: ignore[index]
        raise InputError(
            f"{place}: state is {state!r}; allowed: a NamedTuple of arrays whose clock is one "
            f"integer, which is 0"
        )
    return state


def _largest(arms: Arms) -> NDArray[np.float64]:
    """Return the largest reward of each arm: 1, except of a uniform law."""
    is_uniform = arms.laws == UNIFORM
    ones = np.ones(is_uniform.size)
    # The parameters of the user's arms are tables.
    return np.where(is_uniform, arms.parameters, ones) if is_uniform.any() else ones


def _advance(
    algorithm: Algorithm,
    settings: Any,
    state: Any,
    arms: Arms,
    rng: np.random.Generator,
    out: Segments,
) -> int:
    """Play a batch as the kernel does; InputError on the first fault."""
    begin, size, horizon = int(state.clock[0]), out.arms.size, settings.horizon
    largest = _largest(arms)
    place = place_of(algorithm.id, begin + 1)
    out.arms[:], out.lengths[:], out.sums[:] = UNWRITTEN, UNWRITTEN, math.nan
    with user_code(place, "advance"):
        count = algorithm.advance(settings, state, arms, rng, out)
    is_integer = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not is_integer or not 1 <= count <= size:
        raise InputError(f"{place}: advance returns {count!r}; allowed: 1 to {size} segments")
    n, end = first_fault(out, count, begin, horizon, largest)
    if n < count:
        arm, left = int(out.arms[n]), horizon - end
        most = largest[arm] if 0 <= arm < largest.size else largest.max()
        raise InputError(
            f"{place_of(algorithm.id, end + 1)}: segment is arm {arm}, length {out.lengths[n]}, "
            f"sum of rewards {out.sums[n]:g}; allowed: arm 0 to {largest.size - 1}, length 1 to "
            f"{left}, rewards 0 to {most:g} a round"
        )
    if state.clock[0] != end:
        raise InputError(
            f"{place}: clock is {state.clock[0]} after the batch; allowed: {end}, the rounds of "
            f"its segments counted"
        )
    return int(count)


def _play(
    algorithm: IdentificationAlgorithm, task: Task, generator: np.random.Generator, trials: int
) -> Outcome:
    """Play a batch of trials; InputError on the first fault."""
    place, arms = place_of(algorithm.id), len(task.bandit.arms)
    with user_code(place, "play"):
        outcome = algorithm.play(task, generator, trials)
    if not isinstance(outcome, Outcome):
        raise InputError(f"{place}: play returns {type(outcome).__name__}; allowed: an Outcome")
    for name, kinds, shape, largest in (
        ("recommended", "iu", (trials,), arms - 1),
        ("pulls", "iu", (trials, arms), LARGEST_INTEGER // arms),
        ("exact", "b", (trials,), 1),
    ):
        array = np.asarray(getattr(outcome, name))
        if array.dtype.kind not in kinds or array.shape != shape:
            allowed = "truth values" if kinds == "b" else "integers"
            raise InputError(
                f"{place}: {name} is {array.dtype} of shape {array.shape}; allowed: {allowed} of "
                f"shape {shape}"
            )
        bad = (array < 0) | (array > largest)
        if bad.any():
            trial, value = int(np.argwhere(bad)[0][0]), array[bad][0]
            raise InputError(f"{place}, trial {trial}: {name} is {value}; allowed: 0 to {largest}")
    return outcome


COMPILED = ("np.random, compiled", "random, compiled")


def _global_states() -> dict[str, Any]:
    """Return the states of the global generators of Python, numpy and compiled functions."""
    name, key, position, *rest = np.random.get_state(legacy=True)
    numpy = (name, np.asarray(key).tobytes(), position, *rest)
    states: dict[str, Any] = {"random": random.getstate(), "np.random": numpy}
    try:
        helpers: Any = import_module("numba._helperlib")
        pointers = (helpers.rnd_get_np_state_ptr(), helpers.rnd_get_py_state_ptr())
        return states | dict(zip(COMPILED, map(helpers.rnd_get_state, pointers), strict=True))
    except (ImportError, AttributeError):
        # Not every version of numba shows them.
        return states


def is_alone() -> bool:
    """Return whether no other thread runs."""
    return threading.active_count() == 1


@contextmanager
def refuse_hidden_randomness(place: str) -> Iterator[None]:
    """Raise InputError where what is done inside draws from a global generator.

    Where other threads run they may have drawn the numbers: then only the generators of compiled
    functions are compared, of which every thread has its own.
    """
    alone, before = is_alone(), _global_states()
    yield
    after = _global_states()
    for name, state in before.items():
        if after[name] != state and (alone or name in COMPILED):
            raise InputError(
                f"{place}: numbers are drawn from {name}; allowed: from the generator alone"
            )
