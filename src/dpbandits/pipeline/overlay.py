"""An algorithm of the user's own in a figure of a paper that is built."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.algorithms import Definition, IdentificationAlgorithm
from dpbandits.algorithms.base import BY_WORD
from dpbandits.config.figures import BY_TAG, FigureSpec, PanelSpec, SeriesSpec, panel_stem
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.compilation import compilation_shown
from dpbandits.engine.compute import compute_series
from dpbandits.engine.identity import digest_of
from dpbandits.engine.play import MetricArrays
from dpbandits.engine.provenance import write_provenance
from dpbandits.engine.results import results_frame
from dpbandits.errors import InputError
from dpbandits.metrics import IDENTIFIED
from dpbandits.own.cells import cell_kind
from dpbandits.pipeline.project import Project
from dpbandits.reporting.draw import write_panels
from dpbandits.reporting.lines import LegendEntry, Line, panel_lines, panel_rows, points_of, select
from dpbandits.reporting.palette import OWN_COLOUR, OWN_MARKERS, own_look

OWN_WIDTH, OWN_MARKER = 2.2, 7.0
"""Width of the user's line and size of its markers in points, about twice those of others."""

PRIVACY = {name for names in BY_WORD.values() for name in names}
"""Parameters that say how private an algorithm is."""

SAME = 0.005
"""Relative difference up to which two levels count as equal: titles have three digits."""

FITTING = "panels of simulated regret, Nash regret or success"

UNFIT = {"analytic": "exact values", "derived": "values that its paper derives from simulations"}
"""Kinds of panels that an algorithm cannot be played for, and what they show."""


@dataclass(frozen=True)
class UserAlgorithm:
    """The user's algorithm and how to play it.

    A parameter is a number, or the name of a column or parameter of the figure's lines, such as
    ``epsilon``: then it has the value of that in each simulation of the figure.
    """

    algorithm: Definition
    params: Mapping[str, Any]
    variant: str = "as-written"
    interpretations: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """Parameter -> the column whose value it takes."""
        return {key: value for key, value in self.params.items() if isinstance(value, str)}


@dataclass(frozen=True)
class Panel:
    """A panel of a paper's figure, and what reads the results that it names."""

    project: Project
    paper: str
    figure: FigureSpec
    letter: str
    read: Callable[[str], pd.DataFrame]

    @property
    def name(self) -> str:
        """Paper and panel, as ``dp-ts-ucb/fig5b``; error messages begin with it."""
        return f"{self.paper}/{panel_stem(self.figure.name, self.letter)}"

    @property
    def spec(self) -> PanelSpec:
        return self.figure.panels[self.letter]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows that it reads, or that are derived for it."""
        derived = self.project.study(self.paper).code.functions("derived")
        return panel_rows(self.spec, self.read, derived, self.name)

    def shown(self) -> Iterator[tuple[Series, Any]]:
        """Yield every simulated series, with its value on the x axis where that is a tag."""
        reads = (each for name in self.spec.reads for each in self.project.series(self.paper, name))
        series = {each.label: each for each in reads}
        tag = self.spec.x.tag if self.spec.kind in BY_TAG and self.spec.x.tag != "t" else None
        rows = select(self.rows, self.spec.where, f"{self.name}.where")
        for index, spec in enumerate(self.spec.series):
            # A line of given times is part of a longer run, whose horizon is not the panel's.
            if not spec.level and "t" not in spec.where:
                chosen = select(rows, spec.where, f"{self.name}.series.{index}.where")
                for label, own in chosen.groupby("series", sort=False):
                    yield series[str(label)], None if tag is None else own[tag].iloc[0]


def find_panels(project: Project, name: str) -> list[Panel]:
    """Return the panels of the figure ``PAPER/NAME``, or that one panel."""
    paper, _, stem = name.partition("/")
    if not stem:
        raise InputError(f"figure is {name!r}; allowed: PAPER/FIGURE, as dp-ts-ucb/fig5")
    figures = project.study(paper).figures
    for figure in figures.values():
        if figure.name == stem and figure.is_diagram:
            raise InputError(f"{name}: is a diagram; allowed: {FITTING}")
        read = cache(partial(project.frame, paper))
        panels = [Panel(project, paper, figure, letter, read) for letter in figure.panels]
        if found := [each for each in panels if name in (f"{paper}/{figure.name}", each.name)]:
            return found
    allowed = ", ".join(figures)
    raise InputError(f"{paper} has no figure {stem!r}; allowed: {allowed}, or a panel of one")


class UserSimulation(NamedTuple):
    """One simulation: the parameters that name its line, its x, and the series to play."""

    line: tuple[tuple[str, Any], ...]
    x: Any
    series: Series


def overlay(
    algorithm: Definition,
    figure: str,
    *,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    project: str | Path = ".",
    scale: str | None = None,
    workers: int = 1,
    out: str | Path | None = None,
    **parameters: Any,
) -> list[Path]:
    """Draw an algorithm of your own into a figure of a paper; return the files.

    It is played on the instances of the figure, to its horizon, with the same number of runs. If
    that takes more than a minute, a line says so before.

    Args:
        algorithm: yours, such as ``dpbandits.policy`` makes.
        figure: ``PAPER/FIGURE`` or ``PAPER/PANEL``, as ``dp-ts-ucb/fig7b``, which has to be built.
        params: its parameters: numbers, or names of columns of the figure, such as ``"epsilon"``.
        variant: the variant to play.
        interpretations: those that depart from their defaults.
        project: folder of the project.
        scale: ``paper`` or ``quick``; by default that of the project's config.
        workers: processes to compute with.
        out: folder of the files; by default ``figures/compare/PAPER`` in the project.
        parameters: the same as ``params`` by keyword, such as ``epsilon=0.5``.

    Raises:
        InputError: the figure is not built, is exact, or shows another problem than yours.
    """
    opened = Project.load(Path(project)).at(scale=scale)
    own = UserAlgorithm(algorithm, {**(params or {}), **parameters}, variant, interpretations or {})
    return overlay_figure(opened, figure, own, None if out is None else Path(out), workers)


def overlay_figure(
    project: Project, name: str, own: UserAlgorithm, folder: Path | None = None, workers: int = 1
) -> list[Path]:
    """Draw ``PAPER/FIGURE`` or ``PAPER/PANEL`` with the user's algorithm; return the files."""
    begun = time.monotonic()
    panels = find_panels(project, name)
    simulated = [panel for panel in panels if panel.spec.kind not in UNFIT]
    if not simulated:
        shown = " and ".join(sorted({UNFIT[panel.spec.kind] for panel in panels}))
        raise InputError(f"{name}: shows {shown}; allowed: {FITTING}")
    for panel in simulated:
        _require_kind(panel, own)
    others = {panel.name: other_level(panel, own) for panel in simulated}
    fitting = [panel for panel in simulated if not others[panel.name]]
    if not fitting:
        words = "; ".join(f"{panel}: {words}" for panel, words in others.items())
        names = ", ".join(f"{key}={key}" for key in own.params if key in PRIVACY)
        raise InputError(f"{words}; allowed: these, or {names}, which takes that of every panel")
    lines = {each.letter: panel_lines(each.spec, each.rows, each.name) for each in panels}
    played = {panel.letter: plan_panel(panel, own) for panel in fitting}
    series = [each.series for planned in played.values() for each in planned]
    with compilation_shown(own.algorithm.id):
        runs = compute_series(
            series,
            root_seed=project.seed,
            workers=workers,
            cache=Cache(project.cache_folder),
            title=f"simulating {own.algorithm.id}",
        )
    computed = iter(runs)
    for panel in panels:
        if panel.letter in played:
            pairs = [(each, next(computed)) for each in played[panel.letter]]
            lines[panel.letter] += own_lines(panel, own, pairs)
        else:
            why = others.get(panel.name) or f"shows {UNFIT[panel.spec.kind]}"
            print(f"{panel.name}: {why} and stays as it is", file=sys.stderr)
    paper, figure = panels[0].paper, panels[0].figure
    folder = folder or project.figures_folder(paper).parent / "compare" / paper
    written = write_panels(figure, lines, folder, paper, _mark)
    details = {
        "scale": project.scale,
        "seed": project.seed,
        "algorithm": own.algorithm.id,
        "played": [line.cell.description for line in series],
        "fingerprint": sorted({line.cell.fingerprint for line in series}),
    }
    write_provenance(written[-1], project.folder, details, time.monotonic() - begun)
    return written


def _mark(drawn: Figure) -> None:
    """Make the user's lines and their entries in the legend stand out."""
    for line in drawn.findobj(Line2D):
        if isinstance(line, Line2D) and line.get_color() == OWN_COLOUR:
            line.set_linewidth(OWN_WIDTH)
            # Not the caps of error bars.
            if line.get_marker() in OWN_MARKERS:
                line.set_markersize(OWN_MARKER)


def _require_kind(panel: Panel, own: UserAlgorithm) -> None:
    """Raise InputError where the algorithm solves another problem than the panel's."""
    kinds = ("Algorithm", "IdentificationAlgorithm")
    identifies = isinstance(own.algorithm, IdentificationAlgorithm)
    if identifies != (panel.spec.metric in IDENTIFIED):
        raise InputError(
            f"{panel.name}: shows {panel.spec.metric}, and {own.algorithm.id} is an "
            f"{kinds[identifies]}; allowed: an {kinds[not identifies]}"
        )


def _values(series: Series) -> dict[str, Any]:
    """Return tags and parameters of a series."""
    return {
        **series.tags,
        **{k: v for k, v in vars(series.cell.parameters).items() if k not in series.tags},
    }


def other_level(panel: Panel, own: UserAlgorithm) -> str:
    """Return in words the level of privacy of a panel's lines, if it differs from the user's.

    Empty where the level is on the x axis, or where no line has one.
    """
    shown = [_values(series) for series, _ in panel.shown()]
    for key, value in own.params.items():
        levels = sorted({each[key] for each in shown if each.get(key) is not None})
        is_asked = key in PRIVACY and key not in own.columns and key != panel.spec.x.tag
        if (
            is_asked
            and levels
            and not any(math.isclose(value, level, rel_tol=SAME) for level in levels)
        ):
            return f"has {key} {', '.join(f'{level:g}' for level in levels)}"
    return ""


def plan_panel(panel: Panel, own: UserAlgorithm) -> list[UserSimulation]:
    """Return the simulations for the user's lines in a panel.

    The instance, the horizon, the runs and the recording times are those of the panel's lines.
    """
    shown = list(panel.shown())
    columns = dict.fromkeys(name for series, _ in shown for name in _values(series))
    for key, value in own.columns.items():
        if value not in columns:
            allowed = ", ".join(["a number", *columns])
            raise InputError(f"{panel.name}: params {key} is {value!r}; allowed: {allowed}")
    found: dict[tuple[Any, ...], UserSimulation] = {}
    for series, x in shown:
        if set(own.columns.values()) <= set(_values(series)):
            played = _user_simulation(panel.spec, own, series, x)
            cell, runs = played.series.cell, played.series.runs
            # Equal for simulations that differ only in their recording times, which are merged.
            settings = replace(cell, grid=(cell.horizon,)).description
            numbers = [runs.start, len(runs), played.series.runs_per_curve]
            where = (played.line, x, digest_of([settings, *numbers]))
            grid = {*cell.grid, *(found[where].series.cell.grid if where in found else ())}
            recorded = replace(cell, grid=tuple(sorted(grid)))
            found[where] = played._replace(series=replace(played.series, cell=recorded))
    _require_one_each(panel, list(found.values()))
    return list(found.values())


def _user_simulation(
    panel: PanelSpec, own: UserAlgorithm, series: Series, x: Any
) -> UserSimulation:
    """Return the simulation of a series with the user's algorithm in place of its own."""
    values = _values(series)
    given = {
        key: values[own.columns[key]] if key in own.columns else own.params[key]
        for key in own.params
    }
    # Parameters that change along the x axis do not tell lines apart.
    along = {
        key
        for key, column in own.columns.items()
        if x is not None and (column == panel.x.tag or column not in series.tags)
    }
    line = [(key, value) for key, value in given.items() if key not in along]
    cell = make_cell(
        kind=cell_kind(own.algorithm, series.cell.bandit),
        algorithm=own.algorithm,
        parameters=given,
        variant=own.variant,
        interpretations=own.interpretations,
        bandit=series.cell.bandit,
        horizon=series.cell.horizon,
        metrics=[str(panel.metric)],
        grid=series.cell.grid,
        stream=series.cell.stream,
    )
    return UserSimulation(tuple(line), x, Series("", {}, cell, series.runs, series.runs_per_curve))


def _require_one_each(panel: Panel, played: Sequence[UserSimulation]) -> None:
    """Raise InputError where two simulations would give one line two values at one x."""
    spec, seen = panel.spec, dict[tuple[Any, ...], UserSimulation]()
    for each in played:
        by_time = spec.kind == "nash" or spec.x.tag == "t"
        times = (each.series.cell.horizon,) if spec.kind in BY_TAG else each.series.cell.grid
        for t in times if by_time else (None,):
            other = seen.setdefault((each.line, each.x, t), each)
            if other is not each:
                difference = _difference(each.series, other.series)
                raise InputError(
                    f"{panel.name}: its lines come from simulations that differ in {difference}; "
                    f"allowed: a panel whose lines differ in the algorithm alone"
                )


def _difference(one: Series, other: Series) -> str:
    differ = {
        "instance": one.cell.bandit != other.cell.bandit,
        "horizon": one.cell.horizon != other.cell.horizon,
        "runs": len(one.runs) != len(other.runs),
        "run numbers": one.runs.start != other.runs.start,
    }
    return " and ".join(name for name in differ if differ[name]) or "the runs of one curve"


def own_lines(
    panel: Panel, own: UserAlgorithm, played: Iterable[tuple[UserSimulation, MetricArrays]]
) -> list[Line]:
    """Return the user's lines in a panel: one, or one for each value of its parameters there."""
    rows: dict[tuple[tuple[str, Any], ...], list[pd.DataFrame]] = {}
    for number, (each, runs) in enumerate(played):
        series = replace(each.series, label=f"{own.algorithm.id} {number}")
        frame = results_frame([series], [runs])
        if each.x is not None:
            frame[str(panel.spec.x.tag)] = each.x
        rows.setdefault(each.line, []).append(frame)
    lines = []
    for index, (parameters, frames) in enumerate(rows.items()):
        values = "".join(f", {key}={value:g}" for key, value in parameters)
        name = f"{own.algorithm.name}{values} (yours)"
        points = points_of(panel.spec, SeriesSpec(name=name), pd.concat(frames), panel.name)
        interpretation = str(frames[0]["interpretation"].iloc[0])
        points = points.assign(variant=own.variant, interpretation=interpretation)
        look = own_look(index)
        lines.append(Line(name, name, look, points, entries=(LegendEntry("", name, look),)))
    return lines
