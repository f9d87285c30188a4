"""Wrong entries of the figures section: one line that says what is allowed, and no file."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpbandits.engine.documents import check_document, load_yaml
from dpbandits.errors import InputError
from dpbandits.reporting.figure_files import COLUMNS, write_figure
from dpbandits.reporting.figures import draw_figure
from synthetic_results import EXPERIMENTS, FIGURES, ROOT, frame

Change = Callable[[dict[str, Any]], object]
WRONG: list[tuple[str, Change, str]] = [
    ("fig2", lambda spec: spec.update(colour=1), r"fig2: unknown key colour; allowed: caption"),
    ("fig2", lambda spec: spec.pop("caption"), r"fig2: key caption is missing"),
    ("fig3", lambda spec: spec.pop("kind"), r"fig3: key kind is missing"),
    ("fig3", lambda spec: spec.update(kind="pie"), r"kind is 'pie'; allowed: curve, final"),
    ("fig3", lambda spec: spec.pop("metric"), r"metric is None; allowed: pseudo_regret"),
    ("fig3", lambda spec: spec["x"].pop("tag"), r"x\.tag is None; allowed: a column"),
    ("fig3", lambda spec: spec["x"].update(tag="level"), r"no column 'level'; allowed: series"),
    ("fig3", lambda spec: spec["x"].update(colour="red"), r"x: unknown key colour"),
    ("fig3", lambda spec: spec["y"].update(scale="cubic"), r"y\.scale is 'cubic'; allowed: linear"),
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


SCHEMA_WRONG: list[tuple[Change, str]] = [
    (lambda figures: figures["fig2"].update(colour=1), r"fig2: unknown key colour; allowed: capt"),
    (
        lambda figures: figures.update({"Figure 1": {"caption": "x"}}),
        r"'Figure 1' .*; allowed: fig",
    ),
    (
        lambda figures: figures["fig3"]["x"].update(limits=[0]),
        r"x\.limits: .* two numbers or nulls",
    ),
    (lambda figures: figures["fig3"]["series"][0].pop("name"), r"series\.0: key name is missing"),
]


def test_the_schema_accepts_the_file() -> None:
    check_document(FIGURES, load_yaml(ROOT / "workflow/schemas/figures.schema.yaml"), EXPERIMENTS)


@pytest.mark.parametrize(("change", "message"), SCHEMA_WRONG)
def test_the_schema_names_file_and_key_in_one_line(change: Change, message: str) -> None:
    figures = copy.deepcopy(FIGURES)
    change(figures)
    schema = load_yaml(ROOT / "workflow/schemas/figures.schema.yaml")
    with pytest.raises(InputError, match=message) as caught:
        check_document(figures, schema, EXPERIMENTS)
    assert str(caught.value).startswith(f"{EXPERIMENTS}: ")
    assert "\n" not in str(caught.value)
