"""Compiled kernels on disk: one folder per state of the kernel sources.

numba keys its on-disk cache by the file of the kernel alone, so that an edited helper in another
file would silently return the old result. A folder named after the hash of every source that a
kernel may call rules that out.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import config
from numba.core import dispatcher
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

from dpbandits._cache_folder import cache_folder, reason_of, warn_unwritable
from dpbandits._sources import ROOT, SOURCES

KERNEL_PACKAGES = ("bandits", "metrics", "algorithms")


def kernel_sources_hash() -> str:
    """Return 16 hex digits of the hash over the sources that compiled kernels are made of."""
    digest = hashlib.sha256()
    for name in KERNEL_PACKAGES:
        for path, source in SOURCES.items():
            if path.parts[0] == name:
                digest.update(path.as_posix().encode() + b"\0")
                digest.update(source + b"\0")
    return digest.hexdigest()[:16]


def kernels_folder() -> Path:
    """Return the folder of compiled kernels: ``NUMBA_CACHE_DIR``, else ``numba`` in the cache."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder() / "numba")


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


class KernelCache(FunctionCache):
    """numba's cache of one kernel; a folder that cannot be used costs a warning, not the kernel."""

    _impl_class = _Implementation

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
    return kind(py_func)  # type: ignore[no-untyped-call]


def use_kernel_cache() -> None:
    """Let numba keep our kernels in the folder of the present sources."""
    config.CACHE_DIR = str(kernels_folder() / kernel_sources_hash())  # type: ignore[attr-defined]
    dispatcher.FunctionCache = _cache_of  # type: ignore[attr-defined]
