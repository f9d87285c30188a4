"""The audit's rows as a whole: what exceeds its claim, ids, verdicts, drawings, the page."""

import math
import re
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy.stats import norm

from dpbandits import privacy
from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.auditing.events import LN_OBSERVABLE, LOG10, LOG10_OBSERVABLE, Event
from dpbandits.auditing.lattice import budget_rows, epsilon_rows, modified_rows, theorem_3_rows
from dpbandits.auditing.rows import (
    AUDIT_COLUMNS,
    STATEMENTS,
    AuditRow,
    claim_on,
    exact_row,
    is_observable,
    to_frame,
)
from dpbandits.auditing.run import published
from dpbandits.auditing.statements import swept_rows
from dpbandits.auditing.thompson import decision_rows, far_rows, quoted_rows, sampled_rows
from dpbandits.comparisons import audit_figures as diagrams
from dpbandits.comparisons import privacy_audit as tables
from dpbandits.comparisons.privacy_audit import (
    COUNTEREXAMPLE,
    NOT_CONTRADICTED,
    NOTHING_CLAIMED,
    all_rows,
    judged,
    ledger,
    rows_frame,
    stated_in,
    strongest,
)
from dpbandits.pages.contents import Contents
from dpbandits.pages.documents import audit_page
from dpbandits.privacy.witnesses import classical_delta
from dpbandits.reporting.draw import draw_diagram
from found_papers import PLAYED, PROJECT
from shared import ExactResults
from support import DOCUMENTS, ROOT, refused

pytestmark = pytest.mark.slow
"""All of them read the rows of the audit, which take half a minute."""

TOLERANCE = 1e-9
KEYS = ["statement", "algorithm", "variant", "interpretation"]


@cache
def exact() -> pd.DataFrame:
    """Exact rows at the quick scale, judged; all workers share them with the golden csv."""
    shared = ExactResults("privacy-audit")
    frames = [shared[f"privacy-audit/{name}"] for name in ("releases", "decisions", "budgets")]
    return judged(pd.concat(frames, ignore_index=True))


def unjudged() -> pd.DataFrame:
    return exact().drop(columns=["verdict", "observable"])


@cache
def thompson() -> tuple[AuditRow, ...]:
    """Rows of every statement on Thompson sampling, at a scale of seconds."""
    return (
        *decision_rows((0.1, 1e-3)),
        *theorem_3_rows((3, 30), (4,)),
        *far_rows((10, 100, 10_000)),
        *sampled_rows(((2, 20, 4_000), (3, 6, 400))),
        *epsilon_rows((10, 30)),
        *modified_rows((1, 5), 60, (0, 5), (0, 1_000)),
        *quoted_rows((10, 100, 10_000), 10_000),
        *budget_rows((100,), (0.0, 1.0)),
    )


def of(statement: str, **tags: object) -> pd.DataFrame:
    """Return the rows of a statement with these fields."""
    rows = exact()[exact()["statement"] == statement]
    for name, value in tags.items():
        rows = rows[rows[name] == value]
    assert len(rows)
    return rows


def largest(statement: str, **tags: object) -> float:
    return float(of(statement, **tags)["ratio"].max())


def test_every_statement_has_rows_that_can_be_read() -> None:
    frame = pd.concat([unjudged(), rows_frame("thompson", thompson())], ignore_index=True)
    assert set(frame["statement"]) == set(STATEMENTS)
    assert frame[["pair", "event"]].ne("").all().all()
    assert frame[["log10_alpha", "log10_beta"]].le(0.0).all().all()
    assert (frame["confidence"].eq(1.0) == frame["runs"].eq(0)).all()
    for algorithm, variant in zip(frame["algorithm"], frame["variant"], strict=True):
        assert variant in REGISTRY[algorithm].variants
    words = {stated_in(*row) for row in zip(frame["statement"], frame["algorithm"], strict=True)}
    assert "Azize and Basu (2022)" in words
    assert not any("AUD" in each for each in words)


@cache
def black_box_cases() -> list[tuple[str, str, str]]:
    """Return algorithm, variant and statement of each published black-box audit."""
    cases = [(case.question, case.statement) for case in published()]
    return [(each.definition.id, each.variant, statement) for each, statement in cases]


def test_every_algorithm_and_variant_has_a_black_box_run() -> None:
    played = {(name, variant) for name, variant, _ in black_box_cases()}
    assert played == {(name, each) for name in tables.AUDITED for each in REGISTRY[name].variants}
    assert PLAYED <= tables.AUDITED


def test_every_row_names_a_claim_of_the_ledger_or_says_why_there_is_none() -> None:
    page = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    ids = set(re.findall(r"\[([A-Z]+-[CF]\d+[a-z]?)\]", page))
    rows = exact()[["statement", "algorithm"]].itertuples(index=False)
    cases = [(statement, name) for name, _, statement in black_box_cases()]
    for statement, name in [*rows, *cases]:
        claim = claim_on(statement, name)
        assert claim in ids or claim.startswith("none: "), statement


def test_what_exceeds_its_claim() -> None:
    # Of the repaired GDP-NCB eight releases cost 8 / log2 T = 0.888 together, at T = 515.
    for statement, least in (("AUD-9", 0.9), ("AUD-15", 0.88), ("AUD-18", 0.9)):
        assert least < largest(statement) <= 1.0 + TOLERANCE
    assert 0.9 < largest("AUD-17", variant="as-written") <= 1.0
    coded = of("AUD-17", variant="as-coded")
    assert coded[["algorithm", "lower", "claimed"]].values.tolist() == [["adap-ucb", math.inf, 1]]
    assert largest("AUD-10") == pytest.approx(1.1, rel=1e-12)
    assert largest("AUD-11", interpretation="norm=l1") <= 1.0 + TOLERANCE
    assert largest("AUD-11", interpretation="norm=l2") == pytest.approx(math.sqrt(2.0))
    assert 0.99 < largest("AUD-12", interpretation="calibration=analytic") <= 1.0 + TOLERANCE
    classical = of("AUD-12", interpretation="calibration=classical")
    at = {each: classical["parameters"].str.endswith(f"epsilon={each}") for each in (1, 20)}
    assert classical["ratio"][at[1]].max() < 1.0
    assert classical["ratio"][at[20]].max() > 100.0
    for tags in ({"scaled": False}, {"scaled": True}, {"algorithm": "anytime-gdp-ncb"}):
        assert largest("AUD-13", **tags) > 1.1
    written = of("AUD-14", algorithm="gdp-ncb", interpretation="", scaled=False)
    assert (written["ratio"] > 1.0).all()
    assert (of("AUD-14", engine="support")["lower"] == math.inf).all()
    controls = of("AUD-19")
    assert (controls[["lower", "claimed"]] == math.inf).all(axis=None)
    assert set(controls["algorithm"]) == {"ucb1", "ncb", "od-linbai", "sequential-halving"}


def test_an_event_is_observable_from_one_chance_on_or_where_one_input_excludes_it() -> None:
    assert pytest.approx(LOG10_OBSERVABLE, rel=1e-12) == LN_OBSERVABLE / LOG10
    # log10 of the chance under the less likely input, and of no event under the other one.
    chances = {(-6.0, -1.0): True, (-6.1, -1.0): False, (-math.inf, -1e-5): True}
    chances |= {(-math.inf, 0.0): False}
    rows = pd.DataFrame(list(chances), columns=["log10_alpha", "log10_beta"])
    assert is_observable(rows).tolist() == list(chances.values())


PROVED = ("AUD-1", "AUD-2", "AUD-3", "AUD-4", "AUD-7", "AUD-8")
"""Statements with a proof: a bound above them would be an error of the engine."""


def test_bounds_on_thompson_sampling_are_those_of_their_events_and_below_what_is_proved() -> None:
    for row in thompson():
        if row.statement in PROVED:
            assert 0.0 < row.lower <= row.claimed * (1.0 + 1e-9), row
        observable = min(row.log10_alpha, row.log10_beta) > -6.1
        if row.measure == "mu" and row.engine != "exact sequence" and observable:
            shown = norm.isf(10.0**row.log10_alpha) - norm.ppf(10.0**row.log10_beta)
            assert row.lower == pytest.approx(shown, rel=1e-5), row
        if row.statement == "AUD-5":
            epsilon = privacy.ts_round_epsilon(row.claimed, 2)
            limit = privacy.report_noisy_max_true_delta(epsilon, math.sqrt(0.5), -math.sqrt(2.0))
            assert row.lower == pytest.approx(limit, rel=2e-2, abs=1e-12)
            assert row.lower <= limit + 1e-12
    quoted = [row.ratio for row in thompson() if row.statement == "AUD-6"]
    assert max(quoted) > 1.04


def test_exact_rows_do_not_depend_on_the_seed() -> None:
    lower = [[row.lower for row in sampled_rows(((2, 20, 400),), seed)] for seed in (1, 1, 2)]
    assert lower[0] == lower[1] != lower[2]
    assert swept_rows("decisions", seed=1) == swept_rows("decisions", seed=2)


ROW = exact_row(
    Event("arm 1 once", math.log(0.1), math.log(0.4)),
    "first reward of arm 1: 0 or 1",
    statement="AUD-2",
    algorithm="ts-gaussian",
    horizon=10,
    claimed=2.0,
)


def test_rows_do_not_depend_on_the_machine_and_are_bounds() -> None:
    made = {**vars(ROW), "seconds": 3.0}
    frame = to_frame([ROW])
    assert to_frame([AuditRow(**made)]).equals(frame)
    assert list(frame) == AUDIT_COLUMNS
    assert frame["claim"].item() == "TSDP-C29"
    for claimed, ratio in ((2.0, math.log(4.0) / 2.0), (math.inf, 0.0), (0.0, math.inf)):
        assert AuditRow(**{**made, "claimed": claimed}).ratio == pytest.approx(ratio)
    assert AuditRow(**{**made, "engine": "support", "lower": math.inf}).lower == math.inf
    infinite = {"lower": math.inf, "engine": "likelihood"}
    for wrong in ({"lower": -1.0}, {"lower": math.nan}, infinite, {"confidence": 0.0}):
        refused(partial(AuditRow, **{**made, **wrong}), "audit row")


def test_an_algorithm_without_a_row_is_an_error_unless_it_is_not_audited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = {name: REGISTRY[name] for name in unjudged()["algorithm"].unique()}
    rows = unjudged()[unjudged()["algorithm"] != "gdp-ncb"]
    lacking = [f"gdp-ncb {variant}" for variant in ("as-written", "as-coded", "repaired")]
    refused(partial(all_rows, {"rows": rows}), *lacking)
    monkeypatch.setattr(tables, "AUDITED", frozenset(played) - {"gdp-ncb"})
    monkeypatch.setattr(tables, "REGISTRY", played)
    monkeypatch.setattr(tables, "missing", lambda rows: [])
    found = ledger({"rows": rows})
    lines = found[found["algorithm"] == "gdp-ncb"]
    assert list(lines["verdict"]) == ["not audited"]
    assert lines["lower"].isna().all()


def made(**columns: Any) -> pd.DataFrame:
    """Return rows that differ in the given columns."""
    one = unjudged().iloc[[0]]
    rows = pd.concat([one] * len(next(iter(columns.values()))), ignore_index=True)
    return rows.assign(**columns)


def test_exact_bounds_refute_by_value_and_statistical_ones_together() -> None:
    rows = made(lower=[1.0, 1.0 + 1e-5, 1.0 + 1e-8, 5.0], claimed=[1.0, 1.0, 1.0, math.inf])
    expected = [NOT_CONTRADICTED, COUNTEREXAMPLE, NOT_CONTRADICTED, NOTHING_CLAIMED]
    assert list(judged(rows)["verdict"]) == expected
    # Each alone is below 5 %; together the first alone is below its share.
    p_values = [0.01, 0.03, 0.04, 0.2]
    rows = made(p_value=p_values, lower=[2.0] * 4, claimed=[1.0] * 4, confidence=[0.95] * 4)
    assert list(judged(rows)["verdict"]) == [COUNTEREXAMPLE, *[NOT_CONTRADICTED] * 3]
    rows = judged(made(lower=[1.0, 3.0, 2.0], claimed=[1.0, 10.0, 1.0], ratio=[1.0, 0.3, 2.0]))
    assert list(strongest(rows)["lower"]) == [2.0]


ELSEWHERE = ("AUD-1", "AUD-5", "AUD-4", "AUD-8", "AUD-10")
"""Statements on a round, on quoted numbers and on larger rewards: not on a whole run in [0, 1]."""


def status(row: "pd.Series[Any]") -> str:
    """Return what is known of the guarantee in the setting of a row."""
    definition, kinds = REGISTRY[row["algorithm"]], REGISTRY[row["algorithm"]].example
    values = dict(re.findall(r"(\w+)=([0-9.e+-]+)", row["parameters"]))
    given = {key: type(kinds[key])(float(value)) for key, value in values.items() if key in kinds}
    chosen = dict(each.split("=") for each in filter(None, row["interpretation"].split(", ")))
    found = guarantee_of(
        definition,
        definition.parameters_from(given),
        int(row["horizon"]),
        variant=row["variant"],
        interpretations=chosen,
    )
    return str(found.status)


def test_what_is_known_of_the_guarantees_agrees_with_the_audit() -> None:
    """A bound above its claim refutes in that setting, and what is refuted has one.

    What a window of Anytime GDP-NCB as coded loses is computed by the audit alone.
    """
    rows = exact()[exact()["claimed"].lt(math.inf) & ~exact()["scaled"]]
    rows = rows[~rows["statement"].isin(ELSEWHERE)]
    known = pd.Series([status(row) for _, row in rows.iterrows()], index=rows.index)
    of_window = (rows["algorithm"] == "anytime-gdp-ncb") & (rows["variant"] == "as-coded")
    assert set(known[of_window]) == {"stated"}
    fails = (rows["verdict"] == COUNTEREXAMPLE) & ~of_window
    disagree = rows[fails & (known != "refuted")]
    assert disagree.empty, disagree[[*KEYS, "parameters", "ratio"]].to_string()
    by_algorithm = [
        rows.set_index(["algorithm", "variant"]).index[each.to_numpy()].unique()
        for each in (known == "refuted", fails)
    ]
    assert set(by_algorithm[0]) == set(by_algorithm[1])


def test_the_figure_has_the_bounds_of_every_algorithm() -> None:
    played = [
        AuditRow(**{**vars(ROW), "statement": s, "algorithm": a, "variant": v})
        for a, v, s in black_box_cases()
    ]
    results = pd.concat([unjudged(), rows_frame("black-box", played)], ignore_index=True)
    drawn, points = draw_diagram(diagrams.summary, results)
    drawn.draw_without_rendering()
    texts = [text for text in drawn.findobj(Text) if text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 7.0
    assert {"series", "x", "y", "lo", "hi", "variant", "interpretation", "runs"} <= set(points)
    [axes] = drawn.axes
    assert len(points) >= len(axes.lines) / 4
    shown = " ".join(label.get_text() for label in axes.get_yticklabels())
    assert all(REGISTRY[algorithm].name in shown for algorithm, _, _ in black_box_cases())


TEXT = " ".join(DOCUMENTS["docs/audit.md"].split())
LEDGER = pd.read_csv(ROOT / "docs/tables/privacy-audit/extra-audit.csv", keep_default_na=False)
CONTENTS = Contents.of(PROJECT)


def rows_of(region: str) -> list[list[str]]:
    """Return the cells of a computed table, made of the published ledger."""
    page = audit_page(CONTENTS, DOCUMENTS["docs/audit.md"])
    lines = page.split(f"<!-- begin {region} -->\n")[1].split("\n<!-- end")[0].splitlines()
    return [line.strip("|").split("|") for line in lines[2:]]


def test_every_exceeded_guarantee_has_a_row_that_says_whose_algorithm_is_played() -> None:
    found = LEDGER[(LEDGER["verdict"] == "counterexample") & ~LEDGER["scaled"]]
    rows = rows_of("exceeded")
    assert len(rows) == len(found.drop_duplicates(["stated", "name"]))
    assert {row[4] for row in rows} <= {*found["share"]}
    printed = [row[0] for row in rows if row[2] == "as printed"]
    assert printed == [
        "TS-Gaussian",
        "DP-BAI-Gauss, classical calibration of the noise",
        "GDP-NCB",
        "Anytime GDP-NCB",
    ]
    coded = [row[0] for row in rows if row[2] == "released code"]
    assert coded == ["GDP-NCB, as coded", "LDP-NCB, as coded", "AdaP-UCB, as coded"]


def test_what_is_not_exceeded_has_no_algorithm_that_is() -> None:
    broken = {(row[1], row[0]) for row in rows_of("exceeded")}
    within = {(row[0], name) for row in rows_of("within") for name in row[1].split("; ")}
    assert within
    assert not within & broken
    assert ("dp-ncb, Theorems 2 and 4", "GDP-NCB") not in within
    assert all(float(row[2]) <= 1.0 for row in rows_of("within"))


def test_from_which_epsilon_dp_bai_gauss_is_refuted() -> None:
    """Three arms along one line; between the epsilons of the page and a hundredth less."""
    for epsilon, delta in ((4.7, 0.42), (5.7, 0.1), (6.8, 0.01), (8.8, 1e-6)):
        assert (
            classical_delta(epsilon - 0.05, delta) <= delta < classical_delta(epsilon + 0.05, delta)
        )
        level = f"{delta:g}".replace("e-0", "e-")
        assert re.search(rf"from {epsilon}( on)? at (delta = )?{level}", TEXT)
    deltas = np.arange(1, 1000) / 1000.0
    assert all(classical_delta(4.7, delta) <= delta for delta in deltas.tolist())
    assert "Below 4.7 no event that was computed speaks against it at any delta" in TEXT


def test_the_controls_are_as_the_page_says() -> None:
    controls = LEDGER[LEDGER["statement"] == "AUD-19"].astype({"lower": float})
    assert controls[controls["engine"] == "support"]["lower"].tolist() == [math.inf] * 8
    seen = controls[controls["engine"].isin(["D", "black box"])]
    largest = seen.groupby("algorithm")["lower"].max().round(1)
    assert set(largest[["ucb1", "ncb", "od-linbai", "sequential-halving"]]) == {11.8}
    assert "11.8 for UCB1, OD-LinBAI, Sequential Halving, and NCB as coded and repaired" in TEXT
    uniform = seen[(seen["algorithm"] == "ncb") & (seen["variant"] == "as-written")]
    assert uniform[["lower", "horizon"]].values.tolist() == [[0.0, 100]]
    assert "For NCB as written it certifies 0" in TEXT
    assert "outlasts its 100 rounds" in TEXT


def test_the_page_counts_what_the_black_box_catches_at_twice_the_epsilon() -> None:
    claimed = LEDGER[
        LEDGER["engine"].eq("black box") & LEDGER["claimed"].astype(float).lt(math.inf)
    ]
    caught, missed = (claimed["power"].str.match(word).sum() for word in ("caught", "missed"))
    untested = len(claimed) - caught - missed
    assert (claimed["power"] == "no parameter of noise").sum() == untested
    assert (
        f"Of {len(claimed)} rows with a claim the black box catches {caught} and misses {missed}; "
        f"{untested} have no parameter of noise."
    ) in TEXT


def test_no_row_of_the_black_box_shows_nothing_without_a_word() -> None:
    silent = LEDGER[(LEDGER["lower"] == 0.0) | (LEDGER["power"] == "missed")]
    assert set(silent["engine"]) == {"black box"}
    assert silent["event"].str.fullmatch("nothing seen: .{20,}").all()
    assert not LEDGER["event"].drop(silent.index).str.contains("nothing seen").any()
