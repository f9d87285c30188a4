"""Where numba keeps compiled kernels: one folder per state of the kernel sources.

numba keys its on-disk cache by the file of the kernel alone, so that an edited helper in another
file would silently return the old result. A folder named after the hash of every source that a
kernel may call rules that out.
"""

import hashlib
import os
from pathlib import Path

from dpbandits._sources import SOURCES

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
