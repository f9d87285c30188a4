"""Digitised values: the file, what names it, the comparison with ours, and what figures derive."""

import copy
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpbandits.config.documents import load_yaml
from dpbandits.errors import InputError
from dpbandits.papers.dp_ncb import derived, theory
from dpbandits.reporting.digitised import (
    COMPARED,
    compare_digitised,
    count_agreement,
    digitised_path,
    is_reproduced,
    read_digitised,
    reproduced_as_drawn,
    with_agreement,
    with_digitised,
)
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.spec import has_published
from support import refused
from synthetic_results import FOURTH, changed

VALUES = read_digitised(digitised_path(FOURTH.path))
HEAD = "panel,series,x,y,tolerance\n"


def test_ours_is_recorded_at_each_of_184_digitised_values() -> None:
    """Eight of each of 23 curves, so that nothing is interpolated."""
    assert Counter(panel for panel, _ in VALUES) == {
        **dict.fromkeys("bcd", 5),
        "a": 2,
        "e": 3,
        "f": 3,
    }
    simulations = {"b": "panel-b", "c": "panels-c-to-e", "f": "panel-f"}
    recorded = {
        name: set(FOURTH.plan(of).series()[0].cell.grid) for name, of in simulations.items()
    }
    recorded["a"] = {series.cell.horizon for series in FOURTH.plan("panel-a").series()}
    for (panel, series), points in VALUES.items():
        assert len(points) == 8
        times = recorded[panel.translate({ord("d"): "c", ord("e"): "c"})]
        assert {int(x) for x, _, _ in points} <= times, (panel, series)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1 is []; allowed: panel,series,x,y,tolerance"),
        ("panel,x\n", "line 1 is"),
        (HEAD, "has no values; allowed"),
        (HEAD + "a,NCB,1,2\n", "line 2 is ['a', 'NCB', '1', '2']; allowed: 5 fields"),
        (HEAD + "a,NCB,1,2,\n", "line 2.tolerance is ''; Input should be a valid number"),
        (HEAD + "a,,1,2,3\n", "line 2.series is ''; String should"),
        (HEAD + "a,NCB,1,0.5,0.1\na,NCB,2,high,0.1\n", "line 3.y is 'high'; Input should be a"),
        (HEAD + "a,NCB,1,0.5,-0.1\n", "line 2.tolerance is '-0.1'; Input should be greater than"),
        (HEAD + "a,NCB,inf,0.5,0.1\n", "line 2.x is 'inf'; Input should be a finite number"),
        (None, "cannot be read (No such file"),
    ],
)
def test_a_wrong_file_is_one_line(text: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "dp-ncb.csv"
    if text is not None:
        path.write_text(text)
    refused(lambda: read_digitised(path), f"{path}: ", words)


def test_every_reference_gets_its_points_and_the_document_stays_as_it_is(tmp_path: Path) -> None:
    figures = load_yaml(FOURTH.path)["figures"]
    before = copy.deepcopy(figures)
    filled = with_digitised(figures, FOURTH.path)
    assert figures == before
    points = filled["fig1"]["panels"]["c"]["series"][1]["published"]["points"]
    assert points == VALUES["c", "GDP-NCB eps=0.2"]
    assert points[0] == [300_000, 0.4044, 0.0052]
    # Others show digitised values too: each value is compared once.
    assert [name for name in filled if has_published(filled[name])] == ["fig1"]
    wrong = {"UCB1": "no series 'UCB1' of panel 'a'; allowed: AdaP-UCB of a"}
    wrong["GDP-NCB"] = "'AdaP-UCB' of panel 'a' is drawn nowhere; allowed"
    # Of this figure alone: the same line stands in the twin and in fig1-repaired.
    for series, words in wrong.items():
        other = changed(before["fig1"], "panels.a.series.0.published.series", series)
        with pytest.raises(InputError, match=re.escape(words)):
            with_digitised({"fig1": other}, FOURTH.path)
    without: dict[str, Any] = {"fig1": {"series": [{"published": None}]}}
    assert with_digitised(without, tmp_path / "experiments.yaml") == without, "needs no file"


def test_a_digitised_value_agrees_within_its_error_or_with_our_interval() -> None:
    """The interval counts on the side of the digitised value: 0.001 below ours, 0.002 above."""
    expected = {0.0: "agrees", 0.0049: "agrees", -0.0049: "agrees"}
    expected |= {0.0051: "with our interval", 0.0061: "differs"}
    expected |= {-0.0069: "with our interval", -0.0071: "differs", np.nan: "not-reached"}
    ours = 0.1 + np.array(list(expected))
    points = pd.DataFrame({"rebuilt": ours, "lo": ours - 0.001, "hi": ours + 0.002})
    points = points.assign(published=0.1, tolerance=0.005).reindex(columns=list(COMPARED))
    assert with_agreement(points)["agreement"].tolist() == list(expected.values())


RUNS = np.array([[1.0, 2.0, 4.0], [1.1, 2.4, 4.2], [1.2, 2.2, 4.7]])
POINTS = [[10, 1.12, 0.05], [20, 2.3, 0.05], [30, 9.0, 0.05], [40, 5.0, 0.05]]
BY_HAND = {
    **{"title": "By hand", "message": "Drawn by hand.", "caption": "By hand."},
    **{"kind": "curve", "reads": "by-hand", "metric": "pseudo_regret", "residuals": True},
    **{"x": {"label": "t"}, "y": {"label": "Regret"}},
    "series": [{"name": "UCB", "published": {"panel": "a", "series": "U", "points": POINTS}}],
}


def test_digitised_values_are_compared_with_what_is_drawn(tmp_path: Path) -> None:
    """Three runs at three times; the fourth digitised value lies beyond our horizon."""
    rows = [
        {"series": "s", "run": run, "metric": "pseudo_regret", "t": t, "value": value}
        for run, values in enumerate(RUNS)
        for t, value in zip((10, 20, 30), values, strict=True)
    ]
    frame = pd.DataFrame(rows)
    found = compare_digitised({"fig1": BY_HAND}, lambda _: frame)
    x, published, tolerance = np.array(POINTS).T
    half = stats.t.ppf(0.975, 2) * RUNS.std(axis=0, ddof=1) / np.sqrt(3)
    ours = np.append(RUNS.mean(axis=0), np.nan)
    half = np.append(half, np.nan)
    expected = {"x": x, "published": published, "tolerance": tolerance, "rebuilt": ours}
    expected |= {"lo": ours - half, "hi": ours + half, "allowance": tolerance + half}
    expected |= {"difference": ours - published}
    for column, values in expected.items():
        np.testing.assert_allclose(found[column], values, rtol=1e-12)
    assert [*found["agreement"]] == ["agrees", "with our interval", "differs", "not-reached"]
    draw_figure(BY_HAND, "fig1", lambda _: frame, tmp_path)
    drawn = pd.read_csv(tmp_path / "fig1.csv", keep_default_na=False)
    for variant, y in (("published", published), ("residual", ours - published)):
        shown = drawn[drawn["variant"] == variant]
        assert shown["x"].tolist() == [10, 20, 30]
        expected = {"y": y[:3], "lo": y[:3] - 0.05, "hi": y[:3] + 0.05}
        for column, values in expected.items():
            np.testing.assert_allclose(shown[column], values, rtol=1e-8)


def moved(shift: dict[str, float]) -> pd.DataFrame:
    """Compare the digitised curves with some of them moved by so many digitisation errors.

    An interval of ours is half as wide as these errors.
    """
    columns = ["panel", "series", "x", "published", "tolerance"]
    rows = [(f"fig1{key[0]}", key[1], *point) for key in VALUES for point in VALUES[key]]
    values = pd.DataFrame(rows, columns=columns).assign(variant="", interpretation="")
    error = values["tolerance"]
    ours = values["published"] + values["panel"].str[-1].map(shift).fillna(0.0) * error
    return with_agreement(values.assign(rebuilt=ours, lo=ours - error / 2, hi=ours + error / 2))


def test_values_are_counted_within_the_error_and_with_our_interval() -> None:
    for errors, agrees, within in [(0.0, 40, 40), (-1.0, 40, 40), (1.4, 0, 40), (-1.6, 0, 0)]:
        values = moved({"d": errors}).query("panel == 'fig1d'")
        # Published minus ours.
        above = pytest.approx(-errors * values["tolerance"].mean(), abs=1e-12)
        expected = {"values": 40, "agrees": agrees, "within_interval": within, "above": above}
        expected |= {"differs": 40 - within, "reproduced": "yes" if within else "no", "sharp": 0}
        counts = count_agreement(values)
        assert {key: counts[key] for key in expected} == expected


def test_a_figure_is_reproduced_as_drawn_panel_by_panel() -> None:
    words = ["agrees"] * 38 + ["differs"] * 2
    assert is_reproduced(words), "one value in twenty may differ"
    assert not is_reproduced([*words[1:], "differs"])
    values = moved({"e": 3.0})
    assert reproduced_as_drawn(values, "fig1b") == "yes: 40 of 40 digitised values"
    assert reproduced_as_drawn(values, "fig1").startswith("yes (a), (b), (c), (d), (f); no (e)")
    assert reproduced_as_drawn(values, "fig1").endswith("160 of 184 digitised values")
    assert "no numbers" in reproduced_as_drawn(values, "fig2")
    assert "no numbers" in reproduced_as_drawn(None, "fig1")
    values = moved({})
    ncb = (values["panel"] == "fig1e") & (values["series"] == "NCB")
    values.loc[ncb, "agreement"] = "differs"
    assert reproduced_as_drawn(values, "fig1e") == "no (not NCB): 16 of 24 digitised values"
    # Values beyond a small scale are not counted as reached.
    beyond = values["panel"] == "fig1b"
    values.loc[beyond, "agreement"] = "not-reached"
    values.loc[beyond, ["rebuilt", "lo", "hi", "difference", "allowance"]] = np.nan
    counts = count_agreement(values[beyond])
    assert [counts[key] for key in ("values", "reached", "agrees")] == [40, 0, 0]
    assert counts["reproduced"] == ""
    assert reproduced_as_drawn(values, "fig1b") == "not reached at this scale"


# What figures of dp-ncb derive


def test_the_terms_of_the_bound_are_those_of_theorem_1() -> None:
    """sqrt(k) L^1.5 / (epsilon sqrt T), in panel (c) and where it is 1."""
    panel = [(1e7, epsilon, ratio) for epsilon, ratio in ((0.2, 0.72), (0.5, 0.29), (2.0, 0.07))]
    for horizon, epsilon, ratio in [*panel, (1e6, 0.363, 1.0), (1e8, 0.0559, 1.0)]:
        assert theory.term_ratio(horizon, epsilon, 50) == pytest.approx(ratio, abs=0.005)


def test_fitted_slopes_are_those_of_least_squares() -> None:
    table = derived.slopes(FOURTH.frame)
    fits = table[table["part"] == "fit"].groupby(["variant", "algorithm"])
    for (variant, algorithm), fit in fits:
        curve = table[(table["part"] == "curve") & (table["variant"] == variant)]
        curve = curve[curve["algorithm"] == algorithm].set_index("x")["y"]
        times = [curve.index[np.abs(curve.index - s * 1e7).argmin()] for s in derived.SHARES]
        slope, level = np.polyfit(np.log(derived.SHARES), np.log(curve[times]), 1)
        assert fit["slope"].iloc[0] == pytest.approx(slope, rel=1e-6)
        assert fit["x"].tolist() == [1e6, 1e7]
        assert fit["y"].iloc[1] == pytest.approx(np.exp(level), rel=1e-6)
        assert fit["slope_lo"].iloc[0] < fit["slope"].iloc[0] < fit["slope_hi"].iloc[0]
