"""A random sample of cells, cheap ones only, that depends on nothing but its seed."""

from dataclasses import dataclass, replace

import numpy as np

from dpbandits.engine.cells import Cell
from dpbandits.engine.experiments import Series
from dpbandits.engine.seeds import stream_key
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project


@dataclass(frozen=True)
class Plan:
    """How the sample is drawn.

    Attributes:
        cells: how many are drawn from each set of results.
        rounds: most rounds (runs times horizon) that a cell may take; costlier ones are not drawn.
        seed: of the draw; the streams of the cells do not depend on it.
    """

    cells: int = 5
    rounds: int = 5 * 10**7
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no sample."""
        for key, least in (("cells", 1), ("rounds", 1), ("seed", 0)):
            if getattr(self, key) < least:
                raise InputError(f"{key} is {getattr(self, key)}; allowed: at least {least}")

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.cells} cells of each set of results, of those that take at most "
            f"{self.rounds} rounds, drawn with seed {self.seed}"
        )


@dataclass(frozen=True)
class Sampled:
    """One cell of the sample: a block of the runs of a series."""

    paper: str
    name: str
    series: Series

    @property
    def cell(self) -> Cell:
        """What is recomputed."""
        return self.series.cell

    @property
    def rounds(self) -> int:
        """Runs times horizon, what the cell costs."""
        return self.cell.runs * self.cell.horizon


@dataclass(frozen=True)
class Sample:
    """The cells drawn, and what the draw left out.

    Attributes:
        cells: cheapest first.
        of: how many cells there were to draw from, costly ones among them.
        too_costly: sets of results without a cell that is cheap enough.
        not_built: sets of results that are not there.
    """

    cells: list[Sampled]
    of: int
    too_costly: list[str]
    not_built: list[str]


def draw_sample(project: Project, plan: Plan) -> Sample:
    """Draw cells from every set of results that is built.

    Raises:
        InputError: results that choose parameters of others are damaged or stale.
    """
    found: list[Sampled] = []
    total, too_costly, not_built = 0, [], []
    for paper in project.built():
        for name in project.experiments(paper).plans:
            if not project.results_path(paper, name).is_file():
                not_built.append(f"{paper}/{name}")
                continue
            cells = [part for series in project.series(paper, name) for part in _parts(series)]
            cheap = [each for each in cells if each.cell.runs * each.cell.horizon <= plan.rounds]
            total += len(cells)
            if cells and not cheap:
                too_costly.append(f"{paper}/{name}")
            found += [Sampled(paper, name, cheap[i]) for i in _chosen(plan, paper, name, cheap)]
    found.sort(key=lambda each: each.rounds)
    return Sample(found, total, too_costly, not_built)


def _chosen(plan: Plan, paper: str, name: str, cheap: list[Series]) -> list[int]:
    """Return which cells are drawn: of each set by itself, so that no other set matters."""
    key = stream_key({"sample": [paper, name]})
    generator = np.random.default_rng(np.random.SeedSequence([plan.seed, key]))
    count = min(plan.cells, len(cheap))
    return [int(i) for i in generator.choice(len(cheap), count, replace=False)] if count else []


def _parts(series: Series) -> list[Series]:
    """Return the series cut into its cells, the blocks of its runs that are cached as one."""
    cell = series.cell
    last = cell.first_run + cell.runs
    parts = []
    for block in cell.blocks():
        first = max(block.first_run, cell.first_run)
        runs = min(block.first_run + block.runs, last) - first
        runs_per_curve = runs if cell.in_lockstep else cell.runs_per_curve
        part = replace(cell, first_run=first, runs=runs, runs_per_curve=runs_per_curve)
        parts.append(replace(series, cell=part))
    return parts
