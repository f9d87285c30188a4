"""An algorithm that stands in a Python file of the user's own, outside this package."""

from pathlib import Path
from types import ModuleType

from dpbandits.algorithms import REGISTRY, Definition
from dpbandits.engine.cells import parts_digest
from dpbandits.engine.identity import digest_of
from dpbandits.engine.own_files import Bundle, bundle_of, execute, read_bundle, remove
from dpbandits.errors import InputError

NAME = "ALGORITHM"
"""What a file calls its algorithm where it holds more than one."""


def load_algorithm(path: str | Path) -> Definition:
    """Return the algorithm that a Python file defines.

    The file, and the files beside it that it imports, are read once: what was read is played, here
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
    module = _loaded(file.resolve())
    return _as_before(file.resolve(), module, _algorithm_in(module, path))


def _algorithm_in(module: ModuleType, path: str | Path) -> Definition:
    """Return the algorithm of a module; InputError where there is none, or one too many."""
    names = vars(module)
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


def _loaded(file: Path) -> ModuleType:
    """Read and execute a file; InputError where that fails."""
    bundle = None
    try:
        bundle = read_bundle(file)
        return execute(bundle)
    except Exception as error:
        if bundle is not None:
            remove(bundle)
        reason = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise InputError(f"{file}: cannot be imported ({reason})") from error


_LOADED: dict[tuple[Path, str], tuple[Bundle, Definition]] = {}
"""Algorithms by file and hash of all that they are made of."""


def _as_before(file: Path, module: ModuleType, algorithm: Definition) -> Definition:
    """Return the algorithm as it was loaded before, its kernel compiled, if nothing has changed."""
    bundle = bundle_of(module.__name__)
    assert bundle is not None
    try:
        key = file, digest_of([bundle.fingerprint, parts_digest(algorithm)])
    except InputError:
        # It cannot be simulated, but be asked for its guarantee.
        return algorithm
    before, found = _LOADED.setdefault(key, (bundle, algorithm))
    if before is not bundle:
        remove(bundle)
    return found
