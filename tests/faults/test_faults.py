"""What is broken on purpose: kills, two runs at once, damaged and hostile files, full disks.

Whatever is done to a run, the bytes in the end are those of a run that nothing disturbed.
docs/reliability.md says what is tried and where.
"""

import os
import pickle
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import invented
from dpbandits.engine.cache import Cache
from dpbandits.engine.results import read_results
from invented import DPBANDITS, PAPER, ROOT, command, entries, make_project, outputs, run, snakemake
from shared import copied
from support import message_of

RUN = ("run", PAPER, "by-pulls")
VICTIMS = ("everything", "one of its processes", "snakemake alone")


def start(folder: Path, words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words,
        cwd=folder,
        env=invented.environment(folder, DPBANDITS_CACHE=str(folder / ".cache/dpbandits")),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
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
    process.communicate(timeout=600)


@pytest.mark.faults
@pytest.mark.parametrize("number", range(6))
def test_a_killed_run_resumes_to_the_same_bytes(number: int, tmp_path: Path) -> None:
    chance, victim = random.Random(number), VICTIMS[number % len(VICTIMS)]
    undisturbed = outputs(invented.built_project())
    folder = make_project(tmp_path)
    process = start(folder, command())
    began = time.monotonic()
    # The last job begins when results are there: a moment between the first file and the last.
    left = chance.randrange(len(undisturbed))
    while process.poll() is None and len(outputs(folder)) < left:
        time.sleep(0.02)
    if process.poll() is None:
        time.sleep(chance.uniform(0, 0.2 * (time.monotonic() - began)))
        kill(process, victim, chance)
    kept = {path: path.stat().st_mtime_ns for path in entries(folder)}
    if list((folder / ".snakemake/locks").glob("*")):
        snakemake(folder, "--unlock")
    snakemake(folder)
    assert outputs(folder) == undisturbed
    if victim != "snakemake alone":
        assert all(path.stat().st_mtime_ns == at for path, at in kept.items()), "computed twice"


@pytest.mark.faults
def test_the_second_of_two_runs_in_a_folder_is_refused(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    with start(folder, command()) as first:
        while not list((folder / ".snakemake/locks").glob("*")):
            assert first.poll() is None, "the first run ended before the second began"
            time.sleep(0.02)
        second = run(folder, command())
        printed = first.communicate()[0]
    assert first.returncode == 0, printed[-4000:]
    assert second.returncode != 0
    assert "LockException" in second.stdout
    assert "Traceback" not in second.stdout
    assert outputs(folder) == outputs(invented.built_project())


@pytest.mark.faults
def test_two_commands_on_one_cache(tmp_path: Path) -> None:
    """As two nodes that share a cache folder would run them: without locks."""
    folder = copied(invented.built_project(), tmp_path / "project")
    for path in entries(folder):
        path.unlink()
    both = [start(folder, [*DPBANDITS, *RUN]) for _ in range(2)]
    printed = [each.communicate(timeout=600)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0], printed
    assert outputs(folder) == outputs(invented.built_project())


class Hostile:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (os.environ["FAULTS_TRACE"],)


def test_no_code_runs_from_a_cache_entry_or_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not from a pickle in an entry sealed as ours, nor wherever a reader might unpickle."""
    trace = tmp_path / "code ran"
    monkeypatch.setenv("FAULTS_TRACE", str(trace))
    pickle.loads(pickle.dumps(Hostile()))
    trace.rmdir()
    cache = Cache(tmp_path / "cache")
    entry = cache.cells / f"{'ab' * 16}-0-1.npz"
    cache.write(entry, {"pulls": np.array([Hostile()], dtype=object)})
    assert entries(tmp_path)
    assert cache.read(entry, ["pulls"]) is None
    assert "damaged cache entry, computed again" in capsys.readouterr().err
    path, code = tmp_path / "hostile.parquet", pickle.dumps(Hostile())
    extension = {"name": b"arrow.py_extension_type", "metadata": code}
    metadata = {f"ARROW:extension:{name}".encode(): value for name, value in extension.items()}
    field = pa.field("value", pa.float64(), metadata=metadata)
    schema = pa.schema([field], metadata={b"pandas": code, b"PYTHON:pickle": code})
    pq.write_table(pa.table({"value": [1.0]}, schema=schema), path)
    assert "hostile.parquet: is damaged" in message_of(lambda: read_results(path))
    path.write_bytes(code)
    assert "is damaged" in message_of(lambda: read_results(path))
    assert not trace.exists()


IN_NAMESPACE = ["unshare", "--map-root-user", "--mount"]
needs_namespaces = pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run([*IN_NAMESPACE, "true"], capture_output=True, check=False).returncode != 0,
    reason="mount namespaces (unshare) are not allowed here",
)
SIMULATE = ["simulate", "ucb1", "--arms", "0.7", "0.5", "--horizon", "200", "--runs", "200"]
FULL = """cells=.cache/dpbandits/cells
mkdir -p $cells && mount -t tmpfs -o size=8k tmpfs $cells
"$@"; status=$?
find $cells -type f -name '.*'
exit $status"""
READ_ONLY = 'mount --bind {0} {0} && mount -o remount,bind,ro {0}; "$@"'
UNWRITABLE = {"No space left on device": FULL, "Read-only file system": READ_ONLY.format(".cache")}
"""Reason -> script that makes the cache so."""


def mounted(folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command below a shell script that mounts; what it mounts is gone when it ends."""
    isolated = [*IN_NAMESPACE, "sh", "-c", script, "sh", *DPBANDITS, *words]
    return run(folder, isolated, DPBANDITS_CACHE=str(folder / ".cache/dpbandits"))


@needs_namespaces
@pytest.mark.faults
@pytest.mark.parametrize("reason", UNWRITABLE)
def test_a_cache_that_cannot_be_written_costs_one_line(reason: str, tmp_path: Path) -> None:
    folder = make_project(tmp_path, own_kernels=True)
    done = mounted(folder, UNWRITABLE[reason], *SIMULATE)
    assert done.returncode == 0, done.stdout
    [warning] = [each for each in done.stdout.splitlines() if "warning: " in each]
    assert f"cannot be written ({reason})" in warning
    assert ".cache/dpbandits/cells/." not in done.stdout, "a temporary file is left"
    assert done.stdout.endswith(invented.dpbandits_command(folder, *SIMULATE).stdout)


@needs_namespaces
@pytest.mark.faults
def test_a_results_folder_that_cannot_be_written_ends_in_one_line(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    (folder / "results").mkdir()
    done = mounted(folder, READ_ONLY.format("results"), *RUN)
    assert done.returncode == 2, done.stdout
    assert "cannot be written (Read-only file system)" in done.stdout.splitlines()[-1]
    assert list((folder / "results").rglob("*")) == []


@needs_namespaces
@pytest.mark.faults
def test_nothing_else_is_written_and_no_network_is_used(tmp_path: Path) -> None:
    """All of the file system but the project, the temporary folder and shared memory is closed."""
    folder = make_project(tmp_path / "project", own_kernels=True)
    root, scratch = tmp_path / "root", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    isolated = [*IN_NAMESPACE, "--net", "sh", str(ROOT / "tests/isolated.sh")]
    words = [*isolated, *map(str, (root, folder, scratch)), *command()]
    done = run(folder, words, XDG_CACHE_HOME=str(folder / ".cache"))
    assert done.returncode == 0, done.stdout[-4000:]
    assert outputs(folder) == outputs(invented.built_project())
    left = [path for path in scratch.rglob("*") if path.is_file() and path.stat().st_size]
    assert left == [], "something is left in the temporary folder or in shared memory"
