"""What a policy guarantees: stated by its author, or labelled as not stated."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpbandits.errors import InputError
from dpbandits.privacy.guarantee import Guarantee

KINDS = {
    "pure": ("epsilon",),
    "gdp": ("eta",),
    "renyi": ("rho",),
    "approximate": ("epsilon", "delta"),
}
"""Kind of guarantee -> the parameters of the policy that are its numbers."""


@dataclass(frozen=True)
class NotStated(Guarantee):
    """No guarantee, which does not say that there is none."""

    @property
    def name(self) -> str:
        """Its label."""
        return "no guarantee stated"


def guarantee_function(
    owner: str, given: object, parameters: Collection[str]
) -> Callable[[Any, int], Guarantee]:
    """Return the function (parameters, horizon) -> guarantee of a policy.

    Args:
        owner: what error messages call the policy.
        given: None; the name of a kind, whose numbers are parameters of the policy; a
            ``Guarantee``; or the function itself.
        parameters: names of the policy's parameters.

    Raises:
        InputError: it is none of these, or a parameter is missing.
    """
    if given is None:
        return partial(_constant, NotStated("none"))
    if isinstance(given, Guarantee):
        return partial(_constant, given)
    if isinstance(given, str) and given in KINDS:
        missing = [name for name in KINDS[given] if name not in parameters]
        if missing:
            raise InputError(
                f"{owner}: guarantee is {given!r}, and there is no parameter {missing[0]}; "
                f"allowed: the parameters {', '.join(KINDS[given])}, or a function of them"
            )
        return partial(_of_parameters, given)
    if callable(given):
        return given
    raise InputError(
        f"{owner}: guarantee is {given!r}; allowed: {', '.join(map(repr, KINDS))}, a Guarantee, or "
        f"a function (parameters, horizon) that returns one"
    )


def _constant(guarantee: Guarantee, parameters: Any, horizon: int) -> Guarantee:
    return guarantee


def _of_parameters(kind: Any, parameters: Any, horizon: int) -> Guarantee:
    numbers = [float(getattr(parameters, name)) for name in KINDS[kind]]
    return Guarantee(kind, numbers[0], slack=numbers[1] if numbers[1:] else 0.0)
