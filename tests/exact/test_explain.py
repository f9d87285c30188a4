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
    rows = capsys.readouterr().out.split("\n\n")
    assert [row.partition("accounting=")[2].partition("\n")[0] for row in rows] == [
        "theorem4.4",
        "tight",
        "theorem4.6",
    ]
    for row, verdict in zip(rows, ["holds", "holds", "fails"], strict=True):
        assert "statement: With alpha = 1 the GDP parameter does not depend" in row
        assert "decided by: The exact eta at alpha = 1 is the same at five horizons" in row
        assert "largest over smallest eta at alpha=1, minus 1: " in row
        assert f"  verdict: {verdict}; " in row
        assert "verdict in the whole ledger: the same, as nothing in it depends on chance" in row
        assert "  scale: paper\n" in row
        assert row.rstrip().endswith("  figure: figures/dp-ts-ucb/fig3b.png")


def test_an_unknown_claim_ends_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "DTU-C99", "--project", str(folder)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "claim is 'DTU-C99'; allowed: TSDP-C1, " in line
