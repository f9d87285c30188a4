"""Worlds in which a claim or finding on dp-ts-ucb comes out otherwise, and judging in them."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from claims.dp_ts_ucb_results import HORIZON, World, exactly, make
from claims.perturbations import Edit, as_it_is
from dpbandits.claims import Claim, Evidence, Judgement, judge, load_claims, load_findings
from dpbandits.papers.dp_ts_ucb.analytic import ANALYTIC
from dpbandits.papers.dp_ts_ucb.statistics import STATISTICS

ROOT = Path(__file__).parents[2]
CLAIMS = load_claims(ROOT / "config/papers/dp-ts-ucb/claims.yaml", STATISTICS)
FINDINGS = load_findings(ROOT / "config/papers/dp-ts-ucb/findings.yaml", STATISTICS)
ROOT_SEED = 20260719

BASE = World()
NOISY = World(noise=1e6)
LEVELS, BY_ALPHA, CROSSOVER = "privacy-by-horizon", "privacy-by-alpha", "crossover"
NUMBERS, MISSES, WAITS = "constants", "lemma-4-1", "lemma-c1"
OWN_RUNS, BOUND_RUNS = "final-verdicts", "equal-bound-verdicts"
PRIVACY_RUNS, FINER_RUNS = "equal-privacy-verdicts", "finer-verdicts"
BASELINE_RUNS = "baseline-verdicts"

Changes = dict[tuple[Any, ...], float]


def own(alpha: float, mean: float, horizon: int = HORIZON) -> Changes:
    """Change the mean regret of DP-TS-UCB at one alpha and horizon."""
    return {(OWN_RUNS, horizon, alpha): mean}


def equal_bound(alpha: float, mean: float) -> Changes:
    """Change the mean regret of Modified TS at the equal regret bound."""
    return {(BOUND_RUNS, alpha, count): mean for count in ("n+1", "n")}


def equally_private(alpha: float, b: int, mean: float) -> Changes:
    """Change the mean regret of Modified TS at equal privacy."""
    return {(PRIVACY_RUNS, alpha, b, count): mean for count in ("n+1", "n")}


def baseline(algorithm: str, mean: float) -> Changes:
    """Change the mean regret of a baseline."""
    return {(BASELINE_RUNS, algorithm, log): mean for log in ("base2", "natural", None)}


def changed(*changes: Changes) -> World:
    """A world with other mean regrets."""
    return World(changes={key: mean for change in changes for key, mean in change.items()})


def finer(alpha: float, b: int, mean: float) -> Changes:
    """Change the mean regret of a number of pre-pulls of the finer grid."""
    return {(FINER_RUNS, alpha, b): mean}


@lru_cache(maxsize=64)
def _results(name: str, world: "_Key") -> pd.DataFrame:
    return make(name, world.world)


class _Key:
    """A world that can be a key: by its text, which says all that is in it."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __hash__(self) -> int:
        return hash(repr(self.world))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.world == other.world


def results(name: str, world: World) -> pd.DataFrame:
    """Results of one name in a world; not to be changed in place."""
    return exactly(name) if name in ANALYTIC else _results(name, _Key(world))


def judged_in(claim: Claim, world: World, edit: Edit = as_it_is) -> list[Judgement]:
    """Judge one claim, or the claim of a finding, in a world."""
    frames = {name: results(name, world) for name in claim.reads}
    edit(frames)
    return judge([claim], Evidence.of_frames(frames, root_seed=ROOT_SEED))


def only(name: str, world: World, edit: Edit = as_it_is) -> list[Judgement]:
    """Judge the claim or the finding of this id in a world."""
    known: Iterable[Claim] = [*CLAIMS, *(finding.claim for finding in FINDINGS)]
    return judged_in(next(claim for claim in known if claim.id == name), world, edit)
