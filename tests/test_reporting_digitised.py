"""Digitised values: the file, what names it, the comparison with ours, and what figures derive."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpbandits.config.digitised import read_digitised
from dpbandits.config.documents import load_yaml
from dpbandits.config.figures import check_compared_once, parse_figure
from dpbandits.papers.dp_ncb import theory
from dpbandits.reporting.digitised import (
    COMPARED,
    compare_digitised,
    count_agreement,
    is_reproduced,
    reproduced_as_drawn,
    with_agreement,
)
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.lines import check_panel_filters
from support import ROOT, refused
from synthetic_results import FOURTH, changed

HEAD = "panel,series,x,y,tolerance\n"


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
        (HEAD + "a,NCB,2,0.5,0.1\na,NCB,1,0.5,0.1\n", "line 3: x is 1; allowed: x that ascends"),
        (HEAD + "a,NCB,inf,0.5,0.1\n", "line 2.x is 'inf'; Input should be a finite number"),
        (None, "cannot be read (No such file"),
    ],
)
def test_a_wrong_file_is_one_line(text: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "dp-ncb.csv"
    if text is not None:
        path.write_text(text)
    refused(lambda: read_digitised(path), f"{path}: ", words)


FIGURES = load_yaml(FOURTH.path)["figures"]
VALUES = read_digitised(FOURTH.path.with_name("digitised.csv"))


def test_every_reference_gets_its_points() -> None:
    published = FOURTH.figures["fig1"].panels["c"].series[1].published
    assert published is not None
    assert published.points == tuple(VALUES["c", "GDP-NCB eps=0.2"])
    assert published.points[0] == (300_000, 0.4044, 0.0052)
    # Others show digitised values too: each value is compared once.
    assert [name for name, figure in FOURTH.figures.items() if figure.residuals] == ["fig1"]
    wrong = changed(FIGURES["fig1"], "panels.a.series.0.published.series", "UCB1")
    words = "panels.a.series.0.published: no digitised values are of 'UCB1' of panel 'a'; allowed:"
    refused(lambda: parse_figure("fig1", wrong, VALUES), words, "AdaP-UCB of a")
    refused(lambda: parse_figure("fig1", FIGURES["fig1"], {}), "allowed: none")


def test_every_curve_of_the_file_is_drawn_and_compared_once() -> None:
    twice = changed(FIGURES["fig1"], "panels.a.series.0.published.series", "GDP-NCB")
    plain = changed(FIGURES["fig1"], "residuals", None)
    idle = changed(FIGURES["extra-anytime"], "residuals", True)
    for entries, words in (
        ({}, "'AdaP-UCB' of panel 'a' of the digitised values is drawn nowhere"),
        ({"fig1": twice}, "'AdaP-UCB' of panel 'a' of the digitised values is drawn nowhere"),
        ({"fig1": plain}, "'AdaP-UCB' of panel 'a' of the digitised values is compared nowhere"),
        ({"fig1": FIGURES["fig1"], "fig2": FIGURES["fig1"]}, "compared in fig1, fig2, more than"),
        ({"fig1": FIGURES["fig1"], "fig2": idle}, "figures.fig2.residuals is true; allowed: with"),
    ):
        figures = [parse_figure(name, entry, VALUES) for name, entry in entries.items()]
        refused(lambda figures=figures: check_compared_once(figures, VALUES), words)


@pytest.mark.slow
def test_a_digitised_value_that_the_rebuilt_line_lacks_is_refused(tmp_path: Path) -> None:
    """Between its points and beyond its end, before and after it is computed."""
    curve = ("c", "NCB")
    for place, x in ((0, VALUES[curve][0].x + 1), (len(VALUES[curve]) - 1, 20_000_000)):
        points = [*VALUES[curve]]
        points[place] = points[place]._replace(x=x)
        wrong = parse_figure("fig1", FIGURES["fig1"], {**VALUES, curve: points})
        panel, rows = wrong.panels["c"], FOURTH.frame("panels-c-to-e")
        refused(lambda panel=panel, rows=rows: check_panel_filters(panel, rows, "c"), f" is {x:g};")
        if place:
            check_panel_filters(panel, rows, "c", is_whole=False)
            compare_digitised([wrong], FOURTH.frame, {})
            words = "figures.fig1c: published x is 2e+07, beyond the end of 'NCB'"
            refused(partial(compare_digitised, [wrong], FOURTH.frame, {}, is_whole=True), words)
        else:
            draw = partial(draw_figure, wrong, FOURTH.frame, tmp_path / "out")
            refused(draw, f"published NCB: x is {x:g}; allowed: an x that is recorded")
            assert not (tmp_path / "out").exists()


def test_a_digitised_value_agrees_within_its_error_or_with_our_interval() -> None:
    """The interval counts on the side of the digitised value: 0.001 below ours, 0.002 above."""
    expected = {0.0: "agrees", 0.0049: "agrees", -0.0049: "agrees"}
    expected |= {0.0051: "agrees with our interval", 0.0061: "differs"}
    expected |= {-0.0069: "agrees with our interval", -0.0071: "differs", np.nan: "not-reached"}
    ours = 0.1 + np.array(list(expected))
    points = pd.DataFrame({"rebuilt": ours, "lo": ours - 0.001, "hi": ours + 0.002})
    points = points.assign(published=0.1, tolerance=0.005).reindex(columns=list(COMPARED))
    assert with_agreement(points)["agreement"].tolist() == list(expected.values())


def published(name: str) -> pd.DataFrame:
    folder = "figures" if name == "digitised" else "tables"
    return pd.read_csv(ROOT / f"docs/{folder}/dp-ncb/{name}.csv", keep_default_na=False)


def test_values_agree_and_are_counted_as_is_published() -> None:
    values = published("digitised")
    assert with_agreement(values)["agreement"].tolist() == values["agreement"].tolist()
    counted = FOURTH.paper.functions("tables")["reproduction"]({"digitised": values})
    pd.testing.assert_frame_equal(counted, published("reproduction"), rtol=1e-8)
    assert counted["values"].tolist()[-2:] == [184, 160]


def test_one_run_has_no_interval_that_excuses_a_difference() -> None:
    values = published("digitised").iloc[:2]
    far = values.assign(published=values["rebuilt"] + 2 * values["tolerance"])
    for half, word in [(1.0, "agrees with our interval"), (np.inf, "differs")]:
        found = far.assign(lo=far["rebuilt"] - half, hi=far["rebuilt"] + half)
        assert with_agreement(found)["agreement"].tolist() == [word] * 2


def test_a_figure_is_reproduced_as_drawn_panel_by_panel() -> None:
    words = ["agrees"] * 38 + ["differs"] * 2
    assert is_reproduced(words), "one value in twenty may differ"
    assert not is_reproduced([*words[1:], "differs"])
    values = published("digitised")
    values["agreement"] = "agrees"
    values.loc[values.index[values["panel"] == "fig1b"][:1], "agreement"] = "differs"
    said = "as published: 39 of 40 digitised values agree"
    assert reproduced_as_drawn(values, "fig1b") == said
    whole = "all 6 panels agree with the published ones (183 of 184 digitised values)"
    assert reproduced_as_drawn(values, "fig1") == whole
    is_ncb = values["series"].str.startswith("NCB") & values["panel"].isin(["fig1d", "fig1e"])
    values.loc[is_ncb, ["series", "agreement"]] = "NCB", "differs"
    said = "not as published in NCB: 32 of 40 digitised values agree"
    assert reproduced_as_drawn(values, "fig1d") == said
    whole = "(a), (b), (c), (f) are as published, (d), (e) are not as published: "
    assert reproduced_as_drawn(values, "fig1") == f"{whole}167 of 184 digitised values agree"
    assert reproduced_as_drawn(values, "fig2") == ""
    assert reproduced_as_drawn(values[:0], "fig") == ""
    tenth = values.assign(panel=values["panel"].str.replace("fig1", "fig10"))
    assert reproduced_as_drawn(tenth, "fig1") == "", "Figure 10 is another one"
    assert reproduced_as_drawn(tenth, "fig").startswith("10(a), 10(b), ")
    # Values beyond a small scale are not counted as reached.
    values["agreement"] = ["agrees", *["not-reached"] * (len(values) - 1)]
    counts = count_agreement(values)
    assert [counts[key] for key in ("values", "reached", "agrees")] == [184, 1, 1]
    assert counts["reproduced"] == ""
    assert reproduced_as_drawn(values, "fig1b") == "not reached at this scale"


def test_the_terms_of_the_bound_are_those_of_theorem_1() -> None:
    """sqrt(k) L^1.5 / (epsilon sqrt T), in panel (c) and where it is 1."""
    panel = [(1e7, epsilon, ratio) for epsilon, ratio in ((0.2, 0.72), (0.5, 0.29), (2.0, 0.07))]
    for horizon, epsilon, ratio in [*panel, (1e6, 0.363, 1.0), (1e8, 0.0559, 1.0)]:
        assert theory.term_ratio(horizon, epsilon, 50) == pytest.approx(ratio, abs=0.005)
