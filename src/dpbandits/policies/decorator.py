"""The decorator that makes an algorithm of a class."""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from types import FunctionType
from typing import Any

import numba

from dpbandits.algorithms.base import Algorithm, Kind, require_plain
from dpbandits.errors import InputError
from dpbandits.policies.kernel import advance
from dpbandits.policies.reference import Reference
from dpbandits.policies.rule import Rule
from dpbandits.privacy.guarantee import Guarantee

ARGUMENTS = {
    "choose": ("self", "t", "counts", "sums", "rng"),
    "update": ("self", "arm", "reward", "counts", "sums", "rng"),
    "start": ("self", "arms", "horizon", "rng"),
}
"""Methods that the engine calls, with their arguments."""


def policy(
    *,
    name: str,
    guarantee: str | Guarantee | Callable[[Any, int], Guarantee] | None = None,
    **parameters: Kind,
) -> Callable[[type], Algorithm]:
    """Return a decorator that makes an ``Algorithm`` of a class with the method ``choose``.

    The class has

    - ``choose(self, t, counts, sums, rng)``, which returns the arm to pull, from 0. ``t`` rounds
      have been played, ``counts`` (integers) and ``sums`` (of rewards) are by arm, shape (K,), and
      ``rng`` is the run's ``numpy.random.Generator``, the only source of randomness;
    - ``update(self, arm, reward, counts, sums, rng)``, where it wants to see rewards: it is called
      after each, which is in ``counts`` and ``sums`` already;
    - ``start(self, arms, horizon, rng)``, where it remembers more: it is called before the first
      round and sets attributes of ``self``, numbers or numpy arrays, whose types and shapes depend
      on the number of arms alone. Numbers in the body of the class are remembered, too.

    Parameters are attributes of ``self``. Methods are compiled by numba, with checked indices;
    where one does not compile a line says why, and plain Python plays. ``check_algorithm`` compares
    the two, decision for decision.

    Args:
        name: name in figures; its letters and digits make the ``id``.
        guarantee: how it is private: ``"pure"`` (by the parameter ``epsilon``), ``"gdp"`` (by
            ``eta``), ``"renyi"`` (by ``rho``) or ``"approximate"`` (by ``epsilon`` and ``delta``);
            a ``Guarantee``; or a function (parameters, horizon) that returns one. Without it the
            policy is labelled "no guarantee stated".
        parameters: name -> ``positive``, ``fraction`` or ``whole(minimum)``.

    Raises:
        InputError: the class has no ``choose``, or something else is not as above, in one line.

    Example:
        >>> import dpbandits
        >>> @dpbandits.policy(name="Mostly arm 0", share=dpbandits.fraction)
        ... class Mostly:
        ...     def choose(self, t, counts, sums, rng):
        ...         return 0 if rng.random() < self.share else t % counts.size
        >>> simulation = dpbandits.simulate(
        ...     algorithm=Mostly,
        ...     params={"share": 1.0},
        ...     bandit=dpbandits.bernoulli([0.7, 0.5]),
        ...     horizon=50,
        ...     runs=2,
        ... )
        >>> simulation.pulls
        array([[50,  0],
               [50,  0]])
    """
    if not isinstance(name, str) or not re.search(r"[A-Za-z0-9]", name):
        raise InputError(f"policy: name is {name!r}; allowed: a text with a letter or a digit")
    owner = "-".join(re.findall(r"[a-z0-9]+", name.lower()))

    def decorate(policy: type) -> Algorithm:
        rule = Rule(owner, policy, parameters, _methods(owner, policy, parameters))
        return Algorithm(
            id=owner,
            name=name,
            paper="a policy of one's own",
            parameters=parameters,
            settings=rule.settings,
            state=rule.state,
            advance=advance,
            reference=Reference(rule),
            guarantee=guarantee,
        )

    return decorate


def _methods(owner: str, policy: Any, parameters: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the methods of a class by name, each ready to be compiled.

    Raises:
        InputError: it is no class, has no ``choose`` or an ``__init__``, a method has other
            arguments, or a parameter has the name of something else.
    """
    if not isinstance(policy, type):
        raise InputError(f"{owner}: is no class; allowed: a class with {_call('choose')}")
    if policy.__init__ is not object.__init__:  # type: ignore[misc]
        raise InputError(f"{owner}: has __init__; allowed: {_call('start')}")
    for name, arguments in ARGUMENTS.items():
        method = getattr(policy, name, None)
        if method is None and name != "choose":
            continue
        if not isinstance(method, FunctionType) or not _takes(method, len(arguments)):
            given = "missing" if method is None else f"{method!r}"
            if isinstance(method, FunctionType):
                given = f"{name}{signature(method)}"
            raise InputError(f"{owner}: {name} is {given}; allowed: {_call(name)}")
        require_plain(f"{owner}: {name}", method)
    for name in parameters:
        if hasattr(policy, name):
            raise InputError(f"{owner}: {name} is a parameter and in the class; allowed: once")
    found = {name: getattr(policy, name) for name in dir(policy)}
    compiled = numba.njit(boundscheck=True, nogil=True)
    return {name: compiled(each) for name, each in found.items() if isinstance(each, FunctionType)}


def _takes(method: FunctionType, count: int) -> bool:
    """Return whether a function has so many arguments by position, and no others."""
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    kinds = [each.kind for each in signature(method).parameters.values()]
    return len(kinds) == count and all(kind in by_position for kind in kinds)


def _call(name: str) -> str:
    return f"{name}({', '.join(ARGUMENTS[name])})"
