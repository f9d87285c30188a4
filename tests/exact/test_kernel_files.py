"""Two processes that need one kernel at once: one compiles it, neither takes wrong machine code."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

from dpbandits import _kernel_cache
from dpbandits._numba_cache import _Files
from dpbandits._sources import SOURCES
from support import changed_environment, run_python


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


def _kept_kernels(source: bytes) -> int:
    """Return how many functions numba is asked to keep, whatever their decorators look like."""
    return sum(
        keyword.arg == "cache"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is not True)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("njit", "jit")
        for keyword in node.keywords
    )


def test_every_file_with_kernels_that_are_kept_is_in_their_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An edited helper of the audit was inlined from old machine code."""
    files = [path for path, source in SOURCES.items() if _kept_kernels(source)]
    assert {"algorithms", "audit", "bandits", "metrics", "papers"} <= {
        path.parts[0] for path in files
    }
    before = _kernel_cache.kernel_sources_hash()
    for path in files:
        changed = {**SOURCES, path: SOURCES[path] + b"#"}
        monkeypatch.setattr(_kernel_cache, "SOURCES", changed)
        assert _kernel_cache.kernel_sources_hash() != before, path


@pytest.mark.parametrize(
    "module", ["audit.gaussian.choice", "bandits", "papers.dp_ncb.index_plays"]
)
def test_kernels_are_kept_in_their_folder_whatever_is_imported_first(module: str) -> None:
    code = f"import dpbandits.{module}, numba; print(numba.config.CACHE_DIR)"
    done = run_python("-c", code)
    assert done.stdout.strip().endswith(_kernel_cache.kernel_sources_hash())


COMPILES = """
from numba.core import event

import dpbandits
from dpbandits.engine.cells import make_cell
from dpbandits.engine.fan_out import compute

class Counter(event.Listener):
    count = 0
    def on_start(self, event):
        self.count += 1
    def on_end(self, event):
        pass

bandit = dpbandits.bernoulli([0.7, 0.5])
with event.install_listener("numba:compile", Counter()) as counter:
    compute([make_cell(algorithm="ucb1", bandit=bandit, horizon=30, runs=2)], root_seed=1)
print(counter.count)
"""


def test_kernels_are_compiled_by_one_of_the_processes_that_need_them(tmp_path: Path) -> None:
    """The other one waits, and finds them on disk."""
    environment = changed_environment(
        {"NUMBA_CACHE_DIR": None, "DPBANDITS_CACHE": str(tmp_path / "cache")}
    )
    words = [sys.executable, "-c", COMPILES]
    options: Any = {"env": environment, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(words, **options) for _ in range(2)]
    counts = sorted(int(process.communicate()[0]) for process in processes)
    assert counts[0] == 0 < counts[1]
