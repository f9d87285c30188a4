"""No file that is compiled, and no cache, is part of the repository.

Compiled kernels hold the paths of the machine that they were compiled on.
"""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILED = {".nbi", ".nbc", ".pyc", ".pyo", ".pyd", ".so", ".o", ".dylib", ".dll"}
CACHES = {".cache", "__pycache__", ".snakemake"}


def is_compiled(path: str) -> bool:
    """Return whether a tracked path is a compiled file, or lies in a cache."""
    parts = PurePosixPath(path)
    return parts.suffix in COMPILED or bool(CACHES & set(parts.parts))


def git(*words: str) -> list[str]:
    """Return the lines that a git command writes."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_no_compiled_file_is_tracked() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    tracked = git("ls-files")
    assert tracked
    assert [path for path in tracked if is_compiled(path)] == []


@pytest.mark.parametrize(
    "path",
    [
        "tests/law/.cache/dpbandits/numba/abc/ucb1.advance-41.py311.nbi",
        "kernel.nbc",
        "src/dpbandits/__pycache__/cli.cpython-311.pyc",
        "examples/.cache/dpbandits/cells/00/x.block",
    ],
)
def test_git_ignores_compiled_files_anywhere(path: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    assert is_compiled(path)
    assert git("check-ignore", "--no-index", path) == [path]
