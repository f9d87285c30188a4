"""``dpbandits cache``: shows what is there, prunes what no source here makes, clears the rest."""

import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits._kernel_cache import kernel_sources_hash
from dpbandits.cli import main
from dpbandits.engine import cache_contents
from dpbandits.engine.cache import Cache, origin_of, read_origin
from dpbandits.engine.cells import make_cell
from dpbandits.engine.own_algorithm import load_algorithm

EXAMPLE = load_algorithm(Path(__file__).resolve().parents[2] / "examples/my_algorithm.py")
BANDIT = dpbandits.bernoulli([0.7, 0.5])
PLAYED: list[tuple[Any, dict[str, float]]] = [
    ("ucb1", {}),
    ("lazy-dp-ts", {"epsilon": 1.0}),
    (EXAMPLE, {"epsilon": 1.0, "pulls": 2}),
]


def pulls(algorithm: Any, params: dict[str, float]) -> int:
    simulation = dpbandits.simulate(
        algorithm=algorithm, params=params, bandit=BANDIT, horizon=30, runs=20
    )
    return int(simulation.pulls[0, 0])


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def folder(empty: Path) -> Path:
    """A cache with results of two algorithms of the registry and one of the user's, and kernels."""
    for algorithm, params in PLAYED:
        pulls(algorithm, params)
    kernels(empty, kernel_sources_hash())
    return empty


def batches(folder: Path) -> list[Path]:
    return sorted((folder / "cells").rglob("*.block"))


def kernels(folder: Path, name: str) -> Path:
    made = folder / "numba" / name / "algorithms_ab"
    made.mkdir(parents=True)
    (made / "ucb1.advance-41.py311.1.nbc").write_bytes(b"code")
    return made.parent


Told = Callable[..., list[str]]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """What ``dpbandits cache`` prints."""

    def run(*words: str) -> list[str]:
        capsys.readouterr()
        assert main(["cache", *words]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_it_is_shown_by_algorithm(folder: Path, told: Told) -> None:
    lines = told()
    assert lines[:2] == [f"folder: {folder}", "results: 6 entries, 0.0 MB (2 user-defined)"]
    assert set(lines[2:5]) == {
        "    lazy-dp-ts: 2 entries, 0.0 MB",
        f"    {EXAMPLE.id}: 2 entries, 0.0 MB (2 user-defined)",
        "    ucb1: 2 entries, 0.0 MB",
    }
    assert lines[5] == "compiled kernels: 1 entry, 0.0 MB"


def test_none_is_shown(empty: Path, told: Told) -> None:
    for words in ([], ["prune"], ["clear"]):
        assert any("0 entries, 0.0 MB" in line for line in told(*words))
    assert not empty.exists()


@pytest.mark.parametrize(
    ("moved", "kept"),
    [("nothing", 6), ("the sources of ucb1", 4), ("numpy", 0), ("numba", 0)],
)
def test_what_is_not_made_here_any_more_is_pruned(
    moved: str, kept: int, folder: Path, monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    before, found = batches(folder), cache_contents.algorithm_fingerprint
    ours = [path for path in before if (read_origin(path) or {})["algorithm"] == "ucb1"]
    if moved in cache_contents.VERSIONS:
        monkeypatch.setitem(cache_contents.VERSIONS, moved, "0.0.1")
    elif moved != "nothing":

        def edited(name: str, metrics: Any) -> str:
            return "0" * 16 if name == "ucb1" else found(name, metrics)

        monkeypatch.setattr(cache_contents, "algorithm_fingerprint", edited)
        assert "    ucb1: 2 entries, 0.0 MB (2 outdated)" in told()
    assert told("prune")[0].startswith(f"removed {6 - kept} entries, ")
    assert len(batches(folder)) == kept
    assert kept != 4 or not {*ours} & {*batches(folder)}


def test_every_metric_s_entries_are_known(tmp_path: Path) -> None:
    """Of regret, of Nash regret and of identification, which have a fingerprint each."""
    linear = dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    regret: dict[str, Any] = {"algorithm": "ucb1", "bandit": BANDIT, "horizon": 30, "runs": 2}
    trials = {"algorithm": "dp-bai", "parameters": {"epsilon": 1.0}, "bandit": linear}
    cells = [
        make_cell(**regret),
        make_cell(**regret, metrics=["nash_regret"]),
        make_cell(**regret | trials | {"horizon": 400}),
    ]
    current = cache_contents.current_fingerprints()
    assert [cache_contents._state(origin_of(cell), current) for cell in cells] == ["current"] * 3


def test_kernels_and_files_of_others_and_of_unknown_origin(folder: Path, told: Told) -> None:
    old, other = kernels(folder, "0123456789abcdef"), folder / "numba/algorithms_of_others"
    other.mkdir()
    cache = Cache(folder)
    unknown = [cache.path(key * 32) for key in ("ab", "cd")]
    assert cache.store("ab" * 32, {"pulls": np.zeros((1, 2))}) is None
    unknown[1].parent.mkdir(exist_ok=True)
    unknown[1].write_bytes(b"damaged")
    left = batches(folder)[0].with_name(".abc.x1.block")
    left.write_bytes(b"half")
    lines = told()
    assert "compiled kernels: 2 entries, 0.0 MB (1 outdated)" in lines
    assert "    of unknown origin: 3 entries, 0.0 MB (3 unknown)" in lines
    told("prune")
    assert left.exists(), "another process may be writing it"
    os.utime(left, (time.time() - 7200,) * 2)
    told("prune")
    assert not left.exists()
    assert not old.exists()
    assert all(path.exists() for path in (*unknown, other, folder))
    assert (folder / "numba" / kernel_sources_hash()).exists()


def test_clear_leaves_what_is_not_its_own(folder: Path, told: Told) -> None:
    """The variable may name any folder."""
    expected = pulls(*PLAYED[0])
    others = [folder / "thesis.tex", folder / "cells/notes.txt", folder / "numba/x/y.nbc"]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    told("clear", "--yes")
    assert batches(folder) == []
    assert not (folder / "numba" / kernel_sources_hash()).exists()
    assert all(path.read_text() == "mine" for path in others)
    assert pulls(*PLAYED[0]) == expected
    assert len(batches(folder)) == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_clear_asks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And removes nothing where nobody answers: no terminal, or one that is closed."""
    for stdin in (io.StringIO("y\n"), Terminal(""), Terminal("n\n"), Terminal("\n")):
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["cache", "clear"]) == 2
        out, err = capsys.readouterr()
        question = f"remove 7 entries, 0.0 MB from {folder}? [y/N] "
        assert question in out if isinstance(stdin, Terminal) else "--yes" in err
        assert len(batches(folder)) == 6
    for answer in ("y\n", "yes\n"):
        pulls(*PLAYED[0])
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        assert main(["cache", "clear"]) == 0
        assert batches(folder) == []
