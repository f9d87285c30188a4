"""Where numba keeps compiled kernels: one folder per state of the kernel sources.

numba keys its on-disk cache by the file of the kernel alone, so that an edited helper in another
file would silently return the old result. A folder named after the hash of every source that a
kernel may call rules that out.
"""

import hashlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from dpbandits._sources import PACKAGE, SOURCES

KERNEL_PACKAGES = ("bandits", "metrics", "algorithms")


def cache_folder() -> Path:
    """Folder of all caches: ``DPBANDITS_CACHE``, else ``.cache/dpbandits`` where one stands."""
    return Path(os.environ.get("DPBANDITS_CACHE") or Path.cwd() / ".cache" / "dpbandits")


def kernel_sources_hash() -> str:
    """Return 16 hex digits of the hash over the sources that compiled kernels are made of."""
    digest = hashlib.sha256()
    for name in KERNEL_PACKAGES:
        for path, source in SOURCES.items():
            if path.parts[0] == name:
                digest.update(path.as_posix().encode() + b"\0")
                digest.update(source + b"\0")
    return digest.hexdigest()[:16]


def use_kernel_cache() -> None:
    """Point numba at the folder of the present sources, under ``NUMBA_CACHE_DIR`` if set."""
    from numba import config

    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder() / "numba")
    config.CACHE_DIR = str(folder / kernel_sources_hash())  # type: ignore[attr-defined]


class _Finder(MetaPathFinder):
    """Finds nothing; acts before the first module with kernels is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname in [f"{PACKAGE}.{name}" for name in KERNEL_PACKAGES]:
            use_kernel_cache()


def give_kernels_their_folder() -> None:
    """Call ``use_kernel_cache`` when kernels are imported: numba reads it where one is declared.

    Not earlier, as importing numba costs a tenth of a second that much of the package can spare.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
