"""The pages of the papers and the indices: complete, linked, and no more than the ledger says."""

import math
import re
import shutil
from pathlib import Path

import pytest

from dpbandits.errors import InputError
from dpbandits.pages.contents import Contents
from dpbandits.pages.documents import document, gallery_page, paper_page
from dpbandits.pages.figures import head_of
from dpbandits.pages.verdicts import ANSWERS, MEANINGS, counted
from dpbandits.pipeline.project import Project
from found_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project.load(ROOT)
CONTENTS = Contents.of(PROJECT)
PAGES = {paper: paper_page(CONTENTS, paper) for paper in PAPERS}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_every_claim_finding_erratum_and_figure_once(paper: str) -> None:
    study = PROJECT.study(paper)
    entries = [*study.stated, *CONTENTS.errata[paper]]
    names = [each["id"] if isinstance(each, dict) else each.id for each in entries]
    stems = [stem for figure in study.figures.values() for stem in figure.stems]
    for name in [*names, *study.notes.withdrawn, *stems]:
        assert PAGES[paper].count(f'<a id="{name.lower()}"></a>') == 1, name


@pytest.mark.parametrize("paper", PAPERS)
def test_the_indices_have_the_anchors_of_before(paper: str) -> None:
    study = PROJECT.study(paper)
    index, errata = (document(PROJECT, f"docs/{name}.md") for name in ("claims", "errata"))
    for claim in study.stated:
        assert index.count(f'<a id="{claim.id.lower()}"></a>') == 1
    for entry in CONTENTS.errata[paper]:
        assert errata.count(f'<a id="{entry["id"].lower()}"></a>') == 1
    assert gallery_page(PROJECT).count(f"\n## {paper}\n") == 1


def test_an_answer_says_what_the_ledger_says_and_no_more() -> None:
    for claim in CONTENTS.claims.values():
        judged = [
            row
            for row in claim["rows"]
            if row["verdict"] != "not applicable" and row["variant"] != "repaired"
        ]
        pairs = dict.fromkeys((row["variant"], row["verdict"]) for row in judged)
        begins = [sentence.partition(":")[0] for sentence in claim["answer"]]
        assert len(begins) == len(pairs), claim["id"]
        for begin, (_, verdict) in zip(begins, pairs, strict=True):
            assert begin.startswith(ANSWERS[verdict]), claim["id"]
            assert verdict in MEANINGS


def test_a_number_is_shown_with_the_name_of_its_own_comparison() -> None:
    """That of a reported quantity is not compared with the threshold of another."""
    rows = [row for claim in CONTENTS.claims.values() for row in claim["rows"]]
    reported = [row for row in rows if "number shown: " in row["detail"]]
    assert reported
    for row in reported:
        assert row["asked"] == "", row["claim"]


def test_every_interpretation_has_its_words() -> None:
    labels = CONTENTS.evidence[["claim", "interpretation"]].drop_duplicates()
    of_claim = dict(CONTENTS.ledger[["claim", "paper"]].itertuples(index=False))
    for claim, label in labels.itertuples(index=False):
        if label and claim in of_claim:
            words = PROJECT.papers[of_claim[claim]].interpretations
            assert set(re.split(r",(?=[a-z_]+=)", label)) <= set(words), (claim, label)


PAPERS_OWN = {"BAI-C19"}
"""Claims on numbers that the paper prints, which their rules compare with."""


def test_a_threshold_that_is_not_the_papers_is_named_in_the_row_of_its_claim() -> None:
    """But for 0, 1 and rounding next to them; an identity has the paper's number."""
    exempt = ("identity", "no_counterexample")
    for paper in PAPERS:
        for claim in PROJECT.study(paper).claims:
            ends = [
                end
                for each in claim.comparisons.values()
                if each.decides and each.kind not in exempt
                for end in (each.region.low, each.region.high)
                if math.isfinite(end) and min(abs(end), abs(end - 1.0)) > 1e-5
            ]
            if ends and claim.id not in PAPERS_OWN:
                assert re.search(r"\bchosen here\b", f"{claim.rule} {claim.scope}"), claim.id


def test_another_verdict_gives_another_page_and_a_missing_number_none(tmp_path: Path) -> None:
    for part in ("config", "workflow", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part)
    folder = tmp_path / "docs/figures/ts-is-dp"
    for name in ("claims", "simultaneous"):
        path = folder / f"{name}.csv"
        path.write_text(path.read_text().replace(",as-written,,holds", ",as-written,,fails"))
    changed = Contents.of(Project.load(tmp_path))
    assert paper_page(changed, "ts-is-dp") != PAGES["ts-is-dp"]
    path = folder / "findings-evidence.csv"
    path.write_text(path.read_text().replace("TSDP-F7", "TSDP-F6"))
    with pytest.raises(InputError, match=r"findings\.TSDP-F\d+.* are meant"):
        paper_page(Contents.of(Project.load(tmp_path)), "ts-is-dp")


def test_no_reduced_paper_counts_as_checked_at_its_own_horizons(tmp_path: Path) -> None:
    for part in ("config", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part)
    about = tmp_path / "config/papers/dp-ncb/paper.yaml"
    about.write_text(about.read_text() + "reduced: Horizons are a tenth of the paper's.\n")
    size = sum(
        counted(CONTENTS.ledger[CONTENTS.ledger["paper"] == "dp-ncb"], "as-written").values()
    )
    text = Contents.of(Project.load(tmp_path)).headline
    assert f"checked, {size} of them at a smaller scale, with" in text


@pytest.mark.parametrize(
    ("stem", "head"),
    [
        ("fig1", "Figure 1"),
        ("fig12b", "Figure 12(b)"),
        ("fig1b-repaired", "Figure 1(b)"),
        ("extra-fig6-composition", "Fig6 composition"),
    ],
)
def test_heads(stem: str, head: str) -> None:
    assert head_of(stem) == head
