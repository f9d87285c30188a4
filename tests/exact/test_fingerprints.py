"""Fingerprints: an edit changes those results, and only those, that it can reach.

Edits are made in a copy of the package's sources, which are then read anew.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpbandits._sources import SOURCES, read_sources
from dpbandits.algorithms import IDENTIFICATION, REGISTRY, REGRET
from dpbandits.engine import fingerprints
from dpbandits.engine.cells import algorithm_fingerprint
from dpbandits.engine.fingerprints import (
    EXECUTE,
    GUARANTEES,
    LOCKSTEP,
    TRIALS_OF,
    fingerprint,
    sources_of,
)
from dpbandits.engine.own_files import read_bundle
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from found_papers import COMPARISONS, PAPERS, PLAYED
from support import PACKAGE, copy_package

ANYTIME = {"anytime-gdp-ncb", "anytime-ldp-ncb"}
PRIVATE_NCB = {"gdp-ncb", "ldp-ncb", *ANYTIME}
LAPLACE = {
    *("dp-se", "anytime-lazy-ucb", "lazy-dp-ts", "dp-ts"),
    *("adap-ucb", "ldp-ucb-l", *PRIVATE_NCB),
}
GAUSSIAN = {"ts-gaussian", "m-ts-gaussian"}
ALL = set(REGISTRY)
NEW = ALL - PLAYED - LAPLACE
"""Algorithms that no published paper plays: what they import is their authors' own."""
REGRETS = set(REGRET)
IDENTIFY = set(IDENTIFICATION)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the package that ``read_again`` takes the sources from."""
    copy = copy_package(tmp_path)
    monkeypatch.setattr(fingerprints, "SOURCES", dict(SOURCES))
    yield copy
    forget()


def forget() -> None:
    fingerprints.fingerprint.cache_clear()
    fingerprints._package_imports.cache_clear()


def read_again(root: Path) -> None:
    """Take the sources as they are now, as a process does that begins now."""
    fingerprints.SOURCES.clear()
    fingerprints.SOURCES.update(read_sources(root))
    forget()


def all_fingerprints(root: Path) -> dict[str, str]:
    read_again(root)
    return {algorithm: algorithm_fingerprint(algorithm) for algorithm in REGISTRY}


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n# edited\n")


@pytest.mark.parametrize(
    ("file", "reached"),
    [
        ("algorithms/dp_se.py", {"dp-se"}),
        ("algorithms/anytime_lazy_ucb.py", {"anytime-lazy-ucb"}),
        ("algorithms/ts_gaussian.py", {"ts-gaussian"}),
        # UCB1 takes its state from there.
        ("algorithms/m_ts_gaussian.py", GAUSSIAN | {"ucb1"}),
        ("algorithms/ucb1.py", {"ucb1"}),
        ("algorithms/dp_ts_ucb.py", {"dp-ts-ucb"}),
        ("algorithms/lazy_dp_ts.py", {"lazy-dp-ts"}),
        ("algorithms/dp_ts.py", {"dp-ts"}),
        ("algorithms/gdp_ncb_phase_one.py", {"gdp-ncb", *ANYTIME}),
        ("algorithms/gdp_ncb_window.py", {"gdp-ncb", *ANYTIME}),
        ("algorithms/adap_ucb.py", {"adap-ucb"}),
        ("algorithms/ncb.py", {"ncb"}),
        ("algorithms/base.py", ALL),
        ("bandits/draws.py", ALL),
        ("metrics/nash.py", set()),
        ("engine/execute.py", REGRETS),
        ("metrics/regret.py", ALL),
        ("engine/trials.py", IDENTIFY),
        ("engine/seeds.py", ALL),
        ("engine/canonical.py", ALL),
        # Settings use phi and eta; what an algorithm guarantees reaches no result.
        ("privacy/dp_ts_ucb.py", {"dp-ts-ucb"}),
        ("privacy/gaussian.py", {"dp-ts-ucb", "dp-bai-gauss"}),
        ("privacy/guarantee.py", set()),
        ("privacy/guarantees.py", set()),
        ("privacy/known.py", set()),
        # What only lists, schedules or draws reaches no result.
        ("algorithms/__init__.py", set()),
        ("engine/fan_out.py", set()),
        ("engine/cells.py", set()),
        ("cli/build.py", set()),
        ("__init__.py", set()),
    ],
)
def test_edits_reach_their_importers(root: Path, file: str, reached: set[str]) -> None:
    before = all_fingerprints(root)
    edit(root / file)
    after = all_fingerprints(root)
    assert {each for each in ALL - NEW if after[each] != before[each]} == reached - NEW


def test_edits_and_their_reversal(root: Path) -> None:
    path = root / "bandits" / "draws.py"
    before, content = all_fingerprints(root), path.read_bytes()
    edit(path)
    assert all_fingerprints(root) != before
    path.write_bytes(content)
    assert all_fingerprints(root) == before


def test_what_is_loaded_counts_and_not_what_lies_on_disk(root: Path) -> None:
    before = all_fingerprints(root)
    edit(root / "bandits" / "draws.py")
    forget()
    assert {each: algorithm_fingerprint(each) for each in REGISTRY} == before


def test_a_renamed_helper_counts(root: Path) -> None:
    before = all_fingerprints(root)
    (root / "algorithms" / "validation.py").rename(root / "algorithms" / "validity.py")
    kernel = root / "algorithms" / "dp_se.py"
    kernel.write_text(kernel.read_text().replace("algorithms.validation", "algorithms.validity"))
    assert all_fingerprints(root)["dp-se"] != before["dp-se"]


def test_imports_read_off_lines_are_those_of_the_syntax_tree() -> None:
    for path, source in SOURCES.items():
        parsed = {name for name in fingerprints.imports_of(source) if fingerprints._path_of(name)}
        assert parsed == set(fingerprints._package_imports(path)), path


def test_the_registry_read_off_its_literal_is_the_registry() -> None:
    modules = {name: each.reference.__module__ for name, each in REGISTRY.items()}
    assert fingerprints.registered() == modules


@pytest.mark.parametrize("paper", [*PAPERS, *COMPARISONS])
def test_plans_have_the_fingerprints_of_the_cells(paper: str) -> None:
    for plan in Project.load(Path(__file__).parents[2]).study(paper).simulations.values():
        for name in plan.spec.algorithms:
            expected = algorithm_fingerprint(name, plan.spec.metrics)
            assert plan._algorithm_fingerprint(name) == expected


def write_package(root: Path, **files: str) -> None:
    for name, content in files.items():
        path = root / "toy" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("from dpbandits.toy.leaf import VALUE", {"leaf"}),
        ("from dpbandits.toy import leaf", {"leaf"}),
        ("import dpbandits.toy.leaf", {"leaf"}),
        ("from dpbandits.toy import VALUE", {"__init__", "leaf", "other"}),
        ("import dpbandits.toy", {"__init__", "leaf", "other"}),
        ("def late():\n    from dpbandits.toy.other import VALUE", {"other", "leaf"}),
        ("import json\nfrom pathlib import Path", set()),
    ],
)
def test_a_package_counts_where_something_is_imported_from_it(
    root: Path, statement: str, expected: set[str]
) -> None:
    write_package(
        root,
        __init__="from dpbandits.toy.leaf import VALUE\nfrom dpbandits.toy import other\n",
        leaf="VALUE = 1\n",
        other="from dpbandits.toy.leaf import VALUE\n",
        start=statement + "\n",
    )
    read_again(root)
    found = {path.stem for path in sources_of("dpbandits.toy.start")}
    assert found == expected | {"start"}


@pytest.mark.parametrize("module", ["dpbandits.no_such_module", "dpbandits.papers.none", "json"])
def test_an_unknown_module_has_no_fingerprint(module: str) -> None:
    for modules in [(module,), (EXECUTE, module)]:
        with pytest.raises(InputError, match=f"module is '{module}'") as refused:
            fingerprint(*modules)
        assert "\n" not in str(refused.value)


def test_circular_imports_end(root: Path) -> None:
    write_package(root, one="from dpbandits.toy import two\n", two="import dpbandits.toy.one\n")
    read_again(root)
    assert [path.stem for path in sources_of("dpbandits.toy.one")] == ["one", "two"]


def test_files_outside_the_package(root: Path, tmp_path: Path) -> None:
    """They follow what they import of this package, be it used or not."""
    own = tmp_path / "own_policy.py"
    own.write_text("from dpbandits.bandits.draws import laplace\n")

    def taken() -> str:
        read_again(root)
        return read_bundle(own).fingerprint

    before = taken()
    edit(root / "algorithms" / "dp_se.py")
    assert taken() == before
    edit(root / "bandits" / "draws.py")
    after_helper = taken()
    assert after_helper != before
    edit(own)
    assert taken() not in (before, after_helper)


def test_no_relative_imports_in_the_package() -> None:
    # Fingerprints follow absolute imports; a relative one would hide a source from them.
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        relative = [
            node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level
        ]
        assert not relative, f"{path.relative_to(PACKAGE)}, line {relative[0].lineno}"


GUARANTEEING = {"guarantee", "pure_guarantee", "__post_init__"}
"""Functions that state a guarantee; the engine calls none of them."""


def uses_of_guarantees(tree: ast.Module) -> set[str]:
    """Return the functions, or the classes around them, that use what guarantees are made of."""
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in GUARANTEES
        for alias in node.names
    }
    return {
        getattr(part, "name", "the module")
        for top in tree.body
        for part in (top.body if isinstance(top, ast.ClassDef) else [top])
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and node.id in names and not isinstance(part, ast.AnnAssign)
    }


@pytest.mark.parametrize("algorithm", REGISTRY)
def test_algorithms_use_guarantees_only_to_state_theirs(algorithm: str) -> None:
    """So fingerprints of what is simulated may leave them out."""
    definition = REGISTRY[algorithm]
    engine = TRIALS_OF if algorithm in IDENTIFY else LOCKSTEP
    module = definition.reference.__module__  # type: ignore[attr-defined]
    for path in sources_of(module, engine, without=GUARANTEES):
        tree = ast.parse(SOURCES[path])
        assert uses_of_guarantees(tree) <= GUARANTEEING, path
        imported = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("privacy")
            for name in (alias.name for alias in node.names)
        }
        # From the package itself they could come under other names.
        assert imported <= {"gaussian", "renyi"}, path
        calls = [
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr == "guarantee"
        ]
        assert len(calls) <= 2 * (path.name == "base.py"), path


def test_a_use_beyond_stating_is_seen() -> None:
    text = (PACKAGE / "algorithms" / "dp_od.py").read_text()
    assert uses_of_guarantees(ast.parse(text)) == {"guarantee"}
    broken = text + "\n\ndef play(epsilon):\n    return Guarantee('pure', epsilon).delta(0.0)\n"
    assert uses_of_guarantees(ast.parse(broken)) == {"guarantee", "play"}
