"""The ledger of all papers: its rows, its texts, and that it is made of every paper's verdicts."""

import io
from pathlib import Path

import pandas as pd
import pytest

from dpbandits.claims.ledger import COLUMNS, join
from dpbandits.pipeline.project import Project, read_verdicts
from dpbandits.pipeline.publish import claim_figures
from dpbandits.reporting.tables import interval, ledger_cells, ledger_tables
from dpbandits.reporting.text import escape
from support import ROOT

PROJECT = Project.load(ROOT)

HEADS = [
    (ROOT / f"docs/figures/ts-is-dp/{name}.csv").read_text().split("\n")[0]
    for name in ("claims", "simultaneous")
]
VERDICTS = f"""{HEADS[0]}
TSDP-C1,experiment,as-written,,holds,96.7,96.7,96.7,0,0,holds,paper,"binding comparison: x"
TSDP-C8,experiment,as-written,b_grid=main,holds,0.25,0.125,0.5,50,10,undecided,paper,
TSDP-C8,experiment,as-written,b_grid=other,holds,0.25,0.125,0.5,50,10,undecided,paper,
TSDP-C8,experiment,repaired,b_grid=main,not applicable,,,,0,10,not applicable,paper,no such text
"""
BOTH = f"""{HEADS[1]}
TSDP-C1,as-written,,holds,holds,exact,,,96.7,96.7,96.7,0,epsilon,at most 97
TSDP-C8,as-written,b_grid=main,holds,undecided,only at its own level,0.05,5e-4,0.25,0.1,1,40,l,<1
TSDP-C8,as-written,b_grid=other,holds,holds,yes,0.05,5e-4,0.25,0.0625,1,400,loss,<1
TSDP-C8,repaired,b_grid=main,not applicable,not applicable,-,,,,,,0,,
"""


@pytest.fixture
def whole(tmp_path: Path) -> pd.DataFrame:
    """A ledger of four rows."""
    for name, text in {"claims": VERDICTS, "simultaneous": BOTH}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    claims = PROJECT.study("ts-is-dp").claims
    frames = [read_verdicts(tmp_path / f"{name}.csv") for name in ("claims", "simultaneous")]
    figures = {each.id: claim_figures(PROJECT, "ts-is-dp", each) for each in claims}
    return join("ts-is-dp", claims, *frames, figures)


def test_every_row_has_both_verdicts_statement_and_figures(whole: pd.DataFrame) -> None:
    claims = {claim.id: claim for claim in PROJECT.study("ts-is-dp").claims}
    assert tuple(whole.columns) == COLUMNS
    assert whole["family_wise"].tolist() == ["exact", "only at its own level", "yes", "-"]
    assert whole["verdict_in_family"].tolist() == ["holds", "undecided", "holds", "not applicable"]
    drawn = [Path(path).stem for path in whole["figure"][1].split()]
    assert drawn == list(claims["TSDP-C8"].figure)
    for column in ("statement", "scope", "rule"):
        text = getattr(claims["TSDP-C8"], column)
        assert whole[column][1] == " ".join(text.split())
    assert whole["runs_in_family"].tolist() == [0, 40, 400, 0]


def test_the_texts_say_the_same(whole: pd.DataFrame) -> None:
    shown = ledger_cells(whole)
    number = "0.25 [0.125, 0.5]"
    assert shown["Estimate [interval]"].tolist() == ["96.7", number, number, ""]
    assert shown["Runs"].tolist() == ["exact", "50", "50", "exact"]
    assert shown["At the paper's runs"].tolist() == [
        *("holds", "undecided (10)", "undecided (10)", "not applicable (10)")
    ]
    texts = ledger_tables(whole, "A caption")
    assert pd.read_csv(io.StringIO(texts[".csv"]), keep_default_na=False).equals(shown)
    first = whole["rule"][1].split(".")[0].split("<")[0][:30]
    assert texts[".tex"].count(escape(first)) == 1
    assert r"\begin{longtable}" in texts[".tex"]
    without = {"estimate": float("nan"), "lo": 0.0, "hi": 1.0}
    assert interval(without) == ""
