"""Published intervals give the published decisions, these the verdicts; none accuses wrongly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.claims.docket import FINDING, Claim, Comparison, Interpretation
from dpbandits.claims.judge import _verdict
from dpbandits.claims.statistics import OPERATIONS, Measurement
from dpbandits.claims.verdict import REPORT, combine_comparisons, decide
from dpbandits.papers import find_paper
from dpbandits.pipeline.project import Project
from found_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "docs/figures"
PROJECT = Project.load(ROOT)
ROW = ["claim", "variant", "interpretation"]

Row = dict[Any, Any]


def table_of(paper: str, name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / paper / f"{name}.csv", keep_default_na=False)


def judged_rows(paper: str) -> Iterator[tuple[Claim, Interpretation, list[Row]]]:
    """Yield every row of the ledger that results decide, with its published comparisons."""
    evidence = table_of(paper, "evidence")
    numbers = evidence[["lo", "hi"]].apply(pd.to_numeric, errors="coerce")
    groups = evidence.assign(lo=numbers["lo"], hi=numbers["hi"]).groupby(ROW)
    rows = {key: group.to_dict("records") for key, group in groups}
    for claim in PROJECT.study(paper).stated:
        for interpretation in filter(lambda each: each.is_judged, claim.interpretations):
            yield (
                claim,
                interpretation,
                rows.get((claim.id, interpretation.variant, interpretation.label), []),
            )


def comparison_of(claim: Claim, interpretation: Interpretation, row: Row) -> Comparison:
    """Return the comparison of the config that a published one is of, by its name and point."""
    [found] = {
        id(comparison): comparison
        for comparison in claim.comparisons
        if comparison.is_asked_of(interpretation)
        for variables in comparison.bindings(claim.settings(interpretation))
        if comparison.part.format(**variables) == row["part"]
        and row["comparison"].removeprefix(comparison.name.format(**variables))[:2] in ("", " [")
        and comparison.kind == row["kind"]
        and comparison.region.describe() == row["threshold"]
    }.values()
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_intervals_give_decisions_and_decisions_give_verdicts(paper: str) -> None:
    ledger = pd.concat(table_of(paper, name) for name in ("claims", "findings"))
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
        assert _verdict(claim, combined, interpretation) == expected, claim.id
    assert any(claim.kind != FINDING for claim, _, _ in judged_rows(paper))


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
        for measured in (each.statistic for each in claim.comparisons):
            if isinstance(measured, Measurement):
                names = [one.tags.get("metric") for one in measured.series.values()]
                names += [each[0] for each in (measured.keep, measured.summary) if each]
                functions = {measured.quantities.get(str(name)) for name in names}
                named |= functions | ({measured.operation} - {*OPERATIONS})
            else:
                named.add(measured)
    own = {each for each in find_paper(paper).statistics.values() if module in each.__module__}
    assert own <= named
