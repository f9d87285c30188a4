"""kill -9 at random moments of a run: what is resumed ends in the bytes of an undisturbed run."""

import os
import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from dpbandits.engine.packs import frames_in
from fault_project import (
    FIGURE,
    build,
    command,
    entries,
    environment,
    forget,
    make_project,
    outputs,
    run,
)

KILLS = int(os.environ.get("FAULTS_KILLS", "2"))
VICTIMS = ("everything", "one of its processes", "snakemake alone")
SEED = 7
"""Of the moments; another one draws others."""


def start(folder: Path, target: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(target),
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[str], victim: str, chance: random.Random) -> None:
    """Kill the run, snakemake but not its jobs, or a process of a job but not snakemake."""
    children = psutil.Process(process.pid).children(recursive=True)
    if victim == "everything":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "snakemake alone" or not children:
        process.kill()
    else:
        chance.choice(children).kill()
    # A run that lost a process ends by itself, in failure or not; orphans may still be writing.
    process.wait(timeout=600)


def killed(folder: Path, whole: Any, share: float, victim: str, chance: random.Random) -> None:
    """Start a run and kill it after a share of the time; begin anew where it was faster."""
    while True:
        with start(folder, whole.target) as process:
            try:
                process.wait(timeout=share * whole.seconds)
            except subprocess.TimeoutExpired:
                kill(process, victim, chance)
                return
        forget(folder)
        for path in entries(folder):
            path.unlink()
        share *= 0.7


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_resumes_to_the_same_bytes(
    number: int, to_kill: Any, tmp_path: Path, counted: Callable[..., None]
) -> None:
    chance = random.Random(SEED + number)
    folder = make_project(tmp_path)
    victim = VICTIMS[number % len(VICTIMS)]
    killed(folder, to_kill, chance.uniform(0.02, 1.0), victim, chance)
    kept = {path: path.stat().st_mtime_ns for path in entries(folder)}
    if list((folder / ".snakemake/locks").glob("*")):
        assert run(folder, command("--unlock")).returncode == 0
    build(folder, target=to_kill.target)
    assert outputs(folder) == to_kill.outputs
    what = "one figure" if to_kill.target == FIGURE else "a whole paper"
    if victim != "snakemake alone":
        assert all(path.stat().st_mtime_ns == at for path, at in kept.items()), "written again"
        # Each simulation has a folder of its own; a tuned one may play a cell of another one.
        found = [(path.parent, frames_in(path.read_bytes())[0]) for path in entries(folder)]
        keys = [(simulation, frame.key) for simulation, frames in found for frame in frames]
        assert len(keys) == len(set(keys)), "computed twice"
    counted(
        f"kill -9 of {victim} at a random moment of a run of {what}",
        "resumed, every output has the bytes of an undisturbed run",
    )
