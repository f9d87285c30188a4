"""The workflow as a newcomer runs it: a fresh clone, the quick scale, no results, one paper.

One copy of the clone that the session builds serves all tests of this file, in their order; `make
test` gives each file to one worker.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chromium import SET, Page, chromium_page
from documents import ON_RESULTS, dpbandits_commands
from dpbandits.project.config import Project
from dpbandits.project.target import REPORT
from dpbandits.project.targets import targets
from found_papers import PAPERS
from quick_clone import (
    BUILT,
    ONE,
    ONE_FIGURE,
    built_files,
    built_paper,
    copy_checkout,
    edit,
    environment,
    files_of_figure,
    planned,
    run,
)
from shared import copied
from support import mostly_slow


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone, nothing built."""
    return copy_checkout(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the clone after one undisturbed quick run of everything."""
    return copied(built_paper(), tmp_path_factory.mktemp("built"))


@pytest.mark.slow
def test_a_dry_run_of_a_fresh_clone_has_jobs(clone: Path) -> None:
    dry = run(clone, "--dry-run")
    assert dry.returncode == 0, dry.stdout[-4000:]
    assert "ts_is_dp_fig8" in dry.stdout
    assert "Nothing to be done" not in dry.stdout


def test_every_target_is_built_and_marked_as_quick(built: Path) -> None:
    for target in targets(Project.load(built).at(scale="quick")):
        for path in target.files:
            assert target.kind == REPORT or path.stat().st_size > 0, path
    claims = pd.read_csv(built / "results/quick/ts-is-dp/claims.csv")
    assert set(claims["scale"]) == {"quick"}
    assert claims["detail"].str.contains("no evidence").all()
    stated = [claim.id for claim in Project.load(built).claims("ts-is-dp")]
    assert claims["claim"].unique().tolist() == stated
    assert not (built / "results/ts-is-dp").exists(), "the quick scale disturbed the paper's"


def test_a_second_run_has_nothing_to_do(built: Path) -> None:
    assert "Nothing to be done" in run(built, "all", "extras").stdout


@pytest.fixture(scope="module")
def report(built: Path) -> Path:
    """Snakemake's report of the clone."""
    done = run(built, "all", "extras", "--report", "results/quick/report.html")
    assert done.returncode == 0, done.stdout[-4000:]
    return built / "results/quick/report.html"


@pytest.fixture(scope="module")
def page(report: Path) -> Iterator[Page]:
    """The report, opened; without Chromium the tests that ask for it are skipped."""
    with chromium_page() as opened:
        opened.open(report.as_uri())
        yield opened


PICTURES = """(async () => {
  const widths = {};
  for (const path of Object.keys(results).filter((each) => each.endsWith(".png"))) {
    const picture = new Image();
    picture.src = results[path].data_uri;
    await picture.decode();
    widths[path] = picture.naturalWidth;
  }
  return widths;
})()"""
"""Draws every picture that a report has; returns the width of each."""

ROWS = '[...document.querySelectorAll("tbody tr:not([hidden])")]'
FIRST_CELLS = f"{ROWS}.map((row) => row.cells[0].innerText)"


def test_the_report_has_every_figure_and_table_with_a_caption(built: Path, page: Page) -> None:
    every = targets(Project.load(built).at(scale="quick"))
    [inputs] = [target.inputs for target in every if target.kind == REPORT]
    expected = {str(path.relative_to(built)) for path in inputs}
    widths = page.run(PICTURES)
    assert set(widths) == {path for path in expected if path.endswith(".png")}
    assert min(widths.values()) > 300
    tables = page.run('Object.keys(results).filter((path) => path.endsWith(".html"))')
    assert set(tables) == {path for path in expected if path.endswith(".html")}
    categories = page.run("Object.keys(categories)")
    assert set(categories) == {"claims", *BUILT}
    captions = page.run("Object.values(results).map((each) => each.caption)")
    assert all(len(caption) > 100 for caption in captions)
    assert page.errors == []


def test_a_figure_of_the_report_is_opened_by_hand(page: Page) -> None:
    page.run(f'app.showCategory("{ONE}")')
    entries = '[...document.querySelectorAll("#app tbody tr")]'
    page.run(
        f"{entries}.find((row) => row.cells[1].innerText == 'fig8b').querySelector('a').click()"
    )
    shown = "document.querySelector('#app img[src^=\"data:image/png\"]')"
    assert page.run(f"{shown}.decode().then(() => {shown}.naturalWidth)") > 300
    assert page.errors == []


def test_the_ledger_of_the_report_is_read_and_filtered(built: Path, page: Page) -> None:
    ledger = pd.read_csv(built / "results/quick/tables/claims.csv", keep_default_na=False)
    opened = page.frame(
        """{
          const path = "results/quick/tables/claims.html";
          app.setView({content: "html", contentPath: results[path].data_uri, resultPath: path});
        }"""
    )
    assert page.run(FIRST_CELLS, opened) == list(ledger["Claim"])
    page.run(SET.format(place="#words", value="TSDP-C19 log=natural"), opened)
    found = page.run(FIRST_CELLS, opened)
    assert 0 < len(found) < 10
    assert set(found) == {"TSDP-C19"}
    page.run(SET.format(place="#words", value=""), opened)
    column = list(ledger.columns).index("Verdict")
    page.run(SET.format(place=f"select[data-column='{column}']", value="fails"), opened)
    assert page.run(FIRST_CELLS, opened) == list(ledger.loc[ledger["Verdict"] == "fails", "Claim"])
    assert page.errors == []


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.slow
def test_the_report_is_typeset_to_the_same_bytes_again(built: Path) -> None:
    done = run(built, "pdf")
    assert done.returncode == 0, done.stdout[-4000:]
    pdf, tex = (built / f"results/quick/report.{suffix}" for suffix in ("pdf", "tex"))
    first, source = pdf.read_bytes(), tex.read_text(encoding="utf-8")
    project = Project.load(built).at(scale="quick")
    for name in BUILT:
        figures = project.experiments(name).figures
        own = [figure for figure in figures if not figure.startswith("extra-")]
        for figure in own or figures:
            assert source.count(f"{{figures/quick/{name}/{figure}.pdf}}") == 1
    tables = sum(len(project.experiments(name).tables) for name in BUILT)
    assert source.count(r"\toprule") >= tables + 3, "the counts and the provenance too"
    for path in (pdf, tex):
        path.unlink()
    assert run(built, "pdf").returncode == 0
    assert (pdf.read_bytes(), tex.read_text(encoding="utf-8")) == (first, source)


@pytest.mark.slow
def test_a_rebuild_from_the_cache_computes_nothing_and_gives_the_same_bytes(built: Path) -> None:
    before = built_files(built)
    for path in files_of_figure(built):
        path.unlink()
    again = run(built, "all", config=ONE_FIGURE)
    assert again.returncode == 0, again.stdout[-4000:]
    assert "blocks computed" not in again.stdout
    assert built_files(built) == before


def test_an_edited_plot_redraws_that_plot_only(built: Path) -> None:
    config = built / "config/papers/ts-is-dp/experiments.yaml"
    undo = edit(config, 'x: {label: "$\\\\delta$", limits: [0, null]}', 'x: {label: "delta"}')
    try:
        assert planned(built) == {"extra-fig1-linear"}
    finally:
        undo()


def test_an_edited_rule_of_what_comes_first_hides_nothing_that_is_stale(built: Path) -> None:
    """Snakemake asks nothing more of what depends on a job that has to run again."""
    config = built / "config/papers/ts-is-dp/experiments.yaml"
    undo = edit(config, 'x: {label: "$\\\\delta$", limits: [0, null]}', 'x: {label: "delta"}')
    undo_rule = edit(
        built / "workflow/rules/simulate.smk", "dpbandits kernels", "dpbandits  kernels"
    )
    undo_noise = edit(built / "src/dpbandits/algorithms/noise.py", "scale * (", "1.5 * scale * (")
    try:
        jobs = planned(built)
        assert {"extra-fig1-linear", "comparison-curves", "comparison-verdicts", "fig8"} <= jobs
        assert not {"bernoulli-curves", "tuning", "fig1"} & jobs
    finally:
        undo()
        undo_rule()
        undo_noise()


@pytest.mark.slow
def test_an_edited_helper_recomputes_what_depends_on_it(built: Path) -> None:
    """The helper stands in another file than the kernels that call it."""
    undo = edit(built / "src/dpbandits/algorithms/noise.py", "scale * (", "1.5 * scale * (")
    try:
        jobs = planned(built)
        assert {"comparison-curves", "comparison-verdicts"} <= jobs
        assert not {"bernoulli-curves", "tuning", "small-steps"} & jobs
        before = (built / "results/quick/ts-is-dp/comparison-curves.parquet").read_bytes()
        done = run(built, "results/quick/ts-is-dp/comparison-curves.parquet", package=built)
        assert "blocks computed" in done.stdout, done.stdout[-4000:]
        after = (built / "results/quick/ts-is-dp/comparison-curves.parquet").read_bytes()
        assert before != after
    finally:
        undo()
    assert run(built, "all", "extras").returncode == 0


def test_stale_results_are_refused_without_the_bookkeeping(built: Path) -> None:
    """Without .snakemake nothing is rerun for a changed kernel, so the consumer has to refuse."""
    bookkeeping = built / ".snakemake"
    bookkeeping.rename(built / ".snakemake.away")
    undo = edit(built / "src/dpbandits/algorithms/noise.py", "scale * (", "1.5 * scale * (")
    try:
        words = ["draw", "ts-is-dp", "fig8", "--scale", "quick"]
        done = subprocess.run(
            [sys.executable, "-m", "dpbandits.cli", *words],
            cwd=built,
            env=environment(built),
            text=True,
            capture_output=True,
            check=False,
        )
    finally:
        undo()
        shutil.rmtree(bookkeeping, ignore_errors=True)
        (built / ".snakemake.away").rename(bookkeeping)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "comparison-curves.parquet: is stale" in done.stderr


def on_results() -> list[Any]:
    """Return the commands; what simulates, or reads what is not built here, is slow."""
    left = (" --with ", *(f" {name}/" for name in PAPERS if name not in BUILT))
    every = dpbandits_commands(ON_RESULTS)
    return mostly_slow(every, *(each for each in every if not any(part in each for part in left)))


@pytest.mark.parametrize("command", on_results())
def test_commands_of_the_documents_run_on_what_is_built(built: Path, command: str) -> None:
    """At the quick scale: what the documents say is of the papers' own."""
    words = shlex.split(command)[1:]
    # Algorithms on the reader's own arms are of no paper and no scale.
    words += [] if "--arms" in words else ["--scale", "quick"]
    for name in (word for word in words if word.partition("/")[0] in {*PAPERS} - {*BUILT}):
        paper, _, figure = name.partition("/")
        only = f"papers=[{paper}] comparisons=[] only={paper}/{figure.rstrip('abc')}"
        assert run(built, "all", config=only).returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "dpbandits.cli", *words],
        cwd=built,
        env=environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if words[0] == "compare" and "--arms" not in words:
        assert all((built / line).is_file() for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("scale", "huge", "paper, quick"),
        ("papers", "[no-paper]", "ts-is-dp"),
        ("seed", "-1", "a whole number from 0"),
        ("only", "no-paper/fig1", "one of ts-is-dp"),
        ("no_such_key", "1", "papers, comparisons, scale, seed, cache, only"),
    ],
)
def test_a_bad_config_ends_in_one_line(clone: Path, key: str, value: str, allowed: str) -> None:
    done = run(clone, "--dry-run", config=f"{key}={value}")
    assert done.returncode != 0
    [line] = [each for each in done.stdout.splitlines() if each.startswith("config/config.yaml:")]
    assert key in line
    assert allowed in line
    assert "Traceback" not in done.stdout
    assert ' File "' not in done.stdout
