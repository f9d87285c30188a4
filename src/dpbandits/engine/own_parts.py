"""What a function, class or value of the user's is by itself, and which others it is made of."""

import copyreg
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numba import types as numba_types
from numba.core.dispatcher import Dispatcher
from numba.np.ufunc.dufunc import DUFunc

from dpbandits.engine.identity import PACKAGE
from dpbandits.engine.installed import origin
from dpbandits.engine.own_files import bundle_of
from dpbandits.engine.own_names import globals_of, late_imports, names_of


class UnhashableError(Exception):
    """Says of which type something is that cannot be hashed."""


Children = list[tuple[str, Any]]


@dataclass(frozen=True)
class Parts:
    """One thing: what it is by itself, what it is made of by name, and whether order matters."""

    text: str
    children: Children
    ordered: bool = True


_PLAIN = (type(None), bool, int, str, bytes, complex, type(...), type(NotImplemented), range)


def scalar_text(value: Any) -> str | None:
    """Return a text that equal plain values share and others do not, or None for all the rest."""
    if type(value) is float:
        return f"float {value.hex()}"
    if type(value) in _PLAIN:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return f"{value.dtype.descr} {value.tobytes().hex()}"
    return None


def parts_of(value: Any) -> Parts:
    """Return what a value is made of.

    Raises:
        UnhashableError: there is no telling.
    """
    for kinds, describe in _KINDS:
        if isinstance(value, kinds):
            return describe(value)
    return _reduced(value)


def _function(value: types.FunctionType) -> Parts:
    children: Children = [("", value.__code__)]
    children += [("", value.__defaults__), ("", value.__kwdefaults__), ("", value.__dict__)]
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        children.append((name, _content(cell)))
    names = sorted(set(names_of(value.__code__)))
    for name in sorted(set(globals_of(value.__code__))):
        if name in value.__globals__:
            children.append(("", name))
            children += _global(name, value.__globals__[name], names, frozenset())
    for module in late_imports(value):
        children += _global("import", module, names, frozenset())
    return Parts(f"function {value.__qualname__} {_place(value)}", children)


def _place(value: Any) -> str:
    """Return the hash of the files that something was loaded with, where it was."""
    bundle = bundle_of(getattr(value, "__module__", None))
    return "" if bundle is None else bundle.fingerprint


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return NotImplemented


def _code(value: types.CodeType) -> Parts:
    counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
    names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
    table = value.co_exceptiontable.hex()
    text = f"code {value.co_code.hex()} {table} {counts} {names}"
    return Parts(text, [("", each) for each in value.co_consts])


def _global(name: str, value: Any, names: Collection[str], seen: frozenset[str]) -> Children:
    """Return a global that a function uses; of a module of the user's, those things that it names.

    Args:
        name: its name.
        value: its value.
        names: all names that stand in the function.
        seen: modules that were gone through on the way.
    """
    if not isinstance(value, types.ModuleType):
        return [(name, value)]
    if value.__name__ in seen:
        return []
    installed = None if _is_package_of_ours(value) else origin(value.__name__)
    if installed is not None:
        return [("", name), (name, installed)]
    used: Children = [("", f"module {name}")]
    for each in names:
        if each in vars(value):
            inner = vars(value)[each]
            used += _global(f"{name}.{each}", inner, names, seen | {value.__name__})
    return used


def _is_package_of_ours(module: types.ModuleType) -> bool:
    """Return whether a module gathers others of this package, so that few of them may be used."""
    return module.__name__.split(".")[0] == PACKAGE and hasattr(module, "__path__")


_OF_THE_CLASS_STATEMENT = {
    *("__dict__", "__weakref__", "__module__", "__doc__", "__abstractmethods__", "_abc_impl"),
    *("__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__orig_bases__", "__parameters__", "__firstlineno__", "__static_attributes__"),
    *(
        "__dataclass_fields__",
        "__dataclass_params__",
        "__match_args__",
        "__qualname__",
        "__slotnames__",
    ),
}
"""What says nothing about what a class does that its other attributes do not."""


def _class(value: type) -> Parts:
    children: Children = [("", value.__bases__), ("", type(value))]
    if is_dataclass(value):
        children += [("", str(getattr(each.type, "__name__", each.type))) for each in fields(value)]
    for name, each in sorted(vars(value).items()):
        if name not in _OF_THE_CLASS_STATEMENT and not isinstance(each, _SLOTS):
            children += [("", name), (name, each)]
    return Parts(f"class {value.__qualname__} {_place(value)}", children)


_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def _enum(value: enum.Enum) -> Parts:
    return Parts(f"member {value.name}", [("", type(value)), ("", value.value)])


def _partial(value: functools.partial[Any]) -> Parts:
    return Parts("partial", [("", value.func), ("", value.args), ("", value.keywords)])


def _method(value: types.MethodType) -> Parts:
    return Parts("method", [("", value.__func__), ("", value.__self__)])


def _property(value: property) -> Parts:
    return Parts("property", [("", each) for each in (value.fget, value.fset, value.fdel)])


def _wrapped(value: Any) -> Parts:
    return Parts(type(value).__name__, [("", value.__func__)])


def _builtin(value: types.BuiltinFunctionType) -> Parts:
    if isinstance(value.__self__, types.ModuleType):
        raise UnhashableError(f"it is the compiled function {value.__qualname__}")
    return Parts(f"builtin {value.__name__}", [("", value.__self__)])


def _cached(value: Any) -> Parts:
    return Parts("cached function", [("", value.__wrapped__), ("", value.cache_parameters())])


def _cached_property(value: functools.cached_property[Any]) -> Parts:
    return Parts("cached property", [("", value.func)])


def _dispatcher(value: Dispatcher) -> Parts:
    options = {key: each for key, each in value.targetoptions.items() if key != "cache"}
    return Parts("compiled", [("", value.py_func), ("", options), ("", dict(value.locals))])


def _vectorised(value: Any) -> Parts:
    inner = value._dispatcher
    return Parts(f"vectorised {value.identity}", [("", inner.py_func), ("", inner.targetoptions)])


def _array(value: np.ndarray[Any, Any]) -> Parts:
    if type(value) is not np.ndarray and not isinstance(value, np.memmap):
        return _reduced(value)
    text = f"array {value.dtype.descr} {value.shape}"
    if value.dtype.hasobject:
        return Parts(text, [("", value.tolist())])
    return Parts(f"{text} {hashlib.sha256(value.tobytes()).hexdigest()}", [])


def _ufunc(value: np.ufunc) -> Parts:
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), value.__name__, None) is value:
            return Parts(f"{origin(module)}: {module}.{value.__name__}", [])
    raise UnhashableError("it is a ufunc of unknown origin")


def _sequence(value: list[Any] | tuple[Any, ...]) -> Parts:
    if type(value) not in (list, tuple):
        return _reduced(value)
    texts = [scalar_text(each) for each in value]
    if None not in texts:
        return Parts(f"{type(value).__name__} {texts}", [])
    return Parts(type(value).__name__, [("", each) for each in value])


def _set(value: set[Any] | frozenset[Any]) -> Parts:
    if type(value) not in (set, frozenset):
        return _reduced(value)
    return Parts(type(value).__name__, [("", each) for each in value], ordered=False)


def _dict(value: dict[Any, Any] | types.MappingProxyType[Any, Any]) -> Parts:
    if type(value) not in (dict, types.MappingProxyType):
        return _reduced(value)
    keys: Children = [("", key) for key in value]
    named = [(key if isinstance(key, str) else "", each) for key, each in value.items()]
    return Parts(type(value).__name__, [*keys, *named])


def _numba_type(value: numba_types.Type) -> Parts:
    if isinstance(value, numba_types.ClassType | numba_types.ClassInstanceType):
        raise UnhashableError("it is a jitclass")
    return Parts(f"numba type {value}", [])


def _reduced(value: Any) -> Parts:
    """Return what pickle would write of a value of any other type."""
    kind = type(value).__name__
    if type(value).__module__.split(".")[0] == "numba":
        raise UnhashableError(f"it is a {kind} of numba")
    registered = copyreg.dispatch_table.get(type(value))
    try:
        reduced: Any = registered(value) if registered else value.__reduce_ex__(4)
    except Exception as error:
        raise UnhashableError(f"it is a {kind}") from error
    if isinstance(reduced, str):
        raise UnhashableError(f"it is the {kind} {reduced}")
    function, arguments, state, *rest = (*reduced, *[None] * 5)[:5]
    items = [list(each) if each is not None else None for each in rest]
    children = [function, arguments, state, *items]
    return Parts(f"object {kind}", [("", each) for each in children])


_KINDS: list[tuple[Any, Callable[[Any], Parts]]] = [
    (types.FunctionType, _function),
    (types.CodeType, _code),
    (Dispatcher, _dispatcher),
    (DUFunc, _vectorised),
    (enum.Enum, _enum),
    (type, _class),
    (functools.partial, _partial),
    (types.MethodType, _method),
    (property, _property),
    ((staticmethod, classmethod), _wrapped),
    (types.BuiltinFunctionType, _builtin),
    (functools._lru_cache_wrapper, _cached),
    (functools.cached_property, _cached_property),
    (np.ndarray, _array),
    (np.ufunc, _ufunc),
    ((list, tuple), _sequence),
    ((set, frozenset), _set),
    ((dict, types.MappingProxyType), _dict),
    (numba_types.Type, _numba_type),
]
