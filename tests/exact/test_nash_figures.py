"""Figures of kind ``nash`` and digitised values: numbers, intervals, marks, agreement, errors."""

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpbandits
from dpbandits.engine.results import results_frame
from dpbandits.reporting.digitised import COMPARED, agreement, allowance, compare_digitised
from dpbandits.reporting.draw import draw_figure, draw_panels
from dpbandits.reporting.lines import Line, nash_quantities, nash_regrets, panel_lines, read_rows
from dpbandits.reporting.spec import has_published, parse_figure
from support import refused
from synthetic_results import FOURTH, Drawn, read_csv

PAPER = "dp-ncb"
FIGURES = FOURTH.figures
ADAP = "adap-ucb epsilon=0.2 variant=as-coded"
THREE = ("fig1", "fig1-as-written", "fig1-repaired")


def rows_of(values: dict[str, list[list[float]]], times: list[int], runs: int) -> pd.DataFrame:
    """Return quantities in the long form of the results, curve by curve."""
    records = [
        {"series": "s", "run": runs * curve, "trials": runs, "metric": name, "t": t, "value": value}
        for name, curves in values.items()
        for curve, own in enumerate(curves)
        for t, value in zip(times, own, strict=True)
    ]
    return pd.DataFrame(records)


def made_up(curves: list[list[float]], best: float = 0.9) -> dict[str, list[list[float]]]:
    """Return all quantities for curves of these log means: error 0.02, bias 0.01."""
    same = dict.fromkeys(nash_quantities("nash_regret"), curves)
    flat = {"nash_standard_error": 0.02, "nash_bias": 0.01, "best_mean": best}
    filled = {name: [[value] * len(own) for own in curves] for name, value in flat.items()}
    return same | filled | {"binned_log_mean": [[each + 0.03 for each in own] for own in curves]}


def test_nash_regret_of_one_curve_has_the_interval_of_the_jackknife() -> None:
    """dp-ncb, Equation 2: NR = mu* - G; a standard error s of log G is G s of G.

    The bias of log G, 0.01, is subtracted unless the plain average is asked for.
    """
    rows = rows_of(made_up([[-0.5, -0.25]]), [10, 20], runs=5)
    plain, table = nash_regrets(rows, "plain"), nash_regrets(rows)
    assert table["x"].tolist() == [10, 20]
    assert table["runs"].tolist() == [5, 5]
    np.testing.assert_allclose(plain["y"], 0.9 - np.exp([-0.5, -0.25]), rtol=1e-14)
    np.testing.assert_allclose(table["y"], 0.9 - np.exp([-0.49, -0.24]), rtol=1e-14)
    half = stats.t.ppf(0.975, 4) * 0.02 * np.exp([-0.5, -0.25])
    np.testing.assert_allclose(table["hi"] - table["y"], half, rtol=1e-12)
    np.testing.assert_allclose(table["y"] - table["lo"], half, rtol=1e-12)


def test_another_best_mean_shifts_the_curve_by_the_difference() -> None:
    """D17: mu* = 1 in place of 0.9 adds 0.1 everywhere."""
    rows = rows_of(made_up([[-0.5, -0.25]]), [10, 20], runs=5)
    own, other = nash_regrets(rows), nash_regrets(rows, best=1.0)
    for column in ("y", "lo", "hi"):
        np.testing.assert_allclose(other[column], own[column] + 0.1, rtol=1e-13)


def test_the_estimates_are_corrected_by_the_bias_or_taken_from_bins() -> None:
    rows = rows_of(made_up([[-0.5]]), [10], runs=5)
    assert nash_regrets(rows, "plain")["y"][0] == pytest.approx(0.9 - math.exp(-0.5))
    assert nash_regrets(rows, "corrected")["y"][0] == pytest.approx(0.9 - math.exp(-0.49))
    assert nash_regrets(rows, "binned")["y"][0] == pytest.approx(0.9 - math.exp(-0.47))


def test_of_several_curves_the_mean_of_their_regrets_has_a_t_interval() -> None:
    """Panel (a): a value is the mean of ten curves (D21), not the regret of a mean."""
    logs = [[-0.5], [-0.4], [-0.1]]
    table = nash_regrets(rows_of(made_up(logs), [7], runs=50))
    regrets = 0.9 - np.exp(np.array(logs)[:, 0] + 0.01)
    assert table["runs"].tolist() == [150]
    assert table["y"][0] == pytest.approx(regrets.mean(), rel=1e-14)
    half = stats.t.ppf(0.975, 2) * regrets.std(ddof=1) / math.sqrt(3)
    assert table["hi"][0] - table["y"][0] == pytest.approx(half, rel=1e-12)


def test_a_curve_is_that_of_the_library() -> None:
    """The same cell through ``simulate`` and through the rows of the results."""
    plan = FOURTH.plan("one-million", {"runs": 4, "horizon": 500})
    [series] = [each for each in plan.series() if each.label == ADAP]
    cell = series.cell
    [work] = series.works
    frame = results_frame([series], [work.play(root_seed=3)])
    rows = frame[frame["metric"].isin(nash_quantities("nash_regret"))]
    table = nash_regrets(rows)
    found = dpbandits.simulate(
        algorithm="adap-ucb",
        params={"epsilon": 0.2},
        variant="as-coded",
        bandit=cell.bandit,
        horizon=500,
        runs=4,
        seed=3,
    ).nash_regret(at=list(cell.grid))
    np.testing.assert_allclose(table["y"], found.nash_regret, rtol=1e-12)
    low, high = found.interval()
    np.testing.assert_allclose(table["lo"], low, rtol=1e-9)
    np.testing.assert_allclose(table["hi"], high, rtol=1e-9)


def lines_of(name: str, letter: str) -> list[Line]:
    panel = parse_figure(name, FIGURES[name]).panels[letter]
    return panel_lines(panel, read_rows(panel.reads, FOURTH.frame, "reads"), "panel")


# The series of each panel; AdaP-UCB by Equation 2 is not in the published one.
TRUE = "AdaP-UCB, by Equation 2 (best mean 0.970)"
SERIES = {
    "a": ["AdaP-UCB", "GDP-NCB"],
    "b": [
        *("NCB", "AdaP-UCB, scored against 1", TRUE, "LDP-UCB-L (LDP-UCB in the paper)"),
        *("GDP-NCB", "LDP-NCB"),
    ],
    "c": ["NCB", *(f"GDP-NCB, epsilon={each}" for each in ("0.2", "0.5", "1", "2"))],
    "d": ["NCB", *(f"LDP-NCB, epsilon={each}" for each in ("0.2", "0.5", "1", "2"))],
    "e": ["NCB", "GDP-NCB", "LDP-NCB"],
    "f": ["NCB", "GDP-NCB", "LDP-NCB"],
}


@pytest.mark.parametrize("letter", SERIES)
def test_every_series_of_the_published_figure_is_drawn_with_its_digitised_values(
    letter: str, drawn: Drawn
) -> None:
    table = read_csv(drawn, "fig1", f"fig1{letter}", PAPER)
    names = list(dict.fromkeys(table["series"]))
    expected = SERIES[letter]
    published = [name for name in expected if name != TRUE]
    marks = [f"published {name}" for name in published]
    assert names == expected + marks + [f"ours minus published {name}" for name in published]
    for variant in ("published", "residual"):
        own = table[table["variant"] == variant]
        assert own.groupby("series").size().tolist() == [8] * len(published)
    # Contract 1: a curve has every x of its digitised values.
    for name in published:
        times = set(table.loc[table["series"] == name, "x"])
        assert set(table.loc[table["series"] == f"published {name}", "x"]) <= times


def test_panel_b_as_published_holds_adap_ucb_against_1_and_nothing_else(drawn: Drawn) -> None:
    """D17: mu* = 1 adds 1 - 0.97006 = 0.02994; made-up curves of all else stand below mu*."""
    coded = read_csv(drawn, "fig1", "fig1b", PAPER).set_index("series")
    rows = FOURTH.frame("panel-b")
    own = rows[(rows["algorithm"] == "adap-ucb") & (rows["variant"] == "as-coded")]
    true = nash_regrets(own[own["metric"].isin(nash_quantities("nash_regret"))], "plain")
    shifted = coded.loc["AdaP-UCB, scored against 1", "y"].to_numpy() - true["y"].to_numpy()
    # The csv keeps ten digits.
    np.testing.assert_allclose(shifted, 0.0299397, atol=1e-7)
    np.testing.assert_allclose(coded.loc[TRUE, "y"], true["y"], rtol=1e-8)
    # What its label prints.
    assert f"{rows['value'][rows['metric'] == 'best_mean'].max():.3f}" == "0.970"


def test_panel_f_is_scored_by_nominal_means_as_published_and_by_true_ones_else(
    drawn: Drawn,
) -> None:
    """D24. The mean of uniform play is 0.44869 by nominal means (section 1.2), above it by true."""
    first = {}
    for name in THREE:
        stem = name.replace("fig1", "fig1f")
        table = read_csv(drawn, name, stem, PAPER)
        first[name] = table.loc[table["series"] == "LDP-NCB", "y"].iloc[0]
    # Made-up curves begin at uniform play, up to a relative noise of 2 %.
    assert first["fig1"] == pytest.approx(0.521, abs=0.02)
    assert first["fig1-as-written"] == pytest.approx(0.9700603 - 0.6968294, abs=0.03)


def test_marks_are_open_circles_with_one_entry_in_the_legend() -> None:
    figure = parse_figure("fig1", FIGURES["fig1"])
    axes = draw_panels(figure, {"c": lines_of("fig1", "c")}).axes[0]
    open_marks = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert len(open_marks) == 5
    assert {line.get_linestyle() for line in open_marks} == {"None"}
    colours = {line.get_color() for line in axes.lines if line not in open_marks}
    assert {line.get_color() for line in open_marks} == colours
    legend = figure_legend_texts(figure, "c")
    assert legend.count("published, digitised") == 1


def figure_legend_texts(figure: Any, letter: str) -> list[str]:
    drawn = draw_panels(figure, {letter: lines_of("fig1", letter)})
    [legend] = drawn.legends
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.slow
def test_digitised_values_beyond_a_small_scale_are_left_out(tmp_path: Path) -> None:
    """At the quick scale curves end at 1e5, before the first digitised values of (b) to (f)."""

    def small(name: str) -> pd.DataFrame:
        rows = FOURTH.frame(name)
        return rows[rows["t"] <= 500_000]

    spec = copy.deepcopy(FIGURES["fig1"])
    draw_figure(spec, "fig1", small, tmp_path)
    beyond = pd.read_csv(tmp_path / "fig1b.csv")
    assert not (beyond["variant"] == "published").any()
    within = pd.read_csv(tmp_path / "fig1c.csv")
    marks = within[within["variant"] == "published"]
    assert set(marks["x"]) == {300_000, 500_000}
    assert set(within.loc[within["variant"] == "residual", "x"]) == {300_000, 500_000}
    compared = compare_digitised({"fig1": spec}, small)
    assert set(compared.loc[compared["panel"] == "fig1b", "agreement"]) == {"not-reached"}
    assert compared.loc[compared["panel"] == "fig1b", "ours"].isna().all()
    some = compared[compared["panel"] == "fig1c"]
    assert set(some.loc[some["x"] > 500_000, "agreement"]) == {"not-reached"}
    assert set(some["series_agreement"]) == {"not-reached"}


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (0.1, "agrees"),
        (0.1 + 0.0049, "agrees"),
        (0.1 - 0.0049, "agrees"),
        (0.1 + 0.0051, "with our interval"),
        (0.1 + 0.0061, "differs"),
        (0.1 - 0.0069, "with our interval"),
        (0.1 - 0.0071, "differs"),
    ],
)
def test_a_digitised_value_agrees_within_its_error_or_with_our_interval(
    ours: float, expected: str
) -> None:
    """The interval counts on the side of the digitised value: 0.001 below ours, 0.002 above."""
    allowed = allowance(ours, ours - 0.001, ours + 0.002, 0.1, 0.005)
    assert agreement(ours - 0.1, 0.005, allowed) == expected


def test_digitised_values_are_compared_with_what_is_drawn(drawn: Drawn) -> None:
    compared = compare_digitised({"fig1": FIGURES["fig1"]}, FOURTH.frame)
    assert tuple(compared.columns) == COMPARED
    # 23 series of eight digitised values.
    assert compared.groupby("variant").size().to_dict() == {"as-coded": 184}
    for stem, own in compared.groupby("panel"):
        table = read_csv(drawn, "fig1", str(stem), PAPER).set_index(["series", "x"])
        for _, row in own.iterrows():
            point = table.loc[(row["series"], row["x"])]
            assert row["ours"] == pytest.approx(point["y"], rel=1e-9)
            assert row["lo"] == pytest.approx(point["lo"], rel=1e-8, abs=1e-9)
            assert row["difference"] == pytest.approx(row["ours"] - row["published"])
            strip = table.loc[(f"ours minus published {row['series']}", row["x"])]
            assert strip["y"] == pytest.approx(row["difference"], abs=1e-9)
            mark = table.loc[(f"published {row['series']}", row["x"])]
            assert mark["y"] == row["published"]
            for each in (strip, mark):
                assert each["hi"] - each["y"] == pytest.approx(row["tolerance"], abs=1e-9)
                assert each["y"] - each["lo"] == pytest.approx(row["tolerance"], abs=1e-9)


def test_only_figures_with_digitised_values_are_compared() -> None:
    """Others show digitised values too: each value is compared once."""
    assert [name for name in FIGURES if has_published(FIGURES[name])] == ["fig1"]


@pytest.mark.parametrize(("name", "letters"), [("fig1-as-written", ""), ("fig1-repaired", "acde")])
def test_published_marks_are_drawn_where_they_are_scored_alike(
    name: str, letters: str, drawn: Drawn
) -> None:
    """The code scores AdaP-UCB in (b) against 1, and (f) by means that the text states."""
    for letter in "abcdef":
        table = read_csv(drawn, name, name.replace("fig1", f"fig1{letter}"), PAPER)
        assert ("published" in set(table["variant"])) == (letter in letters)


Change = Callable[[dict[str, Any]], object]


def line(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec["panels"]["c"]["series"][0]
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda spec: line(spec)["published"].update(points=[[1002, 0.1, 0.1]]),
            "published NCB: x is 1002; allowed: an x at which ours is recorded",
        ),
        (lambda spec: line(spec)["where"].pop("variant"), "would join 3 series"),
    ],
)
def test_results_that_do_not_fit_are_refused_and_nothing_is_written(
    change: Change, words: str, tmp_path: Path
) -> None:
    spec = copy.deepcopy(FIGURES["fig1"])
    change(spec)
    refused(lambda: draw_figure(spec, "fig1", FOURTH.frame, tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()


def test_long_axes_are_labelled_in_millions() -> None:
    figure = parse_figure("fig1", FIGURES["fig1"])
    for letter, labels in (("b", ["0", "50M", "100M"]), ("c", ["0", "5M", "10M"])):
        drawn_figure = draw_panels(figure, {letter: lines_of("fig1", letter)})
        drawn_figure.draw_without_rendering()
        axes, _ = drawn_figure.axes
        low, high = axes.get_xlim()
        shown = [
            label.get_text()
            for label in axes.get_xticklabels()
            if low <= label.get_position()[0] <= high
        ]
        assert shown == labels
