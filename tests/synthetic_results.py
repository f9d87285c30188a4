"""Synthetic results of the experiments file: its rows, columns and tags, with made-up numbers."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.engine.documents import load_yaml
from dpbandits.engine.experiments import Series, SimulationPlan
from dpbandits.engine.results import results_frame
from dpbandits.papers.ts_is_dp.analytic import ANALYTIC
from dpbandits.papers.ts_is_dp.formulas import FORMULAS

ROOT = Path(__file__).parents[1]
EXPERIMENTS = ROOT / "config/experiments/ts-is-dp.yaml"
DOCUMENT = load_yaml(EXPERIMENTS)
FIGURES: dict[str, Any] = DOCUMENT["figures"]


def synthetic_values(series: Series, metric: str, generator: np.random.Generator) -> Any:
    """Regret like that of the figures: pre-pulls of gap 1/4 a round, then slopes that grow in c."""
    cell = series.cell
    times = np.asarray(cell.grid, dtype=float)
    pre_pulls = 5 * getattr(cell.parameters, "b", 0)
    slope = 0.25 * min(1.0, getattr(cell.parameters, "c", 10.0) / 1000)
    mean = 0.25 * np.minimum(times, pre_pulls) + slope * np.maximum(times - pre_pulls, 0)
    noise = 137.0 if metric == "realised_regret" else 20.0
    return mean + noise * generator.standard_normal((cell.runs, times.size))


@cache
def frame(name: str) -> pd.DataFrame:
    """Results of a simulation as the engine would write them, or the exact ones."""
    if name in ANALYTIC:
        return ANALYTIC[name]()
    spec = DOCUMENT["simulations"][name]
    instance = DOCUMENT["instances"][spec["instance"]]
    plan = SimulationPlan(name, spec, instance, {}, FORMULAS, name)
    series = plan.series(frame(plan.tuned_by) if plan.tuned_by else None)
    generator = np.random.default_rng(20240719)
    blocks: Any = [
        {metric: synthetic_values(each, metric, generator) for metric in each.cell.metrics}
        for each in series
    ]
    return results_frame(series, blocks)
