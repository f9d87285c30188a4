"""Fingerprints: the hash of a module and of all of this package that it imports, transitively.

Read off the import statements of the sources that were loaded (``dpbandits._sources``), whatever
lies on disk by now. A package's ``__init__`` counts only where something is imported from the
package itself, so that one algorithm does not depend on all the others through their registry.
"""

import ast
import hashlib
from collections.abc import Iterator
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
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if _path_of(submodule) else node.module


@cache
def _package_imports(path: Path) -> tuple[str, ...]:
    """Return what a file of this package imports: parsed once, though many are made of it."""
    return tuple(dict.fromkeys(imports_of(SOURCES[path])))


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
