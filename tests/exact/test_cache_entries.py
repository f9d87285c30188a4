"""Cache entries and files written atomically: damage is noticed, failures leave nothing behind."""

from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits
from dpbandits.engine.cache import Cache, block_key
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.fan_out import compute
from dpbandits.engine.files import write_atomically, write_bytes, write_text
from support import message_of

BLOCK: dict[str, Any] = {
    "algorithm": "ucb1",
    "bandit": dpbandits.bernoulli([0.7, 0.5]),
    "horizon": 30,
    "runs": 10,
    "metrics": ["pseudo_regret", "pulls"],
}
KEY = "ab" * 32
VALUES = {"pseudo_regret": np.array([[1.5], [np.nan]]), "pulls": np.array([[1.0, 2.0]])}


def block(**changes: Any) -> Cell:
    return make_cell(**(BLOCK | changes))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    filled = Cache(tmp_path / "filled")
    filled.store(KEY, VALUES)
    return filled


def test_entries_come_back(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    found = cache.load(KEY)
    assert found is not None
    assert list(found) == list(VALUES)
    for metric, values in VALUES.items():
        np.testing.assert_array_equal(found[metric], values)
    assert cache.load("cd" * 32) is None
    assert capsys.readouterr().err == "", "a missing entry is nothing to talk about"


def damages(content: bytes) -> dict[str, bytes]:
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    return {
        "empty": b"",
        "magic only": content[:18],
        "truncated": content[: len(content) // 2],
        "one byte short": content[:-1],
        "one byte long": content + b"\0",
        "one bit flipped": bytes(flipped),
        "another file": b"PK\x03\x04 not ours",
    }


@pytest.mark.parametrize("damage", damages(b"any"))
def test_damage_is_said(cache: Cache, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = cache.path(KEY)
    path.write_bytes(damages(path.read_bytes())[damage])
    assert cache.load(KEY) is None
    assert capsys.readouterr().err == f"{path.name}: damaged cache entry, computed again\n"


@settings(max_examples=200)
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, place: int, bit: int
) -> None:
    cache = Cache(tmp_path_factory.mktemp("cache"))
    cache.store(KEY, VALUES)
    content = bytearray(cache.path(KEY).read_bytes())
    content[place % len(content)] ^= 1 << bit
    cache.path(KEY).write_bytes(content)
    assert cache.load(KEY) is None


def test_an_entry_under_another_key_is_damaged(
    cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "ef" * 32
    write_bytes(cache.path(other), cache.path(KEY).read_bytes())
    assert cache.load(other) is None
    assert "damaged cache entry" in capsys.readouterr().err


def test_damage_is_computed_again(cache_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [expected] = compute([block()], root_seed=3)
    [path] = (each for each in cache_folder.rglob("*") if each.is_file())
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    capsys.readouterr()
    [found] = compute([block()], root_seed=3)
    assert f"{path.name}: damaged cache entry, computed again" in capsys.readouterr().err
    assert path.read_bytes() == content
    for metric, values in expected.items():
        np.testing.assert_array_equal(found[metric], values)


def test_keys_hold_all_that_the_numbers_depend_on() -> None:
    keys = [
        block_key(block(), 3),
        block_key(block(), 4),
        block_key(block(first_run=10), 3),
        block_key(block(runs=9), 3),
        block_key(block(horizon=31), 3),
        block_key(block(metrics=["pulls"]), 3),
        block_key(block(grid=[29]), 3),
        block_key(block(interpretations={"clock": "coming"}), 3),
        block_key(block(stream="shared"), 3),
        block_key(block(algorithm="ts-gaussian"), 3),
    ]
    assert len(set(keys)) == len(keys)
    assert block_key(block(grid=[30], interpretations={"clock": "played"}), 3) == keys[0]


@pytest.mark.parametrize("library", [np, numba])
def test_versions_of_the_libraries_are_in_the_key(
    monkeypatch: pytest.MonkeyPatch, library: Any
) -> None:
    before = block_key(block(), 3)
    monkeypatch.setattr(library, "__version__", "0.0.1")
    assert block_key(block(), 3) != before


def test_fingerprint_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = block_key(block(), 3)
    monkeypatch.setattr("dpbandits.engine.cells.algorithm_fingerprint", lambda *_: "other")
    assert block_key(block(), 3) != before


def test_default_folder_is_the_environment_s(cache_folder: Path) -> None:
    assert Cache().cells == cache_folder / "cells"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "values.csv"
    write_text(path, "old\n")

    def half(temporary: Path) -> None:
        temporary.write_text("half")
        assert path.read_text() == "old\n"
        raise ZeroDivisionError("planted")

    with pytest.raises(ZeroDivisionError, match="planted"):
        write_atomically(path, half)
    assert names(path.parent) == ["values.csv"]
    assert path.read_bytes() == b"old\n"


def test_a_reader_keeps_the_file_that_it_opened(tmp_path: Path) -> None:
    # Renamed into place, never written in place: who reads meanwhile sees the old file whole.
    path = tmp_path / "values.csv"
    write_text(path, "old\n")
    with path.open() as reader:
        write_text(path, "new\n")
        assert reader.read() == "old\n"
    assert path.read_text() == "new\n"


def test_a_failed_first_write_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(temporary: Path) -> None:
        temporary.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "values.csv", interrupted)
    assert names(tmp_path) == []


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    def full(temporary: Path) -> None:
        raise OSError(28, "No space left on device")

    message = message_of(lambda: write_atomically(tmp_path / "values.csv", full))
    assert f"{tmp_path / 'values.csv'}: cannot be written (No space left on device)" in message
    assert names(tmp_path) == []


def test_written_files_are_whole_and_readable(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "Δ\r\nx\n")
    assert (tmp_path / "a.txt").read_bytes() == "Δ\r\nx\n".encode()
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
    assert names(tmp_path) == ["a.txt"]
