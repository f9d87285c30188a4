"""Made-up results of dp-ts-ucb: a world in which every claim holds, and others in which not all do.

Every final regret is normal around a mean.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from claims.worlds import (
    ROOT_SEED,
    Change,
    Edit,
    Values,
    Where,
    as_it_is,
    at,
    at_most,
    claims_of,
    frame_of,
    in_turn,
    planned,
    unchanged,
    where,
)
from dpbandits.claims.docket import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge
from dpbandits.engine.cells import Series
from shared import ExactResults

CLAIMS, FINDINGS = claims_of("dp-ts-ucb")
EXACT = ExactResults("dp-ts-ucb")
HORIZON = 1_000_000

LEVELS, BY_ALPHA, CROSSOVER = "privacy-by-horizon", "privacy-by-alpha", "crossover"
NUMBERS, MISSES, WAITS = "constants", "lemma-4-1", "lemma-c1"
OWN_RUNS, BOUND_RUNS = "final-verdicts", "equal-bound-verdicts"
PRIVACY_RUNS, FINER_RUNS = "equal-privacy-verdicts", "finer-verdicts"
BASELINE_RUNS = "baseline-verdicts"

# Mean final regrets, chosen so that every claim on them holds with room to spare.
OWN = {0: 300.0, 0.25: 600.0, 0.5: 900.0, 0.75: 1200.0, 1: 1400.0}
HORIZON_SHARES = {10_000: 0.4, 31_622: 0.5, 100_000: 0.6, 316_227: 0.8, HORIZON: 1.0}
EQUAL_PRIVACY = {
    0: {0: 400, 1: 250, 500: 1000, 1000: 2000, 2000: 4000, 5000: 10_000, 100_000: 200_000},
    1: {0: 90_000, 1: 80_000, 500: 9000, 1000: 7500, 2000: 6000, 5000: 11_000, 100_000: 200_000},
}
BASELINES = {"dp-se": 3500.0, "anytime-lazy-ucb": 2500.0, "lazy-dp-ts": 1000.0}


@dataclass(frozen=True)
class World:
    """The knobs: a change of the mean regrets, most runs of a series, noise of one run."""

    change: Change = unchanged
    runs: int = 200
    noise: float = 20.0


BASE = World()
NOISY = World(noise=1e6)


def base_regret(where: Where) -> float:
    """Return the mean final regret of a series."""
    tags = where.tags
    if where.simulation == OWN_RUNS:
        return HORIZON_SHARES[where.horizon] * OWN[tags["alpha"]]
    if where.simulation == BOUND_RUNS:
        return 2.0 * OWN[tags["alpha"]]
    if where.simulation == PRIVACY_RUNS:
        return EQUAL_PRIVACY[tags["alpha"]][tags["b"]]
    return 7000.0 if where.simulation == FINER_RUNS else BASELINES[where.algorithm]


@cache
def results(name: str, world: World) -> pd.DataFrame:
    """Return the results of one name in a world; not to be changed in place."""
    if name in EXACT:
        return EXACT[name]

    def law(series: Series, generator: np.random.Generator) -> dict[str, Values]:
        place = where(name, series)
        mean = world.change(place, base_regret(place))
        drawn = generator.standard_normal((len(series.runs), 1))
        return {"pseudo_regret": mean + world.noise * drawn}

    series = [at_most(each, world.runs) for each in planned("dp-ts-ucb", name)]
    return frame_of(name, series, law)


def own(alpha: float, mean: float, horizon: int = HORIZON) -> Change:
    """Change the mean regret of DP-TS-UCB at one alpha and horizon."""
    return at(mean, simulation=OWN_RUNS, horizon=horizon, alpha=alpha)


def equal_bound(alpha: float, mean: float) -> Change:
    """Change the mean regret of Modified TS at the equal regret bound."""
    return at(mean, simulation=BOUND_RUNS, alpha=alpha)


def equally_private(alpha: float, b: int, mean: float) -> Change:
    """Change the mean regret of Modified TS at equal privacy."""
    return at(mean, simulation=PRIVACY_RUNS, alpha=alpha, b=b)


def finer(alpha: float, b: int, mean: float) -> Change:
    """Change the mean regret of a number of pre-pulls of the finer grid."""
    return at(mean, simulation=FINER_RUNS, alpha=alpha, b=b)


def baseline(algorithm: str, mean: float) -> Change:
    """Change the mean regret of a baseline."""
    return at(mean, simulation=BASELINE_RUNS, algorithm=algorithm)


def changed(*changes: Change) -> World:
    """Return a world with other mean regrets."""
    return World(in_turn(*changes))


def judged_in(claim: Claim, world: World, edit: Edit = as_it_is) -> list[Judgement]:
    """Judge one claim, or the claim of a finding, in a world."""
    frames = {name: results(name, world) for name in claim.reads}
    edit(frames)
    return judge([claim], Evidence.of_frames(frames, root_seed=ROOT_SEED))


def only(name: str, world: World, edit: Edit = as_it_is) -> list[Judgement]:
    """Judge the claim or the finding of this id in a world."""
    known: Iterable[Claim] = [*CLAIMS, *(finding.claim for finding in FINDINGS)]
    return judged_in(next(claim for claim in known if claim.id == name), world, edit)
