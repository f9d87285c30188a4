"""What is built by default and what as an extra, and that papers do not depend on each other."""

from pathlib import Path
from typing import Any

import pytest

from dpbandits.cli import main
from dpbandits.errors import InputError
from dpbandits.papers import PAPERS
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs

ROOT = Path(__file__).resolve().parents[2]
BEHIND = ["simultaneous.csv", "evidence.csv", "findings.csv"]
"""What is written beside the verdicts on a paper's claims."""


def outputs(**changes: Any) -> Outputs:
    """Return the outputs of the project with some keys of its config changed."""
    config = dict(Project.load(ROOT).config) | changes
    return Outputs(Project.load(ROOT, config=config))


def names(paths: list[str], suffix: str) -> list[str]:
    """Return the file names of this suffix, in order."""
    return [Path(path).stem for path in paths if path.endswith(suffix)]


def test_by_default_the_figures_and_tables_of_the_paper_are_built_and_its_verdicts() -> None:
    built = outputs(papers=["dp-bai"]).targets()
    panels = ["fig1a", "fig1b", "fig1", "fig2a", "fig2b", "fig2c", "fig2d", "fig2"]
    assert names(built, ".png") == panels
    assert names(built, ".tex") == ["table1", "appendix-b", "claims"]
    assert {"claims", "evidence"} <= set(names(built, ".csv"))


def test_figures_and_tables_whose_names_begin_with_extra_are_extras() -> None:
    extras = outputs(papers=["dp-bai"], comparisons=[]).extra_targets()
    assert names(extras, ".tex") == ["extra-interpretations", "extra-overshoot"]
    assert {Path(path).stem.split("-")[0] for path in extras} == {"extra"}
    assert "extra-omega" in names(extras, ".png")


def test_tables_of_the_other_papers_are_built_by_default() -> None:
    built = outputs(papers=["ts-is-dp", "dp-ts-ucb"], comparisons=[])
    tables = ["claims", "privacy", "table1", "privacy", "calibration", "claims"]
    assert names(built.targets(), ".tex") == tables
    assert names(built.extra_targets(), ".tex") == []


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("extra-ratios", ["extra-ratios.png", "extra-ratios.pdf", "extra-ratios.csv"]),
        ("extra-overshoot", ["extra-overshoot.tex", "extra-overshoot.html", "extra-overshoot.csv"]),
        ("table1", ["table1.tex", "table1.html", "table1.csv"]),
        ("claims", [f"claims.{each}" for each in ("tex", "html", "csv", "csv")] + BEHIND),
    ],
)
def test_only_builds_what_it_names_extra_or_not(item: str, expected: list[str]) -> None:
    built = outputs(papers=["dp-bai"], only=f"dp-bai/{item}").targets()
    assert [Path(path).name for path in built] == expected


def test_rules_of_papers_that_are_not_built_know_their_inputs() -> None:
    """Snakemake reads the rules of every paper, whatever is chosen."""
    one = outputs(papers=["ts-is-dp"], only="ts-is-dp/fig2")
    for paper in PAPERS:
        assert "claims" in one.table_made_from(paper, "claims")


def test_what_is_ours_across_papers_is_extra_and_has_no_claims() -> None:
    both = outputs(papers=["ts-is-dp"], comparisons=["equal-privacy"])
    alone = outputs(papers=["ts-is-dp"], comparisons=[])
    assert both.targets() == alone.targets()
    added = [path for path in both.extra_targets() if path not in alone.extra_targets()]
    assert names(added, ".tex") == ["extra-equal-privacy", "extra-tuning"]
    assert names(added, ".png")[-1] == "extra-equal-privacy"
    assert {Path(path).parent.name for path in added} == {"equal-privacy"}
    assert both.ledger("equal-privacy") == both.project.claims("equal-privacy") == []


def test_only_builds_what_is_ours_where_it_names_it() -> None:
    whole = outputs(papers=["ts-is-dp"], comparisons=["equal-privacy"], only="equal-privacy")
    assert whole.targets() == whole.whole_ledger_targets() == []
    assert {Path(path).parent.name for path in whole.extra_targets()} == {"equal-privacy"}
    one = outputs(comparisons=["equal-privacy"], only="equal-privacy/extra-tuning")
    assert names(one.targets(), ".tex") == ["extra-tuning"]
    with pytest.raises(InputError, match="only is 'equal-privacy'; allowed: one of ts-is-dp"):
        outputs(papers=["ts-is-dp"], comparisons=[], only="equal-privacy")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["judge", "equal-privacy"], "which has no claims; allowed: ts-is-dp"),
        (["tabulate", "equal-privacy", "claims"], "tables has no 'claims'; allowed: extra-equal"),
        (["draw", "equal-privacy", "fig1"], "figures has no 'fig1'; allowed: extra-equal-privacy"),
    ],
)
def test_what_ours_does_not_have_is_said_in_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--project", str(ROOT)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert expected in line


def test_the_name_of_the_project_folder_leaves_no_ledger_out(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    for part in ("config", "workflow"):
        (folder / part).symlink_to(ROOT / part)
    inputs = Outputs(Project.load(folder)).whole_ledger_inputs()
    here = Outputs(Project.load(ROOT)).whole_ledger_inputs()
    assert [Path(path).relative_to(folder) for path in inputs] == [
        Path(path).relative_to(ROOT) for path in here
    ]
    assert inputs
