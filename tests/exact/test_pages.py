"""The page of a table: cells as they are, few values to choose from, nothing from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from chromium import SET, chromium_page
from dpbandits.reporting.report import MOST_CHOICES, page

CELLS = pd.DataFrame(
    {
        "claim": [f"X-C{number}" for number in range(1, 13)],
        "statement": ['1 < 2 & "so" <b>on</b>', *["ε ≤ 1"] * 11],
        "verdict": ["holds", "fails", "mixed", ""] * 3,
    }
)


class Reader(HTMLParser):
    """Collects the cells of a page's table and the options of its filters."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"th": [], "td": [], "option": []}
        self.columns: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        if tag in self.texts:
            self.texts[tag].append("")
        if tag == "select":
            self.columns.append(dict(attrs)["data-column"] or "")

    def handle_data(self, data: str) -> None:
        if self._open in self.texts:
            self.texts[self._open][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


def test_cells_stand_in_the_page_as_they_are() -> None:
    reader = Reader(page(CELLS, "all claims", "Of <all> papers."))
    assert reader.texts["th"] == list(CELLS.columns)
    assert reader.texts["td"] == [cell for row in CELLS.to_numpy().tolist() for cell in row]


def test_columns_of_few_values_are_chosen_from() -> None:
    reader = Reader(page(CELLS, "all claims", "Of all papers."))
    assert reader.columns == ["1", "2"], "each claim stands once: nothing to choose"
    assert reader.texts["option"][-4:] == ["all", "fails", "holds", "mixed"]
    rows = 4 * (MOST_CHOICES + 1)
    many = pd.DataFrame({"n": [str(row % (MOST_CHOICES + 1)) for row in range(rows)]})
    assert Reader(page(many, "many", "Too many values to choose from.")).columns == []


def test_a_page_needs_no_network() -> None:
    text = page(CELLS, "all claims", "Of all papers.")
    assert not re.search(r"(?:src|href|@import|url\()\s*=?", text)


def test_rows_are_found_by_words_and_by_values(tmp_path: Path) -> None:
    opened = tmp_path / "page.html"
    opened.write_text(page(CELLS, "all claims", "Of all papers."), encoding="utf-8")
    shown = (
        "[...document.querySelectorAll('tbody tr:not([hidden])')].map((r) => r.cells[0].innerText)"
    )
    with chromium_page() as browser:
        browser.open(opened.as_uri())
        assert browser.run(shown) == list(CELLS["claim"])
        browser.run(SET.format(place="#words", value="≤  x-c1"))
        assert browser.run(shown) == ["X-C10", "X-C11", "X-C12"], "the first has no such sign"
        browser.run(SET.format(place="select[data-column='2']", value="mixed"))
        assert browser.run(shown) == ["X-C11"]
        assert browser.run("document.querySelector('#shown').innerText") == "1 of 12 rows"
        browser.run(SET.format(place="#words", value="no such words"))
        assert browser.run(shown) == []
        assert browser.errors == []
