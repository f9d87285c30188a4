"""Published intervals give the published decisions, these the verdicts; none accuses wrongly."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from dpbandits.claims.docket import Claim, Comparison, Entry, Interpretation
from dpbandits.claims.judge import verdict_of
from dpbandits.claims.verdict import REPORT, combine_comparisons, decide
from dpbandits.papers import find_paper
from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from support import ROOT

PUBLISHED = ROOT / "docs/figures"
PROJECT = Project.load(ROOT)
ROW = ["claim", "variant", "interpretation"]

Row = dict[Any, Any]


def table_of(paper: str, *names: str) -> pd.DataFrame:
    """Return published tables as one; a paper may have no findings."""
    paths = [PUBLISHED / paper / f"{name}.csv" for name in names]
    return pd.concat(pd.read_csv(each, keep_default_na=False) for each in paths if each.exists())


def judged_rows(paper: str) -> Iterator[tuple[Entry, Interpretation, list[Row]]]:
    """Yield every row of the ledger that results decide, with its published comparisons."""
    evidence = table_of(paper, "evidence", "findings-evidence")
    numbers = evidence[["lo", "hi"]].apply(pd.to_numeric, errors="coerce")
    groups = evidence.assign(lo=numbers["lo"], hi=numbers["hi"]).groupby(ROW)
    rows = {key: group.to_dict("records") for key, group in groups}
    for claim in PROJECT.study(paper).stated:
        for interpretation in claim.judged_rows:
            yield (
                claim,
                interpretation,
                rows.get((claim.id, interpretation.variant, interpretation.label), []),
            )


def comparison_of(claim: Entry, interpretation: Interpretation, row: Row) -> Comparison:
    """Return the comparison of the config that a published one is of, by its name and point."""
    [found] = {
        id(question.comparison): question.comparison
        for question in claim.questions(interpretation)
        if question.part == row["part"]
        and row["comparison"].removeprefix(question.label)[:2] in ("", " [")
        and question.comparison.kind == row["kind"]
        and question.comparison.region.describe() == row["threshold"]
    }.values()
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_intervals_give_decisions_and_decisions_give_verdicts(paper: str) -> None:
    ledger = table_of(paper, "claims", "findings")
    verdicts = ledger.set_index(ROW)["verdict"]
    for claim, interpretation, rows in judged_rows(paper):
        parts: dict[str, list[Any]] = {}
        for row in rows:
            comparison = comparison_of(claim, interpretation, row)
            region, kind = comparison.region, comparison.kind
            decided = "reported" if kind == REPORT else decide(row["lo"], row["hi"], region)
            assert decided == row["decided"], row
            assert comparison.decides != row["exploratory"], row
            if comparison.decides:
                parts.setdefault(row["part"], []).append(decided)
        combined = {name: combine_comparisons(each, claim.combine) for name, each in parts.items()}
        expected = verdicts[claim.id, interpretation.variant, interpretation.label]
        assert verdict_of(claim, combined, interpretation) == expected, claim.id
    assert any(isinstance(claim, Claim) for claim, _, _ in judged_rows(paper))


@pytest.mark.parametrize("paper", PAPERS)
def test_published_verdicts_are_at_paper_scale_and_words_of_their_claims(paper: str) -> None:
    ledger, claims = table_of(paper, "claims"), PROJECT.study(paper).claims
    assert set(ledger["scale"]) == {"paper"}
    asked = {(each.id, row.variant, row.label): (each, row) for each in claims
             for row in each.interpretations}  # fmt: skip
    rows = ledger[["claim", "variant", "interpretation"]].itertuples(index=False, name=None)
    assert set(rows) == set(asked)
    for row in ledger.to_dict("records"):
        claim, interpretation = asked[row["claim"], row["variant"], row["interpretation"]]
        words = {*claim.words(interpretation), "undecided", "not testable", "not applicable"}
        assert row["verdict"] in words, row
    is_undecided = ledger["verdict"] == "undecided"
    unmeasured = ledger["detail"].str.contains("no number was measured")
    assert set(ledger["claim"][unmeasured]) <= set(ledger["claim"][~is_undecided])
    undecided = ledger[is_undecided & ~unmeasured]
    assert undecided["claim"].nunique() <= 3
    assert undecided["detail"].str.contains("runs would decide it").all()


@pytest.mark.parametrize("paper", PAPERS)
def test_no_order_and_no_composition_bound_accuses_a_paper(paper: str) -> None:
    """An order leaves constants open; an upper bound above a claim refutes at most its proof."""
    ledger, evidence = table_of(paper, "claims"), table_of(paper, "evidence")
    accused = set(ledger.loc[ledger["verdict"] == "fails", "claim"])
    orders = {claim.id for claim in PROJECT.study(paper).claims if claim.kind == "order"}
    assert not accused & orders
    composed = evidence["comparison"].str.contains("compos")
    against = composed & (evidence["decided"] == "against") & ~evidence["exploratory"]
    assert not accused & set(evidence.loc[against, "claim"])
    # A verdict in the family is never the opposite of the one at its own level.
    both = table_of(paper, "simultaneous")
    pairs = set(zip(both["verdict"], both["verdict_in_family"], strict=True))
    assert not pairs & {("holds", "fails"), ("fails", "holds"), ("undecided", "holds")}
    assert set(both["family_wise"]) <= {"exact", "yes", "only at its own level", "-"}


@pytest.mark.parametrize("paper", PAPERS)
def test_no_statistic_of_a_paper_is_idle(paper: str) -> None:
    module = paper.replace("-", "_")
    named = set()
    for claim in PROJECT.study(paper).stated:
        for interpretation in claim.interpretations:
            for question in claim.questions(interpretation):
                comparison, series = question.comparison, question.vocabulary.series
                tags = (tags.get("metric") for _, tags in comparison.operands)
                summary, _ = comparison.summary or ("", {})
                named |= {comparison.quantity, *tags}
                named |= {summary, *comparison.keep}
                named |= {(one.model_extra or {}).get("metric") for one in series.values()}
    functions = find_paper(paper).quantities
    own = {name for name, each in functions.items() if module in each.__module__}
    assert own <= named
