"""What every test has: its own cache of results, and examples that are the same every time."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from dpbandits.kernels import kernels_folder
from shared import VARIABLE

# As commands have it that tests start: in the cache of the checkout, by state of the sources.
COMPILED_KERNELS = kernels_folder().resolve()

# Fixed examples, kept nowhere: a test that fails, fails for everyone and every time.
settings.register_profile("fixed", max_examples=50, derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test an empty cache of results; compiled kernels stay where they are."""
    folder = tmp_path_factory.mktemp("cache")
    COMPILED_KERNELS.mkdir(parents=True, exist_ok=True)
    (folder / "numba").symlink_to(COMPILED_KERNELS, target_is_directory=True)
    monkeypatch.setenv("DPBANDITS_CACHE", str(folder))
    return folder


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder that all workers share, before they begin; remove it when they have ended."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="dpbandits-tests-", ignore_cleanup_errors=True)
        os.environ[VARIABLE] = folder.name
        config.add_cleanup(folder.cleanup)


FIRST = ["test_build", "test_site", "test_algorithms_agreement", "test_new_paper", "test_documents"]
"""Files that take longest, in this order; a worker that ends with one would keep all waiting."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: the other workers do the rest meanwhile."""
    place = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))
