"""What results of users' code are keyed by, and how worker processes get it.

Both keys and journeys are pickles by value: a function counts with its code, constants, defaults,
closure and the globals that it uses, and so on; what is installed counts by its version. The same
code may get another key where a pickle depends on more than its contents, such as the order of a
set of texts. That costs a new computation; other code never gets the same key.
"""

import dis
import functools
import hashlib
import importlib.util
import io
import pickle
import pickletools
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import cloudpickle
import numba
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.types import ClassInstanceType, ClassType

from dpbandits.algorithms import REGISTRY, Algorithm, Definition, find_definition
from dpbandits.engine.identity import PACKAGE, PLAY, SOURCES, digest_of, fingerprint, registered
from dpbandits.errors import InputError

GUARD = SOURCES[Path("own/guard.py")].decode()
"""Part of the key of user-defined algorithms: results without its checks are not used."""

# Attributes of a class that change though the class does not, and others of no account.
UNNEEDED = {"__slotnames__", "__annotations_cache__", "__firstlineno__", "__static_attributes__"}
UNNEEDED |= {"__module__", "__doc__", "__abstractmethods__", "_abc_impl"}

_PATHS = [sysconfig.get_path(key) for key in ("purelib", "platlib", "stdlib", "platstdlib")]
_INSTALLED = {
    Path(folder).resolve()
    for folder in (*_PATHS, *site.getsitepackages(), site.getusersitepackages())
}


@cache
def is_installed(file: str) -> bool:
    """Return whether a file is in a folder of Python's or of installed packages."""
    return not _INSTALLED.isdisjoint(Path(file).resolve().parents)


def file_of(module: ModuleType) -> str | None:
    """Return the file of a module, or the folder of a package without one."""
    names = vars(module)
    return names.get("__file__") or next(iter(names.get("__path__") or ()), None)


def is_users(module: ModuleType) -> bool:
    """Return whether a module is neither installed nor of this package."""
    top = module.__name__.partition(".")[0]
    if top in (PACKAGE, "__main__"):
        return top != PACKAGE
    file = file_of(module)
    return not is_installed(file) if file else top not in sys.stdlib_module_names


@cache
def _version(top: str) -> str:
    """Return the version of what is installed under the name of a module."""
    if top in sys.stdlib_module_names:
        return f"{top} {sys.version_info.major}.{sys.version_info.minor}"
    names = sorted(set(_distributions().get(top, ())))
    return f"{top} {[f'{name} {version(name)}' for name in names]}"


_distributions = cache(packages_distributions)


@contextmanager
def _by_value() -> Iterator[None]:
    """Let functions and classes of the user's modules be pickled by value."""
    before = cloudpickle.list_registry_pickle_by_value()
    modules = [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType)
        and module.__name__ == name
        and name not in before
        and is_users(module)
    ]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Compiled functions as what they are compiled from; the user's modules by value."""

    def __init__(self) -> None:
        self.file = io.BytesIO()
        # In this protocol every name of a module and of something in it is one instruction.
        super().__init__(self.file, protocol=3)
        self.kernels: list[Dispatcher] = []
        self.modules: set[str] = set()

    def reducer_override(self, value: Any) -> Any:
        """Return how a value is pickled."""
        if isinstance(value, Dispatcher):
            kernel: Any = value
            module, name = sys.modules.get(kernel.__module__), kernel.__qualname__
            is_known = module is not None and not is_users(module)
            if is_known and getattr(module, name, None) is value:
                return name
            self.kernels.append(value)
            return _compiled, (value.py_func, value.targetoptions, value.locals)
        if isinstance(value, ModuleType):
            if not is_users(value):
                self.modules.add(value.__name__)
                return importlib.import_module, (value.__name__,)
            names = {"__name__", "__file__"}
            held = {k: v for k, v in vars(value).items() if k in names or not k.startswith("__")}
            return ModuleType, (value.__name__,), held
        if isinstance(value, ClassType | ClassInstanceType):
            raise pickle.PicklingError("it is a jitclass")
        if isinstance(value, functools._lru_cache_wrapper):
            return _cached, (value.__wrapped__, value.cache_parameters())
        return super().reducer_override(value)


def _compiled(function: Any, options: dict[str, Any], types: dict[str, Any]) -> Any:
    return numba.jit(function, locals=types, **options)


def _cached(function: Any, parameters: dict[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


class _Hasher(_Pickler):
    """What it writes is hashed alone: without names of files, numbers of lines, and ids."""

    def reducer_override(self, value: Any) -> Any:
        """Return what a value is hashed by."""
        if isinstance(value, CodeType):
            counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount)
            names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
            contents = (value.co_code, value.co_exceptiontable, value.co_flags, value.co_consts)
            return tuple, (counts, names, contents)
        reduced = super().reducer_override(value)
        # cloudpickle writes so what is not known by its name.
        by_value = isinstance(reduced, tuple) and len(reduced) == 6
        if by_value and isinstance(value, FunctionType):
            self._add_imports(value.__code__)
            attributes, slots = reduced[2]
            used = ("__defaults__", "__kwdefaults__", "__closure__")
            outside = {k: _used(value.__code__, k, v) for k, v in slots["__globals__"].items()}
            parts = [*(slots[name] for name in used), outside]
            # The state is written after the function is known, which may refer to itself.
            return str, (value.__qualname__,), [value.__code__, attributes, *parts]
        if by_value and isinstance(value, type):
            body = {k: v for k, v in sorted(vars(value).items()) if k not in UNNEEDED}
            return str, (value.__qualname__,), [type(value), value.__bases__, body]
        return reduced

    def _add_imports(self, code: CodeType) -> None:
        """Note what a function imports when it is called; PicklingError if that is the user's."""
        lines = _instructions(code)
        for number, line in enumerate(lines):
            if line.opname != "IMPORT_NAME":
                continue
            is_relative = bool(lines[number - 2].argval)
            if is_relative or not _is_installed_name(line.argval.partition(".")[0]):
                raise pickle.PicklingError(
                    f"{code.co_name} imports {line.argval or 'from its folder'} when it is called, "
                    f"and not at the head of the file"
                )
            self.modules.add(line.argval)
        for inner in _inner(code):
            self._add_imports(inner)


def _instructions(code: CodeType) -> list[dis.Instruction]:
    return [line for line in dis.get_instructions(code) if line.opname != "EXTENDED_ARG"]


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _used(code: CodeType, name: str, value: Any) -> Any:
    """Return what code uses of a global: of this package as a module, the things that it names.

    ``dpbandits.fraction`` depends on where that is defined, not on all that the package imports.
    """
    if not isinstance(value, ModuleType) or not _is_ours(value.__name__):
        return value
    things, lines, access = [], _instructions(code), ("LOAD_ATTR", "LOAD_METHOD")
    for number, line in enumerate(lines):
        if line.opname.startswith("LOAD_") and line.argval == name:
            thing: Any = value
            for after in lines[number + 1 :]:
                if not isinstance(thing, ModuleType) or after.opname not in access:
                    break
                thing = getattr(thing, after.argval, None)
            things.append(thing)
    return [*things, *(_used(inner, name, value) for inner in _inner(code))]


def _is_installed_name(top: str) -> bool:
    if top == PACKAGE or top in sys.stdlib_module_names:
        return True
    try:
        found = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return False
    return bool(found and found.origin and is_installed(found.origin))


def _written(name: str, value: Any, pickler: _Pickler, problem: str) -> bytes:
    """Return a pickle by value; InputError where there is none."""
    try:
        with _by_value():
            pickler.dump(value)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"algorithm {name}: {problem.format(reason)}") from error
    return pickler.file.getvalue()


NO_KEY = (
    "cannot be hashed ({}); allowed: functions, classes, numbers, texts, arrays and what is made "
    "of them, imported at the head of a file"
)


CALLED = b"cdpbandits.engine.custom\n"
"""An earlier name of this module, kept in hashes: they name the random streams of users' arms."""


def hash_of(name: str, value: Any) -> tuple[str, list[Dispatcher]]:
    """Return the hash of a value and all that it uses, and the kernels among these."""
    hasher = _Hasher()
    pickled = _written(name, value, hasher, NO_KEY)
    written = pickletools.genops(pickled)
    names = [str(text).split(" ") for kind, text, _ in written if kind.name == "GLOBAL"]
    for module, thing in names:
        loaded = sys.modules.get(module)
        if loaded is None or is_users(loaded):
            reason = f"{module}.{thing} is compiled code"
            raise InputError(f"algorithm {name}: {NO_KEY.format(reason)}")
    modules = hasher.modules.union(module for module, _ in names) - {__name__}
    installed = {_version(module.partition(".")[0]) for module in modules if not _is_ours(module)}
    ours = fingerprint(*sorted(filter(_is_ours, modules)))
    pickled = pickled.replace(f"c{__name__}\n".encode(), CALLED)
    texts = [pickled, repr(sorted(installed)).encode(), ours.encode()]
    return hashlib.sha256(b"".join(texts)).hexdigest(), hasher.kernels


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE


_COMPILED: "WeakKeyDictionary[Dispatcher, str]" = WeakKeyDictionary()
"""Hash of a kernel when it was seen first, or seen last before it was compiled."""


def digest(name: str, parts: Any) -> str:
    """Return the hash of parts of an algorithm and of all that they use.

    InputError where something cannot be hashed, or has changed since a kernel was compiled.
    """
    whole, kernels = hash_of(name, parts)
    kernel: Any
    for kernel in kernels:
        title = f"algorithm {name}: kernel {kernel.py_func.__name__}"
        if kernel.stats.cache_hits:
            raise InputError(
                f"{title} comes from numba's own cache, which may be out of date; allowed: "
                f"numba.njit without cache=True"
            )
        # numba's own cache looks at the kernel's file alone.
        kernel._cache = NullCache()
        now, _ = hash_of(name, kernel)
        if kernel.overloads and _COMPILED.get(kernel, now) != now:
            raise InputError(
                f"{title} was compiled before something that it uses was changed; run its cell "
                f"again, or load its file again"
            )
        _COMPILED[kernel] = now
    return whole


def packed(name: str, value: Any) -> bytes:
    """Return a value by which another process plays the same."""
    return _written(
        name, value, _Pickler(), "cannot be sent to worker processes ({}); allowed: workers=1"
    )


@cache
def unpacked(pickled: bytes) -> Any:
    """Return what was packed; a kernel that comes again is the same one, compiled."""
    return pickle.loads(pickled)


def is_user_defined(definition: Definition) -> bool:
    """Return whether an algorithm is outside the registry."""
    return REGISTRY.get(definition.id) is not definition


def require_own_id(definition: Definition) -> None:
    """Raise InputError where an algorithm has the id of another one of the registry."""
    if definition.id in REGISTRY and is_user_defined(definition):
        raise InputError(f"algorithm: id {definition.id!r} is taken; allowed: an id of your own")


def algorithm_fingerprint(algorithm: str | Definition) -> str:
    """Return the fingerprint of an algorithm, of the registry or user-defined, as loaded."""
    definition = find_definition(algorithm)
    if not is_user_defined(definition):
        return fingerprint(registered()[definition.id], PLAY)
    is_regret = isinstance(definition, Algorithm)
    names = ("advance", "settings", "state") if is_regret else ("play", "require")
    parts = {name: getattr(definition, name) for name in (*names, "parameters")}
    return digest_of([fingerprint(PLAY), GUARD, digest(definition.id, parts)])[:16]
