"""The workflow as a newcomer runs it: a fresh clone, the quick scale, no results, one paper.

One copy of the clone that the session builds serves all tests of this file, in their order; `make
test` gives each file to one worker.
"""

import re
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
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import REPORT, rule_name, targets
from fault_project import computed
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
    shutil.rmtree(built / "logs")
    again = run(built, ONE_FIGURE)
    assert again.returncode == 0, again.stdout[-4000:]
    assert (built / "logs/ts-is-dp/comparison-curves.log").exists()
    assert computed(built) == []
    assert built_files(built) == before


def test_an_edited_plot_redraws_that_plot_only(built: Path) -> None:
    config = built / "config/papers/ts-is-dp/experiments.yaml"
    undo = edit(config, 'x: {label: "$\\\\delta$", limits: [0, null]}', 'x: {label: "delta"}')
    try:
        assert planned(built) == {"ts_is_dp_extra_fig1_linear"}
    finally:
        undo()


KERNEL = ("src/dpbandits/algorithms/noise.py", "scale * (", "1.5 * scale * (")
"""An edit of a helper in another file than the kernels that call it."""
PLAYED = {"comparison-curves", "comparison-verdicts", "ts_is_dp_fig8", "ts_is_dp_claims"}
"""Some of what depends on it."""
NOT_PLAYED = {"bernoulli-curves", "tuning", "small-steps", "ts_is_dp_fig1"}


def times(folder: Path) -> dict[Path, int]:
    """Return when each file that was built was written."""
    files = [path for top in ("results", "figures") for path in (folder / top).rglob("*.*")]
    return {path: path.stat().st_mtime_ns for path in files}


@pytest.mark.parametrize("records", ["kept", "removed"])
def test_an_edited_helper_replans_what_depends_on_it(
    built: Path, tmp_path: Path, records: str
) -> None:
    """Without Snakemake's records outputs say themselves that they are stale."""
    before = times(built)
    if records == "removed":
        (built / ".snakemake").rename(tmp_path / "records")
    undo = edit(built / KERNEL[0], *KERNEL[1:])
    try:
        jobs = planned(built)
        assert jobs >= PLAYED
        assert not NOT_PLAYED & jobs
    finally:
        undo()
        if records == "removed":
            shutil.rmtree(built / ".snakemake")
            (tmp_path / "records").rename(built / ".snakemake")
    assert planned(built) == set()
    assert times(built) == before


@pytest.mark.slow
@pytest.mark.parametrize("records", ["kept", "removed"])
def test_what_is_built_of_an_edited_helper_is_current_until_the_edit_is_undone(
    built: Path, tmp_path: Path, records: str
) -> None:
    folder = copied(built, tmp_path / "clone")
    results = folder / "results/quick/ts-is-dp/comparison-curves.parquet"
    before = results.read_bytes()
    if records == "removed":
        shutil.rmtree(folder / ".snakemake")
    undo = edit(folder / KERNEL[0], *KERNEL[1:])
    done = run(folder, ONE_FIGURE, package=folder)
    assert done.returncode == 0, done.stdout[-4000:]
    assert any("comparison-curves" in line for line in computed(folder))
    assert results.read_bytes() != before
    assert "Nothing to be done" in run(folder, ONE_FIGURE, package=folder).stdout
    undo()
    assert {"comparison-curves", ONE_FIGURE} <= planned(folder)
    assert run(folder, ONE_FIGURE, package=folder).returncode == 0
    assert results.read_bytes() == before


def test_stale_results_are_refused_without_the_bookkeeping(built: Path) -> None:
    """Without .snakemake nothing is rerun for a changed kernel, so the consumer has to refuse."""
    bookkeeping = built / ".snakemake"
    bookkeeping.rename(built / ".snakemake.away")
    undo = edit(built / "src/dpbandits/algorithms/noise.py", "scale * (", "1.5 * scale * (")
    try:
        words = ["draw", "ts-is-dp", "fig8", "--scale", "quick"]
        done = subprocess.run(
            [sys.executable, "-m", "dpbandits", *words],
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
    left = ("dpbandits overlay ", *(f" {name}/" for name in PAPERS if name not in BUILT))
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
        target = rule_name(paper, figure.rstrip("abc"))
        assert run(built, target, config=f"papers=[{paper}]").returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "dpbandits", *words],
        cwd=built,
        env=environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if words[0] == "overlay":
        assert all((built / line).is_file() for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("scale", "huge", "paper, quick"),
        ("papers", "[no-paper]", "ts-is-dp"),
        ("seed", "-1", "a whole number from 0"),
        ("no_such_key", "1", "papers, comparisons, scale, seed, cache"),
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


@pytest.mark.parametrize(
    "words",
    [["results/quick/ts-is-dp/nope.parquet"], ["ts_is_dp_fig99"], ["-R", "draw", "--", "all"]],
)
def test_a_mistyped_name_ends_in_one_line(clone: Path, words: list[str]) -> None:
    done = run(clone, "--dry-run", *words)
    assert done.returncode != 0
    assert done.stdout.count("No rule to produce") == 1
    assert "Traceback" not in done.stdout


def test_one_figure_plans_what_it_reads_and_says_why(clone: Path) -> None:
    dry = run(clone, "--dry-run", "figures/quick/ts-is-dp/fig8b.pdf").stdout
    assert re.findall(r"wildcards: result=(\S+)", dry) == [
        "ts-is-dp/tuning",
        "ts-is-dp/comparison-curves",
    ]
    [rule] = re.findall(r"^(?:local)?rule ts_is_dp_fig8:\n((?:    .*\n)+)", dry, flags=re.MULTILINE)
    for part in ("input: results/quick", "output: figures/quick", "reason: Missing output files"):
        assert part in rule


def test_lint_misses_environments_alone(clone: Path) -> None:
    """Snakemake and its jobs have one environment: the Snakefile imports the package."""
    lint = run(clone, "--lint").stdout
    found = set(re.findall(r"^    \* (.*):$", lint, flags=re.MULTILINE))
    assert found == {"Specify a conda environment or container for each rule."}
