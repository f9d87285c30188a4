"""The ledger: its columns, which comparison a row shows, and the words beside it."""

import io

import pandas as pd
import pytest

from dpbandits.claims.docket import Claim, Interpretation
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.ledger import (
    COMPARISON_COLUMNS,
    LEDGER_COLUMNS,
    comparisons,
    explain,
    ledger,
    to_csv,
)
from toy_claims import claim, comparison, on_series, toy_evidence


def judged(toy: Claim, means: list[float], **settings: object) -> list[Judgement]:
    scale = settings.pop("scale", "paper")
    return judge([toy], toy_evidence(means, **settings), scale)  # type: ignore[arg-type]


def row(toy: Claim, means: list[float], **settings: object) -> pd.Series:
    return ledger(judged(toy, means, **settings)).iloc[0]


def test_columns_are_those_of_the_contract() -> None:
    """Design, contract 2."""
    contract = "claim,kind,variant,interpretation,verdict,estimate,lo,hi,runs,runs_paper,"
    contract += "verdict_at_paper_runs,scale,detail"
    found = judged(claim(*on_series(0)), [-2.0])
    assert ",".join(ledger(found).columns) == ",".join(LEDGER_COLUMNS) == contract
    assert tuple(comparisons(found).columns) == COMPARISON_COLUMNS
    assert tuple(ledger([]).columns) == LEDGER_COLUMNS


def test_a_claim_that_holds_shows_the_comparison_nearest_to_its_threshold() -> None:
    found = row(claim(*on_series(0, 1, 2)), [-3.0, -1.0, -2.0])
    assert found["verdict"] == "holds"
    assert found["estimate"] == pytest.approx(-1.0, abs=0.6)
    assert "binding comparison: series 1, asked: less than 0" in found["detail"]
    assert found["lo"] < found["estimate"] < found["hi"] < 0.0


def test_a_claim_that_fails_shows_the_worst_comparison() -> None:
    found = row(claim(*on_series(0, 1, 2)), [-3.0, 1.0, 2.0])
    assert (found["verdict"], found["runs"], found["runs_paper"]) == ("fails", 50, 10)
    assert "binding comparison: series 2" in found["detail"]
    assert "comparisons: 1 for, 2 against, 0 undecided" in found["detail"]


def test_a_claim_that_there_is_one_shows_the_clearest_or_the_nearest_miss() -> None:
    toy = claim(*on_series(0, 1), combine="any")
    assert "for: series 0; binding comparison: series 0" in row(toy, [-3.0, 1.0])["detail"]
    assert "none is for; binding comparison: series 1" in row(toy, [3.0, 1.0])["detail"]


def test_a_presumption_is_shown_only_where_it_refutes() -> None:
    toy = claim(*on_series(0), *on_series(1, kind="no_increase"))
    assert "binding comparison: series 0" in row(toy, [-3.0, -0.1])["detail"]
    assert "binding comparison: series 1" in row(toy, [-3.0, 3.0])["detail"]


def test_mixed_rows_list_their_parts() -> None:
    toy = claim(comparison(name="a", part="eta={which}", over={"which": (0, 1)}), runs_paper=0)
    detail = row(toy, [-2.0, 2.0])["detail"]
    assert detail.startswith("holds: eta=0; fails: eta=1; ")


def test_undecided_rows_say_how_many_runs_would_decide() -> None:
    found = row(claim(*on_series(0)), [-0.05], seed=2)
    assert found["verdict"] == "undecided"
    runs = int(found["detail"].split("about ")[1].split(" runs")[0])
    assert runs > 400
    # The scaling of an interval with runs, from the row itself.
    half = found["hi"] - found["estimate"]
    assert runs == pytest.approx(400 * (half / found["estimate"]) ** 2, abs=1.0)


def test_undecided_rows_show_what_would_settle_them_soonest() -> None:
    """One against settles a claim about all points: of two that lean so, the clearer one."""
    toy = claim(*on_series(0, 1, 2), analyses=(50,))
    found = row(toy, [-0.3, 0.0, 0.1], seed=4)
    table = comparisons(judged(toy, [-0.3, 0.0, 0.1], seed=4))
    leaning = table[table["estimate"] > 0].sort_values("estimate")
    assert found["verdict"] == "undecided"
    assert found["estimate"] == leaning["estimate"].iloc[-1]


def test_a_lost_number_is_named() -> None:
    toy = claim(comparison("constant", arguments={"value": float("nan")}, name="x"), analyses=())
    found = row(toy, [0.0])
    assert found["verdict"] == "undecided"
    assert found["detail"].endswith(
        "binding comparison: x, asked: less than 0; no number was measured"
    )


def test_the_quick_scale_says_it_is_no_evidence() -> None:
    found = row(claim(*on_series(0)), [-2.0], runs=20, scale="quick")
    assert found["scale"] == "quick"
    assert found["detail"].startswith("quick scale, no evidence; ")
    assert "no evidence" not in row(claim(*on_series(0)), [-2.0])["detail"]


def test_what_does_not_apply_says_why() -> None:
    toy = claim(
        *on_series(0), interpretations=(Interpretation("as-coded", (), "no code was released"),)
    )
    found = row(toy, [0.0])
    assert (found["verdict"], found["variant"]) == ("not applicable", "as-coded")
    assert found["detail"] == "no code was released"
    assert pd.isna(found["estimate"])


def test_every_comparison_is_a_row_of_the_evidence() -> None:
    toy = claim(*on_series(0, 1, part="p"), *on_series(2, exploratory=True, part="p"))
    table = comparisons(judged(toy, [-2.0, -2.0, 2.0]))
    assert table["comparison"].tolist() == ["series 0", "series 1", "series 2"]
    assert table["decided"].tolist() == ["for", "for", "against"]
    assert table["exploratory"].tolist() == [False, False, True]
    assert table["level"].tolist() == pytest.approx([0.0125 / 2, 0.0125, 0.0125]) or table[
        "level"
    ].tolist() == pytest.approx([0.0125, 0.0125 / 2, 0.0125])
    exact = claim(comparison("constant", arguments={"value": -1.0}), analyses=())
    assert comparisons(judged(exact, [0.0]))["level"].isna().all()
    assert set(table["part"]) == {"p"}
    assert set(table["threshold"]) == {"less than 0"}


def test_csv_text_is_stable_and_reads_back() -> None:
    toy = claim(
        *on_series(0, 1),
        interpretations=(Interpretation("as-written", (("log", "base2"), ("b", 1))),),
    )
    texts = {to_csv(ledger(judged(toy, [-2.0, -2.0]))) for _ in range(2)}
    assert len(texts) == 1
    text = texts.pop()
    assert "\r" not in text
    back = pd.read_csv(io.StringIO(text))
    assert back["interpretation"].item() == "log=base2,b=1"
    assert text.split("\n")[0] == ",".join(LEDGER_COLUMNS)
    assert len(str(back["estimate"].item()).replace(".", "").strip("-0")) <= 8


def test_explain_tells_every_comparison_and_the_verdict() -> None:
    toy = claim(
        *on_series(0, part="first"), *on_series(1, part="second"), *on_series(2, exploratory=True)
    )
    text = explain(judged(toy, [-2.0, 2.0, 2.0])[0])
    for line in (
        "TOY-C1 (experiment; Nowhere), as-written",
        "  statement: A toy.",
        "  interim analyses: 50 runs, each at level 0.0125",
        "  part 'first': holds",
        "  part 'second': fails",
        "  verdict at the paper's 10 runs: mixed",
    ):
        assert line in text.split("\n")
    assert "against   series 1: 2." in text
    assert "series 2 (exploratory)" in text
    assert "verdict: mixed; holds: first; fails: second" in text
