"""What is scanned in the repository: ids, links, locks, profiles, imports, what git tracks."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

import dpbandits
from dpbandits import privacy
from dpbandits.claims.verdict import VERDICTS
from prose import REPLACED, prose_of_code, unplain_words
from support import DOCUMENTS, changed_environment, run_python

ROOT = Path(__file__).resolve().parents[1]


def text_of(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def yaml_of(name: str | Path) -> Any:
    return yaml.load(text_of(name), yaml.CSafeLoader)


SCANNED = {"src": ".py", "tests": ".py", "config": ".yaml", "docs": ".md", "workflow": ".smk"}
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(path for name, suffix in SCANNED.items() for path in (ROOT / name).rglob(f"*{suffix}")),
    ]
    if ".cache" not in path.parts
}
CITED = re.compile(r"(?<![\w.\-+])(?:(TSDP|DTU|BAI|NCB)-)?([ADEP])(\d{1,2})(?![\w.])")

CLAIM = re.compile(r"(?<![\w\-])(?:TSDP|DTU|BAI|NCB)-[CF]\d{1,2}[a-z]?(?![\w])")


def ids(text: str) -> set[str]:
    """Return the errata and deviations that a text names; A and D alone are dp-ncb's."""
    return {
        f"{prefix or ('NCB' if letter in 'AD' else '?')}-{letter}{number}"
        for prefix, letter, number in CITED.findall(text)
    }


def entries(file: str, *keys: str) -> set[str]:
    """Return the ids below some keys of a file that every paper has."""
    paths = (ROOT / "config/papers").glob(f"*/{file}.yaml")
    return {name for path in paths for key in keys for name in yaml_of(path).get(key, {})}


def test_every_erratum_and_deviation_that_is_named_can_be_looked_up() -> None:
    known = entries("errata", "errata", "withdrawn") | ids(FILES["docs/deviations.md"])
    unknown = {name: found for name, text in FILES.items() if (found := ids(text) - known)}
    assert unknown == {}
    assert sum(len(ids(text)) for text in FILES.values()) > 100


def test_every_claim_and_finding_of_a_page_is_in_the_configs() -> None:
    known = entries("claims", "claims", "withdrawn")
    known |= entries("findings", "findings", "withdrawn")
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.csv")]
    named = {str(path): set(CLAIM.findall(text_of(path))) for path in pages}
    assert {name: found - known for name, found in named.items() if found - known} == {}
    assert sum(map(len, named.values())) > 100
    # Letters of sub-claims count.
    assert CLAIM.findall("NCB-C15, TSDP-C28b") == ["NCB-C15", "TSDP-C28b"]


def anchors(text: str) -> set[str]:
    """Return the anchors of a document: its own, and those that code hosts make of headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
    return made | set(re.findall(r'<a (?:id|name)="([^"]+)">', text))


def dead_links(name: str, text: str) -> list[str]:
    """Return the links and pictures of a document that lead nowhere."""
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        found = Path(os.path.normpath((ROOT / name).parent / path)) if path else ROOT / name
        if "://" in target or (found.exists() and not anchor):
            continue
        if not found.exists() or anchor not in anchors(found.read_text(encoding="utf-8")):
            dead.append(target)
    return dead


FOLDERS = {path.name: path for top in (ROOT / "src/dpbandits", ROOT) for path in top.iterdir()}
BUILT = {"results", "figures", "site", "benchmarks/authors"}


def dead_paths(text: str) -> list[str]:
    """Return the paths below a folder of the checkout or the package that do not exist.

    Those of what is built, of the made-up paper of CONTRIBUTING, and those with a placeholder
    (NAME, PAPER) are left out.
    """
    words = re.findall(r"(?<![\w./~-])[\w-]+(?:/[\w.-]+)+(?![\w*])", text)
    paths = [PurePosixPath(word.rstrip(".")) for word in words if not re.search("[A-Z]{4}", word)]
    return [
        str(path)
        for path in paths
        if path.parts[0] in FOLDERS
        and not BUILT & {path.parts[0], str(path)}
        and "noise-once" not in str(path)
        and not (FOLDERS[path.parts[0]].parent / path).exists()
    ]


def test_links_and_paths_lead_somewhere() -> None:
    for name, text in DOCUMENTS.items():
        # Addresses of links are relative to the document.
        unlinked = re.sub(r"\]\([^)\s]+\)|(?:href|src)=\"[^\"]*\"", "]", text)
        assert dead_links(name, text) + dead_paths(unlinked) == [], name
    assert dead_links("README.md", "[x](#no-such) [y](docs/no.md)") == ["#no-such", "docs/no.md"]
    assert dead_paths("`engine/no.py`, src/dpbandits/no.") == ["engine/no.py", "src/dpbandits/no"]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_nothing_is_tracked_that_is_ignored() -> None:
    """As compiled kernels, which hold the paths of the machine that they were compiled on."""
    git = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    assert not subprocess.run(git, cwd=ROOT, capture_output=True, check=True).stdout


@pytest.mark.slow
def test_examples_in_docstrings_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner()
    for module in (dpbandits, privacy):
        for name in {*module.__all__} - {"privacy"}:
            for example in doctest.DocTestFinder().find(getattr(module, name), name):
                runner.run(example)
    assert runner.failures == 0
    assert runner.tries > 30


RUN = "import sys; from dpbandits.cli import main; assert main(sys.argv[1:]) == 0"
TARGETS = """
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import targets
assert targets(Project.load())
"""
DRAW = "import dpbandits.pipeline.jobs, dpbandits.reporting.draw, dpbandits.engine.results"
CLAIMS, FIGURES, PIPELINE = (
    "dpbandits.claims.estimates",
    "dpbandits.reporting",
    "dpbandits.pipeline",
)
NUMERICS = ("numpy", "pandas", "scipy", "numba", "matplotlib", "seaborn", "pyarrow", "joblib")
SIMULATE = "simulate ucb1 --arms 0.7 0.5 --horizon 9 --runs 2"
RESULTS = "run ts-is-dp small-steps --scale quick --project"


@pytest.mark.parametrize(
    ("code", "words", "unused"),
    [
        (TARGETS, "", NUMERICS),
        ("import dpbandits.pipeline.jobs", "", NUMERICS),
        pytest.param(DRAW, "", ("numba", "scipy.stats", "seaborn"), marks=pytest.mark.slow),
        (RUN, "--help", (CLAIMS, FIGURES, PIPELINE, *NUMERICS)),
        # A core install has no library of pages.
        pytest.param(
            *(RUN, SIMULATE, (CLAIMS, FIGURES, "matplotlib", PIPELINE, "jinja2")),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(RUN, RESULTS, (CLAIMS, "dpbandits.reporting.draw", "matplotlib")),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(RUN, "check --papers dp-ts-ucb --project", ("matplotlib",)), marks=pytest.mark.slow
        ),
    ],
)
def test_no_more_is_imported_than_is_needed(
    code: str, words: str, unused: tuple[str, ...], tmp_path: Path
) -> None:
    """A cluster starts commands a thousand times."""
    # An algorithm in a paper's folder is loaded with it, and may import what it likes.
    own = {path.parent.name for path in (ROOT / "config/papers").glob("*/*.py")}
    shutil.copytree(ROOT / "config", tmp_path / "config", ignore=lambda *_: own)
    place = [str(tmp_path)] if words.endswith("--project") else []
    code += "\nimport sys; print('loaded:', *sys.modules)"
    run = run_python("-c", code, *shlex.split(words), *place, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    loaded = run.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    heavy = tuple(f"{name}." for name in ("snakemake", *unused))
    assert [name for name in loaded if f"{name}.".startswith(heavy)] == []


def test_no_two_classes_share_a_name() -> None:
    """But for the settings, state and window that an algorithm's file has."""
    sources = "\n".join(text for name, text in FILES.items() if name.startswith("src/"))
    names = Counter(re.findall(r"^ *class (\w+)", sources, re.MULTILINE))
    assert {name for name, uses in names.items() if uses > 1} == {"Settings", "State", "Window"}


def test_docstrings_and_comments_have_the_plain_words_of_the_documents() -> None:
    sources = {name: text for name, text in FILES.items() if name.startswith("src/")}
    # To parse all of them takes seconds.
    parsed = {
        name: prose_of_code(text)
        for name, text in sources.items()
        if REPLACED.search(re.sub(r"[\s#]+", " ", text))
    }
    found = {name: words for name, text in parsed.items() if (words := unplain_words(text))}
    assert found == {}


def test_documents_name_the_verdicts_and_the_layers_that_there_are() -> None:
    [row] = re.findall(r"^\| `verdict` \| (.*?) \(", text_of("docs/reference.md"), re.MULTILINE)
    assert re.findall(r"`(.+?)`", row) == [*VERDICTS]
    order = text_of("CONTRIBUTING.md").split("(`lint-imports` checks): ")[1].split(".\n")[0]
    [layers, _] = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    known = [each.replace("dpbandits.", "").split(" | ") for each in layers["layers"]]
    assert [re.findall(r"`(.+?)`", each) for each in order.split(",")] == known[::-1]


def test_faults_are_injected_by_tests_that_there_are() -> None:
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", text_of("docs/reliability.md"))
    assert len(named) > 30
    for file, function in named:
        [path] = (ROOT / "tests").rglob(file)
        assert f"\ndef {function}(" in text_of(path)


def test_the_workflow_makes_what_ci_makes() -> None:
    [job] = yaml_of(".github/workflows/ci.yml")["jobs"].values()
    matrix = job["strategy"]["matrix"]
    targets = {*matrix["target"], *(each["target"] for each in matrix["include"])}
    assert targets == {*re.findall(r"^make (\w+)", text_of(".ci/run"), re.MULTILINE)}
    assert {"lint", "test"} <= targets


def test_locks_have_no_addresses_and_the_versions_of_the_conda_environment() -> None:
    for name in ("requirements.lock", "requirements-test.lock"):
        assert "://" not in text_of(name)
    lock = dict(re.findall(r"^([\w.-]+)==([^ ;]+)", text_of("requirements.lock"), re.MULTILINE))
    python, *others = yaml_of("environment.yml")["dependencies"]
    [own] = [each["pip"] for each in others if isinstance(each, dict)]
    # Relative to the file: one command makes an environment with the package in it.
    assert own.pop() == "-e ."
    pinned = dict(each.split("==") for each in own)
    assert pinned == {name: lock[name] for name in pinned}
    tables = tomllib.loads(text_of("pyproject.toml"))
    project, groups = tables["project"], tables["dependency-groups"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["workflow"], *extras["artifact"], *groups["build"]]
    assert set(pinned) == {re.split(r"[^a-z0-9_-]", each)[0] for each in asked}
    # Where a client of Slurm has no controller, its plugin makes every command wait.
    plugin = "snakemake-executor-plugin-slurm"
    assert plugin not in text_of("requirements.lock") + text_of("environment.yml")
    # The container has a Python of the same range, and runs targets that exist.
    container = text_of("Dockerfile")
    [minor] = re.findall(r"^FROM python:3\.(\d+)\.\d+-slim-\w+$", container, re.MULTILINE)
    assert python == "python >=3.11,<3.14"
    assert 11 <= int(minor) < 14
    for line in [*re.findall(r"^RUN (make .*)$", container, re.MULTILINE), "make figures"]:
        subprocess.run([*shlex.split(line), "--dry-run"], cwd=ROOT, check=True, capture_output=True)
    # What decides whether something is built again is the same on clusters.
    names = ("default", "slurm", "slurm-test")
    default, *others = (yaml_of(f"profiles/{name}/config.yaml") for name in names)
    for profile in others:
        assert profile["rerun-triggers"] == default["rerun-triggers"]
        assert (profile["executor"], profile["retries"]) == ("slurm", 2)


STUB = """#!/bin/sh
{ echo "$0 $*"; env | grep -E '^(UV_|PIP_|PYTHON|SNAKEMAKE)' || true; } >>"$STUB_LOG"
for last; do :; done
if [ "$2" = venv ]; then
  mkdir -p "$last/bin"
  cp "$0" "$last/bin/python"
  echo "command = python3 -m venv $PWD/$last" >"$last/pyvenv.cfg"
fi
"""
"""Stands for Python: keeps what it is asked in a file; environments have copies of it."""
REDIRECTING = {
    "UV_SYSTEM_PYTHON": "1",
    "UV_PYTHON": "/usr/bin/python3",
    "PIP_PYTHON": "/usr/bin/python3",
    "PIP_TARGET": "/nowhere",
    "PIP_PREFIX": "/nowhere",
    "PIP_ROOT": "/nowhere",
    "PIP_USER": "1",
    "PYTHONHOME": "/nowhere",
    "PYTHONPATH": "/nowhere",
    "PYTHONOPTIMIZE": "2",
    "SNAKEMAKE_PROFILE": "/nowhere",
}


@pytest.fixture
def stubbed(tmp_path: Path) -> Path:
    """A folder with the Makefile and the stub of Python."""
    for name in ("Makefile", "requirements.lock", "requirements-test.lock", "pyproject.toml"):
        (tmp_path / "project").mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "project")
    (tmp_path / "python").write_text(STUB)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def make(
    folder: Path, *words: str, **changes: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run make with the stub; return how it ended and the lines that the stub kept."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    [project] = folder.glob("*/")
    done = subprocess.run(
        ["make", f"PYTHON={folder / 'python'}", *words],
        cwd=project,
        env=changed_environment(
            {"MAKEFLAGS": None, "MAKELEVEL": None, "STUB_LOG": str(log), **changes}
        ),
        capture_output=True,
        text=True,
    )
    return done, log.read_text().splitlines() if log.exists() else []


def test_an_installation_goes_into_its_own_environment(stubbed: Path) -> None:
    done, lines = make(stubbed, ".venv/installed", **REDIRECTING)
    assert done.returncode == 0, done.stderr
    assert not [line for line in lines if line.split("=")[0] in REDIRECTING]
    installs = [line for line in lines if " install " in line]
    assert len(installs) == 3
    for line in installs:
        assert line.startswith(".venv/bin/python -m ")
        assert (" uv pip " not in line) or ("--python .venv/bin/python" in line)


def test_an_environment_that_moved_is_set_up_again(stubbed: Path) -> None:
    assert make(stubbed, ".venv/installed")[1]
    assert make(stubbed, ".venv/installed")[1] == []
    (stubbed / "project").rename(stubbed / "moved to")
    assert any(" -m venv --clear .venv" in line for line in make(stubbed, ".venv/installed")[1])
    assert make(stubbed, ".venv/installed")[1] == []


def test_only_make_s_own_arguments_count(stubbed: Path) -> None:
    plain = make(stubbed, "-n", "figures", "verify", "golden")[0].stdout
    others = {"PROFILE": "slurm", "SCALE": "quick", "UPDATE": "1", "CORES": "0"}
    assert make(stubbed, "-n", "figures", "verify", "golden", **others)[0].stdout == plain
    verify = make(stubbed, "-n", "verify", "SCALE=quick", "CORES=2")[0].stdout
    assert "dpbandits verify --workers 2 --scale quick" in verify
    for cores in ("0", "-1", "two", ""):
        done, _ = make(stubbed, "figures", f"CORES={cores}")
        assert done.returncode == 2
        assert f"CORES is '{cores}'; allowed: a whole number of 1 or more" in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_build_ends_with_what_is_built_and_a_lock_is_named(stubbed: Path) -> None:
    project = stubbed / "project"
    make(stubbed, ".venv/installed")
    command = project / ".venv/bin/snakemake"
    command.write_text('#!/bin/sh\necho "$@"\nexit $STATUS\n')
    command.chmod(0o755)
    done, _ = make(stubbed, "quick", "CORES=2", STATUS="0")
    first, *last = done.stdout.splitlines()
    assert first == "--quiet reason --cores 2 all --config scale=quick"
    assert [line.partition(":")[0] for line in last] == ["built", "where", "next"]
    (project / ".snakemake/locks").mkdir(parents=True)
    assert "unlock" not in make(stubbed, "quick", STATUS="1")[0].stderr
    (project / ".snakemake/locks/0.output.lock").touch()
    done, _ = make(stubbed, "quick", STATUS="1")
    assert done.returncode == 2
    assert "built:" not in done.stdout
    assert f"{project} is locked" in done.stderr
    assert ".venv/bin/snakemake --unlock" in done.stderr


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_a_checkout_has_the_line_ends_of_unix(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    names = [".gitattributes", "Makefile", "config/config.yaml", "tests/golden/quick.tar.xz"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    git = ["git", "-c", "core.autocrlf=true"]
    subprocess.run([*git, "add", "-A"], cwd=tmp_path, check=True, capture_output=True)
    for name in names[1:]:
        (tmp_path / name).unlink()
    subprocess.run([*git, "checkout", "--", "."], cwd=tmp_path, check=True)
    assert all((tmp_path / name).read_bytes() == (ROOT / name).read_bytes() for name in names)
