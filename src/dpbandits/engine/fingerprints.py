"""Fingerprints: the hash of a module and of all of this package that it imports, transitively.

Read off the import statements of the sources that were loaded (``dpbandits._sources``), whatever
lies on disk by now. A package's ``__init__`` counts only where something is imported from the
package itself, so that one algorithm does not depend on all the others through their registry.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from dpbandits._sources import PACKAGE, SOURCES, module_path
from dpbandits.errors import InputError

EXECUTE = f"{PACKAGE}.engine.execute"
"""The engine's part of every regret simulation."""

LOCKSTEP = f"{PACKAGE}.engine.lockstep"
"""The engine's part of every Nash curve."""

TRIALS_OF = f"{PACKAGE}.engine.trials"
"""The engine's part of every identification."""

GUARANTEES = tuple(f"{PACKAGE}.privacy.{name}" for name in ("guarantee", "guarantees", "known"))
"""What an algorithm guarantees; no simulated number depends on it.

``tests/exact/test_fingerprints.py`` holds algorithms to that.
"""


def _path_of(module: str) -> Path | None:
    """Return the file of a module of this package, or None where there is no such module."""
    return module_path(module, SOURCES)


def imports_of(source: bytes) -> Iterator[str]:
    """Yield the modules that a source imports, in its functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from _imported(node.module, (alias.name for alias in node.names))


def _imported(module: str, names: Iterable[str]) -> Iterator[str]:
    """Yield what `from module import names` imports: each submodule, else the module."""
    for name in names:
        submodule = f"{module}.{name}"
        yield submodule if _path_of(submodule) else module


_STATEMENT = re.compile(
    rf"^[ \t]*(?:import[ \t]+({PACKAGE}[\w.]*)"
    rf"|from[ \t]+({PACKAGE}[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n(]*)))",
    re.MULTILINE,
)


@cache
def _package_imports(path: Path) -> tuple[str, ...]:
    """Return what a file of this package imports of it.

    Read off its lines: parsing all files takes a second, and a workflow asks before it does
    anything. ``tests/exact/test_fingerprints.py`` holds it to ``imports_of``.
    """
    found: list[str] = []
    for whole, module, several, names in _STATEMENT.findall(SOURCES[path].decode()):
        listed = re.sub("#.*", "", several or names).split(",")
        named = [name.split()[0] for name in listed if name.strip()]
        found += [whole] if whole else _imported(module, named)
    return tuple(dict.fromkeys(found))


@cache
def registered() -> dict[str, str]:
    """Return the module of each algorithm of the registry, read off its literal."""
    text = SOURCES[Path("algorithms/__init__.py")].decode()
    entries = re.findall(r'^    "([\w-]+)": (\w+)\.\w+,$', text, re.MULTILINE)
    return {name: f"{PACKAGE}.algorithms.{module}" for name, module in entries}


def sources_of(*modules: str, without: tuple[str, ...] = ()) -> list[Path]:
    """Return the files that the modules are made of, sorted, as paths within the package.

    Args:
        modules: their names.
        without: modules that are left out, with what is imported through them alone.

    Raises:
        InputError: a module is not one of this package.
    """
    for module in (*modules, *without):
        if _path_of(module) is None:
            raise InputError(f"module is {module!r}; allowed: a module of {PACKAGE} that exists")
    found: set[Path] = set()
    left_out = {_path_of(module) for module in without} | {None}
    waiting = list(modules)
    while waiting:
        path = _path_of(waiting.pop())
        if path not in left_out and path not in found:
            assert path is not None
            found.add(path)
            waiting.extend(_package_imports(path))
    return sorted(found)


@cache
def fingerprint(*modules: str, without: tuple[str, ...] = ()) -> str:
    """Return the hash of the modules' sources, 16 hex digits.

    Args:
        modules: their names.
        without: as for ``sources_of``; ``GUARANTEES`` for what is simulated.

    Raises:
        InputError: a module is not one of this package.
    """
    digest = hashlib.sha256()
    for path in sources_of(*modules, without=without):
        digest.update(path.as_posix().encode() + b"\0")
        digest.update(SOURCES[path] + b"\0")
    return digest.hexdigest()[:16]
