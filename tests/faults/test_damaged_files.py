"""Damaged, foreign and hostile files in the cache and among the results; full and closed disks."""

import io
import json
import os
import pickle
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbandits
from dpbandits.engine.cache import MAGIC, Cache, _seal
from dpbandits.engine.cells import make_cell
from dpbandits.engine.fan_out import compute
from dpbandits.engine.results import METADATA, read_results, write_results
from fault_project import DPBANDITS, FIGURE, ROOT, command, environment, make_project, outputs
from support import message_of

Counted = Callable[..., None]
Damage = Callable[[bytes, random.Random], bytes]
ROUNDS = int(os.environ.get("FAULTS_DAMAGES", "20"))
NAMESPACES = shutil.which("unshare") is not None and (
    subprocess.run(
        ["unshare", "--map-root-user", "--mount", "true"], capture_output=True, check=False
    ).returncode
    == 0
)
needs_namespaces = pytest.mark.skipif(
    not NAMESPACES, reason="mount namespaces (unshare) are not allowed here"
)


def flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    changed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def truncated(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def of_another_version(content: bytes, chance: random.Random) -> bytes:
    return content.replace(b" block 1\n", f" block {chance.randrange(2, 9)}\n".encode(), 1)


DAMAGES: dict[str, Damage] = {
    "truncated": truncated,
    "with one bit flipped": flipped,
    "of another version of the format": of_another_version,
}


def blocks() -> list[dict[str, Any]]:
    bandit = dpbandits.bernoulli([0.7, 0.5])
    cell = make_cell(
        algorithm="ucb1", bandit=bandit, horizon=30, runs=40, metrics=["pseudo_regret", "pulls"]
    )
    return compute([cell], root_seed=3)


def same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    """Whether both have the same bytes under the same names."""
    return [{k: v.tobytes() for k, v in each.items()} for each in found] == [
        {k: v.tobytes() for k, v in each.items()} for each in expected
    ]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entries(
    damage: str, cache_folder: Path, capsys: pytest.CaptureFixture[str], counted: Counted
) -> None:
    expected, chance = blocks(), random.Random(1)
    paths = sorted(cache_folder.glob("cells/*/*.block"))
    whole = {path: path.read_bytes() for path in paths}
    for _ in range(ROUNDS):
        path = chance.choice(paths)
        path.write_bytes(DAMAGES[damage](whole[path], chance))
        capsys.readouterr()
        assert same(blocks(), expected)
        assert f"{path.name}: damaged cache entry, computed again" in capsys.readouterr().err
        assert path.read_bytes() == whole[path]
    counted(f"a cache entry {damage}", "said, computed again, the same bytes", ROUNDS)


class Hostile:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (os.environ["FAULTS_TRACE"],)


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that exists once code of a hostile file has run; seen to work by unpickling."""
    folder = tmp_path / "code ran"
    monkeypatch.setenv("FAULTS_TRACE", str(folder))
    pickle.loads(pickle.dumps(Hostile()))
    folder.rmdir()
    return folder


def test_no_code_runs_from_a_cache_entry(
    tmp_path: Path, trace: Path, capsys: pytest.CaptureFixture[str], counted: Counted
) -> None:
    cache, key = Cache(tmp_path / "cache"), "ab" * 32
    buffer = io.BytesIO()
    np.savez(buffer, pulls=np.array([Hostile()], dtype=object), allow_pickle=True)
    bodies = [buffer.getvalue(), pickle.dumps(Hostile()), b"not an archive"]
    for body in bodies:
        cache.path(key).parent.mkdir(parents=True, exist_ok=True)
        cache.path(key).write_bytes(MAGIC + _seal(key, body) + body)
        assert cache.load(key) is None
        assert "damaged cache entry, computed again" in capsys.readouterr().err
        assert not trace.exists()
    counted("a sealed cache entry that holds a pickle", "refused, no code runs", len(bodies))


def hostile_parquet(path: Path) -> None:
    """Write a table with pickles wherever a reader might unpickle."""
    code = pickle.dumps(Hostile())
    extension = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": code,
    }
    field = pa.field("value", pa.float64(), metadata=extension)
    stamp = json.dumps({"fingerprint": "same", "digest": "none"}).encode()
    schema = pa.schema([field], metadata={METADATA: stamp, b"pandas": code, b"PYTHON:pickle": code})
    pq.write_table(pa.table({"value": [1.0]}, schema=schema), path)


def test_no_code_runs_from_results(tmp_path: Path, trace: Path, counted: Counted) -> None:
    path = tmp_path / "hostile.parquet"
    hostile_parquet(path)
    assert "is damaged" in message_of(lambda: read_results(path, "same"))
    path.write_bytes(pickle.dumps(Hostile()))
    assert "is damaged" in message_of(lambda: read_results(path, "same"))
    path.with_suffix(".npy").write_bytes(pickle.dumps(Hostile()))
    assert not trace.exists()
    counted("results that hold pickles", "refused in one line, no code runs", 2)


@pytest.mark.parametrize("damage", ["truncated", "with one bit flipped"])
def test_damaged_results(damage: str, tmp_path: Path, counted: Counted) -> None:
    path, chance = tmp_path / "results.parquet", random.Random(2)
    frame = some_results()
    write_results(path, frame, "same")
    whole = path.read_bytes()
    lines = []
    for _ in range(ROUNDS):
        path.write_bytes(DAMAGES[damage](whole, chance))
        try:
            found = read_results(path, "same")
        except dpbandits.InputError as error:
            lines.append(str(error))
        else:
            # A bit that nothing depends on: the values are those that were written.
            pd.testing.assert_frame_equal(found, frame)
    assert lines
    # Stale, where the bit is one of the fingerprint.
    assert all(re.search(r"is (damaged|stale)", line) and "\n" not in line for line in lines)
    counted(f"a results file {damage}", "refused in one line, or read with the same values", ROUNDS)


def some_results() -> pd.DataFrame:
    values = np.random.default_rng(1).normal(size=200)
    return pd.DataFrame({"series": ["a", "b"] * 100, "run": range(200), "value": values})


def in_namespace(script: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script that mounts; what it mounts is gone when it ends."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *words]
    changes = environment(DPBANDITS_CACHE=str(folder / ".cache/dpbandits"))
    return subprocess.run(
        command, cwd=folder, env=changes, capture_output=True, text=True, check=False
    )


def simulate(folder: Path) -> subprocess.CompletedProcess[str]:
    """Simulate something small into the project's cache, in a process of its own."""
    return subprocess.run(
        SIMULATE,
        cwd=folder,
        env=environment(DPBANDITS_CACHE=str(folder / ".cache/dpbandits")),
        capture_output=True,
        text=True,
        check=False,
    )


SIMULATE = [*DPBANDITS, "simulate", "ucb1", "--arms", "0.7", "0.5", "--horizon", "200"]
SIMULATE += ["--runs", "200"]
FULL = """cells=.cache/dpbandits/cells
mkdir -p $cells && mount -t tmpfs -o size="$1" tmpfs $cells
shift; "$@"; status=$?
find $cells -type f -name '.*' >&2
exit $status"""
READ_ONLY = """mount --bind .cache .cache && mount -o remount,bind,ro .cache; "$@" """
CLOSED = """mount --bind results results && mount -o remount,bind,ro results; "$@" """


@needs_namespaces
@pytest.mark.parametrize(
    "size",
    [
        pytest.param("4k", marks=pytest.mark.faults),
        "8k",
        pytest.param("16k", marks=pytest.mark.faults),
    ],
)
def test_a_full_disk(size: str, tmp_path: Path, counted: Counted) -> None:
    folder = make_project(tmp_path)
    full = in_namespace(FULL, folder, size, *SIMULATE)
    assert full.returncode == 0, full.stderr
    [line] = [line for line in full.stderr.splitlines() if "warning: " in line]
    assert "cannot be written (No space left on device)" in line
    assert "/.cache/dpbandits/cells/" not in full.stderr, "a temporary file is left"
    again = simulate(folder)
    assert (again.returncode, again.stdout) == (0, full.stdout)
    counted(
        f"a cache on a disk of {size.removesuffix('k')} KiB that is full during a write",
        "one line of warning, the same numbers, nothing half-written",
    )


@needs_namespaces
def test_a_read_only_cache(tmp_path: Path, counted: Counted) -> None:
    folder = make_project(tmp_path, own_kernels=True)
    read_only = in_namespace(READ_ONLY, folder, *SIMULATE)
    assert read_only.returncode == 0, read_only.stderr
    [line] = [line for line in read_only.stderr.splitlines() if "warning: " in line]
    assert "cannot be written (Read-only file system)" in line
    again = simulate(folder)
    assert (again.returncode, again.stdout) == (0, read_only.stdout)
    counted("a cache that is read-only", "one line of warning, the same numbers")


@needs_namespaces
def test_read_only_results(tmp_path: Path, counted: Counted) -> None:
    folder = make_project(tmp_path)
    (folder / "results").mkdir()
    words = [*DPBANDITS, "run", "ts-is-dp", "privacy-by-b-and-c", "--scale", "quick"]
    closed = in_namespace(CLOSED, folder, *words)
    assert closed.returncode == 2, closed.stderr
    [line] = closed.stderr.splitlines()
    assert "cannot be written (Read-only file system)" in line
    assert list((folder / "results").rglob("*")) == []
    counted("a results folder that is read-only", "one line, status 2")


ISOLATED = ["unshare", "--map-root-user", "--mount", "--net", "sh", str(ROOT / "tests/isolated.sh")]


@needs_namespaces
@pytest.mark.faults
def test_nothing_else_is_written_and_no_network_is_used(
    undisturbed: Any, tmp_path: Path, counted: Counted
) -> None:
    """All of the file system but the project, the temporary folder and shared memory is closed."""
    folder = make_project(tmp_path / "project", own_kernels=True)
    root, scratch = tmp_path / "root", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    done = subprocess.run(
        [*ISOLATED, *map(str, (root, folder, scratch)), *command(FIGURE)],
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / ".cache")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert outputs(folder) == undisturbed.outputs
    left = [path for path in scratch.rglob("*") if path.is_file() and path.stat().st_size]
    assert left == [], "something is left in the temporary folder or in shared memory"
    counted(
        "a run that can write nowhere but in its project and in temporary folders, without network",
        "every output has the bytes of an undisturbed run; no temporary file is left",
    )
