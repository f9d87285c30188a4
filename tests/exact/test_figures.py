"""Figures: the files of every figure of the experiments files, and what each must be."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.errors import InputError
from dpbandits.reporting.draw import draw_diagram, points_csv
from dpbandits.reporting.spec import panel_stem, parse_figure
from support import supplementary_slow
from synthetic_results import EVERY_FIGURE, EXPERIMENTS, PANELS, PAPERS, Drawn, read_csv

# Runs, or trials, of each paper; of diagrams, and where a figure pools more.
RUNS = {"ts-is-dp": 10, "dp-ts-ucb": 20, "dp-bai": 1000, "dp-ncb": 50, "equal-privacy": 20}
OWN_RUNS = {
    ("ts-is-dp", "extra-fig3-b-alone"): {400},
    ("ts-is-dp", "extra-ten-runs"): {400},
    ("ts-is-dp", "extra-price-of-levels"): {400},
    # The largest of any run is a single one.
    ("ts-is-dp", "extra-realised-level"): {1, 400},
    ("dp-ts-ucb", "fig1"): {1},
    ("dp-ts-ucb", "fig2"): {1},
    ("dp-bai", "extra-corner"): {50_000},
    ("dp-bai", "extra-omega"): {1000},
    ("dp-bai", "extra-phases"): {1000, 10_000},
    ("dp-bai", "extra-regimes"): {0},
    # Digitised values have none, nor lines beside derived values; panel (a) is ten curves of 50.
    **{("dp-ncb", name): {0, 50, 500} for name in ("fig1", "fig1-repaired", "extra-fig1-loglog")},
    ("dp-ncb", "fig1-as-written"): {50, 500},
    ("dp-ncb", "extra-fig1e-slopes"): {0, 50},
    ("dp-ncb", "extra-price-of-privacy"): {0, 50},
    ("dp-ncb", "extra-epsilon-slope"): {0, 50},
    # Fits and bounds have none.
    ("dp-bai", "extra-budgets-ratio"): {0, 20_000},
    ("dp-bai", "extra-budgets-hardness"): {0, 20_000},
    ("dp-bai", "extra-bound"): {0, 10_000, 50_000},
    ("dp-bai", "extra-log-error"): {0, 400_000},
    ("dp-bai", "extra-gauss-delta"): {0},
    ("dp-ncb", "extra-panel-a"): {500},
    ("dp-ncb", "extra-anytime"): {50, 200},
    ("dp-ncb", "extra-privacy-witness"): {0},
    ("dp-ncb", "extra-bias"): {500},
    # Ten on the fifty arms, whose rounds cost ten times as much.
    ("equal-privacy", "extra-equal-privacy"): {10, 20},
}
VARIANTS = {
    "dp-ncb": {"as-written", "as-coded", "repaired", "published", "residual"},
    "equal-privacy": {"as-written", "repaired"},
}
OF_PANELS = supplementary_slow(each for each in EVERY_FIGURE if PANELS[each[0]][each[1]])
DRAWN = supplementary_slow(EVERY_FIGURE)
HEADER = "series,variant,interpretation,x,y,lo,hi,runs"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_experiments_file_has_every_figure_of_the_paper_and_ours(paper: str) -> None:
    figures = PAPERS[paper].figures
    assert {name: "".join(figures[name].get("panels", {})) for name in figures} == PANELS[paper]


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_files_are_named_as_the_contract_says(paper: str, name: str, drawn: Drawn) -> None:
    head, variant, separator = name, "", "-"
    if name.startswith("fig"):
        head, dash, kind = name.partition("-")
        variant, separator = dash + kind, ""
    stems = [f"{head}{separator}{letter}{variant}" for letter in PANELS[paper][name]] + [name]
    assert parse_figure(name, PAPERS[paper].figures[name]).stems == stems
    expected = [f"{stem}{suffix}" for stem in stems for suffix in (".pdf", ".png", ".csv")]
    expected += [f"{name}.json"] if PAPERS[paper].figures[name].get("kind") != "diagram" else []
    assert [path.name for path in drawn[paper, name]] == expected
    assert all(path.stat().st_size > 0 for path in drawn[paper, name])


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_the_json_names_the_lines_of_the_csv(paper: str, name: str, drawn: Drawn) -> None:
    [described] = [path for path in drawn[paper, name] if path.suffix == ".json"]
    for letter, panel in json.loads(described.read_text(encoding="utf-8")).items():
        table = pd.read_csv(described.with_name(f"{panel_stem(name, letter)}.csv"))
        names = table["series"][table["variant"] != "residual"].unique()
        assert [line["name"] for line in panel["lines"]] == list(names)
        assert all(line["label"] and line["colour"] for line in panel["lines"])
        assert panel["x"]["label"]


@pytest.mark.parametrize(("paper", "name"), EVERY_FIGURE)
def test_what_is_ours_says_so(paper: str, name: str) -> None:
    caption = parse_figure(name, PAPERS[paper].figures[name]).caption
    assert caption.startswith("Ours, not in the paper") == name.startswith("extra-")


def test_the_letter_of_a_panel_stands_before_the_variant() -> None:
    assert panel_stem("fig1", "b") == "fig1b"
    assert panel_stem("fig1-repaired", "b") == "fig1b-repaired"
    assert panel_stem("fig3", "") == "fig3"


@pytest.mark.parametrize("paper", PAPERS)
def test_figures_read_results_that_exist(paper: str) -> None:
    own = PAPERS[paper]
    known = {*own.document["simulations"], *own.document["analytic"]}
    figures = [parse_figure(name, entry) for name, entry in own.figures.items()]
    assert {each for figure in figures for each in figure.reads} <= known
    assert set(own.document["analytic"]) == set(own.paper.analytic)


def runs_of(paper: str, name: str) -> set[int]:
    """Return the numbers of runs that the csv of a figure may state."""
    if (paper, name) in OWN_RUNS:
        return OWN_RUNS[paper, name]
    spec = PAPERS[paper].figures[name]
    kinds = {panel.kind for panel in parse_figure(name, spec).panels.values()}
    return {0 if kind == "analytic" else RUNS[paper] for kind in kinds}


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_csv_has_the_contract_columns_and_ordered_finite_points(
    paper: str, name: str, drawn: Drawn
) -> None:
    for path in drawn[paper, name]:
        if path.suffix != ".csv":
            continue
        text = path.read_bytes().decode()
        assert text.splitlines()[0] == HEADER
        assert "\r" not in text
        table = pd.read_csv(path, keep_default_na=False)
        for _, series in table.groupby("series"):
            assert len(series) <= 400
            assert series["x"].is_monotonic_increasing
            assert series["x"].is_unique
        assert np.isfinite(table[["x", "y", "lo", "hi"]].to_numpy()).all()
        assert set(table["variant"]) <= VARIANTS.get(paper, {"as-written"})
        assert set(table["runs"]) <= runs_of(paper, name)
        if path.stem == name:
            assert set(table["runs"]) == runs_of(paper, name)
        # Digitised values and their residuals have the digitisation error.
        read_off = table["variant"].isin(["published", "residual"])
        assert (table["runs"] == 0)[read_off].all()
        assert ((table["lo"] < table["y"]) & (table["y"] < table["hi"]))[read_off].all()
        table = table[~read_off]
        exact = table["runs"] <= 1
        assert (table["lo"] == table["y"])[exact].all()
        assert (table["hi"] == table["y"])[exact].all()
        # An exact interval of a rate ends where the rate is 0 or 1.
        assert ((table["lo"] < table["y"]) | (table["y"] == 0))[~exact].all()
        assert ((table["y"] < table["hi"]) | (table["y"] == 1))[~exact].all()


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_the_whole_figure_lists_the_points_of_its_panels(
    paper: str, name: str, drawn: Drawn
) -> None:
    stems = parse_figure(name, PAPERS[paper].figures[name]).stems[:-1]
    parts = [
        read_csv(drawn, name, stem, paper).assign(
            series=lambda own, p=letter: p + ": " + own["series"]
        )
        for letter, stem in zip(PANELS[paper][name], stems, strict=True)
    ]
    whole = read_csv(drawn, name, name, paper)
    pd.testing.assert_frame_equal(whole, pd.concat(parts, ignore_index=True))


def test_a_series_of_more_than_400_points_is_refused() -> None:
    def points(count: int) -> pd.DataFrame:
        x = np.arange(count)
        return pd.DataFrame(
            {"series": "s", "variant": "as-written", "interpretation": "", "x": x, "y": x, "lo": x}
            | {"hi": x, "runs": 0}
        )

    assert len(points_csv(points(400), "fig1").splitlines()) == 401
    with pytest.raises(InputError, match=r"fig1: .* 401 points; allowed: at most 400"):
        points_csv(points(401), "fig1")


@pytest.mark.parametrize(
    ("paper", "name"),
    supplementary_slow(
        [
            *(("ts-is-dp", name) for name in ("fig3", "fig8")),
            *(("dp-ts-ucb", name) for name in ("fig1", "fig2")),
            *(("dp-bai", name) for name in ("fig1", "extra-omega", "extra-regimes")),
        ]
    ),
)
def test_drawing_again_gives_the_same_bytes(
    paper: str, name: str, drawn: Drawn, tmp_path: Path
) -> None:
    for old, new in zip(drawn[paper, name], PAPERS[paper].draw(name, tmp_path), strict=True):
        assert old.read_bytes() == new.read_bytes(), old.name


def test_pictures_are_drawn_from_the_numbers_of_their_csv(
    drawn: Drawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processors differ in the last bits of a sum, which no picture may show."""
    plotted = set()

    def plot(axes: Axes, x: Any, y: Any, **options: Any) -> Any:
        plotted.update((float(a), float(b)) for a, b in zip(x, y, strict=True))
        return original(axes, x, y, **options)

    original = Axes.plot
    monkeypatch.setattr(Axes, "plot", plot)
    PAPERS["dp-ts-ucb"].draw("fig4", tmp_path)
    points = read_csv(drawn, "fig4", "fig4", "dp-ts-ucb")
    assert plotted
    assert plotted <= set(zip(points["x"].astype(float), points["y"], strict=True))


def test_a_diagram_is_drawn_from_rounded_rows_and_its_csv_made_of_the_rows(tmp_path: Path) -> None:
    paper = PAPERS["dp-bai"]
    name = "extra-regimes"
    read = []

    def draw(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
        read.append(rows)
        return paper.paper.diagrams[name](rows)

    draw_diagram(paper.figures[name], name, paper.frame, tmp_path, {name: draw}, "dp-bai")
    exact, rounded = (rows["y"].dropna() for rows in read)
    assert rounded.tolist() == [float(f"{y:.10g}") for y in exact]
    assert rounded.tolist() != exact.tolist()


@pytest.mark.slow
def test_another_process_gives_the_same_bytes(drawn: Drawn, tmp_path: Path) -> None:
    """Another hash seed, another day's time zone and a user's own plot settings change nothing."""
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: red\npdf.fonttype: 3\n")
    program = (
        "import sys; from pathlib import Path; from dpbandits.config.documents import load_yaml;"
        "from dpbandits.papers.ts_is_dp.analytic import ANALYTIC;"
        "from dpbandits.reporting.draw import draw_figure;"
        "figures = load_yaml(Path(sys.argv[1]))['figures'];"
        "exact = lambda name: ANALYTIC[name]();"
        "draw_figure(figures['fig7'], 'fig7', exact, Path(sys.argv[2]), paper='ts-is-dp')"
    )
    environment = os.environ | {
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Tokyo",
        "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    command = [sys.executable, "-c", program, str(EXPERIMENTS), str(tmp_path)]
    subprocess.run(command, env=environment, check=True)
    for path in drawn["ts-is-dp", "fig7"]:
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_pdf_fonts_are_embedded_truetype_and_nothing_is_dated(
    paper: str, name: str, drawn: Drawn, tmp_path: Path
) -> None:
    def type_3(content: bytes) -> bool:
        return b"/Subtype /Type3" in content

    for path in drawn[paper, name]:
        if path.suffix != ".pdf":
            continue
        content = path.read_bytes()
        assert b"/FontFile2" in content
        assert not type_3(content)
        assert not any(word in content for word in (b"CreationDate", b"Producer", b"Creator"))
    # Control: matplotlib's default is Type 3, and the test sees it.
    with mpl.rc_context({"pdf.fonttype": 3}):
        figure = Figure()
        figure.text(0.5, 0.5, "text")
        figure.savefig(tmp_path / "control.pdf")
    assert type_3((tmp_path / "control.pdf").read_bytes())


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_png_has_200_dots_an_inch_or_more_and_no_text(paper: str, name: str, drawn: Drawn) -> None:
    for path in drawn[paper, name]:
        if path.suffix != ".png":
            continue
        content, position, chunks = path.read_bytes(), 8, {}
        while position < len(content):
            (length,) = struct.unpack(">I", content[position : position + 4])
            body = content[position + 8 : position + 8 + length]
            chunks[content[position + 4 : position + 8]] = body
            position += 12 + length
        assert set(chunks) == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}
        dots_per_metre, _, unit = struct.unpack(">IIB", chunks[b"pHYs"])
        assert unit == 1
        assert dots_per_metre * 0.0254 >= 200 - 0.5
