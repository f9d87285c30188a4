"""What the workers of one test session share, computed by whichever needs it first.

``conftest.py`` makes the folder before the workers begin and removes it in the end.
"""

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.papers import code_of

VARIABLE = "DPBANDITS_TEST_SESSION"
"""Environment variable that names the folder."""


def session_folder() -> Path:
    return Path(os.environ[VARIABLE])


@contextmanager
def locked(name: str) -> Iterator[Path]:
    """Yield the path ``name`` in the session's folder, which no other worker has meanwhile."""
    path = session_folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path


def shared_folder(name: str, fill: Callable[[Path], object]) -> Path:
    """Return a folder that ``fill`` has filled once; it is not to be changed.

    Nothing is kept of a folder whose filling failed: the next test tries again.
    """
    with locked(name) as folder:
        if not folder.exists():
            folder.mkdir()
            try:
                fill(folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
    return folder


def shared_value(name: str, make: Callable[[], Any]) -> Any:
    """Return what ``make`` returns, called once; it is not to be changed in place."""
    with locked(f"{name}.pickle") as path:
        if not path.exists():
            path.write_bytes(pickle.dumps(make()))
        return pickle.loads(path.read_bytes())


@cache
def exact_result(paper: str, name: str) -> pd.DataFrame:
    """Return an exactly computed result of a paper; it is not to be changed in place."""
    frame: pd.DataFrame = shared_value(
        f"exact/{paper}/{name}", code_of(paper).functions("analytic")[name]
    )
    return frame


class ExactResults:
    """The exactly computed results of a paper by name, each computed when it is first asked for."""

    def __init__(self, paper: str) -> None:
        self.paper = paper

    def __contains__(self, name: str) -> bool:
        return name in code_of(self.paper).functions("analytic")

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return the result of this name, or one of the privacy audit at the quick scale."""
        comparison, _, rest = name.rpartition("/")
        if not comparison:
            return exact_result(self.paper, name)
        make = code_of(comparison).functions("analytic")[rest]
        frame: pd.DataFrame = shared_value(f"exact/{name}", lambda: make("quick", 0, 1))
        return frame

    def rows(self, name: str, **where: Any) -> pd.DataFrame:
        """Return the rows of a result with these tags."""
        frame = self[name]
        for key, value in where.items():
            frame = frame[frame[key] == value]
        return frame

    def at(self, name: str, **where: Any) -> float:
        """Return the y of the one row of a result with these tags."""
        return float(self.rows(name, **where)["y"].item())


def copied(folder: Path, target: Path) -> Path:
    """Return a copy of a shared folder that a test may change; file times and links are kept."""
    return Path(shutil.copytree(folder, target, symlinks=True, dirs_exist_ok=True))
