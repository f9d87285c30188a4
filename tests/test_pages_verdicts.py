"""What a page says of a claim, and how claims are counted, on toy claims."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dpbandits.claims.judge import judge
from dpbandits.claims.tables import evidence_table, to_csv, verdict_table
from dpbandits.claims.verdict import VERDICTS
from dpbandits.config.claims import Claim, Finding
from dpbandits.pages.verdicts import COUNTED, ClaimOutcome, counts_text
from dpbandits.pipeline.project import read_verdicts
from dpbandits.pipeline.published import number_text
from toy_claims import EXACT, claim, compare, finding, gap, number, on_series, toy_evidence


def outcome(tmp_path: Any, entry: Claim | Finding, means: Sequence[float] = (0.0,)) -> ClaimOutcome:
    """What a page makes of the published tables of one claim."""
    evidence, tables = toy_evidence(means), []
    judged = judge([entry], evidence, in_family=isinstance(entry, Claim))
    for table in (verdict_table, evidence_table):
        (tmp_path / "table.csv").write_text(to_csv(table(judged)))
        tables.append(read_verdicts(tmp_path / "table.csv"))
    return ClaimOutcome("toy", entry, *(table.to_dict("records") for table in tables))


def test_answers_are_verdicts() -> None:
    assert set(COUNTED) < set(VERDICTS)


def test_the_points_of_a_part_come_with_their_numbers(tmp_path: Any) -> None:
    part = outcome(tmp_path, claim(*on_series(0, 1)), [-3.0, 1.0])
    assert part.word == "in part"
    [point] = part.points("against")
    assert part.exceptions == f", except at {point}"
    assert point.startswith("series 1 (1")
    # Of a sentence with a quantifier the row names it, too; where all are against it is plain.
    every = outcome(tmp_path, claim(*on_series(0, 1), quantifier="every"), [-3.0, 1.0])
    assert (every.word, every.exceptions) == ("not as stated", f", at {point}")
    assert outcome(tmp_path, claim(*on_series(0)), [1.0]).exceptions == ""


def test_points_of_one_name_are_named_by_themselves(tmp_path: Any) -> None:
    grid = claim(compare("series", value={"metric": "regret"}, **{"for": {"which": [0, 1]}}))
    [point] = outcome(tmp_path, grid, [-3.0, 1.0]).points("against")
    assert point.startswith("which=1 (1")


def test_open_equal_and_chosen_points_are_named_beside(tmp_path: Any) -> None:
    chosen = on_series(3, ours=True)
    entry = claim(*on_series(2), gap(0, 1, less=0), *chosen, runs=400, runs_paper=20)
    found = outcome(tmp_path, entry, [0.0, 0.0, -1.0, 1.0])
    assert found.left_out[0].startswith("not counted, because")
    assert found.left_out[1].startswith("at values that we chose it is not so: series 3 (")
    assert [row["visible"] for row in found.judged] == ["1 of 1"]
    [note, *_] = outcome(tmp_path, claim(*on_series(0), runs=400), [0.0]).left_out
    assert note.startswith("open: series 0 (")


def test_a_printed_number_has_the_digits_that_papers_print(tmp_path: Any) -> None:
    met = number(60.46245, "c", less=None, identity=60.46, tolerance=0.01)
    [said] = outcome(tmp_path, claim(met, **EXACT)).deciding
    assert said == "60.46 (asked: within [60.45, 60.47])"


def test_sides_that_are_equal_are_not_called_close(tmp_path: Any) -> None:
    entry = claim(*on_series(2), gap(0, 1, less=0), runs=400, runs_paper=20)
    close = outcome(tmp_path, entry, [0.0, 0.0, -1.0])
    assert [note.partition(":")[0] for note in close.left_out] == [
        "not counted, because the paper's number of runs could not tell the two values apart"
    ]
    rows = [
        {**row, "estimate": 0.0, "lo": 0.0, "hi": 0.0} if row["decided"] == "equal" else row
        for row in close.compared
    ]
    [note] = replace(close, compared=rows).left_out
    assert note.startswith("not counted, because the two values compared are equal: ")


def test_words_that_are_not_judged_are_quoted(tmp_path: Any) -> None:
    entry = claim(*on_series(0), not_judged=["slightly", "often"])
    assert outcome(tmp_path, entry, [-3.0]).not_judged == '"slightly", "often"'


def test_readings_have_their_words_and_those_beside_their_numbers(tmp_path: Any) -> None:
    which = [{"which": 0}, {"which": 1}]
    beside = [{"which": 2}, {"variant": "repaired", "which": 0}]
    entry = claim(compare("it"), readings=which, beside=beside)
    found = outcome(tmp_path, entry, [-3.0, 3.0, 5.0])
    assert found.word == "depends on the reading"
    assert found.readings == [
        "as written, which = 0: as stated",
        "as written, which = 1: not as stated",
    ]
    [printed] = found.as_printed
    assert printed.startswith("as printed, which = 2, it: 4.98 [")
    [(label, judged, repaired)] = found.repairs
    assert label == "it"
    assert judged.startswith("-3.0")
    assert repaired.startswith("-3.0")


def test_numbers_of_readings_that_differ_are_told_apart(tmp_path: Any) -> None:
    readings = [{"which": which, "base": base} for which in (0, 1) for base in ("two", "e")]
    [said] = outcome(tmp_path, claim(compare("it"), readings=readings), [-3.0, -5.0]).deciding
    first, second = said.removesuffix(" (asked: less than 0)").split("; ")
    assert first.startswith("which = 0: -3.0")
    assert second.startswith("which = 1: -4.9 [")


def test_readings_with_regions_of_their_own_name_points_and_numbers(tmp_path: Any) -> None:
    steps = on_series(0, 1, asked_of={"way": ["steps"]})
    [(_, groups)] = on_series(2, greater=0, asked_of={"way": ["groups"]})
    entry = claim(*steps, ("all", groups), readings=[{"way": "steps"}, {"way": "groups"}])
    found = outcome(tmp_path, entry, [-3.0, 1.0, 5.0])
    part, whole = found.readings
    assert part.startswith("way = steps: in part, except at series 1 (1")
    assert whole == "way = groups: as stated"
    first, second = found.deciding
    assert first.startswith("way = steps: 1.1 [")
    assert first.endswith(" (asked: less than 0)")
    assert second.startswith("way = groups: ")
    assert second.endswith(" (asked: greater than 0)")


def test_where_one_point_is_enough_it_is_named_with_its_number(tmp_path: Any) -> None:
    one = outcome(tmp_path, claim(*on_series(0, 1), quantifier="exists"), [-3.0, 1.0])
    assert one.exceptions == ""
    [said] = one.deciding
    assert said.startswith("series 0: -3.0")


def test_a_witness_has_its_probability_beside_its_word(tmp_path: Any) -> None:
    keys = {"kind": "privacy", "bound": True, "chance": ["log10"], "seen_from": "seen", **EXACT}
    shown = number(-1390983.5, "log10", less=None), number(1.35, "seen", less=None)
    loss = [number(value, "loss", at_most=1) for value in (0.9, 1.5)]
    held, broken = (outcome(tmp_path, claim(each, *shown, **keys)) for each in loss)
    chance = "probability of the event: 10^-1,390,984"
    excess = "we would notice {} times what is claimed"
    assert held.word == "not contradicted"
    assert held.after_word == f" ({chance}; {excess.format(1.35)})"
    assert broken.word == "counterexample"
    assert broken.after_word == f" ({chance})"
    likely = number(-0.3, "likely", less=None)
    both = claim(loss[1], likely, *shown, **keys | {"chance": ["likely", "log10"]})
    chances = "probability of the event: 0.5 against 10^-1,390,984 under the two inputs"
    assert outcome(tmp_path, both).after_word == f" ({chances})"
    exact = claim(loss[0], number(1.0, "seen", less=None), **keys | {"chance": []})
    assert outcome(tmp_path, exact).after_word == " (we would notice any excess)"
    weak = claim(loss[0], number(3.0, "seen", less=None), **keys | {"chance": []})
    found = outcome(tmp_path, weak)
    assert (
        found.word + found.after_word
        == "cannot be tested here (we would notice only 3 times what is claimed or more)"
    )


def test_a_finding_has_a_word_where_it_has_a_threshold(tmp_path: Any) -> None:
    assert outcome(tmp_path, finding(*on_series(0)), [-3.0]).word == "shown"
    assert outcome(tmp_path, finding(*on_series(0, less=None)), [-3.0]).word == ""


def test_claims_are_counted_by_kind_and_what_follows_is_not() -> None:
    broken = number(1.5, "loss", at_most=1), number(-3.0, "log10", less=None)
    keys = {"kind": "privacy", "bound": True, "chance": "log10", **EXACT}
    claims = [
        claim(*on_series(0), name="TOY-C1"),
        claim(*on_series(1), name="TOY-C2"),
        claim(*on_series(0, less=None), name="TOY-C3"),
        claim(*broken, name="TOY-C4", **keys),
        claim(*broken, name="TOY-C5", follows_from="TOY-C4", **keys),
    ]
    ledger = verdict_table(judge(claims, toy_evidence([-3.0, 3.0])))
    assert counts_text(ledger, claims) == {
        "experiment": "1 as stated, 1 not as stated, 1 without a verdict",
        "privacy": "1 with a counterexample",
    }
    assert counts_text(ledger[:0], claims) == {}


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (17748.2, ".3g", "17,700"),
        (17748.2, ",.0f", "17,748"),
        (1e8, ".3g", "1e8"),
        (2.85e-12, ".3g", "2.85e-12"),
        (-5.6e-17, ".3g", "0"),
        (0.5, ".1%", "50.0%"),
    ],
)
def test_numbers_have_no_exponent_below_a_million(value: float, form: str, text: str) -> None:
    assert number_text(value, form) == text
