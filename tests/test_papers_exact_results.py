"""Exactly computed results of all papers have the format that figures and claims read."""

import numpy as np
import pytest

from dpbandits.papers import find_paper
from found_papers import PAPERS
from shared import exact_result

# Some 20 seconds of play.
PLAYED = ("dp-ncb", "index-plays")
RESULTS = [
    pytest.param(paper, name, marks=[pytest.mark.slow] if (paper, name) == PLAYED else [])
    for paper in PAPERS
    for name in find_paper(paper).analytic
]


@pytest.mark.parametrize(("paper", "name"), RESULTS)
def test_frames_have_the_format_that_figures_and_claims_read(paper: str, name: str) -> None:
    frame = exact_result(paper, name)
    assert frame.columns[0] == "series"
    assert list(frame.columns[-4:]) == ["x", "y", "lo", "hi"]
    assert (frame["lo"] == frame["y"]).all()
    assert (frame["hi"] == frame["y"]).all()
    # Of dp-bai a printed ratio divides by 0.
    allowed = frame[["x", "y"]].notna() if paper == "dp-bai" else np.isfinite(frame[["x", "y"]])
    assert allowed.all().all()
    assert not frame.duplicated(["series", "x"]).any()
    # A column "run" would make it a simulation; a figure shows at most 400 points a series.
    assert "run" not in frame
    assert frame.groupby("series").size().max() <= 400
    texts = frame.select_dtypes(exclude="number")
    assert all(isinstance(each, str) for column in texts for each in texts[column].dropna())
