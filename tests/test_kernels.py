"""The cache of compiled kernels: no machine code of another signature, or of other sources."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from dpbandits import kernels
from dpbandits.kernels import _Files
from support import copy_package

ROOT = Path(kernels.__file__).parent


def test_no_signature_gets_the_code_of_another(tmp_path: Path) -> None:
    """The second process begins and ends while the first stands between index and code.

    Both have read an empty index; numba's own files would give the second the code of the first.
    """
    first, second = (_Files(str(tmp_path), "kernel", "stamp") for _ in range(2))
    write_index = first._save_index

    def overtaken(signatures: dict[str, str]) -> None:
        write_index(signatures)
        second._load_index = dict  # type: ignore[method-assign]
        second.save("second", "code of the second")

    first._save_index = overtaken  # type: ignore[method-assign]
    first.save("first", "code of the first")
    loaded = _Files(str(tmp_path), "kernel", "stamp")
    assert loaded.load("first") in (None, "code of the first")
    assert loaded.load("second") == "code of the second"


@pytest.mark.parametrize("signature", ["first", ("second", 2)])
def test_what_is_kept_is_loaded_and_replaced(tmp_path: Path, signature: Any) -> None:
    files = _Files(str(tmp_path), "kernel", "stamp")
    for code in ("before", "after"):
        files.save(signature, code)
        assert _Files(str(tmp_path), "kernel", "stamp").load(signature) == code
    assert len(list(tmp_path.glob("*.nbc"))) == 1


def _compiled(source: bytes) -> list[ast.FunctionDef]:
    """Return the functions that are compiled and kept, whatever their decorators look like."""
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and any(re.search(r"\bnjit\b", ast.unparse(name)) for name in node.decorator_list)
    ]


def _from_elsewhere(source: bytes) -> dict[str, str]:
    """Return the module of each name that a source takes from this package."""
    return {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpbandits")
        for alias in node.names
    }


def test_all_that_machine_code_is_made_of_is_in_its_key() -> None:
    """An edited helper of the audit was inlined from old machine code."""
    packages = set()
    keyed = set(kernels.kernel_files())
    for path in ROOT.rglob("*.py"):
        source = path.read_bytes()
        if b"numba.njit(" in source or not (compiled := _compiled(source)):
            continue
        assert path in keyed
        packages.add(path.relative_to(ROOT).parts[0])
        modules = _from_elsewhere(source)
        bodies = (statement for function in compiled for statement in function.body)
        for node in (node for statement in bodies for node in ast.walk(statement)):
            if isinstance(node, ast.Name) and node.id in modules:
                place = ROOT.parent / modules[node.id].replace(".", "/")
                places = place.with_suffix(".py"), place / "__init__.py", place / f"{node.id}.py"
                assert keyed.intersection(places), (path, node.id)
    assert {"algorithms", "auditing", "bandits", "metrics", "papers"} <= packages


def test_the_key_is_that_of_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_ROOT", copy_package(tmp_path))
    files = kernels.kernel_files()
    assert kernels.hash_of(files) == kernels.KERNELS_HASH
    for path in files:
        before, source = kernels.hash_of(files), path.read_bytes()
        path.write_bytes(source + b"#")
        assert kernels.hash_of(files) != before, path


def test_code_is_not_kept_under_the_key_of_other_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources that are edited in an open interpreter may be part of what is compiled there."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for key in (kernels.KERNELS_HASH, "0" * 16):
        monkeypatch.setattr(kernels, "KERNELS_HASH", key)
        square = kernels.njit(lambda x: x * x)
        assert square(3) == 9
    assert [path.name for path in tmp_path.iterdir()] == [kernels.hash_of(kernels.kernel_files())]
