"""What makes an experiments file short: like, instances under for, numbers of captions, tables."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from dpbandits.pipeline.project import Project
from dpbandits.pipeline.study import DEFAULT_TABLES, PaperFile, Study, in_words
from support import message_of

ROOT = Path(__file__).resolve().parents[2]

CELLS = [{"algorithm": "ucb1"}]
FILE: dict[str, Any] = {
    "paper": "made-up",
    "quick": {"runs": 5, "horizon": 1000},
    "instances": {
        "two-arms": {"law": "bernoulli", "means": [0.7, 0.5]},
        "three-arms": {"law": "bernoulli", "means": [0.9, 0.5, 0.1]},
    },
    "simulations": {
        "curves": {
            "instance": "two-arms",
            "horizon": 3000,
            "runs": {"first": 0, "count": 20},
            "metrics": ["pseudo_regret"],
            "grid": {"points": 30},
            "cells": CELLS,
        },
        "verdicts": {"like": "curves", "runs": {"first": 1000, "count": 400}},
        "longer": {"like": "verdicts", "horizon": 5000},
    },
    "figures": {
        "fig1": {
            "caption": "T = {horizon}, means over\n {runs} runs.",
            "kind": "curve",
            "reads": ["curves"],
            "metric": "pseudo_regret",
            "x": {"label": "t"},
            "y": {"label": "regret"},
            "series": [{"name": "UCB1"}],
        }
    },
}

Change = Callable[[dict[str, Any]], object]


ABOUT = PaperFile.model_validate(
    {"title": "Made up", "authors": [{"family": "Nobody"}], "year": 2026}
)


def made(folder: Path, change: Change = lambda file: None, scale: str = "paper") -> Study:
    """Return the experiments above, changed."""
    file = copy.deepcopy(FILE)
    change(file)
    path = folder / "experiments.yaml"
    path.write_text(yaml.safe_dump(file, sort_keys=False))
    return Study.load("made-up", path, scale, ABOUT)


def spelled_out(file: dict[str, Any]) -> None:
    """Give every key of the simulations that are like another."""
    curves = file["simulations"]["curves"]
    verdicts = {**curves, "runs": {"first": 1000, "count": 400}}
    longer = {**verdicts, "horizon": 5000}
    file["simulations"] = {"curves": curves, "verdicts": verdicts, "longer": longer}


def test_like_another_simulation_is_as_if_spelled_out(tmp_path: Path) -> None:
    short, long = made(tmp_path), made(tmp_path, spelled_out)
    for name in FILE["simulations"]:
        assert short.simulation(name).series() == long.simulation(name).series()
        assert short.results_fingerprint(name, 1) == long.results_fingerprint(name, 1)
    assert (short.simulation("longer").horizon, short.simulation("longer").runs) == (5000, 400)


def like(**names: Any) -> Change:
    """Let simulations be like others."""
    return lambda file: [
        file["simulations"][name].update(like=other) for name, other in names.items()
    ]


def test_each_mistake_in_like_is_one_line(tmp_path: Path) -> None:
    cases: list[tuple[Change, str]] = [
        (like(verdicts="curve"), "verdicts.like is 'curve'; allowed: curves, longer"),
        (like(verdicts=["curves"]), "verdicts.like is ['curves']; allowed: curves, longer"),
        (like(curves="curves"), "curves.like is 'curves'; allowed: a simulation that is not like"),
        (like(curves="longer"), "like is 'curves'; allowed: a simulation that is not like"),
        (
            lambda file: file["simulations"]["curves"].pop("grid"),
            "simulations.curves: key grid is missing",
        ),
    ]
    for change, line in cases:
        message = message_of(partial(made, tmp_path, change))
        assert line in message
        assert message.startswith(f"{tmp_path / 'experiments.yaml'}: ")
        assert "\n" not in message


def instances(*names: Any, **changes: Any) -> Change:
    """Let the cells of the curves name instances."""

    def change(file: dict[str, Any]) -> None:
        curves = file["simulations"]["curves"]
        curves["cells"] = [{"algorithm": "ucb1", "for": {"instance": [*names]}}]
        curves |= changes
        if changes.get("instance", "") is None:
            del curves["instance"]

    return change


def test_instances_under_for_make_a_series_each(tmp_path: Path) -> None:
    both = made(tmp_path, instances("two-arms", "three-arms", instance=None))
    series = both.simulation("curves").series()
    assert [(each.tags["instance"], len(each.cell.bandit.arms)) for each in series] == [
        ("two-arms", 2),
        ("three-arms", 3),
    ]
    (alone,) = made(tmp_path).simulation("curves").series()
    assert series[0].cell == alone.cell


def test_results_depend_on_the_instances_under_for(tmp_path: Path) -> None:
    def fingerprint(change: Change) -> str:
        return made(tmp_path, change).results_fingerprint("curves", 1)

    def another(file: dict[str, Any]) -> None:
        instances("two-arms", "three-arms")(file)
        file["instances"]["three-arms"]["means"] = [0.9, 0.5, 0.2]

    def unused(file: dict[str, Any]) -> None:
        instances("two-arms", "three-arms")(file)
        file["instances"]["another"] = {"law": "bernoulli", "means": [0.9, 0.8]}

    before = fingerprint(instances("two-arms", "three-arms"))
    assert fingerprint(another) != before
    assert fingerprint(unused) == before


def test_an_unknown_or_missing_instance_is_one_line(tmp_path: Path) -> None:
    unknown = made(tmp_path, instances("two-arms", "four-arms"))
    line = message_of(lambda: unknown.simulations)
    assert "simulations.curves.cells.0: instance is 'four-arms'; allowed: two-arms, three-a" in line

    def missing(file: dict[str, Any]) -> None:
        instances("two-arms", instance=None)(file)
        file["simulations"]["curves"]["cells"] += CELLS

    assert "simulations.curves: key instance is missing" in message_of(
        lambda: made(tmp_path, missing)
    )


def caption(text: str, *reads: str) -> Change:
    return lambda file: file["figures"]["fig1"].update(caption=text, reads=[*reads] or ["curves"])


def test_captions_have_the_numbers_of_what_is_read(tmp_path: Path) -> None:
    def shown(change: Change = lambda file: None, scale: str = "paper") -> str:
        spec = made(tmp_path, change, scale).figure_entries["fig1"]
        return " ".join(spec["caption"].split())

    assert shown() == "T = 3,000, means over 20 runs."
    assert shown(scale="quick") == "T = 1,000, means over 5 runs."
    assert shown(caption("{runs} runs", "curves", "verdicts")) == "20 and 400 runs"
    assert shown(caption("T = {horizon}", "curves", "verdicts", "longer")) == "T = 3,000 and 5,000"
    assert shown(caption("No numbers.")) == "No numbers."

    def horizons(file: dict[str, Any]) -> None:
        caption("T = {horizon}")(file)
        grid = {"horizon": [100, 200, 400, 3000]}
        file["simulations"]["curves"]["cells"] = [{"algorithm": "ucb1", "for": grid}]

    assert shown(horizons) == "T = 100 to 3,000"
    assert shown(horizons, "quick") == "T = 100, 200 and 400"


def test_numbers_in_words() -> None:
    assert in_words([7]) == "7"
    assert in_words([2000, 1, 2000]) == "1 and 2,000"
    assert in_words([3, 2, 1]) == "1, 2 and 3"
    assert in_words([4, 3, 2, 10**6]) == "2 to 1,000,000"


def test_a_placeholder_that_nothing_fills_is_one_line(tmp_path: Path) -> None:
    wrong = made(tmp_path, caption("T = {T}"))
    line = message_of(lambda: wrong.figure_entries)
    assert "figures.fig1.caption has {T}; allowed: {horizon}, {runs}" in line
    assert line.startswith(str(wrong.path))

    def of_verdicts(file: dict[str, Any]) -> None:
        file["tables"] = {"claims": {"caption": "Verdicts from {runs} runs."}}

    table = made(tmp_path, of_verdicts)
    assert "tables.claims.caption has {runs}; allowed: none" in message_of(
        lambda: table.table_entries
    )


def test_every_paper_has_the_table_of_its_claims(tmp_path: Path) -> None:
    without = made(tmp_path)
    assert list(without.tables) == ["claims"]
    assert without.table_entries["claims"] == DEFAULT_TABLES["claims"]

    def stated(file: dict[str, Any]) -> None:
        file["tables"] = {"claims": {"caption": "Ours."}}

    assert made(tmp_path, stated).table_entries["claims"] == {
        **DEFAULT_TABLES["claims"],
        "caption": "Ours.",
    }
    project = Project.load(ROOT)
    assert all("claims" in project.study(name).tables for name in project.papers)
    assert "claims" not in project.study("equal-privacy").tables
