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
    ("fig3", lambda spec: spec["x"].update(tag="level"), r"no column 'level'; allowed: series"),
    ("fig3", lambda spec: spec.update(where={"eta": 3}), r"no row has eta 3; allowed: 1, 2, 5"),
    ("fig3", lambda spec: spec["series"][0].update(name="{d}"), r"no column 'd'; allowed: .*b"),
    ("fig3", lambda spec: spec["series"][0].update(name="b"), r"two lines are 'b'; allowed: one"),
    ("fig3", lambda spec: spec["series"][0].pop("by"), r"would join \d+ series .*; allowed: one"),
    ("fig2", lambda spec: spec["panels"]["a"].pop("where"), r"would join 3 series"),
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


def test_a_diagram_needs_a_function_of_the_paper(tmp_path: Path) -> None:
    entry = SECOND.figures["fig1"]
    with pytest.raises(InputError, match=r"fig9\.kind is 'diagram'; allowed: only for fig1, fig2"):
        draw_diagram(entry, "fig9", SECOND.frame, tmp_path / "out", SECOND.paper.diagrams)
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
