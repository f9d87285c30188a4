"""Compiled functions: how they are declared, where numba keeps them, what they take and write.

numba keys its cache on disk by the file of a function alone: an edited helper in another file would
silently be inlined from old machine code. ``njit`` keeps it in a folder that is named by the hash
of all files of this package that use ``njit``.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints
from uuid import uuid4

import numba
import numpy as np
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numpy.typing import NDArray

from dpbandits._cache_folder import cache_folder, warn_unwritable

_ROOT = Path(__file__).resolve().parent
_USES_NJIT = re.compile(rb"^@njit\b", re.MULTILINE)


def kernel_files() -> list[Path]:
    """Return the files of this package with functions that are compiled and kept."""
    return [path for path in sorted(_ROOT.rglob("*.py")) if _USES_NJIT.search(path.read_bytes())]


def hash_of(files: list[Path]) -> str:
    """Return 16 hex digits of the hash of what is in the files now."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


_FILES = kernel_files()
KERNELS_HASH = hash_of(_FILES)
"""Hash of the kernel sources when this module was imported; names the folder of machine code."""


def kernels_folder() -> Path:
    """Return the folder of compiled kernels: ``NUMBA_CACHE_DIR``, else ``numba`` in the cache."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder() / "numba")


class _Locator(UserProvidedCacheLocator):
    """A place in our folder, even if not writable: numba would use ``__pycache__`` instead."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        folder = Path(file).resolve().parent
        is_ours = folder.is_relative_to(_ROOT)
        place = folder.relative_to(_ROOT) if is_ours else self.get_suitable_cache_subpath(file)
        self._cache_path = str(kernels_folder() / KERNELS_HASH / place)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator":
        return cls(function, file)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (as numba declares it)


class _Files(IndexDataCacheFile):
    """Index of signatures, and one file of machine code for each under a unique name.

    numba would number the files: of two processes that compile two signatures at once, one would
    load the other's code.
    """

    def _data_name(self, number: int) -> str:
        name: str = super()._data_name(uuid4().int)
        return name


class _Cache(FunctionCache):
    """numba's cache of one kernel; where the folder cannot be used it warns once and compiles."""

    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def _save_overload(self, signature: Any, data: Any) -> None:
        # This code may be of a file that was edited after the import, which the key does not know.
        if hash_of(_FILES) == KERNELS_HASH:
            super()._save_overload(signature, data)

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            given = os.environ.get("NUMBA_CACHE_DIR")
            warn_unwritable(Path(given) if given else cache_folder(), error)


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function as ``numba.njit`` does, and keep its machine code on disk."""
    if function is None:
        return partial(njit, **options)
    compiled = numba.njit(**options)(function)
    compiled._cache = _Cache(function)
    return compiled


One = Annotated[NDArray[np.int64], "one", np.int64]
"""Field of a state: one integer, in an array of length one that a kernel can write to."""

Counts = Annotated[NDArray[np.int64], "arms", np.int64]
"""Field of a state: an integer for each arm."""

Reals = Annotated[NDArray[np.float64], "arms", np.float64]
"""Field of a state: a real number for each arm."""

State = TypeVar("State")


@cache
def _fields(state: Callable[..., Any]) -> list[tuple[bool, Any]]:
    """Return whether each field of a state has an entry for each arm, and its type."""
    hints = get_type_hints(state, include_extras=True).values()
    return [(hint.__metadata__[0] == "arms", hint.__metadata__[1]) for hint in hints]


def blank(state: Callable[..., State], arms: int) -> State:
    """Return a state, a NamedTuple of the fields above, with zeros in every field."""
    return state(*(np.zeros(arms if is_long else 1, kind) for is_long, kind in _fields(state)))


class Arms(NamedTuple):
    """What a kernel sees of a bandit: the law of each arm and its parameter."""

    laws: NDArray[np.int64]
    parameters: NDArray[np.float64]


RANDOM_ARM = -1
"""Arm of a segment whose rounds play independent, uniformly random arms, drawn in law as one.

Only Nash metrics take such a segment; they score each of its rounds by the mean over the arms.
"""


class Segments(NamedTuple):
    """Buffers that a kernel fills: consecutive pulls of one arm, and the sum of their rewards."""

    arms: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sums: NDArray[np.float64]


def new_segments(size: int) -> Segments:
    """Return buffers for ``size`` segments."""
    return Segments(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


@njit(inline="always")
def write(out, n, arm, length, total):
    """Write segment ``n``; return the number of segments that are written."""
    out.arms[n], out.lengths[n], out.sums[n] = arm, length, total
    return n + 1


ROUNDING = 1e-9
"""Relative error that a sum of rewards may have."""


@njit
def first_fault(out, count, played, horizon, largest):
    """Return the number of the first faulty segment, else ``count``, and the rounds before it."""
    for n in range(count):
        arm, length = out.arms[n], out.lengths[n]
        if not RANDOM_ARM <= arm < largest.size or not 1 <= length <= horizon - played:
            return n, played
        bound = largest.max() if arm == RANDOM_ARM else largest[arm]
        if not 0.0 <= out.sums[n] <= bound * length * (1.0 + ROUNDING):
            return n, played
        played += length
    return count, played
