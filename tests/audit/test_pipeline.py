"""The audit in the pipeline: a line for everything, verdicts, and agreement with the guarantees."""

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.auditing.rows import STATEMENTS, claim_on, stated_in
from dpbandits.auditing.run import published
from dpbandits.comparisons.privacy_audit import tables
from dpbandits.comparisons.privacy_audit.analytic import ANALYTIC
from dpbandits.comparisons.privacy_audit.tables import (
    FAILS,
    NOT_CONTRADICTED,
    NOTHING_CLAIMED,
    all_rows,
    judged,
    ledger,
    missing,
    strongest,
)
from dpbandits.errors import InputError
from found_papers import PLAYED

ROOT = Path(__file__).resolve().parents[2]

PER_ROUND, QUOTED, LARGER = ("AUD-1", "AUD-5"), ("AUD-4", "AUD-8"), ("AUD-10",)
"""Statements that are not the guarantee of a whole run with rewards in [0, 1]."""


@cache
def exact() -> pd.DataFrame:
    """Exact rows at the quick scale, judged."""
    frames = [ANALYTIC[name]("quick", 0, 1) for name in ("releases", "decisions", "budgets")]
    return judged(pd.concat(frames, ignore_index=True))


def black_box_cases() -> list[tuple[str, str, str]]:
    """Return algorithm, variant and statement of each published black-box audit."""
    settings = [(case.question.setting, case.statement) for case in published()]
    return [(each.definition.id, each.variant, statement) for each, statement in settings]


def test_every_algorithm_and_variant_has_a_black_box_run() -> None:
    played = {(name, variant) for name, variant, _ in black_box_cases()}
    assert played == {(name, each) for name in tables.AUDITED for each in REGISTRY[name].variants}
    assert PLAYED <= tables.AUDITED


def test_an_algorithm_without_a_row_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = exact().drop(columns=["verdict", "observable"])
    rows = rows[rows["algorithm"] != "gdp-ncb"]
    assert {"gdp-ncb as-written", "gdp-ncb as-coded", "gdp-ncb repaired"} < set(missing(rows))
    with pytest.raises(InputError, match="gdp-ncb as-written"):
        all_rows({"rows": rows})
    monkeypatch.setattr(tables, "REGISTRY", {"dp-se": REGISTRY["dp-se"]})
    assert missing(rows) == []


def test_an_algorithm_that_is_not_audited_is_listed_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = exact().drop(columns=["verdict", "observable"])
    audited = {name: REGISTRY[name] for name in rows["algorithm"].unique()}
    monkeypatch.setattr(tables, "AUDITED", frozenset(audited) - {"gdp-ncb"})
    monkeypatch.setattr(tables, "REGISTRY", audited)
    found = ledger({"rows": rows[rows["algorithm"] != "gdp-ncb"].assign(series="", x=0, y=0)})
    lines = found[found["algorithm"] == "gdp-ncb"]
    assert list(lines["verdict"]) == ["not audited"]
    assert lines["lower"].isna().all()
    assert set(found["verdict"]) > {"not audited"}


def test_every_row_names_a_claim_of_the_ledger_or_says_why_there_is_none() -> None:
    ledger_page = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    ids = set(re.findall(r"\[([A-Z]+-[CF]\d+[a-z]?)\]", ledger_page))
    for statement, (_, claim) in STATEMENTS.items():
        assert claim in ids or claim.startswith("none: "), statement
    for row in exact().to_dict("records"):
        assert row["claim"] == claim_on(row["statement"], row["algorithm"])
        assert row["claim"] in ids or row["claim"].startswith("none: ")
    for name, _, statement in black_box_cases():
        case = REGISTRY[name].audit
        assert case is not None
        assert case.claim in ("", claim_on(statement, name))


def test_the_variants_of_gdp_ncb_have_a_statement_each() -> None:
    numbers = {"as-coded": "AUD-13", "as-written": "AUD-14", "repaired": "AUD-15"}
    rows = exact()[["algorithm", "variant", "statement"]].itertuples(index=False)
    for algorithm, variant, statement in [*rows, *black_box_cases()]:
        if algorithm in ("gdp-ncb", "anytime-gdp-ncb"):
            assert statement == numbers[variant]


def test_every_statement_has_words() -> None:
    rows = exact()
    words = {stated_in(*pair) for pair in zip(rows["statement"], rows["algorithm"], strict=True)}
    assert "dp-ncb, Theorems 2 and 4" in words
    assert "Azize and Basu (2022)" in words
    assert not any("AUD" in each for each in words)


@pytest.mark.parametrize(
    ("log10", "text"),
    [
        (-math.inf, "0"),
        (0.0, "1"),
        (-0.04, "0.91"),
        (-2.5, "0.0032"),
        (-6.3, "5.0e-7"),
        (-7.0, "1.0e-7"),
        (-7.0001, "1.0e-7"),
        (-1_390_984.14, "7.2e-1390985"),
    ],
)
def test_chances_are_numbers_with_whole_exponents(log10: float, text: str) -> None:
    assert tables._chance(pd.Series({"log10_alpha": log10})) == text


def made(**columns: Any) -> pd.DataFrame:
    """Return rows that differ in the given columns."""
    one = exact().drop(columns=["verdict", "observable"]).iloc[[0]]
    rows = pd.concat([one] * len(next(iter(columns.values()))), ignore_index=True)
    return rows.assign(**columns)


def test_exact_bounds_refute_by_value_and_statistical_ones_together() -> None:
    rows = made(lower=[1.0, 1.0 + 1e-5, 1.0 + 1e-8, 5.0], claimed=[1.0, 1.0, 1.0, math.inf])
    expected = [NOT_CONTRADICTED, FAILS, NOT_CONTRADICTED, NOTHING_CLAIMED]
    assert list(judged(rows)["verdict"]) == expected
    # Each alone is below 5 %; together the first alone is below its share.
    p_values = [0.01, 0.03, 0.04, 0.2]
    rows = made(p_value=p_values, lower=[2.0] * 4, claimed=[1.0] * 4, confidence=[0.95] * 4)
    assert list(judged(rows)["verdict"]) == [FAILS, *[NOT_CONTRADICTED] * 3]


def test_the_strongest_row_of_a_group_is_the_one_of_the_largest_share() -> None:
    rows = judged(made(lower=[1.0, 3.0, 2.0], claimed=[1.0, 10.0, 1.0], ratio=[1.0, 0.3, 2.0]))
    assert list(strongest(rows)["lower"]) == [2.0]


def test_the_ledger_has_words_for_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "missing", lambda rows: [])
    rows = ledger({"exact": exact().drop(columns=["verdict", "observable"])})
    coded = rows[(rows["algorithm"] == "adap-ucb") & (rows["variant"] == "as-coded")].iloc[0]
    assert (coded["bound"], coded["claim_in_words"], coded["verdict"]) == (
        "epsilon ≥ unbounded",
        "1",
        FAILS,
    )
    assert list(rows["statement"].str.removeprefix("AUD-").astype(int).diff().dropna() < 0) == [
        False
    ] * (len(rows) - 1)


def status(row: "pd.Series[Any]") -> str:
    """Return what is known of the guarantee in the setting of a row."""
    definition = REGISTRY[row["algorithm"]]
    values = dict(re.findall(r"(\w+)=([0-9.e+-]+)", row["parameters"]))
    parameters = definition.parameters_from(
        {
            key: type(definition.example[key])(float(value))
            for key, value in values.items()
            if key in definition.example
        }
    )
    chosen = dict(each.split("=") for each in filter(None, row["interpretation"].split(", ")))
    return str(
        guarantee_of(
            definition,
            parameters,
            int(row["horizon"]),
            variant=row["variant"],
            interpretations=chosen,
        ).status
    )


def test_what_is_known_of_the_guarantees_agrees_with_the_audit() -> None:
    """A bound above its claim refutes in that setting, and what is refuted has one.

    What a window of Anytime GDP-NCB as coded loses is computed by the audit alone.
    """
    rows = exact()
    outside = (*PER_ROUND, *QUOTED, *LARGER)
    rows = rows[~rows["statement"].isin(outside) & ~rows["scaled"] & rows["claimed"].lt(math.inf)]
    known = pd.Series([status(row) for _, row in rows.iterrows()], index=rows.index)
    fails = rows["verdict"] == FAILS
    of_window = (rows["algorithm"] == "anytime-gdp-ncb") & (rows["variant"] == "as-coded")
    assert set(known[of_window]) == {"stated"}
    disagree = rows[fails & (known != "refuted") & ~of_window]
    named = disagree[["statement", "algorithm", "variant", "interpretation", "parameters", "ratio"]]
    assert disagree.empty, named.to_string()
    key = ["algorithm", "variant"]
    refuted = set(map(tuple, rows.loc[known == "refuted", key].to_numpy()))
    assert refuted == set(map(tuple, rows.loc[fails & ~of_window, key].to_numpy()))
