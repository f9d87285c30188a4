"""Figures: their files, the numbers of their csv, what is drawn, and looks of every picture."""

import io
import itertools
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import PIL.Image
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from scipy import stats

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGISTRY, REGRET
from dpbandits.config.figures import MAXIMAL_POINTS, panel_stem
from dpbandits.config.looks import ALGORITHMS, COLOURS, NO_LINE
from dpbandits.engine.results import results_frame
from dpbandits.metrics.intervals import rate_interval
from dpbandits.reporting.draw import (
    COLUMNS,
    draw_figure,
    draw_panels,
    first_crossing,
    plotted_points,
    points_csv,
    write_figure,
)
from dpbandits.reporting.lines import nash_quantities, nash_regrets
from dpbandits.reporting.palette import OWN_COLOUR, RAMP, look_of
from dpbandits.reporting.style import STRIP, heading
from found_papers import PLAYED
from support import ROOT, refused, run_python
from synthetic_results import EVERY_FIGURE, FIGURES, FIRST, FOURTH, PAPERS, SECOND, THIRD, frame

SPECS = {each: PAPERS[each[0]].figures[each[1]] for each in EVERY_FIGURE}
SMALLEST_TEXT = 7.0  # points, at the size of a column
LEGEND_SHARE = 0.3
LEAST_CONTRAST, LEAST_DISTANCE = 3.0, 10.0  # on white; in CIELAB, for colour-blind readers


def shown(paper: str, name: str, letter: str = "") -> pd.DataFrame:
    """Return the csv of one panel, which is not drawn."""
    points = plotted_points(SPECS[paper, name], {"": PAPERS[paper].lines(name, letter)})
    return pd.read_csv(io.StringIO(points_csv(points, name)), keep_default_na=False)


DRAWN = [("dp-ts-ucb", "fig5")]
"""Drawn by `make test`: a picture takes seconds, and all are made by one function."""


@pytest.mark.parametrize(
    ("paper", "name"),
    [
        each if each in DRAWN else pytest.param(*each, marks=pytest.mark.slow)
        for each in EVERY_FIGURE
    ],
)
def test_a_figure_is_as_the_contract_says(
    paper: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, numbers and looks of the whole and of its panels, each drawn once.

    Of panels only the csv is written: pictures take most of the time, all made by one function.
    """
    spec, figures, suffixes = SPECS[paper, name], {}, (".png", ".pdf", ".csv")

    def write(path: Path, figure: Figure, points: pd.DataFrame) -> list[Path]:
        figures[path.name] = figure
        if path.name == name:
            return write_figure(path, figure, points)
        figure.draw_without_rendering()
        files = [path.with_name(f"{path.name}{suffix}") for suffix in suffixes]
        files[-1].write_text(points_csv(points, path.name))
        return files

    monkeypatch.setattr("dpbandits.reporting.draw.write_figure", write)
    written = PAPERS[paper].draw(name, tmp_path)
    head, dash, variant = name.partition("-") if name.startswith("fig") else (f"{name}-", "", "")
    letters = {f"{head}{letter}{dash}{variant}": letter for letter in spec.panels if letter}
    expected = [f"{stem}{suffix}" for stem in [*letters, name] for suffix in suffixes]
    assert [path.name for path in written] == expected
    assert (spec.supplements is not None) == name.startswith("extra-")
    checks = {".csv": check_csv, ".pdf": check_pdf, ".png": check_png}
    for path in filter(Path.exists, written):
        checks[path.suffix](path.read_bytes())
    for stem, figure in figures.items():
        letter = letters.get(stem, "")
        title = heading(paper, name, letter, spec.supplements) if spec.panels else ""
        check_layout(figure, title)
    if spec.panels:
        parts = {letter: read(tmp_path, panel_stem(name, letter)) for letter in spec.panels}
        check_whole(read(tmp_path, name), parts)
        check_numbers(figures[name], [*parts.values()])
        check_lines(paper, name)


def read(folder: Path, stem: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{stem}.csv", keep_default_na=False)


def check_csv(content: bytes) -> None:
    """Check the columns of a csv, and that its points are ordered and within their intervals."""
    assert content.startswith(b"series,variant,interpretation,x,y,lo,hi,runs\n")
    assert b"\r" not in content
    table = pd.read_csv(io.BytesIO(content), keep_default_na=False)
    for _, series in table.groupby("series"):
        assert len(series) <= 400
        assert series["x"].is_monotonic_increasing
        assert series["x"].is_unique
    assert np.isfinite(table[["x", "y", "lo", "hi"]].to_numpy()).all()
    # Digitised values and their residuals have the digitisation error.
    read_off = table["variant"].isin(["published", "residual"])
    assert (table["runs"] == 0)[read_off].all()
    # An exact interval of a rate ends where the rate is 0 or 1.
    below = (table["lo"] < table["y"]) | (table["y"] == 0)
    above = (table["y"] < table["hi"]) | (table["y"] == 1)
    exact = (table["runs"] <= 1) & ~read_off
    assert (below & above)[~exact].all()
    assert (table["lo"] == table["y"])[exact].all()
    assert (table["hi"] == table["y"])[exact].all()


def check_pdf(content: bytes) -> None:
    assert b"/FontFile2" in content
    words = (b"/Subtype /Type3", b"CreationDate", b"Producer", b"Creator")
    assert not any(word in content for word in words)


def check_png(content: bytes) -> None:
    """Check that a picture has no text or time, and 200 dots an inch or more."""
    [(key, dots)] = PIL.Image.open(io.BytesIO(content)).info.items()
    assert (key, min(dots) >= 199.5) == ("dpi", True)
    assert b"tIME" not in content


def check_whole(whole: pd.DataFrame, parts: dict[str, pd.DataFrame]) -> None:
    """Check that the whole has the lines of its panels."""
    named = [
        part.assign(series=f"{letter}: " + part["series"] if letter else part["series"])
        for letter, part in parts.items()
    ]
    pd.testing.assert_frame_equal(whole, pd.concat(named, ignore_index=True))


def check_numbers(figure: Figure, tables: list[pd.DataFrame]) -> None:
    """Check that the panels show the rounded numbers of their csv and cut none off."""
    panels = [axes for axes in figure.axes if axes.get_gid() != STRIP]
    for table, axes in zip(tables, panels, strict=True):
        kept = table[table["variant"] != "residual"]
        # Ends of error bars are lines of their own.
        lines = [line for line in axes.lines if line.get_marker() not in ("_", "|")]
        plotted = {tuple(map(float, point)) for line in lines for point in line.get_xydata()}
        assert plotted == {*kept[["x", "y"]].astype(float).itertuples(index=False, name=None)}
        # Matplotlib would choose marks by the layout, whose last bits differ between processes.
        assert not any(isinstance(line.get_markevery(), tuple) for line in lines)
        low, high = axes.get_ylim()
        # The noise of realised regret may fall a little below 0 at the start.
        assert low - 500 <= kept["y"].min() <= kept["y"].max() <= high


def check_layout(figure: Figure, title: str) -> None:
    """Check that text is large enough, inside the page and off the curves."""
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert not title or title in [text.get_text() for text in texts]
    assert min(text.get_fontsize() for text in texts) >= SMALLEST_TEXT
    box, page = figure.get_tightbbox(), figure.bbox_inches
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= page.x1
    assert box.y1 <= page.y1
    legends = figure.findobj(Legend)
    assert legends or figure.findobj(Annotation)
    boxes = {legend: legend.get_window_extent() for legend in legends}
    above = {legend: box.height for legend, box in boxes.items()}
    common = sum(height for legend, height in above.items() if legend in figure.legends)
    of_panels = max((above[legend] for legend in above.keys() - {*figure.legends}), default=0)
    assert common + of_panels <= LEGEND_SHARE * figure.bbox.height
    # Nothing is written over data, but at a crossing.
    for axes in figure.axes:
        notes = [text for text in axes.texts if isinstance(text, Annotation)]
        assert all(note.get_bbox_patch() is None for note in notes)
    for axes in figure.axes:
        # Legends and strips take room of their own, not the panels'.
        assert axes.bbox.height / figure.dpi >= (0.5 if axes.get_gid() == STRIP else 1.5)
        assert axes.bbox.width / figure.dpi >= 1.5
        assert not re.sub(r"^\([a-j]\) ", "", axes.get_title())[:1].islower()
        covered = [axes.bbox, *([axes.title.get_window_extent()] if axes.get_title() else [])]
        for legend, place in itertools.product(boxes.values(), covered):
            assert not legend.overlaps(place)
    labels = [
        label.get_window_extent()
        for axes in figure.axes
        for side, axis in enumerate((axes.xaxis, axes.yaxis))
        for label in axis.get_ticklabels()
        # Ticks beyond the limits exist, but are not drawn.
        if label.get_text()
        and min(axis.get_view_interval())
        <= label.get_position()[side]
        <= max(axis.get_view_interval())
    ]
    assert len(labels) >= 4
    assert not any(a.overlaps(b) for a, b in itertools.combinations(labels, 2))


def check_lines(paper: str, name: str) -> None:
    """Check that lines are told apart, and that an algorithm has its look.

    An ordered parameter alone may colour its lines, by a map that means no algorithm.
    """
    names = {definition.name: look_of(key) for key, definition in REGISTRY.items()}
    for letter, panel in SPECS[paper, name].panels.items():
        ordered = any(series.by or series.shade for series in panel.series)
        # Open marks have the colour of their line, and nothing else to tell them apart.
        lines = [line for line in PAPERS[paper].lines(name, letter) if not line.look.hollow]
        for line in lines:
            label = re.split(r",| \(|\(", line.name)[0]
            if label in names and not ordered:
                assert line.look.colour == names[label].colour
                assert line.look.marker in (names[label].marker, "none")
        looks = [line.look for line in lines]
        kinds = [(look.dash, look.fill) for look in looks]
        colours, markers = ([getattr(look, key) for look in looks] for key in ("colour", "marker"))
        assert len(set(zip(colours, kinds, strict=True))) == len(looks)
        if NO_LINE not in {look.dash for look in looks}:
            assert len(set(zip(kinds, markers, strict=True))) == len(looks)


@pytest.mark.parametrize(
    ("paper", "name"),
    [("ts-is-dp", "fig3"), pytest.param("dp-ts-ucb", "fig1", marks=pytest.mark.slow)],
)
def test_drawing_again_gives_the_same_bytes(paper: str, name: str, tmp_path: Path) -> None:
    first, second = (PAPERS[paper].draw(name, tmp_path / folder) for folder in "ab")
    for old, new in zip(first, second, strict=True):
        assert old.read_bytes() == new.read_bytes(), old.name


@pytest.mark.slow
def test_another_process_gives_the_same_bytes(tmp_path: Path) -> None:
    """Another hash seed, another day's time zone and a user's own plot settings change nothing."""
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: red\npdf.fonttype: 3\n")
    program = (
        "import sys; from pathlib import Path; from dpbandits.pipeline.project import Project;"
        "from dpbandits.papers.ts_is_dp.analytic import ANALYTIC;"
        "from dpbandits.reporting.draw import draw_figure;"
        "figure = Project.load(Path(sys.argv[1])).study('ts-is-dp').figure('fig7');"
        "exact = lambda name: ANALYTIC[name]();"
        "draw_figure(figure, exact, Path(sys.argv[2]), paper='ts-is-dp')"
    )
    changes = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    changes["MATPLOTLIBRC"] = str(tmp_path / "matplotlibrc")
    changes["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    run = run_python("-c", program, str(ROOT), str(tmp_path), changes=changes)
    assert run.returncode == 0, run.stderr
    for path in FIRST.draw("fig7", tmp_path / "here"):
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


# Numbers


def test_only_panels_with_digitised_values_have_a_strip() -> None:
    lines = {letter: FOURTH.lines("fig1", letter) for letter in "ab"}
    lines["b"] = [replace(line, published=None) for line in lines["b"]]
    panels = draw_panels(SPECS["dp-ncb", "fig1"], lines).axes
    strips = [axes for axes in panels if axes.get_gid() == STRIP]
    assert (len(panels), len(strips)) == (3, 1)
    assert strips[0].get_subplotspec().colspan == panels[0].get_subplotspec().colspan


@pytest.mark.parametrize(("name", "letter"), [("fig2", "b"), ("fig3", "")])
def test_bands_and_bars_end_at_the_intervals_of_the_csv(name: str, letter: str) -> None:
    figure = draw_panels(SPECS["ts-is-dp", name], {letter: FIRST.lines(name, letter)})
    artists = figure.axes[0].collections
    assert all(isinstance(artist, LineCollection | PolyCollection) for artist in artists)
    paths = [path for artist in artists for path in artist.get_paths()]
    found = np.concatenate([np.asarray(path.vertices) for path in paths])
    table = shown("ts-is-dp", name, letter)
    wanted = np.concatenate([table[["x", end]].to_numpy(dtype=float) for end in ("lo", "hi")])
    distances = np.abs(found[:, None] - wanted).sum(axis=2)
    assert distances.min(axis=0).max() < 1e-6
    assert distances.min(axis=1).max() < 1e-6


@pytest.mark.slow
def test_a_diagram_is_drawn_from_rounded_rows_and_its_csv_made_of_the_rows(tmp_path: Path) -> None:
    name, read = "extra-regimes", []

    def draw(rows: pd.DataFrame) -> tuple[Figure, Any]:
        read.append(rows)
        return THIRD.paper.functions("diagrams")[name](rows)

    draw_figure(THIRD.figures[name], THIRD.frame, tmp_path, diagrams={name: draw})
    exact, rounded = (rows["y"].dropna() for rows in read)
    assert rounded.tolist() == [float(f"{y:.10g}") for y in exact]
    assert rounded.tolist() != exact.tolist()


def test_curves_are_means_with_t_intervals(tmp_path: Path) -> None:
    rows = frame("bernoulli-curves")
    chosen = (rows["metric"] == "realised_regret") & (rows["eta"] == 2) & (rows["b"] == 500)
    values = rows[chosen].pivot(index="run", columns="t", values="value")
    found = shown("ts-is-dp", "fig2", "b").query("series == 'b=500'").set_index("x")
    half = stats.t.ppf(0.975, 9) * values.std(ddof=1) / np.sqrt(10)
    # The csv keeps ten significant digits.
    np.testing.assert_allclose(found["y"], values.mean(), rtol=1e-8)
    np.testing.assert_allclose(found["lo"], values.mean() - half, rtol=1e-7, atol=1e-5)
    np.testing.assert_allclose(found["hi"], values.mean() + half, rtol=1e-7, atol=1e-5)
    # One run has none to draw, and the csv says so.
    draw_figure(FIGURES["fig3"], lambda name: frame(name).query("run == 0"), tmp_path)
    table = pd.read_csv(tmp_path / "fig3.csv")
    assert (table["runs"] == 1).all()
    assert np.isinf(table[["lo", "hi"]].to_numpy()).all()


def test_rates_have_the_intervals_of_clopper_and_pearson() -> None:
    rows = THIRD.frame("fig1-budget").query("metric == 'success' and algorithm == 'dp-bai'")
    table = shown("dp-bai", "fig1", "a").set_index(["series", "x"])[["y", "lo", "hi", "runs"]]
    for (epsilon, budget), counted in rows.groupby(["epsilon", "horizon"]):
        hits, trials = int(counted["value"].sum()), int(counted["trials"].sum())
        found = table.loc[(f"DP-BAI, epsilon={epsilon:g}", budget)]
        expected = [*map(float, rate_interval(hits, trials)), trials]
        assert found.tolist() == pytest.approx(expected, rel=1e-9)
    # Scipy solves for the ends by iteration.
    for hits, trials in [(0, 1000), (1, 1000), (487, 1000), (1000, 1000), (3, 4)]:
        exact = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
        expected = (hits / trials, exact.low, exact.high)
        np.testing.assert_allclose(rate_interval(hits, trials), expected, rtol=1e-7, atol=1e-9)


def test_of_several_nash_curves_the_mean_of_their_regrets_has_a_t_interval() -> None:
    """Panel (a): a value is the mean of ten curves, not the regret of a mean."""
    table = shown("dp-ncb", "fig1", "a")
    row = table[table["series"] == "GDP-NCB"].iloc[-1]
    rows = FOURTH.frame("panel-a").query("algorithm == 'gdp-ncb' and variant == 'as-coded'")
    rows = rows[(rows["epsilon"] == 2) & (rows["horizon"] == row["x"])]
    wide = rows.pivot(index="run", columns="metric", values="value")
    regrets = wide["best_mean"] - np.exp(wide["nash_log_mean"])
    half = stats.t.ppf(0.975, 9) * regrets.std(ddof=1) / np.sqrt(10)
    expected = [regrets.mean(), regrets.mean() - half, regrets.mean() + half, 500]
    assert row[["y", "lo", "hi", "runs"]].tolist() == pytest.approx(expected, rel=1e-8)


def test_a_nash_curve_is_that_of_the_library() -> None:
    """The same cell through ``simulate`` and through the rows of the results."""
    plan = FOURTH.plan("one-million", {"runs": 4, "horizon": 500})
    label = "adap-ucb epsilon=0.2 variant=as-coded"
    [series] = [series for series in plan.series() if series.label == label]
    rows = results_frame([series], [series.works[0].play(root_seed=3)])
    table = nash_regrets(rows[rows["metric"].isin(nash_quantities("nash_regret"))])
    curve = dpbandits.simulate(
        algorithm="adap-ucb",
        params={"epsilon": 0.2},
        variant="as-coded",
        bandit=series.cell.bandit,
        horizon=500,
        runs=4,
        seed=3,
    ).nash_regret(at=list(series.cell.grid))
    low, high = curve.interval()
    for column, expected in {"y": curve.nash_regret, "lo": low, "hi": high}.items():
        np.testing.assert_allclose(table[column], expected, rtol=1e-9)


# Looks


MACHADO = {
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
"""Machado, Oliveira and Fernandes (2009): linear RGB as colour-blind readers see it."""

TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def linear(colour: str) -> np.ndarray:
    shares = np.array(to_rgb(colour))
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    x, y, z = (TO_XYZ @ light.clip(0.0, 1.0)) / [0.95047, 1.0, 1.08883]
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("colour", [*COLOURS.values(), *RAMP])
def test_every_colour_stands_out_from_white(colour: str) -> None:
    luminance = (TO_XYZ @ linear(colour))[1]
    assert 1.05 / (luminance + 0.05) >= LEAST_CONTRAST


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "name"), EVERY_FIGURE)
def test_lines_are_told_apart_and_a_value_has_its_listed_look(
    paper: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Colours stay apart for colour-blind readers; no look is by a value's place in a figure."""
    monkeypatch.setattr("dpbandits.reporting.palette.ordered_looks", None)
    for letter, panel in SPECS[paper, name].panels.items():
        lines = PAPERS[paper].lines(name, letter)
        # Values of an ordered parameter are steps of one map, and have dashes and marks.
        colours = {line.look.colour for line in lines if line.algorithm} - {*RAMP}
        for first, second in itertools.combinations(sorted(colours), 2):
            for kind, seen in MACHADO.items():
                ends = (lab(np.array(seen) @ linear(colour)) for colour in (first, second))
                distance = np.linalg.norm(np.subtract(*ends))
                assert distance >= LEAST_DISTANCE, (panel.title, first, second, kind)


def test_every_algorithm_has_a_look_of_its_own() -> None:
    assert PLAYED <= set(ALGORITHMS) <= set(REGISTRY)
    for family in (REGRET, IDENTIFICATION):
        listed = [ALGORITHMS[algorithm] for algorithm in family if algorithm in ALGORITHMS]
        assert len(set(listed)) == len(listed)
    # A colour is of one algorithm, or of its two forms; those that are not private are black.
    colours: dict[str, set[str]] = {}
    for algorithm, (colour, *_) in ALGORITHMS.items():
        colours.setdefault(colour, set()).add(algorithm.removeprefix("anytime-"))
    assert all(len(named) == 1 for colour, named in colours.items() if colour != "black")
    # One of a user's own has one by its id.
    one, other = look_of("explore-then-commit"), look_of("another of one's own")
    assert one == look_of("explore-then-commit") != other
    assert {one.colour, other.colour} == {OWN_COLOUR}


def test_a_crossing_is_where_straight_lines_on_the_axes_of_the_panel_meet() -> None:
    """dp-ts-ucb, Figure 4(b): T^((1 - alpha)/4) against powers of ln T are lines over log eta."""
    first, second = (
        pd.DataFrame({"x": [0.0, 1.0], "y": ends}) for ends in ((650.0, 3.0), (450.0, 120.0))
    )
    x = np.log(650 / 450) / (np.log(650 / 450) - np.log(3 / 120))
    found = first_crossing(first, second, "linear", "log")
    assert found == pytest.approx((x, 650 * (3 / 650) ** x))
    assert first_crossing(first, first.assign(y=700.0), "linear", "log") is None


# Refusals; those of entries are in test_reporting_tables.


def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    x = np.arange(MAXIMAL_POINTS + 1)
    points = pd.DataFrame({"series": "s", "variant": "as-written", "interpretation": "", "x": x})
    points = points.assign(y=x, lo=x, hi=x, runs=0)
    assert len(points_csv(points[1:], "fig1").splitlines()) == 401
    refused(lambda: write_figure(out / "fig1", Figure(), points), "fig1", "401 points; allowed")
    (tmp_path / "file").write_text("")
    none = pd.DataFrame(columns=COLUMNS)
    refused(lambda: write_figure(tmp_path / "file/fig1", Figure(), none), "cannot be written")
    figure = replace(SECOND.figures["fig1"], name="fig9")
    refused(lambda: draw_figure(figure, SECOND.frame, out), "fig9.kind", "only for")
    # Realised regret inside an episode is NaN, in the engine's results.
    rows = frame("bernoulli-curves").copy()
    rows.loc[(rows["metric"] == "realised_regret") & (rows["t"] == 500), "value"] = np.nan
    spec, words = FIGURES["fig2"], "realised_regret is not known at every t"
    refused(lambda: draw_figure(spec, lambda _: rows, out), "figures.fig2", words)
    assert not out.exists()
