"""What names a result: canonical JSON, the keys of random streams, and the sources behind it.

The sources of the package are read once, when this module is imported. The fingerprint of a module
is the hash of it and of all of the package that it imports, transitively, as read off the import
statements. A package's ``__init__`` counts only where something is imported from the package
itself, so that one algorithm does not depend on all the others through their registry.

Imports no numerics: a workflow asks for fingerprints before it does anything.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_ROOT_SEED = 20260719

PACKAGE = "dpbandits"
ROOT = Path(__file__).resolve().parents[1]

PLAY = f"{PACKAGE}.engine.play"
"""The engine's part of every simulation."""


def canonical_json(description: Any) -> str:
    """Return one JSON text for equal descriptions: sorted keys, no spaces.

    JSON knows no infinity, so that one becomes the text ``infinity``.

    Raises:
        ValueError: NaN or minus infinity.
    """
    plain = _without_infinity(description)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinity(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(part) for part in value]
    return "infinity" if isinstance(value, float) and value == math.inf else value


def digest_of(description: Any) -> str:
    """Return the sha256 of the canonical JSON, as 64 hex digits."""
    return hashlib.sha256(canonical_json(description).encode()).hexdigest()


def stream_key(description: Any) -> int:
    """Return the first 128 bits of the sha256 of the description of a random stream.

    Of simulations that is ``Cell.stream_description``: no metric, no number of runs or workers and,
    but for users' own arms, no version of the code moves a stream.
    """
    return int(digest_of(description)[:32], 16)


def run_generator(root_seed: int, key: int, run: int) -> "np.random.Generator":
    """Return the PCG64 generator of one run (``run`` >= 0) of the stream ``key``."""
    import numpy as np

    sequence = np.random.SeedSequence(root_seed, spawn_key=(key, run))
    return np.random.Generator(np.random.PCG64(sequence))


# Of numpy's SeedSequence and PCG64.
_INIT_A, _MULT_A, _INIT_B, _MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715
_STEP = 0x2360ED051FC65DA44385DF649FCCF645
_WORD, _STATE = (1 << 32) - 1, (1 << 128) - 1


def _scrambled(values: "NDArray[np.uint32]", before: int, after: int) -> "NDArray[np.uint32]":
    mixed = ((values ^ before) * after).astype(values.dtype)
    return (mixed ^ (mixed >> 16)).astype(values.dtype)


def reseeding(root_seed: int, key: int, runs: range) -> "Callable[[int], np.random.Generator]":
    """Return what `run_generator` returns of some runs, as one object, seeded anew each time.

    To make a generator takes 80 us, ten times as long as a run of few rounds. The last word that
    SeedSequence mixes into its pool is the number of the run: what comes before is mixed once, and
    the rest for all runs at a time.
    """
    import numpy as np

    if not 0 <= runs.start <= runs.stop <= _WORD:
        return lambda run: run_generator(root_seed, key, run)
    words = max(4, -(-root_seed.bit_length() // 32)) + max(1, -(-key.bit_length() // 32))
    constant = _INIT_A * pow(_MULT_A, 4 * words, 1 << 32) & _WORD
    pool = []
    for mixed in np.random.SeedSequence(root_seed, spawn_key=(key,)).pool.tolist():
        before, constant = constant, constant * _MULT_A & _WORD
        number = _scrambled(np.array(runs, np.uint32), before, constant)
        values = (mixed * _MIX_LEFT & _WORD) - number * _MIX_RIGHT
        pool.append(values ^ (values >> 16))
    columns, constant = [], _INIT_B
    for values in [*pool, *pool]:
        before, constant = constant, constant * _MULT_B & _WORD
        columns.append(_scrambled(values, before, constant))
    seeds = np.stack(columns, axis=1).tolist()
    generator = np.random.Generator(np.random.PCG64(0))

    def seeded(run: int) -> "np.random.Generator":
        # The upper halves come first.
        b, a, d, c, f, e, h, g = seeds[run - runs.start]
        seed = a << 96 | b << 64 | c << 32 | d
        increment = ((e << 96 | f << 64 | g << 32 | h) << 1 | 1) & _STATE
        state = ((increment + seed) * _STEP + increment) & _STATE
        generator.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": increment},
            "has_uint32": 0,
            "uinteger": 0,
        }
        return generator

    return seeded


def read_sources(root: Path) -> dict[Path, bytes]:
    """Return every Python file below ``root``, by its path from there, in order."""
    return {path.relative_to(root): source_of(path) for path in sorted(root.rglob("*.py"))}


def source_of(path: Path) -> bytes:
    """Return what is in a file, with the line ends of Unix: git may have checked out others."""
    return path.read_bytes().replace(b"\r\n", b"\n")


SOURCES = read_sources(ROOT)
SOURCES_HASH = hashlib.sha256(repr(SOURCES).encode()).hexdigest()


def path_of(module: str) -> Path | None:
    """Return the file of a module of this package, or None where there is no such module."""
    first, *rest = module.split(".")
    if first != PACKAGE:
        return None
    stem = Path(*rest)
    paths = [stem.with_suffix(".py")] if rest else []
    return next((path for path in [*paths, stem / "__init__.py"] if path in SOURCES), None)


_STATEMENT = re.compile(
    rf"^[ \t]*(?:import[ \t]+({PACKAGE}[\w.]*)"
    rf"|from[ \t]+({PACKAGE}[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n(]*)))",
    re.MULTILINE,
)


def _imported(module: str, names: Iterable[str]) -> list[str]:
    """Return what `from module import names` imports: each submodule, else the module."""
    submodules = [f"{module}.{name}" for name in names]
    return [submodule if path_of(submodule) else module for submodule in submodules]


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Return what a file imports of this package, read off its lines: parsing all takes a second.

    ``tests/test_engine_identity.py`` compares it with the syntax trees.
    """
    modules: list[str] = []
    for whole, module, several, names in _STATEMENT.findall(SOURCES[path].decode()):
        listed = re.sub("#.*", "", several or names).split(",")
        named = [name.split()[0] for name in listed if name.strip()]
        modules += [whole] if whole else _imported(module, named)
    return tuple(dict.fromkeys(modules))


@cache
def registered() -> dict[str, str]:
    """Return the module of each algorithm of the registry by its source: an import is slow."""
    text = SOURCES[Path("algorithms/__init__.py")].decode()
    entries = re.findall(r'^    "([\w-]+)": (\w+)\.\w+,$', text, re.MULTILINE)
    return {name: f"{PACKAGE}.algorithms.{module}" for name, module in entries}


@cache
def sources_of(*modules: str) -> list[Path]:
    """Return the files that modules of this package are made of, sorted, as paths within it."""
    for module in modules:
        if path_of(module) is None:
            raise InputError(f"module is {module!r}; allowed: a module of {PACKAGE} that exists")
    files: set[Path] = set()
    waiting = list(modules)
    while waiting:
        path = path_of(waiting.pop())
        if path is not None and path not in files:
            files.add(path)
            waiting.extend(imports_of(path))
    return sorted(files)


@cache
def fingerprint(*modules: str) -> str:
    """Return the hash of the sources of modules of this package, 16 hex digits."""
    digest = hashlib.sha256()
    for path in sources_of(*modules):
        digest.update(path.as_posix().encode() + b"\0")
        digest.update(SOURCES[path] + b"\0")
    return digest.hexdigest()[:16]


def require_unedited(*modules: str) -> None:
    """Raise InputError where a source of the modules is no longer what was read and hashed."""
    for path in sources_of(*modules):
        file = ROOT / path
        if not file.is_file() or source_of(file) != SOURCES[path]:
            raise InputError(f"{file}: was edited after it was imported; start Python again")
