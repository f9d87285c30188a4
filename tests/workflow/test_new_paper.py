"""A paper of one's own in one folder: nothing else is edited, no fingerprint of another moves."""

import re
import shlex
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest

from dpbandits.cli import main
from dpbandits.pages.documents import page_of
from dpbandits.pipeline.check import check_files, check_filters
from dpbandits.pipeline.jobs import build_results
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.rehearsal import rehearse
from dpbandits.pipeline.skeleton import write_skeleton
from dpbandits.pipeline.targets import RESULTS, targets
from golden_csv import MAKERS
from invented import PAPER as NAME
from invented import ROOT, copy_paper, copy_parts, dpbandits_command, make_project
from support import refused, replace_in

PARTS = ("config", "docs", "examples", "profiles", "workflow", "Snakefile", "CITATION.cff")
PARTS += ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "pyproject.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a build reads and pages are made of but for the sources, and the invented paper."""
    copy_paper(copy_parts(tmp_path, *PARTS))
    return tmp_path


def build(project: Project, paper: str) -> None:
    for target in targets(project):
        if target.kind == RESULTS:
            build_results(project, paper, target.name, workers=1)
        elif target.paper == paper:
            MAKERS[target.kind](project, target)


def test_it_takes_at_most_five_files_and_no_edit_and_moves_no_other_paper(folder: Path) -> None:
    assert len(list((folder / "config/papers" / NAME).iterdir())) <= 5
    project, here = Project.load(folder), Project.load(ROOT)
    assert {*project.papers} == {*here.published, NAME}

    def depends_on(project: Project) -> list[Any]:
        return [
            (t.rule, t.depends_on, [path.relative_to(project.folder) for path in paths])
            for t in targets(project)
            for paths in (t.inputs, t.files)
        ]

    assert depends_on(project) == depends_on(here), "a draft is not built"


def test_a_look_of_its_own_moves_its_figures_alone(folder: Path) -> None:
    def fingerprints() -> dict[str, Any]:
        return {
            f"{each.rule}/{each.name}": each.depends_on
            for each in targets(Project.load(folder).only([NAME]))
        }

    before = fingerprints()
    replace_in(folder / f"config/papers/{NAME}/paper.yaml", "wine", "olive")
    after = fingerprints()
    moved = {rule for rule in after if after[rule] != before[rule]}
    assert moved == {"committing_early_fig1/fig1", "committing_early_fig2/fig2"}


def test_an_id_of_another_paper_is_refused(folder: Path) -> None:
    replace_in(folder / f"config/papers/{NAME}/claims.yaml", "CE-C1", "DTU-C1")
    project = Project.load(folder).at(papers=["dp-ts-ucb", NAME], comparisons=[])
    refused(lambda: check_files(project), "ids of claims begin with DTU, as those of dp-ts-ucb")


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


@pytest.mark.slow
def test_the_skeleton_is_checked_built_judged_and_published_alone(folder: Path) -> None:
    name, project = "my-paper", Project.load(folder)
    assert {path.parent.name for path in write_skeleton(project, name)} == {name}
    refused(lambda: write_skeleton(project, name), "which is taken")
    refused(lambda: write_skeleton(project, "../x"), "small letters")
    alone = Project.load(folder).only([name])
    for find_mistakes in (check_files, check_filters):
        find_mistakes(alone)
    assert rehearse(alone, name, page_of, seconds=600).faults == []
    build(alone, name)
    verdicts = pd.read_csv(folder / "results" / name / "claims.csv")
    assert list(verdicts["verdict"]) == ["as stated"]
    before = tree(folder)
    assert main(["publish", name, "--project", str(folder)]) == 0
    after = tree(folder)
    assert {path: after[path] for path in before} == before, "a draft is in no other document"
    written = {path.parent.relative_to(folder).as_posix() for path in after.keys() - before}
    assert written == {f"docs/figures/{name}", f"docs/tables/{name}", "docs/papers"}


def pasted(folder: Path, block: str) -> None:
    """Run a block of CONTRIBUTING.md in a folder; what Snakemake would build is built here."""
    files = re.compile(r"^cat > \S+ <<'END'\n.*?^END\n", re.DOTALL | re.MULTILINE)
    for script in files.findall(block):
        subprocess.run(["bash", "-e", "-c", script], cwd=folder, check=True)
    for line in files.sub("", block).splitlines():
        program, *words = shlex.split(line)
        if program == "snakemake":
            # The quick scale is the same again.
            if "scale=quick" not in words:
                build(Project.load(folder).only([MADE_UP]), MADE_UP)
        elif program == "dpbandits":
            in_project = ["--project", str(folder)] * ("--params" not in words)
            assert main([*words, *in_project]) == 0, line
        else:
            subprocess.run([program, *words], cwd=folder, check=True)


MADE_UP = "noise-once"
"""The paper of CONTRIBUTING.md."""


@pytest.mark.slow
def test_the_paper_of_contributing_is_pasted_built_and_published(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    text = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"^ *```bash\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    for block in blocks:
        pasted(folder, dedent(block))
    page = (folder / f"docs/papers/{MADE_UP}.md").read_text()
    assert "That it has less is " in page
    assert "{NO-C1}" not in page
    assert "A draft" not in page
    assert MADE_UP in (folder / "README.md").read_text()
    known = Project.load(folder).study(MADE_UP)
    assert {"one-noise", "anytime-lazy-ucb", "ucb1"} == {
        entry.algorithm for entry in known.simulation("curves").spec.cells
    }


HOOKS = {
    "Instances": "instances",
    "Exact": "analytic",
    "Values": "derived",
    "Diagrams": "diagrams",
    "Quantities": "quantities",
}
"""First word of an example of docs/hooks.md -> its module."""


@pytest.mark.slow
def test_examples_of_hooks_work_once_they_are_switched_on(tmp_path: Path) -> None:
    """The entries are those of the skeleton, the functions those of the document."""
    folder, name = make_project(tmp_path, sources=True), "my-paper"
    assert dpbandits_command(folder, "new-paper", name).returncode == 0
    for path in (folder / "config/papers" / name).glob("*.yaml"):
        path.write_text(re.sub(r"^#: ", "", path.read_text(), flags=re.MULTILINE))
    package = folder / "src/dpbandits/papers/my_paper"
    package.mkdir()
    (package / "__init__.py").touch()
    document = (ROOT / "docs/hooks.md").read_text()
    examples = re.findall(r'```py\n("""(\w+).*?)```', document, re.DOTALL)
    assert [word for _, word in examples] == list(HOOKS)
    for code, word in examples:
        (package / f"{HOOKS[word]}.py").write_text(code)
    said = dpbandits_command(folder, "check", name).stdout
    left = [line for line in said.splitlines() if line.startswith("not checked")]
    assert len(left) == 1, said
    assert "are in order" in said
    replace_in(package / "analytic.py", "lower_bound(setting)", "lower_bound()")
    said = dpbandits_command(folder, "check", name).stdout
    assert "analytic.lower-bound: too many positional arguments; allowed: a function of" in said


def test_all_of_a_paper_is_made_on_made_up_numbers(folder: Path) -> None:
    """In a folder of its own; what is wrong is said at once, each in one line."""
    before = tree(folder)
    found = rehearse(Project.load(folder).only([NAME]), NAME, page_of, seconds=600)
    assert (found.faults, found.left) == ([], {})
    assert tree(folder) == before
    config = folder / f"config/papers/{NAME}"
    replace_in(config / "experiments.yaml", "name: UCB1", 'name: "{no_such}"')
    replace_in(
        config / "experiments.yaml", "Pseudo-regret at $T$", "Pseudo-regret at $\\\\nothing$"
    )
    replace_in(config / "claims.yaml", "{comparison: step in epsilon}", "{comparison: a step}")
    found = rehearse(Project.load(folder).only([NAME]), NAME, page_of, seconds=600)
    assert len(found.faults) == 3
    assert [fault for fault in found.faults if f"papers/{NAME}/" not in fault] == []
    assert "figures.fig1a.series.2.name" in found.faults[0]
    assert "fig2" in found.faults[1]
    assert "CE-C1.numbers.step: 0 rows" in found.faults[2]
    short = rehearse(Project.load(folder).only([NAME]), NAME, page_of, seconds=0.0)
    assert "no time was left" in short.left


@pytest.mark.slow
@pytest.mark.parametrize("paper", Project.load(ROOT).papers)
def test_a_paper_is_in_order_where_nothing_is_built(paper: str, folder: Path) -> None:
    """What would take too long is left out, and so is all that reads it."""
    found = rehearse(Project.load(folder).only([paper]), paper, page_of, seconds=600)
    assert found.faults == []


def test_what_is_named_and_is_not_there_is_one_line(folder: Path) -> None:
    config = folder / f"config/papers/{NAME}"
    for file, old, new, line in (
        ("paper.yaml", "my-kernel: [wine", "my-kernl: [wine", "did you mean 'my-kernel'?"),
        ("paper.yaml", "state: draft", "state: draft\npicture: fig9", "picture is 'fig9'; allowed"),
        ("experiments.yaml", "quick: {", "scaled: [bound]\nquick: {", "scaled is 'bound'; allowed"),
        ("experiments.yaml", "{first: 1000,", "{first: 10,", "plays some of these runs"),
    ):
        before = (config / file).read_text()
        replace_in(config / file, old, new)

        def check() -> None:
            project = Project.load(folder).only([NAME])
            check_files(project)
            check_filters(project)

        refused(check, line)
        (config / file).write_text(before)


@pytest.mark.slow
def test_a_draft_can_be_seen_and_counts_nowhere_until_it_is_published(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has what the documents allow and no other paper has, and lacks what the others have."""

    def works(*words: str) -> str:
        assert main([*words, "--project", str(folder)]) == 0
        return capsys.readouterr().out

    def has(name: str, text: str) -> bool:
        return text in (folder / name).read_text()

    build(Project.load(folder).only([NAME]), NAME)
    works("publish", NAME)
    listed = {"CITATION.cff": "Committing Early", "README.md": f"papers/{NAME}.md"}
    assert not any(has(name, text) for name, text in listed.items())
    assert has(f"docs/figures/{NAME}/fingerprints.json", '"fig1"')
    assert has(f"docs/papers/{NAME}.md", "**A draft**")
    assert "a draft's: `state` in" in works("explain", "ce-c1", "--published")
    replace_in(folder / f"config/papers/{NAME}/paper.yaml", "state: draft", "state: published")
    works("publish", NAME)
    assert all(has(name, text) for name, text in listed.items())
    works("check", "--papers", NAME)
