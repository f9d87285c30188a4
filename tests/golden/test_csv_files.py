"""Every csv has the numbers that it had: of the quick build, and of exact results as published."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpbandits.claims.judge import judge
from dpbandits.claims.series import Evidence
from dpbandits.claims.tables import evidence_table, to_csv
from dpbandits.config.claims import StatedEntry
from dpbandits.papers import code_of
from dpbandits.pipeline.published import evidence_paths
from dpbandits.pipeline.targets import FIGURE, TABLE
from dpbandits.reporting.draw import draw_figure
from dpbandits.reporting.tables import write_table
from found_papers import COMPARISONS, PAPERS, PROJECT, every_target
from golden_csv import FILE, ROOT, build, golden_files
from shared import ExactResults, exact_result
from support import TOLERANCE

PLAYED_AUDIT = "extra-audit"
"""The figure and the table that show a black-box audit, which plays for minutes."""

GOLDEN = golden_files() if FILE.exists() else {}
WRITTEN_BY = f"`make golden UPDATE=1` writes tests/golden/{FILE.name} anew"


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def same(found: str, golden: str, name: str) -> None:
    """Compare the cells of two csv files, as numbers up to the tolerance where they are some."""
    frames = (
        pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False).map(number)
        for text in (found, golden)
    )
    pd.testing.assert_frame_equal(*frames, rtol=TOLERANCE, atol=0, check_dtype=False, obj=name)


@pytest.fixture(scope="module")
def quick() -> dict[str, str]:
    """The csv files of the quick build, in the cache of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DPBANDITS_CACHE", raising=False)
        return build()


@pytest.mark.golden
@pytest.mark.parametrize("name", GOLDEN)
def test_the_quick_build_gives_the_golden_csv(quick: dict[str, str], name: str) -> None:
    assert name in quick, WRITTEN_BY
    same(quick[name], GOLDEN[name], name)


@pytest.mark.golden
def test_every_csv_of_the_quick_build_is_golden(quick: dict[str, str]) -> None:
    assert quick.keys() == GOLDEN.keys(), WRITTEN_BY


SLOW = {
    ("dp-bai", "baseline-structure"),
    ("dp-bai", "max-det"),
    ("dp-bai", "overshoot"),
    ("dp-bai", "privacy-loss"),
    ("dp-bai", "regimes"),
    ("dp-ncb", "index-plays"),
    ("dp-ncb", "privacy-witnesses"),
    ("dp-ts-ucb", "lemma-4-1"),
    ("dp-ts-ucb", "lemma-c1"),
    ("dp-ts-ucb", "summary"),
    ("dp-ts-ucb", "trace"),
}
"""Exact results that take from 3 to 30 seconds, with what is compiled for them."""


def exact(kind: str) -> list[object]:
    """Return papers and names of what shows exactly computed results alone; audits are slow."""
    found: list[object] = []
    for target in every_target():
        results = PROJECT.study(target.paper).file.analytic if target.kind == kind else {}
        folder = PROJECT.results_folder() / target.paper
        is_exact = all(path.parent == folder and path.stem in results for path in target.inputs)
        if results and target.inputs and is_exact and target.name != PLAYED_AUDIT:
            is_slow = target.paper in COMPARISONS or any(
                (target.paper, path.stem) in SLOW for path in target.inputs
            )
            marks = [pytest.mark.slow] if is_slow else []
            found.append(pytest.param(target.paper, target.name, marks=marks))
    return found


def frames_of(paper: str) -> Callable[[str], pd.DataFrame]:
    """Return a function that computes an exact result at the scale that is published."""
    if paper in COMPARISONS:
        analytic, scaled = code_of(paper).functions("analytic"), PROJECT.study(paper).file.scaled
        given = {"scale": PROJECT.scale, "seed": PROJECT.seed, "workers": 1}
        return lambda name: analytic[name](**(given if name in scaled else {}))
    return ExactResults(paper).__getitem__


@pytest.mark.parametrize(("paper", "name"), exact(FIGURE))
def test_exact_results_give_the_published_figures(
    paper: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)
    spec, code = PROJECT.study(paper).figure(name), PROJECT.study(paper).code
    made = code.functions("derived"), code.functions("diagrams"), paper
    for path in draw_figure(spec, frames_of(paper), tmp_path, *made):
        if path.suffix == ".csv":
            published = ROOT / "docs/figures" / paper / path.name
            same(path.read_text(), published.read_text(), path.name)


@pytest.mark.parametrize(("paper", "name"), exact(TABLE))
def test_exact_results_give_the_published_tables(paper: str, name: str, tmp_path: Path) -> None:
    spec, code = PROJECT.study(paper).table(name), PROJECT.study(paper).code
    write_table(spec, name, frames_of(paper), tmp_path, code.functions("tables"))
    published = ROOT / "docs/tables" / paper / f"{name}.csv"
    same((tmp_path / published.name).read_text(), published.read_text(), published.name)


def exact_claims(paper: str) -> list[StatedEntry]:
    """Return the claims and findings on exact numbers of the paper alone."""
    results = PROJECT.study(paper).file.analytic
    entries = [entry for entry in PROJECT.study(paper).stated if entry.compare]
    return [entry for entry in entries if {*entry.reads} <= {*results}]


RESULTS = [
    pytest.param(paper, name, marks=[pytest.mark.slow] if (paper, name) in SLOW else [])
    for paper in PAPERS
    for name in PROJECT.study(paper).file.analytic
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


OF_EXACT = [paper for paper in PAPERS if exact_claims(paper)]


@pytest.mark.slow
@pytest.mark.parametrize("paper", OF_EXACT)
def test_exact_results_give_the_published_comparisons(paper: str) -> None:
    claims = exact_claims(paper)
    evidence = Evidence(ExactResults(paper).__getitem__, code_of(paper).quantities)
    found = to_csv(evidence_table(judge(claims, evidence)))
    paths = evidence_paths(PROJECT, paper)
    published = pd.concat(pd.read_csv(each, dtype=str, keep_default_na=False) for each in paths)
    kept = published[published["claim"].isin([claim.id for claim in claims])]
    assert len(kept) > 0
    same(found, kept.to_csv(index=False, lineterminator="\n"), paper)
