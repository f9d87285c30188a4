"""The ledger of all papers: its rows, its texts, and that it is made of every paper's verdicts."""

import io
from pathlib import Path

import pandas as pd
import pytest
import yaml

from dpbandits.claims import LEDGER_COLUMNS
from dpbandits.claims.simultaneous import SIMULTANEOUS_COLUMNS
from dpbandits.outputs import Outputs
from dpbandits.papers import PAPERS
from dpbandits.project import Project
from dpbandits.whole_ledger import COLUMNS, cells, interval, join, read_ledger, tables

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Project.load(ROOT)
OUTPUTS = Outputs(PROJECT)

VERDICTS = f"""{",".join(LEDGER_COLUMNS)}
TSDP-C1,as-written,,holds,96.7,96.7,96.7,0,0,holds,paper,"decisive: x"
TSDP-C8,as-written,b_grid=main,holds,0.25,0.125,0.5,50,10,undecided,paper,
TSDP-C8,repaired,b_grid=main,not-applicable,,,,0,10,not-applicable,paper,no such text
"""
BOTH = f"""{",".join(SIMULTANEOUS_COLUMNS)}
TSDP-C1,as-written,,holds,holds,exact,,,96.7,96.7,96.7,0,epsilon,at most 97
TSDP-C8,as-written,b_grid=main,holds,undecided,only by itself,0.05,5e-4,0.25,0.0625,1,400,loss,<1
TSDP-C8,repaired,b_grid=main,not-applicable,not-applicable,-,,,,,,0,,
"""


@pytest.fixture
def whole(tmp_path: Path) -> pd.DataFrame:
    """A ledger of three rows."""
    for name, text in {"claims": VERDICTS, "simultaneous": BOTH}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    claims = PROJECT.claims("ts-is-dp")
    frames = [read_ledger(tmp_path / f"{name}.csv") for name in ("claims", "simultaneous")]
    figures = {each.id: OUTPUTS.claim_figures("ts-is-dp", each) for each in claims}
    return join("ts-is-dp", claims, *frames, figures)


def test_every_row_has_both_verdicts_statement_and_figures(whole: pd.DataFrame) -> None:
    assert tuple(whole.columns) == COLUMNS
    assert whole["stands"].tolist() == ["exact", "only by itself", "-"]
    assert whole["verdict_in_ledger"].tolist() == ["holds", "undecided", "not-applicable"]
    assert whole["figure"][1].split() == ["figures/ts-is-dp/fig3.png", "figures/ts-is-dp/fig2.png"]
    assert whole["statement"][0].startswith("At delta = 1e-6")
    assert whole["runs_in_ledger"].tolist() == [0, 400, 0]


def test_the_texts_say_the_same(whole: pd.DataFrame) -> None:
    shown = cells(whole)
    assert shown["Estimate [interval]"].tolist() == ["96.7", "0.25 [0.125, 0.5]", ""]
    assert shown["Runs"].tolist() == ["exact", "50", "exact"]
    assert shown["At the paper's runs"].tolist() == [
        "holds",
        "undecided (10)",
        "not-applicable (10)",
    ]
    assert shown["Figure"].tolist() == ["fig8", "fig3 fig2", "fig3 fig2"]
    texts = tables(whole)
    assert pd.read_csv(io.StringIO(texts[".csv"]), keep_default_na=False).equals(shown)
    assert texts[".tex"].count("The lowest final regret") == 1
    assert r"\begin{longtable}" in texts[".tex"]
    assert texts[".html"].count("The lowest final regret") == 2


def test_an_interval_without_a_number_is_empty() -> None:
    assert interval({"estimate": float("nan"), "lo": 0.0, "hi": 1.0}) == ""


def test_the_ledger_counts_the_claims_of_all_papers_whichever_are_chosen() -> None:
    stated = 0
    for paper in PAPERS:
        claims = yaml.safe_load((ROOT / f"config/claims/{paper}.yaml").read_text())["claims"]
        stated += len(claims)
        assert len(PROJECT.claims(paper)) == len(claims)
    config = dict(PROJECT.config) | {"papers": ["dp-bai"]}
    assert PROJECT.ledger_size == Project.load(ROOT, config=config).ledger_size == stated


def test_it_is_built_by_default_but_not_with_a_part_alone() -> None:
    def targets(**changes: object) -> list[str]:
        config = dict(PROJECT.config) | changes
        return Outputs(Project.load(ROOT, config=config)).whole_ledger_targets()

    expected = ["claims.csv", "claims.tex", "claims.html", "claims.csv"]
    assert [Path(path).name for path in targets()] == expected
    assert targets(only="ts-is-dp/fig1") == []
    assert len(targets(only="ts-is-dp")) == 4
    inputs = Outputs(PROJECT).whole_ledger_inputs()
    assert {Path(path).parent.name for path in inputs} == set(PROJECT.selected()[0])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_links_what_is_built(paper: str) -> None:
    experiments = PROJECT.experiments(paper)
    built = {path for name in experiments.figures for _, path in OUTPUTS.figure_files(paper, name)}
    built |= {path for name in experiments.tables for path in OUTPUTS.table_files(paper, name)}
    claims = PROJECT.claims(paper)
    linked = [str(ROOT / path) for each in claims for path in OUTPUTS.claim_figures(paper, each)]
    assert set(linked) <= built
    assert len(linked) >= len(claims) // 2
