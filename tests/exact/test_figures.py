"""Figures: the files of every figure of the experiments file and the numbers in them."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpbandits.errors import InputError
from dpbandits.reporting.figure_files import points_csv
from dpbandits.reporting.figures import draw_figure
from dpbandits.reporting.specs import DIAGRAM, figure_reads, figure_stems, panel_stem, parse_figure
from synthetic_results import EVERY_FIGURE, EXPERIMENTS, FIGURES, PAPERS, SECOND, frame

# Section 4 of each specification and contract 1: panels in reading order.
PANELS = {
    "ts-is-dp": {
        "fig1": "ab",
        "fig2": "abc",
        "fig3": "",
        "fig4": "abc",
        "fig5": "",
        "fig6": "ab",
        "fig7": "ab",
        "fig8": "abc",
        "extra-fig1-linear": "ab",
        "extra-fig2-pseudo": "abc",
        "extra-fig6-corrected": "",
    },
    "dp-ts-ucb": {
        "fig1": "",
        "fig2": "",
        "fig3": "ab",
        "fig4": "ab",
        "fig5": "ab",
        "fig6": "ab",
        "fig7": "ab",
        "extra-fig3-long": "",
        "extra-fig4-tight": "",
        "extra-crossover": "",
        "extra-tuning": "ab",
    },
}
RUNS = {"ts-is-dp": 10, "dp-ts-ucb": 20}
OF_PANELS = [each for each in EVERY_FIGURE if PANELS[each[0]][each[1]]]
HEADER = "series,variant,reading,x,y,lo,hi,runs"


class Drawn(dict[tuple[str, str], list[Path]]):
    """The files of every figure by its paper and name, drawn when first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, key: tuple[str, str]) -> list[Path]:
        paper, name = key
        self[key] = PAPERS[paper].draw(name, self.folder / paper)
        return self[key]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return Drawn(tmp_path_factory.mktemp("figures"))


def read_csv(drawn: Drawn, figure: str, stem: str, paper: str = "ts-is-dp") -> pd.DataFrame:
    path = next(path for path in drawn[paper, figure] if path.name == f"{stem}.csv")
    return pd.read_csv(path, keep_default_na=False)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_experiments_file_has_every_figure_of_the_paper_and_ours(paper: str) -> None:
    figures = PAPERS[paper].figures
    assert {name: "".join(figures[name].get("panels", {})) for name in figures} == PANELS[paper]


@pytest.mark.parametrize(("paper", "name"), EVERY_FIGURE)
def test_files_are_named_as_the_contract_says(paper: str, name: str, drawn: Drawn) -> None:
    separator = "" if name.startswith("fig") else "-"
    stems = [f"{name}{separator}{letter}" for letter in PANELS[paper][name]] + [name]
    assert figure_stems(name, PAPERS[paper].figures[name]) == stems
    expected = [f"{stem}{suffix}" for stem in stems for suffix in (".pdf", ".png", ".csv")]
    assert [path.name for path in drawn[paper, name]] == expected
    assert all(path.stat().st_size > 0 for path in drawn[paper, name])


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
    assert {each for name in own.figures for each in figure_reads(name, own.figures[name])} <= known
    assert set(own.document["analytic"]) == set(own.paper.analytic)


def runs_of(paper: str, name: str) -> set[int]:
    """Return the numbers of runs that the csv of a figure may state."""
    spec = PAPERS[paper].figures[name]
    if spec.get("kind") == DIAGRAM:
        return {1}
    kinds = {panel.kind for panel in parse_figure(name, spec).panels.values()}
    return {0 if kind == "analytic" else RUNS[paper] for kind in kinds}


@pytest.mark.parametrize(("paper", "name"), EVERY_FIGURE)
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
        assert (table["variant"] == "as-written").all()
        assert set(table["runs"]) <= runs_of(paper, name)
        if path.stem == name:
            assert set(table["runs"]) == runs_of(paper, name)
        exact = table["runs"] <= 1
        assert (table["lo"] == table["y"])[exact].all()
        assert (table["hi"] == table["y"])[exact].all()
        assert (table["lo"] < table["y"])[~exact].all()
        assert (table["y"] < table["hi"])[~exact].all()


@pytest.mark.parametrize(("paper", "name"), OF_PANELS)
def test_the_whole_figure_lists_the_points_of_its_panels(
    paper: str, name: str, drawn: Drawn
) -> None:
    stems = figure_stems(name, PAPERS[paper].figures[name])[:-1]
    parts = [
        read_csv(drawn, name, stem, paper).assign(
            series=lambda own, p=letter: p + ": " + own["series"]
        )
        for letter, stem in zip(PANELS[paper][name], stems, strict=True)
    ]
    whole = read_csv(drawn, name, name, paper)
    pd.testing.assert_frame_equal(whole, pd.concat(parts, ignore_index=True))


def test_curves_are_means_with_t_intervals(drawn: Drawn) -> None:
    rows = frame("bernoulli-curves")
    chosen = (rows["metric"] == "realised_regret") & (rows["eta"] == 2) & (rows["b"] == 500)
    values = rows[chosen].pivot(index="run", columns="t", values="value")
    found = read_csv(drawn, "fig2", "fig2b").query("series == 'b=500'").set_index("x")
    # 2.2621571628: the 97.5 % point of Student's t with 9 degrees of freedom.
    half = 2.2621571628 * values.std(ddof=1) / np.sqrt(10)
    # The csv keeps ten significant digits.
    np.testing.assert_allclose(found["y"], values.mean(), rtol=1e-8)
    np.testing.assert_allclose(found["lo"], values.mean() - half, rtol=1e-7, atol=1e-5)
    np.testing.assert_allclose(found["hi"], values.mean() + half, rtol=1e-7, atol=1e-5)


@pytest.mark.parametrize(("ends", "curves"), [("fig3", "fig2"), ("fig5", "fig4")])
def test_final_values_are_the_ends_of_the_curves(ends: str, curves: str, drawn: Drawn) -> None:
    table = read_csv(drawn, ends, ends)
    assert list(dict.fromkeys(table["series"])) == [
        f"b={b}" for b in (0, 500, 1000, 2000, 5000, 10000)
    ]
    for letter, eta in zip("abc", (1, 2, 5), strict=True):
        panel = read_csv(drawn, curves, f"{curves}{letter}").query("x == 100000")
        at_eta = table[table["x"] == eta]
        pd.testing.assert_frame_equal(
            at_eta.drop(columns="x").reset_index(drop=True),
            panel.drop(columns="x").reset_index(drop=True),
        )


def test_figure_8_prints_the_tuned_pair_and_marks_the_second_reading(
    drawn: Drawn,
) -> None:
    tuned = frame("comparison-curves").query("algorithm == 'm-ts-gaussian'")
    for letter, eta in zip("abc", (1, 5, 10), strict=True):
        b, c = tuned.loc[tuned["eta"] == eta, ["b", "c"]].iloc[0]
        table = read_csv(drawn, "fig8", f"fig8{letter}")
        readings = table.drop_duplicates("series").set_index("series")["reading"].to_dict()
        assert readings == {
            f"Modified TS (b={b:.0f}, c={c:.4g})": "",
            "DP-SE": "",
            "Anytime-Lazy-UCB": "",
            "Anytime-Lazy-UCB (natural log)": "log=natural",
        }


def test_figures_6_show_the_printed_and_the_corrected_bound(drawn: Drawn) -> None:
    printed = read_csv(drawn, "fig6", "fig6b").query("series == 'Standard DP'")
    extra = read_csv(drawn, "extra-fig6-corrected", "extra-fig6-corrected")
    corrected = extra[extra["series"] == "Standard DP, corrected (ours)"]

    def at(table: pd.DataFrame, delta: float) -> float:
        return float(table.loc[np.isclose(table["x"], delta, rtol=1e-9, atol=0), "y"].iloc[0])

    # Spec section 3: 7483.9 (N = 10, best split) as printed there; about 2.86e5 corrected, where
    # the spec optimised on a grid only.
    assert at(printed, 1e-6) == pytest.approx(7483.9, abs=0.05)
    assert at(corrected, 1e-6) == pytest.approx(2.86e5, rel=0.01)


def at_horizon(name: str, **tags: object) -> "pd.Series[float]":
    """Return the final values of one series of the second paper, by run."""
    rows = SECOND.frame(name)
    for column, value in tags.items():
        rows = rows[rows[column] == value]
    assert rows["series"].nunique() == 1
    last = rows[(rows["t"] == rows["t"].max()) & (rows["metric"] == "pseudo_regret")]
    return last.set_index("run")["value"]


def test_every_horizon_of_figure_3_has_its_own_end(drawn: Drawn) -> None:
    """Series of different horizons: each is read at its own last round, from two simulations."""
    horizons = [10_000, 31_622, 100_000, 316_227, 1_000_000]
    shown = read_csv(drawn, "fig3", "fig3a", "dp-ts-ucb").query("series == 'alpha=0.5'")
    longer = read_csv(drawn, "extra-fig3-long", "extra-fig3-long", "dp-ts-ucb")
    longer = longer.query("series == 'alpha=0.5'")
    assert shown["x"].tolist() == horizons
    assert longer["x"].tolist() == [*horizons, 10_000_000]
    pd.testing.assert_frame_equal(
        longer.iloc[:5].reset_index(drop=True), shown.reset_index(drop=True)
    )
    means = [
        at_horizon("final-regret", algorithm="dp-ts-ucb", alpha=0.5, horizon=horizon).mean()
        for horizon in horizons
    ]
    means.append(at_horizon("long-horizon", alpha=0.5).mean())
    # The csv keeps ten significant digits.
    np.testing.assert_allclose(longer["y"], means, rtol=1e-8)


def test_figure_4_takes_the_largest_horizon_of_both_algorithms(drawn: Drawn) -> None:
    table = read_csv(drawn, "fig4", "fig4a", "dp-ts-ucb")
    for series, tags in (
        ("DP-TS-UCB", {"algorithm": "dp-ts-ucb", "horizon": 1_000_000}),
        ("M-TS-Gaussian", {"algorithm": "m-ts-gaussian"}),
    ):
        shown = table[table["series"] == series].set_index("x")["y"]
        for alpha in (0, 0.25, 0.5, 0.75, 1):
            mean = at_horizon("final-regret", alpha=alpha, **tags).mean()
            # The csv keeps ten significant digits.
            assert shown[alpha] == pytest.approx(mean, rel=1e-8)


def test_figures_3_and_4_have_the_levels_of_the_specification(drawn: Drawn) -> None:
    """Spec dp-ts-ucb, sections 2.1 and 3.7, of which four or five digits are printed."""
    by_horizon = read_csv(drawn, "fig3", "fig3b", "dp-ts-ucb")
    at_half = by_horizon[by_horizon["series"] == "alpha=0.5"]
    assert at_half["y"].tolist() == pytest.approx([20.9, 25.2, 30.3, 36.27, 43.28], rel=2e-3)
    at_one = by_horizon[by_horizon["series"] == "alpha=1"]
    assert at_one["y"].tolist() == pytest.approx([2.874972] * 5, abs=1e-6)
    by_alpha = read_csv(drawn, "fig4", "fig4b", "dp-ts-ucb").set_index(["series", "x"])["y"]
    alphas = (0, 0.25, 0.5, 0.75, 1)
    printed = {
        "DP-TS-UCB": (651.5, 167.9, 43.28, 11.15, 2.875),
        "M-TS-Gaussian": (447.21, 322.08, 231.97, 167.06, 120.32),
    }
    for series, values in printed.items():
        shown = [by_alpha[series, alpha] for alpha in alphas]
        assert shown == pytest.approx(values, rel=5e-4)


def test_figures_5_and_7_print_the_factor_of_equal_privacy(drawn: Drawn) -> None:
    """Spec dp-ts-ucb, section 3.8: c = 1.178 and 60.46."""
    for name in ("fig5", "fig7"):
        for letter, printed in (("a", "(b=1, c=1.178)"), ("b", "(b=2000, c=60.46)")):
            table = read_csv(drawn, name, f"{name}{letter}", "dp-ts-ucb")
            assert f"M-TS-Gaussian {printed}" in set(table["series"])
    readings = table.drop_duplicates("series").set_index("series")["reading"].to_dict()
    assert readings["Anytime-Lazy-UCB (natural log)"] == "log=natural"
    assert readings["Lazy-DP-TS (base-2 log)"] == "log=base2"
    assert readings["Anytime-Lazy-UCB"] == readings["Lazy-DP-TS"] == ""


def test_a_series_of_more_than_400_points_is_refused() -> None:
    def points(count: int) -> pd.DataFrame:
        x = np.arange(count)
        return pd.DataFrame(
            {"series": "s", "variant": "as-written", "reading": "", "x": x, "y": x, "lo": x}
            | {"hi": x, "runs": 0}
        )

    assert len(points_csv(points(400), "fig1").splitlines()) == 401
    with pytest.raises(InputError, match=r"fig1: .* 401 points; allowed: at most 400"):
        points_csv(points(401), "fig1")


@pytest.mark.parametrize(
    ("paper", "name"),
    [("ts-is-dp", "fig3"), ("ts-is-dp", "fig8"), ("dp-ts-ucb", "fig1"), ("dp-ts-ucb", "fig2")],
)
def test_drawing_again_gives_the_same_bytes(
    paper: str, name: str, drawn: Drawn, tmp_path: Path
) -> None:
    for old, new in zip(drawn[paper, name], PAPERS[paper].draw(name, tmp_path), strict=True):
        assert old.read_bytes() == new.read_bytes(), old.name


def test_another_process_gives_the_same_bytes(drawn: Drawn, tmp_path: Path) -> None:
    """Another hash seed, another day's time zone and a user's own plot settings change nothing."""
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: red\npdf.fonttype: 3\n")
    program = (
        "import sys; from pathlib import Path; from dpbandits.engine.documents import load_yaml;"
        "from dpbandits.papers.ts_is_dp.analytic import ANALYTIC;"
        "from dpbandits.reporting.figures import draw_figure;"
        "figures = load_yaml(Path(sys.argv[1]))['figures'];"
        "draw_figure(figures['fig7'], 'fig7', lambda name: ANALYTIC[name](), Path(sys.argv[2]))"
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


@pytest.mark.parametrize(("paper", "name"), EVERY_FIGURE)
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


@pytest.mark.parametrize(("paper", "name"), EVERY_FIGURE)
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


def test_one_run_has_no_interval_to_draw_and_says_so_in_the_csv(tmp_path: Path) -> None:
    def one_run(name: str) -> pd.DataFrame:
        rows = frame(name)
        return rows[rows["run"] == 0]

    draw_figure(FIGURES["fig3"], "fig3", one_run, tmp_path)
    table = pd.read_csv(tmp_path / "fig3.csv")
    assert (table["runs"] == 1).all()
    assert np.isneginf(table["lo"]).all()
    assert np.isposinf(table["hi"]).all()
