"""What makes an experiments file short: like, instances under for, numbers of captions, tables.

Mistakes in them are in the table of ``test_config.py``.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from dpbandits.pipeline.project import Project
from dpbandits.pipeline.study import DEFAULT_TABLES, PaperFile, Study, in_words
from invented import FOLDER, ROOT
from support import message_of

FILE: dict[str, Any] = yaml.safe_load((FOLDER / "experiments.yaml").read_text())
"""The invented paper, but for its own algorithm, and with what is asked here."""
FILE["instances"]["three-arms"] = {"law": "bernoulli", "means": [0.9, 0.5, 0.1]}
CURVES: dict[str, Any] = FILE["simulations"]["curves"] | {"cells": [{"algorithm": "ucb1"}]}
LONGER = {"like": "verdicts", "horizon": 5000}
VERDICTS = FILE["simulations"]["verdicts"]
FILE["simulations"] = {"curves": CURVES, "verdicts": VERDICTS, "longer": LONGER}
CAPTION = {"caption": "T = {horizon}, means over\n {runs} runs.", "series": [{"name": "UCB1"}]}
FILE["figures"] = {"fig1": FILE["figures"]["fig1"] | CAPTION}
ABOUT = PaperFile.model_validate(
    {"title": "Made up", "authors": [{"family": "Nobody"}], "year": 2026}
)
Change = Callable[[dict[str, Any]], object]


def made(folder: Path, change: Change = lambda file: None, scale: str = "paper") -> Study:
    """Return the experiments above, changed."""
    file = copy.deepcopy(FILE)
    change(file)
    path = folder / "experiments.yaml"
    path.write_text(yaml.safe_dump(file, sort_keys=False))
    return Study.load("made-up", path, scale, ABOUT)


def test_like_another_simulation_is_as_if_spelled_out(tmp_path: Path) -> None:
    verdicts = CURVES | {key: value for key, value in VERDICTS.items() if key != "like"}
    spelled = {"curves": CURVES, "verdicts": verdicts, "longer": verdicts | {"horizon": 5000}}
    short, long = made(tmp_path), made(tmp_path, lambda file: file.update(simulations=spelled))
    for name in spelled:
        assert short.simulation(name).series() == long.simulation(name).series()
        assert short.results_fingerprint(name, 1) == long.results_fingerprint(name, 1)
    assert (short.simulation("longer").horizon, short.simulation("longer").runs) == (5000, 400)


def instances(*names: str, **changes: Any) -> Change:
    """Let the cells of the curves name instances."""

    def change(file: dict[str, Any]) -> None:
        cells = [{"algorithm": "ucb1", "for": {"instance": [*names]}}]
        file["simulations"]["curves"] |= {"cells": cells}
        del file["simulations"]["curves"]["instance"]
        file["instances"] |= changes

    return change


def test_instances_under_for_make_a_series_each_that_results_depend_on(tmp_path: Path) -> None:
    both = made(tmp_path, instances("two-arms", "three-arms"))
    series = both.simulation("curves").series()
    assert [(each.tags["instance"], len(each.cell.bandit.arms)) for each in series] == [
        ("two-arms", 2),
        ("three-arms", 3),
    ]
    (alone,) = made(tmp_path).simulation("curves").series()
    assert series[0].cell == alone.cell
    another = {"law": "bernoulli", "means": [0.9, 0.5, 0.2]}
    before, unused, moved = (
        made(tmp_path, instances("two-arms", "three-arms", **changes)).results_fingerprint(
            "curves", 1
        )
        for changes in ({}, {"another": another}, {"three-arms": another})
    )
    assert before == unused != moved
    unknown = made(tmp_path, instances("two-arms", "four-arms"))
    line = message_of(lambda: unknown.simulations)
    assert "simulations.curves.cells.0: instance is 'four-arms'; allowed: two-arms, three-a" in line

    def missing(file: dict[str, Any]) -> None:
        instances("two-arms")(file)
        file["simulations"]["curves"]["cells"] += CURVES["cells"]

    line = message_of(lambda: made(tmp_path, missing))
    assert "simulations.curves: key instance is missing" in line


def test_captions_have_the_numbers_of_what_is_read(tmp_path: Path) -> None:
    def caption(text: str, *reads: str) -> Change:
        reads = reads or ("curves",)
        return lambda file: file["figures"]["fig1"].update(caption=text, reads=[*reads])

    def horizons(file: dict[str, Any]) -> None:
        caption("T = {horizon}")(file)
        cells = [{"algorithm": "ucb1", "for": {"horizon": [100, 200, 400, 3000]}}]
        file["simulations"]["curves"]["cells"] = cells

    for change, scale, shown in (
        (lambda file: None, "paper", "T = 3,000, means over 20 runs."),
        (lambda file: None, "quick", "T = 1,000, means over 5 runs."),
        (caption("{runs} runs", "curves", "verdicts"), "paper", "20 and 400 runs"),
        (caption("T = {horizon}", "curves", "verdicts", "longer"), "paper", "T = 3,000 and 5,000"),
        (horizons, "paper", "T = 100 to 3,000"),
        (horizons, "quick", "T = 100, 200 and 400"),
    ):
        spec = made(tmp_path, change, scale).figure_entries["fig1"]
        assert " ".join(spec["caption"].split()) == shown
    assert in_words([2000, 1, 2000]) == "1 and 2,000"
    assert in_words([3, 2, 1]) == "1, 2 and 3"
    assert in_words([4, 3, 2, 10**6]) == "2 to 1,000,000"


def test_every_paper_has_the_table_of_its_claims(tmp_path: Path) -> None:
    def stated(caption: str) -> Study:
        tables = {"claims": {"caption": caption}}
        return made(tmp_path, lambda file: file.update(tables=tables))

    without, default = made(tmp_path), DEFAULT_TABLES["claims"]
    assert without.table_entries == {"claims": default}
    assert stated("Ours.").table_entries["claims"] == {**default, "caption": "Ours."}
    wrong = stated("Verdicts from {runs} runs.")
    line = message_of(lambda: wrong.table_entries)
    assert "tables.claims.caption has {runs}; allowed: none" in line
    project = Project.load(ROOT)
    assert all("claims" in project.study(name).tables for name in project.papers)
    assert "claims" not in project.study("equal-privacy").tables
