"""Files of many blocks: whole frames are read whatever was done to the others, by any process."""

import errno
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.cli import main
from dpbandits.engine import cache_contents, packs
from dpbandits.engine.cache import Block, Cache, PackedCache
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.fan_out import compute
from dpbandits.engine.packs import MAGIC, frames_in
from dpbandits.metrics.names import NASH

NAME = "paper/simulation"
KEYS = [f"{number:064x}" for number in range(1, 6)]


def block(number: int) -> Block:
    """A block that is different for each number; no compression makes it small."""
    return {"pulls": np.random.default_rng(number).random((3, 4)), "t": np.array([[np.nan]])}


def same(found: Block, expected: Block) -> bool:
    return {name: values.tobytes() for name, values in found.items()} == {
        name: values.tobytes() for name, values in expected.items()
    }


def fill(folder: Path, numbers: range = range(len(KEYS))) -> PackedCache:
    """Return a cache that one process has put blocks into."""
    cache = PackedCache(folder, NAME)
    for number in numbers:
        assert cache.store(KEYS[number], block(number)) is None
    return cache


@pytest.fixture
def cache(tmp_path: Path) -> PackedCache:
    return fill(tmp_path / "cache")


def pack_of(cache: PackedCache) -> Path:
    [path] = cache.packs.iterdir()
    return path


def read(cache: PackedCache) -> dict[str, Block]:
    """What another process finds."""
    return PackedCache(cache.root, NAME).find(KEYS)


def numbers_read(cache: PackedCache) -> list[int]:
    """The numbers of the blocks that another process finds, each seen to be whole."""
    found = read(cache)
    numbers = [KEYS.index(key) for key in found]
    assert all(same(found[KEYS[number]], block(number)) for number in numbers)
    return sorted(numbers)


def test_blocks_of_one_process_are_one_file(
    cache: PackedCache, capsys: pytest.CaptureFixture[str]
) -> None:
    assert numbers_read(cache) == [0, 1, 2, 3, 4]
    assert pack_of(cache).stat().st_mode & 0o777 == 0o644
    assert PackedCache(cache.root, NAME).find(["ab" * 32]) == {}
    assert PackedCache(cache.root, "paper/other").find(KEYS) == {}
    assert capsys.readouterr().err == ""


def test_only_what_is_asked_for_is_read(cache: PackedCache) -> None:
    own = "ab" * 32
    assert Cache(cache.root).store(own, block(9)) is None
    found = cache.find([own, *KEYS[:2]], {own: ["t"], KEYS[0]: ["pulls"], KEYS[1]: ()})
    assert {key: list(each) for key, each in found.items()} == {
        own: ["t"],
        KEYS[0]: ["pulls"],
        KEYS[1]: [],
    }
    assert same(found[KEYS[0]], {"pulls": block(0)["pulls"]})


def test_entries_of_their_own_are_found(cache: PackedCache) -> None:
    key = "ab" * 32
    assert Cache(cache.root).store(key, block(9)) is None
    found = cache.find([key, KEYS[0]])
    assert set(found) == {key, KEYS[0]}
    assert same(found[key], block(9))


def test_a_file_that_is_cut_off_anywhere_has_all_blocks_before(
    cache: PackedCache, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pack_of(cache)
    content = path.read_bytes()
    ends = [frame.end for frame in frames_in(content)[0]]
    for length in [*range(0, len(content), 7), *ends, *(end - 1 for end in ends)]:
        path.write_bytes(content[:length])
        assert numbers_read(cache) == [i for i, end in enumerate(ends) if end <= length]
    assert capsys.readouterr().err == "", "a process was killed as it wrote; nothing is damaged"


def test_every_flipped_bit_costs_one_block_at_most(
    cache: PackedCache, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pack_of(cache)
    content = path.read_bytes()
    frames, _ = frames_in(content)
    for place in range(0, len(content), 5):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        hit = next(i for i, frame in enumerate(frames) if place < frame.end)
        assert numbers_read(cache) == [i for i in range(len(frames)) if i != hit]
        line = capsys.readouterr().err
        if hit < len(frames) - 1:
            assert line == f"{path.name}: damaged cache entry, computed again\n"


def test_what_is_computed_again_is_told_once(
    cache: PackedCache, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pack_of(cache)
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    assert numbers_read(cache) == [1, 2, 3, 4]
    assert "damaged" in capsys.readouterr().err
    fill(cache.root, range(1))
    assert numbers_read(cache) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().err == ""


def test_a_frame_under_another_key_is_none(cache: PackedCache) -> None:
    path = pack_of(cache)
    content = path.read_bytes()
    first = bytes.fromhex(KEYS[0])
    assert content.count(first) == 1
    path.write_bytes(content.replace(first, bytes.fromhex("ab" * 32)))
    assert PackedCache(cache.root, NAME).find([*KEYS, "ab" * 32]).keys() == set(KEYS[1:])


def test_another_file_is_none(cache: PackedCache) -> None:
    for content in (b"PK\x03\x04 not ours", MAGIC, b""):
        pack_of(cache).write_bytes(content)
        assert read(cache) == {}


def write_some(folder: str) -> None:
    cache = PackedCache(Path(folder), NAME)
    for number in range(200):
        assert cache.store(f"{os.getpid():08x}{number:056x}", block(number)) is None


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(write_some, [str(tmp_path)] * 4))
    frames = [frames_in(path.read_bytes()) for path in tmp_path.rglob("*.pack")]
    assert sum(len(found) for found, _ in frames) == 800
    assert not any(is_damaged for _, is_damaged in frames)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT], ids=errno.errorcode.get)
def test_a_full_disk_takes_no_block_that_was_there(
    code: int, cache: PackedCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pack_of(cache).read_bytes()
    opened = Path.open

    def full(self: Path, *words: Any, **options: Any) -> Any:
        file = opened(self, *words, **options)
        write = file.write

        class Full:
            def __enter__(self) -> "Full":
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            tell, truncate = file.tell, file.truncate

            def write(self, content: bytes) -> int:
                write(content[:50])
                raise OSError(code, os.strerror(code))

        return Full()

    monkeypatch.setattr(Path, "open", full)
    assert cache.store("ab" * 32, block(9)) == os.strerror(code)
    monkeypatch.undo()
    assert pack_of(cache).read_bytes() == before


def cells(runs: int = 50, metric: str = "pseudo_regret") -> list[Cell]:
    bandit = dpbandits.bernoulli([0.7, 0.5])
    linear = dpbandits.linear([[1, 0], [0, 1], [0.7, 0.6]], [0.5, 0.4])
    regret: dict[str, Any] = {"bandit": bandit, "horizon": 30, "runs": runs}
    return [
        make_cell(algorithm="ucb1", metrics=["pulls"], **regret),
        make_cell(algorithm="ucb1", metrics=[metric], **regret),
        make_cell(algorithm="sequential-halving", bandit=linear, horizon=60, runs=3000),
    ]


def bytes_of(blocks: list[Block]) -> list[dict[str, bytes]]:
    return [{name: values.tobytes() for name, values in each.items()} for each in blocks]


COMPILES_LONG = pytest.param(2, NASH[0], [10, 10, 10, 80], marks=pytest.mark.slow)
"""Runs of a curve are played together, so that more of them are a curve anew."""


@pytest.mark.parametrize(
    ("workers", "metric", "more"), [(1, "pseudo_regret", [10] * 6), COMPILES_LONG]
)
def test_a_simulation_is_one_file_and_more_runs_add_theirs(
    workers: int, metric: str, more: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = cells(50, metric), cells(80, metric)
    expected = bytes_of(compute(many, root_seed=3, cache=Cache(tmp_path / "entries")))
    options: dict[str, Any] = {"root_seed": 3, "workers": workers}
    compute(few, cache=PackedCache(tmp_path / "packs", NAME), **options)
    assert len(list((tmp_path / "packs").rglob("*.pack"))) == 1
    assert not list((tmp_path / "packs").rglob("*.block")), "checkpoints are gone"
    played: list[int] = []
    play = Cell.play
    monkeypatch.setattr(Cell, "play", lambda self, *w: played.append(self.runs) or play(self, *w))
    found = compute(many, root_seed=3, cache=PackedCache(tmp_path / "packs", NAME))
    assert bytes_of(found) == expected
    assert sorted(played) == more
    played.clear()
    found = compute(many, root_seed=3, cache=PackedCache(tmp_path / "packs", NAME))
    assert (bytes_of(found), played) == (expected, [])


def test_blocks_that_are_alike_become_small(tmp_path: Path) -> None:
    [cell, *_] = cells(2000)
    compute([cell], root_seed=3, cache=Cache(tmp_path / "entries"))
    compute([cell], root_seed=3, cache=PackedCache(tmp_path / "packs", NAME))

    def size(folder: str) -> int:
        return sum(p.stat().st_size for p in (tmp_path / folder).rglob("*") if p.is_file())

    assert size("packs") < size("entries") / 1.5


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of a simulation of two algorithms, and of one of one."""
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    compute(cells(20), root_seed=3, cache=PackedCache(tmp_path / "cache", "paper/both"))
    compute(cells(20)[2:], root_seed=4, cache=PackedCache(tmp_path / "cache", "paper/one"))
    return tmp_path / "cache"


def output(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["cache", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_blocks_are_shown_by_algorithm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys)[1:4] == [
        "results: 10 entries, 0.0 MB",
        "    sequential-halving: 6 entries, 0.0 MB",
        "    ucb1: 4 entries, 0.0 MB",
    ]


def prune_ucb1(monkeypatch: pytest.MonkeyPatch) -> None:
    found = cache_contents.algorithm_fingerprint

    def edited(name: str, metrics: Any) -> str:
        return "0" * 16 if name == "ucb1" else found(name, metrics)

    monkeypatch.setattr(cache_contents, "algorithm_fingerprint", edited)


def test_outdated_blocks_are_pruned_out_of_their_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output(capsys, "prune") == [f"removed 0 entries, 0.0 MB from {folder}"]
    prune_ucb1(monkeypatch)
    assert output(capsys, "prune")[0].startswith("removed 4 entries, ")
    assert output(capsys)[1:3] == [
        "results: 6 entries, 0.0 MB",
        "    sequential-halving: 6 entries, 0.0 MB",
    ]
    assert len(list(folder.rglob("*.pack"))) == 2


def test_a_process_goes_on_writing_where_its_file_was_pruned(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = fill(folder, range(2))
    prune_ucb1(monkeypatch)
    output(capsys, "prune")
    output(capsys, "clear", "--yes")
    assert not list(folder.rglob("*.pack"))
    writer.packs.mkdir(parents=True, exist_ok=True)
    assert writer.store(KEYS[2], block(2)) is None
    assert numbers_read(writer) == [2]


def test_clear_leaves_no_file_of_its_own_and_those_of_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = folder / "cells/paper/notes.txt"
    other.write_text("mine")
    left = folder / "cells/paper/both/cut-off.pack"
    left.write_bytes(MAGIC)
    output(capsys, "clear", "--yes")
    assert [path for path in folder.rglob("*") if path.is_file()] == [other]
    assert not (folder / "cells/paper/one").exists()


def in_the_way(folder: Path) -> None:
    folder.mkdir()
    (folder / "cells").write_text("in the way")


def gone(folder: Path) -> None:
    fill(folder)
    shutil.rmtree(folder)
    in_the_way(folder)


@pytest.mark.parametrize("make", [in_the_way, gone])
def test_a_folder_that_cannot_be_written_is_no_error(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / "cache")
    cache = PackedCache(tmp_path / "cache", NAME)
    assert cache.store(KEYS[0], block(0)) in (os.strerror(errno.ENOTDIR), os.strerror(errno.EEXIST))
    assert cache.find(KEYS) == {}


def test_a_file_that_was_removed_is_made_again(cache: PackedCache) -> None:
    pack_of(cache).unlink()
    assert cache.store(KEYS[3], block(3)) is None
    assert numbers_read(cache) == [3]
    assert pack_of(cache).suffix == packs.SUFFIX
