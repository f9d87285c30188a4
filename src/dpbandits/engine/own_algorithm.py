"""An algorithm that stands in a Python file of the user's own, outside this package."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from dpbandits.algorithms import REGISTRY, Definition
from dpbandits.errors import InputError

NAME = "ALGORITHM"
"""What a file calls its algorithm where it holds more than one."""


def load_algorithm(path: str | Path) -> Definition:
    """Return the algorithm that a Python file defines.

    The file is imported under its own name, and its folder is put last on ``sys.path``, so that
    worker processes find it and it may import files beside it.

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
    names = vars(_imported(file.resolve()))
    known = list(REGISTRY.values())
    found = {
        name: value
        for name, value in names.items()
        if isinstance(value, Definition) and not any(value is each for each in known)
    }
    if NAME in found:
        return found[NAME]
    if not found:
        raise InputError(f"{path}: defines no algorithm; allowed: {NAME} = Algorithm(...)")
    if len({id(value) for value in found.values()}) > 1:
        raise InputError(f"{path}: defines {', '.join(found)}; allowed: one, or one called {NAME}")
    return next(iter(found.values()))


def _imported(file: Path) -> ModuleType:
    """Import a file by its name; InputError where that fails or gives another module."""
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{file}: cannot be imported ({reason})") from error
    other = getattr(module, "__file__", None)
    if other is None or Path(other).resolve() != file:
        raise InputError(
            f"{file}: the module name {file.stem!r} is taken; allowed: a file name of your own"
        )
    return module
