"""Synthetic results of the experiments files: their rows, columns and tags, made-up numbers."""

import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import found_papers
from dpbandits.config.experiments import Caps, SimulationPlan
from dpbandits.engine.cells import Series
from dpbandits.engine.results import results_frame
from dpbandits.metrics import IDENTIFIED, NASH, NOMINAL
from dpbandits.metrics.nash import BINS
from dpbandits.pipeline.study import with_default_tables
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.lines import Line, panel_lines, panel_rows
from shared import exact_result

ROOT = Path(__file__).parents[1]
PROJECT = found_papers.PROJECT

NOISE = 0.02
"""Relative standard error of made-up Nash regret, and of sums over counts."""


def synthetic_values(series: Series, metric: str, generator: np.random.Generator) -> Any:
    """Values of one metric like those of the figures: regret over time, or outcomes of trials."""
    if metric in IDENTIFIED:
        return _outcomes(series, metric, generator)
    if metric in NASH:
        return _nash(series, metric, generator)
    if metric == "inverse_counts":
        shape = len(series.runs), len(series.cell.bandit.arms)
        return series.cell.horizon / 20 * (1.0 + NOISE * generator.standard_normal(shape))
    return _regret(series, metric, generator)


def _outcomes(series: Series, metric: str, generator: np.random.Generator) -> Any:
    """Success more likely with budget and epsilon, by algorithm; pulls a little off the budget."""
    cell = series.cell
    if metric == "total_pulls":
        return np.full((len(series.runs), 1), cell.horizon - 1.0 + len(cell.definition.id) % 3)
    handicap = {"baseline": 1.5, "dp-od": 0.7, "dp-bai-gauss": 0.4}.get(cell.definition.id, 0.0)
    epsilon = min(float(getattr(cell.parameters, "epsilon", 100.0)), 100.0)
    delta = float(getattr(cell.parameters, "delta", 1.0))
    strength = np.log10(cell.horizon * min(epsilon, 1.0)) + 0.3 * np.log10(epsilon + 0.1)
    strength += 0.05 * np.log10(delta) - 0.3 * np.log10(series.tags.get("ratio", 1.0))
    lowest = 1 / min(len(cell.bandit.arms), 3)
    chance = lowest + (1 - lowest) / (1 + np.exp(-3 * (strength - 2.3 - handicap)))
    hits = (generator.random((len(series.runs), 1)) < chance).astype(float)
    # The arm returned: arm 0 is the best one.
    return hits if metric == "success" else 1.0 - hits


def _nash(series: Series, metric: str, generator: np.random.Generator) -> Any:
    """Nash curves that fall from uniform play towards mu*, sooner with epsilon."""
    cell = series.cell
    if metric.endswith(("influence", "bins")):
        width = len(cell.grid) if metric.endswith("influence") else min(BINS, cell.horizon)
        return 0.01 * generator.standard_normal((len(series.runs), width))
    nominal = metric.startswith(NOMINAL)
    means = cell.bandit.nominal_means if nominal else cell.bandit.means
    times = np.asarray(cell.grid, dtype=float)
    slowness = {"gdp-ncb": 3e5, "ldp-ncb": 9e5, "ldp-ucb-l": 5e6, "ucb1": 1e4}
    scale = slowness.get(cell.definition.id, 1e5) / getattr(cell.parameters, "epsilon", 1.0)
    if cell.variant == "repaired":
        scale *= 2.0
    regret = (means.max() - means.mean()) / (1.0 + times / scale)
    curves = []
    for _ in range(len(series.works)):
        own = regret * (1.0 + NOISE * generator.standard_normal())
        log_mean = np.log(means.max() - own)
        error = NOISE * own / (means.max() - own)
        # A tenth of the regret for 50 runs, as that of curves: subtracted it leaves some.
        bias = min(0.5, 5.0 / len(series.works[0].runs)) * own / (means.max() - own)
        best = np.full(times.size, means.max())
        means_too = (np.exp(log_mean), np.exp(log_mean), log_mean + bias)
        curves.append([log_mean, error, bias, *means_too, best])
    return np.array(curves)


def _regret(series: Series, metric: str, generator: np.random.Generator) -> Any:
    """Regret like that of the figures: pre-pulls of gap 1/4 a round, then slopes that grow in c."""
    cell = series.cell
    times = np.asarray(cell.grid, dtype=float)
    pre_pulls = 5 * getattr(cell.parameters, "b", 0)
    slope = 0.25 * min(1.0, getattr(cell.parameters, "c", 10.0) / 1000)
    mean = 0.25 * np.minimum(times, pre_pulls) + slope * np.maximum(times - pre_pulls, 0)
    noise = 137.0 if metric == "realised_regret" else 20.0
    return mean + noise * generator.standard_normal((len(series.runs), times.size))


class Document:
    """An experiments file of the project, with made-up results."""

    def __init__(self, paper: str) -> None:
        self.name = paper
        self.study = PROJECT.study(paper)
        self.paper, self.path = self.study.code, self.study.path
        self.figures, self.tables = self.study.figures, self.study.tables
        file = self.study.file
        self.entries = {"figures": file.figures, "tables": with_default_tables(file.tables)}
        self.frame = cache(self._frame)

    def plan(self, name: str, caps: dict[str, int] | None = None) -> SimulationPlan:
        """Return a simulation, at a smaller scale where caps are given."""
        return replace(self.study.simulation(name), caps=Caps(**caps or {}))

    def _frame(self, name: str) -> pd.DataFrame:
        """Results of a simulation as the engine would write them, or the exact ones."""
        if name in self.paper.functions("analytic"):
            return exact_result(self.name, name)
        plan = self.plan(name)
        series = plan.series(self.frame(plan.tuned_by) if plan.tuned_by else None)
        generator = np.random.default_rng(20240719)
        blocks: Any = [
            {metric: synthetic_values(each, metric, generator) for metric in each.cell.metrics}
            for each in series
        ]
        return results_frame(series, blocks)

    def draw(self, name: str, folder: Path) -> list[Path]:
        """Draw a figure, panels or diagram, from made-up results."""
        code = self.paper.functions("derived"), self.paper.functions("diagrams")
        return draw_figure(self.figures[name], self.frame, folder, *code, self.name)

    def lines(self, name: str, letter: str) -> list[Line]:
        panel = self.figures[name].panels[letter]
        return panel_lines(
            panel, panel_rows(panel, self.frame, self.paper.functions("derived"), name), name
        )


PAPERS = {name: Document(name) for name in (*found_papers.PAPERS, "equal-privacy")}
"""The papers, and what is ours across them."""

EVERY_FIGURE = [(paper, name) for paper, own in PAPERS.items() for name in own.figures]
EVERY_TABLE = [(paper, name) for paper, own in PAPERS.items() for name in own.tables]

FIRST, SECOND, THIRD, FOURTH, ACROSS = (
    PAPERS[name] for name in ("ts-is-dp", "dp-ts-ucb", "dp-bai", "dp-ncb", "equal-privacy")
)
FIGURES, frame = FIRST.figures, FIRST.frame


def changed(entry: Any, key: str, value: Any) -> Any:
    """Return a copy of an entry with another value (None takes the key out); ``x.tag`` is a key."""
    copied = place = copy.deepcopy(entry)
    *way, last = (int(each) if each.isdigit() else each for each in key.split("."))
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied
