"""What an algorithm of this project is: metadata, parameters, a kernel and its reference."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from dpbandits.bandits import Bandit
from dpbandits.errors import InputError
from dpbandits.privacy.guarantees import Guarantee

Readings = Mapping[str, str]
Chunk = tuple[int, int, float]
"""(arm, number of rounds it is played in a row, sum of their rewards)."""

VARIANTS = ("as-written", "as-coded", "repaired")


@dataclass(frozen=True)
class Algorithm:
    """One regret algorithm: all that the engine needs to validate, run and describe it.

    Attributes:
        id: name in configs and on the command line.
        name: name as its paper writes it, for legends.
        paper: where it is defined (paper, algorithm number).
        parameters: frozen dataclass that validates itself; its fields are the parameters.
        settings: (parameters, readings, horizon, arms) -> NamedTuple of scalars for the kernel;
            its class is declared in the algorithm's file.
        state: (arms) -> NamedTuple of arrays, the whole state between two calls of the kernel;
            its field ``clock`` (shape (1,)) counts the rounds played.
        advance: the kernel, (settings, state, laws, law_parameters, generator, arms, lengths,
            sums) -> number of chunks written; it stops at the horizon or when the arrays are full.
        reference: the same algorithm in plain Python, line by line after the pseudo-code,
            (settings, bandit, generator) -> chunks, on the same stream decision for decision.
        guarantee: (parameters, horizon) -> the guarantee that the paper states.
        example: allowed parameters, to compile, test and document the algorithm with.
        readings: name -> allowed values, the default first.
        variants: the variants that exist.
    """

    id: str
    name: str
    paper: str
    parameters: type[Any]
    settings: Callable[[Any, Readings, int, int], Any]
    state: Callable[[int], Any]
    advance: Callable[..., int]
    reference: Callable[[Any, Bandit, np.random.Generator], Iterator[Chunk]]
    guarantee: Callable[[Any, int], Guarantee]
    example: Mapping[str, Any]
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variants: tuple[str, ...] = ("as-written",)

    def parameters_from(self, values: Mapping[str, Any]) -> Any:
        """Return validated parameters; InputError on a missing, unknown or bad one."""
        allowed = [each.name for each in fields(self.parameters)]
        if set(values) != set(allowed):
            given = ", ".join(sorted(map(str, values))) or "none"
            raise InputError(
                f"{self.id}: parameters are {given}; allowed: {', '.join(allowed) or 'none'}"
            )
        plain = {key: v.item() if isinstance(v, np.generic) else v for key, v in values.items()}
        return self.parameters(**plain)

    def readings_from(self, values: Readings) -> dict[str, str]:
        """Return every reading with its value, defaults filled in; InputError on a bad one."""
        if not isinstance(values, Mapping):
            raise InputError(f"{self.id}: readings are {values!r}; allowed: a mapping")
        for key, value in values.items():
            if key not in self.readings:
                names = ", ".join(self.readings) or "none"
                raise InputError(f"{self.id}: reading {key!r} is unknown; allowed: {names}")
            if value not in self.readings[key]:
                allowed = ", ".join(self.readings[key])
                raise InputError(f"{self.id}: reading {key} is {value!r}; allowed: {allowed}")
        return {key: values.get(key, allowed[0]) for key, allowed in self.readings.items()}

    def require_variant(self, variant: str) -> str:
        """Return the variant; InputError where this algorithm has none of that name."""
        if variant not in self.variants:
            allowed = ", ".join(self.variants)
            raise InputError(f"{self.id}: variant is {variant!r}; allowed: {allowed}")
        return variant
