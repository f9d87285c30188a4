"""Tables and texts: files, LaTeX, numbers, the report, the page; and entries that are wrong."""

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from math import inf, nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.config.figures import parse_figure, parse_table
from dpbandits.metrics.intervals import difference_interval
from dpbandits.reporting.digitised import compare_digitised
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.tables import with_sentences, write_table
from dpbandits.reporting.text import escape, readable
from dpbandits.text_tables import interval_text
from support import refused
from synthetic_results import EVERY_TABLE, FIRST, FOURTH, PAPERS, SECOND, THIRD, Document, changed

STATEMENTS = {
    "TSDP-C1": "At delta = 1e-6 & T = 10^5 the level is worth 4.88 (5 % too low) {sic} #1 ~ $2.",
    "TSDP-C5": 'ε ≤ 1 at δ → 0 is a Rényi statement: η_b < η_c, "much" | α² ≈ 10⁻⁶.',
    "TSDP-C8": "A long statement " + "that goes on and on " * 20 + r"with a \backslash.",
}
# Contract 2.
LEDGER = """\
claim,variant,interpretation,verdict,measured,estimate,lo,hi,runs,runs_paper,visible,scale,detail
TSDP-C1,as-written,,as stated,epsilon,4.88655,4.88655,4.88655,0,0,,paper,
TSDP-C5,as-written,"accounting=lemma5,b_grid=alternative,metric=realised_regret",\
undecided,regret,-3693.47,-3755.69,-3626.02,400,10,1 of 2,paper,a_b
TSDP-C8,repaired,log=natural,size only,,,,,,10,,paper,why_not
"""


@cache
def frames(document: Document) -> Callable[[str], pd.DataFrame]:
    """Results of a paper, a ledger with statements (``claims``) and ``digitised`` values."""
    published = [figure for figure in document.figures.values() if figure.residuals]
    made = {
        "digitised": lambda: compare_digitised(published, document.frame, {}),
        "text": lambda: document.frame("final-regret").assign(series="other", alpha="none"),
        "claims": lambda: with_sentences(pd.read_csv(io.StringIO(LEDGER)), STATEMENTS),
    }
    return lambda name: made[name]() if name in made else document.frame(name)


def write(paper: str, name: str, folder: Path) -> list[Path]:
    own = PAPERS[paper]
    return write_table(own.tables[name], name, frames(own), folder, own.paper.functions("tables"))


DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage[skip=6pt]{caption}
\usepackage{longtable}
\begin{document}
\small
%s
\end{document}
"""


@pytest.mark.slow
def test_all_tables_print_numbers_for_readers_and_compile_in_one_document(tmp_path: Path) -> None:
    inputs, labels = [], []
    for paper, name in EVERY_TABLE:
        written = write(paper, name, tmp_path / paper)
        assert [path.name for path in written] == [f"{name}.{kind}" for kind in ("tex", "csv")]
        text = written[0].read_text()
        assert "documentclass" not in text
        head, _, rows = text.partition(r"\midrule")
        assert r"\toprule" in head
        assert r"\bottomrule" in rows
        assert not re.search(r"\d[eE][+-]?\d|\binf\b|[-+]0(\.0+)?\b(?!\.)|\bfig\d", rows)
        # Heads are words: no name of a column has an underscore.
        assert r"\_" not in head.partition(r"\toprule")[2]
        labels += re.findall(r"\\label{(tab:[^}]+)}", text)
        inputs.append(rf"\input{{{paper}/{name}}} See table~\ref{{{labels[-1]}}}. \clearpage")
    assert len(set(labels)) == len(labels) == len(EVERY_TABLE)
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    # Debian's texlive-latex-base and texlive-latex-recommended have these packages.
    (tmp_path / "all.tex").write_text(DOCUMENT.replace("%s", "\n".join(inputs)))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    # Twice, for the references.
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log
    assert "undefined" not in log


def test_the_ledger_keeps_its_columns_and_prints_intervals(tmp_path: Path) -> None:
    write("ts-is-dp", "claims", tmp_path)
    table, ledger = pd.read_csv(tmp_path / "claims.csv"), pd.read_csv(io.StringIO(LEDGER))
    assert list(table.columns) == [*ledger.columns, "says", "choice", "interval", "played"]
    pd.testing.assert_frame_equal(table[ledger.columns], ledger)
    assert dict(zip(table["claim"], table["says"], strict=True)) == STATEMENTS
    tex = (tmp_path / "claims.tex").read_text().replace(r"\allowbreak{}", "")
    lines = {line.split(" & ")[0]: line for line in tex.splitlines() if line.startswith("TSDP-")}
    assert list(lines) == list(STATEMENTS)
    assert lines["TSDP-C1"].endswith(r"&  & as stated & epsilon & 4.887 & exact & paper &  \\")
    made = r"accounting=lemma5, b\_grid=alternative, metric=realised\_regret"
    assert f"& {made} & undecided & regret & $-3693$ [$-3756$, $-3626$] & 400 &" in lines["TSDP-C5"]
    empty = r"& repaired, log=natural & size only &  &  &  & paper &  \\"
    assert lines["TSDP-C8"].endswith(empty)


def test_differences_have_the_intervals_of_newcombe() -> None:
    """Newcombe (1998), Table II, method 10, of which four digits are printed."""
    for first, second, low, high in [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ]:
        found = difference_interval(first, second)
        assert found[0] == pytest.approx(first[0] / first[1] - second[0] / second[1])
        assert found[1:] == pytest.approx((low, high), abs=5.1e-5)
        back = difference_interval(second, first)
        assert back == pytest.approx((-found[0], -found[2], -found[1]))


LEVEL = THIRD.entries["figures"]["fig1"]["panels"]["b"]["series"][3]
DIFFERENCES = "tables.extra-interpretations"
# (paper, entry, key in it, its value (none: left out), words of the line)
WRONG: list[Any] = [
    (FIRST, "figures.fig3", "x.tag", "level", "no column 'level'; allowed: series"),
    (FIRST, "figures.fig3", "where", {"eta": 3}, "no row has eta 3; allowed: 1, 2, 5"),
    (FIRST, "figures.fig3", "series.0.name", "{d}", "no column 'd'; allowed"),
    (FIRST, "figures.fig3", "series.0.name", "b", "two lines are 'b'; allowed: one"),
    (FIRST, "figures.fig3", "series.0.by", None, "would join"),
    (SECOND, "figures.fig3", "panels.a.reads", ["final-regret", "final-verdicts"],
     "stands in two of final-regret, final-verdicts; allowed"),
    (SECOND, "figures.fig3", "panels.a.reads", ["final-regret", "text"],
     "column 'alpha' holds numbers in one of final-regret, text and text in another"),
    (SECOND, "figures.fig5", "panels.a.series.0.colour", "black", "is 'black'; allowed: none"),
    (THIRD, "figures.fig1", "panels.b.series.3.level", None, "series.3: rows without epsilon"),
    (THIRD, "figures.fig1", "panels.b.series.0.level", True, "series.0.level is true; allowed"),
    (THIRD, "figures.fig1", "panels.b.series", [LEVEL], "fig1b.series: level lines alone; allowed"),
    (THIRD, "figures.extra-ratios", "where", {"horizon": 1000, "epsilon": 3}, "has epsilon 3; all"),
    (FOURTH, "figures.extra-epsilon-slope", "compute", "slope", "is 'slope'; allowed: slopes, pr"),
    (FOURTH, "figures.extra-epsilon-slope", "reads", "ten-million",
     "reads is ten-million; allowed: with panels-c-to-e, which regret-over-epsilon asks for"),
    (SECOND, "tables.table1", "rows.values", ["UCB"] * 7, "0 rows have algorithm UCB; allowed"),
    (SECOND, "tables.privacy", "rows.1", None, "5 rows have alpha 0; allowed: one"),
    (FIRST, "tables.claims", "columns.0.name", "id", "no column 'id'; allowed"),
    (FIRST, "tables.claims", "columns.0.text", "{id}", "no column 'id'; allowed"),
    (FIRST, "tables.privacy", "rows.values", [0.3], "0 rows have x 0.3; allowed"),
    (THIRD, DIFFERENCES, "difference_from.same", ["law"], "same: no column 'law'; allowed: series"),
    (THIRD, DIFFERENCES, "difference_from.same", ["algorithm"],
     "2 default rows have algorithm dp-bai; allowed: one"),
    (THIRD, DIFFERENCES, "difference_from.where", {"interpretation": "norm=l1"},
     "0 default rows have algorithm dp-bai and x 1000; allowed: one"),
    pytest.param(
        *(THIRD, "tables.extra-overshoot", "rows.0.column", "policy", "rows: no column 'policy'"),
        marks=pytest.mark.slow,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("paper", "entry", "key", "value", "words"), WRONG)
def test_a_wrong_entry_is_one_line_that_names_it_and_nothing_is_written(
    paper: Document, entry: str, key: str, value: Any, words: str, tmp_path: Path
) -> None:
    section, name = entry.split(".")
    document = changed(paper.entries[section][name], key, value)
    results, out = frames(paper), tmp_path / "out"
    if section == "figures":
        figure = parse_figure(name, document)
        refused(
            lambda: draw_figure(figure, results, out, paper.paper.functions("derived")),
            entry,
            words,
        )
    else:
        table = parse_table(name, document)
        refused(
            lambda: write_table(table, name, results, out, paper.paper.functions("tables")),
            entry,
            words,
        )
    assert not out.exists()


def test_text_is_escaped() -> None:
    for text, latex in [
        ("fig_a & 5 % {x} #1 $2", r"fig\_\allowbreak{}a \& 5 \% \{x\} \#1 \$2"),
        ("10^5 ~ \\", r"$10^{5}$ \textasciitilde{} \textbackslash{}"),
        ("10^2.5 ≈ 316.", r"$10^{2.5}$ $\approx$ 316."),
        ("δ ≤ 1", r"$\delta$ $\le$ 1"),
        ("η_b >= 1", r"$\eta_b$ $\ge$ 1"),
        ("x < b", "x $<$ b"),
        ("T^((1-α)/4) ln(T)^(3(1-α)/4)", r"$T^{(1-\alpha)/4}$ $\ln (T)^{3(1-\alpha)/4}$"),
        ("b and c of order T^γ, at T = 10⁴", r"b and c of order $T^{\gamma}$, at T = $10^{4}$"),
        ("$max i/(epsilon Delta_i)$.", r"$\max i/(\varepsilon \Delta_i)$."),
        ("$H_BAI < sqrt(2T)$", r"$H_{\mathrm{BAI}} < \sqrt{2T}$"),
        ("$none$", r"$\mathrm{none}$"),
        ("-0.5 [-1,000, 2.5e+06]", r"$-0.5$ [$-1{,}000$, $2.5\times 10^{6}$]"),
        (
            "lazy_ucb_log=natural, count=n+1",
            r"lazy\_\allowbreak{}ucb\_\allowbreak{}log=natural, count=n+1",
        ),
        ("1- and 5-Gaussian DP, within [0, 1]", "1- and 5-Gaussian DP, within [0, 1]"),
        ("(epsilon, 1e-6", "(epsilon, $10^{-6}$"),
        ("Rényi", "Rényi"),
        ("two\nlines", "two lines"),
    ]:
        assert escape(text) == latex


def test_numbers_are_readable() -> None:
    for text, numbers in [
        ("1e-05", "10⁻⁵"),
        ("-2.5e+06 [-inf, 1e7]", "−2.5×10⁶ [−∞, 10⁷]"),
        ("+0.0000 [-0.0000, +0.0010]", "0.0000 [0.0000, +0.0010]"),
        ("0.05, 1,000, -0.5, +10", "0.05, 1,000, −0.5, +10"),
        ("fig1a", "1(a)"),
        ("fig1a is drawn", "fig1a is drawn"),
    ]:
        assert readable(text) == numbers


def test_an_estimate_has_its_interval_unless_it_is_exact() -> None:
    for estimate, text in [
        ((0.53217, 0.5, 0.56), "0.5322 [0.5, 0.56]"),
        ((4.88655, 4.88655, 4.88655), "4.887"),
        ((nan, nan, nan), ""),
        ((5.0, nan, nan), "5"),
        ((12503.2, -inf, inf), "1.25e+04 (no interval)"),
        ((2.0, -inf, 3.0, "{:.1f}".format), "2.0 [-inf, 3.0]"),
    ]:
        assert interval_text(*estimate) == text


def test_what_latex_does_not_know_is_refused_in_one_line() -> None:
    refused(lambda: escape("語"), "'語'; allowed")
