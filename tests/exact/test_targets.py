"""What is built by default and what as an extra, and that papers do not depend on each other."""

from pathlib import Path
from typing import Any

import pytest

from dpbandits.cli import main
from dpbandits.papers import find_paper
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import CLAIMS, Target, claims_target, targets, wanted

ROOT = Path(__file__).resolve().parents[2]


def project_with(**changes: Any) -> Project:
    """Return the project with some keys of its config changed."""
    return Project.load(ROOT, config=dict(Project.load(ROOT).config) | changes)


def built(*, extra: bool = False, **changes: Any) -> list[Path]:
    """Return the files that ``rule all`` or ``rule extras`` builds, but for the ledger of all."""
    project = project_with(**changes)
    chosen = wanted(targets(project), extra=extra)
    return [path for target in chosen if target.paper != "all" for path in target.files]


def names(paths: list[Path], suffix: str) -> list[str]:
    """Return the file names of this suffix, in order."""
    return [path.stem for path in paths if path.suffix == suffix]


def test_by_default_the_figures_and_tables_of_the_paper_are_built_and_its_verdicts() -> None:
    files = built(papers=["dp-bai"])
    panels = ["fig1", "fig1a", "fig1b", "fig2", "fig2a", "fig2b", "fig2c", "fig2d"]
    assert names(files, ".png") == panels
    assert names(files, ".tex") == ["table1", "appendix-b", "claims"]
    assert {"claims", "evidence"} <= set(names(files, ".csv"))


def test_figures_and_tables_whose_names_begin_with_extra_are_extras() -> None:
    extras = built(extra=True, papers=["dp-bai"], comparisons=[])
    assert names(extras, ".tex") == ["extra-interpretations", "extra-overshoot"]
    assert {path.stem.split("-")[0] for path in extras} == {"extra"}
    assert "extra-omega" in names(extras, ".png")


def test_tables_of_the_other_papers_are_built_by_default() -> None:
    chosen: dict[str, Any] = {"papers": ["ts-is-dp", "dp-ts-ucb"], "comparisons": []}
    tables = ["claims", "privacy", "table1", "privacy", "calibration", "claims"]
    assert names(built(**chosen), ".tex") == tables
    assert names(built(extra=True, **chosen), ".tex") == []


def test_comparisons_across_papers_are_extra_and_have_no_claims() -> None:
    both = {"papers": ["ts-is-dp"], "comparisons": ["equal-privacy"]}
    alone = both | {"comparisons": []}
    assert built(**both) == built(**alone)
    added = [path for path in built(extra=True, **both) if "equal-privacy" in path.parts]
    assert set(built(extra=True, **both)) - set(built(extra=True, **alone)) == set(added)
    assert names(added, ".tex") == ["extra-equal-privacy", "extra-tuning"]
    assert names(added, ".png")[0] == "extra-equal-privacy"
    project = project_with(**both)
    assert project.study("equal-privacy").claims == []
    judged = {target.paper for target in targets(project) if target.kind == CLAIMS}
    assert judged == {"ts-is-dp"}


@pytest.mark.parametrize("scale", ["paper", "quick"])
def test_verdicts_wait_for_all_results_that_claims_read(scale: str) -> None:
    project = Project.load(ROOT).at(scale=scale)
    for paper in project.papers:
        read = [project.results_path(paper, name) for name in project.study(paper).claims_read]
        assert claims_target(project, paper).inputs == tuple(read) != ()


def test_simulations_of_claims_alone_play_the_runs_of_the_largest_analysis() -> None:
    project = Project.load(ROOT)
    for paper in project.papers:
        study = project.study(paper)
        drawn = {path.stem for target in targets(project) for path in _results_drawn(target, paper)}
        for name, plan in study.simulations.items():
            asked = [
                max(max(each.analyses) + each.rerun, each.runs_paper)
                for each in study.stated
                if name in each.reads and each.analyses
            ]
            if asked and name not in drawn:
                assert plan.runs == max(asked), f"{paper}: {name}"


def _results_drawn(target: Target, paper: str) -> tuple[Path, ...]:
    """Return the inputs of what shows results of a paper as they are, or tunes others by them."""
    is_shown = target.kind != CLAIMS and target.paper == paper
    return target.inputs if is_shown else ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["judge", "equal-privacy"], "which has no claims; allowed: ts-is-dp"),
        (["tabulate", "equal-privacy", "claims"], "table is 'claims'; allowed: extra-equal"),
        (["draw", "equal-privacy", "fig1"], "figure is 'fig1'; allowed: extra-equal-privacy"),
    ],
)
def test_what_a_comparison_does_not_have_is_said_in_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--project", str(ROOT)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert expected in line


def copy_of_config(folder: Path) -> Path:
    """Return a folder with the config of this project."""
    folder.mkdir()
    for part in ("config", "workflow"):
        (folder / part).symlink_to(ROOT / part)
    return folder


def relative(folder: Path) -> list[tuple[str, list[Path], list[Path]]]:
    """Return each target with its inputs and files, relative to the project's folder."""
    return [
        (
            target.rule,
            [path.relative_to(folder) for path in target.inputs],
            [path.relative_to(folder) for path in target.files],
        )
        for target in targets(Project.load(folder))
    ]


def test_the_name_of_the_project_folder_leaves_nothing_out(tmp_path: Path) -> None:
    assert relative(copy_of_config(tmp_path / "evidence")) == relative(ROOT)


def test_a_paper_without_a_module_has_nothing_of_its_kind() -> None:
    assert find_paper("ts-is-dp").tables == {}
    assert find_paper("no-code").formulas == {}
    assert find_paper("no-code").modules("formulas", "statistics") == []
