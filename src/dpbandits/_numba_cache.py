"""numba's on-disk cache of our kernels: a folder that cannot be used costs a warning."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba import config
from numba.core import dispatcher
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)

from dpbandits._cache_folder import cache_folder, reason_of, warn_unwritable
from dpbandits._sources import ROOT


class _Locator(UserProvidedCacheLocator):
    """numba's folder as it is configured, which is not created before a kernel is compiled.

    numba would turn to another folder where this one cannot be written: to ``__pycache__``, which
    is not keyed by the hash of all sources.
    """

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_Locator":
        return cls(py_func, py_file)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (as numba declares it)


class _Files(IndexDataCacheFile):
    """The files of one kernel: an index by signature, and a file of machine code for each.

    numba numbers the latter from 1. Two processes that compile two signatures at once would write
    the same one, and the index that is left could name the code of the other signature.
    """

    def _data_name(self, number: int) -> str:
        name: str = super()._data_name(uuid4().int)  # type: ignore[no-untyped-call]
        return name


class KernelCache(FunctionCache):
    """numba's cache of one kernel; a folder that cannot be used costs a warning, not the kernel."""

    _impl_class = _Implementation

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)  # type: ignore[no-untyped-call]
        self._cache_file = _Files(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            given = os.environ.get("NUMBA_CACHE_DIR")
            warn_unwritable(Path(given) if given else cache_folder(), reason_of(error))


def _cache_of(py_func: Callable[..., Any]) -> Any:
    """Return the cache of a compiled function: ours for our kernels, numba's for all others."""
    is_ours = Path(py_func.__code__.co_filename).is_relative_to(ROOT)
    kind = KernelCache if is_ours else FunctionCache
    return kind(py_func)


def keep_kernels_in(folder: Path) -> None:
    """Let numba keep our compiled kernels in a folder, which is created when one is compiled."""
    config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    dispatcher.FunctionCache = _cache_of  # type: ignore[attr-defined]
