"""An algorithm of the user's own beside those of a figure of a paper that is built."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.commands.custom_lines import (
    Own,
    Played,
    own_lines,
    plan_panel,
    require_kind,
    takes_simulations,
)
from dpbandits.engine.cache import Block, Cache
from dpbandits.engine.compiling import compilation_shown
from dpbandits.engine.experiments import Series
from dpbandits.engine.fan_out import compute
from dpbandits.engine.provenance import write_provenance
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.target import rule_name
from dpbandits.reporting.figure_files import write_figure
from dpbandits.reporting.figures import draw_panels, plotted_points
from dpbandits.reporting.own_look import OWN_COLOUR, OWN_MARKERS
from dpbandits.reporting.panels import Line, panel_lines, panel_rows
from dpbandits.reporting.specs import DIAGRAM, FigureSpec, PanelSpec, panel_stem, parse_figure

OWN_WIDTH, OWN_MARKER = 2.2, 7.0
"""Width of the user's line and size of its markers in points, about twice those of others."""

FITTING = "a figure of regret, Nash regret or success, which is simulated"


@dataclass(frozen=True)
class Compared:
    """A figure of a paper, or one panel of it.

    Attributes:
        project: the project.
        paper: its short name.
        figure: the figure's entry.
        letters: the panels that are drawn.
    """

    project: Project
    paper: str
    figure: FigureSpec
    letters: tuple[str, ...]

    @classmethod
    def find(cls, project: Project, name: str) -> "Compared":
        """Return the figure or panel ``PAPER/NAME``.

        Raises:
            InputError: there is none of that name, or it is a diagram.
        """
        paper, _, stem = name.partition("/")
        if not stem:
            raise InputError(f"figure is {name!r}; allowed: PAPER/FIGURE, as dp-ts-ucb/fig5")
        experiments = project.experiments(paper)
        for figure in experiments.figures:
            spec = project.figure_spec(paper, figure)
            parsed = parse_figure(figure, spec)
            if figure == stem and spec.get("kind") == DIAGRAM:
                raise InputError(f"{name}: is a diagram; allowed: {FITTING}")
            if figure == stem:
                return cls(project, paper, parsed, tuple(parsed.panels))
            for letter in parsed.panels:
                if panel_stem(figure, letter) == stem:
                    return cls(project, paper, parsed, (letter,))
        allowed = ", ".join(experiments.figures)
        raise InputError(f"{paper} has no figure {stem!r}; allowed: {allowed}, or a panel of one")

    @property
    def panels(self) -> dict[str, PanelSpec]:
        """The panels that are drawn, by letter."""
        return {letter: self.figure.panels[letter] for letter in self.letters}

    def place(self, letter: str) -> str:
        """Return what error messages call a panel."""
        return f"{self.paper}/{panel_stem(self.figure.name, letter)}"

    @cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The results that the panels read.

        Raises:
            InputError: they are not built, damaged or stale.
        """
        reads = dict.fromkeys(name for panel in self.panels.values() for name in panel.reads)
        for name in reads:
            path = self.project.results_path(self.paper, name)
            if not path.is_file():
                raise InputError(f"{path}: does not exist; build the figure first: {self._build()}")
        return {name: self.project.frame(self.paper, name) for name in reads}

    def _build(self) -> str:
        scale = " --config scale=quick" if self.project.scale == "quick" else ""
        return f"snakemake --cores 2 {rule_name(self.paper, self.figure.name)}{scale}"

    def rows(self, letter: str) -> pd.DataFrame:
        """Return the rows that one panel reads, or that are derived for it."""
        derived = self.project.experiments(self.paper).paper.derived
        panel = self.figure.panels[letter]
        return panel_rows(panel, self.frames.__getitem__, derived, self.place(letter))

    def series(self, letter: str) -> dict[str, Series]:
        """Return the simulated series that one panel reads, by label."""
        reads = self.figure.panels[letter].reads
        found = (each for name in reads for each in self.project.series(self.paper, name))
        return {each.label: each for each in found}


def compare_figure(
    project: Project, name: str, own: Own, folder: Path | None = None, workers: int = 1
) -> list[Path]:
    """Draw a figure of a paper with the user's algorithm in every panel that is simulated.

    Args:
        project: the project, whose results of the figure are built.
        name: ``PAPER/FIGURE`` or ``PAPER/PANEL``.
        own: the algorithm and how it is played.
        folder: where the files go; by default ``figures/compare/PAPER``.
        workers: processes to simulate with.

    Returns:
        The files written, pdf, png and csv of every panel and of the whole.

    Raises:
        InputError: the figure cannot take the algorithm, is not built, or a parameter is wrong.
    """
    begun = time.monotonic()
    target = Compared.find(project, name)
    simulated = [letter for letter, each in target.panels.items() if takes_simulations(each)]
    if not simulated:
        raise InputError(f"{name}: shows exact values; allowed: {FITTING}")
    for letter in simulated:
        require_kind(target.panels[letter], own, target.place(letter))
    played = {
        letter: plan_panel(
            target.panels[letter],
            own,
            target.rows(letter),
            target.series(letter),
            target.place(letter),
        )
        for letter in simulated
    }
    blocks = _computed(project, played, workers)
    lines: dict[str, list[Line]] = {}
    for letter, panel in target.panels.items():
        place = target.place(letter)
        lines[letter] = panel_lines(panel, target.rows(letter), place)
        if letter in simulated:
            pairs = [(each, blocks[id(each)]) for each in played[letter]]
            lines[letter] += own_lines(panel, own, pairs, place)
        else:
            print(f"{place}: shows exact values and stays as it is", file=sys.stderr)
    folder = folder or project.figures_folder(target.paper).parent / "compare" / target.paper
    written = _written(target, lines, folder)
    details = {
        "scale": project.scale,
        "seed": project.seed,
        "algorithm": own.algorithm.id,
        "played": [each.cell.description for own in played.values() for each in own],
        "fingerprint": sorted({each.cell.fingerprint for own in played.values() for each in own}),
    }
    write_provenance(written[-1], project.folder, details, time.monotonic() - begun)
    return written


def _computed(
    project: Project, played: Mapping[str, list[Played]], workers: int
) -> dict[int, Block]:
    """Return the metrics of every simulation, all panels at once."""
    every = [each for own in played.values() for each in own]
    name = every[0].cell.definition.id
    with compilation_shown(name):
        blocks = compute(
            [each.cell for each in every],
            root_seed=project.seed,
            workers=workers,
            cache=Cache(project.cache_folder),
            title=f"simulating {name}",
        )
    return {id(each): block for each, block in zip(every, blocks, strict=True)}


def _written(target: Compared, lines: Mapping[str, list[Line]], folder: Path) -> list[Path]:
    """Write every panel as a file of its own, then the whole where there is more than one."""
    name = target.figure.name
    parts = {panel_stem(name, letter): {letter: own} for letter, own in lines.items()}
    if len(lines) > 1:
        parts[name] = dict(lines)
    written = []
    for stem, own in parts.items():
        drawn = draw_panels(target.figure, own, target.paper)
        _mark(drawn)
        named = own if len(own) > 1 else {"": next(iter(own.values()))}
        written += write_figure(folder / stem, drawn, plotted_points(target.figure, named))
    return written


def _mark(drawn: Figure) -> None:
    """Make the user's lines and their entries in the legend stand out."""
    for line in drawn.findobj(Line2D):
        if isinstance(line, Line2D) and line.get_color() == OWN_COLOUR:
            line.set_linewidth(OWN_WIDTH)
            # Not the caps of error bars.
            if line.get_marker() in OWN_MARKERS:
                line.set_markersize(OWN_MARKER)
