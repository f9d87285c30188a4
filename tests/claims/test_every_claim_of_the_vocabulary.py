"""Claims on the vocabulary's statistics hold, fail and are undecided in worlds made from entries.

Every claim is found by scan: those of every paper's folder, drafts too, of the invented paper, of
the skeleton of a new one, and a toy for every statistic and kind. Claims with statistics of a
paper's own have worlds made by hand, in the tests of that paper, which is seen to here.
"""

import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

from claims.toys import claim as toy_claim
from claims.vocabulary_worlds import (
    BASE,
    HALF,
    LOUD,
    QUIET,
    RECIPES,
    World,
    at_the_end,
    by_row,
    failing,
    holding,
    is_left_to_chance,
    judged,
    losing_a_number,
)
from dpbandits.claims import statistics as shared
from dpbandits.claims.docket import Claim, Comparison, statistics_of
from dpbandits.claims.ledger import ledger
from dpbandits.claims.verdict import KINDS, REPORT, Word, region_of
from dpbandits.engine.results import results_frame
from dpbandits.metrics import IDENTIFIED
from dpbandits.pages.documents import write_skeleton
from dpbandits.pipeline.project import Project
from found_papers import COMPARISONS, PAPERS
from shared import ExactResults, shared_folder
from synthetic_results import synthetic_values

ROOT = Path(__file__).parents[2]
# Those of the audit read its results, and are tested with the claims that name them.
STATISTICS = {k: v for k, v in statistics_of(shared).items() if not k.startswith("audited")}


def _with_new_papers(folder: Path) -> None:
    """Copy the config of all papers, and add the invented one and a skeleton."""
    shutil.copytree(ROOT / "config", folder / "config")
    target = folder / "config/papers/committing-early"
    # There already where this test runs with the draft in place.
    shutil.copytree(ROOT / "tests/invented_paper", target, dirs_exist_ok=True)
    write_skeleton(Project.load(folder), "a-skeleton")


PROJECT = Project.load(shared_folder("claims-of-the-vocabulary", _with_new_papers))


def is_of_the_vocabulary(claim: Claim) -> bool:
    """Whether all that decides a claim is measured by the vocabulary."""
    deciding = [each.statistic for each in claim.comparisons if each.decides]
    return bool(deciding) and all(each in STATISTICS.values() for each in deciding)


LISTED = {
    f"{paper}/{claim.id} {claim.interpretations[0].label}".strip(): (paper, claim)
    for paper in PROJECT.papers
    for claim in by_row(
        [each for each in PROJECT.study(paper).claims if is_of_the_vocabulary(each)]
    )
}
"""Rows of the papers' claims."""


def planned(paper: str, claim: Claim) -> World:
    """Return what a claim reads as its paper's simulations record it, all series alike."""
    return World({name: _frame(paper, name) for name in claim.reads})


def _frame(paper: str, name: str) -> pd.DataFrame:
    experiments = PROJECT.study(paper)
    if name.partition("/")[0] in COMPARISONS or name in experiments.exact:
        return ExactResults(paper)[name].copy()
    plan = experiments.simulation(name)
    series = plan.series(_frame(paper, plan.tuned_by) if plan.tuned_by else None)
    generator = np.random.default_rng(0)
    blocks: Any = [
        {metric: synthetic_values(each, metric, generator) for metric in each.cell.metrics}
        for each in series
    ]
    frame = results_frame(series, blocks)
    return frame.assign(value=np.where(frame["metric"].isin(IDENTIFIED), HALF, BASE))


A, B, C = ({"algorithm": name, "epsilon": 1} for name in "abc")
ALONG = {"along": "epsilon", "of": {"algorithm": "a"}}
SERIES = {"one": A, "another": B, "third": C}
WEIGHTS = {"one": 1, "another": -0.5, "third": -0.5}

TOYS: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("average", "less", 50, {"of": A}),
    ("average", "at_most", 50, {"of": A, "at": 100}),
    ("difference", "less", 0, {"of": A, "minus": B}),
    ("difference", "greater", 0, {"of": {"algorithm": "a"}, "minus": {"algorithm": "b"}}
     | {"tag": "epsilon", "value": 2}),
    ("difference", "equivalent", 3, {"of": A, "minus": B}),
    ("ratio", "ratio_within", (0.5, 1.5), {"of": A, "over": B}),
    ("ratio", "at_least", 3, {"of": A, "over": B}),
    ("contrast", "greater", 0, {"series": SERIES, "weights": WEIGHTS}),
    ("largest_step", "less", 0, ALONG),
    ("largest_step", "no_increase", 0, {**ALONG, "along": "t", "of": A}),
    ("smallest_step", "greater", 0, {**ALONG, "points": [1, 4]}),
    ("smallest_step", "no_decrease", 0, ALONG),
    ("trend", "trend", 0.8, ALONG),
    ("trend", "trend", -0.8, ALONG),
    ("slope", "less", 0.8, {**ALONG, "along": "t", "of": A, "x": "log", "y": "log"}),
    ("slope", "greater", 0, {**ALONG, "x": "log"}),
    ("slope", "at_most", 1, ALONG),
    ("place_of_lowest", "at_most", 2, ALONG),
    ("ends_minus_interior", "interior_optimum", 0, ALONG),
    ("success", "at_least", 0.9, {"results": "trials", "of": A}),
    ("success_difference", "greater", 0, {"results": "trials", "of": A, "minus": B}),
    ("exact_number", "identity", 2.5, {"results": "numbers", "of": {"quantity": "c"}}),
    ("exact_number", "below_bound", 0, {"results": "numbers", "of": {"quantity": "c"}}),
    ("exact_number", "no_counterexample", 0, {"results": "numbers", "of": {"quantity": "c"}}),
]  # fmt: skip
"""Statistic, kind of comparison, threshold and arguments."""


def toy(statistic: str, kind: str, threshold: Any, arguments: dict[str, Any]) -> Claim:
    """Return a claim of one comparison on made-up results."""
    results = arguments.get("results", "runs")
    return toy_claim(
        Comparison(
            statistic,
            STATISTICS[statistic],
            kind,
            region_of(kind, threshold, 1e-9 if kind == "identity" else 0.0),
            arguments={"results": "runs", **arguments},
        ),
        reads=(results,),
        analyses=() if results == "numbers" else (200, 400),
        runs_paper=0 if results == "numbers" else 100,
    )


TOY_CLAIMS = {f"{name} {kind} {place}": toy(name, kind, threshold, arguments)
              for place, (name, kind, threshold, arguments) in enumerate(TOYS)}  # fmt: skip


def toy_world() -> World:
    """Return the toys' results: three algorithms at four epsilons, and one exact number."""
    keys = {"algorithm": list("abc"), "epsilon": [1, 2, 4, 8]}
    runs = _long({**keys, "run": range(400), "t": [10, 100, 1000]}, "pseudo_regret", BASE)
    trials = _long({**keys, "run": range(0, 400, 100), "t": [1000]}, "success", HALF, trials=100)
    numbers = pd.DataFrame({"quantity": ["c", "d"], "x": [1.0, 1.0], "y": [BASE, BASE]})
    return World({"runs": runs, "trials": trials, "numbers": numbers})


def _long(axes: dict[str, Any], metric: str, value: float, **columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame(itertools.product(*axes.values()), columns=list(axes))
    label = frame["algorithm"] + " " + frame["epsilon"].astype(str)
    return frame.assign(series=label, metric=metric, arm=-1, value=value, **columns)


def start(name: str) -> tuple[Claim, World]:
    """Return a claim and the world that it starts from."""
    if name in TOY_CLAIMS:
        return TOY_CLAIMS[name], toy_world()
    paper, claim = LISTED[name]
    return claim, planned(paper, claim)


EVERY = [*TOY_CLAIMS, *LISTED]


def wanted(claim: Claim, *words: str) -> set[str]:
    """Return those of some words that the row of a claim may end in; undecided where none is."""
    return set(words) & set(claim.words(claim.interpretations[0])) or {"undecided"}


@pytest.mark.parametrize("name", EVERY)
def test_a_claim_holds_in_a_world_made_for_it_and_fails_in_another(name: str) -> None:
    claim, world = start(name)
    made = holding(claim, world)
    found = judged(claim, made)
    assert {found.verdict} <= wanted(claim, "holds", "not contradicted"), _why(found)
    found = judged(claim, failing(claim, made))
    assert {found.verdict} <= wanted(claim, "fails", "mixed"), _why(found)


@pytest.mark.parametrize("name", EVERY)
def test_a_claim_is_undecided_where_chance_or_a_lost_number_leaves_it_so(name: str) -> None:
    """Chance cannot leave exact claims undecided, nor those that are for unless excluded."""
    claim, world = start(name)
    if is_left_to_chance(claim):
        found = judged(claim, at_the_end(claim, world), LOUD)
    else:
        found = judged(claim, losing_a_number(claim, world))
    assert found.verdict == "undecided", _why(found)


def test_exact_claims_and_presumed_ones_are_decided_whatever_chance_does() -> None:
    """Else the test above could ask them, too, for an undecided verdict by noise."""
    spared = [name for name in EVERY if not is_left_to_chance(start(name)[0])]
    assert spared
    for name in spared:
        claim, world = start(name)
        made = holding(claim, world)
        assert judged(claim, at_the_end(claim, made), QUIET).verdict != "undecided"


def _why(found: Any) -> str:
    return str(ledger([found])["detail"].item())


def test_every_statistic_and_kind_has_a_world() -> None:
    assert set(RECIPES) == set(STATISTICS)
    assert {name for name, *_ in TOYS} == set(STATISTICS)
    assert {kind for _, kind, *_ in TOYS} == set(KINDS) - {REPORT}


def test_the_invented_paper_and_the_skeleton_are_tested_by_being_listed() -> None:
    assert {paper for paper, _ in LISTED.values()} >= {"committing-early", "a-skeleton"}
    for paper in ("committing-early", "a-skeleton"):
        tested = {claim.id for name, claim in LISTED.values() if name == paper}
        assert tested == {claim.id for claim in PROJECT.study(paper).claims}


def registered() -> list[str]:
    """Return the cases that the tests of the papers' own claims run over, by their names."""
    files = sorted(str(path) for path in Path(__file__).parent.glob("test_*_claims.py"))
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, text=True, capture_output=True, check=True)
    return re.findall(r"\[(.+)\]$", done.stdout, re.MULTILINE)


OUTCOMES: dict[str, set[Word]] = {
    "holds": {"holds", "not contradicted"},
    "fails": {"fails", "mixed"},
}
"""For and against a claim, in the words that it may end in."""


def has_case(cases: list[str], name: str, words: set[str]) -> bool:
    """Whether some case names a claim together with one of the words."""
    asked = rf"(?<![\w-]){re.escape(name)}(?!\w)", rf"(?<!\w)({'|'.join(words)})(?!\w)"
    return any(all(re.search(each, case) for each in asked) for case in cases)


@pytest.mark.slow
def test_claims_beyond_the_vocabulary_have_worlds_made_by_hand() -> None:
    """Of drafts their authors see to it themselves."""
    cases = registered()
    missing = {
        f"{claim.id}: none {outcome}"
        for paper in PAPERS
        for claim in by_row(PROJECT.study(paper).claims)
        for outcome, words in OUTCOMES.items()
        if not is_of_the_vocabulary(claim)
        and words & {*claim.verdicts}
        and not has_case(cases, claim.id, {outcome, *words & {*claim.verdicts}})
    }
    assert not missing


def test_a_claim_without_a_world_would_be_noticed() -> None:
    cases = ["X-C1 holds", "X-C1-0-fails", "X-C11 holds"]
    assert has_case(cases, "X-C1", {"fails"})
    assert not has_case(cases, "X-C11", {"fails"})
    assert not has_case(["X-C11 holds"], "X-C1", {"holds"})
    assert not has_case(cases, "C1", {"holds"})
    assert set().union(*OUTCOMES.values()) == set(get_args(Word))
