"""Fingerprints: the hash of a module and of all of this package that it imports, transitively.

Read off the import statements, without running anything. A package's ``__init__`` counts only
where something is imported from the package itself, so that one algorithm does not depend on all
the others through their registry.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dpbandits.errors import InputError

PACKAGE = "dpbandits"
ROOT = Path(__file__).resolve().parents[1]
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
    parts = module.split(".")
    if parts[0] != PACKAGE:
        return None
    stem = ROOT.joinpath(*parts[1:])
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if _path_of(submodule) else node.module


@cache
def _package_imports(path: Path) -> tuple[str, ...]:
    """Return what a file of this package imports: parsed once, though many are made of it."""
    return tuple(dict.fromkeys(_imports(path)))


def sources_of(*modules: str, without: tuple[str, ...] = ()) -> list[Path]:
    """Return the files that the modules are made of, sorted.

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
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def own_sources(path: Path) -> list[Path]:
    """Return a file outside this package and the files beside it that it imports, transitively."""
    found: dict[Path, None] = {}
    waiting = [path.resolve()]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found[source] = None
            waiting.extend(_beside(source))
    return sorted(found)


def _beside(path: Path) -> Iterator[Path]:
    """Yield the files in the folder of ``path`` that it imports; of a package all files."""
    for name in {name.split(".")[0] for name in _imports(path)} - {PACKAGE}:
        first = path.parent / name
        if first.with_suffix(".py").is_file():
            yield first.with_suffix(".py")
        elif first.is_dir():
            yield from sorted(first.rglob("*.py"))


def file_fingerprint(path: Path, engine: str) -> str:
    """Return the fingerprint of an algorithm in a file outside this package.

    It covers the file, the files beside it that it imports, and what they import of this package.

    Args:
        path: the file.
        engine: the engine's part, ``EXECUTE``, ``LOCKSTEP`` or ``TRIALS_OF``.
    """
    digest = hashlib.sha256()
    packaged: dict[str, None] = {}
    for source in own_sources(path):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
        names = [name for name in _imports(source) if name.split(".")[0] == PACKAGE]
        packaged |= dict.fromkeys(names)
    digest.update(fingerprint(*packaged, engine, without=GUARANTEES).encode())
    return digest.hexdigest()[:16]
