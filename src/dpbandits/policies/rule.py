"""A policy as its author declares it, and the settings, states and objects that it plays with."""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from dpbandits.algorithms.base import Kind
from dpbandits.errors import InputError
from dpbandits.policies.memory import Memory, class_numbers, memory_of, require_alike

EXAMPLE_ROUNDS = 1000
"""Rounds for each arm of the horizon that ``start`` is tried with."""

PREFIX = "own_"
"""Begins the names of a policy's arrays in a state, whose own names may begin with ``_``."""

_NUMBERS = count(1)

DECLARED = ("id", "policy", "kinds", "methods")


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
        return {name: vars(self)[name] for name in DECLARED}

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
    def state_classes(self) -> tuple[Any, Any]:
        """NamedTuples of a state, and of what the policy itself remembers."""
        names = [PREFIX + name for name in self.memory(2)]
        own: Any = namedtuple("Own", names)  # type: ignore[misc]
        return namedtuple("State", ("clock", "counts", "sums", "own")), own

    @cached_property
    def _memories(self) -> dict[int, Memory]:
        return {}

    def memory(self, arms: int) -> Memory:
        """Return names, types and shapes of what is remembered, as ``start`` makes them.

        It is called with the example parameters: types and shapes depend on the arms alone.
        """
        if arms not in self._memories:
            values = (kind.type(kind.example) for kind in self.kinds.values())
            settings = self.settings_class(EXAMPLE_ROUNDS * arms, *values)
            self._memories[arms] = self._begun(settings, arms)
        return self._memories[arms]

    def _begun(self, settings: Any, arms: int) -> Memory:
        me = self.new(settings)
        self.start(me, arms, settings.horizon, np.random.default_rng(0))
        return memory_of(self.place, me, self.kinds)

    def settings(self, horizon: int, arms: int, **parameters: Any) -> Any:
        """Return the settings of the kernel.

        Raises:
            InputError: ``start`` fails, or makes other types or shapes than with the example.
        """
        settings = self.settings_class(horizon, *(parameters[name] for name in self.kinds))
        found, allowed = self._begun(settings, arms), "what depends on the number of arms alone"
        require_alike(f"{self.place}, start", found, self.memory(arms), allowed)
        return settings

    def state(self, arms: int) -> Any:
        """Return a new state, as it is before ``start``."""
        state, own = self.state_classes
        numbers = class_numbers(self.policy)
        arrays = [np.zeros(each.shape or (1,), each.dtype) for each in self.memory(arms).values()]
        for name, array in zip(self.memory(arms), arrays, strict=True):
            if name in numbers:
                array[0] = numbers[name]
        return state(np.zeros(1, np.int64), np.zeros(arms, np.int64), np.zeros(arms), own(*arrays))

    def new(self, settings: Any) -> Any:
        """Return a new object of the class with the parameters of the settings."""
        me: Any = object.__new__(self.policy)
        vars(me).update(zip(self.kinds, settings[1:], strict=True))
        return me

    def start(self, me: Any, arms: int, horizon: int, generator: np.random.Generator) -> None:
        """Call the method ``start`` where there is one; InputError where it fails."""
        if not hasattr(self.policy, "start"):
            return
        try:
            me.start(arms, horizon, generator)
        except InputError:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"{self.place}: start raises {reason}") from error

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
        found = memory_of(self.place, me, self.kinds)
        require_alike(self.place, found, views, "what start has made, or the body of the class")
        for name, view in views.items():
            view[...] = found[name]

    def _named(self, own: Any) -> Memory:
        """Return views of a state's arrays by name, of shape () where they are numbers."""
        pairs = zip(self.memory(2).items(), own, strict=True)
        return {name: view if like.shape else view.reshape(()) for (name, like), view in pairs}
