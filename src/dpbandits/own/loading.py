"""The algorithm that a Python file defines."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from dpbandits.algorithms import Definition
from dpbandits.engine.identity import PACKAGE
from dpbandits.errors import InputError
from dpbandits.own.identity import digest, file_of, hash_of, is_installed, is_user_defined

NAME = "ALGORITHM"
"""What a file calls its algorithm where it has more than one."""


def load_algorithm(path: str | Path) -> Definition:
    """Return the algorithm that a Python file defines.

    The file, and the files beside it that it imports, are read anew: what was read is played, here
    and in worker processes, and is what results are cached by. Load an edited file again to play
    it; what was loaded before stays what it was.

    Args:
        path: the file. Its algorithm is the ``Algorithm`` or ``IdentificationAlgorithm`` that it
            calls ``ALGORITHM``, or the only one it has.

    Raises:
        InputError: there is no such file, it cannot be imported, or it holds no algorithm, or
            several none of which is called ``ALGORITHM``.
    """
    file = Path(path)
    if file.suffix != ".py" or not file.is_file():
        raise InputError(f"{path}: is no Python file; allowed: the path of a .py file")
    try:
        names = _executed(file.resolve())
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{file.resolve()}: cannot be imported ({reason})") from error
    algorithm = _algorithm_in(names, path)
    try:
        key = file.resolve(), digest(algorithm.id, vars(algorithm))
    except InputError:
        # It cannot be simulated, but be asked for its guarantee.
        return algorithm
    before = _LOADED.get(key)
    if before is None or hash_of(before.id, vars(before))[0] != key[1]:
        _LOADED[key] = before = algorithm
    return before


_LOADED: dict[tuple[Path, str], Definition] = {}
"""Algorithms by file and hash: an unchanged one is the same again, its kernel compiled."""


NEVER_BESIDE = {PACKAGE, "__main__", *sys.stdlib_module_names}
"""Names of modules that no file of the user's takes."""


def _executed(file: Path) -> dict[str, Any]:
    """Execute a file as a script is, and return its names; what lies beside it is its alone."""
    folder, name = file.parent, file.stem
    # Others go on to import Python's own module of that name, or this package.
    module = ModuleType(f"_{name}" if name in NEVER_BESIDE else name)
    module.__file__ = str(file)
    aside = _forgotten(folder)
    is_silent = sys.dont_write_bytecode
    # A compiled file is found by the second of its last change, and may be older than that.
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    sys.modules[module.__name__] = module
    importlib.invalidate_caches()
    try:
        exec(compile(file.read_bytes(), file, "exec", dont_inherit=True), vars(module))
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = is_silent
        del sys.modules[module.__name__]
        _forgotten(folder)
        sys.modules.update(aside)
    return vars(module)


def _forgotten(folder: Path) -> dict[str, ModuleType]:
    """Forget and return the modules that are, or would be, imported from a folder of the user's."""
    if is_installed(str(folder)):
        return {}
    files = {path.stem for path in folder.glob("*.py")}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}

    def is_beside(name: str, module: ModuleType) -> bool:
        top = name.partition(".")[0]
        if top in NEVER_BESIDE or top in files | packages:
            return top not in NEVER_BESIDE
        file = file_of(module)
        if file is None or is_installed(file):
            return False
        return Path(file).resolve().is_relative_to(folder)

    names = [name for name, module in list(sys.modules.items()) if is_beside(name, module)]
    return {name: sys.modules.pop(name) for name in names}


def _algorithm_in(names: dict[str, Any], path: str | Path) -> Definition:
    """Return the algorithm of a file; InputError where there is none, or one too many."""
    algorithms = {
        name: value
        for name, value in names.items()
        if isinstance(value, Definition) and is_user_defined(value)
    }
    if NAME in algorithms:
        return algorithms[NAME]
    if not algorithms:
        raise InputError(f"{path}: defines no algorithm; allowed: {NAME} = Algorithm(...)")
    if len({id(value) for value in algorithms.values()}) > 1:
        listed = ", ".join(algorithms)
        raise InputError(f"{path}: defines {listed}; allowed: one, or one called {NAME}")
    return next(iter(algorithms.values()))
