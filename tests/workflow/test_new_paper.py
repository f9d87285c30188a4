"""A paper of one's own in one folder: nothing else is edited, no fingerprint of another moves."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.cli import main
from dpbandits.pages.contents import check_pages
from dpbandits.pages.documents import write_skeleton
from dpbandits.pipeline import study
from dpbandits.pipeline.check import check_files, check_filters
from dpbandits.pipeline.jobs import build_results
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import REPORT, RESULTS, targets
from golden_csv import MAKERS
from invented import FOLDER as INVENTED
from invented import PAPER as NAME
from invented import ROOT, command, copy_parts, run
from support import message_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The parts of the checkout that a build reads, and the invented paper."""
    copy_parts(tmp_path, "config", "workflow", "profiles", "docs", "Snakefile", "CITATION.cff")
    shutil.copytree(INVENTED, tmp_path / "config/papers" / NAME)
    return tmp_path


def check(project: Project) -> None:
    for find_mistakes in (check_files, check_filters, check_pages):
        find_mistakes(project)


def published(folder: Path) -> Project:
    """The project with the invented paper published."""
    path = folder / "config/papers" / NAME / "paper.yaml"
    path.write_text(path.read_text().replace("state: draft", "state: published"))
    return Project.load(folder)


def test_it_takes_at_most_five_files_and_no_edit_and_moves_no_other_paper(folder: Path) -> None:
    assert len(list(INVENTED.iterdir())) <= 5
    project, here = Project.load(folder), Project.load(ROOT)
    assert {*project.papers} == {*here.published, NAME}
    chosen = project.at(papers=[NAME])
    check(chosen)
    built = {(target.kind, target.name) for target in targets(chosen)}
    expected = {("figure", "fig1"), ("figure", "fig2"), ("claims", "claims"), ("table", "claims")}
    assert expected <= built

    def depends_on(project: Project) -> list[Any]:
        # But for the report, which the page's own sources make.
        every = [target for target in targets(project) if target.kind != REPORT]
        paths = [[*target.inputs, *target.files] for target in every]
        relative = [[path.relative_to(project.folder) for path in each] for each in paths]
        return [(t.rule, t.depends_on, r) for t, r in zip(every, relative, strict=True)]

    assert depends_on(project) == depends_on(here), "a draft is not built"


def test_a_look_moves_what_draws_it_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(before: dict[str, Any], folder: Path, *names: str) -> set[str]:
        return {
            rule for rule, known in fingerprints(folder, *names).items() if known != before[rule]
        }

    def fingerprints(folder: Path, *names: str) -> dict[str, Any]:
        study._named_in.cache_clear()
        project = Project.load(folder)
        every = targets(project.only(names) if names else project)
        return {f"{each.rule}/{each.name}": each.depends_on for each in every}

    own, others = fingerprints(folder, NAME), fingerprints(ROOT)
    looks = dict(study.ALGORITHMS)
    monkeypatch.setattr(study, "ALGORITHMS", looks | {"tree-ucb": ("blue", "solid", "star")})
    assert moved(others, ROOT) == set()
    monkeypatch.setattr(study, "ALGORITHMS", looks | {"ucb1": ("blue", "solid", "star")})
    assert moved(own, folder, NAME) == {"committing_early_fig1/fig1"}
    assert "dp_bai_fig1/fig1" not in moved(others, ROOT)
    monkeypatch.undo()
    path = folder / "config/papers" / NAME / "paper.yaml"
    path.write_text(path.read_text().replace("wine", "olive"))
    assert moved(own, folder, NAME) == {"committing_early_fig1/fig1", "committing_early_fig2/fig2"}
    study._named_in.cache_clear()


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


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of the documents and the config, by its path."""
    paths = [path for part in ("docs", "config") for path in (folder / part).rglob("*")]
    paths.append(folder / "CITATION.cff")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.slow
def test_the_skeleton_is_built_judged_and_published_alone(folder: Path) -> None:
    name = "my-paper"
    write_skeleton(Project.load(folder), name)
    done = run(folder, command(config=f"papers=[{name}]"))
    assert done.returncode == 0, done.stdout[-4000:]
    verdicts = pd.read_csv(folder / "results" / name / "claims.csv")
    assert list(verdicts["verdict"]) == ["holds"]
    before = tree(folder)
    assert main(["publish", name, "--project", str(folder)]) == 0
    after = tree(folder)
    assert {path: after[path] for path in before} == before, "a draft is in no other document"
    assert {Path(path).parent.as_posix() for path in after.keys() - before} == {
        f"docs/figures/{name}",
        f"docs/tables/{name}",
        "docs/papers",
    }


CHECKOUT = {
    *("config", "docs", "examples", "profiles", "tests", "workflow"),
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Makefile", "README.md", "Snakefile"),
    *("environment.yml", "pyproject.toml"),
}
"""What the tests of a checkout read but for the sources."""

IMPORTS = {
    path.relative_to(ROOT).as_posix(): set(
        re.findall(r"^from (\w+)", path.read_text(), re.MULTILINE)
    )
    for path in sorted((ROOT / "tests").rglob("test_*.py"))
}
SCANS = [
    name
    for name, imported in IMPORTS.items()
    if imported & {"found_papers", "synthetic_results"} and "invented" not in imported
]
"""Tests that run over the published papers."""
OF_ALL_PAPERS = "reduced or readme or verdicts_of_its_own or no_verdict_of_the_others"
"""Tests of what all papers make together."""


def test_the_suite_holds_of_a_fifth_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has what the documents allow and no other paper has, and lacks what the others have."""
    copy_parts(tmp_path, *(path.name for path in ROOT.iterdir() if path.name in CHECKOUT))
    shutil.copytree(INVENTED, tmp_path / "config/papers" / NAME)
    folder = str(tmp_path)
    # First a draft, which can be seen and counts nowhere.
    project = Project.load(tmp_path).only([NAME])
    for target in targets(project):
        if target.kind == RESULTS:
            build_results(project, NAME, target.name, workers=1)
        elif target.paper == NAME:
            MAKERS[target.kind](project, target)
    assert main(["publish", NAME, "--project", folder]) == 0
    named = {name: (tmp_path / name).read_text() for name in ("CITATION.cff", "docs/artifact.md")}
    assert not [name for name, text in named.items() if NAME in text or "Committing" in text]
    stamp = json.loads((tmp_path / "docs/figures" / NAME / "fingerprints.json").read_text())
    assert {"fig1", "claims"} <= stamp.keys()
    assert "**A draft**" in (tmp_path / f"docs/papers/{NAME}.md").read_text()
    assert main(["site", "--only", NAME, "--out", str(tmp_path / "site"), "--project", folder]) == 0
    assert "<strong>A draft</strong>" in (tmp_path / "site/index.html").read_text()
    assert main(["explain", "ce-c1", "--published", "--project", folder]) == 0
    assert "a draft's: `state` in" in capsys.readouterr().out
    published(tmp_path)
    assert main(["publish", NAME, "--project", folder]) == 0
    assert "Committing Early" in (tmp_path / "CITATION.cff").read_text()
    assert f"`{NAME}`" in (tmp_path / "docs/artifact.md").read_text()
    assert main(["check", "--papers", NAME, "--project", folder]) == 0
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    marks = ["-m", "not slow and not golden and not faults"]
    done = run(tmp_path, [*words, *marks, "-k", f"{NAME} or {OF_ALL_PAPERS}", *SCANS])
    assert done.returncode == 0, done.stdout[-4000:]
