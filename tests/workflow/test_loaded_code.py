"""The cache never answers with the results of other code than what is loaded.

Every scenario runs in processes of its own, with one worker and with two.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from support import mostly_slow, replace_in, run_python

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = str(Path(__file__).resolve().with_name("loaded_scenarios.py"))

COMMON = """
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

from dpbandits.algorithms.base import Algorithm
from dpbandits.privacy import Guarantee


@dataclass(frozen=True)
class Parameters:
    pass


class Settings(NamedTuple):
    horizon: int


class State(NamedTuple):
    clock: np.ndarray


def settings(parameters, interpretations, horizon, arms):
    return Settings(horizon)


def state(arms):
    return State(np.zeros(1, np.int64))


ALGORITHM = Algorithm(
    id="mine", name="Mine", paper="none", parameters=Parameters, settings=settings, state=state,
    advance=advance, reference=settings, guarantee=lambda *_: Guarantee("pure", 0.0), example={},
)
"""

KERNEL = """
@numba.njit
def advance(settings, state, bandit, generator, out):
    arms, lengths, sums = out
    first = int(0.25 * settings.horizon) {more}
    arms[0], lengths[0], sums[0] = 0, first, 0.0
    arms[1], lengths[1], sums[1] = 1, settings.horizon - first, 0.0
    state.clock[0] = settings.horizon
    return 2


"""


def algorithm_file(imports: str = "", more: str = "") -> str:
    """Return a file whose algorithm plays arm 0 in a quarter of the rounds, and more."""
    head, tail = COMMON.split("ALGORITHM = ")
    return f"{head}{imports}\n{KERNEL.format(more=more)}ALGORITHM = {tail}"


@pytest.fixture(params=mostly_slow([1, 2], 1))
def workers(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a folder with an algorithm that uses a file beside it and data that it reads."""
    data = "Path(__file__).with_name('own_data.txt').read_text()"
    beside = f"from own_beside import PART\n\nDATA = int({data})\n"
    (tmp_path / "own_file.py").write_text(algorithm_file(beside, "+ PART + 5 * DATA"))
    (tmp_path / "own_beside.py").write_text("PART = 1\n")
    (tmp_path / "own_data.txt").write_text("1")
    (tmp_path / "own_module.py").write_text(algorithm_file())
    return tmp_path


def scenario(
    folder: Path, name: str, workers: int, *words: str, package: Path | None = None
) -> Any:
    """Return what a scenario prints that a process of its own runs in a folder."""
    changes: dict[str, str | None] = {}
    if package is not None:
        # Played by plain Python: to compile an edited package takes much longer.
        changes = {"PYTHONPATH": str(package.parent), "NUMBA_DISABLE_JIT": "1"}
    run = run_python(SCENARIOS, name, str(workers), *words, folder=folder, changes=changes)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def entries(cache: Path) -> int:
    return len(list((cache / "cells").rglob("*.block")))


def test_an_edited_file_is_new_code_in_the_same_interpreter(own: Path, workers: int) -> None:
    """Of 40 rounds 10, + 1 + 5; edited 20, + 2, + 10, and what was loaded stays what it was."""
    found = scenario(own, "edited", workers)
    assert found == [20 * 16, 20 * 26, 20 * 27, 20 * 32, 20 * 16, 20 * 11, True]
    assert scenario(own, "loaded", workers) == 20 * 32
    for file, edited, undone in (
        ("own_data.txt", "2", "1"),
        ("own_beside.py", "= 2", "= 1"),
        ("own_file.py", "0.50", "0.25"),
    ):
        replace_in(own / file, edited, undone)
    assert scenario(own, "loaded", workers) == 20 * 16


def test_a_module_edited_before_its_result(own: Path, workers: int) -> None:
    """The kernel is played as it was loaded, by workers too; a fresh process plays the edited."""
    assert scenario(own, "imported", workers, "0.25", "0.50") == "no error: 200"
    assert scenario(own, "fresh_import", workers) == 20 * 20
    replace_in(own / "own_module.py", "0.50", "0.25")
    assert scenario(own, "fresh_import", workers) == 20 * 10


def test_workers_refuse_what_they_would_play_otherwise(own: Path, cache_folder: Path) -> None:
    edit = ("return Settings(horizon)", "return Settings(horizon // 1)")
    found = scenario(own, "imported", 2, *edit)
    assert found.startswith("algorithm mine: a source or a value that it uses changed under")
    assert entries(cache_folder) == 0
    replace_in(own / "own_module.py", *reversed(edit))
    assert scenario(own, "imported", 1, *edit) == "no error: 200"


def test_what_a_kernel_is_made_of_counts(tmp_path: Path, workers: int, cache_folder: Path) -> None:
    found, refused, uncached, _ = scenario(tmp_path, "callables", workers)
    assert found == [200, 400] * 4 + [600, 400]
    assert refused == [
        "algorithm mine: advance.LOCK cannot be hashed (it is a lock); allowed: functions, "
        "classes, numbers, texts, arrays and what is made of them"
    ]
    assert uncached == 200
    assert entries(cache_folder) == 2 * len(found)


def test_installed_packages_count_by_their_version(own: Path) -> None:
    site = own / "site"
    (site / "own_plugin-1.dist-info").mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: own_plugin\nVersion: 1\n"
    (site / "own_plugin-1.dist-info" / "METADATA").write_text(metadata)
    (site / "own_plugin.py").write_text(algorithm_file())
    seconds, *keys = scenario(own, "installed", 1)
    # All of numpy and numba took half a minute.
    assert seconds < 10
    replace_in(site / "own_plugin.py", "0.25", "0.50")
    again = scenario(own, "installed", 1)[1:]
    assert not {*keys} & {*again}


def test_a_compiled_kernel_does_not_follow_its_globals(own: Path) -> None:
    found, told = scenario(own, "frozen", 1)
    assert found == 20 * 16
    assert told == (
        "algorithm mine: kernel advance was compiled before something that it uses was changed; "
        "allowed: globals that stay as they are, or load it again"
    )


def test_compiled_kernels_on_disk_are_not_used(own: Path) -> None:
    """They do not follow the data: here 1, then 2."""
    replace_in(own / "own_file.py", "@numba.njit\n", "@numba.njit(cache=True)\n")
    assert scenario(own, "loaded", 1) == 20 * 16
    (own / "own_data.txt").write_text("2")
    assert scenario(own, "loaded", 1) == 20 * 21


@pytest.mark.slow
def test_no_cache_on_the_command_line(own: Path, cache_folder: Path) -> None:
    words = ("--arms", "0.75", "0.5", "--horizon", "40", "--runs", "20")
    for more, kept in (("--no-cache", False), ("--seed=1", True)):
        run = run_python("-m", "dpbandits", "simulate", "own_file.py", *words, more, folder=own)
        assert run.returncode == 0, run.stderr
        lines = run.stdout.splitlines()
        pulls = [line.split()[4] for line in lines if line.startswith("pulls of arm ")]
        assert pulls == ["16", "24"]
        assert (entries(cache_folder) > 0) == kept
