"""Tables: every table of the experiments file, as csv and as LaTeX that compiles by itself."""

import copy
import io
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import difference_interval
from dpbandits.reporting.spec import parse_table
from dpbandits.reporting.tables import (
    add_statements,
    interval_text,
    statements_once,
    write_table,
)
from dpbandits.reporting.text import escape, readable
from support import refused, supplementary_slow
from synthetic_results import EVERY_TABLE, FIRST, PAPERS, SECOND, THIRD, Document

TABLES = FIRST.tables
WRITTEN = supplementary_slow(EVERY_TABLE)

# Contract 2.
LEDGER = (
    *(
        "claim",
        "variant",
        "interpretation",
        "verdict",
        "estimate",
        "lo",
        "hi",
        "runs",
        "runs_paper",
    ),
    *("verdict_at_paper_runs", "scale", "detail"),
)
STATEMENTS = {
    "TSDP-C1": "At delta = 1e-6 & T = 10^5 the level is worth 4.88 (5 % too low) {sic} #1 ~ $2.",
    "TSDP-C5": 'ε ≤ 1 at δ → 0 is a Rényi statement: η_b < η_c, "much" | α² ≈ 10⁻⁶.',
    "TSDP-C8": "A long statement " + "that goes on and on " * 20 + r"with a \backslash.",
}
ROWS = """\
TSDP-C1,as-written,,holds,4.88655,4.88655,4.88655,0,0,holds,paper,
TSDP-C5,as-written,"accounting=lemma5,b_grid=alternative,metric=realised_regret",\
undecided,-3693.47,-3755.69,-3626.02,400,10,undecided,paper,a_b
TSDP-C8,repaired,log=natural,not-applicable,,,,,10,not-applicable,paper,why_not
"""


def ledger() -> pd.DataFrame:
    """A ledger as it is read from its csv, one row of every sort."""
    return pd.read_csv(io.StringIO(ROWS), names=list(LEDGER))


def frames(document: Document) -> Callable[[str], pd.DataFrame]:
    """Results of a paper, a ledger with statements (``claims``) and ``digitised`` values."""
    verdicts = add_statements(ledger(), STATEMENTS)

    def of(name: str) -> pd.DataFrame:
        if name == "digitised":
            return document.interpretations()
        return verdicts if name == "claims" else document.frame(name)

    return of


frame = cache(frames(FIRST))


def write(paper: str, name: str, folder: Path) -> list[Path]:
    """Write a table of a paper from made-up results."""
    own = PAPERS[paper]
    return write_table(own.tables[name], name, frames(own), folder, own.paper.tables)


@pytest.mark.parametrize(("paper", "name"), WRITTEN)
def test_a_table_is_tex_html_and_csv_and_rebuilds_to_the_same_bytes(
    paper: str, name: str, tmp_path: Path
) -> None:
    written = write(paper, name, tmp_path / "first")
    suffixes = ("tex", "tabular", "html", "csv")
    assert [path.name for path in written] == [f"{name}.{each}" for each in suffixes]
    again = write(paper, name, tmp_path / "second")
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


@pytest.mark.parametrize(("paper", "name"), WRITTEN)
def test_tex_is_booktabs_with_packages_of_a_base_installation(
    paper: str, name: str, tmp_path: Path
) -> None:
    tex = write(paper, name, tmp_path)[0].read_text()
    assert all(rule in tex for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert r"\hline" not in tex
    used = set(re.findall(r"\\usepackage(?:\[[^]]*\])?{(\w+)}", tex))
    # Debian's texlive-latex-base and texlive-latex-recommended have these.
    assert used == {"array", "booktabs", "caption", "geometry", "longtable"}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize(("paper", "name"), WRITTEN)
def test_tex_compiles_by_itself(paper: str, name: str, tmp_path: Path) -> None:
    tex = write(paper, name, tmp_path)[0]
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", tex.name]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log
    assert tex.with_suffix(".pdf").stat().st_size > 0


def test_privacy_table_has_the_values_of_the_specification(tmp_path: Path) -> None:
    """ts-is-dp, Theorems 3 to 8, reference values at T = 1000 (best split)."""
    write_table(TABLES["privacy"], "privacy", frame, tmp_path)
    table = pd.read_csv(tmp_path / "privacy.csv").set_index("delta")
    printed = {
        1e-10: (391.364, 401.743, 11477.8, 12881.5),
        1e-8: (374.596, 385.723, 8773.7, 9999.8),
        1e-6: (355.383, 367.539, 6425.0, 7483.9),
        1e-4: (332.235, 345.971, 4411.2, 5312.0),
        1e-2: (301.068, 317.861, 2715.8, 3465.3),
        1e-1: (277.685, 297.985, 1983.7, 2658.9),
    }
    assert list(table.index) == list(printed)
    for delta, values in printed.items():
        # Half a unit of the last printed digit, and a little for values that end on a half.
        assert table.loc[delta].iloc[:2].tolist() == pytest.approx(values[:2], abs=6e-4)
        assert table.loc[delta].iloc[2:4].tolist() == pytest.approx(values[2:], abs=6e-2)
    tex = (tmp_path / "privacy.tex").read_text()
    assert r"$10^{-6}$ & 355.4 & 367.5 & 6,425.0 & 7,483.9 & 4,226 & 285,888 \\" in tex


def test_claims_table_prints_intervals_and_leaves_missing_numbers_empty(tmp_path: Path) -> None:
    write_table(TABLES["claims"], "claims", frame, tmp_path)
    tex = (tmp_path / "claims.tex").read_text()
    lines = {line.split(" & ")[0]: line for line in tex.splitlines() if line.startswith("TSDP-")}
    assert list(lines) == list(STATEMENTS)
    assert lines["TSDP-C1"].endswith(r"&  & holds & 4.887 & 0 & paper & holds \\")
    interpretation = r"accounting=lemma5, b\_grid=alternative, metric=realised\_regret"
    assert (
        f"& {interpretation} & undecided & $-3693$ [$-3756$, $-3626$] & 400 &" in lines["TSDP-C5"]
    )
    assert lines["TSDP-C8"].endswith(
        r"& repaired, log=natural & not-applicable &  &  & paper & not-applicable \\"
    )


def test_claims_csv_keeps_the_ledger_and_adds_the_statement(tmp_path: Path) -> None:
    write_table(TABLES["claims"], "claims", frame, tmp_path)
    table = pd.read_csv(tmp_path / "claims.csv")
    assert list(table.columns) == [*LEDGER, "statement", "choice", "interval"]
    assert dict(zip(table["claim"], table["statement"], strict=True)) == STATEMENTS
    assert table["estimate"].iloc[:2].tolist() == [4.88655, -3693.47]
    assert math.isnan(table["estimate"].iloc[2])


@pytest.mark.parametrize(
    ("text", "latex"),
    [
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
    ],
)
def test_text_is_escaped(text: str, latex: str) -> None:
    assert escape(text) == latex


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1e-05", "10⁻⁵"),
        ("-2.5e+06 [-inf, 1e7]", "-2.5×10⁶ [-∞, 10⁷]"),
        ("+0.0000 [-0.0000, +0.0010]", "0.0000 [0.0000, +0.0010]"),
        ("0.05, 1,000, -0.5, +10", "0.05, 1,000, -0.5, +10"),
        ("fig1a", "1(a)"),
        ("fig1a is drawn", "fig1a is drawn"),
    ],
)
def test_numbers_are_readable(text: str, numbers: str) -> None:
    assert readable(text) == numbers


@pytest.mark.parametrize(("paper", "name"), WRITTEN)
def test_no_table_prints_numbers_as_python_does(paper: str, name: str, tmp_path: Path) -> None:
    write(paper, name, tmp_path)
    for suffix in ("tex", "tabular"):
        rows = (tmp_path / f"{name}.{suffix}").read_text().partition(r"\midrule")[2]
        assert not re.search(r"\d[eE][+-]?\d|\binf\b|[-+]0(\.0+)?\b(?!\.)|\bfig\d", rows)
        assert not re.search(r"ensuremath|textasciicircum", rows)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_bare_tabular_is_input_by_a_document(tmp_path: Path) -> None:
    write("dp-ts-ucb", "table1", tmp_path)
    preamble = r"\documentclass{article}\usepackage{array,booktabs}"
    body = r"\begin{document}\input{table1.tabular}\end{document}"
    (tmp_path / "by.tex").write_text(preamble + body)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "by.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_the_statement_of_a_claim_stands_once() -> None:
    texts = pd.DataFrame(
        {"Claim": ["C1", "C1", "C2"], "Statement": ["x", "x", "y"], "Runs": [1, 2, 3]}
    )
    once = statements_once(texts)
    assert once["Statement"].tolist() == ["x", "", "y"]
    assert once["Claim"].tolist() == texts["Claim"].tolist()


def test_a_character_that_pdflatex_refuses_is_named() -> None:
    with pytest.raises(InputError, match=r"has the character '語'; allowed in a table: Latin"):
        escape("語")


def test_interval_text() -> None:
    assert interval_text(0.53217, 0.5, 0.56) == "0.5322 [0.5, 0.56]"
    assert interval_text(4.88655, 4.88655, 4.88655) == "4.887"
    assert interval_text(math.nan, math.nan, math.nan) == ""


def test_a_claim_without_statement_is_named() -> None:
    with pytest.raises(InputError, match="claim 'TSDP-C8' has no statement; allowed: TSDP-C1"):
        add_statements(ledger(), {"TSDP-C1": "a", "TSDP-C5": "b"})


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_read_the_ledger_or_results_that_exist(paper: str) -> None:
    own = PAPERS[paper]
    known = {"claims", "digitised", *own.document["simulations"], *own.document["analytic"]}
    tables = [parse_table(name, entry) for name, entry in own.tables.items()]
    assert {each for table in tables for each in table.reads} <= known


def test_table_1_has_the_levels_of_the_specification(tmp_path: Path) -> None:
    """dp-ts-ucb, Algorithm 1 and Table 1: sqrt(T/2), sqrt(T/5) and Theorem 4.4."""
    write("dp-ts-ucb", "table1", tmp_path)
    table = pd.read_csv(tmp_path / "table1.csv").set_index("algorithm")
    levels = table[["eta_1e4", "eta_1e5", "eta_1e6"]].T
    # Half a unit of the last printed digit.
    assert levels["TS-Gaussian"].tolist() == pytest.approx([70.71, 223.6, 707.1], abs=0.05)
    assert levels["M-TS-Gaussian, b = 0, c = 5"].iloc[2] == pytest.approx(447.21, abs=0.005)
    assert levels["DP-TS-UCB, α = 0"].tolist() == pytest.approx([152.0, 319.5, 651.5], abs=0.05)
    assert levels["DP-TS-UCB, α = 1/2"].tolist() == pytest.approx([20.9, 30.3, 43.28], abs=0.05)
    assert levels["DP-TS-UCB, α = 1"].tolist() == pytest.approx([2.875] * 3, abs=5e-4)


def test_privacy_table_of_the_second_paper_has_a_row_for_each_alpha_and_horizon(
    tmp_path: Path,
) -> None:
    """dp-ts-ucb, Algorithm 1, DTU-E2, DTU-E8 and DTU-F6 (epsilon at delta = 1e-6)."""
    write("dp-ts-ucb", "privacy", tmp_path)
    table = pd.read_csv(tmp_path / "privacy.csv").set_index(["alpha", "horizon"])
    assert len(table) == 25
    # Half a unit of the last printed digit.
    assert table.loc[(0.25, 31622), "eta_4_4"] == pytest.approx(74.7, abs=0.05)
    assert table.loc[(0, 1000000), "eta_tight"] == pytest.approx(460.7, abs=0.05)
    assert table.loc[(1, 1000000), "eta_4_6"] == pytest.approx(10.69, abs=0.005)
    assert table.loc[(0, 1000000), "epsilon_4_4"] == pytest.approx(2.15e5, rel=3e-3)
    assert table.loc[(1, 1000000), "epsilon_4_4"] == pytest.approx(17.2, abs=0.05)


def test_calibration_table_sets_means_beside_the_published_interpretations(tmp_path: Path) -> None:
    """Hu and Hegde (2022), from the smallest epsilon to the largest."""
    write("dp-ts-ucb", "calibration", tmp_path)
    table = pd.read_csv(tmp_path / "calibration.csv").set_index("epsilon")
    assert table["lazy_dp_ts_published"].tolist() == [3840, 1919, 1088, 488, 113]
    assert table["anytime_lazy_ucb_published"].tolist() == [7679, 3839, 3327, 2431, 1471]
    assert table["dp_se_published"].tolist() == [3907, 3437, 3437, 3437, 3437]
    rows = SECOND.frame("calibration")
    chosen = rows[(rows["algorithm"] == "lazy-dp-ts") & (rows["log"] == "base2")]
    means = chosen[chosen["t"] == 100_000].groupby("epsilon")["value"].mean()
    # The csv keeps ten significant digits.
    assert table["lazy_dp_ts_base2"].tolist() == pytest.approx(means.tolist(), rel=1e-8)
    assert "3,840" in (tmp_path / "calibration.tex").read_text()


def table(name: str, folder: Path) -> pd.DataFrame:
    """Write a table of the third paper and return its csv."""
    write_table(THIRD.tables[name], name, THIRD.frame, folder)
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])


def test_appendix_b_has_each_printed_number_beside_the_computed_one(tmp_path: Path) -> None:
    """Appendix B at d = 16, K = 10,000, by Equations 4 to 8."""
    found = table("appendix-b", tmp_path).set_index(["quantity", "phase"])
    sizes = ["10,000", "423", "77", "64", "32", "16", "8", "4", "2", "1"]
    assert found.loc["size", "computed"].tolist() == sizes
    # lambda is 27.64963, the ratios 27.677 and 27.615.
    assert found.loc[("lambda", 0), "computed"] == "27.65"
    assert found.loc["ratio", "computed"].tolist() == ["27.68", "27.62", "division by 0"]
    wrong = [("M1", 0), ("M", 0), ("size", 1), ("ratio", 2), ("ratio", 3), ("ratio", 4)]
    assert found[found["verdict"] == "deviates"].index.tolist() == wrong


def test_table_1_counts_cases_for_and_against_each_tick(tmp_path: Path) -> None:
    """dp-bai, Theorem 4.2: the ticks found, and (derived) no case against them."""
    found = table("table1", tmp_path).set_index("row")
    assert found["tick"].fillna("").tolist() == ["DP-BAI-Gauss", "", "DP-BAI", "DP-BAI"]
    assert found["met"].iloc[:3].sum() == 1_000_000
    assert found["loses"].tolist() == [0, 0, 0, 0]


def test_interpretations_are_compared_with_the_default_of_their_algorithm(tmp_path: Path) -> None:
    found = table("extra-interpretations", tmp_path)
    frames = {
        name: THIRD.frame(name)
        for name in ("interpretations-section5", "interpretations-two-armed")
    }
    assert len(found) == sum(frame["series"].nunique() for frame in frames.values())
    default = found["interpretation"].isna()
    assert default.sum() == 4 + 2
    assert (
        found.loc[default, ["difference", "difference_lo", "difference_hi"]].isna().all(axis=None)
    )
    counts = {}
    for _, row in found.iterrows():
        name = "interpretations-section5" if row["x"] == 1000 else "interpretations-two-armed"
        rows = frames[name][frames[name]["series"] == row["series"]]
        hits = rows.loc[rows["metric"] == "success", ["value", "trials"]].sum()
        pulls = rows.loc[rows["metric"] == "total_pulls", ["value", "trials"]].sum()
        counts[row["series"]] = (int(hits["value"]), int(hits["trials"]))
        # The csv keeps ten significant digits.
        assert row["y"] == pytest.approx(hits["value"] / 20_000, rel=1e-8)
        assert row["pulls"] == pytest.approx(pulls["value"] / 20_000, rel=1e-8)
    for _, row in found[~default].iterrows():
        same = found[default & (found["algorithm"] == row["algorithm"]) & (found["x"] == row["x"])]
        [base] = same["series"]
        expected = difference_interval(counts[row["series"]], counts[base])
        shown = row[["difference", "difference_lo", "difference_hi"]].tolist()
        assert shown == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert shown[1] < shown[0] < shown[2]


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


def test_pulls_that_were_not_recorded_are_left_empty(tmp_path: Path) -> None:
    def successes(name: str) -> pd.DataFrame:
        rows = THIRD.frame(name)
        return rows[rows["metric"] == "success"]

    write_table(THIRD.tables["extra-interpretations"], "extra-interpretations", successes, tmp_path)
    assert pd.read_csv(tmp_path / "extra-interpretations.csv")["pulls"].isna().all()


def test_rows_left_to_the_results_stand_in_their_order(tmp_path: Path) -> None:
    """Listed values give every combination, and one that is not there is refused."""
    spec = copy.deepcopy(THIRD.tables["extra-overshoot"])
    for rows, values in zip(spec["rows"], (["dp-bai"], ["printed", "literal"]), strict=True):
        rows["values"] = values
    write_table(spec, "extra-overshoot", THIRD.frame, tmp_path)
    listed = pd.read_csv(tmp_path / "extra-overshoot.csv")
    assert listed["schedule"].tolist() == ["printed", "literal"]
    spec["rows"][1]["values"].append("halving")
    with pytest.raises(InputError, match=r"0 rows have algorithm dp-bai and schedule halving"):
        write_table(spec, "extra-overshoot", THIRD.frame, tmp_path)


def test_what_is_ours_is_named_extra_but_for_the_claims() -> None:
    for name, spec in THIRD.tables.items():
        ours = name.startswith("extra-") or name == "claims"
        assert spec["caption"].startswith("Ours:") == ours


Change = Callable[[dict[str, Any]], object]
WRONG: list[tuple[Document, str, Change, str]] = [
    (SECOND, "table1", lambda spec: spec["rows"].update(values=["UCB"] * 7), "0 rows have algorit"),
    (SECOND, "privacy", lambda spec: spec["rows"].pop(), "5 rows have alpha 0; allowed: one"),
    (FIRST, "claims", lambda spec: spec["columns"][0].update(name="id"), "no column 'id'; allowed"),
    (FIRST, "claims", lambda spec: spec["columns"][0].update(text="{id}"), "no column 'id'; allow"),
    (FIRST, "privacy", lambda spec: spec["rows"].update(values=[0.3]), "0 rows have x 0.3; allow"),
    (FIRST, "privacy", lambda spec: spec["columns"][0].pop("where"), " rows have x 1e-10; allowed"),
    (
        THIRD,
        "extra-interpretations",
        lambda spec: spec["difference_from"].update(same=["law"]),
        "difference_from.same: no column 'law'; allowed: series",
    ),
    (
        THIRD,
        "extra-interpretations",
        lambda spec: spec["difference_from"].update(same=["algorithm"]),
        "2 default rows have algorithm dp-bai; allowed: one",
    ),
    (
        THIRD,
        "extra-interpretations",
        lambda spec: spec["difference_from"].update(where={"interpretation": "norm=l1"}),
        "0 default rows have algorithm dp-bai and x 1000; allowed: one",
    ),
    (
        THIRD,
        "extra-overshoot",
        lambda spec: spec["rows"][0].update(column="policy"),
        "rows: no column 'policy'; allowed: series",
    ),
]


@pytest.mark.parametrize(("paper", "name", "change", "words"), WRONG)
def test_results_that_do_not_fit_are_refused_and_nothing_is_written(
    paper: Document, name: str, change: Change, words: str, tmp_path: Path
) -> None:
    spec = copy.deepcopy(paper.tables[name])
    change(spec)
    results, out = frames(paper), tmp_path / "out"
    refused(lambda: write_table(spec, name, results, out), f"tables.{name}", words)
    assert not (tmp_path / "out").exists()
