"""Digitised values: the file, what names it, how many agree; and what figures derive."""

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbandits.config.documents import load_yaml
from dpbandits.errors import InputError
from dpbandits.pages.published import published_digitised
from dpbandits.papers.dp_ncb import derived
from dpbandits.pipeline.project import TABLES, Project
from dpbandits.reporting.digitised import (
    agreement,
    allowance,
    compare_digitised,
    count_agreement,
    digitised_path,
    is_reproduced,
    read_digitised,
    reproduced_as_drawn,
    with_digitised,
)
from dpbandits.reporting.draw import draw_figure
from support import refused
from synthetic_results import FOURTH, ROOT

PATH = ROOT / "config/papers/dp-ncb/experiments.yaml"
VALUES = read_digitised(digitised_path(PATH))
HEAD = "panel,series,x,y,tolerance\n"

# Digitised curves of each panel, and the horizon of (b) to (f) over the grid's evenly spaced times.
CURVES = {"a": 2, "b": 5, "c": 5, "d": 5, "e": 3, "f": 3}
SIMULATIONS = {"b": "panel-b", "c": "panels-c-to-e", "d": "panels-c-to-e", "e": "panels-c-to-e"}


def test_the_file_has_eight_values_of_each_of_23_curves() -> None:
    panels = [panel for panel, _ in VALUES]
    assert {each: panels.count(each) for each in CURVES} == CURVES
    assert {len(points) for points in VALUES.values()} == {8}
    assert sum(map(len, VALUES.values())) == 184


def test_ours_is_recorded_at_every_digitised_x_so_that_nothing_is_interpolated() -> None:
    for (panel, series), points in VALUES.items():
        places = {int(x) for x, _, _ in points}
        if panel == "a":
            recorded = {each.cell.horizon for each in FOURTH.plan("panel-a").series()}
        else:
            plan = FOURTH.plan(SIMULATIONS.get(panel, "panel-f"))
            recorded = set(plan.series()[0].cell.grid)
        assert places <= recorded, (panel, series)


WRONG_FILES = [
    ("", r"line 1 is \[\]; allowed: panel,series,x,y,tolerance"),
    ("panel,x\n", r"line 1 is \['panel,x'\]; allowed: panel,series,x,y,tolerance"),
    (HEAD, r"has no values; allowed: one or more"),
    (HEAD + "a,NCB,1,2\n", r"line 2 is \['a', 'NCB', '1', '2'\]; allowed: 5 fields"),
    (HEAD + "a,NCB,1,2,\n", r"line 2 is .*; allowed: 5 fields"),
    (HEAD + "a,NCB,1,0.5,0.1\na,NCB,2,high,0.1\n", r"line 3: y is 'high'; allowed: a number"),
    (HEAD + "a,NCB,1,0.5,-0.1\n", r"line 2: tolerance is '-0\.1'; allowed: a number of at least 0"),
    (HEAD + "a,NCB,inf,0.5,0.1\n", r"line 2: x is 'inf'; allowed: a number of at least 0"),
    (
        HEAD + "a,NCB,2,0.5,0.1\na,NCB,2,0.5,0.1\n",
        r"x of 'NCB' of panel 'a' do not ascend; allowed: ascending",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG_FILES)
def test_a_wrong_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "dp-ncb.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_digitised(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: cannot be read \(No such file"):
        read_digitised(tmp_path / "none.csv")


def test_every_reference_gets_its_points_and_the_document_stays_as_it_is() -> None:
    figures = load_yaml(PATH)["figures"]
    before = copy.deepcopy(figures)
    filled = with_digitised(figures, PATH)
    assert figures == before
    line = filled["fig1"]["panels"]["c"]["series"][1]["published"]
    assert line["points"] == VALUES["c", "GDP-NCB eps=0.2"]
    assert line["points"][0] == [300_000, 0.4044, 0.0052]


def test_a_file_without_references_needs_no_digitised_values(tmp_path: Path) -> None:
    figures: dict[str, Any] = {"fig1": {"series": [{"published": None}]}}
    assert with_digitised(figures, tmp_path / "experiments/other.yaml") == figures


def test_an_unknown_curve_and_one_that_is_not_drawn_are_one_line() -> None:
    figures = load_yaml(PATH)["figures"]
    for published, message in (
        (
            {"panel": "a", "series": "UCB1"},
            r"no series 'UCB1' of panel 'a'; allowed: AdaP-UCB of a",
        ),
        ({"panel": "a", "series": "GDP-NCB"}, r"'AdaP-UCB' of panel 'a' is drawn nowhere; allowed"),
    ):
        # The same line stands in the twin and in fig1-repaired.
        changed = {"fig1": copy.deepcopy(figures["fig1"])}
        line = changed["fig1"]["panels"]["a"]["series"][0]
        line["published"] = {**line["published"], **published}
        with pytest.raises(InputError, match=message) as caught:
            with_digitised(changed, PATH)
        assert "\n" not in str(caught.value)


def moved(shift: dict[str, float]) -> pd.DataFrame:
    """Return the comparison of curves that are the digitised ones, but for some that are moved.

    Each is moved by so many digitisation errors; an interval of ours is half as wide as these.
    """
    rows = []
    for (panel, series), points in VALUES.items():
        for x, y, tolerance in points:
            ours = y + shift.get(panel, 0.0) * tolerance
            lo, hi = ours - tolerance / 2, ours + tolerance / 2
            allowed = allowance(ours, lo, hi, y, tolerance)
            row = {"panel": f"fig1{panel}", "series": series, "x": x, "published": y}
            row |= {"tolerance": tolerance, "allowance": allowed, "ours": ours, "lo": lo, "hi": hi}
            found = agreement(ours - y, tolerance, allowed)
            rows.append(row | {"difference": ours - y, "agreement": found})
    return pd.DataFrame(rows)


def of_panel(values: pd.DataFrame, letter: str) -> dict[str, object]:
    return count_agreement(values[values["panel"] == f"fig1{letter}"])


@pytest.mark.parametrize(
    ("errors", "agrees", "within", "reproduced"),
    [(0.0, 40, 40, "yes"), (-1.0, 40, 40, "yes"), (1.4, 0, 40, "yes"), (-1.6, 0, 0, "no")],
)
def test_values_are_counted_within_the_error_and_with_our_interval(
    errors: float, agrees: int, within: int, reproduced: str
) -> None:
    counts = of_panel(moved({"d": errors}), "d")
    assert (counts["values"], counts["agrees"], counts["within_interval"]) == (40, agrees, within)
    assert (counts["differs"], counts["reproduced"]) == (40 - within, reproduced)
    assert counts["sharp"] == 0


def test_the_mean_of_published_minus_ours_has_its_sign() -> None:
    values = moved({"d": -2.0})
    tolerances = values.loc[values["panel"] == "fig1d", "tolerance"]
    assert of_panel(values, "d")["above"] == pytest.approx(2 * tolerances.mean())


def test_one_value_in_twenty_may_differ() -> None:
    words = ["agrees"] * 38 + ["differs"] * 2
    assert is_reproduced(words)
    assert not is_reproduced([*words[1:], "differs"])


def test_values_beyond_a_small_scale_are_not_counted_as_reached() -> None:
    frame = moved({})
    beyond = frame["panel"] == "fig1b"
    frame.loc[beyond, "agreement"] = "not-reached"
    frame.loc[beyond, ["ours", "lo", "hi", "difference", "allowance"]] = np.nan
    counts = of_panel(frame, "b")
    assert [counts[key] for key in ("values", "reached", "agrees")] == [40, 0, 0]
    assert np.isnan(counts["above"])
    assert counts["reproduced"] == ""
    assert reproduced_as_drawn(frame, "fig1b") == "not reached at this scale"


def test_a_figure_is_reproduced_as_drawn_panel_by_panel() -> None:
    values = moved({"e": 3.0})
    assert reproduced_as_drawn(values, "fig1b") == "yes: 40 of 40 digitised values"
    assert reproduced_as_drawn(values, "fig1").startswith("yes (a), (b), (c), (d), (f); no (e)")
    assert reproduced_as_drawn(values, "fig1").endswith("160 of 184 digitised values")
    nothing = "the paper prints no numbers to compare with"
    assert reproduced_as_drawn(values, "fig2") == nothing
    assert reproduced_as_drawn(None, "fig1") == nothing
    values = moved({})
    ncb = (values["panel"] == "fig1e") & (values["series"] == "NCB")
    values.loc[ncb, "agreement"] = "differs"
    assert reproduced_as_drawn(values, "fig1e") == "no (not NCB): 16 of 24 digitised values"


def test_the_published_counts_are_those_of_the_published_table() -> None:
    table = published_digitised(Project.load(ROOT), "dp-ncb")
    counts = pd.read_csv(ROOT / TABLES / "dp-ncb/reproduction.csv").set_index("panel")
    assert table is not None
    for panel, values in (("all", table), ("1(b)", table[table["panel"] == "fig1b"])):
        expected = count_agreement(values)
        assert counts.loc[panel, "agrees"] == expected["agrees"]
        assert counts.loc[panel, "within_interval"] == expected["within_interval"]


def test_the_table_of_counts_names_panels_as_the_figure_does() -> None:
    compared = compare_digitised({"fig1": FOURTH.figures["fig1"]}, FOURTH.frame)
    counted = FOURTH.paper.tables["reproduction"]({"digitised": compared})
    assert counted["panel"].tolist() == [
        *(f"1({each})" for each in "abcdef"),
        *("NCB in 1(c)", "NCB in 1(d)", "NCB in 1(d) and 1(e)"),
        *("all", "all but 1(e)", "all but 1(e) and NCB in 1(d)"),
    ]
    panels = [8 * each for each in CURVES.values()]
    assert counted["values"].tolist() == [*panels, 8, 8, 16, 184, 160, 152]


def curve_of(simulation: str, t: int, **tags: Any) -> tuple[float, float]:
    """Return Nash regret at t by the recorded quantities, and with its bias subtracted."""
    rows = FOURTH.frame(simulation)
    for column, value in tags.items():
        rows = rows[rows[column] == value]
    rows = rows[(rows["t"] == t) & rows["metric"].str.startswith(("nash", "best"))]
    found = rows.drop_duplicates("metric").set_index("metric")["value"]
    plain = found["best_mean"] - np.exp(found["nash_log_mean"])
    return plain, found["best_mean"] - np.exp(found["nash_log_mean"] + found["nash_bias"])


def test_prices_of_privacy_are_ratios_with_the_bias_subtracted() -> None:
    table = derived.price_over_horizons(FOURTH.frame)
    at = table[table["part"] == "measured"].set_index(["variant", "x"])
    for variant in ("as-coded", "repaired"):
        private = curve_of("panel-b", 10**8, algorithm="gdp-ncb", variant=variant)
        plain = curve_of("panel-b", 10**8, algorithm="ncb", variant=variant)
        row = at.loc[(variant, 1e8)]
        assert row["y"] == pytest.approx(private[1] / plain[1], rel=1e-9)
        assert row["lo"] < row["y"] < row["hi"]
    assert set(at["runs"]) == {50}


def test_the_terms_of_the_bound_are_those_of_theorem_1() -> None:
    """sqrt(k) L^1.5 / (epsilon sqrt T) at T = 1e7 and the epsilons of panel (c)."""
    terms = [derived.ratio_of_terms(1e7, each) for each in (0.2, 0.5, 1.0, 2.0)]
    assert terms == pytest.approx([0.72, 0.29, 0.14, 0.07], abs=0.005)
    # At epsilon = sqrt(k / T) L^1.5 the terms are equal.
    for horizon, epsilon in ((1e6, 0.363), (1e7, 0.1447), (1e8, 0.0559)):
        assert derived.ratio_of_terms(horizon, epsilon) == pytest.approx(1.0, abs=0.002)
    over = derived.price_over_epsilon(FOURTH.frame)
    bound = over[over["part"] == "bound"].set_index("x")["y"]
    assert bound.index.tolist() == [0.2, 0.5, 1, 2, 10, 100]
    assert bound[100] == pytest.approx(derived.ratio_of_terms(1e7, 100.0))


def test_fitted_slopes_are_those_of_least_squares() -> None:
    table = derived.slopes(FOURTH.frame)
    for (variant, algorithm), own in table[table["part"] == "fit"].groupby(
        ["variant", "algorithm"]
    ):
        curve = table[(table["part"] == "curve") & (table["variant"] == variant)]
        curve = curve[curve["algorithm"] == algorithm].set_index("x")["y"]
        times = [curve.index[np.abs(curve.index - s * 1e7).argmin()] for s in derived.SHARES]
        expected = np.polyfit(np.log(derived.SHARES), np.log(curve[times]), 1)
        assert own["slope"].iloc[0] == pytest.approx(expected[0], rel=1e-6)
        assert own["x"].tolist() == [1e6, 1e7]
        assert own["y"].iloc[1] == pytest.approx(np.exp(expected[1]), rel=1e-6)
        assert own["slope_lo"].iloc[0] < own["slope"].iloc[0] < own["slope_hi"].iloc[0]


def test_regret_over_epsilon_has_a_guide_of_slope_minus_1() -> None:
    table = derived.regret_over_epsilon(FOURTH.frame)
    measured = table[(table["part"] == "measured") & (table["variant"] == "as-coded")]
    assert measured["x"].tolist() == [0.1, 0.2, 0.5, 1, 2]
    y = measured.set_index("x")["y"]
    plain, subtracted = curve_of(
        "panels-c-to-e", 10**7, algorithm="ldp-ncb", variant="as-coded", epsilon=0.2
    )
    assert y[0.2] == pytest.approx(subtracted, rel=1e-9)
    assert y[0.2] != pytest.approx(plain, rel=1e-3)
    assert measured["slope"].iloc[0] == pytest.approx(np.log(y[0.5] / y[0.2]) / np.log(2.5))
    guide = table[table["part"] == "guide"].set_index("x")["y"]
    assert guide[0.2] == y[0.2]
    assert guide[2] == pytest.approx(guide[0.2] / 10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"compute": "slope"}, "compute is 'slope'; allowed: slopes, price-"),
        (
            {"reads": "ten-million"},
            "reads is ten-million; allowed: with panels-c-to-e, which regret-over-epsilon asks for",
        ),
    ],
)
def test_a_derived_figure_names_a_function_and_what_it_reads(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    name, out = "extra-epsilon-slope", tmp_path / "out"
    spec = {**FOURTH.figures[name], **change}
    refused(lambda: draw_figure(spec, name, FOURTH.frame, out, FOURTH.paper.derived), words)
    assert not out.exists()


def test_every_function_is_named_by_a_figure() -> None:
    named = set(re.findall(r"compute: ([a-z-]+)", PATH.read_text(encoding="utf-8")))
    assert set(derived.DERIVED) | set(FOURTH.paper.tables) == named
