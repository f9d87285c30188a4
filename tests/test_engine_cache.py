"""The cache: entries, damage, folders that cannot be written, ``dpbandits cache``; atomic files."""

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits._cache_folder import _user_folder, unwritable
from dpbandits._cache_folder import cache_folder as folder_now
from dpbandits.cli import main
from dpbandits.engine import cache as caching
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Work
from dpbandits.engine.compute import compute
from dpbandits.engine.provenance import write_atomically, write_text
from dpbandits.kernels import KERNELS_HASH, kernels_folder
from dpbandits.own.loading import load_algorithm
from dpbandits.pipeline.project import Project
from invented import entries
from support import ROOT, cell_of, changed_environment, message_of, refused, replace_in, run_python

EXAMPLE, ITS_ID = ROOT / "examples/my_algorithm.py", "private-explore-then-commit"
BANDIT = dpbandits.bernoulli([0.7, 0.5])
CELL: dict[str, Any] = {
    "algorithm": "ucb1",
    "bandit": BANDIT,
    "horizon": 30,
    "metrics": ["pseudo_regret", "pulls"],
}


def work(runs: int = 10, **changes: Any) -> Work:
    return Work(cell_of(**(CELL | changes)), range(runs))


def test_runs_of_a_cell_are_one_file(cache_folder: Path) -> None:
    [found] = compute([work(35)], root_seed=3)
    [path] = entries(cache_folder)
    assert path.relative_to(cache_folder).parts[:2] == ("cells", "ucb1")
    assert path.stem == f"{work().key(3)}-0-35"
    [more] = compute([work(40)], root_seed=3)
    assert [each.stem.partition("-")[2] for each in entries(cache_folder)] == ["0-35", "35-5"]
    for name, values in found.items():
        np.testing.assert_array_equal(more[name][:35], values)


def test_damage_is_shown_and_computed_again(
    cache_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [expected] = compute([work()], root_seed=3)
    [path] = entries(cache_folder)
    content, noticed = path.read_bytes(), 0
    for damaged in (b"", content[: len(content) // 2], content[:-1], b"PK\x03\x04 not ours"):
        path.write_bytes(damaged)
        capsys.readouterr()
        [found] = compute([work()], root_seed=3)
        assert f"{path.name}: damaged cache entry, computed again\n" in capsys.readouterr().err
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)
        assert Cache().read(path, expected) is not None
    # A flipped bit is noticed, or is in a part of the file that nothing reads.
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        read = Cache().read(path, expected)
        noticed += read is None
        for name in expected if read is not None else ():
            np.testing.assert_array_equal(read[name], expected[name])
    assert noticed > len(content) / 2
    path.write_bytes(content)
    # A whole file under the name of another key.
    path.rename(path.with_stem(f"{work().key(4)}-0-10"))
    capsys.readouterr()
    compute([work()], root_seed=4)
    assert "damaged cache entry" in capsys.readouterr().err


# Folders that cannot be written.


def simulation(**changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {"algorithm": "ucb1", "bandit": BANDIT, "horizon": 30, "runs": 40}
    return dpbandits.simulate(**(base | changes))


@pytest.mark.slow
def test_regret_is_there_and_one_line_says_why_it_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = simulation().pseudo_regret
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setenv("DPBANDITS_CACHE", str(file))
    # As a process that has warned of nothing; one with workers is another.
    monkeypatch.setattr(unwritable, "is_silent", False)
    for workers in (2, 1):
        monkeypatch.setattr(unwritable, "folders", set())
        capsys.readouterr()
        for _ in range(2):
            np.testing.assert_array_equal(simulation(workers=workers).pseudo_regret, expected)
        [line] = [each for each in capsys.readouterr().err.splitlines() if "warning: " in each]
        assert line.startswith(f"warning: {file}: the cache cannot be written (")


def test_an_unreadable_entry_is_a_warning_and_stays(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is another user's; of damage nothing is said."""
    [expected] = compute([work()], root_seed=3)
    [path] = entries(cache_folder)

    def refused(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(unwritable, "folders", set())
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refused)
        assert Cache().read(path, expected) is None
        assert Cache().read(path, expected) is None
    assert path.is_file()
    assert capsys.readouterr().err == (
        f"warning: {cache_folder}: the cache cannot be read (Permission denied); what is there is "
        f"computed again\n"
    )


def test_folders_of_a_shared_cache_are_as_open_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o2770)
    compute([work()], root_seed=3, cache=Cache(shared))
    [path] = entries(shared)
    folders = [path.parent, *path.parent.parents][:3]
    assert folders[-1] == shared / "cells"
    assert {each.stat().st_mode & 0o7777 for each in folders} == {0o2770}
    assert path.stat().st_mode & 0o044 == 0o044


def test_without_a_home_caches_are_temporary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def no_user(number: int) -> Any:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pwd.getpwuid", no_user)
    for name in ("HOME", "DPBANDITS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    _user_folder.cache_clear()
    try:
        assert folder_now() == folder_now() == Path(gettempdir()) / f"dpbandits-{os.getuid()}"
    finally:
        _user_folder.cache_clear()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: there is no home folder, caches go to ")


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


# ``dpbandits cache``.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with results of two algorithms of the registry and a user-defined one."""
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    simulation().summary()
    simulation(algorithm="lazy-dp-ts", params={"epsilon": 1.0}).summary()
    simulation(algorithm=load_algorithm(EXAMPLE), params={"epsilon": 1.0, "pulls": 2}).summary()
    compiled(tmp_path / "cache", KERNELS_HASH)
    return tmp_path / "cache"


def compiled(folder: Path, name: str) -> Path:
    made = folder / "numba" / name / "algorithms_ab"
    made.mkdir(parents=True, exist_ok=True)
    (made / "ucb1.advance-41.py311.1.nbc").write_bytes(b"code")
    return made.parent


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Run ``dpbandits cache`` and return its lines."""

    def run(*words: str) -> list[str]:
        capsys.readouterr()
        assert main(["cache", *words]) == 0
        return capsys.readouterr().out.splitlines()

    return run


Printed = Callable[..., list[str]]


def test_the_cache_is_shown_by_algorithm(
    folder: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPBANDITS_CACHE", str(folder.with_name("none")))
    for words in ([], ["prune"], ["clear"]):
        assert any("0 entries, 0.0 MB" in line for line in printed(*words))
    assert not folder.with_name("none").exists()
    monkeypatch.setenv("DPBANDITS_CACHE", str(folder))
    lines = printed()
    assert lines[:2] == [f"folder: {folder}", "results: 3 entries, 0.0 MB (1 user-defined)"]
    assert set(lines[2:5]) == {
        "    lazy-dp-ts: 1 entry, 0.0 MB",
        f"    {ITS_ID}: 1 entry, 0.0 MB (1 user-defined)",
        "    ucb1: 1 entry, 0.0 MB",
    }
    assert lines[5].startswith("compiled kernels: 1 entry, ")


def test_what_the_sources_here_do_not_make_is_pruned(
    folder: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    compute([work(metrics=[metric]) for metric in ("pseudo_regret", "nash_regret")], root_seed=3)
    assert printed("prune")[0].startswith("removed 0 entries, ")
    made = caching.fingerprint
    edited = lambda name, play: "0" * 16 if name.endswith("ucb1") else made(name, play)  # noqa: E731
    monkeypatch.setattr(caching, "fingerprint", edited)
    assert "    ucb1: 3 entries, 0.0 MB (3 outdated)" in printed()
    assert printed("prune")[0].startswith("removed 3 entries, ")
    assert {path.parts[-3] for path in entries(folder)} == {
        "lazy-dp-ts",
        "private-explore-then-commit",
    }
    assert not (folder / "cells/ucb1").exists()
    monkeypatch.setattr("numba.__version__", "0.0.1")
    assert printed("prune")[0].startswith("removed 1 entry, ")


def test_old_kernels_and_entries_and_files_of_others(folder: Path, printed: Printed) -> None:
    old, other = compiled(folder, "0123456789abcdef"), folder / "numba/algorithms_of_others"
    other.mkdir()
    unknown = folder / "cells/notes.txt"
    unknown.write_text("mine")
    left = entries(folder)[0].with_name(".abc.x1.npz")
    left.write_bytes(b"half")
    lines = printed()
    assert any(line.startswith("compiled kernels: 2 entries") for line in lines)
    assert "    of unknown origin: 1 entry, 0.0 MB (1 unknown)" in lines
    printed("prune")
    assert left.exists(), "another process may be writing it"
    os.utime(left, (time.time() - 7200,) * 2)
    printed("prune")
    assert not any(path.exists() for path in (left, old))
    assert all(path.exists() for path in (unknown, other, folder / "numba" / KERNELS_HASH))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_clear_asks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And removes nothing where nobody answers: no terminal, or one that is closed."""
    (folder / "thesis.tex").write_text("mine")
    question = f" from {folder}? [y/N] "
    for stdin, status, left in (
        (io.StringIO("y\n"), 2, 3),
        *((Terminal(answer), 2, 3) for answer in ("", "n\n", "\n")),
        *((Terminal(answer), 0, 0) for answer in ("y\n", "yes\n")),
    ):
        simulation().summary()
        monkeypatch.setattr("sys.stdin", stdin)
        capsys.readouterr()
        assert main(["cache", "clear"]) == status
        out, err = capsys.readouterr()
        assert question in out if isinstance(stdin, Terminal) else "--yes" in err
        assert len(entries(folder)) == left
    assert (folder / "thesis.tex").read_text() == "mine"


# Files that are either whole or absent.


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "values.csv"
    write_text(path, "old\n")

    def half(temporary: Path) -> None:
        temporary.write_text("half")
        assert path.read_text() == "old\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, half)
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == b"old\n"


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    def full(temporary: Path) -> None:
        raise OSError(28, "No space left on device")

    message = message_of(lambda: write_atomically(tmp_path / "values.csv", full))
    assert f"{tmp_path / 'values.csv'}: cannot be written (No space left on device)" in message
    assert list(tmp_path.iterdir()) == []


UNSET = {"DPBANDITS_CACHE": None, "NUMBA_CACHE_DIR": None}


def test_results_go_to_the_user_s_folder_or_the_project_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Unless the variable is set, which means the same to both."""
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert folder_now() == tmp_path / "home/dpbandits"
    assert Cache().cells == tmp_path / "home/dpbandits/cells"
    assert kernels_folder() == tmp_path / "home/dpbandits/numba"
    (tmp_path / "config").mkdir()
    for text in ("", "a: [", "- papers", "cache: here", "papers: [a]\nseed: 1"):
        (tmp_path / "config/config.yaml").write_text(text)
        assert folder_now() == tmp_path / "home/dpbandits", "that is no project"
    shutil.copytree(ROOT / "config", tmp_path / "config", dirs_exist_ok=True)
    replace_in(tmp_path / "config/config.yaml", "cache: .cache/dpbandits", "cache: a folder")
    project = Project.load()
    for given, expected in (("", "a folder"), (str(tmp_path / "given"), "given")):
        monkeypatch.setenv("DPBANDITS_CACHE", given)
        assert folder_now() == project.cache_folder.absolute() == tmp_path / expected
        assert kernels_folder() == tmp_path / expected / "numba"


def test_the_cache_folder_may_have_variables_that_are_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    config = tmp_path / "config/config.yaml"
    stated = config.read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SCRATCH", str(tmp_path))
    monkeypatch.delenv("NOWHERE", raising=False)
    for text in ("~/c", "$SCRATCH/c", "${SCRATCH}/c"):
        monkeypatch.setenv("DPBANDITS_CACHE", text)
        assert folder_now() == Project.load().cache_folder == tmp_path / "c"
        monkeypatch.delenv("DPBANDITS_CACHE")
        config.write_text(stated.replace(".cache/dpbandits", text))
        assert folder_now() == Project.load().cache_folder == tmp_path / "c"
    for text in ("$NOWHERE/c", "~no-such-user/c"):
        monkeypatch.setenv("DPBANDITS_CACHE", text)
        refused(folder_now, f"DPBANDITS_CACHE is {text!r}; allowed")
        monkeypatch.delenv("DPBANDITS_CACHE")
        config.write_text(stated.replace(".cache/dpbandits", text))
        refused(folder_now, f"config/config.yaml: cache is {text!r}; allowed")
        refused(Project.load, f"config/config.yaml: cache is {text!r}; allowed")


def test_an_import_writes_nothing(tmp_path: Path) -> None:
    """Nothing where one stands, in an empty folder that is read-only, and nothing elsewhere."""
    stand, home = tmp_path / "stand", tmp_path / "home"
    stand.mkdir(mode=0o555)
    home.mkdir()
    changes = {**UNSET, "XDG_CACHE_HOME": str(home), "HOME": str(home)}
    for words in (["-c", "import dpbandits"], ["-m", "dpbandits", "--help"]):
        run = run_python("-B", *words, changes=changes, folder=stand)
        assert (run.returncode, run.stderr) == (0, "")
        assert list(stand.iterdir()) == []
        assert not (home / "dpbandits").exists()


@pytest.mark.slow
def test_two_simulations_write_to_the_user_s_folder_alone_and_compile_once(tmp_path: Path) -> None:
    """One says that it compiles; the other waits, and finds the kernels on disk."""
    stand, home = tmp_path / "stand", tmp_path / "home"
    stand.mkdir()
    environment = changed_environment({**UNSET, "XDG_CACHE_HOME": str(home)})
    options: Any = {"env": environment, "cwd": stand, "text": True}
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = [sys.executable, "-B", "-c", LIBRARY]
    processes = [subprocess.Popen(words, **options) for _ in range(2)]
    printed = [process.communicate() for process in processes]
    assert [out for out, _ in printed] == ["60\n"] * 2, printed
    assert sorted(err.count("compiling ucb1 ...\n") for _, err in printed) == [0, 1]
    assert list(stand.iterdir()) == []
    assert sorted(path.name for path in (home / "dpbandits").iterdir()) == ["cells", "numba"]
