"""What is published belongs to the sources beside it, and the documents to what is published."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from dpbandits.pages.documents import DOCUMENTS, REGIONS, document
from dpbandits.pipeline.project import FIGURES, TABLES, Project
from dpbandits.pipeline.publish import (
    FINGERPRINTS,
    current_fingerprints,
    published_targets,
)
from dpbandits.pipeline.targets import TABLE, Target
from found_papers import COMPARISONS, PAPERS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Project.load(ROOT)
TARGETS = published_targets(PROJECT)


def published_of(paper: str) -> list[Target]:
    return [target for target in TARGETS if target.paper == paper]


@pytest.mark.release
@pytest.mark.parametrize("paper", [*PAPERS, *COMPARISONS])
def test_sources_and_published_copies_agree(paper: str) -> None:
    """Where this fails: `make publish` builds what changed and copies it."""
    published = json.loads((ROOT / FIGURES / paper / FINGERPRINTS).read_text())
    assert published == current_fingerprints(published_of(paper))


@pytest.mark.parametrize("paper", [*PAPERS, *COMPARISONS])
def test_every_panel_is_published_and_nothing_else(paper: str) -> None:
    names = [path.name for each in published_of(paper) if each.kind != TABLE for path in each.files]
    expected = {name for name in names if not name.endswith(".pdf")} | {FINGERPRINTS}
    assert {path.name for path in (ROOT / FIGURES / paper).iterdir()} == expected
    names = [path.name for each in published_of(paper) if each.kind == TABLE for path in each.files]
    expected = {name for name in names if name.endswith((".tex", ".csv"))}
    assert {path.name for path in (ROOT / TABLES / paper).iterdir()} == expected


@pytest.mark.parametrize("paper", PAPERS)
def test_published_claims_are_at_paper_scale_and_mostly_decided(paper: str) -> None:
    ledger = pd.read_csv(ROOT / FIGURES / paper / "claims.csv", keep_default_na=False)
    assert set(ledger["scale"]) == {"paper"}
    assert set(ledger["claim"]) == {claim.id for claim in PROJECT.study(paper).claims}
    is_undecided = ledger["verdict"] == "undecided"
    unmeasured = ledger["detail"].str.contains("no number was measured")
    assert set(ledger["claim"][unmeasured]) <= set(ledger["claim"][~is_undecided])
    undecided = ledger[is_undecided & ~unmeasured]
    assert undecided["claim"].nunique() <= 3
    assert undecided["detail"].str.contains("runs would decide it").all()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_show_what_is_published(name: str) -> None:
    """Where this fails: `dpbandits publish` writes what is computed in them anew."""
    assert document(PROJECT, name) == (ROOT / name).read_text(encoding="utf-8")


def test_the_ledger_of_all_papers_has_every_claim_and_every_interpretation() -> None:
    text = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    shown = re.findall(
        r"^\| <a id=\"[a-z0-9-]+\"></a>([A-Z]+-C[0-9]+[a-z]?) \(", text, re.MULTILINE
    )
    claims = [claim for paper in PAPERS for claim in PROJECT.study(paper).claims]
    assert shown == [claim.id for claim in claims]
    rows = re.findall(r"(?:\| |<br>)(?:as-written|as-coded|repaired)[^|<]*: \*\*", text)
    # Rows of the least repair have a table of their own.
    of_papers = [
        each for claim in claims for each in claim.interpretations if each.variant != "repaired"
    ]
    assert len(rows) == len(of_papers)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_verdict_is_a_word_that_its_claim_may_end_in(paper: str) -> None:
    ledger = pd.read_csv(ROOT / FIGURES / paper / "claims.csv", keep_default_na=False)
    words = {
        (claim.id, interpretation.variant, interpretation.label): claim.words(interpretation)
        for claim in PROJECT.study(paper).claims
        for interpretation in claim.interpretations
    }
    for row in ledger.to_dict("records"):
        allowed = words[row["claim"], row["variant"], row["interpretation"]]
        assert row["verdict"] in {*allowed, "undecided", "not testable", "not applicable"}, row


@pytest.mark.parametrize("paper", PAPERS)
def test_no_order_and_no_composition_bound_accuses_a_paper(paper: str) -> None:
    """An order leaves constants open; an upper bound above a claim refutes at most its proof."""
    ledger = pd.read_csv(ROOT / FIGURES / paper / "claims.csv", keep_default_na=False)
    evidence = pd.read_csv(ROOT / FIGURES / paper / "evidence.csv", keep_default_na=False)
    accused = set(ledger.loc[ledger["verdict"] == "fails", "claim"])
    orders = {claim.id for claim in PROJECT.study(paper).claims if claim.kind == "order"}
    assert not accused & orders
    composed = evidence["comparison"].str.contains("compos")
    against = composed & (evidence["decided"] == "against") & ~evidence["exploratory"]
    assert not accused & set(evidence.loc[against, "claim"])


def test_a_family_wise_verdict_is_never_the_opposite_of_the_one_at_its_own_level() -> None:
    for paper in PAPERS:
        both = pd.read_csv(ROOT / FIGURES / paper / "simultaneous.csv", keep_default_na=False)
        pairs = set(zip(both["verdict"], both["verdict_in_family"], strict=True))
        assert not pairs & {("holds", "fails"), ("fails", "holds"), ("undecided", "holds")}
        assert set(both["family_wise"]) <= {"exact", "yes", "only at its own level", "-"}


def test_a_perturbed_verdict_would_not_pass_for_the_published_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    changed = readme.replace("**holds**", "**fails**", 1)
    assert changed != readme
    assert REGIONS["README.md"](PROJECT, changed) == readme
