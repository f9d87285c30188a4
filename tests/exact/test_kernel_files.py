"""Two processes that compile one kernel at once never take each other's machine code."""

from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

from dpbandits._numba_cache import _Files


def _loaded_after_a_race(kind: type[IndexDataCacheFile], folder: Path) -> tuple[Any, Any]:
    """Save two signatures at once; return what is loaded for each.

    The second process begins and ends while the first stands between index and code, and both have
    read an empty index.
    """
    first, second = (kind(str(folder), "kernel", "stamp") for _ in range(2))
    write_index = first._save_index

    def overtaken(signatures: dict[str, str]) -> None:
        write_index(signatures)
        second._load_index = dict  # type: ignore[method-assign]
        second.save("second", "code of the second")

    first._save_index = overtaken  # type: ignore[method-assign]
    first.save("first", "code of the first")
    return tuple(kind(str(folder), "kernel", "stamp").load(name) for name in ("first", "second"))


def test_no_signature_gets_the_code_of_another(tmp_path: Path) -> None:
    first, second = _loaded_after_a_race(_Files, tmp_path)
    assert first in (None, "code of the first")
    assert second == "code of the second"


def test_the_race_is_one_with_numbered_files(tmp_path: Path) -> None:
    """The null control: so numba keeps them."""
    assert _loaded_after_a_race(IndexDataCacheFile, tmp_path)[1] == "code of the first"


@pytest.mark.parametrize("signature", ["first", ("second", 2)])
def test_what_is_kept_is_loaded_and_replaced(tmp_path: Path, signature: Any) -> None:
    files = _Files(str(tmp_path), "kernel", "stamp")
    for code in ("before", "after"):
        files.save(signature, code)
        assert _Files(str(tmp_path), "kernel", "stamp").load(signature) == code
    assert len(list(tmp_path.glob("*.nbc"))) == 1
