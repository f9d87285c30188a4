"""Where caches are: the user's folder, that of a project, or the one that a variable names."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from numba.core import event

import dpbandits
from dpbandits._cache_folder import cache_folder as folder_now
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Work, make_cell
from dpbandits.engine.compute import compute
from dpbandits.kernels import kernels_folder
from dpbandits.pipeline.project import Project
from support import run_python

ROOT = Path(__file__).resolve().parents[2]
UNSET = {"DPBANDITS_CACHE": None, "NUMBA_CACHE_DIR": None}
PLAY = """
import dpbandits
simulation = dpbandits.simulate(
    algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=30, runs=2
)
print(simulation.pulls.sum())
"""


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def some_project(folder: Path, cache: str = ".cache/dpbandits") -> Path:
    shutil.copytree(ROOT / "config", folder / "config")
    text = (ROOT / "config/config.yaml").read_text()
    assert text.count("cache: .cache/dpbandits") == 1
    text = text.replace("cache: .cache/dpbandits", f"cache: {cache}")
    (folder / "config/config.yaml").write_text(text)
    return folder


def test_library_use_goes_to_the_user_s_folder(unset: pytest.MonkeyPatch, tmp_path: Path) -> None:
    unset.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    unset.chdir(tmp_path)
    assert folder_now() == tmp_path / "home/dpbandits"
    assert Cache().cells == tmp_path / "home/dpbandits/cells"
    assert kernels_folder() == tmp_path / "home/dpbandits/numba"


@pytest.mark.parametrize("cache", [".cache/dpbandits", "a folder"])
def test_in_a_project_it_goes_to_the_project_s(
    cache: str, unset: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unset.chdir(some_project(tmp_path, cache))
    assert folder_now() == tmp_path / cache == Project.load().cache_folder.absolute()


@pytest.mark.parametrize("text", ["", "a: [", "- papers", "cache: here", "papers: [a]\nseed: 1"])
def test_a_config_of_something_else_is_no_project(
    text: str, unset: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(text)
    unset.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    unset.chdir(tmp_path)
    assert folder_now() == tmp_path / "home/dpbandits"


def test_the_variable_means_the_same_to_both(unset: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = Project.load(some_project(tmp_path / "project"))
    unset.setenv("DPBANDITS_CACHE", str(tmp_path / "given"))
    assert project.cache_folder == folder_now() == tmp_path / "given"
    assert kernels_folder() == tmp_path / "given/numba"
    unset.setenv("DPBANDITS_CACHE", "")
    assert project.cache_folder == tmp_path / "project/.cache/dpbandits"


def test_a_relative_folder_is_meant_from_where_one_stands(
    unset: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unset.chdir(tmp_path)
    unset.setenv("DPBANDITS_CACHE", "here")
    assert folder_now() == tmp_path / "here"


@pytest.mark.parametrize("words", [["-c", "import dpbandits"], ["-m", "dpbandits", "--help"]])
def test_an_import_writes_nothing(words: list[str], tmp_path: Path) -> None:
    """Nothing where one stands, in an empty folder that is read-only, and nothing elsewhere."""
    stand, home = tmp_path / "stand", tmp_path / "home"
    stand.mkdir()
    home.mkdir()
    stand.chmod(0o555)
    changes = {**UNSET, "XDG_CACHE_HOME": str(home), "HOME": str(home)}
    run = run_python("-B", *words, changes=changes, folder=stand)
    assert (run.returncode, run.stderr) == (0, "")
    assert list(stand.iterdir()) == []
    assert [path.name for path in home.iterdir() if path.name == "dpbandits"] == []


def test_a_simulation_writes_to_the_user_s_folder_alone(tmp_path: Path) -> None:
    """And says that it compiles, where it does."""
    stand, home = tmp_path / "stand", tmp_path / "home"
    stand.mkdir()
    changes = {**UNSET, "XDG_CACHE_HOME": str(home)}
    runs = [run_python("-B", "-c", PLAY, changes=changes, folder=stand) for _ in range(2)]
    assert [(run.returncode, run.stdout) for run in runs] == [(0, "60\n")] * 2
    assert [run.stderr.count("compiling ucb1 ...\n") for run in runs] == [1, 0]
    assert list(stand.iterdir()) == []
    assert sorted(path.name for path in (home / "dpbandits").iterdir()) == ["cells", "numba"]


def test_jobs_do_not_say_that_they_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play = Work.play

    def compiled(work: Work, root_seed: int) -> Any:
        with event.trigger_event("numba:compile"):
            return play(work, root_seed)

    monkeypatch.setattr(Work, "play", compiled)
    bandit = dpbandits.bernoulli([0.7, 0.5])
    simulation = dpbandits.simulate(algorithm="ucb1", bandit=bandit, horizon=30, runs=20)
    assert simulation.pulls.sum() == 600
    assert capsys.readouterr().err.count("compiling ucb1 ...\n") == 1, "once, for two batches"
    cell = make_cell(algorithm="ucb1", bandit=bandit, horizon=31)
    compute([Work(cell, range(20))], root_seed=1)
    assert "compiling" not in capsys.readouterr().err
