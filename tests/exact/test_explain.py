"""`dpbandits explain CLAIM`, from results that a command computed: how a verdict came about."""

import shutil
from pathlib import Path

import pytest

from dpbandits.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder with the exactly computed results that DTU-C3 reads."""
    place = tmp_path_factory.mktemp("project")
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, place / part)
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
    assert row.rstrip().endswith("  figure: figures/dp-ts-ucb/fig3b.png")


def test_an_unknown_claim_ends_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "DTU-C99", "--project", str(folder)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "claim is 'DTU-C99'; allowed: TSDP-C1, " in line
