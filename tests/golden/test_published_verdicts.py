"""Published intervals give the published decisions, and these the published verdicts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.claims.entries import FINDING, Claim, Comparison, Interpretation
from dpbandits.claims.judge import _verdict
from dpbandits.claims.regions import REPORT
from dpbandits.claims.verdict import combine_comparisons, decide
from dpbandits.pipeline.project import Project
from found_papers import PAPERS

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "docs/figures"
PROJECT = Project.load(ROOT)
ROW = ["claim", "variant", "interpretation"]

Row = dict[Any, Any]


def judged_rows(paper: str) -> Iterator[tuple[Claim, Interpretation, list[Row]]]:
    """Yield every row of the ledger that results decide, with its published comparisons."""
    evidence = pd.read_csv(PUBLISHED / paper / "evidence.csv", keep_default_na=False)
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
    files = [PUBLISHED / paper / name for name in ("claims.csv", "findings.csv")]
    ledger = pd.concat(pd.read_csv(path, keep_default_na=False) for path in files)
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
    assert {claim.kind == FINDING for claim, _, _ in judged_rows(paper)} == {True, False}
