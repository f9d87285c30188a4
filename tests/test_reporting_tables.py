"""Tables: their files, LaTeX and numbers; and entries of figures and tables that are wrong."""

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.metrics.intervals import difference_interval
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.tables import add_statements, write_table
from support import refused, supplementary_slow
from synthetic_results import EVERY_TABLE, FIRST, FOURTH, PAPERS, SECOND, THIRD, Document, changed

WRITTEN = supplementary_slow(EVERY_TABLE)
STATEMENTS = {
    "TSDP-C1": "At delta = 1e-6 & T = 10^5 the level is worth 4.88 (5 % too low) {sic} #1 ~ $2.",
    "TSDP-C5": 'ε ≤ 1 at δ → 0 is a Rényi statement: η_b < η_c, "much" | α² ≈ 10⁻⁶.',
    "TSDP-C8": "A long statement " + "that goes on and on " * 20 + r"with a \backslash.",
}
# Contract 2.
LEDGER = """\
claim,variant,interpretation,verdict,estimate,lo,hi,runs,runs_paper,verdict_at_paper_runs,scale,detail
TSDP-C1,as-written,,holds,4.88655,4.88655,4.88655,0,0,holds,paper,
TSDP-C5,as-written,"accounting=lemma5,b_grid=alternative,metric=realised_regret",\
undecided,-3693.47,-3755.69,-3626.02,400,10,undecided,paper,a_b
TSDP-C8,repaired,log=natural,not-applicable,,,,,10,not-applicable,paper,why_not
"""


@cache
def frames(document: Document) -> Callable[[str], pd.DataFrame]:
    """Results of a paper, a ledger with statements (``claims``) and ``digitised`` values."""
    ledger = pd.read_csv(io.StringIO(LEDGER))

    def of(name: str) -> pd.DataFrame:
        if name == "digitised":
            return document.interpretations()
        if name == "text":
            return document.frame("long-horizon").assign(series="other", alpha="none")
        return add_statements(ledger, STATEMENTS) if name == "claims" else document.frame(name)

    return of


def write(paper: str, name: str, folder: Path) -> list[Path]:
    """Write a table of a paper from made-up results."""
    own = PAPERS[paper]
    return write_table(own.tables[name], name, frames(own), folder, own.paper.tables)


@pytest.mark.parametrize(("paper", "name"), WRITTEN)
def test_a_table_is_four_files_without_numbers_as_python_prints_them(
    paper: str, name: str, tmp_path: Path
) -> None:
    written = write(paper, name, tmp_path / "first")
    suffixes = ("tex", "tabular", "html", "csv")
    assert [path.name for path in written] == [f"{name}.{suffix}" for suffix in suffixes]
    again = write(paper, name, tmp_path / "second")
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]
    for path in written[:2]:
        head, _, rows = path.read_text().partition(r"\midrule")
        assert r"\toprule" in head
        assert r"\bottomrule" in rows
        assert not re.search(r"\d[eE][+-]?\d|\binf\b|[-+]0(\.0+)?\b(?!\.)|\bfig\d", rows)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_all_tables_compile_within_the_page(tmp_path: Path) -> None:
    """Each by itself is the same preamble and a part of this document; one is input bare."""
    bodies, preambles = [], set()
    for paper, name in EVERY_TABLE:
        preamble, _, rest = write(paper, name, tmp_path)[0].read_text().partition("\\small\n")
        preambles.add(preamble)
        bodies.append(rest.partition(r"\end{document}")[0])
    write("dp-ts-ucb", "table1", tmp_path)
    [preamble] = preambles
    # Debian's texlive-latex-base and texlive-latex-recommended have these.
    used = set(re.findall(r"\\usepackage(?:\[[^]]*\])?{(\w+)}", preamble))
    assert used == {"array", "booktabs", "caption", "geometry", "longtable"}
    parts = "\n\\clearpage\n".join([*bodies, r"\input{table1.tabular}"])
    (tmp_path / "all.tex").write_text(f"{preamble}\\small\n{parts}\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log


def test_the_ledger_keeps_its_columns_and_prints_intervals(tmp_path: Path) -> None:
    write("ts-is-dp", "claims", tmp_path)
    table, ledger = pd.read_csv(tmp_path / "claims.csv"), pd.read_csv(io.StringIO(LEDGER))
    assert list(table.columns) == [*ledger.columns, "statement", "choice", "interval"]
    pd.testing.assert_frame_equal(table[ledger.columns], ledger)
    assert dict(zip(table["claim"], table["statement"], strict=True)) == STATEMENTS
    tex = (tmp_path / "claims.tex").read_text()
    lines = {line.split(" & ")[0]: line for line in tex.splitlines() if line.startswith("TSDP-")}
    assert list(lines) == list(STATEMENTS)
    assert lines["TSDP-C1"].endswith(r"&  & holds & 4.887 & 0 & paper & holds \\")
    made = r"accounting=lemma5, b\_grid=alternative, metric=realised\_regret"
    assert f"& {made} & undecided & $-3693$ [$-3756$, $-3626$] & 400 &" in lines["TSDP-C5"]
    empty = r"& repaired, log=natural & not-applicable &  &  & paper & not-applicable \\"
    assert lines["TSDP-C8"].endswith(empty)
    refused(lambda: add_statements(ledger, {"TSDP-C1": "a", "TSDP-C5": "b"}), "'TSDP-C8' has no")


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_differences_have_the_intervals_of_newcombe(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe (1998), Table II, method 10, of which four digits are printed."""
    found = difference_interval(first, second)
    assert found[0] == pytest.approx(first[0] / first[1] - second[0] / second[1])
    assert found[1:] == pytest.approx((low, high), abs=5.1e-5)
    back = difference_interval(second, first)
    assert back == pytest.approx((-found[0], -found[2], -found[1]))


LEVEL = THIRD.figures["fig1"]["panels"]["b"]["series"][3]
DIFFERENCES = "tables.extra-interpretations"
# (paper, entry, key in it, its value (none: left out), words of the line)
WRONG: list[tuple[Document, str, str, Any, str]] = [
    (FIRST, "figures.fig3", "x.tag", "level", "no column 'level'; allowed: series"),
    (FIRST, "figures.fig3", "where", {"eta": 3}, "no row has eta 3; allowed: 1, 2, 5"),
    (FIRST, "figures.fig3", "series.0.name", "{d}", "no column 'd'; allowed"),
    (FIRST, "figures.fig3", "series.0.name", "b", "two lines are 'b'; allowed: one"),
    (FIRST, "figures.fig3", "series.0.by", None, "would join"),
    (FIRST, "figures.fig2", "panels.a.where", None, "would join 3 series"),
    (SECOND, "figures.extra-fig3-long", "reads", ["final-regret", "final-verdicts"],
     "stands in two of final-regret, final-verdicts; allowed"),
    (SECOND, "figures.extra-fig3-long", "reads", ["final-regret", "text"],
     "column 'alpha' holds numbers in one of final-regret, text and text in another"),
    (SECOND, "figures.fig4", "panels.a.where", None, "would join 5 series"),
    (SECOND, "figures.fig4", "panels.a.where", {"algorithm": "largest"}, "no row has algorithm 'l"),
    (SECOND, "figures.fig5", "panels.a.series.0.colour", "black", "is 'black'; allowed: none"),
    (THIRD, "figures.fig1", "panels.b.series.3.level", None, "series.3: rows without epsilon"),
    (THIRD, "figures.fig1", "panels.b.series.0.level", True, "series.0.level is true; allowed"),
    (THIRD, "figures.fig1", "panels.b.series", [LEVEL], "fig1b.series: level lines alone; allowed"),
    (THIRD, "figures.extra-ratios", "where", None, "would join"),
    (THIRD, "figures.extra-ratios", "where", {"horizon": 1000, "epsilon": 3}, "has epsilon 3; all"),
    (FOURTH, "figures.fig1", "panels.c.series.0.published.points", [[1002, 0.1, 0.1]],
     "published NCB: x is 1002; allowed: an x that is recorded"),
    (FOURTH, "figures.fig1", "panels.c.where", {}, "would join 3 series"),
    (FOURTH, "figures.extra-epsilon-slope", "compute", "slope", "is 'slope'; allowed: slopes, pr"),
    (FOURTH, "figures.extra-epsilon-slope", "reads", "ten-million",
     "reads is ten-million; allowed: with panels-c-to-e, which regret-over-epsilon asks for"),
    (SECOND, "tables.table1", "rows.values", ["UCB"] * 7, "0 rows have algorithm UCB; allowed"),
    (SECOND, "tables.privacy", "rows.1", None, "5 rows have alpha 0; allowed: one"),
    (FIRST, "tables.claims", "columns.0.name", "id", "no column 'id'; allowed"),
    (FIRST, "tables.claims", "columns.0.text", "{id}", "no column 'id'; allowed"),
    (FIRST, "tables.privacy", "rows.values", [0.3], "0 rows have x 0.3; allowed"),
    (FIRST, "tables.privacy", "columns.0.where", None, " rows have x 1e-10; allowed"),
    (THIRD, DIFFERENCES, "difference_from.same", ["law"], "same: no column 'law'; allowed: series"),
    (THIRD, DIFFERENCES, "difference_from.same", ["algorithm"],
     "2 default rows have algorithm dp-bai; allowed: one"),
    (THIRD, DIFFERENCES, "difference_from.where", {"interpretation": "norm=l1"},
     "0 default rows have algorithm dp-bai and x 1000; allowed: one"),
    (THIRD, "tables.extra-overshoot", "rows.0.column", "policy", "rows: no column 'policy'"),
]  # fmt: skip


@pytest.mark.parametrize(("paper", "entry", "key", "value", "words"), WRONG)
def test_a_wrong_entry_is_one_line_that_names_it_and_nothing_is_written(
    paper: Document, entry: str, key: str, value: Any, words: str, tmp_path: Path
) -> None:
    section, name = entry.split(".")
    spec = changed(getattr(paper, section)[name], key, value)
    results, out = frames(paper), tmp_path / "out"
    if section == "figures":
        refused(lambda: draw_figure(spec, name, results, out, paper.paper.derived), entry, words)
    else:
        refused(lambda: write_table(spec, name, results, out, paper.paper.tables), entry, words)
    assert not out.exists()


@pytest.mark.parametrize("name", THIRD.tables)
def test_what_is_supplementary_is_named_extra_but_for_the_claims(name: str) -> None:
    extra = name.startswith("extra-") or name == "claims"
    assert THIRD.tables[name]["caption"].startswith("Supplementary:") == extra
