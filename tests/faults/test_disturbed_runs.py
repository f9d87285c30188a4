"""Runs that are disturbed, moved or given other resources: the bytes stay those of a quiet one."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fault_project import (
    DPBANDITS,
    FIGURE,
    build,
    command,
    computed,
    dpbandits_command,
    entries,
    environment,
    forget,
    make_project,
    outputs,
    run,
)

Counted = Callable[..., None]
SAME = "every output has the bytes of an undisturbed run"
RESULTS = "results/quick/ts-is-dp/comparison-curves.parquet"
JUMPING_CLOCK = """
import os, random, time
_jump = random.Random(os.getpid()).choice([-86400 * 400, -3600, 3600, 86400 * 400])
_begun, _time, _time_ns = time.monotonic(), time.time, time.time_ns
def _jumped():
    return _jump if time.monotonic() - _begun > 1 else 0
time.time = lambda: _time() + _jumped()
time.time_ns = lambda: _time_ns() + _jumped() * 10**9
"""
"""Imported by every Python process at its start; a second later its clock jumps."""


@pytest.fixture
def copied(undisturbed: Any, tmp_path: Path) -> Path:
    """A copy of the undisturbed project, with file times, results, caches and records."""
    return Path(shutil.copytree(undisturbed.folder, tmp_path / "project", symlinks=True))


@pytest.mark.faults
def test_two_runs_at_once(undisturbed: Any, tmp_path: Path, counted: Counted) -> None:
    folder = make_project(tmp_path)
    streams = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    options: Any = {"cwd": folder, "env": environment(), **streams}
    with subprocess.Popen(command(FIGURE), **options) as one:
        while not list((folder / ".snakemake/locks").glob("*")):
            assert one.poll() is None, "the first run ended before the second began"
            time.sleep(0.02)
        second = run(folder, command(FIGURE))
        printed = one.communicate()[0]
    assert one.returncode == 0, printed[-4000:]
    assert second.returncode != 0
    assert "LockException" in second.stdout
    assert "Traceback" not in second.stdout
    assert outputs(folder) == undisturbed.outputs
    counted("two runs in one folder at once", f"the second is refused; {SAME}")


@pytest.mark.faults
def test_two_commands_on_one_cache(undisturbed: Any, copied: Path, counted: Counted) -> None:
    """As two nodes that share a cache folder would run them: without locks."""
    for path in entries(copied):
        path.unlink()
    words = [*DPBANDITS, "run", "ts-is-dp", "comparison-curves", "--scale", "quick"]
    changes = environment(DPBANDITS_CACHE=str(copied / ".cache/dpbandits"))
    options: Any = {"cwd": copied, "env": changes, "stderr": subprocess.DEVNULL}
    both = [subprocess.Popen(words, **options) for _ in range(2)]
    assert [each.wait(timeout=600) for each in both] == [0, 0]
    assert outputs(copied) == undisturbed.outputs
    counted("two processes that fill one cache and write one file at once", SAME)


@pytest.mark.faults
def test_bookkeeping_removed(undisturbed: Any, copied: Path, counted: Counted) -> None:
    shutil.rmtree(copied / ".snakemake")
    shutil.rmtree(copied / "logs")
    build(copied)
    assert computed(copied) == []
    assert outputs(copied) == undisturbed.outputs
    counted(".snakemake removed", f"nothing is simulated again; {SAME}")


@pytest.mark.faults
@pytest.mark.parametrize("times_kept", [True, False])
def test_results_of_another_machine(
    undisturbed: Any, tmp_path: Path, times_kept: bool, counted: Counted
) -> None:
    folder = make_project(tmp_path)
    copy = shutil.copy2 if times_kept else shutil.copyfile
    for name in ("results", "figures", ".cache/dpbandits/cells"):
        shutil.copytree(undisturbed.folder / name, folder / name, copy_function=copy)
    build(folder)
    assert computed(folder) == []
    assert outputs(folder) == undisturbed.outputs
    how = "kept" if times_kept else "new"
    counted(
        f"results and cache copied to another folder, file times {how}",
        f"nothing is simulated; {SAME}",
    )


def test_results_of_other_sources_are_refused(copied: Path, counted: Counted) -> None:
    """They were made with another seed, somewhere else; their file times say nothing."""
    other = dpbandits_command(copied, "run", "ts-is-dp", "tuning", "--seed", "5")
    assert other.returncode == 0, other.stdout
    refused = dpbandits_command(copied, "run", "ts-is-dp", "comparison-curves")
    assert refused.returncode == 2
    assert refused.stdout.count("\n") == 1
    assert "results/quick/ts-is-dp/tuning.parquet: is stale" in refused.stdout
    counted("results copied from a run of other sources or another seed", "refused in one line")


@pytest.mark.faults
def test_a_clock_that_jumps(undisturbed: Any, tmp_path: Path, counted: Counted) -> None:
    folder = make_project(tmp_path / "project")
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock/sitecustomize.py").write_text(JUMPING_CLOCK)
    path = f"{tmp_path / 'clock'}:{environment()['PYTHONPATH']}"
    build(folder, changes={"PYTHONPATH": path})
    assert outputs(folder) == undisturbed.outputs
    counted("the clock of every process jumps by an hour or by 400 days", SAME)


@pytest.mark.faults
@pytest.mark.parametrize("hours", [-20_000, 20_000])
def test_files_of_a_wrong_clock(
    undisturbed: Any, copied: Path, hours: int, counted: Counted
) -> None:
    chance = random.Random(hours)
    now = time.time() + 3600 * hours
    paths = [copied / name for name in undisturbed.outputs]
    for path in chance.sample(paths, len(paths) // 2):
        subprocess.run(["touch", "-d", f"@{now}", path], check=True)
    build(copied, "--rerun-triggers", "mtime")
    build(copied)
    assert outputs(copied) == undisturbed.outputs
    when = "future" if hours > 0 else "past"
    counted(f"half of the files are dated years into the {when}", SAME)


@pytest.mark.faults
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_workers(undisturbed: Any, copied: Path, workers: int, counted: Counted) -> None:
    """One worker computes in its own process, several in processes that loky starts."""
    for path in entries(copied):
        path.unlink()
    (copied / RESULTS).unlink()
    words = ["run", "ts-is-dp", "comparison-curves", "--workers", str(workers)]
    done = dpbandits_command(copied, *words)
    assert done.returncode == 0, done.stdout
    assert "blocks computed" in done.stdout
    assert outputs(copied) == undisturbed.outputs
    how = "sequential" if workers == 1 else "loky"
    counted(f"{workers} worker{'s' * (workers > 1)} ({how}) in place of 2", SAME)


@pytest.mark.faults
@pytest.mark.parametrize("cores", [1, 8])
def test_threads(undisturbed: Any, tmp_path: Path, cores: int, counted: Counted) -> None:
    folder = make_project(tmp_path)
    build(folder, cores=cores)
    assert outputs(folder) == undisturbed.outputs
    counted(f"a run on {cores} core{'s' * (cores > 1)}: threads scaled to it", SAME)


@pytest.mark.faults
def test_deleted_outputs(undisturbed: Any, copied: Path, counted: Counted) -> None:
    forget(copied)
    build(copied)
    assert computed(copied) == []
    assert outputs(copied) == undisturbed.outputs
    counted("everything that was built deleted, the cache kept", f"nothing is simulated; {SAME}")
