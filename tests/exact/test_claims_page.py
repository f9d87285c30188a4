"""`docs/claims.md` from published files: counts, both verdicts, rules, findings, error rates."""

import math
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpbandits.claims.ledger import LEDGER_COLUMNS, SIMULTANEOUS_COLUMNS
from dpbandits.errors import InputError
from dpbandits.pages.papers import claims_page
from dpbandits.pipeline.project import Project
from found_papers import PAPERS

ROOT = Path(__file__).resolve().parents[2]

FINDINGS: dict[str, Any] = {
    "TSDP-F1": {
        "title": "A ratio",
        "statement": "It is {ratio} times as large.",
        "place": "Lemma 4",
        "claims": ["TSDP-C8"],
        "figure": "fig3",
        "numbers": {"ratio": {"comparison": "ratio", "format": ".2f"}},
    }
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a published ledger of one paper: two exact verdicts, two that are not."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    document = {"paper": "ts-is-dp", "findings": FINDINGS}
    (tmp_path / "config/papers/ts-is-dp/findings.yaml").write_text(yaml.safe_dump(document))
    folder = tmp_path / "docs/figures/ts-is-dp"
    folder.mkdir(parents=True)
    (folder / "claims.csv").write_text(
        ",".join(LEDGER_COLUMNS) + "\n"
        "TSDP-C1,experiment,as-written,,holds,96.7,96.7,96.7,0,0,holds,paper,\n"
        "TSDP-C3,remark,as-written,accounting=lemma5,fails,1,1,1,0,0,fails,paper,\n"
        "TSDP-C8,picture,as-written,b_grid=main,holds,0.25,0.125,0.5,50,10,undecided,paper,\n"
        "TSDP-C8,picture,repaired,b_grid=main,not contradicted,0.1,-1,1,400,10,undecided,paper,\n"
        "TSDP-C8,picture,as-coded,,not testable,,,,0,10,not testable,paper,needs T = 1e9\n"
    )
    (folder / "simultaneous.csv").write_text(
        ",".join(SIMULTANEOUS_COLUMNS) + "\n"
        "TSDP-C1,as-written,,holds,holds,exact,,,,96.7,96.7,96.7,0,epsilon,<1\n"
        "TSDP-C3,as-written,accounting=lemma5,fails,fails,exact,,,,1,1,1,0,eta,<1\n"
        "TSDP-C8,as-written,b_grid=main,holds,undecided,only at its own level,0.05,"
        "0.0002,,0,0,1,400,a|b,\n"
        "TSDP-C8,repaired,b_grid=main,not contradicted,not contradicted,yes,0.05,"
        "0.0002,1e-5,0.1,-1,1,400,loss,<0\n"
        "TSDP-C8,as-coded,,not testable,not testable,-,,,,,,,0,,\n"
    )
    (folder / "findings.csv").write_text(
        ",".join(LEDGER_COLUMNS) + "\nTSDP-F1,finding,as-written,,shown,2,2,2,0,0,shown,paper,\n"
    )
    (folder / "evidence.csv").write_text(
        "claim,variant,interpretation,part,comparison,estimate,lo,hi\n"
        "TSDP-F1,as-written,,,ratio,2.345,2.345,2.345\n"
    )
    return Project.load(tmp_path)


def section(page: str, heading: str) -> str:
    """Return what is below a heading, up to the next heading of its level or above."""
    level = heading.partition(" ")[0]
    return re.split(rf"\n#{{1,{len(level)}}} ", page.partition(f"\n{heading}\n")[2])[0]


def test_it_counts_verdicts_and_what_is_the_same_family_wise(project: Project) -> None:
    page = claims_page(project)
    # The row of the variant repaired is not counted here.
    assert "| [`ts-is-dp`](#ts-is-dp) | 3 | 4 | 2 | 1 | 0 | 0 | 0 | 1 | 0 | 2 | 0 | 1 |" in page
    assert "The 3 claims have 5 verdicts, of which 2 depend on chance " in page
    assert "at most 0.1 verdicts are expected to be wrong." in page
    assert f"as the family, 5 % / 3 = {0.05 / 3:.2g} a claim, " in page


def test_each_claim_has_its_rule_and_each_row_what_was_measured(project: Project) -> None:
    page = section(claims_page(project), "## ts-is-dp")
    entry = page.partition('<a id="tsdp-c8"></a>')[2].partition("\n")[0]
    [claim] = [each for each in project.study("ts-is-dp").claims if each.id == "TSDP-C8"]
    assert entry.startswith("TSDP-C8 (picture) ")
    assert f"Decided by: {' '.join(claim.rule.split())}" in entry
    assert f"[{claim.figures[0]}](figures/ts-is-dp/{claim.figures[0]}.png)" in entry
    assert "| as-written, b_grid=main: **holds**, 0.25 [0.125, 0.5]<br>" in entry
    assert "<br>as-coded: **not testable**, needs T = 1e9 |" in entry
    assert "repaired" not in entry


def test_rows_of_the_least_repair_have_a_table_of_their_own(project: Project) -> None:
    page = section(claims_page(project), "### What survives the least correction, ts-is-dp")
    row = "| [TSDP-C8](claims.md#tsdp-c8) | b_grid=main | not contradicted, 0.1 [-1, 1] |"
    assert row in page
    assert page.count("TSDP-C8") == 1


PAPERS_OWN = {"BAI-C19"}
"""Claims on numbers that the paper prints, which their rules compare with."""


def test_a_threshold_of_ours_is_named_in_the_row_of_its_claim() -> None:
    """But for 0, 1 and rounding next to them; an identity has the paper's number."""
    project = Project.load(ROOT)
    exempt = ("identity", "no_counterexample")
    for paper in project.papers:
        for claim in project.study(paper).claims:
            deciding = [each for each in claim.comparisons if each.decides]
            ends = [
                end
                for each in deciding
                if each.kind not in exempt
                for end in (each.region.low, each.region.high)
                if math.isfinite(end) and min(abs(end), abs(end - 1.0)) > 1e-5
            ]
            if ends and claim.id not in PAPERS_OWN:
                assert re.search(r"\bours\b|\bour\b", f"{claim.rule} {claim.scope}"), claim.id


def test_findings_are_apart_from_claims_with_their_numbers(project: Project) -> None:
    page = claims_page(project)
    found = section(page, "### Findings on ts-is-dp")
    assert "**TSDP-F1, A ratio** (Lemma 4; shown). It is 2.35 times as large." in found
    assert "Beside [TSDP-C8](claims.md#tsdp-c8). [fig3](figures/ts-is-dp/fig3.png)" in found
    assert "TSDP-F1" not in section(page, "## ts-is-dp").partition("### Findings")[0]


def test_a_finding_names_published_numbers_only(project: Project) -> None:
    path = project.folder / "docs/figures/ts-is-dp/evidence.csv"
    path.write_text(path.read_text().replace("TSDP-F1", "TSDP-F2"))
    with pytest.raises(InputError, match=r"findings.TSDP-F1.numbers.ratio: 0 rows of .* are meant"):
        claims_page(project)


def test_it_is_written_again_to_the_same_text(project: Project) -> None:
    page = claims_page(project)
    assert claims_page(project) == page
    folder = project.folder / "docs/figures/ts-is-dp"
    for name in ("claims", "simultaneous"):
        path = folder / f"{name}.csv"
        path.write_text(path.read_text().replace("as-written,,holds", "as-written,,fails"))
    assert claims_page(project) != page


def test_no_verdict_depends_on_its_level(project: Project) -> None:
    both = project.folder / "docs/figures/ts-is-dp/simultaneous.csv"
    frame = pd.read_csv(both, keep_default_na=False, dtype=str)
    frame["family_wise"] = frame["family_wise"].replace("only at its own level", "yes")
    both.write_text(frame.to_csv(index=False))
    page = claims_page(project)
    assert re.search(r"own level:\n\nThere is none\.\n", page)


def test_the_page_of_claims_has_every_claim_and_every_interpretation() -> None:
    project = Project.load(ROOT)
    text = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| <a id=\"[a-z0-9-]+\"></a>([A-Z]+-C\d+[a-z]?) \(", text, re.MULTILINE)
    claims = [claim for paper in PAPERS for claim in project.study(paper).claims]
    assert shown == [claim.id for claim in claims]
    rows = re.findall(r"(?:\| |<br>)(?:as-written|as-coded|repaired)[^|<]*: \*\*", text)
    # Rows of the least repair have a table of their own.
    variants = [each.variant for claim in claims for each in claim.interpretations]
    assert len(rows) == sum(variant != "repaired" for variant in variants)
