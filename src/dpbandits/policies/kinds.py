"""What the parameters of a policy may be, declared as ``epsilon=positive, pulls=whole(1)``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass
from functools import partial
from typing import Any

from dpbandits.algorithms.validation import (
    require_integer,
    require_positive,
    require_unit_interval,
)
from dpbandits.errors import InputError


@dataclass(frozen=True)
class Kind:
    """What one parameter may be.

    Attributes:
        type: ``float`` or ``int``.
        require: (owner, name, value) -> the value; raises InputError where it is out of range.
        example: an allowed value, to check the policy with.
    """

    type: type
    require: Callable[[str, str, object], Any]
    example: float


positive = Kind(float, require_positive, 1.0)
"""A number above 0."""

fraction = Kind(float, require_unit_interval, 0.5)
"""A number from 0 to 1."""


def whole(minimum: int = 0) -> Kind:
    """Return the kind of whole numbers of at least ``minimum``.

    Raises:
        InputError: the minimum is no whole number.
    """
    if isinstance(minimum, bool) or not isinstance(minimum, int):
        raise InputError(f"whole: minimum is {minimum!r}; allowed: an integer")
    return Kind(int, partial(require_integer, minimum=minimum), minimum + 1)


def parameters_class(owner: str, module: str, kinds: Mapping[str, Kind]) -> type[Any]:
    """Return a frozen dataclass with these parameters, which validates itself.

    Args:
        owner: what error messages call the policy.
        module: where the policy is defined.
        kinds: name -> what the parameter may be.
    """

    def __post_init__(self: Any) -> None:  # noqa: N807  (the method of a dataclass)
        for name, kind in kinds.items():
            kind.require(owner, name, getattr(self, name))

    made = make_dataclass(
        "Parameters",
        [(name, kind.type) for name, kind in kinds.items()],
        frozen=True,
        namespace={"__post_init__": __post_init__},
    )
    made.__module__ = module
    return made
