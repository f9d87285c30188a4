"""`dpbandits explain CLAIM`, from results that a command computed: how a verdict came about."""

import re
from pathlib import Path

import pytest

from dpbandits.cli import main
from dpbandits.pages.explain import explain
from dpbandits.pipeline.project import Project, published_table
from invented import ROOT, copy_parts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder with the exactly computed results that DTU-C3 reads."""
    place = copy_parts(tmp_path_factory.mktemp("project"), "config", "workflow")
    assert main(["run", "dp-ts-ucb", "privacy-by-horizon", "--project", str(place)]) == 0
    return place


def test_it_tells_statement_rule_comparisons_both_verdicts_and_figure(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "DTU-C3", "--project", str(folder)]) == 0
    [row] = capsys.readouterr().out.split("\n\n")
    assert "DTU-C3 (theorem; Section 5.1, Corollary 4.5), as-written" in row
    assert "statement: With alpha = 1 the privacy guarantee becomes constant" in row
    assert "decided by: Eta at alpha = 1 is the same at five horizons" in row
    assert "largest over smallest eta at alpha=1, minus 1: " in row
    assert "  verdict: holds; " in row
    assert "the same, as nothing in it depends on chance" in row
    assert "  scale: paper\n" in row
    assert "  figure: figures/dp-ts-ucb/fig3b.png\n" in row
    assert row.rstrip().splitlines()[-1] == (
        "  In short, as written: asked whether largest over smallest eta at alpha=1, minus 1 (GDP "
        "parameter) is within [-1e-09, 1e-09], exact computation found 0, so that the claim holds; "
        "see figures/dp-ts-ucb/fig3b.png."
    )


@pytest.fixture
def unbuilt(tmp_path: Path) -> Path:
    """A checkout as it is cloned: published tables, no results."""
    for part in ("config", "workflow", "docs"):
        (tmp_path / part).symlink_to(ROOT / part)
    return tmp_path


def test_a_checkout_without_results_tells_what_is_published(
    unbuilt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", "NCB-C2", "--project", str(unbuilt)]
    assert main([*words, "--published"]) == 0
    published = capsys.readouterr().out
    assert "  scale: paper, as published\n" in published
    assert main(words) == 0
    assert capsys.readouterr().out == published
    for other in (["--scale", "quick"], ["--seed", "7"]):
        assert main([*words, *other]) == 2
        assert "does not exist; run snakemake to build it" in capsys.readouterr().err


def test_a_finding_is_told_with_its_numbers_and_what_became_of_it(
    unbuilt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project.load(ROOT)
    [finding] = [each for each in project.study("ts-is-dp").findings if each.id == "TSDP-F7"]
    source = finding.numbers["figure1"]
    table = published_table(project, "ts-is-dp", "findings-evidence")
    compared = table[table["claim"] == "TSDP-F7"]
    [number] = compared.loc[compared["comparison"] == source.comparison, "estimate"]
    assert main(["explain", "tsdp-f7", "--project", str(unbuilt)]) == 0
    head, title, statement, outcome, *lines, scale = capsys.readouterr().out.splitlines()
    assert head == f"TSDP-F7 (finding; {finding.place})"
    assert title == f"  title: {finding.title}"
    assert format(number, source.format) in statement
    assert "{" not in statement
    assert outcome == "  as-written: reported"
    assert len(lines) == len(compared) > 0
    for line, label in zip(lines, compared["comparison"], strict=True):
        assert line.startswith(f"    reported  {label}: ")
    assert scale == "  scale: paper, as published"


def test_every_published_verdict_ends_with_its_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.load(ROOT)
    for paper in project.chosen:
        table = published_table(project, paper, "claims")
        for claim in project.study(paper).claims:
            texts = explain(project, claim.id, is_published=True).split("\n\n")
            verdicts = table[table["claim"] == claim.id].to_dict("records")
            assert len(texts) == len(verdicts) > 0, claim.id
            for text, verdict in zip(texts, verdicts, strict=True):
                last = text.rstrip().splitlines()[-1]
                assert last.startswith(f"  In short, {verdict['variant'].replace('-', ' ')}"), last
                assert verdict["verdict"] in last, last
                file = re.search(r"; see (docs/[^ ]+[.](?:png|csv))[.]", last)
                shown = (ROOT / file[1]).is_file() if file else "; no figure shows this" in last
                assert shown, last
                assert verdict["detail"].removesuffix(".") in text, last
    # Also where there is no project.
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "ncb-c2"]) == 0
    assert (
        capsys.readouterr().out.rstrip() == explain(project, "NCB-C2", is_published=True).rstrip()
    )
