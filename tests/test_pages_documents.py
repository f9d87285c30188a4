"""The documents: complete, linked, plain, and no more than the published numbers say.

Measured are ``README.md``, ``docs/*.md`` and the pages of the papers, which have the texts of the
config; ``test_pages_site.py`` measures the site.
"""

import copy
import math
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpbandits.errors import InputError
from dpbandits.pages.contents import Contents, load_errata
from dpbandits.pages.documents import documents, paper_page
from dpbandits.pages.published import read_table, with_region
from dpbandits.pages.verdicts import ANSWERS, counted
from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from invented import copy_parts
from site_pages import unplain, words
from support import DOCUMENTS, ROOT, refused

PROJECT = Project.load(ROOT)
CONTENTS = Contents.of(PROJECT)
PAGES = {paper: f"docs/papers/{paper}.md" for paper in PAPERS}
ERRATA = {paper: load_errata(PROJECT, paper) for paper in PAPERS}
WRITTEN = [name for name in DOCUMENTS if name == "README.md" or name.startswith("docs/")]


@cache
def made() -> dict[str, str]:
    """Return the documents, made from the present results."""
    return documents(CONTENTS)


# Complete


def test_verdicts_that_are_the_same_in_the_family_are_counted_from_the_tables() -> None:
    """One that is undecided at both levels is the same at both."""
    files = [ROOT / f"docs/figures/{paper}/simultaneous.csv" for paper in PAPERS]
    rows = pd.concat([pd.read_csv(path) for path in files]).query("level.notna()")
    same = int((rows["verdict"] == rows["verdict_in_family"]).sum())
    assert rows["verdict"].eq("undecided").any()
    assert f"Then {same} of {len(rows)} verdicts are the same." in made()["docs/claims.md"]


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_and_indices_have_every_claim_finding_erratum_and_figure_once(paper: str) -> None:
    study = PROJECT.study(paper)
    stated, errata = [entry.id for entry in study.stated], list(ERRATA[paper])
    stems = [stem for figure in study.figures.values() for stem in figure.stems]
    assert errata or not study.config_path("errata").exists()
    index, of_errata = (made()[f"docs/{name}.md"] for name in ("claims", "errata"))
    names = [*stated, *errata, *study.notes.withdrawn, *stems]
    for page, anchors in ((made()[PAGES[paper]], names), (index, stated), (of_errata, errata)):
        for name in anchors:
            assert page.count(f'<a id="{name.lower()}"></a>') == 1, name
    assert made()["docs/gallery.md"].count(f"\n## {paper}\n") == 1


def test_an_answer_says_what_the_ledger_says_and_no_more() -> None:
    rows = CONTENTS.ledger
    rows = rows[(rows["verdict"] != "not applicable") & (rows["variant"] != "repaired")]
    for claim, judged in rows.groupby("claim"):
        begins = [each.partition(":")[0] for each in CONTENTS.claims[str(claim)]["answer"]]
        pairs = judged.groupby(["variant", "verdict"], sort=False)
        assert len(begins) == len(pairs), claim
        for begin, ((variant, verdict), chosen) in zip(begins, pairs, strict=True):
            assert begin.startswith(ANSWERS[verdict]), claim
            is_part = len(chosen) < (judged["variant"] == variant).sum()
            of_paper = chosen[["paper", "interpretation"]].itertuples(index=False, name=None)
            named = [words for each in of_paper if is_part and (words := CONTENTS.in_words(*each))]
            assert all(words in begin for words in named)
            many = f", in each of {len(chosen)} interpretations" in begin
            assert many == (len(chosen) > 1 and not named), claim


def test_an_answer_names_the_points_that_it_leaves_open() -> None:
    """A claim about most points holds with some of them undecided."""
    rows = CONTENTS.ledger
    rows = rows[(rows["verdict"] == "holds") & rows["detail"].str.contains("; undecided: ")]
    assert not rows.empty
    for row in rows.to_dict("records"):
        [answer] = CONTENTS.claims[row["claim"]]["answer"]
        for label in row["detail"].partition("; undecided: ")[2].split("], "):
            assert f"{label.removesuffix(']')}] (" in answer.partition("; open, of ")[2]


def test_a_number_is_shown_with_the_name_of_its_own_comparison() -> None:
    """That of a reported quantity is not compared with the threshold of another."""
    rows = [row for claim in CONTENTS.claims.values() for row in claim["rows"]]
    reported = [row for row in rows if "number shown: " in row["detail"]]
    assert reported
    assert {row["asked"] for row in reported} == {""}


def test_every_interpretation_has_its_words() -> None:
    labels = CONTENTS.evidence[["claim", "interpretation"]].drop_duplicates()
    of_claim = dict(CONTENTS.ledger[["claim", "paper"]].itertuples(index=False))
    for claim, label in labels.itertuples(index=False):
        if label and claim in of_claim:
            known = PROJECT.papers[of_claim[claim]].interpretations
            assert set(re.split(r",(?=[a-z_]+=)", label)) <= set(known), (claim, label)


OF_WHOM = r"\b(chosen here|we chose|the (paper|statement)'s own)\b"
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
                said = re.search(OF_WHOM, f"{claim.rule} {claim.scope}")
                assert said, f"{claim.id}: its rule lacks 'chosen here' or 'the paper's own'"


def test_a_missing_number_of_a_finding_gives_no_page(tmp_path: Path) -> None:
    folder = copy_parts(tmp_path, "config", "workflow", "docs") / "docs/figures/ts-is-dp"
    path = folder / "findings-evidence.csv"
    path.write_text(path.read_text().replace("TSDP-F7", "TSDP-F6"))
    with pytest.raises(InputError, match=r"findings\.TSDP-F\d+.* are meant"):
        paper_page(Contents.of(Project.load(tmp_path)), "ts-is-dp")
    # The site of a draft shows claims before its findings are judged.
    for name in ("findings", "findings-evidence"):
        (folder / f"{name}.csv").unlink()
    early = Contents(Project.load(tmp_path), ("ts-is-dp",), "later")
    for finding in early.findings["ts-is-dp"]:
        assert ": not judged yet (" in finding["said"]
        assert finding["outcome"] == ""


def test_no_reduced_paper_counts_as_checked_at_its_own_horizons(tmp_path: Path) -> None:
    about = copy_parts(tmp_path, "config", "docs") / "config/papers/dp-ncb/paper.yaml"
    about.write_text(about.read_text() + "reduced: Horizons are a tenth of the paper's.\n")
    reduced = {paper for paper in PAPERS if PROJECT.papers[paper].reduced} | {"dp-ncb"}
    ledger = CONTENTS.ledger
    size = sum(
        sum(counted(ledger[ledger["paper"] == each], "as-written").values()) for each in reduced
    )
    text = Contents.of(Project.load(tmp_path)).headline
    assert f"checked, {size} of them at a smaller scale, with" in text


def test_counts_under_a_picture_name_the_variant_that_drew_it() -> None:
    """The published figures of dp-ncb are those of its code; all others are as written."""
    strip = next(line for line in made()["README.md"].splitlines() if "`, Figure " in line)
    labelled = {
        cell.split("`")[1]: "(as coded: " in cell for cell in strip.strip("| ").split(" | ")
    }
    assert labelled == {paper: paper == "dp-ncb" for paper in PAPERS}
    assert "(docs/figures/dp-ncb/fig1b.png)" in made()["README.md"]


def test_no_claim_and_a_single_one_are_counted_in_words() -> None:
    """As of a draft whose claims are not applicable as written."""
    for size, said in (
        (0, "0 claims of the papers were checked, with"),
        (1, "1 claim of the papers"),
    ):
        few = Contents(PROJECT, ())
        vars(few)["ledger"] = CONTENTS.ledger[:size]
        assert few.headline.startswith(said)
        assert ("Of these" in few.headline) == (size > 0)


def test_a_region_without_its_marks_is_refused() -> None:
    marks = "<!-- begin one -->\nold\n<!-- end one -->"
    whole = f"head\n{marks}\nrest"
    assert with_region(whole, "one", "new") == whole.replace("old", "new")
    for text in ("# Errata\n", marks + marks):
        with pytest.raises(InputError, match=r"marks <!-- begin one --> .* are missing or double"):
            with_region(text, "one", "new")


def test_an_empty_column_of_a_table_has_texts(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b\n1,\n2,\n")
    assert read_table(tmp_path / "one.csv")["b"].tolist() == ["", ""]


# Numbers in texts, by the errata


EVIDENCE = """claim,variant,interpretation,part,comparison,estimate,lo,hi
TSDP-C3,as-written,accounting=lemma4,,GDP parameter,223.6068,223.6068,223.6068
TSDP-C3,as-written,accounting=lemma5,,GDP parameter,316.22777,310,320
"""
TABLE = """horizon,eta,coded,coded_lo,coded_hi
10000,12.5,0.25,0.125,0.5
20000,13.5,,,
"""
COMPARED = {"claim": "TSDP-C3", "comparison": "GDP parameter"}
ENTRY: dict[str, Any] = {
    "place": "Lemma 4",
    "kind": "error",
    "printed": "Two | bounds.",
    "found": "They are {one}, {two}, {three} and {four}.",
    "taken": "One of them.",
    "numbers": {
        "one": {**COMPARED, "interpretation": "accounting=lemma4", "format": ".1f"},
        "two": {**COMPARED, "interpretation": "accounting=lemma5"},
        "three": {"file": "table.csv", "where": {"horizon": 1.0e4}, "column": "eta"},
        "four": {"file": "table.csv", "where": {"horizon": 10000}, "column": "coded"},
    },
}


def computed(project: Project) -> str:
    """Return what is computed of the one entry."""
    [entry] = Contents(project, ("ts-is-dp",)).errata["ts-is-dp"]
    return str(entry["found"])


def project_with(folder: Path, change: Callable[[dict[str, Any]], object]) -> Project:
    """A project with one entry, changed, and published numbers for it."""
    entry = copy.deepcopy(ENTRY)
    change(entry)
    errata = {"paper": "ts-is-dp", "errata": {"TSDP-E1": entry}}
    path = copy_parts(folder, "config", "workflow") / "config/papers/ts-is-dp/errata.yaml"
    path.write_text(yaml.safe_dump(errata, sort_keys=False))
    (folder / "docs/figures/ts-is-dp").mkdir(parents=True)
    (folder / "docs/figures/ts-is-dp/evidence.csv").write_text(EVIDENCE)
    (folder / "docs/table.csv").write_text(TABLE)
    return Project.load(folder)


def test_published_numbers_are_filled_in_with_their_intervals(tmp_path: Path) -> None:
    project = project_with(tmp_path, lambda entry: None)
    assert computed(project) == "They are 223.6, 316.2 [310, 320], 12.5 and 0.25 [0.125, 0.5]."
    (tmp_path / "docs/table.csv").write_text(TABLE.replace("12.5", "12.6"))
    assert ", 12.6 and" in computed(project)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e.update(kind="typo"), ["kind is 'typo'", "'error', 'proof', 'code'"]),
        (lambda e: e["numbers"]["one"].pop("claim"), ["one: key claim is missing"]),
        (lambda e: e.update(found="They are {five}."), ["the text asks for 'five'", "one, two"]),
        (lambda e: e.update(found="They are {one}."), ["the text leaves out two, three, four"]),
        (lambda e: e["numbers"]["one"].update(interpretation="x"), ["0 rows", "allowed: one"]),
        (lambda e: e["numbers"]["three"].update(where={"eta": 1}), ["0 rows", "allowed: one"]),
        (lambda e: e["numbers"]["three"].update(column="b"), ["has no b", "horizon, eta"]),
        (lambda e: e["numbers"]["three"].update(file="none.csv"), ["none.csv is not there"]),
    ],
)
def test_a_wrong_number_is_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: list[str]
) -> None:
    project = project_with(tmp_path, change)
    refused(lambda: computed(project), "papers/ts-is-dp/errata.yaml", *words)


TYPED = "4.1 4.4 4.6 5.1 0.01 0.1 0.2 0.38 0.42 0.5 0.9 0.970 1.1 1.15 1.18 60.46"
"""Decimals of theorems and settings."""


@pytest.mark.parametrize("paper", PAPERS)
def test_no_computed_number_is_typed(paper: str) -> None:
    """A decimal in the words around the numbers is that of a theorem, a setting or a quotation."""
    for name, entry in ERRATA[paper].items():
        quoted = re.findall(r"\d+\.\d+", f"{entry.printed} {entry.place}")
        typed = set(re.findall(r"\d+\.\d+", entry.found))
        assert typed <= {*quoted, *TYPED.split()}, name


# Plain


@pytest.mark.parametrize("name", [*WRITTEN, *PAGES.values()])
def test_sentences_are_short_and_words_that_were_replaced_gone(name: str) -> None:
    assert unplain(DOCUMENTS.get(name) or made()[name]) == []


def test_the_readme_is_one_screen_and_says_what_the_package_is() -> None:
    text = DOCUMENTS["README.md"]
    assert len(text.splitlines()) <= 120
    # Of each paper a picture, a row and a sentence.
    assert len(text.split()) <= 620 + 70 * len(PAPERS)
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert package["requires-python"] == ">=3.11"
    assert package["license"] == "MIT"
    assert f"Version {package['version']}, Python 3.11 to 3.13, MIT licence." in text


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_is_summed_up_in_few_words(paper: str) -> None:
    assert words(PROJECT.study(paper).summary().sentence) <= 35


def test_whether_values_were_digitised_is_read_off_them(tmp_path: Path) -> None:
    """A table of them is not asked for, and who has none was not compared, by eye or otherwise."""
    copy_parts(tmp_path, "config", "workflow", "docs/figures/dp-ncb/digitised.csv")
    contents = Contents(Project.load(tmp_path), ("ts-is-dp", "dp-ncb"))
    assert contents.reproduced("dp-ncb", "fig1b").endswith(" of 40 digitised values")
    assert contents.reproduced("ts-is-dp") == ""
    for paper, has_values in (("dp-ncb", True), ("ts-is-dp", False)):
        page = " ".join(made()[PAGES[paper]].split())
        assert ("As drawn: " in page) == has_values
        assert ("We have not compared the two, because [no values of it" in page) != has_values
        assert "by eye" not in page
