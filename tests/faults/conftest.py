"""What the fault tests share: how often each is tried, what it counts, one undisturbed run."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fault_project import FIGURE, PAPER, build, make_project, outputs
from quick_clone import built_paper

WHOLE = bool(os.environ.get("FAULTS_WHOLE"))


@dataclass(frozen=True)
class Undisturbed:
    """A run that nothing disturbed.

    Attributes:
        folder: its project; tests copy it and leave it as it is.
        target: what was built.
        outputs: path -> bytes of everything built.
        seconds: how long it took.
    """

    folder: Path
    target: str
    outputs: dict[str, bytes]
    seconds: float


def left_alone(folder: Path, target: str) -> Undisturbed:
    """Build a target, with the kernels that are not compiled yet."""
    make_project(folder)
    begun = time.monotonic()
    build(folder, target=target)
    seconds = time.monotonic() - begun
    built = outputs(folder)
    assert {".csv", ".pdf", ".png", ".parquet"} <= {Path(name).suffix for name in built}
    return Undisturbed(folder, target, built, seconds)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """One figure, built once; for the few tests of `make test` the paper that others need, too."""
    if WHOLE:
        return left_alone(tmp_path_factory.mktemp("undisturbed"), FIGURE)
    return Undisturbed(built_paper(), PAPER, outputs(built_paper()), 0.0)


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
