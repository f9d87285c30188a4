"""Every claim of dp-ts-ucb ends in each of its words, and undecided, on results made up for it.

The worlds are in `dp_ts_ucb_worlds`. Seeds are fixed. A claim, a row with words of its own or a
word that is added to the file without a case here fails the tests.
"""

from dataclasses import dataclass

import pandas as pd
import pytest

from claims.dp_ts_ucb_worlds import (
    BASE,
    BY_ALPHA,
    CLAIMS,
    CROSSOVER,
    EQUAL_PRIVACY,
    HORIZON_SHARES,
    LEVELS,
    MISSES,
    NOISY,
    NUMBERS,
    OWN,
    WAITS,
    World,
    baseline,
    changed,
    equal_bound,
    equally_private,
    judged_in,
    own,
    results,
)
from claims.worlds import ROOT_SEED, Edit, as_it_is, both, missing, on, scaled
from dpbandits.claims.docket import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.claims.ledger import ledger

Case = tuple[World, Edit]


def mirror_alphas(frame: pd.DataFrame) -> None:
    """Give each alpha the levels of the one that mirrors it."""
    frame["alpha"] = 1.0 - frame["alpha"]


def grow_with_horizon(frame: pd.DataFrame) -> None:
    """Let eta grow with the square root of the horizon."""
    frame["y"] *= frame["x"] ** 0.5


def rise_at_the_end(frame: pd.DataFrame) -> None:
    """Let the last level of DP-TS-UCB be larger, so that the ratio rises but stays below 1."""
    own_levels = frame["algorithm"] == "dp-ts-ucb"
    frame.loc[own_levels & (frame["x"] == frame["x"].max()), "y"] *= 1.5


ALPHA_1_LOWEST = changed(*(own(1, 0.2 * OWN[0], horizon) for horizon in HORIZON_SHARES))
WRONG_C = scaled(NUMBERS, 1.1, quantity="c")
PROPOSED_LEVELS = {"algorithm": "dp-ts-ucb"}
HALVED = scaled(BY_ALPHA, 0.5, **PROPOSED_LEVELS)
NO_SHARE = missing(CROSSOVER, algorithm="dp-ts-ucb")

# By claim and row (0, where rows have the same words): word -> results with that verdict.
CASES: dict[tuple[str, int], dict[str, Case]] = {
    ("DTU-C1", 0): {"fails": (ALPHA_1_LOWEST, as_it_is)},
    ("DTU-C2", 0): {
        "fails": (BASE, on(LEVELS, mirror_alphas)),
        "undecided": (BASE, missing(LEVELS, alpha=0.5)),
    },
    ("DTU-C3", 0): {
        "fails": (BASE, on(LEVELS, grow_with_horizon)),
        "undecided": (BASE, missing(LEVELS, alpha=1.0)),
    },
    ("DTU-C4", 0): {
        "fails": (
            changed(*(equal_bound(alpha, 0.5 * mean) for alpha, mean in OWN.items())),
            as_it_is,
        ),
        "mixed": (changed(equal_bound(0.5, 0.5 * OWN[0.5])), as_it_is),
    },
    ("DTU-C5", 0): {
        "holds": (BASE, HALVED),
        "fails": (BASE, scaled(BY_ALPHA, 1000.0, **PROPOSED_LEVELS)),
        "mixed": (BASE, as_it_is),
        "undecided": (BASE, both(HALVED, missing(BY_ALPHA, algorithm="m-ts-gaussian", x=0.5))),
    },
    ("DTU-C6", 0): {
        "fails": (changed(equally_private(0, 0, 100.0)), WRONG_C),
        "mixed": (BASE, WRONG_C),
        "undecided": (changed(equally_private(0, 0, EQUAL_PRIVACY[0][1])), as_it_is),
    },
    ("DTU-C7", 0): {
        "fails": (changed(equally_private(1, 1000, 5000.0)), WRONG_C),
        "mixed": (changed(equally_private(1, 1000, 5000.0)), as_it_is),
        "undecided": (changed(equally_private(1, 1000, EQUAL_PRIVACY[1][2000])), as_it_is),
    },
    ("DTU-C8a", 0): {"fails": (changed(equally_private(0, 1, 350.0)), as_it_is)},
    ("DTU-C8b", 0): {"fails": (changed(own(0, 5000.0)), as_it_is)},
    ("DTU-C9", 0): {"fails": (changed(own(1, 0.9 * EQUAL_PRIVACY[1][2000])), as_it_is)},
    ("DTU-C10", 0): {
        "fails": (changed(baseline("dp-se", 50.0)), as_it_is),
        "mixed": (changed(own(0, 1500.0)), as_it_is),
    },
    ("DTU-C11", 0): {
        "fails": (changed(equally_private(1, 2000, 500.0)), as_it_is),
        "mixed": (changed(baseline("dp-se", 7000.0)), as_it_is),
    },
    ("DTU-C12", 0): {"fails": (changed(baseline("anytime-lazy-ucb", 1000.0)), as_it_is)},
    ("DTU-C14a", 0): {
        "fails": (BASE, scaled(NUMBERS, 1.001, quantity="composed", x=10_000)),
        "undecided": (BASE, missing(NUMBERS, quantity="composed", x=10_000)),
    },
    ("DTU-C14b", 0): {
        "fails": (BASE, on(CROSSOVER, rise_at_the_end)),
        "undecided": (BASE, NO_SHARE),
    },
    ("DTU-C14c", 0): {"undecided": (BASE, scaled(CROSSOVER, 1000.0, **PROPOSED_LEVELS))},
    ("DTU-C15", 0): {
        "fails": (BASE, scaled(MISSES, 1e5, alpha=1.0, horizon=10_000)),
        "undecided": (BASE, missing(MISSES, alpha=0.5, horizon=10_000, x=64)),
    },
    ("DTU-C16", 0): {
        "fails": (BASE, scaled(NUMBERS, 1.001, quantity="root")),
        "undecided": (BASE, missing(LEVELS)),
    },
    ("DTU-C17", 0): {
        "fails": (BASE, scaled(WAITS, 10.0, alpha=0.0, horizon=1_000_000)),
        "undecided": (BASE, missing(WAITS, alpha=0.0, horizon=10_000, x=64)),
    },
}


@dataclass(frozen=True)
class Wanted:
    """One claim and row, and the verdict that its results are made for."""

    claim: Claim
    row: int
    word: str

    def __str__(self) -> str:
        """Return the name of the test."""
        return f"{self.claim.id}-{self.row}-{self.word}"

    @property
    def case(self) -> Case:
        """Results for the verdict: those given, or a world where claims hold, or a noisy one."""
        given = CASES.get((self.claim.id, self.row), {})
        usual = NOISY if self.word == "undecided" else BASE
        return given.get(self.word, (usual, as_it_is))


def rows_with_words(claim: Claim) -> dict[int, tuple[str, ...]]:
    """The words of the first row, and of the first row of each other set of words."""
    found: dict[int, tuple[str, ...]] = {}
    for row, interpretation in enumerate(claim.interpretations):
        if claim.words(interpretation) not in found.values():
            found[row] = claim.words(interpretation)
    return found


WANTED = [
    Wanted(claim, row, word)
    for claim in CLAIMS
    for row, words in rows_with_words(claim).items()
    for word in (*words, "undecided")
]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_each_word_is_reached(wanted: Wanted) -> None:
    found = judged_in(wanted.claim, *wanted.case)[wanted.row]
    assert found.verdict == wanted.word, ledger([found])["detail"].item()


def test_every_case_belongs_to_a_row_and_a_word() -> None:
    wanted = {(each.claim.id, each.row, each.word) for each in WANTED}
    given = {(*key, word) for key, cases in CASES.items() for word in cases}
    assert given <= wanted
    assert {claim.id for claim in CLAIMS} == {name for name, _ in CASES}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_no_row_ends_in_a_word_that_it_is_not_allowed(claim: Claim) -> None:
    for world in (BASE, NOISY):
        for found in judged_in(claim, world):
            assert found.verdict in {*claim.words(found.interpretation), "undecided"}
            assert found.comparisons


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_too_few_runs_or_a_lost_number_leave_it_undecided(claim: Claim) -> None:
    frames = {name: results(name, World(runs=1)) for name in claim.reads}
    for name, frame in frames.items():
        if "run" not in frame:
            frames[name] = frame.assign(y=float("nan"))
    found = judge([claim], Evidence.of_frames(frames, root_seed=ROOT_SEED))
    assert {judgement.verdict for judgement in found} == {"undecided"}


def test_no_order_and_no_lemma_on_a_grid_can_be_established() -> None:
    for claim in CLAIMS:
        if claim.kind == "order" or claim.id in ("DTU-C15", "DTU-C17"):
            assert "holds" not in claim.verdicts
