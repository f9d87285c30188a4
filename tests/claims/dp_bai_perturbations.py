"""Changes of the made-up results of dp-bai, by which its claims come out otherwise."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from claims.dp_bai_results import base_rate, make, needed_budget, probit_rate
from claims.worlds import (
    ROOT_SEED,
    Change,
    Edit,
    Where,
    as_it_is,
    at,
    missing,
    on,
    rows,
    scaled,
    set_to,
    unchanged,
)
from dpbandits.claims.docket import Claim
from dpbandits.claims.evidence import Evidence

RESAMPLES = 4000
"""Resolves level 0.01 with Holm over a dozen comparisons, as at paper scale."""


@dataclass(frozen=True)
class Made:
    """A world: a change of the success rates, an edit of the frames, and how many trials."""

    change: Change = unchanged
    edit: Edit = as_it_is
    trials: int = 10**9


Worlds = dict[str, Made]
"""What a row of the ledger ends in -> a world in which it does."""


def evidence_of(claim: Claim, made: Made) -> Evidence:
    """The results that a claim reads in a world."""
    frames = {name: make(name, made.change, made.trials) for name in claim.reads}
    made.edit(frames)
    return Evidence.of_frames(frames, root_seed=ROOT_SEED, resamples=RESAMPLES)


def within(simulation: str, change: Change) -> Change:
    """A change of one simulation."""
    return lambda where, rate: change(where, rate) if where.simulation == simulation else rate


def before(trials: int, change: Change) -> Change:
    """A change of the first trials alone."""
    return lambda where, rate: change(where, rate) if where.start < trials else rate


def equal(one: str, other: str) -> Change:
    """Give an algorithm the rates of another."""
    return at(lambda where: base_rate(replace(where, algorithm=other)), algorithm=one)


def beyond(where: Where, shift: float) -> float:
    """The rate of OD-LinBAI on Section 5's instance at this budget, shifted."""
    return base_rate(replace(where, algorithm="od-linbai", tags={})) + shift


def needing(factor: Callable[[Where], float], **tags: object) -> Change:
    """Multiply the T at success 0.9."""
    return at(
        lambda where: probit_rate(where.horizon, factor(where) * needed_budget(where)), **tags
    )


def rare(error: Callable[[int], float]) -> Change:
    """Let the rare errors at epsilon = 1 be a function of T."""
    return within("rare-errors", at(lambda where: 1.0 - error(where.horizon), epsilon=1))


def wins_lost(name: str, count: int, **where: object) -> Edit:
    """Let so many trials of one series return arm 1 where they returned the best one."""

    def edit(frame: pd.DataFrame) -> None:
        won = frame.index[rows(frame, **where) & (frame["value"] == 0.0)]
        frame.loc[won[:count], "value"] = 1.0

    return on(name, edit)


def one_trial_lost(frame: pd.DataFrame) -> None:
    """Lose what one trial returned."""
    frame.loc[frame.index[7], "value"] = math.nan


def only(edit: Edit) -> Made:
    """A world of which only frames are edited."""
    return Made(edit=edit)


def exactly(expected: str, other: str, change: Edit, lost: Edit) -> Worlds:
    """Worlds of an exact claim: as it is, after a change, and with numbers lost."""
    return {expected: Made(), other: only(change), "undecided": only(lost)}


def leads(algorithm: str) -> Worlds:
    """Worlds of a claim that DP-BAI leads another algorithm in both panels of Figure 1."""
    over_budgets = within("verdicts-budget", at(0.95, algorithm=algorithm))
    return {
        "holds": Made(),
        "mixed": Made(over_budgets),
        "fails": Made(at(0.95, algorithm=algorithm)),
        "undecided": Made(equal(algorithm, "dp-bai")),
    }


WEAK = "verdicts-weak-privacy"
PAIR = {"ratio": 2, "epsilon": 0.5, "horizon": 1000}
BETTER = {"algorithm": "dp-od", "horizon": 1000, "epsilon": 0.5}
HOLDS, FAILS, OPEN = "holds", "fails", "not contradicted"

CASES: dict[str, Worlds] = {
    "BAI-C1": leads("baseline"),
    "BAI-C2": leads("dp-od"),
    "BAI-C3": {
        HOLDS: Made(),
        FAILS: Made(within(WEAK, at(0.3, horizon=200))),
        "undecided": Made(within(WEAK, at(lambda where: beyond(where, -0.03), horizon=200))),
    },
    "BAI-C4": {
        HOLDS: Made(),
        FAILS: Made(at(1.0, algorithm="dp-bai", horizon=400, epsilon=1)),
        "undecided": Made(
            at(lambda where: beyond(where, 0.01), algorithm="dp-bai", horizon=100, epsilon=1)
        ),
    },
    "BAI-C6": {
        HOLDS: Made(),
        FAILS: Made(at(lambda where: 0.65 + 0.003 * where.tags["ratio"], **BETTER)),
        "undecided": Made(equal("dp-od", "dp-bai")),
    },
    "BAI-C7": {
        HOLDS: Made(),
        FAILS: only(wins_lost("common-stream", 500, **PAIR)),
        "undecided": only(wins_lost("common-stream", 1, **PAIR)),
    },
    "BAI-C8": {
        HOLDS: Made(),
        FAILS: Made(at(0.97, **BETTER, ratio=5)),
        "undecided": Made(equal("dp-od", "dp-bai")),
    },
    "BAI-C9": {
        OPEN: Made(),
        FAILS: Made(needing(lambda where: 2.0, algorithm="dp-od", ratio=50, epsilon=0.1)),
        "undecided": Made(at(0.5, algorithm="dp-od", ratio=50, epsilon=0.1)),
    },
    "BAI-C10": exactly(
        HOLDS,
        FAILS,
        set_to("max-det", 1.0, quantity="above searched"),
        missing("max-det", quantity="above searched"),
    ),
    "BAI-C11a": exactly(
        HOLDS,
        FAILS,
        set_to("appendix-b", 63.0, quantity="g0"),
        missing("appendix-b", quantity="lambda"),
    ),
    "BAI-C12": {
        OPEN: Made(),
        FAILS: Made(within("verdicts-far-section5", at(0.9, algorithm="dp-bai"))),
        "undecided": only(missing("bounds", horizon=400_000)),
    },
    "BAI-C14a": exactly(
        OPEN, FAILS, scaled("privacy-loss", 1.01, is_admissible=1.0), missing("privacy-loss")
    ),
    "BAI-C14b": exactly(
        OPEN, FAILS, scaled("privacy-loss", 1.01, is_admissible=1.0), missing("privacy-loss")
    ),
    "BAI-C14c,norm=l2": exactly(
        FAILS, OPEN, scaled("privacy-loss", 0.7, norm="l2"), missing("privacy-loss")
    ),
    "BAI-C14c,norm=l1": exactly(
        OPEN, FAILS, scaled("privacy-loss", 1.1, norm="l1"), missing("privacy-loss")
    ),
    "BAI-C15": exactly(
        HOLDS,
        FAILS,
        set_to("table1-grid", 1.0, quantity="loses", x=1),
        missing("table1-grid", quantity="none"),
    ),
    "BAI-C16": exactly(
        HOLDS,
        FAILS,
        set_to("table1-grid", 1.0, quantity="turned by delta"),
        missing("table1-grid", quantity="late"),
    ),
    "BAI-C17": {
        OPEN: Made(),
        FAILS: Made(rare(lambda budget: 0.05 * (budget / 2000))),
        "undecided": Made(rare(lambda budget: 0.05)),
    },
    "BAI-C18": {
        OPEN: Made(),
        FAILS: Made(within("budgets-hardness", needing(lambda where: 3.0, epsilon=0.05, gap=0.1))),
        "undecided": Made(within("budgets-hardness", at(0.5, epsilon=0.05, gap=0.1))),
    },
    "BAI-C19": exactly(
        HOLDS,
        FAILS,
        scaled("instances", 0.5, quantity="smallest other gap"),
        missing("instances", quantity="gap 2"),
    ),
    "BAI-C20": exactly(
        HOLDS,
        FAILS,
        set_to("baseline-structure", 1.0, quantity="unequal pulls", instance="sphere"),
        missing("baseline-structure", quantity="late not halved"),
    ),
    "BAI-C21": exactly(
        HOLDS,
        FAILS,
        set_to("rounds", 2.0, instance="two-armed, y/x=5"),
        missing("rounds", instance="two-armed, y/x=5"),
    ),
    "BAI-C22": exactly(
        HOLDS,
        FAILS,
        set_to("phase-counts", 1.0, quantity="below log2 d"),
        missing("phase-counts", quantity="above limit"),
    ),
    "BAI-C23": exactly(
        HOLDS,
        FAILS,
        set_to("max-det", 1.0, quantity="less injected", rank=0),
        missing("max-det", quantity="injected ratio"),
    ),
    "BAI-C24": exactly(
        FAILS,
        OPEN,
        scaled("gauss-privacy", 0.9, calibration="classical"),
        missing("gauss-privacy"),
    ),
}
"""A row of the ledger, by its claim and its interpretation, with its worlds."""
