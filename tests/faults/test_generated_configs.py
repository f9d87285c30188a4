"""Generated configs, valid and broken, through the check that the Snakefile calls.

Accepted, or one line that names the file and a key of it; never a traceback. What is generated is
the same every time.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

import dpbandits.engine.documents
import dpbandits.pipeline.project
from broken_configs import Case, broken_configs, broken_files, document_of, valid_configs
from dpbandits.engine.documents import load_yaml
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from fault_project import ROOT, command, make_project, run

CONFIGS = int(os.environ.get("FAULTS_CONFIGS", "100"))
DRY_RUNS = int(os.environ.get("FAULTS_DRY_RUNS", "2"))
Counted = Callable[..., None]
_read: dict[Path, dict[str, Any]] = {}
_expanded: dict[str, dict[str, Any]] = {}


def generated(count: int) -> Callable[[Any], Any]:
    """Return the settings of a test that takes ``count`` examples."""
    phases = [Phase.generate]
    return settings(max_examples=count, phases=phases, suppress_health_check=list(HealthCheck))


def load_once(path: Path) -> dict[str, Any]:
    """Read a document that nothing broke, once for all examples."""
    if path not in _read:
        _read[path] = load_yaml(path)
    return _read[path]


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the check take documents from memory: parsing them again is what costs time."""
    for module in (dpbandits.engine.documents, dpbandits.pipeline.project):
        monkeypatch.setattr(module, "load_yaml", load_once)


def outcome(case: Case) -> str | None:
    """Return the line that the check ends in, or None where it accepts; all else is raised."""
    path = ROOT / case.path
    kept = _read.get(path)
    if case.path != "config/config.yaml":
        _read[path] = case.document
    try:
        # As the Snakefile does it.
        project = Project.load(ROOT, config=case.config)
        if "experiments" not in case.path:
            # The same for all examples, and slow to expand.
            project.__dict__["_experiments"] = _expanded.setdefault(project.scale, {})
        project.check()
    except InputError as error:
        return str(error)
    finally:
        _read.pop(path, None)
        if kept is not None:
            _read[path] = kept
    return None


def keys(document: Any) -> set[str]:
    """Return every key of a document."""
    if isinstance(document, dict):
        return {str(key) for key in document}.union(*map(keys, document.values()))
    return set().union(*map(keys, document)) if isinstance(document, list) else set()


def names_a_key(line: str, case: Case) -> bool:
    """Whether a line names a file and a key of it, or of the generated one.

    A change may be wrong in what another file says: a claim about a figure that is there no more.
    """
    named = re.search(r"config/\S+\.yaml", line)
    if named is None:
        return False
    # A key may stand before the file that it is looked for in, but is no part of a path.
    words = set(re.split(r"[\s.,:;'\"\[\]{}()=]+", re.sub(r"\S*config/\S+", " ", line)))
    known = {"top"}.union(
        *map(keys, (case.document, document_of(case.path), document_of(named[0])))
    )
    return not words.isdisjoint(known) or any(key in line for key in known if " " in key)


@pytest.mark.usefixtures("read_once")
def test_valid_configs_are_accepted(counted: Counted) -> None:
    count = max(CONFIGS // 20, 1)
    tried: list[Case] = []

    @seed(1)
    @generated(count)
    @given(case=valid_configs())
    def accepted(case: Case) -> None:
        tried.append(case)
        assert outcome(case) is None

    accepted()
    counted("a generated config that is valid", "accepted by the check", len(tried))


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    ("kind", "share"), [("config", 0.5), ("experiments", 0.25), ("claims", 0.2)]
)
def test_broken_configs_end_in_one_line(kind: str, share: float, counted: Counted) -> None:
    refused: list[bool] = []

    @seed(2)
    @generated(max(int(CONFIGS * share), 1))
    @given(case=broken_configs() if kind == "config" else broken_files(kind))
    def one_line(case: Case) -> None:
        line = outcome(case)
        refused.append(line is not None)
        if line is not None:
            assert "\n" not in line
            assert "Traceback" not in line
            assert names_a_key(line, case), f"names no file or no key: {line}"

    one_line()
    assert any(refused)
    counted(
        f"a generated change of {case_name(kind)}",
        "accepted by the check, or refused in one line that names the file and a key",
        len(refused),
    )
    share_refused = sum(refused) / len(refused)
    assert share_refused > 0.3, "most changes break something"


def case_name(kind: str) -> str:
    """Return where files of a kind stand."""
    return "config/config.yaml" if kind == "config" else f"config/papers/PAPER/{kind}.yaml"


@pytest.mark.faults
@pytest.mark.usefixtures("read_once")
def test_dry_runs_say_what_the_check_says(tmp_path: Path, counted: Counted) -> None:
    folder = make_project(tmp_path)
    whole = {path: path.read_bytes() for path in (folder / "config").rglob("*.yaml")}
    tried = 0

    @seed(3)
    @generated(DRY_RUNS)
    @given(case=broken_configs() | broken_files("experiments") | broken_files("claims"))
    def says_the_same(case: Case) -> None:
        nonlocal tried
        text = yaml.safe_dump(case.document, sort_keys=False, allow_unicode=True)
        if case.path != "config/config.yaml":
            (folder / "config/config.yaml").write_text(yaml.safe_dump(case.config))
        (folder / case.path).write_text(text, encoding="utf-8")
        done = run(folder, [*command("all", "--dry-run", config="scale=quick")])
        for path, content in whole.items():
            path.write_bytes(content)
        line = outcome_of_text(case, text)
        assert (done.returncode == 0) == (line is None), f"{case}\n{line}\n{done.stdout}"
        traces = re.findall(r'^Traceback|^ +File "', done.stdout, re.MULTILINE)
        assert not traces, f"{case}\n{line}\n{done.stdout}"
        if line is not None:
            expected = line.replace(f"{ROOT}/", "")
            assert expected in done.stdout.splitlines(), f"{expected}\n\n{done.stdout}"
        tried += 1

    says_the_same()
    counted("a generated change, through a dry run of Snakemake", "the line of the check", tried)


def outcome_of_text(case: Case, text: str) -> str | None:
    """Return the outcome for what a YAML text says, at the scale of the command line."""
    document = yaml.safe_load(text)
    broken_config = case.path == "config/config.yaml"
    config = {**(document if broken_config else case.config), "scale": "quick"}
    return outcome(Case(case.path, document, config))
