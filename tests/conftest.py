"""What every test has: its own cache of results, and examples that are the same every time."""

from pathlib import Path

import numba
import pytest
from hypothesis import settings

import dpbandits  # noqa: F401  (points numba at its folder of compiled kernels)

COMPILED_KERNELS = str(numba.config.CACHE_DIR)

# Fixed examples, kept nowhere: a test that fails, fails for everyone and every time.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test an empty cache of results; kernels stay compiled where they are."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DPBANDITS_CACHE", str(folder))
    monkeypatch.setenv("NUMBA_CACHE_DIR", COMPILED_KERNELS)
    return folder
