"""Texts: readable numbers, LaTeX, the typeset report, and the page of a table."""

import html
import re
import shutil
from math import inf, nan
from pathlib import Path

import pandas as pd
import pytest

from chromium import SET, chromium_page
from dpbandits.pipeline.report import DEPENDS, OUTCOMES, counts
from dpbandits.reporting.text import (
    MOST_CHOICES,
    body,
    document,
    escape,
    page,
    pdf_of,
    readable,
    require_pdflatex,
)
from dpbandits.text_tables import interval_text
from support import refused

needs_pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="pdflatex is not installed"
)


def test_text_is_escaped() -> None:
    for text, latex in [
        ("fig_a & 5 % {x} #1 $2", r"fig\_a \& 5 \% \{x\} \#1 \$2"),
        ("10^5 ~ \\", r"$10^{5}$ \textasciitilde{} \textbackslash{}"),
        ("δ ≤ 1", r"$\delta$ $\le$ 1"),
        ("η_b >= 1", r"$\eta_b$ $\ge$ 1"),
        ("x < b", "x $<$ b"),
        ("T^((1-α)/4) ln(T)^(3(1-α)/4)", r"$T^{(1-\alpha)/4}$ $\ln (T)^{3(1-\alpha)/4}$"),
        ("b and c of order T^γ, at T = 10⁴", r"b and c of order $T^{\gamma}$, at T = $10^{4}$"),
        ("$max i/(epsilon Delta_i)$.", r"$\max i/(\varepsilon \Delta_i)$."),
        ("$H_BAI < sqrt(2T)$", r"$H_{\mathrm{BAI}} < \sqrt{2T}$"),
        ("$none$", r"$\mathrm{none}$"),
        ("-0.5 [-1,000, 2.5e+06]", r"$-0.5$ [$-1{,}000$, $2.5\times 10^{6}$]"),
        ("lazy_ucb_log=natural, count=n+1", r"lazy\_ucb\_log=natural, count=n+1"),
        ("1- and 5-Gaussian DP, within [0, 1]", "1- and 5-Gaussian DP, within [0, 1]"),
        ("(epsilon, 1e-6", "(epsilon, $10^{-6}$"),
        ("Rényi", "Rényi"),
        ("two\nlines", "two lines"),
    ]:
        assert escape(text) == latex


def test_numbers_are_readable() -> None:
    for text, numbers in [
        ("1e-05", "10⁻⁵"),
        ("-2.5e+06 [-inf, 1e7]", "-2.5×10⁶ [-∞, 10⁷]"),
        ("+0.0000 [-0.0000, +0.0010]", "0.0000 [0.0000, +0.0010]"),
        ("0.05, 1,000, -0.5, +10", "0.05, 1,000, -0.5, +10"),
        ("fig1a", "1(a)"),
        ("fig1a is drawn", "fig1a is drawn"),
    ]:
        assert readable(text) == numbers


def test_an_estimate_has_its_interval_unless_it_is_exact() -> None:
    assert interval_text(0.53217, 0.5, 0.56) == "0.5322 [0.5, 0.56]"
    assert interval_text(4.88655, 4.88655, 4.88655) == "4.887"
    assert interval_text(nan, nan, nan) == ""
    assert interval_text(5.0, nan, nan) == "5"
    assert interval_text(12503.2, -inf, inf) == "1.25e+04 (no interval)"
    assert interval_text(2.0, -inf, 3.0, "{:.1f}".format) == "2.0 [-inf, 3.0]"


def test_a_claim_counts_once_under_what_its_rows_agree_on() -> None:
    rows = [("X-C1", "holds"), ("X-C1", "holds"), ("X-C2", "fails"), ("X-C3", "holds")]
    ledger = pd.DataFrame([*rows, ("X-C3", "fails")], columns=["claim", "verdict"])
    counted = counts("x", ledger)
    assert counted["total"] == 3
    named = {name: n for name, n in zip(OUTCOMES, counted["counts"], strict=True) if n}
    assert named == {"holds": 1, "fails": 1, DEPENDS: 1}


@pytest.mark.parametrize("long", [False, True])
def test_the_body_of_a_table_is_all_but_its_preamble(long: bool) -> None:
    cells = pd.DataFrame({"a": ["1", "50 %"], "b": ["2", "α"]})
    inside = body(document(cells, "Two rows.", "ll", long=long))
    assert inside.count(r"\caption{Two rows.}") == 1
    assert r"50 \%" in inside
    assert not re.search("{document}|usepackage", inside)
    assert (r"\begin{longtable}" in inside, r"\begin{table}[H]" in inside) == (long, not long)


@needs_pdflatex
def test_a_document_with_a_table_of_contents_gives_the_same_bytes(tmp_path: Path) -> None:
    """The second pass of pdflatex reads what the first one wrote."""
    text = (
        r"\documentclass{article}\pdfinfoomitdate=1\pdftrailerid{}\begin{document}"
        r"\tableofcontents\section{One}\label{one}\clearpage See \ref{one}.\end{document}"
    )
    first = pdf_of(text, tmp_path)
    assert first.startswith(b"%PDF")
    assert pdf_of(text, tmp_path) == first
    assert not list(tmp_path.iterdir()), "nothing is left in the folder of the pictures"


@needs_pdflatex
def test_a_document_that_is_refused_ends_in_one_line(tmp_path: Path) -> None:
    text = r"\documentclass{article}\begin{document}\nosuchcommand\end{document}"
    refused(lambda: pdf_of(text, tmp_path), "report.tex", "Undefined control sequence")


def test_what_pdflatex_cannot_do_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    refused(lambda: escape("語"), "'語'; allowed")
    monkeypatch.setenv("PATH", "")
    refused(require_pdflatex, "report.pdf", "pdflatex is not on PATH", "texlive")


CELLS = pd.DataFrame(
    {
        "claim": [f"X-C{number}" for number in range(1, 13)],
        "statement": ['1 < 2 & "so" <b>on</b>', *["ε ≤ 1"] * 11],
        "verdict": ["holds", "fails", "mixed", ""] * 3,
    }
)


def texts(page: str, element: str) -> list[str]:
    """Return the texts of the elements of a name."""
    return [*map(html.unescape, re.findall(rf"<{element}\b[^>]*>([^<]*)", page))]


def test_a_page_has_its_cells_as_they_are_and_chooses_from_columns_of_few_values() -> None:
    text = page(CELLS, "all claims", "Of <all> papers.")
    assert not re.search(r"(?:src|href|@import|url\()\s*=?", text), "it needs no network"
    assert texts(text, "th") == list(CELLS.columns)
    assert texts(text, "td") == [cell for row in CELLS.to_numpy().tolist() for cell in row]
    columns = re.findall(r'data-column="(\d+)"', text)
    assert columns == ["1", "2"], "each claim stands once: nothing to choose"
    assert texts(text, "option")[-4:] == ["all", "fails", "holds", "mixed"]
    rows = 4 * (MOST_CHOICES + 1)
    many = pd.DataFrame({"n": [str(row % (MOST_CHOICES + 1)) for row in range(rows)]})
    assert "data-column" not in page(many, "many", "Too many values to choose from.")


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
