"""An algorithm of the user's own in a figure of a paper that is built."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.algorithms import Definition, IdentificationAlgorithm
from dpbandits.engine.cache import Block, Cache
from dpbandits.engine.cells import Cell, Series, make_cell
from dpbandits.engine.compiling import compilation_shown
from dpbandits.engine.fan_out import compute
from dpbandits.engine.identity import digest_of
from dpbandits.engine.provenance import write_provenance
from dpbandits.engine.results import results_frame
from dpbandits.errors import InputError
from dpbandits.metrics.names import IDENTIFIED
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import rule_name
from dpbandits.reporting.figure_files import write_figure
from dpbandits.reporting.figures import draw_panels, plotted_points
from dpbandits.reporting.own_look import OWN_COLOUR, OWN_MARKERS, own_look
from dpbandits.reporting.panels import Line, panel_lines, panel_rows
from dpbandits.reporting.points import POINTS
from dpbandits.reporting.rows import select
from dpbandits.reporting.series_specs import SeriesSpec
from dpbandits.reporting.specs import (
    BY_TAG,
    KINDS,
    FigureSpec,
    PanelSpec,
    panel_stem,
)

OWN_WIDTH, OWN_MARKER = 2.2, 7.0
"""Width of the user's line and size of its markers in points, about twice those of others."""

FITTING = "a figure of regret, Nash regret or success, which is simulated"


@dataclass(frozen=True)
class Own:
    """The user's algorithm and how it is to be played.

    Attributes:
        algorithm: the algorithm.
        params: its parameters, each a number or the name of a column of the figure's results, such
            as ``epsilon``, whose value it then takes at every place of the figure.
        variant: the variant.
        interpretations: interpretations that depart from their defaults.
    """

    algorithm: Definition
    params: Mapping[str, Any]
    variant: str = "as-written"
    interpretations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Played:
    """One simulation of the user's algorithm, and where it stands in a panel.

    Attributes:
        line: the parameters that tell the user's lines apart.
        x: the value on the x axis, for kinds in ``BY_TAG``.
        cell: what is played.
        key: equal for simulations that differ in their recording times at most.
    """

    line: tuple[tuple[str, Any], ...]
    x: Any
    cell: Cell
    key: str


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
        figures = project.study(paper).figures
        for figure in figures.values():
            if figure.name == stem and figure.is_diagram:
                raise InputError(f"{name}: is a diagram; allowed: {FITTING}")
            if figure.name == stem:
                return cls(project, paper, figure, tuple(figure.panels))
            for letter in figure.panels:
                if panel_stem(figure.name, letter) == stem:
                    return cls(project, paper, figure, (letter,))
        allowed = ", ".join(figures)
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
        derived = self.project.study(self.paper).code.derived
        panel = self.figure.panels[letter]
        return panel_rows(panel, self.frames.__getitem__, derived, self.place(letter))

    def series(self, letter: str) -> dict[str, Series]:
        """Return the simulated series that one panel reads, by label."""
        reads = self.figure.panels[letter].reads
        found = (each for name in reads for each in self.project.series(self.paper, name))
        return {each.label: each for each in found}


def overlay_figure(
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
    # Kinds of panels without a metric show exact values.
    simulated = [letter for letter, each in target.panels.items() if KINDS[each.kind]]
    if not simulated:
        raise InputError(f"{name}: shows exact values; allowed: {FITTING}")
    for letter in simulated:
        require_kind(target.panels[letter], own, target.place(letter))
    played = {letter: plan_panel(target, letter, own) for letter in simulated}
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


def require_kind(panel: PanelSpec, own: Own, place: str) -> None:
    """Raise InputError where the algorithm solves another problem than the panel's."""
    identifies = isinstance(own.algorithm, IdentificationAlgorithm)
    if identifies != (panel.metric in IDENTIFIED):
        found, needed = "Algorithm", "IdentificationAlgorithm"
        if identifies:
            found, needed = needed, found
        raise InputError(
            f"{place}: shows {panel.metric}, and {own.algorithm.id} is an {found}; allowed: an "
            f"{needed}"
        )


def plan_panel(target: Compared, letter: str, own: Own) -> list[Played]:
    """Return what is played for the user's lines in a panel.

    The instance, the horizon, the runs and the recording times are those of the panel's lines.

    Raises:
        InputError: a parameter does not fit, or the panel's lines come from simulations that differ
            in more than the algorithm.
    """
    panel, place = target.panels[letter], target.place(letter)
    # Rows first: where the figure is not built, that says so.
    rows = target.rows(letter)
    known = target.series(letter)
    shown = [(known[label], x) for label, x in _shown(panel, rows, place)]
    columns = dict.fromkeys(tag for series, _ in shown for tag in series.tags)
    named = {key: value for key, value in own.params.items() if isinstance(value, str)}
    for key, value in named.items():
        if value not in columns:
            allowed = ", ".join(["a number", *columns])
            raise InputError(f"{place}: params {key} is {value!r}; allowed: {allowed}")
    found: dict[tuple[Any, ...], Played] = {}
    for series, x in shown:
        if not set(named.values()).issubset(series.tags):
            continue
        played = _played(panel, own, series, x)
        where = (played.line, played.x, played.key)
        if where in found:
            grid = sorted({*found[where].cell.grid, *played.cell.grid})
            played = replace(played, cell=replace(played.cell, grid=tuple(grid)))
        found[where] = played
    _require_one_each(panel, list(found.values()), place)
    return list(found.values())


def _shown(panel: PanelSpec, rows: pd.DataFrame, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the label of every series that a panel shows, with its value on the x axis."""
    tag = panel.x.tag if panel.kind in BY_TAG and panel.x.tag != "t" else None
    shown = select(rows, panel.where, f"{place}.where")
    for index, spec in enumerate(panel.series):
        if not spec.level:
            chosen = select(shown, spec.where, f"{place}.series.{index}.where")
            for label, own in chosen.groupby("series", sort=False):
                yield str(label), None if tag is None else own[tag].iloc[0]


def _played(panel: PanelSpec, own: Own, series: Series, x: Any) -> Played:
    """Return the user's algorithm in place of that of a series."""
    params, line = {}, []
    for key, value in own.params.items():
        params[key] = value
        if isinstance(value, str):
            params[key] = series.tags[value]
            line += [(key, params[key])] if value != panel.x.tag else []
    cell = make_cell(
        algorithm=own.algorithm,
        parameters=params,
        variant=own.variant,
        interpretations=own.interpretations,
        bandit=series.cell.bandit,
        horizon=series.cell.horizon,
        runs=series.cell.runs,
        first_run=series.cell.first_run,
        metrics=[str(panel.metric)],
        grid=series.cell.grid,
        stream=series.cell.stream,
        runs_per_curve=series.cell.runs_per_curve,
    )
    runs = [cell.first_run, cell.runs, cell.runs_per_curve]
    key = digest_of([replace(cell, grid=(cell.horizon,)).description, *runs])
    return Played(tuple(line), x, cell, key)


def _require_one_each(panel: PanelSpec, played: Sequence[Played], place: str) -> None:
    """Raise InputError where two simulations would stand at one place of one line."""
    seen: dict[tuple[Any, ...], Played] = {}
    for each in played:
        by_time = panel.kind == "nash" or panel.x.tag == "t"
        times = (each.cell.horizon,) if panel.kind in BY_TAG else each.cell.grid
        for t in times if by_time else (None,):
            other = seen.setdefault((each.line, each.x, t), each)
            if other is not each:
                raise InputError(
                    f"{place}: its lines come from simulations that differ in "
                    f"{_difference(each.cell, other.cell)}; allowed: a panel whose lines differ "
                    f"in the algorithm alone"
                )


def _difference(one: Cell, other: Cell) -> str:
    names = {"bandit": "instance", "horizon": "horizon", "runs": "runs", "first_run": "run numbers"}
    found = [text for key, text in names.items() if getattr(one, key) != getattr(other, key)]
    return " and ".join(found) or "the runs of one curve"


def own_lines(
    panel: PanelSpec, own: Own, played: Iterable[tuple[Played, Block]], place: str
) -> list[Line]:
    """Return the user's lines in a panel: one, or one for each value of its parameters there.

    Args:
        panel: the panel.
        own: the algorithm.
        played: what ``plan_panel`` returned, with the metrics that were computed.
        place: figure and panel, for error messages.
    """
    rows: dict[tuple[tuple[str, Any], ...], list[pd.DataFrame]] = {}
    for number, (each, block) in enumerate(played):
        series = Series(f"{own.algorithm.id} {number}", {}, each.cell)
        frame = results_frame([series], [block])
        if each.x is not None:
            frame[str(panel.x.tag)] = each.x
        rows.setdefault(each.line, []).append(frame)
    lines = []
    for index, (parameters, frames) in enumerate(rows.items()):
        told = "".join(f", {key}={value:g}" for key, value in parameters)
        name = f"{own.algorithm.name}{told} (yours)"
        points = POINTS[panel.kind](panel, SeriesSpec(name=name), pd.concat(frames), place)
        interpretation = str(frames[0]["interpretation"].iloc[0])
        points = points.assign(variant=own.variant, interpretation=interpretation)
        lines.append(Line(name, name, own_look(index), points))
    return lines
