"""User-defined algorithms are checked while they are played; those of the registry are trusted.

Every batch of segments is checked before the engine records it, laws are read-only, and some
batches are played twice: equal random streams have to give equal decisions. A fault is one line
that names the algorithm, the round and the value, and nothing of it reaches the cache.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm, Task
from dpbandits.bandits import Bandit
from dpbandits.engine.checked_kernel import CheckedKernel, CheckedStates
from dpbandits.engine.checked_trials import CheckedPlay
from dpbandits.engine.user_code import place_of, user_code
from dpbandits.errors import InputError

_batches: Counter[str] = Counter()
"""Number of batches that this process has checked, for each fingerprint and stream."""


def is_user_defined(definition: Definition) -> bool:
    """Return whether an algorithm is outside the registry."""
    return REGISTRY.get(definition.id) is not definition


def checked(definition: Definition, bandit: Bandit, horizon: int, key: str) -> Definition:
    """Return the algorithm as the engine plays it: checked, unless it is in the registry.

    Args:
        definition: the algorithm.
        bandit: the instance.
        horizon: number of rounds, or the budget.
        key: names fingerprint and stream; its first batch is played twice, and so are the second,
            the fourth, the eighth and so on.
    """
    is_trusted = not is_user_defined(definition)
    # Arms of the user's own put their rewards in the place of the laws.
    on_own_arms = getattr(bandit, "on_own_arms", None)
    if on_own_arms is not None:
        definition = on_own_arms(definition, horizon)
    if is_trusted:
        return definition
    is_due = partial(plays_twice, key)
    if isinstance(definition, IdentificationAlgorithm):
        return replace(definition, play=CheckedPlay(definition, is_due))
    assert isinstance(definition, Algorithm)
    kernel = CheckedKernel(definition, bandit, horizon, is_due)
    return replace(definition, advance=kernel, state=CheckedStates(definition))


def plays_twice(key: str) -> bool:
    """Count one more batch of ``key``; return whether its number is a power of two."""
    _batches[key] += 1
    return _batches[key] & (_batches[key] - 1) == 0


def settings_of(
    definition: Algorithm,
    parameters: Any,
    interpretations: Mapping[str, str],
    horizon: int,
    arms: int,
) -> Any:
    """Return the settings of the kernel.

    Raises:
        InputError: those of a user-defined algorithm fail, or have another horizon.
    """
    if not is_user_defined(definition):
        return definition.settings(horizon, arms, **vars(parameters), **interpretations)
    place = place_of(definition.id)
    with user_code(place, "settings"):
        settings = definition.settings(horizon, arms, **vars(parameters), **interpretations)
    found = getattr(settings, "horizon", None)
    if found is None or found != horizon:
        raise InputError(f"{place}: horizon of the settings is {found!r}; allowed: {horizon}")
    return settings


def require_task(definition: IdentificationAlgorithm, task: Task) -> None:
    """Raise InputError where the budget is too small, or where the user's code fails."""
    if not is_user_defined(definition):
        definition.require(task)
        return
    with user_code(place_of(definition.id), "require"):
        definition.require(task)
