"""Guarantees of algorithms and conversions between them, each in one line of text."""

import math
from collections.abc import Mapping
from inspect import signature
from typing import Any

from dpbandits.algorithms import find_definition
from dpbandits.algorithms.base import Definition, IdentificationAlgorithm
from dpbandits.engine.arguments import merged_parameters, whole_number
from dpbandits.engine.parameters import parameters_of
from dpbandits.errors import InputError
from dpbandits.privacy import Guarantee
from dpbandits.privacy.conversions import KINDS, Converted, Level, convert

LISTED_HORIZON = 10**8
LISTED_BUDGET = 1000
LARGEST_HORIZON = 2**53


def guarantee(
    algorithm: str | Definition,
    *,
    horizon: float,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    **parameters: Any,
) -> Guarantee:
    """Return what an algorithm guarantees over a horizon or budget, for all instances.

    That of one instance is ``dpbandits.simulate(...).guarantee``.

    Args:
        algorithm: an id (``dpbandits list``) or an algorithm of your own.
        horizon: number of rounds, or budget of pulls, at least 1.
        params: the algorithm's parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        interpretations: named interpretations that depart from their defaults.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: anything unknown or out of range, in one line.

    Example:
        >>> import dpbandits
        >>> found = dpbandits.guarantee("ldp-ncb", epsilon=0.5, horizon=1000)
        >>> found.model, found.status, found.basis
        ('local', 'proved', 'NCB-C16')
    """
    definition = find_definition(algorithm)
    values = merged_parameters(definition, params, parameters, ARGUMENTS)
    rounds = whole_number(horizon)
    if isinstance(rounds, bool) or not isinstance(rounds, int):
        raise InputError(f"horizon is {horizon!r}; allowed: an integer")
    if not 1 <= rounds <= LARGEST_HORIZON:
        raise InputError(f"horizon is {rounds}; allowed: from 1 to {LARGEST_HORIZON}")
    return definition.guarantee(
        parameters_of(definition, values),
        rounds,
        variant=definition.require_variant(variant),
        interpretations=definition.interpretations_from(interpretations or {}, variant),
    )


ARGUMENTS = [name for name in signature(guarantee).parameters if name != "parameters"]
"""What ``guarantee`` takes beside the parameters of algorithms."""


def at_delta(found: Guarantee, delta: float) -> str:
    """Return what a guarantee is at a delta, in one line."""
    epsilon = found.epsilon(delta)
    if found.kind == "none":
        return found.describe()
    if found.status == "refuted" or math.isinf(epsilon):
        return f"{found.describe()}; nothing follows at delta={delta:.6g}"
    condition = "" if found.status == "proved" else ", if it holds"
    return f"{found.describe()}; ({epsilon:.6g}, {delta:.6g})-DP{condition}"


def listed(definition: Definition) -> list[str]:
    """Return a line for each variant: what it guarantees at the example's parameters."""
    identifies = isinstance(definition, IdentificationAlgorithm)
    horizon = LISTED_BUDGET if identifies else LISTED_HORIZON
    values = {**definition.example, "T": horizon}
    where = ", ".join(f"{name}={value}" for name, value in values.items())
    return [
        f"guarantee {variant} ({where}): "
        + guarantee(
            definition, params=definition.example, horizon=horizon, variant=variant
        ).describe()
        for variant in definition.variants
    ]


def conversion(
    given: Mapping[str, float], kind: str, wanted: Mapping[str, float]
) -> tuple[Level, list[Converted]]:
    """Return a guarantee, and what it implies in another kind, with sources.

    Args:
        given: a kind and its value; for ``renyi`` also order, for ``approximate`` also delta.
        kind: what is wanted.
        wanted: order for ``renyi``; delta or epsilon for ``approximate``.

    Raises:
        InputError: nothing of that kind follows, or a name or number is not allowed.
    """
    kinds = [name for name in given if name in KINDS]
    if len(kinds) != 1:
        allowed = ", ".join(f"{name}=VALUE" for name in KINDS)
        raise InputError(f"given is {_words(given)}; allowed: one of {allowed}")
    _require_names("given", given, (kinds[0], "order", "delta"))
    _require_names("to", wanted, ("order", "delta", "epsilon"))
    level = Level(kinds[0], given[kinds[0]], given.get("order"), given.get("delta"))
    return level, convert(level, kind, **wanted)


def _words(values: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in values.items()) or "nothing"


def _require_names(key: str, values: Mapping[str, float], allowed: tuple[str, ...]) -> None:
    for name in values:
        if name not in allowed:
            raise InputError.unknown(key, name, allowed)
