"""An algorithm of the user's own file, drawn into the papers' figures (dpbandits overlay)."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import dpbandits
from dpbandits.algorithms import REGISTRY
from dpbandits.bandits import Bandit
from dpbandits.cli import main
from dpbandits.config.looks import COLOURS
from dpbandits.metrics.intervals import rate_interval, runs_interval
from dpbandits.pipeline.jobs import build_results
from dpbandits.pipeline.overlay import UserAlgorithm, find_panels, overlay_figure
from dpbandits.pipeline.project import Project
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.palette import OWN_COLOUR, own_look
from invented import ROOT, copy_parts
from support import FIVE_ARMS, refused

EXAMPLE = str(ROOT / "examples/my_algorithm.py")
NAME = "Private explore-then-commit, epsilon=0.5, pulls=20 (yours)"
CAPS = {
    "ts-is-dp": "{runs: 4, horizon: 2000}",
    "dp-ts-ucb": "{runs: 4, horizon: 31622}",
    "dp-ncb": "{runs: 4, horizon: 20000}",
    "dp-bai": "{runs: 50, horizon: 400}",
}
"""A scale of seconds."""
Overlay = Callable[..., pd.DataFrame]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project at a very small scale, nothing built."""
    folder = copy_parts(tmp_path_factory.mktemp("project"), "config", "workflow")
    for paper, caps in CAPS.items():
        path = Project.load(folder).study(paper).path
        path.write_text(re.sub("^quick:.*$", f"quick: {caps}", path.read_text(), flags=re.M))
    return Project.load(folder).at(scale="quick")


@pytest.fixture
def overlay(project: Project, tmp_path: Path) -> Overlay:
    """Draw the user's algorithm into a figure, built before; return the user's points in a csv.

    Their markers in the figure are an attribute.
    """
    figures: list[Figure] = []

    def draw(name: str, mine: UserAlgorithm) -> pd.DataFrame:
        paper, _, stem = name.partition("/")
        for read in {read for each in find_panels(project, name) for read in each.spec.reads}:
            if not project.results_path(paper, read).is_file():
                build_results(project, paper, read, workers=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
            overlay_figure(project, name, mine, tmp_path)
        points = read_points(tmp_path / f"{stem}.csv")
        points = points[points["series"].str.contains("yours")]
        lines = [line for axes in figures[-1].axes for line in axes.lines]
        points.attrs = {
            "markers": {line.get_marker() for line in lines if line.get_color() == OWN_COLOUR}
        }
        return points

    return draw


def own(**params: Any) -> UserAlgorithm:
    return UserAlgorithm(dpbandits.load_algorithm(EXAMPLE), {"epsilon": 0.5, "pulls": 20, **params})


def simulate(project: Project, bandit: Bandit, horizon: int, **params: Any) -> Any:
    """Return the example's simulation alone, which a figure has to show."""
    mine = own(**params)
    played: dict[str, Any] = {"bandit": bandit, "horizon": horizon, "runs": 4, "seed": project.seed}
    return dpbandits.simulate(algorithm=mine.algorithm, params=mine.params, **played)


def read_points(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False)


@pytest.mark.slow
def test_a_curve_is_that_of_simulate(project: Project, overlay: Overlay, tmp_path: Path) -> None:
    """On the figure's instance and horizon, with its runs, at its recording times."""
    points = overlay("dp-ts-ucb/fig5b", own())
    assert set(points["series"]) == {NAME}
    every = read_points(tmp_path / "fig5b.csv")
    times = every[every["series"] == "DP-TS-UCB"]["x"].tolist()
    assert points["x"].tolist() == times
    arms = dpbandits.bernoulli([0.95, 0.75, 0.55, 0.35, 0.15])
    values = simulate(project, arms, 31622).curve(metric="pseudo_regret", at=times)
    # The csv has ten significant digits.
    numbers = points[["y", "lo", "hi"]].T
    np.testing.assert_allclose(numbers, [*runs_interval(values)], rtol=1e-9)
    assert set(points["runs"]) == {4}
    where: dict[str, Any] = {
        "project": project.folder,
        "scale": "quick",
        "out": tmp_path / "python",
    }
    dpbandits.overlay(own().algorithm, "dp-ts-ucb/fig5b", epsilon=0.5, pulls=20, **where)
    assert (tmp_path / "python/fig5b.csv").read_bytes() == (tmp_path / "fig5b.csv").read_bytes()


@pytest.mark.slow
def test_other_lines_stay_as_they_are(project: Project, overlay: Overlay, tmp_path: Path) -> None:
    overlay("dp-ts-ucb/fig5", own())
    spec = project.study("dp-ts-ucb").figure("fig5")
    draw_figure(spec, lambda name: project.frame("dp-ts-ucb", name), tmp_path / "before")
    for stem in ("fig5a", "fig5b", "fig5"):
        before = read_points(tmp_path / "before" / f"{stem}.csv")
        after = read_points(tmp_path / f"{stem}.csv")
        others = after[~after["series"].str.contains("yours")]
        pd.testing.assert_frame_equal(others.reset_index(drop=True), before)
        assert len(after) > len(before)
    provenance = json.loads((tmp_path / "fig5.provenance.json").read_text())
    assert provenance["algorithm"] == "private-explore-then-commit"


@pytest.mark.slow
def test_a_horizon_axis_has_a_simulation_for_each_horizon(
    overlay: Overlay, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the panel of exact values beside it stays as it is, which is said."""
    assert overlay("dp-ts-ucb/fig3", own())["x"].tolist() == [10000, 31622]
    assert NAME not in (tmp_path / "fig3b.csv").read_text()
    assert "dp-ts-ucb/fig3b: shows exact values and stays as it is" in capsys.readouterr().err


@pytest.mark.slow
def test_a_parameter_may_be_a_column_along_the_axis(project: Project, overlay: Overlay) -> None:
    """Without such a column the axis means nothing to it: the line is level."""
    unknown = "ts-is-dp/fig3: params epsilon is 'nonsense'; allowed: a number, eta, b"
    refused(lambda: overlay("ts-is-dp/fig3", own(epsilon="nonsense")), unknown)
    level = overlay("ts-is-dp/fig3", own())
    assert level["x"].tolist() == [1, 2, 5]
    assert level["y"].nunique() == 1
    points = overlay("ts-is-dp/fig3", own(epsilon="eta"))
    assert set(points["series"]) == {"Private explore-then-commit, pulls=20 (yours)"}
    at_two = simulate(project, FIVE_ARMS, 2000, epsilon=2).realised_regret.mean()
    assert points[points["x"] == 2]["y"].tolist() == pytest.approx([at_two], rel=1e-9)


@pytest.mark.slow
def test_nash_regret(project: Project, overlay: Overlay) -> None:
    points = overlay("dp-ncb/fig1b", own(epsilon=0.2))
    cell = project.study("dp-ncb").simulation("panel-b").series()[0].cell
    simulation = simulate(project, cell.bandit, 20000, epsilon=0.2)
    curve = simulation.nash_regret(at=points["x"].tolist(), bias="kept")
    np.testing.assert_allclose(points["y"], curve.nash_regret, rtol=1e-9)


@pytest.mark.slow
def test_best_arm_identification(project: Project, overlay: Overlay) -> None:
    """Of algorithms that are not ours: two of ours renamed."""
    mine = replace(REGISTRY["sequential-halving"], id="mine", name="Mine")
    points = overlay("dp-bai/fig1a", UserAlgorithm(mine, {}))
    assert points["x"].tolist() == [100, 200, 400]
    bandit = project.study("dp-bai").simulation("fig1-budget").series()[0].cell.bandit
    asked = {"algorithm": mine, "bandit": bandit, "budget": 400, "runs": 50, "seed": project.seed}
    expected = rate_interval(dpbandits.identify(**asked).success.sum(), 50)
    np.testing.assert_allclose(points[["y", "lo", "hi"]].iloc[-1].tolist(), expected, rtol=1e-9)
    # A parameter may be a column beside the axis: there is a line for each of its values then;
    # lines without that column count for none.
    private = replace(REGISTRY["dp-bai"], id="mine", name="Mine")
    points = overlay("dp-bai/fig1a", UserAlgorithm(private, {"epsilon": "epsilon"}))
    assert set(points["series"]) == {"Mine, epsilon=0.1 (yours)", "Mine, epsilon=1 (yours)"}
    assert points["x"].tolist() == [100, 200, 400] * 2
    looks = [own_look(index) for index in range(4)]
    assert {look.marker for look in looks[:2]} <= points.attrs["markers"]
    assert {look.colour for look in looks} == {OWN_COLOUR}
    assert OWN_COLOUR not in COLOURS.values()
    assert len({look.dash for look in looks}) == len({look.marker for look in looks}) == 4


@pytest.mark.slow
def test_a_line_is_in_panels_of_its_own_epsilon_alone(
    project: Project, overlay: Overlay, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or at the epsilon of the lines of each panel, by one command."""
    build_results(project, "ts-is-dp", "tuning", workers=1)
    differ = "fig8a: has epsilon 4.88; ts-is-dp/fig8b: has epsilon 35.57"
    refused(lambda: overlay("ts-is-dp/fig8", own()), differ)
    overlay("ts-is-dp/fig8", own(epsilon=4.88))
    panels = {letter: (tmp_path / f"fig8{letter}.csv").read_text() for letter in "abc"}
    assert [letter for letter, text in panels.items() if "yours" in text] == ["a"]
    assert "ts-is-dp/fig8c: has epsilon 96.71 and stays as it is" in capsys.readouterr().err
    refused(lambda: overlay("ts-is-dp/fig8", own(epsilon=3)), "fig8a: has epsilon 4.88", "epsilon=")
    overlay("ts-is-dp/fig8", own(epsilon="epsilon"))
    for letter, epsilon in {"a": "4.88", "b": "35.57", "c": "96.71"}.items():
        text = (tmp_path / f"fig8{letter}.csv").read_text()
        assert f"Private explore-then-commit, epsilon={epsilon}, pulls=20 (yours)" in text


REFUSED = {
    "fig5": "figure is 'fig5'; allowed: PAPER/FIGURE",
    "no-paper/fig5": "paper is 'no-paper'; allowed: ts-is-dp",
    "dp-ts-ucb/fig99": "dp-ts-ucb has no figure 'fig99'; allowed: fig1, fig2",
    "dp-ts-ucb/fig1": "dp-ts-ucb/fig1: is a diagram; allowed: panels of simulated regret",
    "dp-ts-ucb/fig3b": "dp-ts-ucb/fig3b: shows exact values; allowed: panels of simulated regret",
    "dp-bai/fig2": "fig2a: shows success, and private-explore-then-commit is an Algorithm; allo",
}


@pytest.mark.slow
def test_what_cannot_take_it_is_refused_in_one_line(project: Project, tmp_path: Path) -> None:
    for name, line in REFUSED.items():
        refused(partial(overlay_figure, project, name, own(), tmp_path), line)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_lines_of_different_runs_take_no_other(overlay: Overlay) -> None:
    differ = "dp-ncb/extra-bias-a: its lines come from simulations that differ in run"
    refused(lambda: overlay("dp-ncb/extra-bias", own(epsilon=0.2)), differ)


def test_the_command(
    project: Project,
    overlay: Overlay,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where Snakemake, whose version stands in the provenance, is not installed."""
    missing = {"snakemake": "no such package"}
    monkeypatch.setattr(
        "dpbandits.engine.provenance.version", lambda name: version(missing.get(name, name))
    )
    overlay("dp-ts-ucb/fig5a", own())
    words = ["overlay", EXAMPLE, "dp-ts-ucb/fig5a", "--project", str(project.folder)]
    words += ["--scale", "quick", "--params", "pulls=20"]
    assert main([*words, "epsilon=1"]) == 0
    printed = [Path(each) for each in capsys.readouterr().out.split()]
    folder = project.folder / "figures/quick/compare/dp-ts-ucb"
    assert printed == [folder / f"fig5a.{suffix}" for suffix in ("png", "pdf", "csv")]
    assert {*folder.iterdir()} == {*printed, folder / "fig5a.provenance.json"}
    provenance = json.loads((folder / "fig5a.provenance.json").read_text())
    assert "snakemake" not in provenance["versions"]
    assert provenance["versions"]["matplotlib"] == version("matplotlib")
    assert main([*words, "epsilon=-1"]) == 2
    assert "private-explore-then-commit: epsilon is -1; allowed: " in capsys.readouterr().err
