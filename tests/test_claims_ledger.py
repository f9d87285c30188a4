"""The tables of verdicts: columns, shown comparisons, words; the joined ledger of all papers."""

import copy
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpbandits.claims.docket import Claim
from dpbandits.claims.judge import judge
from dpbandits.claims.ledger import COLUMNS, comparisons, ledger
from dpbandits.pages.published import published_ledger
from dpbandits.pipeline.project import Project
from dpbandits.reporting.tables import ledger_cells, ledger_tables
from dpbandits.reporting.text import escape
from found_papers import PAPERS
from invented import copy_parts
from support import ROOT
from toy_claims import claim, comparison, number, on_series, toy_evidence


def row(toy: Claim, means: list[float], **settings: Any) -> pd.Series:
    return ledger(judge([toy], toy_evidence(means, **settings))).iloc[0]


NO_CODE = {"variant": "as-coded", "not_applicable": "no code"}
MOST = {"combine": "most", "runs": 400}
PRESUMED = [*on_series(0), *on_series(1, no_increase=0)]


@pytest.mark.parametrize(
    ("entries", "keys", "means", "words"),
    [
        ([*on_series(0, 1, 2)], {}, [-3.0, -1.0, -2.0], "binding comparison: series 1, asked: les"),
        ([*on_series(0, 1, 2)], {}, [-3.0, 1.0, 2.0], "1 for, 2 against, 0 undecided; binding com"),
        ([*on_series(0, 1, 2)], {}, [-3.0, 1.0, 2.0], "binding comparison: series 2"),
        ([*on_series(0, 1)], {"combine": "any"}, [-3.0, 1.0], "for: series 0; binding compar"),
        ([*on_series(0, 1)], {"combine": "any"}, [3.0, 1.0], "none is for; binding compar"),
        ([*on_series(0, 1)], {"combine": "most"}, [-3.0, 1.0], "against: series 1"),
        ([*on_series(0, 1, 2, 3)], MOST, [-2.0, -2.0, 0.0, 0.0],
         "comparisons: 2 for, 0 against, 2 undecided; binding comparison: se"),
        ([*on_series(0, 1, 2, 3)], MOST, [-2.0, -2.0, 0.0, 0.0], "; undecided: series 2, series 3"),
        # A presumption is shown only where it refutes.
        (PRESUMED, {}, [-3.0, -0.1], "binding comparison: series 0"),
        (PRESUMED, {}, [-3.0, 3.0], "binding comparison: series 1"),
        ([comparison(part="eta={which}", **{"for": {"which": [0, 1]}})], {}, [-2.0, 2.0],
         "holds: eta=0; fails: eta=1; "),
        ([number(float("nan"), "x")], {"runs": 0, "runs_paper": 0}, [0.0],
         "binding comparison: x, asked: less than 0; no number was measured"),
        ([number(place, name, less=1) for name, place in {"x": -3.0, "y": -0.5, "z": -2.0}.items()],
         {"runs": 0, "runs_paper": 0, "verdicts": ["not contradicted", "fails"]}, [0.0],
         "binding comparison: y"),
        ([*on_series(0)], {"interpretations": [NO_CODE]}, [0.0], "no code"),
        ([*on_series(0, 1)], {}, [0.0, -2.0], "asked: less than 0; about 781 runs would"),
    ],
)  # fmt: skip
def test_the_detail_names_what_a_verdict_depends_on(
    entries: list[Any], keys: dict[str, Any], means: list[float], words: str
) -> None:
    assert words in row(claim(*entries, **keys), means)["detail"]


def test_a_row_shows_the_number_of_its_binding_comparison() -> None:
    found = row(claim(*on_series(0, 1, 2)), [-3.0, -1.0, -2.0])
    assert found["estimate"] == pytest.approx(-1.0, abs=0.6)
    assert found["lo"] < found["estimate"] < found["hi"] < 0.0
    assert (found["verdict"], found["runs"], found["runs_paper"]) == ("holds", 50, 10)


def test_undecided_rows_show_what_would_settle_them_soonest() -> None:
    """One against settles a claim about all points: of two that lean so, the clearer one."""
    toy, evidence = claim(*on_series(0, 1, 2), runs=50), toy_evidence([-0.3, 0.0, 0.1], seed=4)
    table = comparisons(judge([toy], evidence))
    leaning = table[table["estimate"] > 0].sort_values("estimate")
    found = ledger(judge([toy], evidence)).iloc[0]
    assert found["verdict"] == "undecided"
    assert found["estimate"] == leaning["estimate"].iloc[-1]


def test_every_comparison_is_a_row_of_the_evidence() -> None:
    toy = claim(*on_series(0, 1, part="one"), *on_series(2, exploratory=True, part="one"))
    table = comparisons(judge([toy], toy_evidence([-2.0, -2.0, 2.0])))
    assert table["comparison"].tolist() == ["series 0", "series 1", "series 2"]
    assert table["decided"].tolist() == ["for", "for", "against"]
    assert table["exploratory"].tolist() == [False, False, True]
    assert sorted(table["level"][:2]) == pytest.approx([0.0125 / 2, 0.0125])
    assert table["level"][2] == 0.0125
    assert set(table["part"]) == {"one"}


PROJECT = Project.load(ROOT)


def test_the_joined_ledger_has_every_row_and_in_latex_its_texts_once() -> None:
    """Its numbers are golden, in `quick/claims.csv`; `docs/claims.md` shows the published one."""
    whole = published_ledger(PROJECT, "ts-is-dp")
    published = pd.read_csv(ROOT / "docs/figures/ts-is-dp/claims.csv")
    assert tuple(whole.columns) == COLUMNS
    assert whole["claim"].tolist() == published["claim"].tolist()
    for each in PROJECT.study("ts-is-dp").claims:
        own = whole[whole["claim"] == each.id]
        assert {Path(path).stem for path in own["figure"].iloc[0].split()} == {*each.figure}
        for column in ("statement", "scope", "rule"):
            assert set(own[column]) == {" ".join(getattr(each, column).split())}
    texts = ledger_tables(whole, "A caption")
    shown = pd.read_csv(io.StringIO(texts[".csv"]), keep_default_na=False, dtype=str)
    assert shown.equals(ledger_cells(whole))
    repeated = whole[whole["claim"].duplicated()].iloc[0]
    for column in ("statement", "rule"):
        assert texts[".tex"].count(escape(repeated[column][:30])) == 1
    assert r"\begin{longtable}" in texts[".tex"]


def test_a_claim_more_or_a_paper_less_moves_no_verdict_of_other_papers(tmp_path: Path) -> None:
    folder = copy_parts(tmp_path, "config", "workflow") / "config/papers/dp-ncb"
    others = [paper for paper in PAPERS if paper != folder.name]

    def fingerprints(project: Project, *more: str) -> list[str]:
        return [project.study(paper).judged_fingerprint("claims") for paper in (*others, *more)]

    document = yaml.safe_load((folder / "claims.yaml").read_text())
    document["claims"]["NCB-C99"] = copy.deepcopy(document["claims"]["NCB-C15"])
    (folder / "claims.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    more = Project.load(tmp_path)
    assert fingerprints(PROJECT) == fingerprints(more)
    assert fingerprints(PROJECT, folder.name) != fingerprints(more, folder.name)
    for section in ("claims", "findings"):
        (folder / f"{section}.yaml").unlink()
    less = Project.load(tmp_path, config=dict(PROJECT.config) | {"papers": others})
    assert fingerprints(PROJECT) == fingerprints(less)
