"""The errata: numbers come from published files, and whatever is wrong is said in one line."""

import copy
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpbandits.pages.contents import Contents, load_errata
from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from support import refused

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project.load(ROOT)
ENTRIES = {paper: load_errata(PROJECT, paper) for paper in PAPERS}

EVIDENCE = """claim,variant,interpretation,part,comparison,estimate,lo,hi
TSDP-C3,as-written,accounting=lemma4,,GDP parameter,223.6068,223.6068,223.6068
TSDP-C3,as-written,accounting=lemma5,,GDP parameter,316.22777,310,320
"""
TABLE = """horizon,eta,coded,coded_lo,coded_hi
10000,12.5,0.25,0.125,0.5
20000,13.5,,,
"""
ENTRY: dict[str, Any] = {
    "place": "Lemma 4",
    "kind": "error",
    "printed": "Two | bounds.",
    "found": "They are {one}, {two}, {three} and {four}.",
    "taken": "One of them.",
    "numbers": {
        "one": {
            "claim": "TSDP-C3",
            "interpretation": "accounting=lemma4",
            "comparison": "GDP parameter",
            "format": ".1f",
        },
        "two": {
            "claim": "TSDP-C3",
            "interpretation": "accounting=lemma5",
            "comparison": "GDP parameter",
        },
        "three": {"file": "table.csv", "where": {"horizon": 1.0e4}, "column": "eta"},
        "four": {"file": "table.csv", "where": {"horizon": 10000}, "column": "coded"},
    },
}


def found(project: Project) -> str:
    """Return what is computed of the one entry."""
    [entry] = Contents(project, ("ts-is-dp",)).errata["ts-is-dp"]
    return str(entry["found"])


def project_with(folder: Path, change: Callable[[dict[str, Any]], object]) -> Project:
    """A project with one entry, changed, and published numbers for it."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, folder / part)
    entry = copy.deepcopy(ENTRY)
    change(entry)
    (folder / "config/papers/ts-is-dp/errata.yaml").write_text(
        yaml.safe_dump({"paper": "ts-is-dp", "errata": {"TSDP-E1": entry}}, sort_keys=False)
    )
    (folder / "docs/figures/ts-is-dp").mkdir(parents=True)
    (folder / "docs/figures/ts-is-dp/evidence.csv").write_text(EVIDENCE)
    (folder / "docs/table.csv").write_text(TABLE)
    return Project.load(folder)


def test_published_numbers_are_filled_in_with_their_intervals(tmp_path: Path) -> None:
    text = found(project_with(tmp_path, lambda entry: None))
    assert text == "They are 223.6, 316.2 [310, 320], 12.5 and 0.25 [0.125, 0.5]."


def test_another_number_gives_another_page(tmp_path: Path) -> None:
    project = project_with(tmp_path, lambda entry: None)
    text = found(project)
    (tmp_path / "docs/table.csv").write_text(TABLE.replace("12.5", "12.6"))
    assert found(project) == text.replace(", 12.5 and", ", 12.6 and")


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
def test_whatever_is_wrong_is_said_in_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: list[str]
) -> None:
    project = project_with(tmp_path, change)
    refused(lambda: found(project), "papers/ts-is-dp/errata.yaml", *words)


def test_every_claim_and_interpretation_that_an_entry_names_is_in_the_ledger() -> None:
    rows = {
        (claim.id, interpretation.variant, interpretation.label)
        for paper in PAPERS
        for claim in PROJECT.study(paper).stated
        for interpretation in claim.interpretations
    }
    for paper, entries in ENTRIES.items():
        for name, entry in entries.items():
            for number in entry.numbers.values():
                if number.claim:
                    row = (number.claim, number.variant, number.interpretation)
                    assert row in rows, (paper, name, row)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_computed_number_is_typed(paper: str) -> None:
    """A decimal in the words around the numbers is that of a theorem, a setting or a quotation."""
    allowed = {
        "4.1",
        "4.4",
        "4.6",
        "5.1",
        "0.01",
        "0.1",
        "0.2",
        "0.38",
        "0.42",
        "0.5",
        "0.9",
        "0.970",
        "1.1",
        "1.15",
        "1.18",
        "60.46",
    }
    for name, entry in ENTRIES[paper].items():
        quoted = set(re.findall(r"\d+\.\d+", f"{entry.printed} {entry.place}"))
        typed = set(re.findall(r"\d+\.\d+", entry.found))
        assert typed <= quoted | allowed, name


def test_every_paper_has_errata() -> None:
    assert all(ENTRIES.values())
