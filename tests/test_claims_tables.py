"""The tables of verdicts: columns, binding comparisons, words; the ledger of all papers; counts."""

import copy
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpbandits.claims.judge import judge
from dpbandits.claims.tables import (
    LEDGER_COLUMNS,
    count_verdicts,
    evidence_table,
    join,
    verdict_table,
)
from dpbandits.config.claims import Claim
from dpbandits.pipeline.project import Project
from found_papers import PAPERS, PROJECT
from invented import copy_parts
from toy_claims import EXACT, claim, compare, finding, gap, number, on_series, toy_evidence


def row(toy: Claim, means: list[float], **settings: Any) -> pd.Series:
    return verdict_table(judge([toy], toy_evidence(means, **settings))).iloc[0]


SIDES = {"runs": 400, "runs_paper": 20}
EVERY, EXISTS = {"quantifier": "every"}, {"quantifier": "exists"}
LARGEST = [number(place, name, less=1) for name, place in {"x": -3.0, "y": -0.5, "z": -2.0}.items()]


@pytest.mark.parametrize(
    ("entries", "keys", "means", "measured", "detail"),
    [
        # Of what is as stated the nearest to its threshold, of what is not the furthest off.
        ([*on_series(0, 1, 2)], {}, [-3.0, -1.0, -2.0], "series 1", "3 of 3 comparisons as stated"),
        ([*on_series(0, 1, 2)], {}, [-3.0, 1.0, 2.0], "series 2",
         "1 of 3 comparisons as stated. except at: series 1; series 2"),
        ([*on_series(0, 1)], EVERY, [-3.0, 1.0], "series 1",
         "1 of 2 comparisons as stated. except at: series 1"),
        ([*on_series(0, 1, 2)], EXISTS, [-1.0, 1.0, -3.0], "series 2",
         "2 of 3 comparisons as stated. as at: series 0; series 2"),
        ([*on_series(0, 1)], EXISTS, [3.0, 1.0], "series 0", "0 of 2 comparisons as stated"),
        ([*on_series(0, 1)], SIDES, [-3.0, 0.0], "series 1",
         "1 of 2 comparisons as stated. open: series 1"),
        # Equal sides have a count of their own, and are no exception.
        ([*on_series(2), gap(0, 1)], SIDES, [0.0, 0.0, -1.0], "series 2",
         "1 of 1 comparisons as stated. equal: 0 - 1"),
        ([gap(0, 1)], SIDES, [0.0, 0.0], "0 - 1", "0 of 0 comparisons as stated. equal: 0 - 1"),
        ([*on_series(0), *on_series(1, ours=True)], {}, [-3.0, 1.0], "series 0",
         "1 of 1 comparisons as stated. otherwise at values that we chose: series 1"),
        ([*on_series(0, less=None)], {}, [-3.0], "", ""),
        (LARGEST, {"bound": True, **EXACT}, [0.0], "y", "3 of 3 comparisons as stated"),
        ([*on_series(0)], {"cannot": "It needs T = 1e9."}, [-3.0], "series 0",
         "It needs T = 1e9. 1 of 1 comparisons as stated"),
        ([*on_series(0)], {"runs": [500, 600]}, [-3.0], "series 0",
         "the results have 400 runs, the first interim analysis needs 500. "
         "1 of 1 comparisons as stated"),
    ],
)  # fmt: skip
def test_a_row_has_its_binding_comparison_and_names_every_exception(
    entries: list[Any], keys: dict[str, Any], means: list[float], measured: str, detail: str
) -> None:
    found = row(claim(*entries, **keys), means)
    assert (found["measured"], found["detail"]) == (measured, detail)


def test_a_row_shows_the_number_of_its_binding_comparison() -> None:
    found = row(claim(*on_series(0, 1, 2)), [-3.0, -1.0, -2.0])
    assert found["estimate"] == pytest.approx(-1.0, abs=0.6)
    assert found["lo"] < found["estimate"] < found["hi"] < 0.0
    words = found[["verdict", "asked", "runs", "runs_paper", "visible"]].tolist()
    assert words == ["as stated", "less than 0", 50, 10, "3 of 3"]
    size = row(claim(*on_series(0, less=None)), [-3.0])
    assert (size["verdict"], size["visible"], math.isnan(size["estimate"])) == ("size only", "", 1)


def test_a_claim_that_is_read_in_several_ways_has_one_word_and_each_reading_its_own() -> None:
    readings = [{"which": 0}, {"which": 1}]
    toy = claim(compare(), readings=readings, beside=[{"variant": "repaired", "which": 0}])
    table = verdict_table(judge([toy], toy_evidence([-3.0, 3.0])))
    assert table["verdict"].tolist() == ["depends on the reading"] * 2 + [""]
    assert table["of_reading"].tolist() == ["as stated", "not as stated", ""]
    assert table["role"].tolist() == ["judged", "judged", "beside"]
    assert table["runs"].tolist() == [50, 50, 400]
    assert table["interpretation"].tolist() == ["which=0", "which=1", "which=0"]
    assert table["estimate"].tolist() == pytest.approx([-3.0, 3.0, -3.0], abs=0.6)
    [shown] = verdict_table(judge([finding(number(-1.0))], toy_evidence([0.0]))).to_dict("records")
    assert (shown["kind"], shown["verdict"], shown["of_reading"]) == ("finding", "shown", "shown")


def test_the_chance_of_a_witness_and_what_would_be_seen_stand_in_its_row() -> None:
    chances = {-1.0: "0.1", -2.5: "0.0032", -4.2: "10^-4", -40810.5: "10^-40,810"}
    named = {"kind": "privacy", "chance": "log10", "seen_from": "seen", **EXACT}
    for log10, chance in chances.items():
        shown = number(log10, "log10", less=None), number(1.3, "seen", less=None)
        found = row(claim(number(0.4, at_most=1), *shown, **named), [0.0])
        assert (found["chance"], found["seen_from"], found["kind"]) == (chance, 1.3, "privacy")
    assert row(claim(number(0.4, at_most=1), **EXACT), [0.0])["chance"] == ""


def test_every_comparison_is_a_row_of_the_evidence() -> None:
    toy = claim(*on_series(0, 1), *on_series(2, ours=True), number(2.0, less=None))
    table = evidence_table(judge([toy], toy_evidence([-2.0, -2.0, 2.0])))
    assert table["comparison"].tolist() == ["series 0", "series 1", "series 2", "a number"]
    assert table["decided"].tolist() == ["for", "for", "against", "shown"]
    assert table["ours"].tolist() == [False, False, True, False]
    assert table["threshold"].tolist() == ["less than 0"] * 3 + [""]
    assert sorted(table["level"][:2]) == pytest.approx([0.0125 / 2, 0.0125])
    assert table["level"][2] == 0.0125
    assert math.isnan(table["level"][3])


def test_the_ledger_has_the_sentences_and_counts_each_claim_once_by_kind() -> None:
    readings = [{"which": 0}, {"which": 1}]
    claims = [
        claim(compare(), readings=readings, beside=[{"variant": "repaired", "which": 0}]),
        claim(*on_series(0), name="TOY-C2", readings=[{}, {"variant": "repaired"}]),
        claim(*on_series(0), name="TOY-C3", says="So  it\nis."),
        claim(number(1.0), name="TOY-C4", kind="theory", **EXACT),
        claim(number(1.0), name="TOY-C5", kind="privacy", **EXACT),
        claim(number(1.0), name="TOY-C6", kind="privacy", **EXACT, follows_from="TOY-C5"),
    ]
    table = verdict_table(judge(claims, toy_evidence([-3.0, 3.0]), in_family=True))
    figures = {each.id: [f"docs/figures/toy/fig{each.id[-1]}.svg"] for each in claims}
    whole = join("toy", claims, table, figures)
    assert tuple(whole.columns) == LEDGER_COLUMNS
    assert whole["claim"].tolist() == [f"TOY-C{i}" for i in (1, 1, 1, 2, 2, 3, 4, 5, 6)]
    assert whole["says"][5] == "So it is."
    by_kind = {
        "experiment": {"as stated": 2, "depends on the reading": 1},
        "theory": {"not as stated": 1},
        "privacy": {"counterexample": 1},
    }
    assert count_verdicts(whole, claims) == count_verdicts(whole[::-1], claims) == by_kind
    assert count_verdicts(whole, ()) == by_kind | {"privacy": {"counterexample": 2}}


def test_a_claim_more_or_a_paper_less_moves_no_verdict_of_other_papers(tmp_path: Path) -> None:
    folder = copy_parts(tmp_path, "config", "workflow") / "config/papers/dp-ncb"
    others = [paper for paper in PAPERS if paper != folder.name]

    def fingerprints(project: Project, *more: str) -> list[str]:
        return [project.study(paper).judged_fingerprint("claims") for paper in (*others, *more)]

    document = yaml.safe_load((folder / "claims.yaml").read_text())
    [first, *_] = document["claims"].values()
    document["claims"]["NCB-C99"] = copy.deepcopy(first)
    (folder / "claims.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    more = Project.load(tmp_path)
    assert fingerprints(PROJECT) == fingerprints(more)
    assert fingerprints(PROJECT, folder.name) != fingerprints(more, folder.name)
    for section in ("claims", "findings"):
        (folder / f"{section}.yaml").unlink()
    less = Project.load(tmp_path, config=dict(PROJECT.config) | {"papers": others})
    assert fingerprints(PROJECT) == fingerprints(less)
