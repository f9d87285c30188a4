"""Checks of user-defined algorithms while they are played; those of the registry are trusted.

Every batch of segments or trials is checked before the engine records it: a fault is one line that
names the algorithm, the round and the value, and nothing of it reaches the cache. What takes longer
is left to ``check_algorithm``.
"""

import math
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import REGISTRY, Definition
from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm, Outcome, Task
from dpbandits.bandits import Bandit
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import Arms, Segments, first_fault

MOST_PULLS = 2**53
"""Pulls up to which a sum of pulls is exact as a float."""

UNWRITTEN = -(2**62)
"""In buffers that nothing has been written to."""


def is_user_defined(definition: Definition) -> bool:
    """Return whether an algorithm is outside the registry."""
    return REGISTRY.get(definition.id) is not definition


def place_of(algorithm: str, number: int | None = None) -> str:
    """Return how messages name an algorithm, and a round of it."""
    return f"algorithm {algorithm}" + ("" if number is None else f", round {number}")


def settings_of(
    definition: Algorithm,
    parameters: Any,
    interpretations: Mapping[str, str],
    horizon: int,
    arms: int,
) -> Any:
    """Return the settings of the kernel; InputError where the user's fail, or have a fault."""
    if not is_user_defined(definition):
        return definition.settings(horizon, arms, **vars(parameters), **interpretations)
    place = place_of(definition.id)
    with user_code(place, "settings"):
        settings = definition.settings(horizon, arms, **vars(parameters), **interpretations)
    given = getattr(settings, "horizon", None)
    if given is None or given != horizon:
        raise InputError(f"{place}: horizon of the settings is {given!r}; allowed: {horizon}")
    return settings


def require_task(definition: IdentificationAlgorithm, task: Task) -> None:
    """Raise InputError where the budget is too small, or where the user's code fails."""
    with user_code(place_of(definition.id), "require"):
        definition.require(task)


def prepared(
    definition: Any, parameters: Any, interpretations: Mapping[str, str], bandit: Any, length: int
) -> Any:
    """Return the settings of a kernel, or the task of an identification algorithm."""
    if not isinstance(definition, IdentificationAlgorithm):
        return settings_of(definition, parameters, interpretations, length, len(bandit.arms))
    task = Task(parameters, interpretations, bandit, length)
    require_task(definition, task)
    return task


def checked(definition: Definition, bandit: Bandit, horizon: int) -> Any:
    """Return the algorithm as the engine plays it: checked, unless it is in the registry."""
    # Custom arms put their rewards in the place of the laws.
    on_table = getattr(bandit, "on_custom_arms", None)
    played: Any = definition if on_table is None else on_table(definition, horizon)
    if not is_user_defined(definition):
        return played
    if isinstance(definition, IdentificationAlgorithm):
        return replace(definition, play=partial(_checked_play, definition))
    largest = np.array([float(arm.largest) for arm in bandit.arms])
    return replace(
        played,
        state=partial(_checked_state, played),
        advance=partial(_checked_advance, played, horizon, largest),
        skip=None,
    )


def _checked_state(algorithm: Algorithm, arms: int) -> Any:
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


def _checked_advance(
    algorithm: Algorithm,
    horizon: int,
    largest: NDArray[np.float64],
    settings: Any,
    state: Any,
    arms: Arms,
    rng: np.random.Generator,
    out: Segments,
) -> int:
    """Play a batch as the kernel does; InputError on the first fault."""
    begin, size = int(state.clock[0]), out.arms.size
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


def _checked_play(
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
        ("pulls", "iu", (trials, arms), MOST_PULLS // arms),
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
