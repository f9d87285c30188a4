"""An algorithm of the user's own in a panel of a paper: what is played for it, and its lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from dpbandits.algorithms import Definition, IdentificationAlgorithm
from dpbandits.engine.cache import Block
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.experiments import Series
from dpbandits.engine.results import results_frame
from dpbandits.errors import InputError
from dpbandits.metrics import IDENTIFIED
from dpbandits.reporting.own_look import own_look
from dpbandits.reporting.panels import Line
from dpbandits.reporting.points import POINTS
from dpbandits.reporting.rows import select
from dpbandits.reporting.series_specs import SeriesSpec
from dpbandits.reporting.specs import BY_TAG, KINDS, PanelSpec


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


def takes_simulations(panel: PanelSpec) -> bool:
    """Return whether a panel shows a simulated metric, so that one more algorithm fits in."""
    return bool(KINDS[panel.kind])


def require_kind(panel: PanelSpec, own: Own, place: str) -> None:
    """Raise InputError where the algorithm solves another problem than the panel's."""
    identifies = isinstance(own.algorithm, IdentificationAlgorithm)
    if identifies != (panel.metric in IDENTIFIED):
        found, needed = ("IdentificationAlgorithm", "Algorithm")[:: 1 if identifies else -1]
        raise InputError(
            f"{place}: shows {panel.metric}, and {own.algorithm.id} is an {found}; allowed: an "
            f"{needed}"
        )


def plan_panel(
    panel: PanelSpec, own: Own, rows: pd.DataFrame, known: Mapping[str, Series], place: str
) -> list[Played]:
    """Return what is played for the user's lines in a panel.

    The instance, the horizon, the runs and the recording times are those of the panel's lines.

    Args:
        panel: the panel.
        own: the algorithm.
        rows: the results that the panel reads.
        known: the series of these results, by label.
        place: figure and panel, for error messages.

    Raises:
        InputError: the algorithm or a parameter does not fit, or the panel's lines come from
            simulations that differ in more than the algorithm.
    """
    require_kind(panel, own, place)
    found: dict[tuple[Any, ...], Played] = {}
    shown = [(known[label], x) for label, x in _shown(panel, rows, place)]
    named = {value for value in own.params.values() if isinstance(value, str)}
    _require_columns(own, [series for series, _ in shown], place)
    for series, x in shown:
        if not named.issubset(series.tags):
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


def _require_columns(own: Own, shown: Sequence[Series], place: str) -> None:
    """Raise InputError where a parameter names a column that no series of the panel has."""
    columns = dict.fromkeys(tag for series in shown for tag in series.tags)
    for key, value in own.params.items():
        if isinstance(value, str) and value not in columns:
            allowed = ", ".join(["a number", *columns])
            raise InputError(f"{place}: params {key} is {value!r}; allowed: {allowed}")


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
