"""Which modules are installed, so that their version says what they are, and which the user's."""

import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from dpbandits.engine.identity import GUARANTEES, PACKAGE, fingerprint


def origin(module: str) -> str | None:
    """Return what a module belongs to with its version, or None for a module of the user's.

    Installed is what lies in a folder of installed packages; a package that is installed as a link
    to its sources is the user's. Of this package it is the module with its fingerprint.
    """
    if module.split(".")[0] == PACKAGE:
        return f"{module} {fingerprint(module, without=GUARANTEES)}"
    loaded = sys.modules.get(module)
    return None if loaded is None or module == "__main__" else _origin(module, _file_of(loaded))


def _file_of(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    if file is None:
        places = list(getattr(module, "__path__", ()))
        file = places[0] if places else None
    return file


@cache
def _origin(module: str, file: str | None) -> str | None:
    python = f"python {sys.version_info.major}.{sys.version_info.minor}"
    if file is None:
        return python if module.split(".")[0] in sys.stdlib_module_names else None
    place = Path(file).resolve()
    if is_installed(place):
        return _distribution(module.split(".")[0])
    return python if any(place.is_relative_to(each) for each in _library_folders()) else None


def is_installed(place: Path) -> bool:
    """Return whether a file or folder lies among the installed packages."""
    return any(place.is_relative_to(folder) for folder in _installed_folders())


@cache
def _installed_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    found = [paths["purelib"], paths["platlib"], *site.getsitepackages()]
    return tuple(Path(each).resolve() for each in [*found, site.getusersitepackages()])


@cache
def _library_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return tuple(Path(paths[key]).resolve() for key in ("stdlib", "platstdlib"))


def _distribution(top: str) -> str | None:
    """Return the distributions that a module comes from, or None where there is none."""
    try:
        return f"{top} {version(top)}"
    except PackageNotFoundError:
        names = sorted(set(packages_distributions().get(top, ())))
        return ", ".join(f"{name} {version(name)}" for name in names) or None


def reference(value: Any, walked: frozenset[str]) -> str | None:
    """Return name and version of an installed thing, or None where its contents have to be hashed.

    Args:
        value: a function, a class, anything that calls itself by module and name.
        walked: installed packages whose contents are hashed all the same.
    """
    bare = getattr(value, "py_func", value)
    module = getattr(bare, "__module__", None)
    name = getattr(bare, "__qualname__", None) or getattr(bare, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    where = None if module.split(".")[0] in walked else origin(module)
    if where is None or not any(_is_same(found, value) for found in _found(module, name)):
        return None
    return f"{where}: {module}.{name}"


def _found(module: str, name: str) -> Iterator[Any]:
    """Yield what stands under a name in a loaded module."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not None:
        yield found


def _is_same(found: Any, value: Any) -> bool:
    """Return whether both are one, or one a copy of the other that another process made of it."""
    if found is value:
        return True
    one, other = (getattr(each, "py_func", each) for each in (found, value))
    if not isinstance(one, FunctionType) or not isinstance(other, FunctionType):
        return False
    return type(found) is type(value) and one.__code__ == other.__code__ and not one.__closure__
