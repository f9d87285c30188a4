"""Algorithms of twenty lines: a class with the method ``choose``.

``policy`` makes an ordinary ``Algorithm`` of the class: a kernel that is compiled where the class
compiles, and a reference. Nothing here needs the class's source. Results do not depend on this
file: they are played by ``own.compiled``.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from types import FunctionType
from typing import Any

import numba
import numpy as np

from dpbandits.algorithms.base import (
    Algorithm,
    Kind,
    Segment,
    fraction,
    positive,
    require_plain,
    whole,
)
from dpbandits.bandits import Bandit
from dpbandits.errors import InputError
from dpbandits.own.compiled import WHY_NOT, Rule, advance, why_not
from dpbandits.privacy.guarantee import Guarantee

__all__ = ["fraction", "policy", "positive", "whole"]

Played = Callable[[Any, Bandit, np.random.Generator], Iterator[Segment]]
"""A reference that is a function: from settings, bandit and generator to segments."""


@dataclass(frozen=True, eq=False)
class Reference:
    """What a policy is compared with, in plain Python; None: the methods of the policy itself."""

    rule: Rule
    other: Rule | Played | None = None
    in_law: bool = False  # or decision for decision

    def __call__(
        self, settings: Any, bandit: Bandit, generator: np.random.Generator
    ) -> Iterator[Segment]:
        """Yield segments, of a class (arm, 1, reward) for every round."""
        if self.other is None or isinstance(self.other, Rule):
            return _rounds(self.other or self.rule, settings, bandit, generator)
        return self.other(settings, bandit, generator)

    def __reduce__(self) -> Any:
        """Find out whether the policy compiles before workers do: every one would report it."""
        return _arrived, (self.rule, why_not(self.rule), self.other, self.in_law)


def _rounds(
    rule: Rule, settings: Any, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    arms = len(bandit.arms)
    me = rule.new(settings)
    rule.start(me, arms, settings.horizon, generator)
    counts, sums = np.zeros(arms, np.int64), np.zeros(arms)
    for t in range(settings.horizon):
        arm = me.choose(t, counts, sums, generator)
        reward = bandit.draw(arm, generator)
        counts[arm] += 1
        sums[arm] += reward
        if hasattr(me, "update"):
            me.update(arm, reward, counts, sums, generator)
        yield arm, 1, reward


def _arrived(rule: Rule, reason: str, *compared: Any) -> Reference:
    WHY_NOT[rule] = reason
    return Reference(rule, *compared)


AGREES = ("decisions", "law")
"""How a policy agrees with its reference."""

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
    reference: type | Played | None = None,
    agrees: str = "decisions",
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
    the two, decision for decision, which says nothing of what the methods should do: that a
    ``reference`` does.

    Args:
        name: name in figures; its letters and digits make the ``id``.
        guarantee: how it is private: ``"pure"`` (by the parameter ``epsilon``), ``"gdp"`` (by
            ``eta``), ``"zcdp"`` (by ``rho``) or ``"approximate"`` (by ``epsilon`` and ``delta``);
            a ``Guarantee``; or a function (parameters, horizon) that returns one. Without it the
            policy is labelled "no guarantee stated".
        reference: what it is checked against: a second class with ``choose``, written from the
            pseudo-code without a look at the first, or a function (settings, bandit, generator)
            that yields (arm, length, sum of rewards).
        agrees: ``decisions`` where both draw the same numbers in the same order, or ``law``.
        parameters: name -> ``positive``, ``fraction`` or ``whole(minimum)``.

    Raises:
        InputError: the class has no ``choose``, or something else is not as above.

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
    if agrees not in AGREES:
        raise InputError(f"policy: agrees is {agrees!r}; allowed: {', '.join(AGREES)}")
    owner = "-".join(re.findall(r"[a-z0-9]+", name.lower()))
    other: Any = reference
    if isinstance(reference, type):
        place = f"{owner}, reference"
        other = Rule(owner, reference, parameters, _methods(place, reference, parameters))

    def decorate(policy: type) -> Algorithm:
        rule = Rule(owner, policy, parameters, _methods(owner, policy, parameters))
        return Algorithm(
            id=owner,
            name=name,
            paper="a user-defined policy",
            parameters=parameters,
            settings=rule.settings,
            state=rule.state,
            advance=advance,
            reference=Reference(rule, other, agrees == "law"),
            guarantee=guarantee,
        )

    return decorate


def _methods(owner: str, policy: Any, parameters: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the methods of a class, each ready to be compiled; InputError on what is no policy."""
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
    functions = {name: getattr(policy, name) for name in dir(policy)}
    compiled = numba.njit(boundscheck=True, nogil=True)
    return {name: compiled(f) for name, f in functions.items() if isinstance(f, FunctionType)}


def _takes(method: FunctionType, count: int) -> bool:
    """Return whether a function has so many arguments by position, and no others."""
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    kinds = [parameter.kind for parameter in signature(method).parameters.values()]
    return len(kinds) == count and all(kind in by_position for kind in kinds)


def _call(name: str) -> str:
    return f"{name}({', '.join(ARGUMENTS[name])})"
