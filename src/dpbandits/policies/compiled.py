"""A policy compiled by numba: its methods, the object that they see, and the loop around them."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numba
from numba import types
from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.experimental import structref
from numba.extending import overload_method

from dpbandits.errors import InputError
from dpbandits.policies.loop import no_update, rounds
from dpbandits.policies.reasons import reason_of
from dpbandits.policies.rule import PREFIX, Rule

_rounds = numba.njit(rounds)
_no_update = numba.njit(no_update)

_SOURCE = """
def play(settings, state, arms, generator, out):
    me = new(self_type)
    {load}
    if state.clock[0] == 0:
        start(me, arms.laws.size, settings.horizon, generator)
    written = rounds(name, me, choose, update, settings.horizon, state, arms, generator, out)
    {store}
    return written
"""


class NotCompiledError(Exception):
    """A policy does not compile; the message says why, in a few words."""


@cache
def compiled_play(rule: Rule, state: types.NamedTuple, generator: types.Type) -> Callable[..., int]:
    """Return the function (settings, state, arms, ...) -> rounds written, for numba to compile.

    Args:
        rule: the policy.
        state: numba's type of its state.
        generator: numba's type of the random stream.

    Raises:
        NotCompiledError: a method does not compile, or would not play as plain Python does.
    """
    for name in rule.memory(2):
        if name.startswith("_"):
            raise NotCompiledError(f"self.{name} begins with _, which numba does not take")
    numbers = [name for name, like in rule.memory(2).items() if not like.shape]
    arrays = [name for name in rule.memory(2) if name not in numbers]
    self_type = _self_type(rule, state, numbers)
    counts, sums = state.types[1], state.types[2]
    called = {
        "start": (self_type, types.int64, types.int64, generator),
        "choose": (self_type, types.int64, counts, sums, generator),
        "update": (self_type, types.int64, types.float64, counts, sums, generator),
    }
    names: dict[str, Any] = {"start": _no_start, "update": _no_update, "keep": _keep}
    for name, arguments in called.items():
        if name in rule.methods:
            names[name] = _compiled(rule.methods[name], name, arguments)
    _require_same_types(rule, self_type)
    load = [f"me.{name} = settings.{name}" for name in rule.kinds]
    load += [f"me.{name} = state.own.{PREFIX}{name}[0]" for name in numbers]
    load += [f"me.{name} = state.own.{PREFIX}{name}" for name in arrays]
    store = [f"state.own.{PREFIX}{name}[0] = me.{name}" for name in numbers]
    for name in arrays:
        fault = f"{rule.place}: self.{name} has another shape; allowed: that of start"
        store.append(f"keep(state.own.{PREFIX}{name}, me.{name}, {fault!r})")
    lines = {"load": "\n    ".join(load), "store": "\n    ".join(store)}
    names |= {"new": structref.new, "self_type": self_type, "rounds": _rounds, "name": rule.id}
    exec(_SOURCE.format(**lines), names)
    play: Callable[..., int] = names["play"]
    return play


@numba.njit
def _keep(kept, array, fault):  # type: ignore[no-untyped-def]
    """Copy an array; by entries, since the assignment of a whole array compiles for seconds."""
    if kept.shape != array.shape:
        raise InputError(fault)
    for place in range(kept.size):
        kept.flat[place] = array.flat[place]


@numba.njit
def _no_start(self, arms, horizon, rng):  # type: ignore[no-untyped-def]
    """Do nothing, for a policy without ``start``."""


def _self_type(rule: Rule, state: types.NamedTuple, numbers: list[str]) -> types.StructRef:
    """Return the type of ``self``: parameters, numbers and arrays, and the other methods."""

    class Self(types.StructRef):
        """Another type for every policy, as numba keeps methods by type."""

    structref.register(Self)
    for name, method in rule.methods.items():
        overload_method(Self, name)(_method(method))
    fields = [(name, numba.typeof(kind.type(1))) for name, kind in rule.kinds.items()]
    for name, array in zip(rule.memory(2), state.types[3].types, strict=True):
        fields.append((name, array.dtype if name in numbers else array))
    return Self(fields)


def _method(method: Dispatcher) -> Callable[..., Any]:
    def typed(self, *args):  # type: ignore[no-untyped-def]
        return lambda self, *args: method(self, *args)

    return typed


def _compiled(method: Dispatcher, name: str, arguments: tuple[types.Type, ...]) -> Dispatcher:
    """Return a method that is compiled for its arguments; NotCompiledError where it is not."""
    try:
        method.compile(arguments)
    except Exception as error:  # Beside NumbaError whatever numba comes across.
        raise NotCompiledError(reason_of(name, str(error))) from error
    compiled: Any = method.overloads[arguments]
    found = types.unliteral(compiled.signature.return_type)
    if name == "choose" and not isinstance(found, types.Integer):
        raise NotCompiledError(f"choose returns {found}, and no integer")
    return method


def _require_same_types(rule: Rule, self_type: types.StructRef) -> None:
    """Raise NotCompiledError where an assignment would be rounded, or change a parameter."""
    for name, value in _assignments(rule, self_type):
        if name in rule.kinds:
            raise NotCompiledError(f"self.{name} is set, which is a parameter")
        field = self_type.field_dict[name]
        if isinstance(field, types.Integer) and not isinstance(value, types.Integer):
            raise NotCompiledError(f"self.{name} begins as an integer and is set to {value}")


def _assignments(rule: Rule, self_type: types.StructRef) -> Iterator[tuple[str, types.Type]]:
    """Yield names and types of what the compiled methods assign to ``self``."""
    for method in rule.methods.values():
        overloads: Any = method.overloads
        for compiled in overloads.values():
            typed = compiled.type_annotation
            for block in typed.blocks.values():
                for line in block.find_insts(ir.SetAttr):
                    if typed.typemap[line.target.name] == self_type:
                        yield line.attr, types.unliteral(typed.typemap[line.value.name])
