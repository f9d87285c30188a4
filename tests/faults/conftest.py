"""What the fault tests share: how often each is tried, what it counts, one undisturbed run."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fault_project import FIGURE, PAPER, build, make_project, outputs

WHOLE = bool(os.environ.get("FAULTS_WHOLE"))


@dataclass(frozen=True)
class Undisturbed:
    """A run that nothing disturbed.

    Attributes:
        folder: its project; tests copy it and leave it as it is.
        config: what was built.
        outputs: path -> bytes of everything built.
        seconds: how long it took.
    """

    folder: Path
    config: str
    outputs: dict[str, bytes]
    seconds: float


def left_alone(folder: Path, config: str) -> Undisturbed:
    """Build what a config chooses; kernels that are not compiled yet are compiled before."""
    make_project(folder)
    build(folder, "--until", "kernels", config=config)
    begun = time.monotonic()
    build(folder, config=config)
    seconds = time.monotonic() - begun
    built = outputs(folder)
    assert {".csv", ".pdf", ".png", ".parquet"} <= {Path(name).suffix for name in built}
    return Undisturbed(folder, config, built, seconds)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """One figure, built once."""
    return left_alone(tmp_path_factory.mktemp("undisturbed"), FIGURE)


@pytest.fixture(scope="session")
def to_kill(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """What is killed, undisturbed: a whole paper, in `make test` one figure of it."""
    return left_alone(tmp_path_factory.mktemp("to-kill"), PAPER if WHOLE else FIGURE)


@pytest.fixture
def counted(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Return what notes a fault for docs/reliability.md, and how often it was tried."""

    def note(fault: str, held: str, times: int = 1) -> None:
        record_property("fault", {"fault": fault, "held": held, "times": times})

    return note


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what is marked ``whole`` to ``make faults``."""
    for item in items:
        if item.get_closest_marker("whole") and not WHOLE:
            item.add_marker(pytest.mark.skip(reason="runs in `make faults`, not in `make test`"))


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "whole: runs in `make faults`, not in `make test`")
