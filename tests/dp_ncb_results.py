"""Results made up for the claims of dp-ncb, with Nash regrets that are known, and verdicts on them.

The series are those of the experiments file, at the times that the claims read. Nash regrets are
exactly as made up, the same for all variants; two numbers of each run move their influences, so
that the standard error of log Nash regret is ``noise`` / sqrt(R) at T and 1.4 times that at 0.4 T.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge
from dpbandits.engine.cells import Series
from dpbandits.engine.results import results_frame
from dpbandits.metrics import NOMINAL
from dpbandits.metrics.nash import bin_edges
from dpbandits.papers.dp_ncb.instances import drawn_means
from dpbandits.pipeline.project import Project
from made_up_results import Change, Values, Where, at_most, in_turn, planned, unchanged, where
from shared import ExactResults
from support import ROOT
from synthetic_results import PAPERS

DOCUMENT = PAPERS["dp-ncb"].document
EXACT = ExactResults("dp-ncb")
BEST = max(drawn_means())
TWO_ARMS = (100, 300, 1000)
WINDOWS = tuple(2**m - 1 for m in range(17, 24))
TWO_ARMED_RESULTS = ("panel-a", "panel-a-verdicts")
SHARES = (0.03, 0.1, 0.16, 0.18, 0.2, 0.22, 0.25, *np.geomspace(0.3, 1.0, 20))

# Final Nash regrets by T = 1e6, 1e7, ...; slopes and orders as the claims state them.
FINALS = {
    "ncb": (0.04, 0.006, 0.0008, 0.0001, 0.00001),
    "gdp-ncb": (0.6, 0.075, 0.009, 0.001, 0.0001),
    "ldp-ncb": (0.443, 0.14, 0.0443, 0.014, 0.0044),
    "adap-ucb": (0.2, 0.1, 0.038, 0.035, 0.034),
    "ldp-ucb-l": (0.5, 0.4, 0.3, 0.2, 0.1),
    "ucb1": (0.004, 0.0006, 0.00008, 0.00001, 0.000001),
}
SLOPES = {"ncb": -0.9, "gdp-ncb": -0.95, "ldp-ncb": -0.55, "adap-ucb": -0.0547, "ucb1": -0.9}
BY_EPSILON = {
    "gdp-ncb": {0.5: 0.05, 1: 0.035, 2: 0.02, 10: 0.018, 100: 0.03},
    "ldp-ncb": {0.1: 0.28, 0.5: 0.06, 1: 0.03, 2: 0.016},
}
VERSIONS = {"matched": 0.0155}
FOUR_LAWS = {"ncb": 0.05, "gdp-ncb": 0.1, "ldp-ncb": 0.2}
TWO_ARMED = {"adap-ucb": (0.98, 0.98, 0.98), "gdp-ncb": (0.2, 0.15, 0.08)}


@dataclass(frozen=True)
class World:
    """The knobs: a change of Nash regrets, noise, most runs, and the bias of their logarithms."""

    change: Change = unchanged
    noise: float = 0.01
    bias: float = 0.0
    runs: int = 10**9


def make(name: str, world: World) -> pd.DataFrame:
    """Return the results of one name."""
    if name in EXACT:
        return analytic(name)
    if name == "phase-lengths":
        return _phase_lengths(world.runs)
    series = [at_most(each, world.runs) for each in read(name)]
    if name == "weak-arms":
        return results_frame(series, [{"pulls": _few_pulls(each)} for each in series])
    blocks = [_block(name, each, world) for each in series]
    if world.runs < 10**9:
        return results_frame(series, blocks)
    values = [each for pair in zip(series, blocks, strict=True) for each in _values(*pair)]
    return _layout(name).assign(value=np.concatenate(values))


@cache
def analytic(name: str) -> pd.DataFrame:
    """Exactly computed results, computed once; for runs that are played, no violation."""
    if name != "index-plays":
        return EXACT[name]
    rows = [
        {"algorithm": "gdp-ncb", "variant": variant, "statement": statement, "x": x, "y": 0.0}
        for variant, x in (("as-written", 1e9), ("as-coded", 1e8), ("repaired", 1e8))
        for statement in ("best-index", "weak-arms")
    ]
    return pd.DataFrame(rows).assign(series="", lo=0.0, hi=0.0)


@cache
def read(name: str) -> tuple[Series, ...]:
    """The series of a simulation that the claims may read, at the times they read."""
    found = planned("dp-ncb", name)
    if name in TWO_ARMED_RESULTS:
        found = tuple(each for each in found if each.cell.horizon in TWO_ARMS)
    return tuple(replace(each, cell=replace(each.cell, grid=_times(each))) for each in found)


def _times(series: Series) -> tuple[int, ...]:
    horizon = series.cell.horizon
    if series.cell.definition.id.startswith("anytime"):
        return WINDOWS
    if len(series.cell.grid) == 1:
        return (horizon,)
    return tuple(round(share * horizon) for share in SHARES)


@cache
def _layout(name: str) -> pd.DataFrame:
    """The frame of a simulation, of whose values other worlds have others."""
    series = list(read(name))
    return results_frame(series, [_block(name, each, World()) for each in series])


def _values(series: Series, block: dict[str, Values]) -> Iterator[Values]:
    """Everything recorded of a series, in the order of the frame."""
    for metric in series.cell.metrics:
        by_quantity = metric.removeprefix(NOMINAL) == "nash_regret"
        recorded = block[metric].swapaxes(0, 1) if by_quantity else block[metric]
        yield recorded.ravel()


def _block(name: str, series: Series, world: World) -> dict[str, Values]:
    cell = series.cell
    block: dict[str, Values] = {}
    for prefix in ("", NOMINAL) if f"{NOMINAL}nash_regret" in cell.metrics else ("",):
        regrets = np.array([_regret(name, series, t, bool(prefix), world) for t in cell.grid])
        best = 1.0 if name in TWO_ARMED_RESULTS else BEST
        curves = len(series.works)
        block[f"{prefix}nash_regret"] = np.stack(
            [_quantities(regrets, best, world.noise * each, world.bias) for each in _spread(curves)]
        )
        relative = regrets / (best - regrets)
        influences = _influences(name, series.label, len(series.runs), len(cell.grid))
        block[f"{prefix}nash_influence"] = -world.noise * relative * influences
    return {metric: block[metric] for metric in cell.metrics}


def _quantities(regrets: Values, best: float, moved: float, bias: float) -> Values:
    """The seven quantities of a curve, whose Nash regret is moved by a share."""
    geometric = np.maximum(best - regrets * (1.0 + moved), 1e-9)
    nothing = np.zeros(regrets.size)
    rows = (
        np.log(geometric),
        nothing,
        nothing + bias,
        geometric + 1e-6,
        geometric,
        np.log(geometric),
    )
    return np.stack([*rows, nothing + best])


def _spread(curves: int) -> Values:
    """Standardised numbers with mean 0, one a curve; 0 where there is one curve."""
    if curves == 1:
        return np.zeros(1)
    numbers = np.arange(curves) - (curves - 1) / 2.0
    return numbers / numbers.std(ddof=1)


@cache
def _influences(name: str, label: str, runs: int, times: int) -> Values:
    """Influences of standard deviation 1 at T; shape (runs, times)."""
    generator = np.random.default_rng([*f"{name}|{label}".encode()])
    level, tilt = generator.standard_normal((2, runs, 1))
    each = level + tilt * np.log(np.linspace(1.0 / math.e, 1.0, times))
    return np.asarray(each - each.mean(axis=0))


def _regret(name: str, series: Series, t: int, nominal: bool, world: World) -> float:
    cell = series.cell
    place = where(name, series, share=round(t / cell.horizon, 4), nominal=nominal)
    most = 0.999 if name in TWO_ARMED_RESULTS else 0.96
    return min(world.change(place, base_regret(place)), most)


def base_regret(where: Where) -> float:
    """The Nash regret that is made up."""
    algorithm, tags = where.algorithm, where.tags
    if where.simulation in TWO_ARMED_RESULTS:
        return TWO_ARMED[algorithm][TWO_ARMS.index(where.horizon)]
    if where.simulation in ("anytime", "known-horizon"):
        rounds = round(where.share * where.horizon)
        factor = 1.5 * rounds**0.05 if algorithm.startswith("anytime") else 1.0
        return factor * 0.1 * (rounds / 10**6) ** -0.3
    if where.simulation == "panel-f":
        final = FOUR_LAWS[algorithm]
    elif "version" in tags:
        final = VERSIONS[tags["version"]]
    else:
        final = FINALS[algorithm][max(0, round(math.log10(where.horizon)) - 6)]
        final = BY_EPSILON.get(algorithm, {}).get(tags.get("epsilon"), final)
    return final * _shape(where)


def _shape(where: Where) -> float:
    """A power of t near the horizon, nearly flat before; in (b) from before the crossing on."""
    begin = 0.1 if where.simulation == "panel-b" else 0.3
    steep = max(where.share, begin) ** SLOPES.get(where.algorithm, -0.5)
    return float(steep * (min(where.share, begin) / begin) ** -0.1)


def _few_pulls(series: Series) -> Values:
    """Pulls of each arm: ten of each weak one, fewer than Phase I has rounds."""
    cell = series.cell
    pulls = np.full((len(series.runs), 50), 10.0)
    pulls[:, 45:] = (cell.horizon - 450) / 5.0
    return pulls


@cache
def _phase_lengths(runs: int) -> pd.DataFrame:
    """Bins of time of runs whose Phase I ends at 0.19 T (T = 1e9) and 0.024 T (T = 1e10)."""
    series = [at_most(each, runs) for each in read("phase-lengths")]
    blocks = []
    for each in series:
        horizon = each.cell.horizon
        shares = bin_edges(horizon) / horizon
        end = 0.19 if horizon == 10**9 else 0.024
        means = np.where(shares <= end, np.mean(drawn_means()), 0.95 * BEST)
        blocks.append({"nash_bins": np.tile(means, (len(each.runs), 1))})
    return results_frame(series, blocks)


CLAIMS = {claim.id: claim for claim in Project.load(ROOT).study("dp-ncb").claims}
AS_IT_IS = World()


@cache
def _results(name: str) -> pd.DataFrame:
    """Results of one name in the world as it is, made once; never edited in place."""
    return make(name, AS_IT_IS)


def verdict_of(name: str, world: World, variant: str, **values: Any) -> Judgement:
    """Judge the row of a claim with this variant and exactly these values in a world."""
    claim = CLAIMS[name]
    rows = [
        each for each in claim.interpretations if (each.variant, each.values) == (variant, values)
    ]
    results = _results if world == AS_IT_IS else lambda name: make(name, world)
    [found] = judge([claim.model_copy(update={"interpretations": rows})], Evidence(results))
    return found


def changed(*changes: Change) -> World:
    """Return a world with some changes, one after the other."""
    return World(in_turn(*changes))


def steeper(power: float, **tags: object) -> Change:
    """Multiply Nash regrets by a power of t / T from 0.3 T on, and by what that is before."""

    def change(where: Where, regret: float) -> float:
        return regret * max(where.share, 0.3) ** power if where.matches(**tags) else regret

    return change
