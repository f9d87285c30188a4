"""Where numba keeps compiled kernels: one folder per state of the kernel sources.

numba keys its on-disk cache by the file of the kernel alone, so that an edited helper in another
file would silently return the old result. A folder named after the hash of every package with
kernels rules that out.
"""

import hashlib
import os
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from dpbandits._cache_folder import cache_folder
from dpbandits._sources import SOURCES, module_path

_IS_KEPT = re.compile(rb"^@(numba\.)?njit\([^)]*cache=True", re.MULTILINE)

_KERNEL_FILES = {path for path, source in SOURCES.items() if _IS_KEPT.search(source)}

KERNEL_FOLDERS = {path.parent for path in _KERNEL_FILES}
"""Packages with kernels that numba keeps, as paths within this one."""


def kernel_sources_hash() -> str:
    """Return 16 hex digits of the hash over the sources that compiled kernels are made of."""
    digest = hashlib.sha256()
    for path, source in SOURCES.items():
        if path.parent in KERNEL_FOLDERS:
            digest.update(path.as_posix().encode() + b"\0")
            digest.update(source + b"\0")
    return digest.hexdigest()[:16]


def kernels_folder() -> Path:
    """Return the folder of compiled kernels: ``NUMBA_CACHE_DIR``, else ``numba`` in the cache."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder() / "numba")


def use_kernel_cache() -> None:
    """Let numba keep our kernels in the folder of the present sources."""
    from dpbandits._numba_cache import keep_kernels_in

    keep_kernels_in(kernels_folder() / kernel_sources_hash())


class _Finder(MetaPathFinder):
    """Finds nothing; acts before the first module with kernels is loaded."""

    _has_acted = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if not self._has_acted and module_path(fullname, SOURCES) in _KERNEL_FILES:
            self._has_acted = True
            use_kernel_cache()


def give_kernels_their_folder() -> None:
    """Call ``use_kernel_cache`` when kernels are imported: numba reads it where one is declared.

    Not earlier, as importing numba costs a tenth of a second that much of the package can spare.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
