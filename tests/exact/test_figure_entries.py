"""Wrong entries of the figures section: one line that says what is allowed, and no file."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpbandits.errors import InputError
from dpbandits.reporting.draw import COLUMNS, draw_diagram, draw_figure, write_figure
from synthetic_results import FIGURES, SECOND, frame

Change = Callable[[dict[str, Any]], object]
WRONG: list[tuple[str, Change, str]] = [
    ("fig2", lambda spec: spec.update(colour=1), r"fig2: unknown key colour; allowed: kind, reads"),
    ("fig2", lambda spec: spec.pop("caption"), r"fig2: key caption is missing"),
    ("fig3", lambda spec: spec.pop("kind"), r"fig3: key kind is missing"),
    ("fig3", lambda spec: spec.update(kind="pie"), r"kind is 'pie'; allowed: curve, final"),
    ("fig3", lambda spec: spec.pop("metric"), r"metric is None; allowed: pseudo_regret"),
    ("fig3", lambda spec: spec["x"].pop("tag"), r"x\.tag is None; allowed: a column"),
    ("fig3", lambda spec: spec["x"].update(tag="level"), r"no column 'level'; allowed: series"),
    ("fig3", lambda spec: spec["x"].update(colour="red"), r"x: unknown key colour"),
    ("fig3", lambda spec: spec["y"].update(scale="cubic"), r"y\.scale is 'cubic'; allowed: linear"),
    ("fig3", lambda spec: spec["series"][0].pop("name"), r"series\.0: key name is missing"),
    ("fig3", lambda spec: spec["y"].update(limits=[0]), r"limits is \[0\]; allowed: two numbers"),
    ("fig3", lambda spec: spec.update(series=[]), r"series is \[\]; allowed: a list of lines"),
    ("fig3", lambda spec: spec.update(where={"eta": 3}), r"no row has eta 3; allowed: 1, 2, 5"),
    ("fig3", lambda spec: spec["series"][0].update(name="{d}"), r"no column 'd'; allowed: .*b"),
    ("fig3", lambda spec: spec["series"][0].update(name="b"), r"two lines are 'b'; allowed: one"),
    ("fig3", lambda spec: spec["series"][0].pop("by"), r"would join \d+ series .*; allowed: one"),
    ("fig2", lambda spec: spec["panels"]["a"].pop("where"), r"would join 3 series"),
    ("fig2", lambda spec: spec["panels"].pop("a"), r"panels is b, c; allowed: a, b, ... in order"),
    ("fig2", lambda spec: spec["panels"]["a"].update(titel=""), r"panels\.a: unknown key titel"),
    ("fig2", lambda spec: spec.update(share_y="yes"), r"share_y is 'yes'; allowed: true, false"),
    ("fig7", lambda spec: spec.update(metric="pulls"), r"metric is 'pulls'; allowed: none"),
    ("fig8", lambda spec: spec["series"][1].update(colour="red"), r"'red'; allowed: blue"),
]


@pytest.mark.parametrize(("name", "change", "message"), WRONG)
def test_a_wrong_entry_is_one_line_and_writes_nothing(
    name: str, change: Change, message: str, tmp_path: Path
) -> None:
    spec = copy.deepcopy(FIGURES[name])
    change(spec)
    with pytest.raises(InputError, match=message) as caught:
        draw_figure(spec, name, frame, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"figures.{name}")
    assert not (tmp_path / "out").exists()


WRONG_READS: list[tuple[str, Change, str]] = [
    ("fig3", lambda spec: spec["panels"]["a"].update(reads=[]), r"reads is \[\]; allowed: a name"),
    (
        "fig3",
        lambda spec: spec["panels"]["a"].update(reads=["final-regret", "final-regret"]),
        r"reads is .*; allowed: a name, or a list of different names",
    ),
    (
        "extra-fig3-long",
        lambda spec: spec.update(reads=["final-regret", "final-verdicts"]),
        r"series 'dp-ts-ucb horizon=10000 alpha=0' stands in two of final-regret, final-verdicts",
    ),
    (
        "extra-fig3-long",
        lambda spec: spec.update(reads=["final-regret", "text"]),
        r"column 'alpha' holds numbers in one of final-regret, text and text in another",
    ),
    ("fig4", lambda spec: spec["panels"]["a"].pop("where"), r"would join 5 series"),
    (
        "fig4",
        lambda spec: spec["panels"]["a"].update(where={"algorithm": "largest"}),
        r"no row has algorithm 'largest'; allowed: dp-ts-ucb",
    ),
]


@pytest.mark.parametrize(("name", "change", "message"), WRONG_READS)
def test_results_that_do_not_fit_together_are_refused(
    name: str, change: Change, message: str, tmp_path: Path
) -> None:
    def read(result: str) -> pd.DataFrame:
        if result == "text":
            return SECOND.frame("long-horizon").assign(series="other", alpha="none")
        return SECOND.frame(result)

    spec = copy.deepcopy(SECOND.figures[name])
    change(spec)
    with pytest.raises(InputError, match=message) as caught:
        draw_figure(spec, name, read, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"figures.{name}")
    assert not (tmp_path / "out").exists()


def test_results_without_a_series_add_nothing(tmp_path: Path) -> None:
    """At the quick scale the long horizon has no series that fits."""
    plan = SECOND.plan("long-horizon", {"runs": 10, "horizon": 100_000})
    none = SECOND.made_up(plan.series())
    assert none.empty

    def read(name: str) -> pd.DataFrame:
        return none if name == "long-horizon" else SECOND.frame(name)

    draw_figure(SECOND.figures["extra-fig3-long"], "extra-fig3-long", read, tmp_path / "both")
    shorter = {**SECOND.figures["extra-fig3-long"], "reads": "final-regret"}
    draw_figure(shorter, "extra-fig3-long", read, tmp_path / "one")
    both, one = (tmp_path / folder / "extra-fig3-long.csv" for folder in ("both", "one"))
    assert both.read_bytes() == one.read_bytes()


def test_a_diagram_has_a_caption_results_and_a_function_of_the_paper(tmp_path: Path) -> None:
    spec = SECOND.figures["fig1"]
    for name, entry, message in (
        (
            "fig1",
            {**spec, "panels": {}},
            r"fig1: unknown key panels; allowed: kind, caption, reads",
        ),
        ("fig1", {"kind": "diagram", "caption": "x"}, r"fig1: key reads is missing"),
        ("fig9", spec, r"fig9\.kind is 'diagram'; allowed: only for fig1, fig2"),
    ):
        with pytest.raises(InputError, match=message):
            draw_diagram(entry, name, SECOND.frame, tmp_path / "out", SECOND.paper.diagrams)
    assert not (tmp_path / "out").exists()


def test_a_metric_that_is_not_known_at_every_time_is_refused(tmp_path: Path) -> None:
    """Realised regret inside an episode is NaN, in the engine's results."""
    rows = frame("bernoulli-curves").copy()
    rows.loc[(rows["metric"] == "realised_regret") & (rows["t"] == 500), "value"] = np.nan
    with pytest.raises(InputError, match=r"realised_regret is not known at every t .*; allowed:"):
        draw_figure(FIGURES["fig2"], "fig2", lambda _: rows, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    figure = Figure()
    points = pd.DataFrame(columns=COLUMNS)
    with pytest.raises(InputError, match="cannot be written"):
        write_figure(tmp_path / "file" / "fig1", figure, points)
