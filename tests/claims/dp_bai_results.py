"""Results made up for the claims of dp-bai: a world in which every simulated claim holds.

The series are those of the experiments file, as the engine plans them. Of each block of trials the
expected number succeeds, rounded: what is tested is the rules; the error rates of the intervals
are tested in `test_rates`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy.special import ndtr, ndtri

from claims.audit_results import FOLDER, audited
from dpbandits.engine.experiments import Series, SimulationPlan
from dpbandits.papers.dp_bai.analytic import ANALYTIC
from dpbandits.papers.dp_bai.formulas import FORMULAS
from dpbandits.papers.dp_bai.instances import INSTANCES

ROOT = Path(__file__).parents[2]
DOCUMENT = yaml.safe_load((ROOT / "config/papers/dp-bai/experiments.yaml").read_text())
BLOCK_ENDS = (1000, 10_000, 20_000, 50_000, 400_000)
GAP = 0.05


@dataclass(frozen=True)
class Where:
    """A block of trials: where it stands, and how many trials came before it."""

    simulation: str
    algorithm: str
    tags: Mapping[str, Any]
    start: int

    @property
    def budget(self) -> int:
        """T of the series."""
        return int(self.tags.get("horizon", DOCUMENT["simulations"][self.simulation]["horizon"]))

    @property
    def epsilon(self) -> float:
        """Epsilon of the series, infinite without one."""
        return float(self.tags.get("epsilon", math.inf))

    def matches(self, **tags: Any) -> bool:
        """Whether the series has these tags, a budget among them."""
        known = {"algorithm": self.algorithm, **self.tags, "budget": self.budget}
        return all(known.get(key) == value for key, value in tags.items())


Change = Callable[[Where, float], float]
"""A success rate in place of the one that was made up."""


def unchanged(where: Where, rate: float) -> float:
    """The world in which every simulated claim holds."""
    return rate


def make(name: str, change: Change = unchanged, trials: int = 10**9) -> pd.DataFrame:
    """Return the results of one name, of at most so many trials a series."""
    if name.startswith(FOLDER):
        return audited(name)
    if name in ANALYTIC:
        return analytic(name)
    if DOCUMENT["simulations"][name]["metrics"] == ["recommended"]:
        return _recommended(name, trials)
    return pd.DataFrame(_rows(name, change, trials))


@cache
def analytic(name: str) -> pd.DataFrame:
    """Exactly computed results, computed once; never edited in place."""
    return ANALYTIC[name]()


@cache
def planned(name: str) -> tuple[Series, ...]:
    """The series of a simulation."""
    spec = DOCUMENT["simulations"][name]
    instance = DOCUMENT["instances"][spec["instance"]]
    return tuple(SimulationPlan(name, spec, instance, {}, FORMULAS, name, INSTANCES).series())


def _rows(name: str, change: Change, most: int) -> Iterator[dict[str, Any]]:
    spec = DOCUMENT["simulations"][name]["runs"]
    count = min(spec["count"], most)
    ends = sorted({end for end in BLOCK_ENDS if end < count} | {count})
    for series in planned(name):
        algorithm = series.cell.definition.id
        for start, end in zip([0, *ends], ends, strict=False):
            where = Where(name, algorithm, series.tags, start)
            rate = change(where, base_rate(where))
            yield {
                "series": series.label,
                "algorithm": algorithm,
                **series.tags,
                "run": spec["first"] + start,
                "trials": end - start,
                "metric": "success",
                "t": where.budget,
                "arm": -1,
                "value": float(round(rate * (end - start))),
            }


def _recommended(name: str, most: int) -> pd.DataFrame:
    """Arms returned, the same for all series of one (T, epsilon); without much noise of one T."""
    spec = DOCUMENT["simulations"][name]["runs"]
    count = min(spec["count"], most)
    frames = []
    for series in planned(name):
        is_common = name in ("noiseless", "weak-privacy-stream")
        epsilon = 0 if is_common else int(100 * series.tags["epsilon"])
        generator = np.random.default_rng([series.cell.horizon, epsilon])
        frames.append(
            pd.DataFrame(
                {
                    "series": series.label,
                    "algorithm": series.cell.definition.id,
                    **series.tags,
                    "run": np.arange(spec["first"], spec["first"] + count),
                    "trials": 1,
                    "metric": "recommended",
                    "t": series.cell.horizon,
                    "arm": -1,
                    "value": generator.integers(0, 2, count).astype(float),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def base_rate(where: Where) -> float:
    """Success rate in the world in which every claim holds."""
    if where.simulation == "halving":
        return 0.3 + 0.65 * (1.0 - math.exp(-where.budget / 1000))
    if where.simulation == "rare-errors":
        level, slope = (0.25, 0.004) if where.epsilon == 1 else (0.3, 0.0018)
        return 1.0 - level * math.exp(-slope * where.budget)
    if where.simulation.startswith("budgets-"):
        return probit_rate(where.budget, needed_budget(where))
    if where.simulation in ("verdicts-sphere", "phases-basis"):
        return _several_phases_rate(where)
    if DOCUMENT["simulations"][where.simulation]["instance"].startswith("section5"):
        return _section5_rate(where)
    return _two_armed_rate(where)


def _section5_rate(where: Where) -> float:
    error = 0.625 * math.exp(-where.budget / (1.0 + 3.0 / where.epsilon) / 150)
    if where.algorithm == "baseline":
        return 0.6 * (1.0 - error) - 0.15
    return 1.0 - _worse_or_better(where, error)


def _several_phases_rate(where: Where) -> float:
    """A world in which DP-OD leads where several phases are needed, with l1 from T = 1000 on."""
    lead = {"baseline": 8.0, "dp-bai": 2.0, "dp-od": 1.0, "od-linbai": 0.5}[where.algorithm]
    noise = 0.1
    if where.algorithm == "dp-od":
        by_l1 = 0.5 if where.budget > 500 else 1.5
        noise = {"l1": by_l1, "l2": 0.2}[where.tags.get("norm", "l2")]
    return 1.0 - 0.95 * math.exp(-where.budget / (2000 * lead * (0.5 + noise / where.epsilon)))


def _two_armed_rate(where: Where) -> float:
    signal = where.budget / (1.0 + 3.0 / where.epsilon) / 100
    if where.algorithm == "dp-od":
        return 1.0 - 0.5 * math.exp(-signal / (1.2 * math.sqrt(where.tags["ratio"])))
    return 1.0 - _worse_or_better(where, 0.5 * math.exp(-signal))


def _worse_or_better(where: Where, error: float) -> float:
    """Halve the error at large delta, raise it at small delta and with DP-OD."""
    delta = where.tags.get("delta")
    if delta is not None and delta >= 0.5:
        return error / 2.0
    is_worse = delta is not None or where.algorithm == "dp-od"
    return min(1.0, error + 0.15 * math.sqrt(error)) if is_worse else error


def needed_budget(where: Where) -> float:
    """T at success 0.9: a sum of two terms, the second proportional to y/x with DP-OD."""
    gap = where.tags.get("gap", GAP)
    inflation = where.tags["ratio"] if where.algorithm == "dp-od" else 1.0
    return float(0.5 / gap**2 + 4.4 * inflation / (where.epsilon * gap))


def probit_rate(budget: int, needed: float) -> float:
    """Success rate at a budget where 0.9 is reached at another."""
    return float(ndtr(ndtri(0.9) * math.sqrt(budget / needed)))
