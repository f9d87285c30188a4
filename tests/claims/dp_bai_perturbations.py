"""Changes of the made-up results of dp-bai, by which its claims come out otherwise."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from claims.dp_bai_results import (
    Change,
    Where,
    base_rate,
    needed_budget,
    probit_rate,
    unchanged,
)
from claims.perturbations import Edit, as_it_is, both, missing, on, rows, scaled

RARE_START, RARE_END = 200, 2000


@dataclass(frozen=True)
class Made:
    """A world: a change of the success rates, an edit of the frames, and how many trials."""

    change: Change = unchanged
    edit: Edit = as_it_is
    trials: int = 10**9


@dataclass(frozen=True)
class Case:
    """Three worlds for the first reading of a claim."""

    fails: Made
    undecided: Made
    holds: Made = Made()


def at(rate: float | Callable[[Where], float], **tags: object) -> Change:
    """Give series with these tags another rate."""

    def change(where: Where, old: float) -> float:
        if not where.matches(**tags):
            return old
        return rate if isinstance(rate, float) else rate(where)

    return change


def in_turn(*changes: Change) -> Change:
    """One change after the other."""

    def change(where: Where, rate: float) -> float:
        for each in changes:
            rate = each(where, rate)
        return rate

    return change


def within(simulation: str, change: Change) -> Change:
    """A change of one simulation."""
    return lambda where, rate: change(where, rate) if where.simulation == simulation else rate


def before(trials: int, change: Change) -> Change:
    """A change of the first trials alone."""
    return lambda where, rate: change(where, rate) if where.start < trials else rate


def equal(one: str, other: str) -> Change:
    """Give an algorithm the rates of another."""
    return at(lambda where: base_rate(replace(where, algorithm=other)), algorithm=one)


def behind(where: Where, shift: float) -> float:
    """The rate of OD-LinBAI on Section 5's instance at this budget, shifted."""
    return base_rate(replace(where, algorithm="od-linbai", tags={"horizon": where.budget})) + shift


def plain(where: Where) -> float:
    """The rate of DP-BAI where DP-BAI-Gauss stands."""
    tags = {key: value for key, value in where.tags.items() if key != "delta"}
    return base_rate(replace(where, algorithm="dp-bai", tags=tags))


def gauss(large: float, small: float) -> Change:
    """Multiply the error of DP-BAI to that of DP-BAI-Gauss, by large and small delta."""

    def rate(where: Where) -> float:
        factor = large if where.tags["delta"] >= 0.5 else small
        return max(0.0, 1.0 - factor * (1.0 - plain(where)))

    return at(rate, algorithm="dp-bai-gauss")


def needing(factor: Callable[[Where], float], **tags: object) -> Change:
    """Multiply the T at success 0.9."""
    return at(lambda where: probit_rate(where.budget, factor(where) * needed_budget(where)), **tags)


def bent(slope: float, change: float) -> Change:
    """Let the log error at epsilon = 1 have a slope that changes by a share over T = 200..2000."""

    def rate(where: Where) -> float:
        span, passed = RARE_END - RARE_START, where.budget - RARE_START
        return 1.0 - 0.15 * math.exp(-slope * (passed + change * passed**2 / (2.0 * span)))

    return within("rare-errors", at(rate, epsilon=1))


def set_to(name: str, value: float, **where: object) -> Edit:
    """Set the numbers of the rows with these tags."""

    def edit(frame: pd.DataFrame) -> None:
        frame.loc[rows(frame, **where), "y"] = value

    return on(name, edit)


def as_printed(frame: pd.DataFrame) -> None:
    """Compute what Appendix B prints."""
    frame["y"] = frame["printed"]


def one_trial_differs(frame: pd.DataFrame) -> None:
    """Let one trial of one series return another arm."""
    frame.loc[frame.index[7], "value"] = 2.0


def one_trial_lost(frame: pd.DataFrame) -> None:
    """Lose what one trial returned."""
    frame.loc[frame.index[7], "value"] = math.nan


def only(edit: Edit) -> Made:
    """A world of which only frames are edited."""
    return Made(edit=edit)


FIRST = {"budget": 400, "epsilon": 1}
OVERRUNS = {"algorithm": "dp-bai", "schedule": "consistent", "quantity": "overruns"}
LARGEST = {"gap": 0.025, "epsilon": 0.05}
WEAK = "verdicts-weak-privacy"

CASES: dict[str, Case] = {
    "BAI-C1": Case(Made(at(0.9, algorithm="baseline", **FIRST)), Made(equal("baseline", "dp-bai"))),
    "BAI-C2": Case(
        Made(
            in_turn(
                at(0.9, algorithm="dp-od", **FIRST),
                within("corner", at(0.9, algorithm="dp-od", epsilon=0.01)),
            )
        ),
        Made(equal("dp-od", "dp-bai")),
    ),
    "BAI-C3": Case(
        Made(within(WEAK, at(0.3, budget=200)), on("noiseless", one_trial_differs)),
        Made(within(WEAK, at(lambda where: behind(where, -0.03), budget=200))),
    ),
    "BAI-C4": Case(
        Made(at(1.0, algorithm="dp-od", **FIRST)),
        Made(at(lambda where: behind(where, 0.01), algorithm="dp-od", budget=100, epsilon=1)),
    ),
    "BAI-C5": Case(
        Made(at(0.5, algorithm="dp-bai", budget=800, epsilon=1)), Made(at(0.6, algorithm="dp-bai"))
    ),
    "BAI-C6": Case(
        Made(
            at(
                lambda where: 0.65 + 0.003 * where.tags["ratio"],
                algorithm="dp-od",
                budget=1000,
                epsilon=0.5,
            )
        ),
        Made(equal("dp-od", "dp-bai")),
    ),
    "BAI-C7": Case(
        only(on("common-stream", one_trial_differs)), only(on("common-stream", one_trial_lost))
    ),
    "BAI-C8": Case(
        Made(at(0.97, algorithm="dp-od", ratio=5, budget=1000, epsilon=0.5)),
        Made(equal("dp-od", "dp-bai")),
    ),
    "BAI-C9": Case(
        Made(
            in_turn(
                needing(lambda where: 0.2, algorithm="dp-od", ratio=50, epsilon=0.1),
                needing(lambda where: float(where.tags["ratio"] ** 0.1), algorithm="dp-bai"),
            )
        ),
        # T_0.9 of DP-BAI grows by exactly the 2 % asked for, from y/x = 1 to 50.
        Made(
            needing(
                lambda where: float(where.tags["ratio"] ** (math.log(1.02) / math.log(50))),
                algorithm="dp-bai",
            )
        ),
    ),
    "BAI-C10": Case(
        only(
            both(
                scaled("max-det", 2.0, quantity="coefficient"),
                set_to("max-det", 1.0, quantity="above"),
            )
        ),
        only(missing("max-det", quantity="coefficient")),
    ),
    "BAI-C11": Case(
        Made(),
        only(both(on("appendix-b", as_printed), missing("appendix-b", quantity="lambda"))),
        only(on("appendix-b", as_printed)),
    ),
    "BAI-C12": Case(only(scaled("bounds", 1e-6)), only(missing("bounds"))),
    "BAI-C13": Case(
        Made(),
        only(missing("overshoot", **OVERRUNS)),
        only(set_to("overshoot", 0.0, **OVERRUNS)),
    ),
    "BAI-C14": Case(
        only(scaled("privacy-loss", 1.001, algorithm="dp-bai")), only(missing("privacy-loss"))
    ),
    "BAI-C15": Case(
        only(set_to("table1-grid", 1.0, quantity="loses")),
        only(missing("table1-grid", quantity="none")),
    ),
    "BAI-C16": Case(Made(gauss(large=1.3, small=0.7)), Made(gauss(large=1.0, small=1.0))),
    "BAI-C17": Case(Made(bent(0.0055, -0.7)), Made(bent(0.0044, -0.2))),
    "BAI-C18": Case(
        Made(within("budgets-hardness", needing(lambda where: 0.2, **LARGEST))),
        Made(within("budgets-hardness", needing(lambda where: 0.7, **LARGEST))),
    ),
    "BAI-C19": Case(
        only(scaled("instances", 0.5, quantity="smallest other gap")),
        only(missing("instances", quantity="gap 2")),
    ),
    "BAI-C20": Case(
        Made(
            in_turn(
                at(0.3, algorithm="baseline", sizes="stated"),
                at(0.5, algorithm="baseline", sizes="halving"),
                at(0.7, algorithm="sequential-halving"),
            )
        ),
        Made(
            in_turn(
                at(lambda where: base_rate(where) + 0.05, sizes="stated"),
                at(lambda where: base_rate(where) + 0.025, sizes="halving"),
            )
        ),
    ),
    "BAI-C21": Case(only(set_to("rounds", 2.0, draws=1)), only(missing("rounds", draws=1))),
    "BAI-C22": Case(
        only(scaled("phase-counts", 3.0, quantity="phases")),
        only(missing("phase-counts", quantity="phases")),
    ),
    "BAI-C23": Case(
        Made(),
        only(missing("max-det", quantity="smaller")),
        only(set_to("max-det", 0.0, quantity="smaller")),
    ),
    "BAI-C24": Case(
        only(scaled("gauss-privacy", 2.0, calibration="classical")),
        only(missing("gauss-privacy")),
        only(scaled("gauss-privacy", 0.5)),
    ),
}
