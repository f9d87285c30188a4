"""Exact results beside simulations: bounds over curves, against a tag, and rows without one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits.config.figures import parse_figure, parse_table
from dpbandits.engine.cells import Series, make_cell
from dpbandits.papers import Setting, over_settings, settings_of
from dpbandits.pipeline.check import made_up_results
from dpbandits.reporting.lines import panel_lines, panel_rows, select
from dpbandits.reporting.tables import write_table
from support import refused

EASY, HARD = dpbandits.bernoulli([0.75, 0.25]), dpbandits.bernoulli([0.6, 0.5])


def series() -> list[Series]:
    found = []
    for name, bandit in (("easy", EASY), ("hard", HARD)):
        for horizon in (100, 400):
            cell: dict[str, Any] = {"bandit": bandit, "horizon": horizon, "grid": [10, horizon]}
            tags: dict[str, Any] = {"instance": name, "horizon": horizon}
            plain = make_cell(algorithm="ucb1", **cell)
            found.append(Series(f"ucb1, {name}, {horizon}", tags, plain, range(2)))
            for epsilon in (0.1, 1.0):
                private = make_cell(algorithm="dp-se", parameters={"epsilon": epsilon}, **cell)
                label = f"dp-se, {name}, {horizon}, {epsilon}"
                found.append(Series(label, {**tags, "epsilon": epsilon}, private, range(2)))
    return found


def bound(setting: Setting) -> Any:
    """Of algorithms that are not private; with the arms, rounds and scale of the config."""
    if "epsilon" in setting.tags:
        return None
    means = setting.bandit.means
    return np.log(setting.times) / (means.max() - means.min())


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    played = series()
    exact = over_settings(bound, settings_of(played), "analytic result bound")
    return {"curves": made_up_results(played), "bound": exact}


def lines_of(frames: dict[str, pd.DataFrame], **entry: Any) -> dict[str, pd.DataFrame]:
    texts = {"title": "A bound", "message": "A bound.", "caption": "A bound."}
    axes = {"y": {"label": "y"}, "metric": "pseudo_regret", "reads": "curves"}
    figure = parse_figure("fig1", {**texts, **axes, **entry})
    panel = figure.panels[""]
    assert figure.reads == ["curves", "bound"]
    rows = panel_rows(panel, frames.__getitem__, {}, "figures.fig1")
    return {line.name: line.points for line in panel_lines(panel, rows, "figures.fig1")}


def test_a_bound_is_a_line_over_curves(frames: dict[str, pd.DataFrame]) -> None:
    found = lines_of(
        frames,
        kind="curve",
        x={"label": "t"},
        where={"instance": "hard", "horizon": 400},
        series=[
            {"name": "DP-SE", "where": {"algorithm": "dp-se", "epsilon": [0.1, None]}},
            {"name": "UCB1", "where": {"epsilon": None}},
            {"name": "bound", "exact": "bound", "line": "dashed", "marker": "none"},
        ],
    )
    assert set(found) == {"DP-SE", "UCB1", "bound"}
    np.testing.assert_allclose(found["bound"]["y"], np.log([10, 400]) / 0.1)
    assert found["bound"]["x"].tolist() == [10, 400]
    assert (found["bound"]["runs"] == 0).all()
    assert (found["bound"]["lo"] == found["bound"]["hi"]).all()


def test_a_bound_is_a_line_against_a_tag(frames: dict[str, pd.DataFrame]) -> None:
    found = lines_of(
        frames,
        kind="final",
        x={"label": "T", "tag": "horizon"},
        where={"instance": "easy"},
        series=[
            {"name": "UCB1", "where": {"algorithm": "ucb1"}},
            {"name": "bound", "exact": "bound"},
        ],
    )
    assert found["bound"]["x"].tolist() == [100, 400]
    np.testing.assert_allclose(found["bound"]["y"], np.log([100, 400]) / 0.5)


def test_what_is_no_bound_is_refused(frames: dict[str, pd.DataFrame]) -> None:
    settings = settings_of(series())
    assert len(settings) == 12
    refused(lambda: over_settings(lambda setting: [1.0], settings, "x"), "x has shape (1,) for ")
    refused(lambda: over_settings(lambda setting: None, settings, "x"), "x is None for every")
    entry = {"kind": "curve", "x": {"label": "t"}, "series": [{"name": "b", "exact": "bound"}]}
    refused(lambda: lines_of(frames, **entry), "one line would join 4 series")
    by_epsilon = entry | {"kind": "final", "x": {"label": "epsilon", "tag": "epsilon"}}
    refused(lambda: lines_of(frames, **by_epsilon), "no column 'epsilon'")


def test_a_bound_without_the_tag_is_a_level_line(frames: dict[str, pd.DataFrame]) -> None:
    found = lines_of(
        frames,
        kind="final",
        x={"label": "epsilon", "tag": "epsilon"},
        where={"instance": "easy", "horizon": 400},
        series=[
            {"name": "DP-SE", "where": {"algorithm": "dp-se"}},
            {"name": "bound", "exact": "bound", "level": True},
        ],
    )
    assert found["bound"]["x"].tolist() == [0.1, 1.0]
    np.testing.assert_allclose(found["bound"]["y"], np.log(400) / 0.5)


def test_none_stands_for_no_value(frames: dict[str, pd.DataFrame]) -> None:
    rows = frames["curves"]
    assert set(select(rows, {"epsilon": None}, "x")["algorithm"]) == {"ucb1"}
    assert set(select(rows, {"epsilon": [1.0, None]}, "x")["epsilon"].dropna()) == {1.0}
    assert len(select(rows, {"no_such_tag": None}, "x")) == len(rows)
    refused(lambda: select(rows, {"algorithm": None}, "x"), "no row has algorithm None")


def test_a_table_has_algorithms_with_and_without_epsilon(
    frames: dict[str, pd.DataFrame], tmp_path: Any
) -> None:
    """By epsilon, where what has none is the same in each row; and by algorithm."""
    where = {"instance": "easy", "horizon": 400}
    shown = {"caption": "Regret.", "reads": "curves", "metric": "pseudo_regret", "where": where}

    def column(name: str, **chosen: Any) -> dict[str, Any]:
        return {"name": name, "label": name, "column": "y", "where": chosen, "text": "{y:.3g}"}

    tables = {
        "by-epsilon": {
            "rows": {"name": "epsilon", "label": "eps", "column": "epsilon", "text": "{epsilon}"},
            "columns": [column("dp-se", algorithm="dp-se"), column("ucb1", algorithm="ucb1")],
        },
        "by-algorithm": {
            "rows": {"name": "a", "label": "a", "column": "algorithm", "text": "{algorithm}"},
            "columns": [column("low", epsilon=[0.1, None]), column("high", epsilon=[1.0, None])],
        },
    }
    for name, entry in tables.items():
        write_table(parse_table(name, {**shown, **entry}), name, frames.__getitem__, tmp_path)
    table = pd.read_csv(tmp_path / "by-epsilon.csv")
    assert table["epsilon"].tolist() == [0.1, 1.0]
    assert table["ucb1"].nunique() == 1
    table = pd.read_csv(tmp_path / "by-algorithm.csv").set_index("a")
    assert table.loc["ucb1", "low"] == table.loc["ucb1", "high"]
    assert table.loc["dp-se", "low"] != table.loc["dp-se", "high"]
