"""Changes of the made-up results of dp-ncb, by which its claims come out otherwise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from claims.dp_ncb_results import World
from claims.worlds import (
    Change,
    Edit,
    Where,
    as_it_is,
    at,
    both,
    in_turn,
    missing,
    on,
    rows,
    scaled,
    set_to,
    times,
)
from dpbandits.papers.dp_ncb.curves import EPSILON
from dpbandits.papers.dp_ncb.instances import drawn_means
from dpbandits.papers.dp_ncb.theory import PHASE_ONE_RANGE, scale


@dataclass(frozen=True)
class Made:
    """A world, and an edit of its frames."""

    world: World = field(default_factory=World)
    edit: Edit = as_it_is


@dataclass(frozen=True)
class Case:
    """Worlds for the first interpretation of a claim that is judged, in which it comes out so."""

    fails: Made
    undecided: Made
    holds: Made = field(default_factory=lambda: Made())
    mixed: Made | None = None


def changed(*changes: Change) -> Made:
    """A world with some changes, one after the other."""
    return Made(World(in_turn(*changes)))


def steeper(power: float, **tags: object) -> Change:
    """Multiply Nash regrets by a power of t / T from 0.3 T on, and by what that is before."""

    def change(where: Where, regret: float) -> float:
        return regret * max(where.share, 0.3) ** power if where.matches(**tags) else regret

    return change


def values_of(name: str, metric: str, change: Callable[[Any], Any]) -> Edit:
    """Change what is recorded of a metric."""

    def edit(frame: pd.DataFrame) -> None:
        mask = rows(frame, metric=metric)
        frame.loc[mask, "value"] = change(frame.loc[mask, "value"])

    return on(name, edit)


NOISY = Made(World(noise=10.0))
GDP, LDP = "gdp-ncb", "ldp-ncb"
BAD_GDP = changed(times(20.0, algorithm=GDP, horizon=10**8))
BAD_LDP = changed(times(0.01, algorithm="ldp-ucb-l"))
GOOD_BASELINES = changed(
    at(0.05, algorithm="adap-ucb", simulation="panel-a-verdicts"),
    times(20.0, algorithm=GDP, horizon=10**8),
    times(0.01, algorithm="ldp-ucb-l"),
)
"""AdaP-UCB and LDP-UCB-L are below GDP-NCB and LDP-NCB, wherever they are compared."""
SHORT = values_of("phase-lengths", "nash_bins", lambda values: values.clip(lower=0.9))


def ends_at_the_limit(frame: pd.DataFrame) -> None:
    """Let Phase I end within the bin of time that 3872 kS lies in."""
    means = np.array(drawn_means())
    for horizon in (10**9, 10**10):
        own = rows(frame, metric="nash_bins", horizon=horizon)
        limit = PHASE_ONE_RANGE[1] * means.size * scale(GDP, horizon, EPSILON, means.max())
        frame.loc[own & (frame["t"] <= limit), "value"] = means.mean()
        frame.loc[own & (frame["t"] > limit), "value"] = means.max()


def passes(frame: pd.DataFrame) -> None:
    """Let no bound of the audit exceed its claim."""
    frame["ratio"] = frame["ratio"].clip(upper=0.9)


def exceeds(frame: pd.DataFrame) -> None:
    """Let every bound of the audit exceed its claim."""
    frame["ratio"] = 2.0


AUDIT = "privacy-audit/releases"
NO_WITNESS = both(set_to("privacy-witnesses", 0.9), on(AUDIT, passes))
TWO_ARMS: dict[str, object] = {"simulation": "panel-a-verdicts"}
AT_HALF = changed(at(0.5, **TWO_ARMS))
TIED = changed(at(0.3, **TWO_ARMS))

CASES: dict[str, Case] = {
    "NCB-C1a": Case(changed(at(0.4, algorithm="adap-ucb", **TWO_ARMS)), AT_HALF),
    "NCB-C1b": Case(changed(at(0.05, algorithm="adap-ucb", **TWO_ARMS)), TIED),
    "NCB-C1c": Case(changed(at(0.5, algorithm=GDP, horizon=1000, **TWO_ARMS)), TIED),
    "NCB-C2": Case(BAD_GDP, NOISY),
    "NCB-C3": Case(BAD_LDP, NOISY),
    "NCB-C4": Case(changed(times(0.6, algorithm=GDP, epsilon=0.5)), NOISY),
    "NCB-C5": Case(changed(times(1.0 / 2.5, algorithm=LDP, epsilon=0.2, horizon=10**7)), NOISY),
    "NCB-C6": Case(changed(times(3.0, algorithm="ncb", horizon=10**7)), NOISY),
    "NCB-C8a": Case(changed(times(30.0, algorithm="ncb", horizon=10**7)), NOISY),
    "NCB-C8b": Case(changed(times(0.5, algorithm=LDP, horizon=10**7)), NOISY),
    "NCB-C9a": Case(changed(steeper(-0.5, algorithm=LDP), steeper(0.5, algorithm=GDP)), NOISY),
    "NCB-C9b": Case(changed(steeper(0.3, algorithm=LDP)), NOISY),
    "NCB-C10": Case(changed(times(60.0, algorithm="ncb", horizon=10**7)), NOISY),
    "NCB-C11": Case(changed(times(0.4, algorithm=LDP, simulation="panel-f")), NOISY),
    "NCB-C13": Case(Made(edit=SHORT), Made(edit=on("phase-lengths", ends_at_the_limit))),
    "NCB-C14": Case(
        Made(edit=values_of("panel-b", "average_mean", lambda values: values - 1e-4)),
        Made(edit=values_of("panel-b", "average_mean", lambda values: values * float("nan"))),
    ),
    "NCB-C15": Case(
        Made(edit=scaled("privacy-witnesses", 3.0, quantity="least")),
        Made(edit=both(NO_WITNESS, missing("privacy-witnesses", quantity="least"))),
        holds=Made(edit=NO_WITNESS),
    ),
    "NCB-C16": Case(
        Made(edit=set_to("noise-scales", 0.999, variant="as-written", phase="II")),
        Made(edit=missing("noise-scales", variant="as-written", phase="I")),
    ),
    "NCB-C17": Case(
        Made(edit=scaled("bounds", 1e-6, theorem=1, quantity="bound")),
        Made(edit=missing("bounds", theorem=1, quantity="bound")),
    ),
    "NCB-C18a": Case(
        Made(edit=set_to("bound-terms", 1.01, quantity="ratio-at-balance", horizon=10**8)),
        Made(edit=missing("bound-terms", quantity="ratio", horizon=10**7)),
    ),
    "NCB-C18b": Case(changed(times(0.1, algorithm=GDP, horizon=10**6)), NOISY),
    "NCB-C19": Case(GOOD_BASELINES, NOISY, mixed=BAD_LDP),
    "NCB-C20a": Case(
        Made(edit=scaled("bound-terms", 2.0, quantity="ratio", horizon=10**7)),
        Made(edit=missing("bound-terms", quantity="ratio", horizon=10**7)),
    ),
    "NCB-C20b": Case(changed(times(3.0, algorithm=GDP, epsilon=1)), NOISY),
    "NCB-C21": Case(
        changed(times(0.1, algorithm=LDP, epsilon=0.5)),
        changed(times(0.4 * 0.14 / 0.06, algorithm=LDP, epsilon=0.5)),
    ),
    "NCB-C22": Case(
        Made(edit=set_to("index-plays", 1.0, statement="best-index")),
        Made(edit=missing("index-plays", statement="weak-arms")),
    ),
}

LOW_ADAP = changed(times(0.001, algorithm="adap-ucb"))
SHOWN: dict[str, Made] = {
    "NCB-F2": LOW_ADAP,
    "NCB-F3": LOW_ADAP,
    "NCB-F4": LOW_ADAP,
    "NCB-F6": LOW_ADAP,
    "NCB-F14": Made(edit=values_of("weak-arms", "pulls", lambda values: values * 3.0)),
}
"""Worlds in which a finding is shown, where it is not in the world as it is."""

NOT_SHOWN: dict[str, Made] = {
    "NCB-F1": changed(at(0.05, algorithm="adap-ucb", **TWO_ARMS)),
    "NCB-F2": changed(times(0.001, algorithm=GDP)),
    "NCB-F3": changed(times(0.001, algorithm=GDP)),
    "NCB-F4": changed(times(50.0, algorithm="ucb1")),
    "NCB-F5": changed(steeper(-0.3, algorithm="ncb")),
    "NCB-F6": changed(times(0.001, algorithm=GDP)),
    "NCB-F10": changed(times(0.1, algorithm=GDP, epsilon=100)),
    "NCB-F11": changed(times(0.3, simulation="anytime", share=1.0)),
    "NCB-F13": Made(edit=scaled("bounds", 1e-6, theorem=1, quantity="bound")),
    "NCB-F14": Made(edit=values_of("weak-arms", "pulls", lambda values: values * 0.0)),
    "NCB-F17": Made(edit=on(AUDIT, passes)),
    "NCB-F18": Made(edit=on(AUDIT, exceeds)),
}
"""Worlds in which a finding is not shown. The findings that are missing here only report."""
