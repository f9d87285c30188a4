"""Draw a figure: each panel as a file of its own, and the whole with one legend above it."""

import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator
from numpy.typing import NDArray

from dpbandits.engine.provenance import write_bytes, write_text
from dpbandits.errors import InputError
from dpbandits.reporting import palette, style
from dpbandits.reporting.digitised import allowance, reached_points
from dpbandits.reporting.legends import (
    Handle,
    add_heading,
    add_legend,
    common_labels,
    heading,
    label_lines,
    label_panel,
    size_of,
)
from dpbandits.reporting.lines import Derived, Line, panel_lines, panel_rows, read_rows
from dpbandits.reporting.palette import NO_MARKER
from dpbandits.reporting.spec import (
    BY_TAG,
    DERIVED,
    FigureSpec,
    PanelSpec,
    panel_stem,
    parse_figure,
)
from dpbandits.reporting.text import NUMBER_FORMAT

COLUMNS = ["series", "variant", "interpretation", "x", "y", "lo", "hi", "runs"]
"""Columns of the csv beside every figure."""

MAXIMAL_POINTS = 400
"""Most points that one series may have."""

SUFFIXES = (".pdf", ".png", ".csv")
"""What is written of every figure."""

# None leaves an entry out: dates and versions would change the bytes.
_METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def write_figure(path: Path, figure: Figure, points: pd.DataFrame) -> list[Path]:
    """Write ``path`` with the suffixes .pdf, .png and .csv, each whole or not at all.

    Args:
        path: folder and name, without a suffix.
        figure: the drawn figure.
        points: the plotted numbers, with (at least) the columns ``COLUMNS``, in drawing order.

    Returns:
        The files written.

    Raises:
        InputError: a column is missing, a series is too long, or the folder cannot be written.
    """
    table = points_csv(points, path.name)
    images = {kind: _image(figure, kind) for kind in _METADATA}
    files = {suffix: path.with_name(path.name + suffix) for suffix in SUFFIXES}
    for kind, content in images.items():
        write_bytes(files[f".{kind}"], content)
    write_text(files[".csv"], table)
    return list(files.values())


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its numbers to as many digits as a csv has.

    Pictures are drawn from rounded numbers: processors differ in the last bits of a sum, which
    would move a pixel where the csv is the same.
    """
    numbers = table.copy()
    for name in table.select_dtypes("float"):
        numbers[name] = [float(NUMBER_FORMAT % y) for y in table[name]]
    return numbers


def points_csv(points: pd.DataFrame, name: str) -> str:
    """Return the plotted numbers as csv text.

    Args:
        points: as in ``write_figure``.
        name: name of the figure, for error messages.

    Raises:
        InputError: a column is missing or a series has more than ``MAXIMAL_POINTS`` points.
    """
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


def _image(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    with style.context():
        figure.savefig(buffer, format=kind, metadata=_METADATA[kind])
    return buffer.getvalue()


RESIDUAL = "residual"
"""The variant of residuals in a csv."""

STRIP = "residuals"
"""Group id of the axes of a strip."""

_SLOT = 0.72
"""Width of what stands at one x, of the distance to the next."""

_UNITS = ((1_000_000, "millions"), (100, "hundreds"))
"""Units of x; the first is taken of which the largest x has five or more."""


def residual_lines(lines: Sequence[Line]) -> list[Line]:
    """Return ours minus published for each line that has digitised values, as far as it goes.

    The points have lo and hi, the digitisation error, and the column ``allowance``: how far from 0
    a residual may be by the digitisation error and our interval.
    """
    found = (_residuals(line) for line in lines if line.published is not None)
    return [line for line in found if len(line.points)]


def _residuals(line: Line) -> Line:
    assert line.published is not None
    ours = line.points[["x", "y", "lo", "hi"]].itertuples(index=False)
    known = {x: (y, lo, hi) for x, y, lo, hi in ours}
    rows = [
        (x, known[x][0] - y, tolerance, allowance(*known[x], y, tolerance))
        for x, y, tolerance in reached_points(line.published, known, line.name)
    ]
    points = pd.DataFrame(rows, columns=["x", "y", "tolerance", "allowance"])
    low, high = points["y"] - points["tolerance"], points["y"] + points["tolerance"]
    points = points.assign(lo=low, hi=high, runs=0, variant=RESIDUAL, interpretation="")
    return Line(f"ours minus published {line.name}", line.label, line.look, points)


def draw_residuals(axes: Axes, panel: PanelSpec, lines: Sequence[Line]) -> None:
    """Draw the residuals of a panel, one slot for each digitised x, side by side by line.

    A bar is the digitisation error; the box behind it, about 0, that and our interval.
    """
    axes.set_gid(STRIP)
    places = sorted({x for line in lines for x in line.points["x"]})
    axes.axhline(0.0, color="#777777", linewidth=0.6, zorder=1)
    width = _SLOT / max(len(lines), 1)
    for index, line in enumerate(lines):
        shift = (index - (len(lines) - 1) / 2) * width
        _draw_line(axes, line, [places.index(x) + shift for x in line.points["x"]], width)
    _label(axes, panel, places)


def _draw_line(axes: Axes, line: Line, x: list[float], width: float) -> None:
    points, colour = line.points, line.look.colour
    allowed = points["allowance"].to_numpy()
    box: dict[str, Any] = {"color": colour, "alpha": 0.18, "linewidth": 0.0, "zorder": 0}
    axes.bar(x, 2 * allowed, bottom=-allowed, width=0.9 * width, **box)
    bars: dict[str, Any] = {"elinewidth": 0.7, "linestyle": "none", "markersize": 2.4, "zorder": 3}
    axes.errorbar(
        x, points["y"], yerr=points["tolerance"], color=colour, marker=line.look.marker, **bars
    )


def _label(axes: Axes, panel: PanelSpec, places: Sequence[float]) -> None:
    """Set ticks, labels and limits; the axis of y has 0 in its middle."""
    largest = max(places, default=0.0)
    unit, name = next((each for each in _UNITS if largest >= 5 * each[0]), (1, ""))
    names = [style.thousands(x / unit) for x in places]
    axes.xaxis.set_major_locator(FixedLocator(range(len(places))))
    axes.set_xticks(range(len(places)), names)
    axes.tick_params(axis="both", labelsize=7)
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.set_xlabel(f"{panel.x.label}, in {name}" if name else panel.x.label)
    axes.set_ylabel("Difference")
    axes.grid(visible=False, axis="x")
    if not places:
        axes.set_yticks([])
        return
    # Those of bars and boxes, which the data limits hold.
    end = 1.05 * float(np.abs(axes.dataLim.intervaly).max())
    axes.set_ylim(-end, end)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, symmetric=True, steps=[1, 2, 5, 10]))


Values = NDArray[np.float64]

_MARK_SPACING = 0.14
"""Distance of the markers along a curve, as a fraction of the panel's diagonal."""

_UPRIGHT_HEIGHT = 0.3
"""About the height in inches that tick labels on end take more than level ones."""

_AROUND_PANEL = 0.6
"""About the height in inches that the labels and the title of a panel take."""

_STRIP_LABELS = 0.35
"""About the height in inches that the labels below a strip take."""

_MOST_COLUMNS = 3
"""Most panels side by side; of more, rows as even as can be."""

_MOST_TICKS = 8
"""Up to so many points of a line get a tick on the axis or a marker each."""


def draw_figure(
    spec: Mapping[str, Any],
    name: str,
    frames: Callable[[str], pd.DataFrame],
    folder: Path,
    derived: Derived | None = None,
    paper: str = "",
) -> list[Path]:
    """Draw one figure and each of its panels as pdf, png and csv, and write what was drawn as json.

    Args:
        spec: its entry in the ``figures:`` section of an experiments file.
        name: its key there, such as ``fig2``; panels are called ``fig2a``, ``fig2b``, ...
        frames: from the name of a simulation or exact result to its table.
        folder: where the files go.
        derived: the paper's functions that make the rows of panels of kind ``derived``.
        paper: short name of the paper, which the heading of every picture begins with.

    Returns:
        The files written: panels in reading order, then the whole figure, then ``NAME.json``.

    Raises:
        InputError: the entry, or what it asks of the results, is wrong; nothing is written then.
    """
    figure = parse_figure(name, spec)
    lines: dict[str, list[Line]] = {}
    sources = cache(frames)
    for letter, panel in figure.panels.items():
        place = f"figures.{panel_stem(name, letter)}"
        rows = panel_rows(panel, sources, derived or {}, place)
        lines[letter] = panel_lines(panel, rows, place)
    written = []
    if len(lines) > 1:
        for letter, own in lines.items():
            drawn = draw_panels(figure, {letter: own}, paper)
            points = plotted_points(figure, {"": own})
            written += write_figure(folder / panel_stem(name, letter), drawn, points)
    points = plotted_points(figure, lines)
    written += write_figure(folder / name, draw_panels(figure, lines, paper), points)
    described = folder / f"{name}.json"
    write_text(described, drawn_json(figure, lines))
    return [*written, described]


def drawn_json(figure: FigureSpec, lines: Mapping[str, list[Line]]) -> str:
    """Return what is drawn beside the numbers of the csv: axes, and the lines' labels and looks.

    Args:
        figure: what the panels belong to.
        lines: the lines of each panel, by letter, named as in the csv of the panel.
    """
    panels = {
        letter: {
            "title": panel.title or "",
            "x": panel.x.model_dump(),
            "y": panel.y.model_dump(),
            "lines": [
                {"name": line.name, "label": line.label, "algorithm": line.algorithm}
                | asdict(line.look)
                for line in lines[letter]
            ],
        }
        for letter, panel in figure.panels.items()
    }
    return json.dumps(panels, indent=1, ensure_ascii=False) + "\n"


def draw_panels(figure: FigureSpec, lines: Mapping[str, list[Line]], paper: str = "") -> Figure:
    """Return the drawn panels in rows, legends above the axes.

    Args:
        figure: the figure that the panels belong to.
        lines: the lines of each panel, by letter; one panel, or all of them.
        paper: short name of the paper.
    """
    count = len(lines)
    rows = math.ceil(count / _MOST_COLUMNS)
    columns = math.ceil(count / rows)
    panels = {letter: figure.panels[letter] for letter in lines}
    strips = {letter: _rounded_lines(residual_lines(own)) for letter, own in lines.items()}
    lines = {letter: _rounded_lines(own) for letter, own in lines.items()}
    common = common_labels(list(lines.values())) if count > 1 or not figure.direct_labels else []
    with style.context():
        widest, each = style.PAGE_WIDTH, style.PANEL_WIDTH
        if figure.direct_labels:
            widest, each = style.WIDE_PAGE, style.LABELLED_WIDTH
        width = min(widest, each * columns)
        drawn = Figure(figsize=(width, style.PANEL_HEIGHT * rows), layout="constrained")
        # A canvas that can measure text.
        FigureCanvasAgg(drawn)
        spec = _gridspec(drawn, rows, columns, figure)
        grid = _grid(drawn, spec, count, figure)
        found: dict[str, Handle] = {}
        for axes, (letter, panel) in zip(_flat(grid), panels.items(), strict=True):
            handles = _draw_panel(axes, panel, lines[letter])
            found |= handles
            title = f"({letter}) {panel.title or ''}".strip() if count > 1 else panel.title
            only_here = {k: v for k, v in handles.items() if k not in common}
            if figure.direct_labels:
                only_here = {}
            label_panel(axes, title, only_here, width / columns)
        _set_limits(_flat(grid), list(panels.values()))
        if figure.direct_labels:
            for axes, own in zip(_flat(grid), lines.values(), strict=True):
                named = [line for line in own if line.label not in common]
                label_lines(axes, named, style.PANEL_HEIGHT - _AROUND_PANEL)
        if figure.share_y:
            for axes in itertools.chain(*(row[1:] for row in grid)):
                axes.set_ylabel("")
        height = sum(_row_height(row) for row in grid)
        if figure.residuals:
            _add_strips(drawn, spec, figure, strips)
            height += rows * style.STRIP_HEIGHT
        drawn.set_figheight(height)
        add_legend(drawn, {label: found[label] for label in common})
        add_heading(drawn, heading(paper, figure.name, next(iter(lines)) if count == 1 else ""))
    return drawn


def _gridspec(drawn: Figure, rows: int, columns: int, figure: FigureSpec) -> GridSpec:
    """Return rows for panels, each, where there are residuals, with a lower one for strips."""
    if not figure.residuals:
        return drawn.add_gridspec(rows, columns)
    heights = [style.PANEL_HEIGHT, style.STRIP_HEIGHT - _STRIP_LABELS] * rows
    return drawn.add_gridspec(2 * rows, columns, height_ratios=heights)


def _grid(drawn: Figure, spec: GridSpec, count: int, figure: FigureSpec) -> list[list[Axes]]:
    """Return the axes of the panels, row by row."""
    step = 2 if figure.residuals else 1
    found: list[list[Axes]] = [[] for _ in range(spec.nrows // step)]
    for index in range(count):
        row, column = divmod(index, spec.ncols)
        first = found[row][0] if figure.share_y and column else None
        axes = drawn.add_subplot(spec[step * row, column], sharey=first)
        if figure.share_y and column:
            axes.tick_params(axis="y", labelleft=False)
        found[row].append(axes)
    return found


def _flat(grid: Iterable[Iterable[Axes]]) -> list[Axes]:
    return list(itertools.chain(*grid))


def _rounded_lines(lines: Sequence[Line]) -> list[Line]:
    """Return lines with the numbers of the csv."""
    return [replace(line, points=rounded(line.points)) for line in lines]


def _add_strips(
    drawn: Figure, spec: GridSpec, figure: FigureSpec, strips: Mapping[str, list[Line]]
) -> None:
    """Draw the residuals of every panel below it."""
    for index, (letter, residuals) in enumerate(strips.items()):
        row, column = divmod(index, spec.ncols)
        axes = drawn.add_subplot(spec[2 * row + 1, column])
        draw_residuals(axes, figure.panels[letter], residuals)


def _set_limits(panels: Iterable[Axes], specs: list[PanelSpec]) -> None:
    """Set all limits, after all is drawn: they end a shared axis' growing with its panels."""
    for axes, panel in zip(panels, specs, strict=True):
        axes.set_xlim(*panel.x.limits)
        axes.set_ylim(*panel.y.limits)


def _row_height(row: Iterable[Axes]) -> float:
    """Return the height in inches of a row of panels with their own legends."""
    legends = [axes.get_legend() for axes in row]
    height = max((size_of(legend)[1] for legend in legends if legend is not None), default=0.0)
    if any(label.get_rotation() for axes in row for label in axes.get_xticklabels()):
        height += _UPRIGHT_HEIGHT
    return style.PANEL_HEIGHT + height


def _draw_panel(axes: Axes, panel: PanelSpec, lines: list[Line]) -> dict[str, Handle]:
    """Draw lines and axes of one panel; return what stands for each line in the legend."""
    handles = {}
    for index, line in enumerate(lines):
        x = _positions(panel, line, lines)
        if line.look.hollow:
            handles[line.label] = _draw_marks(axes, x, line)
        elif _has_ends(panel, line):
            joined = panel.x.scale != "categories"
            handles[line.label] = _draw_ends(axes, x, line, joined=joined)
        else:
            handles[line.label] = _draw_curve(axes, x, line, index / len(lines))
    # Small scales may end before the range.
    if panel.x.shaded is not None and panel.x.shaded[0] < axes.dataLim.x1:
        look: dict[str, Any] = {"color": "#888888", "alpha": 0.16, "linewidth": 0, "zorder": 0}
        handles[str(panel.x.shaded_label)] = axes.axvspan(*panel.x.shaded, **look)
    ticks = None
    if panel.x.scale == "categories":
        names = [_category_name(each) for each in _categories(lines)]
        axes.set_xticks(range(len(names)), names)
        if len(names) > _MOST_TICKS:
            axes.tick_params(axis="x", labelrotation=90)
    else:
        # Horizons are decades of time, whose places a logarithmic axis shows by itself.
        by_value = panel.kind == DERIVED or (panel.kind in BY_TAG and panel.x.tag != "t")
        if by_value and len(_categories(lines)) <= _MOST_TICKS:
            ticks = _categories(lines)
        style.style_axis(axes, "x", panel.x.scale, ticks)
    style.style_axis(axes, "y", panel.y.scale)
    axes.set_xlabel(panel.x.label)
    axes.set_ylabel(panel.y.label)
    return handles


def _has_ends(panel: PanelSpec, line: Line) -> bool:
    """Return whether a line is drawn as points with error bars; else it is a curve."""
    few = panel.kind in BY_TAG or (panel.kind == DERIVED and len(line.points) <= _MOST_TICKS)
    return few and line.look.marker != NO_MARKER


def _draw_ends(axes: Axes, x: list[float], line: Line, *, joined: bool) -> Handle:
    """Draw points with error bars, joined unless x is of categories; the points are the handle."""
    y, low, high = _interval(line)
    look = style.line_look(line.look) | ({} if joined else {"linestyle": "none"})
    bars = axes.errorbar(x, y, yerr=[y - low, high - y], capsize=2, elinewidth=0.8, **look)
    points: Line2D = bars[0]
    return points


def _draw_curve(axes: Axes, x: list[float], line: Line, offset: float) -> Handle:
    """Draw a curve over its band; markers of different ``offset`` (0 to below 1) stay apart.

    Of a few points each has its marker.
    """
    y, low, high = _interval(line)
    if (low < high).any():
        axes.fill_between(x, low, high, color=line.look.colour, alpha=0.2, linewidth=0)
    marks = (_MARK_SPACING * (offset + 0.15), _MARK_SPACING) if len(x) > _MOST_TICKS else None
    return axes.plot(x, y, markevery=marks, **style.line_look(line.look))[0]


def _draw_marks(axes: Axes, x: list[float], line: Line) -> Handle:
    """Draw open marks above all lines; return what stands for those of all lines."""
    own: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 0.8}
    y, low, high = _interval(line)
    bars: dict[str, Any] = {"yerr": [y - low, high - y], "elinewidth": 0.8, "zorder": 3}
    axes.errorbar(x, y, color=line.look.colour, marker=line.look.marker, **bars, **own)
    return Line2D([], [], color=palette.OPEN_MARKS.colour, marker=palette.OPEN_MARKS.marker, **own)


def _interval(line: Line) -> tuple[Values, Values, Values]:
    """Return y, lo, hi; one run has the whole line as its interval, which is not drawn."""
    y, low, high = (line.points[column].to_numpy(dtype=float) for column in ("y", "lo", "hi"))
    return y, np.where(np.isfinite(low), low, y), np.where(np.isfinite(high), high, y)


def _positions(panel: PanelSpec, line: Line, lines: list[Line]) -> list[float]:
    """Return where points stand on the x axis: their values, or the number of their category."""
    values = line.points["x"].tolist()
    if panel.x.scale != "categories":
        return values
    categories = _categories(lines)
    return [float(categories.index(value)) for value in values]


def _categories(lines: list[Line]) -> list[Any]:
    return sorted({value for line in lines for value in line.points["x"]})


def _category_name(value: Any) -> str:
    return value if isinstance(value, str) else style.thousands(value)


def plotted_points(figure: FigureSpec, lines: Mapping[str, list[Line]]) -> pd.DataFrame:
    """Return the plotted numbers in drawing order, those of a strip after those of its panel.

    Args:
        figure: what the panels belong to.
        lines: the lines of each panel, by letter; names begin with it, as ``a: ``, if it is not
            empty.
    """
    tables = [
        line.points.assign(series=f"{letter}: {line.name}" if letter else line.name)
        for letter, own in lines.items()
        for line in [*own, *(residual_lines(own) if figure.residuals else [])]
    ]
    return pd.concat(tables, ignore_index=True)


Diagram = Callable[[pd.DataFrame], tuple[Figure, pd.DataFrame]]
"""From results to the drawn figure and the plotted numbers (with the columns ``COLUMNS``)."""


def draw_diagram(
    spec: Mapping[str, Any],
    name: str,
    frames: Callable[[str], pd.DataFrame],
    folder: Path,
    diagrams: Mapping[str, Diagram],
    paper: str = "",
) -> list[Path]:
    """Draw one diagram as pdf, png and csv.

    Args:
        spec: its entry in the ``figures:`` section of an experiments file.
        name: its key there.
        frames: from the name of results to their table.
        folder: where the files go.
        diagrams: the paper's functions, by figure.
        paper: short name of the paper, which the heading begins with.

    Returns:
        The files written.

    Raises:
        InputError: the entry is wrong, or the paper has no such diagram.
    """
    figure = parse_figure(name, spec)
    if name not in diagrams:
        allowed = ", ".join(diagrams)
        raise InputError(f"figures.{name}.kind is 'diagram'; allowed: only for {allowed}")
    rows = read_rows(figure.diagram_reads, frames, f"figures.{name}.reads")
    _, points = diagrams[name](rows)
    drawn, _ = diagrams[name](rounded(rows))
    with style.context():
        add_heading(drawn, heading(paper, name))
    return write_figure(folder / name, drawn, points)
