"""Validated parameters of an algorithm, with the defaults of user-defined ones."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from dpbandits.algorithms.base import Definition
from dpbandits.engine.user_code import place_of, user_code
from dpbandits.errors import InputError

MINIMAL_EPSILON = 1e-100
"""Below about 1e-307 noise overflows, and draws from its posteriors never end."""


def parameters_of(definition: Definition, values: Mapping[str, Any]) -> Any:
    """Return the validated parameters; what is not given has its default.

    Raises:
        InputError: one is missing, unknown or out of range, or epsilon is below 1e-100.
    """
    defaults: dict[str, Any] = {}
    for each in fields(definition.parameters):
        if each.default is not MISSING:
            defaults[each.name] = each.default
        elif each.default_factory is not MISSING:
            defaults[each.name] = each.default_factory()
    with user_code(place_of(definition.id), "parameters"):
        parameters = definition.parameters_from({**defaults, **values})
    epsilon = getattr(parameters, "epsilon", 1.0)
    if isinstance(epsilon, int | float) and 0.0 < epsilon < MINIMAL_EPSILON:
        raise InputError(
            f"{definition.id}: epsilon is {epsilon!r}; allowed: at least {MINIMAL_EPSILON:g}"
        )
    return parameters
