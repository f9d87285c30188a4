"""A paper of one's own in one folder: nothing else is edited, no fingerprint of another moves."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.cli import main
from dpbandits.pages.artifact import artifact_page
from dpbandits.pages.documents import document
from dpbandits.pages.errata import check_pages
from dpbandits.pages.new_paper import write_skeleton
from dpbandits.pipeline.check import check_files, check_filters
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.publish import publish_papers
from dpbandits.pipeline.targets import REPORT, targets
from invented import FOLDER as INVENTED
from invented import PAPER as NAME
from invented import ROOT, SNAKEMAKE, environment
from support import message_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The parts of the checkout that a build reads, and the invented paper."""
    for name in ("config", "workflow", "profiles", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Snakefile", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(INVENTED, tmp_path / "config/papers" / NAME)
    return tmp_path


def check(project: Project) -> None:
    check_files(project)
    check_filters(project)
    check_pages(project)


def published(folder: Path) -> Project:
    """The project with the invented paper published."""
    path = folder / "config/papers" / NAME / "paper.yaml"
    path.write_text(path.read_text().replace("state: draft", "state: published"))
    return Project.load(folder)


def test_it_takes_at_most_five_files_and_no_edit(folder: Path) -> None:
    assert len(list(INVENTED.iterdir())) <= 5
    project = Project.load(folder)
    assert project.published == Project.load(ROOT).published
    assert [*project.papers] == [*project.published, NAME]
    chosen = project.at(papers=[NAME])
    check(chosen)
    built = {(target.kind, target.name) for target in targets(chosen)}
    assert {("figure", "fig1"), ("figure", "fig2"), ("claims", "claims")} <= built
    assert ("table", "claims") in built


def depends_on(project: Project, folder: Path) -> dict[Any, Any]:
    """What each target depends on, but for the report, which the page's own sources make."""
    return {
        (target.kind, target.paper, target.name): (
            target.depends_on,
            [path.relative_to(folder) for path in (*target.inputs, *target.files)],
        )
        for target in targets(project)
        if target.kind != REPORT
    }


def test_no_fingerprint_of_another_paper_moves_and_a_draft_is_not_built(folder: Path) -> None:
    assert depends_on(Project.load(folder), folder) == depends_on(Project.load(ROOT), ROOT)


def test_a_draft_is_in_no_citation_and_count_until_it_is_published(folder: Path) -> None:
    draft = Project.load(folder)
    page = (folder / "docs/artifact.md").read_text()
    assert document(draft, "CITATION.cff") == (ROOT / "CITATION.cff").read_text()
    assert NAME not in artifact_page(draft, page)
    project = published(folder)
    assert "2600.00001" in document(project, "CITATION.cff")
    assert f"`{NAME}`" in artifact_page(project, page)
    assert project.built().index(NAME) == len(project.published) - 1


def test_an_id_of_another_paper_is_refused(folder: Path) -> None:
    path = folder / "config/papers" / NAME / "claims.yaml"
    path.write_text(path.read_text().replace("CE-C1", "DTU-C1"))
    project = Project.load(folder).at(papers=["dp-ts-ucb", NAME], comparisons=[])
    assert "DTU-C1 is in dp-ts-ucb too" in message_of(lambda: check_files(project))


def test_the_skeleton_is_in_order_and_written_once(folder: Path) -> None:
    project = Project.load(folder)
    written = write_skeleton(project, "my-paper")
    assert {path.parent.name for path in written} == {"my-paper"}
    check(Project.load(folder).at(papers=["my-paper"]))
    assert "which is taken" in message_of(lambda: write_skeleton(project, "my-paper"))
    assert "small letters" in message_of(lambda: write_skeleton(project, "../x"))


def with_tests(folder: Path) -> Path:
    """Add to a copy of the project what its own tests read."""
    for part in ("tests", "examples", "src"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file() and not (folder / path.name).exists():
            shutil.copy(path, folder)
    return folder


def run_tests(folder: Path, *words: str) -> None:
    """Run tests of a copy of the project on the copy's package."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words]
    changes = environment(folder, XDG_CACHE_HOME=str(folder / ".cache"))
    done = subprocess.run(
        command, cwd=folder, env=changes, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


REGISTER = (
    ("    dp_ts_ucb,\n", "    explore_then_commit,\n"),
    ("REGISTRY: ", '    "explore-then-commit": explore_then_commit.ALGORITHM,\n'),
)
OF_THE_REGISTRY = (
    *("test_registry", "test_known_guarantees", "test_command_line"),
    *("test_guarantee_commands", "test_fingerprints"),
)


@pytest.mark.slow
def test_an_algorithm_is_registered_by_its_import_and_one_line(folder: Path) -> None:
    """No look, no audit row, no parameters to draw: each test of the registry has a default."""
    package = with_tests(folder) / "src/dpbandits/algorithms"
    (folder / "config/papers" / NAME / "explore_then_commit.py").rename(
        package / "explore_then_commit.py"
    )
    shutil.rmtree(folder / "config/papers" / NAME)
    registry = package / "__init__.py"
    lines = registry.read_text().splitlines(keepends=True)
    for start, added in REGISTER:
        place = next(number for number, line in enumerate(lines) if line.startswith(start))
        lines.insert(place + 1, added)
    registry.write_text("".join(lines))
    run_tests(folder, "-m", "not slow", *(f"tests/exact/{name}.py" for name in OF_THE_REGISTRY))
    own = "every_algorithm or explore or without_a_look or look_of_its_own"
    files = [f"tests/exact/{name}.py" for name in ("test_figure_looks", "test_reference_agrees")]
    run_tests(folder, "-m", "not slow", "-k", own, *files)
    run_tests(folder, "-k", "engines or not_audited", "tests/audit/test_pipeline.py")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of the documents and the config, by its path."""
    paths = [path for part in ("docs", "config") for path in (folder / part).rglob("*")]
    paths.append(folder / "CITATION.cff")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAME, "my-paper"])
def test_a_paper_is_built_judged_and_published_alone(folder: Path, name: str) -> None:
    if name != NAME:
        write_skeleton(Project.load(folder), name)
    command = [*SNAKEMAKE, "--cores", "2", "--config", f"papers=[{name}]"]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    verdicts = pd.read_csv(folder / "results" / name / "claims.csv")
    assert set(verdicts["verdict"]) == {"holds"}
    assert len(verdicts) == (3 if name == NAME else 1)
    before = tree(folder)
    assert main(["publish", name, "--project", str(folder)]) == 0
    after = tree(folder)
    assert {path: after[path] for path in before} == before
    assert {Path(path).parent.as_posix() for path in after.keys() - before} == {
        f"docs/figures/{name}",
        f"docs/tables/{name}",
    }
    stamp = json.loads((folder / "docs/figures" / name / "fingerprints.json").read_text())
    assert {"fig1", "claims"} <= stamp.keys()
    assert publish_papers(Project.load(folder), [name])
