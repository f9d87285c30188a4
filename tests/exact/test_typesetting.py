"""The typeset report: bodies of tables, the PDF's bytes, and one line where it cannot be made."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from dpbandits.pipeline.report import DEPENDS, counts
from dpbandits.reporting.report import body, pdf_of, require_pdflatex
from dpbandits.reporting.text import document
from support import message_of

needs_pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="pdflatex is not installed"
)
CELLS = pd.DataFrame({"a": ["1", "50 %"], "b": ["2", "α"]})


@pytest.mark.parametrize("long", [False, True])
def test_the_body_of_a_table_is_all_but_its_preamble(long: bool) -> None:
    inside = body(document(CELLS, "Two rows.", "ll", long=long))
    assert r"\toprule" in inside
    assert inside.count(r"\caption{Two rows.}") == 1
    assert r"50 \%" in inside
    assert "document" not in inside
    assert "usepackage" not in inside
    assert (r"\begin{longtable}" in inside) == long
    assert (r"\begin{table}[H]" in inside) == (not long)


def test_a_claim_counts_once_under_what_its_rows_agree_on() -> None:
    rows = [("X-C1", "holds"), ("X-C1", "holds"), ("X-C2", "fails"), ("X-C3", "holds")]
    ledger = pd.DataFrame([*rows, ("X-C3", "fails")], columns=["claim", "verdict"])
    counted = counts("x", ledger, ["holds", "fails", "mixed", DEPENDS])
    assert counted == {"name": "x", "total": 3, "counts": [1, 1, 0, 1]}


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
    line = message_of(lambda: pdf_of(text, tmp_path))
    assert line.startswith("report.tex: ")
    assert "Undefined control sequence" in line


def test_without_pdflatex_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    line = message_of(require_pdflatex)
    assert line.startswith("report.pdf: pdflatex is not on PATH; ")
    assert "texlive" in line
