"""Every number of docs/audit.md is that of a row of the published audit ledger."""

import math
import re

import pandas as pd
import pytest

from dpbandits.privacy.witnesses import classical_delta
from support import DOCUMENTS, ROOT

TEXT = " ".join(DOCUMENTS["docs/audit.md"].split())
LEDGER = pd.read_csv(ROOT / "docs/tables/privacy-audit/extra-audit.csv", keep_default_na=False)
KEYS = ["statement", "algorithm", "variant", "interpretation"]

# Sentence; statement, algorithm, variant and interpretation of the row; column and format.
SENTENCES = [
    ("([NCB-C15](claims.md#ncb-c15)): {} epsilon by the shortest event that refutes, at T = 1e7",
     ("AUD-14", "gdp-ncb", "as-written", ""), "ratio", ".5g"),
    ("by longer ones. Its chance is 10^{}.",
     ("AUD-14", "gdp-ncb", "as-written", ""), "log10_alpha", ",.0f"),
    ("Theorem 4, such an event loses {} epsilon.",
     ("AUD-14", "anytime-gdp-ncb", "as-written", ""), "ratio", ".4g"),
    ("it needs {} times its delta of 1e-4.",
     ("AUD-5", "ts-gaussian", "as-written", ""), "ratio", ".3g"),
    ("([NCB-C15](claims.md#ncb-c15)): {} epsilon at T = 1e7 and epsilon = 0.2. No setting",
     ("AUD-13", "gdp-ncb", "as-coded", ""), "ratio", ".3g"),
    ("that is too little: {} epsilon at epsilon = 0.2.",
     ("AUD-16", "ldp-ncb", "as-coded", ""), "ratio", ".3g"),
    ("([BAI-C14c](claims.md#bai-c14c)): {} epsilon.",
     ("AUD-11", "dp-od", "as-written", "norm=l2"), "ratio", ".4g"),
    ("in the place of n + 1: {} times the bound of ts-is-dp",
     ("AUD-6", "ts-gaussian", "as-written", "count=n"), "ratio", ".4g"),
    ("at T = 1e6, and {} times that of Modified TS.",
     ("AUD-6", "m-ts-gaussian", "as-written", "count=n"), "ratio", ".4g"),
]  # fmt: skip


def exact_row(*names: str) -> "pd.Series[float]":
    """Return the one exact row at published constants."""
    is_meant = (LEDGER[KEYS] == [*names]).all(axis=1)
    [place] = LEDGER.index[is_meant & ~LEDGER["scaled"] & (LEDGER["confidence"] == 1.0)]
    return LEDGER.loc[place]


@pytest.mark.parametrize(("sentence", "row", "column", "form"), SENTENCES)
def test_a_number_of_the_page_is_that_of_the_ledger(
    sentence: str, row: tuple[str, ...], column: str, form: str
) -> None:
    found = exact_row(*row)
    assert sentence.replace("{}", f"{float(found[column]):{form}}") in TEXT
    assert found["verdict"] == "fails"


def test_the_settings_of_these_numbers() -> None:
    for statement, variant in (("AUD-14", "as-written"), ("AUD-13", "as-coded")):
        row = exact_row(statement, "gdp-ncb", variant, "")
        assert (row["horizon"], row["parameters"], row["arms"]) == (10**7, "epsilon=0.2", 2)
    assert exact_row("AUD-16", "ldp-ncb", "as-coded", "")["parameters"] == "epsilon=0.2"
    assert exact_row("AUD-5", "ts-gaussian", "as-written", "")["claimed"] == 1e-4


def test_from_which_epsilon_dp_bai_gauss_is_refuted() -> None:
    """Three arms along one line; between the epsilons of the page and a hundredth less."""

    def is_refuted(epsilon: float, delta: float) -> bool:
        return classical_delta(epsilon, delta) > delta

    for epsilon, delta in ((4.7, 0.42), (5.7, 0.1), (6.8, 0.01), (8.8, 1e-6)):
        assert is_refuted(epsilon + 0.05, delta)
        assert not is_refuted(epsilon - 0.05, delta)
        level = f"{delta:g}".replace("e-0", "e-")
        assert re.search(rf"from {epsilon}( on)? at (delta = )?{level}", TEXT)
    assert not any(is_refuted(4.7, step / 1000.0) for step in range(1, 1000))
    assert "Below 4.7 no event that was computed speaks against it at any delta" in TEXT


def test_the_controls_are_as_the_page_says() -> None:
    controls = LEDGER[LEDGER["statement"] == "AUD-19"]
    proved = controls[controls["engine"] == "support"]
    assert [*map(float, proved["lower"])] == [math.inf] * 8
    seen = controls[controls["engine"].isin(["D", "black box"])]
    largest = seen.groupby("algorithm")["lower"].max().astype(float).round(1)
    assert set(largest[["ucb1", "ncb", "od-linbai", "sequential-halving"]]) == {11.8}
    assert (
        "of 11.8 for UCB1, OD-LinBAI, Sequential Halving and NCB; but 0 for NCB as written" in TEXT
    )
    uniform = seen[(seen["algorithm"] == "ncb") & (seen["variant"] == "as-written")].squeeze()
    assert (float(uniform["lower"]), int(uniform["horizon"])) == (0.0, 100)
    assert "outlasts its 100 rounds" in TEXT


def test_the_page_names_what_fails_and_nothing_else() -> None:
    """Each algorithm with a refuted guarantee at published constants, and rewards up to 1."""
    fails = LEDGER[(LEDGER["verdict"] == "fails") & ~LEDGER["scaled"]]
    named = {row[:3] for _, row, *_ in SENTENCES}
    assert set(fails[KEYS[:3]].itertuples(index=False, name=None)) == named | {
        ("AUD-10", "dp-bai", "as-written"),
        ("AUD-10", "baseline", "as-written"),
        ("AUD-12", "dp-bai-gauss", "as-written"),
        ("AUD-17", "adap-ucb", "as-coded"),
    }


def test_no_row_of_the_black_box_shows_nothing_without_a_word() -> None:
    silent = LEDGER[(LEDGER["lower"] == 0.0) | (LEDGER["power"] == "missed")]
    assert set(silent["engine"]) == {"black box"}
    assert silent["event"].str.fullmatch("nothing seen: .{20,}").all()
    assert not LEDGER["event"].drop(silent.index).str.contains("nothing seen").any()
