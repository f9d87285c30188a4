"""Outputs of other sources or another config are given to the workflow as old, and only they."""

import os
import shutil
import time
from pathlib import Path

import pytest

from dpbandits.commands.draw import draw_paper_figure
from dpbandits.commands.run import build_results
from dpbandits.project.config import Project
from dpbandits.project.stale import CURRENT, EPOCH, STALE, epoch_path, kernels_path, mark_stale
from dpbandits.project.targets import targets

ROOT = Path(__file__).resolve().parents[2]
PAPER, RESULTS, FIGURE = "ts-is-dp", "privacy-by-b-and-c", "fig1"
EXPERIMENTS = Path(f"config/papers/{PAPER}/experiments.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one exact result and its figure, as an archive would leave them."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    monkeypatch.chdir(tmp_path)
    project = Project.load()
    build_results(project, PAPER, RESULTS, workers=1)
    draw_paper_figure(project, PAPER, FIGURE)
    return tmp_path


def marked() -> list[Path]:
    """Return what is marked as stale."""
    project = Project.load()
    return mark_stale(project, targets(project))


def times(folder: Path) -> tuple[float, float]:
    """Return the times of the results and of the figure."""
    paths = (
        folder / f"results/{PAPER}/{RESULTS}.parquet",
        folder / f"figures/{PAPER}/{FIGURE}.png",
    )
    return paths[0].stat().st_mtime, paths[1].stat().st_mtime


def test_what_is_current_keeps_its_time(folder: Path) -> None:
    before = times(folder)
    assert marked() == []
    assert times(folder) == before
    epoch = epoch_path(Project.load())
    assert STALE < epoch.stat().st_mtime < CURRENT < before[0]
    assert epoch.stat().st_size > 0
    # One of an earlier version is written anew.
    epoch.write_text("")
    assert marked() == []
    assert epoch.stat().st_mtime == EPOCH
    assert epoch.stat().st_size > 0


def test_what_a_wrong_clock_dated_to_the_future_gets_a_time_of_the_past(folder: Path) -> None:
    begun = time.time()
    for path in (folder / f"results/{PAPER}/{RESULTS}.parquet", *folder.glob("figures/*/*.png")):
        os.utime(path, (begun + 1e6, begun + 1e6))
    assert marked() == []
    assert times(folder)[0] == CURRENT
    assert begun <= times(folder)[1] <= time.time()


def test_where_there_are_results_kernels_count_as_compiled(folder: Path) -> None:
    kernels = kernels_path(Project.load())
    assert not kernels.exists()
    assert marked() == []
    assert kernels.exists()
    kernels.unlink()
    shutil.rmtree(folder / "results")
    marked()
    assert not kernels.exists()


def test_an_edited_figure_is_older_than_its_results_until_the_edit_is_undone(folder: Path) -> None:
    text = EXPERIMENTS.read_text()
    changed = text.replace("Variance factor, $b = 0$", "The variance factor, $b = 0$")
    assert changed != text
    EXPERIMENTS.write_text(changed)
    stale = marked()
    assert {path.stem.rstrip("ab") for path in stale} == {FIGURE}
    assert times(folder)[1] == STALE
    EXPERIMENTS.write_text(text)
    assert marked() == []
    results, figure = times(folder)
    assert STALE < results <= figure


def test_results_of_other_sources_are_older_than_the_epoch(folder: Path) -> None:
    path = folder / f"results/{PAPER}/{RESULTS}.parquet"
    shutil.copy(folder / f"results/{PAPER}/{RESULTS}.parquet", folder / "kept")
    path.write_bytes(path.read_bytes()[:-50])
    os.utime(path)
    assert path.relative_to(folder) in marked()
    assert times(folder)[0] == STALE
    shutil.copy(folder / "kept", path)
    os.utime(path, (STALE, STALE))
    assert path.relative_to(folder) not in marked()
    assert times(folder)[0] == CURRENT
