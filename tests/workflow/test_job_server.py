"""A command is the same whether the server of a workflow runs it or it runs itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpbandits.entry import KILLED, VARIABLE
from dpbandits.job_server import JobServer

ENTRY = "import sys; from dpbandits.entry import main; sys.exit(main())"
SLEEPS = """
import pathlib, time
pathlib.Path("began").touch()
time.sleep(600)
"""
PLAYS_IT = ["simulate", "sleeps.py", "--arms", "0.5", "0.4", "--horizon", "10", "--runs", "1"]


@pytest.fixture(scope="module")
def server() -> Iterator[JobServer]:
    """Started as by a workflow."""
    server = JobServer()
    server.start()
    wait_for(Path(server.path))
    yield server
    server.end()
    assert not Path(server.path).exists()


def wait_for(path: Path) -> None:
    begun = time.monotonic()
    while not path.exists():
        assert time.monotonic() - begun < 60, path
        time.sleep(0.05)


def command(
    words: list[str], server: JobServer | None, folder: Path, **environment: str
) -> subprocess.Popen[str]:
    """Start a command in a folder; the server, where one is given, is asked to run it."""
    given = {VARIABLE: server.path} if server else {}
    return subprocess.Popen(
        [sys.executable, "-c", ENTRY, *words],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | given | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--version"], 0),
        (["convert", "pure=1", "--to", "zcdp"], 0),
        (["simulate", "ucb1", "--arms", "0.5", "--horizon", "no", "--runs", "1"], 2),
        (["draw", "ts-is-dp", "fig1"], 2),
    ],
)
def test_a_job_of_the_server_is_the_command(
    server: JobServer, words: list[str], status: int, tmp_path: Path
) -> None:
    alone, served = (command(words, each, tmp_path) for each in (None, server))
    assert alone.communicate() == served.communicate()
    assert alone.returncode == served.returncode == status


def who_plays(server: JobServer | None, folder: Path, **environment: str) -> int:
    """Return the number of the process that plays an algorithm of a file, by that file."""
    (folder / "sleeps.py").write_text("import os; print(os.getpgid(0), flush=True); os._exit(7)")
    playing = command(PLAYS_IT, server, folder, **environment)
    output, errors = playing.communicate()
    assert playing.returncode == (KILLED if int(output) != os.getpgid(0) else 7), errors
    return int(output)


def test_the_server_runs_what_it_can_and_nothing_else(server: JobServer, tmp_path: Path) -> None:
    """Threads tell two kinds of processes apart as edited sources do."""
    assert who_plays(server, tmp_path) != os.getpgid(0)
    assert who_plays(server, tmp_path, OMP_NUM_THREADS="2") == os.getpgid(0)
    assert who_plays(server, tmp_path, **{VARIABLE: "none"}) == os.getpgid(0)
    assert who_plays(None, tmp_path) == os.getpgid(0)


@pytest.mark.parametrize(
    ("number", "status", "says"),
    [
        (signal.SIGINT, 130, "dpbandits: interrupted\n"),
        (signal.SIGTERM, KILLED, ""),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
)
def test_a_signal_to_the_command_reaches_the_job(
    server: JobServer, number: int, status: int, says: str, tmp_path: Path
) -> None:
    """Its output ends only when nothing is left that could write there."""
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    playing = command(PLAYS_IT, server, tmp_path)
    wait_for(tmp_path / "began")
    playing.send_signal(number)
    assert playing.communicate(timeout=60) == ("", says)
    assert playing.returncode == status
