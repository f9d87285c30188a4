"""Synthetic results of the experiments files: their rows, columns and tags, made-up numbers."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.engine.documents import load_yaml
from dpbandits.engine.experiments import Series, SimulationPlan
from dpbandits.engine.results import results_frame
from dpbandits.papers import find_paper
from dpbandits.reporting.diagrams import draw_diagram
from dpbandits.reporting.figures import draw_figure
from dpbandits.reporting.specs import DIAGRAM

ROOT = Path(__file__).parents[1]


def synthetic_values(series: Series, metric: str, generator: np.random.Generator) -> Any:
    """Regret like that of the figures: pre-pulls of gap 1/4 a round, then slopes that grow in c."""
    cell = series.cell
    times = np.asarray(cell.grid, dtype=float)
    pre_pulls = 5 * getattr(cell.parameters, "b", 0)
    slope = 0.25 * min(1.0, getattr(cell.parameters, "c", 10.0) / 1000)
    mean = 0.25 * np.minimum(times, pre_pulls) + slope * np.maximum(times - pre_pulls, 0)
    noise = 137.0 if metric == "realised_regret" else 20.0
    return mean + noise * generator.standard_normal((cell.runs, times.size))


class Document:
    """An experiments file of the project, with made-up results."""

    def __init__(self, paper: str) -> None:
        """Read the file of the paper of this short name."""
        self.name = paper
        self.paper = find_paper(paper)
        self.path = ROOT / "config/experiments" / f"{paper}.yaml"
        self.document = load_yaml(self.path)
        self.figures: dict[str, Any] = self.document["figures"]
        self.tables: dict[str, Any] = self.document["tables"]
        self.frame = cache(self._frame)

    def plan(self, name: str, caps: dict[str, int] | None = None) -> SimulationPlan:
        """Return a simulation, at a smaller scale where caps are given."""
        spec = self.document["simulations"][name]
        instance = self.document["instances"][spec["instance"]]
        return SimulationPlan(name, spec, instance, caps or {}, self.paper.formulas, name)

    def _frame(self, name: str) -> pd.DataFrame:
        """Results of a simulation as the engine would write them, or the exact ones."""
        if name in self.paper.analytic:
            exact: pd.DataFrame = self.paper.analytic[name]()
            return exact
        plan = self.plan(name)
        return self.made_up(plan.series(self.frame(plan.tuned_by) if plan.tuned_by else None))

    def draw(self, name: str, folder: Path) -> list[Path]:
        """Draw a figure, panels or diagram, from made-up results."""
        spec = self.figures[name]
        if spec.get("kind") == DIAGRAM:
            return draw_diagram(spec, name, self.frame, folder, self.paper.diagrams)
        return draw_figure(spec, name, self.frame, folder)

    def made_up(self, series: list[Series]) -> pd.DataFrame:
        """Results of these series."""
        generator = np.random.default_rng(20240719)
        blocks: Any = [
            {metric: synthetic_values(each, metric, generator) for metric in each.cell.metrics}
            for each in series
        ]
        return results_frame(series, blocks)


PAPERS = {name: Document(name) for name in ("ts-is-dp", "dp-ts-ucb")}

EVERY_FIGURE = [(paper, name) for paper, own in PAPERS.items() for name in own.figures]
EVERY_TABLE = [(paper, name) for paper, own in PAPERS.items() for name in own.tables]

FIRST, SECOND = PAPERS.values()
EXPERIMENTS, DOCUMENT, FIGURES, frame = FIRST.path, FIRST.document, FIRST.figures, FIRST.frame
