"""Draw a figure: each panel as a file of its own, and the whole with one legend above it."""

import io
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dpbandits.config.figures import (
    BY_TAG,
    DERIVED,
    MAXIMAL_POINTS,
    MOST_TICKS,
    CrossingSpec,
    FigureSpec,
    PanelSpec,
    files_of,
    panel_stem,
)
from dpbandits.config.looks import NO_MARKER
from dpbandits.engine.provenance import write_bytes
from dpbandits.errors import InputError
from dpbandits.reporting import palette, style
from dpbandits.reporting.lines import (
    Derived,
    Line,
    Loader,
    compared_points,
    panel_lines,
    panel_rows,
    read_rows,
    with_error,
)
from dpbandits.reporting.text import NUMBER_FORMAT, fill, mathtext

COLUMNS = ["series", "variant", "interpretation", "x", "y", "lo", "hi", "runs"]
"""Columns of the csv beside every figure."""

Panels = Mapping[str, list[Line]]
"""The lines of each panel, by letter."""

Points = pd.DataFrame | list[dict[str, Any]]
"""Rows of the csv of a diagram."""

Diagram = Callable[[pd.DataFrame], tuple[Figure, Points]]
"""From results to the drawn figure and the plotted numbers, with the columns series, x and y."""


def draw_figure(
    figure: FigureSpec,
    frames: Loader,
    folder: Path,
    derived: Derived | None = None,
    diagrams: Mapping[str, Diagram] | None = None,
    paper: str = "",
) -> list[Path]:
    """Draw a figure as pdf, png and csv, each panel and the whole.

    Nothing is written where a result is wrong; ``derived`` and ``diagrams`` are the
    paper's own functions, by name.
    """
    if figure.is_diagram:
        return _write_diagram(figure, frames, folder, diagrams or {}, paper)
    lines: dict[str, list[Line]] = {}
    sources = cache(frames)
    for letter, panel in figure.panels.items():
        place = f"figures.{panel_stem(figure.name, letter)}"
        rows = panel_rows(panel, sources, derived or {}, place)
        lines[letter] = panel_lines(panel, rows, place)
    return write_panels(figure, lines, folder, paper)


def write_panels(
    figure: FigureSpec,
    lines: Panels,
    folder: Path,
    paper: str,
    finish: Callable[[Figure], None] | None = None,
) -> list[Path]:
    """Write every panel as a file of its own, then the whole where there is more than one."""
    parts: dict[str, Panels] = {
        panel_stem(figure.name, letter): {letter: of_panel} for letter, of_panel in lines.items()
    }
    if len(lines) > 1:
        parts[figure.name] = lines
    written = []
    for stem, part in parts.items():
        drawn = draw_panels(figure, part, paper)
        if finish is not None:
            finish(drawn)
        named = part if len(part) > 1 else {"": next(iter(part.values()))}
        written += write_figure(folder / stem, drawn, plotted_points(figure, named))
    return written


def _write_diagram(
    figure: FigureSpec, frames: Loader, folder: Path, diagrams: Mapping[str, Diagram], paper: str
) -> list[Path]:
    name = figure.name
    if name not in diagrams:
        allowed = ", ".join(diagrams)
        raise InputError(f"figures.{name}.kind is 'diagram'; allowed: only for {allowed}")
    rows = read_rows(figure.diagram_reads, frames, f"figures.{name}.reads")
    # The csv is of the exact rows; the picture, as every one, of rounded numbers.
    _, points = draw_diagram(diagrams[name], rows)
    drawn, _ = draw_diagram(diagrams[name], round_for_csv(rows))
    with style.context():
        second = style.heading(paper, name, supplements=figure.supplements)
        style.add_heading(drawn, second, figure.title)
    return write_figure(folder / name, drawn, points)


def draw_diagram(draw: Diagram, rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return a diagram with a legend, and its points, with the columns of exact ones by default."""
    with style.context():
        drawn, points = draw(rows)
        if not drawn.legends:
            style.add_legends(drawn)
    table = pd.DataFrame(points)
    exact: dict[str, Any] = {"variant": "as-written", "interpretation": "", "runs": 0}
    exact |= {"lo": table["y"], "hi": table["y"]}
    table = table.assign(**{key: exact[key] for key in exact if key not in table})
    return drawn, table[COLUMNS]


# Files


# None leaves an entry out: dates and versions would change the bytes.
_METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def write_figure(path: Path, drawn: Figure, points: pd.DataFrame) -> list[Path]:
    """Write a picture as .pdf and .png and its points as .csv, each whole or not at all."""
    # A pdf names glyphs by number: cutting down the tables that choose and place them is wasted.
    from fontTools.subset import Options

    Options._drop_tables_default = sorted({*Options._drop_tables_default, "GDEF", "GPOS", "GSUB"})
    contents = {"csv": points_csv(points, path.name).encode()}
    for kind in ("png", "pdf"):
        buffer = io.BytesIO()
        with style.context():
            drawn.savefig(buffer, format=kind, metadata=_METADATA[kind])
        contents[kind] = buffer.getvalue()
        # The pdf has the layout of the png, which takes half of the time.
        drawn.set_layout_engine("none")
    files = files_of(path)
    for file in files:
        write_bytes(file, contents[file.suffix[1:]])
    return list(files)


def round_for_csv(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its numbers to as many digits as a csv has.

    Pictures are drawn from rounded numbers: processors differ in the last bits of a sum, which
    would move a pixel where the csv is the same.
    """
    numbers = table.copy()
    for name in table.select_dtypes("float"):
        numbers[name] = [float(NUMBER_FORMAT % y) for y in table[name]]
    return numbers


def points_csv(points: pd.DataFrame, name: str) -> str:
    """Return the plotted numbers of a figure as csv text; the name is for error messages."""
    missing = [column for column in COLUMNS if column not in points]
    if missing:
        raise InputError(f"{name}: points lack {', '.join(missing)}; needed: {', '.join(COLUMNS)}")
    for series, count in points.value_counts(["series", "variant", "interpretation"]).items():
        if count > MAXIMAL_POINTS:
            raise InputError(
                f"{name}: series {series} has {count} points; allowed: at most {MAXIMAL_POINTS}"
            )
    text = points[COLUMNS].to_csv(index=False, float_format=NUMBER_FORMAT, lineterminator="\n")
    return str(text)


def plotted_points(figure: FigureSpec, lines: Panels) -> pd.DataFrame:
    """Return the plotted numbers in drawing order, those of a strip after those of its panel."""
    tables = [
        line.points.assign(series=f"{letter}: {line.name}" if letter else line.name)
        for letter, of_panel in lines.items()
        for line in [*of_panel, *(residual_lines(of_panel) if figure.residuals else [])]
    ]
    return pd.concat(tables, ignore_index=True)


# Panels


_AROUND_PANEL = 0.6
"""About the height in inches that the labels and the title of a panel take."""

_MOST_COLUMNS = 3
"""Most panels side by side; more are put in rows of about one length."""

_MARK_SPACING = 0.14
"""Distance of the markers along a curve, as a fraction of the panel's diagonal."""

_SIDES = (0.8, 0.6)
"""Approximate width and height of a panel, over its diagonal."""

_SHADE: dict[str, Any] = {"color": "#888888", "alpha": 0.16, "linewidth": 0, "zorder": 0}
_GUIDE: dict[str, Any] = {"linewidth": 0.7, "zorder": 1.5}
"""Looks of a range that is shaded, and of lines behind the data beside their colour and dash."""


def draw_panels(figure: FigureSpec, lines: Panels, paper: str = "") -> Figure:
    """Return the drawn panels in rows, one or all of a figure, legends above or beside them."""
    count = len(lines)
    rows = math.ceil(count / _MOST_COLUMNS)
    columns = math.ceil(count / rows)
    panels = [figure.panels[letter] for letter in lines]
    strips = [
        _round_lines(residual_lines(of_panel)) if figure.residuals else []
        for of_panel in lines.values()
    ]
    shown = [_round_lines(of_panel) for of_panel in lines.values()]
    with style.context():
        widest = style.PAGE_WIDTH
        panel_width = style.PANEL_WIDTH if len(figure.panels) > 1 else style.SINGLE_WIDTH
        if figure.direct_labels:
            widest, panel_width = style.WIDE_PAGE, style.LABELLED_WIDTH
        width = min(widest, panel_width * columns)
        drawn = Figure(figsize=(width, style.PANEL_HEIGHT * rows), layout="constrained")
        # A canvas that can measure text.
        FigureCanvasAgg(drawn)
        grid, below = _grids(drawn, rows, columns, figure, [bool(each) for each in strips])
        flat = list(itertools.chain(*grid))
        handles = [
            _draw_panel(axes, panel, of_panel)
            for axes, panel, of_panel in zip(flat, panels, shown, strict=True)
        ]
        common = {}
        if count > 1 or not figure.direct_labels:
            common = style.common_labels(shown, handles, everywhere=figure.direct_labels)
        notes = [
            style.add_note(axes, panel.note, width / columns) if panel.note else 0.0
            for axes, panel in zip(flat, panels, strict=True)
        ]
        above = []
        for axes, letter, panel, of_panel in zip(flat, lines, panels, handles, strict=True):
            title = f"({letter}) {panel.title or ''}".strip() if count > 1 else panel.title
            only_here = {k: v for k, v in of_panel.items() if k not in common}
            own = {} if figure.direct_labels else only_here
            above.append(style.label_panel(axes, title, own, width / columns, max(notes)))
        # Last, because a shared axis no longer grows with its panels once it has limits.
        for axes, panel in zip(flat, panels, strict=True):
            axes.set_xlim(*panel.x.limits)
            axes.set_ylim(*panel.y.limits)
            place_marks(axes)
        if figure.direct_labels:
            for axes, of_lines in zip(flat, shown, strict=True):
                named = [line for line in of_lines if line.label not in common]
                style.label_lines(axes, named, style.PANEL_HEIGHT - _AROUND_PANEL)
        if figure.share_y:
            for axes in itertools.chain(*(row[1:] for row in grid)):
                axes.set_ylabel("")
        legends = (max(above[first : first + columns]) for first in range(0, count, columns))
        height = sum(style.PANEL_HEIGHT + legend for legend in legends)
        height += rows * max(notes) / 72
        with_strip = [each for each in zip(flat, strips, strict=True) if each[1]]
        for axes, (panel_axes, residuals) in zip(below, with_strip, strict=True):
            draw_residuals(axes, panel_axes, residuals)
        drawn.set_figheight(height + (rows * style.STRIP_HEIGHT if below else 0))
        lines_shown = itertools.chain(*shown)
        lists = {entry.label: entry.lists for line in lines_shown for entry in line.entries}
        style.add_legend(drawn, common, lists)
        letter = next(iter(lines)) if count == 1 else ""
        second = style.heading(paper, figure.name, letter, figure.supplements)
        style.add_heading(drawn, second, figure.title)
        if any(panel.crossings for panel in panels):
            # Labels are placed where nothing is drawn.
            drawn.draw_without_rendering()
            for axes, panel, of_lines in zip(flat, panels, shown, strict=True):
                _label_crossings(axes, panel, of_lines)
    return drawn


def _grids(
    drawn: Figure, rows: int, columns: int, figure: FigureSpec, has_strip: Sequence[bool]
) -> tuple[list[list[Axes]], list[Axes]]:
    """Return the axes of the panels, row by row, and of the strips below those that have one."""
    step = 2 if any(has_strip) else 1
    heights = [style.PANEL_HEIGHT, style.STRIP_HEIGHT][:step] * rows
    spec = drawn.add_gridspec(step * rows, columns, height_ratios=heights)
    grid: list[list[Axes]] = [[] for _ in range(rows)]
    strips = []
    for index, is_above_strip in enumerate(has_strip):
        row, column = divmod(index, columns)
        first = grid[row][0] if figure.share_y and column else None
        last = step * row + (1 if is_above_strip else step)
        axes = drawn.add_subplot(spec[step * row : last, column], sharey=first)
        if first is not None:
            axes.tick_params(axis="y", labelleft=False)
        grid[row].append(axes)
        if is_above_strip:
            strips.append(drawn.add_subplot(spec[last, column], sharex=axes))
    return grid, strips


def _round_lines(lines: Sequence[Line]) -> list[Line]:
    return [replace(line, points=round_for_csv(line.points)) for line in lines]


def _draw_panel(axes: Axes, panel: PanelSpec, lines: list[Line]) -> dict[str, style.Handle]:
    """Draw lines and axes of one panel; return what stands for each line in the legend."""
    handles: dict[str, style.Handle] = {}
    for index, line in enumerate(lines):
        handle = _draw_line(axes, line, panel, index / len(lines))
        # An entry of its own stands for no line, but for what lines have in common.
        handles |= {
            entry.label: handle if entry.label == line.label else _stands_for(entry.look)
            for entry in line.entries
        }
    # Small scales may end before the range.
    if panel.x.shaded is not None and panel.x.shaded[0] < axes.dataLim.x1:
        handles[str(panel.x.shaded_label)] = axes.axvspan(*panel.x.shaded, **_SHADE)
    ticks = panel.ticks(value for line in lines for value in line.points["x"])
    style.style_axis(axes, "x", panel.x.scale, ticks)
    style.style_axis(axes, "y", panel.y.scale)
    axes.set_xlabel(panel.x.label)
    axes.set_ylabel(panel.y.label)
    for crossing in panel.crossings:
        handles |= _draw_crossing(axes, panel, lines, crossing)
    return handles


def _stands_for(look: palette.Look) -> Line2D:
    return Line2D([], [], **style.line_look(look))


def _draw_crossing(
    axes: Axes, panel: PanelSpec, lines: Sequence[Line], crossing: CrossingSpec
) -> dict[str, style.Handle]:
    """Mark where two lines cross; return what stands for the range below, if it is shaded."""
    point = _crossing(panel, lines, crossing)
    if point is None:
        return {}
    axes.scatter(*point, s=40, facecolors="none", edgecolors="black", linewidths=0.8, zorder=4)
    if crossing.below is None:
        return {}
    begin = min(line.points["x"].min() for line in lines if line.name == crossing.of[0])
    return {crossing.below: axes.axvspan(begin, point[0], **_SHADE)}


def _label_crossings(axes: Axes, panel: PanelSpec, lines: Sequence[Line]) -> None:
    """Write at each crossing where it is."""
    for crossing in panel.crossings:
        point = _crossing(panel, lines, crossing)
        if point is not None:
            label = fill(crossing.label, {"x": point[0]}, "crossings.label")
            style.write_beside(axes, point, mathtext(label))


def _crossing(
    panel: PanelSpec, lines: Sequence[Line], crossing: CrossingSpec
) -> tuple[float, float] | None:
    named = {line.name: line.points for line in lines}
    if unknown := [name for name in crossing.of if name not in named]:
        allowed = ", ".join(named)
        raise InputError(f"crossings.of has {', '.join(unknown)}; allowed: {allowed}")
    first, second = (named[name] for name in crossing.of)
    return first_crossing(first, second, panel.x.scale, panel.y.scale)


def first_crossing(
    first: pd.DataFrame, second: pd.DataFrame, x_scale: str, y_scale: str
) -> tuple[float, float] | None:
    """Return the first x and y at which two lines cross, as they are drawn; None for none."""
    ways = {"log": (np.log10, lambda value: 10.0**value)}
    (to_x, from_x), (to_y, from_y) = (
        ways.get(scale, (np.asarray, float)) for scale in (x_scale, y_scale)
    )
    places = [to_x(points["x"].to_numpy(dtype=float)) for points in (first, second)]
    heights = [to_y(points["y"].to_numpy(dtype=float)) for points in (first, second)]
    x = np.union1d(*places)
    x = x[(x >= max(place[0] for place in places)) & (x <= min(place[-1] for place in places))]
    above, below = (np.interp(x, *line) for line in zip(places, heights, strict=True))
    gap = above - below
    changes = np.flatnonzero(gap[:-1] * gap[1:] < 0.0)
    if not changes.size:
        return None
    index = changes[0]
    share = gap[index] / (gap[index] - gap[index + 1])
    at = x[index] + share * (x[index + 1] - x[index])
    return float(from_x(at)), float(from_y(np.interp(at, x, above)))


def _draw_line(axes: Axes, line: Line, panel: PanelSpec, offset: float) -> style.Handle:
    """Draw a line with its intervals; return what stands for it in the legend.

    Few points have an error bar each. Dense curves have a band, and markers whose places the
    ``offset`` (0 to below 1) keeps apart from line to line. A dense curve of exact values has
    markers only where the panel's x axis has ``marked``. Open marks are above all lines.
    """
    x = line.points["x"].tolist()
    y, *ends = (line.points[column].to_numpy(dtype=float) for column in ("y", "lo", "hi"))
    # The interval of one run is infinite, and is not drawn.
    low, high = (np.where(np.isfinite(end), end, y) for end in ends)
    bars: dict[str, Any] = {"yerr": [y - low, high - y], "elinewidth": 0.8}
    look = style.line_look(line.look)
    if line.look.hollow:
        look = {"linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 0.8}
        shown, mark = line.look, palette.OPEN_MARKS
        axes.errorbar(x, y, color=shown.colour, marker=shown.marker, zorder=3, **bars, **look)
        return Line2D([], [], color=mark.colour, marker=mark.marker, **look)
    are_few = panel.kind in BY_TAG or (panel.kind == DERIVED and len(x) <= MOST_TICKS)
    if are_few and line.look.marker != NO_MARKER:
        points: Line2D = axes.errorbar(x, y, capsize=2, **bars, **look)[0]
        return points
    every: Any = None
    if len(x) > MOST_TICKS and (line.points["runs"] == 0).all():
        every = [index for index, value in enumerate(x) if value in panel.x.marked]
        look |= {} if every else {"marker": "none"}
    elif len(x) > MOST_TICKS:
        every = (_MARK_SPACING * (offset + 0.15), _MARK_SPACING)
    if (low < high).any():
        axes.fill_between(x, low, high, color=line.look.colour, alpha=0.2, linewidth=0)
    return axes.plot(x, y, markevery=every, **look | (_GUIDE if line.guide else {}))[0]


def place_marks(axes: Axes) -> None:
    """Choose the points of dense curves that carry markers, from the axes' final limits alone.

    Matplotlib would choose them by the pixels of the layout, which differ in their last bits from
    process to process.
    """
    to_shares = axes.transScale + axes.transLimits
    for line in axes.lines:
        every = line.get_markevery()
        if not isinstance(every, tuple):
            continue
        shares = to_shares.transform(line.get_xydata()) * _SIDES
        steps = np.hypot(*np.diff(shares, axis=0).T)
        along = np.concatenate([[0.0], np.cumsum(steps)]).round(9)
        places = np.arange(every[0], along[-1], every[1])
        line.set_markevery(sorted({int(np.abs(along - place).argmin()) for place in places}))


# Residuals: rebuilt minus published, in a strip below each panel


def residual_lines(lines: Sequence[Line]) -> list[Line]:
    """Return rebuilt minus published for each line that has digitised values, as far as it goes.

    Columns ``below`` and ``above`` are how far our 95 % interval reaches.
    """
    found = []
    for line in lines:
        if line.published is not None:
            points = compared_points(line, line.name).dropna()
            y, low, high = (points[name] for name in ("y", "lo", "hi"))
            points = points.assign(y=y - points["published"], below=y - low, above=high - y)
            name = f"rebuilt minus published {line.name}"
            found.append(with_error(line, points.assign(variant="residual"), name=name))
    return [line for line in found if len(line.points)]


def draw_residuals(axes: Axes, above: Axes, lines: Sequence[Line]) -> None:
    """Draw the residuals of a panel below it, over the same x, in units of the digitisation error.

    Between -1 and 1, which is shaded, a residual is within that error.
    """
    axes.set_gid(style.STRIP)
    axes.axhspan(-1.0, 1.0, **_SHADE)
    axes.axhline(0.0, color="#777777", linewidth=0.6, zorder=1)
    look: dict[str, Any] = {"elinewidth": 0.7, "linewidth": 0.6, "markersize": 2.6, "zorder": 3}
    for line in lines:
        points = line.points
        error = points["hi"] - points["y"]
        bars = [points["below"] / error, points["above"] / error]
        marks = style.line_look(line.look) | look
        axes.errorbar(points["x"], points["y"] / error, yerr=bars, **marks)
    above.tick_params(axis="x", labelbottom=False)
    axes.set_xlabel(above.get_xlabel())
    above.set_xlabel("")
    axes.set_ylabel("Difference\n/ error")
    axes.tick_params(axis="both", labelsize=7)
    # 0 in the middle.
    end = max(1.6, 1.08 * float(np.abs(axes.dataLim.intervaly).max()))
    axes.set_ylim(-end, end)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, symmetric=True, steps=[1, 2, 5, 10]))
