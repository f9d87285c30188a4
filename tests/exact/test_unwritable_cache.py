"""A cache that cannot be written costs one line of warning, and never the result."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits import kernels
from dpbandits._cache_folder import _Warner
from dpbandits.cli import main
from dpbandits.engine import files
from dpbandits.engine.cache import Cache
from dpbandits.engine.checkpoints import Checkpoints
from dpbandits.pipeline.jobs import build_results
from dpbandits.pipeline.project import Project
from invented import PAPER, make_project
from support import run_python

CODES = [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT]
NAME = "by-pulls"


@pytest.fixture(autouse=True)
def unwarned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test begin as a process does, which has warned of nothing."""
    warner = _Warner()
    for module in (
        "kernels",
        "_cache_folder",
        "engine.fan_out",
        "engine.checkpoints",
    ):
        monkeypatch.setattr(f"dpbandits.{module}.warn_unwritable", warner)


def warnings(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines on the cache that were printed since the last call."""
    return [line for line in capsys.readouterr().err.splitlines() if "warning: " in line]


def failing(code: int, below: Path) -> Callable[..., Any]:
    """Return a function in the place of ``mkstemp``, which fails in a folder."""
    mkstemp = files.tempfile.mkstemp

    def made(*words: Any, dir: Path, **options: Any) -> Any:
        if dir.is_relative_to(below):
            raise OSError(code, os.strerror(code))
        return mkstemp(*words, dir=dir, **options)

    return made


def simulation(workers: int = 1, runs: int = 40) -> dpbandits.Simulation:
    return dpbandits.simulate(
        algorithm="ucb1",
        bandit=dpbandits.bernoulli([0.7, 0.5]),
        horizon=30,
        runs=runs,
        workers=workers,
    )


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_regret_is_there_and_one_line_says_why_it_is_not_kept(
    code: int,
    cache_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = simulation().pseudo_regret
    (cache_folder / "cells").rename(cache_folder / "before")
    monkeypatch.setattr(files.tempfile, "mkstemp", failing(code, cache_folder))
    capsys.readouterr()
    np.testing.assert_array_equal(simulation().pseudo_regret, expected)
    [line] = warnings(capsys)
    assert line.startswith(f"warning: {cache_folder}: the cache cannot be written (")
    assert os.strerror(code) in line
    assert not list((cache_folder / "cells").rglob("*.block"))
    assert simulation(runs=30).pulls.sum() == 900
    assert warnings(capsys) == [], "said once in a process"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_in_the_way(
    workers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = simulation().pseudo_regret
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "file"))
    np.testing.assert_array_equal(simulation(workers).pseudo_regret, expected)
    [line] = warnings(capsys)
    assert str(tmp_path / "file") in line


def test_success_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "file"))
    words = ["--features", "0,1; 0,0.9; 10,0", "--theta", "0.045,0.5", "--params", "epsilon=1"]
    assert main(["identify", "dp-bai", *words, "--budget", "400", "--runs", "5"]) == 0
    printed = capsys.readouterr()
    assert "\nsuccess " in printed.out
    assert printed.err.count("cannot be written") == 1


def test_checkpoints_that_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    watch = Checkpoints(Cache(tmp_path / "file"), "ab" * 32, "ucb1, 6 runs of 400 rounds")
    monkeypatch.setattr("dpbandits.engine.checkpoints.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    for done in (1, 2, 3):
        watch.between(done, 4, lambda: {"pulls": np.zeros(1)})
    watch.clear()
    assert not watch.exist
    assert len(warnings(capsys)) == 1


def test_jobs_write_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "file"))
    project = Project.load(make_project(tmp_path / "project")).at(scale="quick")
    path = build_results(project, PAPER, NAME, workers=1)
    assert len(project.frame(PAPER, NAME)) > 0
    assert path.is_relative_to(tmp_path / "project/results")
    assert len(warnings(capsys)) == 1


LIBRARY = """
import dpbandits
simulation = dpbandits.simulate(
    algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=30, runs=2
)
print(simulation.pulls.sum())
"""


@pytest.mark.slow
def test_kernels_that_cannot_be_kept(tmp_path: Path) -> None:
    """Neither they nor the results can be written; the kernels go nowhere else."""
    (tmp_path / "file").write_text("in the way")
    changes = {"DPBANDITS_CACHE": str(tmp_path / "file"), "NUMBA_CACHE_DIR": None}
    run = run_python("-c", LIBRARY, changes=changes)
    assert (run.returncode, run.stdout) == (0, "60\n"), run.stderr
    assert run.stderr.count("warning: ") == 1
    assert "compiling ucb1 ..." in run.stderr
    package = Path(dpbandits.__file__).parent
    assert not list(package.rglob("*.nb[ci]"))


def test_a_folder_of_kernels_that_is_full(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    from dpbandits.algorithms.ucb1 import advance

    kept = kernels._Cache(advance.py_func)
    assert not (tmp_path / "kernels").exists(), "not before something is compiled"

    def full(key: object, data: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kept._cache_file, "save", full)
    monkeypatch.setattr(kept._impl, "check_cachable", lambda data: True)
    monkeypatch.setattr(kept._impl, "reduce", lambda data: data)
    monkeypatch.setattr(kept, "_index_key", lambda sig, codegen: "key")

    class Compiled:
        codegen = None

    kept.save_overload("signature", Compiled())
    [line] = warnings(capsys)
    assert "No space left on device" in line
