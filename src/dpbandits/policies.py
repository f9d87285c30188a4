"""Algorithms of twenty lines: a class with the method ``choose``.

``policy`` makes an ordinary ``Algorithm`` of the class: a kernel that is compiled where the class
compiles, and a reference that plays the methods as they are. Nothing here needs the class's source.
"""

import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import Parameter, signature
from itertools import count
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

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
from dpbandits.compiled_policies import WHY_NOT, advance, why_not
from dpbandits.errors import InputError, user_code
from dpbandits.privacy.guarantee import Guarantee

__all__ = ["fraction", "policy", "positive", "whole"]

Memory = dict[str, NDArray[Any]]
"""Name of an attribute of ``self`` -> its array; a number is an array of shape ()."""

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def _class_numbers(policy: type) -> dict[str, Any]:
    """Return the numbers in the body of a class, and of those that it inherits from."""
    bodies = [vars(base) for base in reversed(policy.__mro__[:-1])]
    return {
        name: value
        for body in bodies
        for name, value in body.items()
        if isinstance(value, NUMBERS) and not name.startswith("__")
    }


def _array_of(title: str, value: object) -> NDArray[Any]:
    """Return a copy of a number or an array as it is remembered; InputError on anything else."""
    if isinstance(value, NUMBERS):
        kind = np.dtype(type(value)).kind
        try:
            return np.array(value, {"b": np.bool_, "f": np.float64}.get(kind, np.int64))
        except OverflowError:
            raise InputError(f"{title} is {value!r}; allowed: integers of 64 bits") from None
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "biuf":
        return np.array(value, order="C")
    raise InputError(
        f"{title} is {type(value).__name__}; allowed: numbers, and numpy arrays of numbers"
    )


def _require_alike(place: str, memory: Memory, expected: Memory, allowed: str) -> None:
    """Raise InputError where names, types or shapes differ; integers may be given for numbers."""
    for name in {**expected, **memory}:
        one, other = _title(memory.get(name)), _title(expected.get(name))
        if one != other and (one, other) != ("int64", "float64"):
            raise InputError(f"{place}: self.{name} is {one}, and was {other}; allowed: {allowed}")


def _title(array: NDArray[Any] | None) -> str:
    if array is None:
        return "not set"
    return f"{array.dtype} of shape {array.shape}" if array.shape else str(array.dtype)


EXAMPLE_ROUNDS = 1000
"""Rounds for each arm of the horizon that ``start`` is tried with."""

_NUMBERS = count(1)


class State(NamedTuple):
    """What is kept between two calls of the kernel.

    Attributes:
        clock: rounds played, shape (1,).
        counts: pulls of each arm.
        sums: sum of the rewards of each arm.
        own: NamedTuple of what the policy itself remembers; numbers are arrays of shape (1,).
    """

    clock: NDArray[np.int64]
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    own: Any


@dataclass(frozen=True, eq=False)
class Rule:
    """A class with the method ``choose``, and the parameters that are declared for it.

    Attributes:
        id: of the algorithm that it becomes.
        policy: the class.
        kinds: name of a parameter -> what it may be.
        methods: the functions of the class by name, to be compiled; results are keyed by them.
    """

    id: str
    policy: type
    kinds: Mapping[str, Kind]
    methods: Mapping[str, Dispatcher]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is declared: all else follows from it."""
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    @property
    def place(self) -> str:
        """What error messages begin with."""
        return f"algorithm {self.id}"

    @cached_property
    def settings_class(self) -> type[Any]:
        """NamedTuple of horizon and parameters; the kernel finds the rule by its type."""
        # numba takes classes of one name, with the same fields, for one and the same.
        name = f"Settings{next(_NUMBERS)}"
        made: Any = namedtuple(name, ("horizon", *self.kinds))  # type: ignore[misc]
        made.rule = self  # type: ignore[attr-defined]
        return made

    @cached_property
    def _own(self) -> Any:
        """NamedTuple of what the policy remembers; names that it does not take are numbered."""
        return namedtuple("Own", self.memory(2), rename=True)  # type: ignore[misc]

    @cache  # noqa: B019  (a rule is as long-lived as its algorithm)
    def memory(self, arms: int) -> Memory:
        """Return names, types and shapes of what is remembered, as ``start`` makes them.

        It is called with the example parameters: types and shapes depend on the arms alone.
        """
        values = (kind.type(kind.example) for kind in self.kinds.values())
        return self._begun(self.settings_class(EXAMPLE_ROUNDS * arms, *values), arms)

    def _begun(self, settings: Any, arms: int) -> Memory:
        me = self.new(settings)
        self.start(me, arms, settings.horizon, np.random.default_rng(0))
        return self._memory_of(me)

    def _memory_of(self, me: Any) -> Memory:
        """Return copies of all that an object remembers; InputError on what cannot be."""
        values = {**_class_numbers(self.policy), **vars(me)}
        return {
            name: _array_of(f"{self.place}: self.{name}", value)
            for name, value in values.items()
            if name not in self.kinds
        }

    def settings(self, horizon: int, arms: int, **parameters: Any) -> Any:
        """Return the settings of the kernel.

        Raises:
            InputError: ``start`` fails, or makes other types or shapes than with the example.
        """
        settings = self.settings_class(horizon, *(parameters[name] for name in self.kinds))
        memory, allowed = self._begun(settings, arms), "what depends on the number of arms alone"
        _require_alike(f"{self.place}, start", memory, self.memory(arms), allowed)
        return settings

    def state(self, arms: int) -> Any:
        """Return a new state, as it is before ``start``."""
        numbers = _class_numbers(self.policy)
        own = [
            np.full(like.shape or (1,), numbers.get(name, 0), like.dtype)
            for name, like in self.memory(arms).items()
        ]
        counts = np.zeros(arms, np.int64)
        return State(np.zeros(1, np.int64), counts, np.zeros(arms), self._own(*own))

    def new(self, settings: Any) -> Any:
        """Return a new object of the class with the parameters of the settings."""
        me: Any = object.__new__(self.policy)
        vars(me).update(zip(self.kinds, settings[1:], strict=True))
        return me

    def start(self, me: Any, arms: int, horizon: int, generator: np.random.Generator) -> None:
        """Call the method ``start`` where there is one; InputError where it fails."""
        if hasattr(self.policy, "start"):
            with user_code(self.place, "start"):
                me.start(arms, horizon, generator)

    def load(self, settings: Any, own: Any) -> Any:
        """Return an object with the parameters of the settings and the memory of a state."""
        me = self.new(settings)
        for name, view in self._named(own).items():
            setattr(me, name, view if view.shape else view.item())
        return me

    def store(self, me: Any, settings: Any, own: Any) -> None:
        """Keep what an object remembers in a state.

        Raises:
            InputError: a parameter is changed, or an attribute is new or of another type or shape.
        """
        for name, value in zip(self.kinds, settings[1:], strict=True):
            if getattr(me, name) != value:
                raise InputError(
                    f"{self.place}: self.{name} is {getattr(me, name)!r}, and was {value!r}; "
                    f"allowed: parameters that stay as they are"
                )
        views = self._named(own)
        memory = self._memory_of(me)
        _require_alike(self.place, memory, views, "what start has made, or the body of the class")
        for name, view in views.items():
            view[...] = memory[name]

    def _named(self, own: Any) -> Memory:
        """Return views of a state's arrays by name, of shape () where they are numbers."""
        pairs = zip(self.memory(2).items(), own, strict=True)
        return {name: view if like.shape else view.reshape(()) for (name, like), view in pairs}


@dataclass(frozen=True, eq=False)
class Reference:
    """Plays a policy round by round; shares with the kernel the methods alone."""

    rule: Rule

    def __call__(
        self, settings: Any, bandit: Bandit, generator: np.random.Generator
    ) -> Iterator[Segment]:
        """Yield (arm, 1, reward) for every round."""
        arms = len(bandit.arms)
        me = self.rule.new(settings)
        self.rule.start(me, arms, settings.horizon, generator)
        counts, sums = np.zeros(arms, np.int64), np.zeros(arms)
        for t in range(settings.horizon):
            arm = me.choose(t, counts, sums, generator)
            reward = bandit.draw(arm, generator)
            counts[arm] += 1
            sums[arm] += reward
            if hasattr(me, "update"):
                me.update(arm, reward, counts, sums, generator)
            yield arm, 1, reward

    def __reduce__(self) -> Any:
        """Find out, and say, whether the policy compiles before it is sent to worker processes.

        Every one of them would say it otherwise.
        """
        return _arrived, (self.rule, why_not(self.rule))


def _arrived(rule: Rule, reason: str) -> Reference:
    WHY_NOT[rule] = reason
    return Reference(rule)


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
            paper="a user-defined policy",
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
