"""Looks of every figure, panel by panel: text, legends, ticks, limits, colours and fonts."""

import copy
import itertools
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text

from dpbandits.algorithms import IDENTIFICATION, REGISTRY, REGRET
from dpbandits.errors import InputError
from dpbandits.reporting import draw
from dpbandits.reporting.draw import STRIP, draw_figure, draw_panels, heading
from dpbandits.reporting.lines import Line, panel_lines, panel_rows, read_rows
from dpbandits.reporting.palette import (
    ALGORITHMS,
    COLOURS,
    DASHES,
    MARKERS,
    NO_LINE,
    ORDERED,
    OWN_COLOUR,
    algorithm_look,
    look_of,
)
from dpbandits.reporting.spec import PanelSpec, parse_figure
from found_papers import PLAYED
from support import supplementary_slow
from synthetic_results import EVERY_FIGURE, FIGURES, PAPERS, frame

SMALLEST_TEXT = 7.0  # points, at the size of a column


DRAWN = supplementary_slow(EVERY_FIGURE)
OF_PANELS = supplementary_slow(
    (paper, name)
    for paper, name in EVERY_FIGURE
    if PAPERS[paper].figures[name].get("kind") != "diagram"
)


def lines_of(paper: str, panel: PanelSpec) -> list[Line]:
    own = PAPERS[paper]
    return panel_lines(panel, panel_rows(panel, own.frame, own.paper.derived, "reads"), "panel")


@cache
def figures_of(paper: str, name: str) -> list[Figure]:
    """Return the figure and each of its panels, laid out but not written, drawn once for all."""
    own = PAPERS[paper]
    spec = parse_figure(name, own.figures[name])
    lines = {letter: lines_of(paper, panel) for letter, panel in spec.panels.items()}
    if lines:
        parts = [lines, *({letter: each} for letter, each in lines.items())]
        drawn = [draw_panels(spec, part, paper) for part in parts]
    else:
        drawn = [own.paper.diagrams[name](read_rows(spec.diagram_reads, own.frame, name))[0]]
    for figure in drawn:
        FigureCanvasAgg(figure)
        figure.draw_without_rendering()
    return drawn


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_text_is_large_enough_inside_the_page_and_off_the_curves(paper: str, name: str) -> None:
    for figure in figures_of(paper, name):
        texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
        assert min(text.get_fontsize() for text in texts) >= SMALLEST_TEXT
        drawn_box, page = figure.get_tightbbox(), figure.bbox_inches
        assert min(drawn_box.x0, drawn_box.y0) >= 0
        assert drawn_box.x1 <= page.x1
        assert drawn_box.y1 <= page.y1
        for axes in figure.axes:
            # Legends and strips take room of their own, not the panels'.
            assert axes.bbox.height / figure.dpi >= (0.5 if axes.get_gid() == STRIP else 1.5)
            assert axes.bbox.width / figure.dpi >= 1.5
        legends = figure.findobj(Legend)
        assert legends or figure.findobj(Annotation)
        for legend, axes in itertools.product(legends, figure.axes):
            assert not legend.get_window_extent().overlaps(axes.bbox)
            if axes.get_title():
                assert not legend.get_window_extent().overlaps(axes.title.get_window_extent())


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_labels_of_ticks_stand_apart(paper: str, name: str) -> None:
    for figure in figures_of(paper, name):
        boxes = [
            label.get_window_extent()
            for axes in figure.axes
            for label, place, (low, high) in [
                *(
                    (each, each.get_position()[0], axes.get_xlim())
                    for each in axes.get_xticklabels()
                ),
                *(
                    (each, each.get_position()[1], axes.get_ylim())
                    for each in axes.get_yticklabels()
                ),
            ]
            # Ticks beyond the limits exist, but are not drawn.
            if label.get_text() and low <= place <= high
        ]
        assert len(boxes) >= 4
        assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_titles_begin_with_a_capital_and_stand_at_one_height(paper: str, name: str) -> None:
    for figure in figures_of(paper, name):
        rows: dict[float, set[float]] = {}
        for axes in figure.axes:
            title = re.sub(r"^\([a-j]\) ", "", axes.get_title())
            assert not title[:1].islower()
            if title:
                top = round(axes.get_position().y1, 3)
                rows.setdefault(top, set()).add(round(axes.title.get_window_extent().y0))
        assert all(max(heights) - min(heights) <= 10 for heights in rows.values())


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_keys_of_legends_have_no_error_bars(paper: str, name: str) -> None:
    for figure in figures_of(paper, name):
        for legend in figure.findobj(Legend):
            assert not any(isinstance(key, LineCollection) for key in legend.findobj())


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_every_picture_names_its_paper_and_figure(paper: str, name: str) -> None:
    whole, *panels = figures_of(paper, name)
    for figure, letter in zip([whole, *panels], ["", *"abcdefghij"], strict=False):
        texts = [each.get_text() for each in figure.findobj(Text)]
        assert heading(paper, name, letter if len(panels) > 1 else "") in texts


def test_a_diagram_names_its_paper_and_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def keep(path: Path, figure: Figure, points: pd.DataFrame) -> list[Path]:
        found.extend(each.get_text() for each in figure.findobj(Text))
        return [path]

    monkeypatch.setattr(draw, "write_figure", keep)
    PAPERS["dp-ts-ucb"].draw("fig2", Path())
    assert "dp-ts-ucb, Figure 2" in found


@pytest.mark.parametrize(
    ("figure", "letter", "text"),
    [
        ("fig1", "b", "dp-ncb, Figure 1(b)"),
        ("fig1-as-written", "", "dp-ncb, Figure 1, as written"),
        ("extra-panel-a", "c", "dp-ncb, supplementary figure: panel a (c)"),
    ],
)
def test_headings(figure: str, letter: str, text: str) -> None:
    assert heading("dp-ncb", figure, letter) == text


def test_every_algorithm_has_a_look_of_its_own() -> None:
    assert PLAYED <= set(ALGORITHMS) <= set(REGISTRY)
    for family in (REGRET, IDENTIFICATION):
        listed = [ALGORITHMS[algorithm] for algorithm in family if algorithm in ALGORITHMS]
        assert len(set(listed)) == len(listed)
    palette = [to_hex(colour) for colour in sns.color_palette("colorblind")]
    others = {"black", "wine", "olive"}
    assert {COLOURS[name] for name in COLOURS if name not in others} <= set(palette)
    assert tuple(map(to_hex, sns.color_palette("rocket_r", as_cmap=True).colors)) == ORDERED
    for colour, dash, marker in ALGORITHMS.values():
        assert colour in COLOURS
        assert dash in DASHES
        assert marker in MARKERS


def test_an_algorithm_without_a_look_has_one_by_its_id() -> None:
    one, other = look_of("explore-then-commit"), look_of("another of one's own")
    assert one == look_of("explore-then-commit")
    assert {one.colour, other.colour} == {OWN_COLOUR}
    assert one != other
    assert look_of("ucb1") == algorithm_look("ucb1")


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_an_algorithm_has_its_look_in_every_figure(paper: str, name: str) -> None:
    """An ordered parameter alone may colour its lines, by a map that means no algorithm."""
    spec = parse_figure(name, PAPERS[paper].figures[name])
    names = {definition.name: look_of(key) for key, definition in REGISTRY.items()}
    for panel in spec.panels.values():
        ordered = any(series.by or series.shade for series in panel.series)
        for line in lines_of(paper, panel):
            label = re.split(r",| \(|\(", line.name)[0]
            if label in names and not line.look.hollow and not ordered:
                assert line.look.colour == names[label].colour
                assert line.look.marker in (names[label].marker, "none")


def test_a_file_that_gives_an_algorithm_another_look_is_refused() -> None:
    spec = copy.deepcopy(PAPERS["dp-ts-ucb"].figures["fig5"])
    spec["panels"]["a"]["series"][0]["colour"] = "black"
    panel = parse_figure("fig5", spec).panels["a"]
    message = r"series\.0\.colour is 'black'; allowed: none, lines of dp-ts-ucb have its look"
    with pytest.raises(InputError, match=message):
        lines_of("dp-ts-ucb", panel)


def test_help_and_simulations_load_no_plotting_library() -> None:
    code = (
        "import sys; from dpbandits.cli import main; import dpbandits.pipeline.jobs\n"
        "main(['--help'])\n"
        "found = {'seaborn', 'matplotlib'} & set(sys.modules)\nassert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_no_curve_is_cut_off(paper: str, name: str) -> None:
    for figure in figures_of(paper, name):
        for axes in figure.axes:
            low, high = axes.get_ylim()
            for line in axes.lines:
                if not len(np.atleast_1d(line.get_ydata())):
                    continue
                values = np.asarray(line.get_ydata(), dtype=float)
                assert values.max() <= high
                # The noise of realised regret may fall a little below 0 at the start.
                assert values.min() >= low - 500


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_lines_differ_in_colour_or_dash_and_in_a_second_channel(paper: str, name: str) -> None:
    spec = parse_figure(name, PAPERS[paper].figures[name])
    for panel in spec.panels.values():
        # Open marks have the colour of their line, and nothing else to tell them apart.
        looks = [line.look for line in lines_of(paper, panel) if not line.look.hollow]
        # Marks without lines are full or open.
        kinds = [look.fill if look.dash == NO_LINE else look.dash for look in looks]
        colours, markers = ([getattr(look, key) for look in looks] for key in ("colour", "marker"))
        assert len(set(zip(colours, kinds, strict=True))) == len(looks)
        if NO_LINE not in {look.dash for look in looks}:
            assert len(set(zip(kinds, markers, strict=True))) == len(looks)


def test_colours_of_an_ordered_parameter_darken_as_it_grows() -> None:
    panel = parse_figure("fig3", FIGURES["fig3"]).panels[""]
    looks = [line.look for line in lines_of("ts-is-dp", panel)]
    # Relative luminance, ITU-R BT.709.
    brightness = [np.dot((0.2126, 0.7152, 0.0722), to_rgb(look.colour)) for look in looks]
    assert brightness == sorted(brightness, reverse=True)
    assert min(-np.diff(brightness)) > 0.01


def test_a_categorical_axis_spaces_its_values_evenly(tmp_path: Path) -> None:
    spec = copy.deepcopy(FIGURES["fig3"])
    spec["x"]["scale"] = "categories"
    draw_figure(spec, "fig3", frame, tmp_path)
    assert sorted(set(pd.read_csv(tmp_path / "fig3.csv")["x"])) == [1, 2, 5]
    parsed = parse_figure("fig3", spec)
    figure = draw_panels(parsed, {"": panel_lines(parsed.panels[""], frame(spec["reads"]), "")})
    assert list(figure.axes[0].get_xticks()) == [0, 1, 2]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["1", "2", "5"]
