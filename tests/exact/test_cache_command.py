"""``dpbandits cache``: shows what is there, prunes what no source here makes, clears the rest."""

import io
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.cli import main
from dpbandits.engine import cache_contents
from dpbandits.engine.cache import Cache, origin_of, read_origin
from dpbandits.engine.cells import make_cell
from dpbandits.engine.custom import load_algorithm
from dpbandits.kernels import KERNELS_HASH

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/my_algorithm.py"
BANDIT = dpbandits.bernoulli([0.7, 0.5])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with results of two algorithms of the registry and one of the user's."""
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    played: list[tuple[Any, dict[str, float]]] = [
        ("ucb1", {}),
        ("lazy-dp-ts", {"epsilon": 1.0}),
        (load_algorithm(EXAMPLE), {"epsilon": 1.0, "pulls": 2}),
    ]
    for algorithm, params in played:
        simulation = dpbandits.simulate(
            algorithm=algorithm, params=params, bandit=BANDIT, horizon=30, runs=20
        )
        _ = simulation.pulls
    return tmp_path / "cache"


def blocks(folder: Path) -> list[Path]:
    return sorted((folder / "cells").rglob("*.block"))


def kernels(folder: Path, name: str) -> Path:
    made = folder / "numba" / name / "algorithms_ab"
    made.mkdir(parents=True)
    (made / "ucb1.advance-41.py311.1.nbc").write_bytes(b"code")
    return made.parent


def output(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["cache", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_it_is_shown_by_algorithm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernels(folder, KERNELS_HASH)
    own = load_algorithm(EXAMPLE).id
    lines = output(capsys)
    assert lines[0] == f"folder: {folder}"
    assert lines[1] == "results: 6 entries, 0.0 MB (2 user-defined)"
    assert sorted(lines[2:5]) == sorted(
        [
            "    lazy-dp-ts: 2 entries, 0.0 MB",
            f"    {own}: 2 entries, 0.0 MB (2 user-defined)",
            "    ucb1: 2 entries, 0.0 MB",
        ]
    )
    assert lines[5] == "compiled kernels: 1 entry, 0.0 MB"


def test_none_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    for words in ([], ["prune"], ["clear"]):
        assert any("0 entries, 0.0 MB" in line for line in output(capsys, *words))
    assert not (tmp_path / "none").exists()


def test_what_is_made_here_is_not_pruned(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = blocks(folder)
    current = kernels(folder, KERNELS_HASH)
    assert output(capsys, "prune") == [f"removed 0 entries, 0.0 MB from {folder}"]
    assert blocks(folder) == before
    assert current.exists()


def test_every_metric_s_entries_are_known(tmp_path: Path) -> None:
    """Of regret, of Nash regret and of identification, which have a fingerprint each."""
    linear = dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    cells = [
        make_cell(algorithm="ucb1", bandit=BANDIT, horizon=30, runs=2),
        make_cell(algorithm="ucb1", bandit=BANDIT, horizon=30, runs=2, metrics=["nash_regret"]),
        make_cell(
            algorithm="dp-bai", parameters={"epsilon": 1.0}, bandit=linear, horizon=400, runs=2
        ),
    ]
    current = cache_contents.current_fingerprints()
    assert [cache_contents._state(origin_of(cell), current) for cell in cells] == ["current"] * 3


def test_entries_of_other_sources_are_pruned(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lazy = [path for path in blocks(folder) if (read_origin(path) or {})["algorithm"] != "ucb1"]
    found = cache_contents.algorithm_fingerprint

    def edited(name: str, metrics: Any) -> str:
        return "0" * 16 if name == "ucb1" else found(name, metrics)

    monkeypatch.setattr(cache_contents, "algorithm_fingerprint", edited)
    assert "    ucb1: 2 entries, 0.0 MB (2 outdated)" in output(capsys)
    assert output(capsys, "prune")[0].startswith("removed 2 entries, ")
    assert blocks(folder) == lazy


@pytest.mark.parametrize("library", ["numpy", "numba"])
def test_entries_of_other_libraries_are_pruned(
    library: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cache_contents.VERSIONS, library, "0.0.1")
    output(capsys, "prune")
    assert blocks(folder) == []


def test_kernels_of_other_sources_are_pruned(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, current = kernels(folder, "0123456789abcdef"), kernels(folder, KERNELS_HASH)
    other = folder / "numba/algorithms_of_others"
    other.mkdir()
    assert "compiled kernels: 2 entries, 0.0 MB (1 outdated)" in output(capsys)
    output(capsys, "prune")
    assert (old.exists(), current.exists(), other.exists()) == (False, True, True)


def test_what_does_not_say_where_it_is_from_stays(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = Cache(folder)
    assert cache.store("ab" * 32, {"pulls": np.zeros((1, 2))}) is None
    cache.path("cd" * 32).parent.mkdir(exist_ok=True)
    cache.path("cd" * 32).write_bytes(b"damaged")
    assert "    of unknown origin: 2 entries, 0.0 MB (2 unknown)" in output(capsys)
    output(capsys, "prune")
    assert cache.path("ab" * 32).exists()
    assert cache.path("cd" * 32).exists()


def test_what_a_kill_left_is_pruned_once_it_is_old(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = blocks(folder)[0].with_name(".abc.x1.block")
    left.write_bytes(b"half")
    output(capsys, "prune")
    assert left.exists(), "another process may be writing it"
    os.utime(left, (time.time() - 7200,) * 2)
    output(capsys, "prune")
    assert not left.exists()


def test_pruned_results_are_computed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pulls() -> int:
        return int(
            dpbandits.simulate(algorithm="ucb1", bandit=BANDIT, horizon=30, runs=20).pulls[0, 0]
        )

    expected, before = pulls(), blocks(folder)
    output(capsys, "clear", "--yes")
    assert blocks(folder) == []
    assert pulls() == expected
    assert set(blocks(folder)) <= set(before)


def test_clear_leaves_what_is_not_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The variable may name any folder."""
    others = [folder / "thesis.tex", folder / "cells/notes.txt", folder / "numba/x/y.nbc"]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    kernels(folder, KERNELS_HASH)
    output(capsys, "clear", "--yes")
    assert blocks(folder) == []
    assert not (folder / "numba" / KERNELS_HASH).exists()
    assert all(path.read_text() == "mine" for path in others)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "cleared"), [("y", True), ("yes", True), ("n", False), ("", False)]
)
def test_clear_asks(
    answer: str,
    cleared: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    assert main(["cache", "clear"]) == (0 if cleared else 2)
    assert f"remove 6 entries, 0.0 MB from {folder}? [y/N] " in capsys.readouterr().out
    assert (blocks(folder) == []) == cleared


def test_clear_removes_nothing_where_nobody_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for stdin in (io.StringIO("y\n"), Terminal("")):
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["cache", "clear"]) == 2
        assert "--yes" in capsys.readouterr().err
    assert len(blocks(folder)) == 6


def test_a_checkpoint_says_where_it_is_from(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cell = make_cell(algorithm="ucb1", bandit=BANDIT, horizon=30, runs=2)
    assert cache.store("ab" * 32 + "-checkpoint", {"t": np.zeros(3)}, origin_of(cell)) is None
    found = cache.load("ab" * 32 + "-checkpoint")
    assert found is not None
    assert list(found) == ["t"], "the origin is no part of the arrays"
    assert read_origin(cache.path("ab" * 32 + "-checkpoint")) == origin_of(cell)
