"""Policies as they are played: what one remembers, its methods compiled, the loop around them."""

import re
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba import types
from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.experimental import structref
from numba.extending import overload, overload_method
from numpy.typing import NDArray

from dpbandits.algorithms.base import Kind
from dpbandits.bandits.draws import pull
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import write

Memory = dict[str, NDArray[Any]]
"""Name of an attribute of ``self`` -> its array; a number is an array of shape ()."""

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def _class_numbers(policy: type) -> dict[str, Any]:
    """Return the class attributes that are numbers, inherited ones included."""
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

_SERIALS = count(1)


class State(NamedTuple):
    """What is kept between two calls of the kernel; ``own`` is what the policy itself remembers."""

    clock: NDArray[np.int64]
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    own: Any


@dataclass(frozen=True, eq=False)
class Rule:
    """A class with the method ``choose``, and the parameters that are declared for it."""

    id: str  # of the algorithm that it becomes
    policy: type
    kinds: Mapping[str, Kind]  # of the parameters, by name
    methods: Mapping[str, Dispatcher]  # by name, to be compiled; results are keyed by them

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
        name = f"Settings{next(_SERIALS)}"
        made: Any = namedtuple(name, ("horizon", *self.kinds))  # type: ignore[misc]
        made.rule = self  # type: ignore[attr-defined]
        return made

    @cached_property
    def _own(self) -> Any:
        """NamedTuple of what the policy remembers; names that it does not take are numbered."""
        return namedtuple("Own", self.memory(2), rename=True)  # type: ignore[misc]

    @cache  # noqa: B019  (a rule is as long-lived as its algorithm)
    def memory(self, arms: int) -> Memory:
        """Return what ``start`` makes of the example: types and shapes depend on the arms alone."""
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
        """Return those of the kernel; InputError where ``start`` differs from the example."""
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
        """Keep what an object remembers; InputError where a parameter or type or shape changed."""
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


class ArmError(InputError):
    """A policy chooses something that is no arm; compiled code can raise it."""

    def __init__(self, name: str, number: int, chosen: object, arms: int) -> None:
        """Keep the message: algorithm, round from 1, what ``choose`` returns, number of arms."""
        super().__init__(
            f"algorithm {name}, round {number}: choose returns {chosen!r}; allowed: an arm, an "
            f"integer from 0 to {arms - 1}"
        )

    def __reduce__(self) -> Any:
        """Arrive from a worker process as the same line."""
        return InputError, self.args


class GrowthError(InputError):
    """An integer that a policy remembers grows beyond what compiled code can hold."""

    def __init__(self, name: str, number: int) -> None:
        """Keep the message: algorithm, round from 1."""
        super().__init__(
            f"algorithm {name}, round {number}: an integer of self exceeds 2^62 in size; allowed: "
            f"smaller ones, or a float"
        )

    def __reduce__(self) -> Any:
        """Arrive from a worker process as the same line."""
        return InputError, self.args


MOST = 2**62
"""Integers of a compiled policy are noticed from here on: twice as much has more than 64 bits."""


def is_arm(chosen: Any, arms: int) -> bool:
    """Return whether something is the number of an arm."""
    is_integer = isinstance(chosen, int | np.integer) and not isinstance(chosen, bool)
    return is_integer and 0 <= chosen < arms


@overload(is_arm, inline="always")
def _compiled_is_arm(chosen, arms):
    if isinstance(chosen, types.Integer):
        return lambda chosen, arms: 0 <= chosen < arms
    return None


def no_start(self, arms, horizon, rng):
    """Do nothing, for a policy without ``start``."""


def no_update(self, arm, reward, counts, sums, rng):
    """Do nothing, for a policy without ``update``."""


def is_exact(me):
    """Return True: in plain Python no integer is too large."""
    return True


def rounds(name, me, choose, update, is_exact, horizon, state, arms, rng, out):
    """Play rounds until the horizon or until ``out`` is full; return how many are written."""
    counts, reward_sums = state.counts, state.sums
    t = int(state.clock[0])
    written = 0
    while t < horizon and written < out.arms.size:
        arm = choose(me, t, counts, reward_sums, rng)
        if not is_arm(arm, counts.size):
            raise ArmError(name, t + 1, arm, counts.size)
        reward = pull(arms, arm, rng)
        counts[arm] += 1
        reward_sums[arm] += reward
        update(me, arm, reward, counts, reward_sums, rng)
        if not is_exact(me):
            raise GrowthError(name, t + 1)
        written = write(out, written, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return written


_HELPERS = {helper.__name__: numba.njit(helper) for helper in (rounds, no_start, no_update)}

_SOURCE = """
def play(settings, state, arms, generator, out):
    me = new(self_type)
    {load}
    if state.clock[0] == 0:
        start(me, arms.laws.size, settings.horizon, generator)
    written = rounds(
        name, me, choose, update, is_exact, settings.horizon, state, arms, generator, out
    )
    {store}
    return written


@numba.njit
def is_exact(me):
    return {exact}
"""


def reason_of(method: str, message: str) -> str:
    """Return the place and the cause that a message of numba, of many lines, names."""
    plain = re.sub(r"\x1b\[[0-9;]*m|Failed in .*|NumPyRandomGeneratorType_", "", message)
    numbers = re.findall(r"line (\d+):$", plain, re.MULTILINE)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    call = next((line for line in lines if line.startswith(">>>")), None)
    cause = f"numba has no {call[4:]}" if call else next(iter(lines), "unknown")
    place = f"{method}, line {numbers[-1]}" if numbers else method
    return f"{place}: {cause:.200}"


class NotCompiledError(Exception):
    """A policy does not compile; the message says why, in a few words."""


@cache
def compiled_play(rule: Any, state: types.NamedTuple, generator: types.Type) -> Callable[..., int]:
    """Return what numba is to compile; NotCompiledError where plain Python would play otherwise."""
    self_type = _self_type(rule, state)
    counts, sums = state.types[1], state.types[2]
    called = {
        "start": (self_type, types.int64, types.int64, generator),
        "choose": (self_type, types.int64, counts, sums, generator),
        "update": (self_type, types.int64, types.float64, counts, sums, generator),
    }
    names: dict[str, Any] = {"start": _HELPERS["no_start"], "update": _HELPERS["no_update"]}
    for name, arguments in called.items():
        if name in rule.methods:
            names[name] = _compiled(rule.methods[name], name, arguments)
    _require_same_types(rule, self_type)
    changed = {name for name, _ in _assignments(rule, self_type)}
    exact = []
    load = [f"me.{name} = settings.{name}" for name in rule.kinds]
    store = []
    for number, (name, like) in enumerate(rule.memory(2).items()):
        field = f"state.own[{number}]" if like.shape else f"state.own[{number}][0]"
        load.append(f"me.{name} = {field}")
        fault = f"{rule.place}: self.{name} has another shape; allowed: that of start"
        keep = f"keep({field}, me.{name}, {fault!r})"
        store.append(keep if like.shape else f"{field} = me.{name}")
        # One that begins larger, or is the largest of all, stands for infinity.
        if not like.shape and like.dtype.kind == "i" and name in changed and abs(like) < MOST:
            exact.append(f"(abs(me.{name}) < {MOST} or me.{name} == {2**63 - 1})")
    lines = {"load": "\n    ".join(load), "store": "\n    ".join(store)}
    lines["exact"] = " and ".join(exact) or "True"
    names |= {"new": structref.new, "self_type": self_type, "name": rule.id}
    names |= {"rounds": _HELPERS["rounds"], "keep": _keep, "numba": numba}
    exec(_SOURCE.format(**lines), names)
    play: Callable[..., int] = names["play"]
    return play


@numba.njit
def _keep(kept, array, fault):
    """Copy an array; by entries, since the assignment of a whole array compiles for seconds."""
    if kept.shape != array.shape:
        raise InputError(fault)
    for place in range(kept.size):
        kept.flat[place] = array.flat[place]


def _self_type(rule: Any, state: types.NamedTuple) -> types.StructRef:
    """Return the type of ``self``: parameters, numbers and arrays, and the other methods."""

    class Self(types.StructRef):
        """Another type for every policy, as numba keeps methods by type."""

    structref.register(Self)
    for name, method in rule.methods.items():
        overload_method(Self, name)(_method(method))
    fields = [(name, numba.typeof(kind.type(1))) for name, kind in rule.kinds.items()]
    for (name, like), array in zip(rule.memory(2).items(), state.types[3].types, strict=True):
        if name.startswith("_"):
            raise NotCompiledError(f"self.{name} begins with _, which numba does not take")
        fields.append((name, array if like.shape else array.dtype))
    return Self(fields)


def _method(method: Dispatcher) -> Callable[..., Any]:
    def typed(self, *args):
        return lambda self, *args: method(self, *args)

    return typed


def _compiled(method: Dispatcher, name: str, arguments: tuple[types.Type, ...]) -> Dispatcher:
    """Return a method that is compiled for its arguments; NotCompiledError where it is not."""
    try:
        method.compile(arguments)
    except Exception as error:  # Beside NumbaError whatever numba comes across.
        raise NotCompiledError(reason_of(name, str(error))) from error
    compiled: Any = method.overloads[arguments]
    returned = types.unliteral(compiled.signature.return_type)
    if name == "choose" and not isinstance(returned, types.Integer):
        raise NotCompiledError(f"choose returns {returned}, and no integer")
    return method


def _require_same_types(rule: Any, self_type: types.StructRef) -> None:
    """Raise NotCompiledError where an assignment would be rounded, or change a parameter."""
    for name, value in _assignments(rule, self_type):
        if name in rule.kinds:
            raise NotCompiledError(f"self.{name} is set, which is a parameter")
        field = self_type.field_dict[name]
        if isinstance(field, types.Integer) and not isinstance(value, types.Integer):
            raise NotCompiledError(f"self.{name} begins as an integer and is set to {value}")


def _assignments(rule: Any, self_type: types.StructRef) -> Iterator[tuple[str, types.Type]]:
    """Yield names and types of what the compiled methods assign to ``self``."""
    for method in rule.methods.values():
        overloads: Any = method.overloads
        for compiled in overloads.values():
            typed = compiled.type_annotation
            for block in typed.blocks.values():
                for line in block.find_insts(ir.SetAttr):
                    if typed.typemap[line.target.name] == self_type:
                        yield line.attr, types.unliteral(typed.typemap[line.value.name])


def play(settings, state, arms, generator, out):
    """Play rounds in plain Python; arguments and result are those of a kernel."""
    rule = settings.rule
    me = rule.load(settings, state.own)
    if state.clock[0] == 0:
        rule.start(me, arms.laws.size, settings.horizon, generator)
    choose, update = rule.policy.choose, getattr(rule.policy, "update", no_update)
    written = rounds(
        rule.id, me, choose, update, is_exact, settings.horizon, state, arms, generator, out
    )
    rule.store(me, settings, state.own)
    return written


WHY_NOT: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()
"""Why a policy does not compile, or an empty text where it does."""


def why_not(rule: Any) -> str:
    """Return why a policy does not compile, or an empty text; it is said when it is found out."""
    if rule not in WHY_NOT:
        try:
            compiled_play(rule, numba.typeof(rule.state(2)), numba.typeof(np.random.default_rng()))
            WHY_NOT[rule] = ""
        except NotCompiledError as error:
            WHY_NOT[rule] = str(error)
            print(
                f"{rule.id}: does not compile and is played in plain Python, about a hundred times "
                f"slower ({error})",
                file=sys.stderr,
            )
    return WHY_NOT[rule]


@overload(play)
def _typed(settings, state, arms, generator, out):
    rule = settings.instance_class.rule
    return _in_python if why_not(rule) else compiled_play(rule, state, generator)


def _in_python(settings, state, arms, generator, out):
    with numba.objmode(written="int64"):
        written = play(settings, state, arms, generator, out)
    return written


@numba.njit(nogil=True)
def advance(settings, state, arms, generator, out):
    """Play rounds until the horizon or until ``out`` is full; return how many are written."""
    return play(settings, state, arms, generator, out)
