"""What names a result: random streams by what is simulated, fingerprints by what an edit reaches.

Edits are made in a copy of the package's sources, which are then read anew.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGISTRY
from dpbandits.engine import identity
from dpbandits.engine.cells import Cell, Work, make_cell
from dpbandits.engine.identity import (
    PLAY,
    SOURCES,
    fingerprint,
    read_sources,
    reseeding,
    run_generator,
    sources_of,
    stream_key,
)
from dpbandits.own.identity import algorithm_fingerprint
from found_papers import COMPARISONS, PAPERS, PROJECT
from support import FIVE_ARMS, copy_package, refused, run_python

BASE: dict[str, Any] = {
    "algorithm": "m-ts-gaussian",
    "parameters": {"b": 3, "c": 2.0},
    "bandit": FIVE_ARMS,
    "horizon": 100,
}


def key_of(cell: Cell) -> str:
    return f"{stream_key(cell.stream_description):032x}"


# What is changed, whether the stream is the same, and whether the entry of the cache is.
KEYS: list[tuple[dict[str, Any], bool, bool]] = [
    ({"interpretations": {"count": "n+1", "long_pre_pull": "truncate"}}, True, True),
    ({"variant": "as-written"}, True, True),
    ({"parameters": {"c": 2, "b": 3}}, True, True),
    ({"bandit": dpbandits.bernoulli((3 / 4, 5 / 8, 0.5, 0.375, 0.25))}, True, True),
    ({"grid": [100]}, True, True),
    ({"grid": [1, 2, 50]}, True, False),
    ({"metrics": ["pulls", "realised_regret"]}, True, False),
    ({"metrics": ["nash_regret"]}, True, False),
    ({"stream": "shared"}, False, False),
    ({"algorithm": "ts-gaussian", "parameters": {}}, False, False),
    ({"parameters": {"b": 4, "c": 2.0}}, False, False),
    ({"parameters": {"b": 3, "c": 2.0000000000000004}}, False, False),
    ({"interpretations": {"count": "n"}}, False, False),
    ({"interpretations": {"long_pre_pull": "error"}}, False, False),
    ({"bandit": dpbandits.bernoulli([0.625, 0.75, 0.5, 0.375, 0.25])}, False, False),
    ({"bandit": dpbandits.truncated_exponential([0.75, 0.625, 0.5, 0.375, 0.25])}, False, False),
    ({"horizon": 101}, False, False),
]


def entry_of(runs: int = 5, seed: int = 1, **changes: Any) -> str:
    return Work(make_cell(**(BASE | changes)), range(runs)).key(seed)


def test_keys_name_what_is_simulated_and_those_of_entries_all_that_numbers_depend_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, entry = key_of(make_cell(**BASE)), entry_of()
    for changes, same_stream, same_entry in KEYS:
        assert (key_of(make_cell(**(BASE | changes))) == stream) == same_stream, changes
        assert (entry_of(**changes) == entry) == same_entry, changes
    others = [entry_of(**changes) for changes, _, is_same in KEYS if not is_same]
    assert len({*others}) == len(others)
    assert key_of(make_cell(**BASE, stream="shared")) == "c222935f1a6a53196f723df8a5c3959b"
    assert entry_of(4) == entry
    assert entry_of(4, metrics=["nash_regret"]) != entry_of(metrics=["nash_regret"])
    assert entry_of(seed=2) != entry
    for name in ("numpy", "numba"):
        with monkeypatch.context() as patched:
            patched.setattr(f"{name}.__version__", "0.0.1")
            assert entry_of() != entry
    monkeypatch.setattr("dpbandits.engine.cells.fingerprint", lambda *_: "other")
    assert entry_of() != entry


def forget() -> None:
    for function in (identity.fingerprint, identity.sources_of, identity.imports_of):
        function.cache_clear()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the package that ``read_again`` takes the sources from."""
    monkeypatch.setattr(identity, "SOURCES", dict(SOURCES))
    yield copy_package(tmp_path)
    forget()


def read_again(root: Path) -> None:
    """Take the sources as they are now, as a process does that begins now."""
    identity.SOURCES.clear()
    identity.SOURCES.update(read_sources(root))
    forget()


def all_fingerprints(root: Path) -> dict[str, str]:
    read_again(root)
    return {algorithm: algorithm_fingerprint(algorithm) for algorithm in REGISTRY}


def test_a_generator_that_is_seeded_again_is_that_of_the_run() -> None:
    for root in (0, 20260719, 2**31, 2**53):
        for key in (0, 5, 2**40 + 1, 2**96, 2**127 + 99, 2**128 - 1):
            for runs in (range(5), range(70000, 70003), range(2**32 - 3, 2**32 + 1)):
                stream_of = reseeding(root, key, runs)
                for run in reversed(runs):
                    expected = run_generator(root, key, run).bit_generator.state
                    assert stream_of(run).bit_generator.state == expected, (root, key, run)


def test_edits_reach_their_importers(root: Path) -> None:
    for file, reached in [
        ("algorithms/dp_se.py", {"dp-se"}),
        ("algorithms/base.py", {*REGISTRY}),
        ("engine/play.py", {*REGISTRY}),
        ("engine/identity.py", {*REGISTRY}),
        ("metrics/nash.py", {*REGISTRY}),
        ("privacy/gaussian.py", {*IDENTIFICATION, "dp-ts-ucb", "ts-gaussian", "m-ts-gaussian"}),
        ("algorithms/guarantees.py", set()),
        ("engine/cells.py", set()),
    ]:
        before = all_fingerprints(root)
        (root / file).write_bytes((root / file).read_bytes() + b"\n# edited\n")
        after = all_fingerprints(root)
        assert {name for name in REGISTRY if after[name] != before[name]} == reached


EDITED = """
import dpbandits
from dpbandits.engine import identity
from pathlib import Path

def pulls(horizon):
    simulation = dpbandits.simulate(
        algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=horizon, runs=20,
        workers=2
    )
    return simulation.pulls.sum()

assert pulls(30) == 600
draws = identity.ROOT / "bandits/draws.py"
draws.write_text(draws.read_text() + "# edited")
assert pulls(30) == 600
try:
    pulls(31)
except dpbandits.InputError as error:
    print(error)
"""


@pytest.mark.slow
def test_edited_sources_end_in_one_line(tmp_path: Path) -> None:
    """What is in the cache is that of what is loaded; nothing else is played in its name."""
    package = copy_package(tmp_path)
    changes = {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    run = run_python("-c", EDITED, changes=changes)
    assert run.stdout == (
        f"{package / 'bandits/draws.py'}: was edited after it was imported; start Python again\n"
    ), run.stderr


def test_imports_read_off_lines_are_those_of_the_syntax_tree() -> None:
    """Fingerprints follow absolute imports; a relative one would hide a source from them."""
    for path, source in SOURCES.items():
        parsed: set[str] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                parsed.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.module is not None, path
                assert node.level == 0, path
                parsed.update(identity._imported(node.module, [a.name for a in node.names]))
        assert {name for name in parsed if identity.path_of(name)} == set(identity.imports_of(path))


def test_the_registry_read_off_its_literal_is_the_registry() -> None:
    modules = identity.registered()
    assert set(modules) == set(REGISTRY)
    for name, algorithm in REGISTRY.items():
        # Best-arm algorithms share a reference, in a file of their package; rules are filled in.
        reference = getattr(algorithm.reference, "func", algorithm.reference)
        assert f"{reference.__module__}.".startswith(f"{modules[name]}."), name
        assert identity.path_of(reference.__module__) in sources_of(modules[name]), name


def test_plans_have_the_fingerprints_of_the_cells() -> None:
    for paper in [*PAPERS, *COMPARISONS]:
        for plan in PROJECT.study(paper).simulations.values():
            for name in sorted({entry.algorithm for entry in plan.spec.cells}):
                expected = algorithm_fingerprint(plan.own.get(name, name))
                assert plan.fingerprint_of(name) == expected


def test_a_package_counts_where_something_is_imported_from_it(root: Path) -> None:
    (root / "toy").mkdir()
    for statement, expected in [
        ("from dpbandits.toy.leaf import VALUE", {"leaf"}),
        ("from dpbandits.toy import leaf", {"leaf"}),
        ("import dpbandits.toy.leaf", {"leaf"}),
        ("from dpbandits.toy import VALUE", {"__init__", "leaf", "other"}),
        ("import dpbandits.toy", {"__init__", "leaf", "other"}),
        ("def late():\n    from dpbandits.toy.other import VALUE", {"other", "leaf"}),
        ("import json\nfrom pathlib import Path", set()),
    ]:
        for name, content in (
            ("__init__", "from dpbandits.toy.leaf import VALUE\nfrom dpbandits.toy import other\n"),
            ("leaf", "VALUE = 1\n"),
            ("other", "from dpbandits.toy.leaf import VALUE\n"),
            ("start", f"{statement}\n"),
        ):
            (root / f"toy/{name}.py").write_text(content)
        read_again(root)
        found = {path.stem for path in sources_of("dpbandits.toy.start")}
        assert found == expected | {"start"}


def test_an_unknown_module_has_no_fingerprint() -> None:
    for module in ["dpbandits.no_such_module", "dpbandits.papers.none", "json"]:
        for modules in [(module,), (PLAY, module)]:
            refused(lambda: fingerprint(*modules), f"module is '{module}'")


def test_line_ends_of_another_system_change_no_fingerprint(tmp_path: Path) -> None:
    package = copy_package(tmp_path)
    for path in package.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert identity.read_sources(package) == identity.SOURCES
