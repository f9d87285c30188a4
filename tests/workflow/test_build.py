"""The invented paper, built through Snakemake, asked all that a build promises.

With sources of its own it is built once a session; tests that leave it as they found it share one
copy.
"""

import os
import re
import shutil
import time
from pathlib import Path

import pandas as pd
import pytest

import invented
from dpbandits.cli import main
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import FIGURE, TABLE, targets
from invented import PAPER, built_project, edited, forget, make_project, outputs, planned, snakemake
from shared import copied
from support import mostly_slow

FIG1, FIG2, CLAIMS = (f"committing_early_{name}" for name in ("fig1", "fig2", "claims"))
HELPER = ("src/dpbandits/bandits/draws.py", "scale * (", "1.5 * scale * (")
"""An edit of a helper in another file than the kernel that calls it."""
SOURCES = str(invented.ROOT / "src")
TUNED = f"results/{PAPER}/by-pulls.parquet"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the built project."""
    return copied(built_project(), tmp_path_factory.mktemp("built"))


@pytest.mark.parametrize("scale", mostly_slow(["paper", "quick"], "quick"))
def test_every_target_is_built_and_a_second_run_has_nothing_to_do(
    tmp_path: Path, scale: str
) -> None:
    """By the sources of the checkout, whose kernels are compiled."""
    folder, words = make_project(tmp_path), invented.command(config=f"scale={scale}")
    first, second = (invented.run(folder, words) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stdout[-4000:]
    assert "Nothing to be done" in second.stdout
    project = Project.load(folder).at(scale=scale)
    every = targets(project)
    assert {"fig1", "fig2", "claims"} <= {target.name for target in every}
    for target in every:
        assert all(path.stat().st_size for path in target.files), target
    claims = pd.read_csv(project.results_folder() / PAPER / "claims.csv")
    assert list(claims["claim"]) == ["CE-C1", "CE-C2", "CE-C3"]
    assert set(claims["scale"]) == {scale}


@pytest.mark.slow
def test_a_claim_is_explained_by_what_is_built(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a draft, which is published nowhere."""
    assert main(["explain", "ce-c1", "--project", str(built)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "CE-C1 (experiment; Figure 1)",
        '  says: "Regret falls as epsilon grows."',
        "  word: as stated",
        "  scope: Two Bernoulli arms, T = 3000",
        "  measured: Final regret at epsilon = 1 minus that at 0.05",
    ]
    seen = "the paper has 20 runs of it, in which 1 of 1 are visible"
    assert sum(line.endswith(seen) for line in lines) == 1
    assert "  as written: as stated" in lines
    [compared] = [line for line in lines if line.startswith("    for ")]
    assert re.match(
        r"    for       step in epsilon: -\d.* \[.*\], asked: less than 0, at", compared
    )
    assert "    the same word at the level of the family, 0.0167" in lines
    assert lines[-3] == "  scale: paper"
    assert lines[-2].startswith("  at a smaller scale than the paper's: Horizons are a tenth")
    assert lines[-1].startswith("  a draft's: `state` in ")


@pytest.mark.slow
def test_the_quick_scale_has_files_of_its_own_and_verdicts_that_are_no_evidence(
    built: Path,
) -> None:
    before = outputs(built)
    done = invented.run(built, invented.command(config="scale=quick"))
    assert done.returncode == 0, done.stdout
    claims = pd.read_csv(built / f"results/quick/{PAPER}/claims.csv")
    assert set(claims["scale"]) == {"quick"}
    assert claims["detail"].str.contains("no evidence").all()
    assert {path: outputs(built)[path] for path in before} == before


@pytest.mark.slow
def test_the_report_of_snakemake_has_every_picture_and_table_with_a_caption(
    built: Path, tmp_path: Path
) -> None:
    snakemake(built, "--report", str(tmp_path / "report.html"))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    every = targets(Project.load(built))
    for target in every:
        for path in target.files:
            if path.suffix == {FIGURE: ".png", TABLE: ".csv"}.get(target.kind):
                assert str(path.relative_to(built)) in text
    assert "Pseudo-regret of private explore-then-commit at two epsilons" in text


@pytest.mark.slow
@pytest.mark.parametrize("records", ["kept", "removed"])
def test_an_edit_replans_what_depends_on_it(built: Path, tmp_path: Path, records: str) -> None:
    """Without Snakemake's records outputs say themselves that they are stale."""

    def times() -> list[int]:
        return [(built / path).stat().st_mtime_ns for path in outputs(built)]

    before = times()
    if records == "removed":
        (built / ".snakemake").rename(tmp_path / "records")
    # An algorithm that one of the two figures plays.
    with edited(built / "src/dpbandits/algorithms/ucb1.py", "G = 1e-12", "G = 2e-12"):
        jobs = planned(built)
    assert {"curves", "verdicts", FIG1, CLAIMS} <= jobs
    assert not {"by-pulls", FIG2} & jobs
    with edited(built / invented.EXPERIMENTS, 'label: "Round $t$"', 'label: "Rounds"'):
        assert planned(built) == {FIG1}
    assert planned(built) == set()
    assert times() == before, "a dry run changed file times"
    if records == "removed":
        forget(built, ".snakemake")
        (tmp_path / "records").rename(built / ".snakemake")


@pytest.mark.slow
def test_what_is_stale_is_planned_whatever_times_say(built: Path, tmp_path: Path) -> None:
    """Of outputs dated ahead of the clock, without records, where the cache cannot be written."""
    folder = copied(built, tmp_path / "project")
    forget(folder, ".snakemake")
    ahead = time.time() + 3600
    for path in (path for top in ("results", "figures") for path in (folder / top).rglob("*")):
        os.utime(path, (ahead, ahead))
    cache = ("config/config.yaml", ".cache/dpbandits", "/dev/null/{braces}")
    entry = (invented.EXPERIMENTS, 'label: "Round $t$"', 'label: "Rounds"')
    with edited(folder / cache[0], *cache[1:]), edited(folder / entry[0], *entry[1:]):
        dry = snakemake(folder, "all", "--dry-run")
    assert f"rule {FIG1}:" in dry
    assert f"rule {FIG2}:" not in dry
    assert f"stale: {PAPER}/fig1: figures.fig1.panels.a.x.label, " in dry
    [warning] = re.findall("^warning: .*", dry, flags=re.MULTILINE)
    assert "is dated ahead of the clock" in warning


@pytest.mark.slow
def test_other_sources_than_those_of_the_folder_are_named(built: Path) -> None:
    done = invented.run(built, [*invented.DPBANDITS, "draw", PAPER, "no-such"], PYTHONPATH=SOURCES)
    warning, refusal = done.stdout.splitlines()
    assert f"the sources of {invented.ROOT} are run, not those of {built}" in warning
    assert "no-such" in refusal


@pytest.mark.slow
@pytest.mark.parametrize("records", ["kept", "removed"])
def test_what_is_built_of_an_edited_helper_is_current_until_the_edit_is_undone(
    tmp_path: Path, records: str
) -> None:
    folder = copied(built_project(), tmp_path / "project")
    before = (folder / TUNED).read_bytes()
    if records == "removed":
        forget(folder, ".snakemake")
    with edited(folder / HELPER[0], *HELPER[1:]):
        snakemake(folder, FIG2)
        assert (folder / TUNED).read_bytes() != before
        assert "Nothing to be done" in snakemake(folder, FIG2)
    assert {"by-pulls", FIG2} <= planned(folder)
    snakemake(folder, FIG2)
    assert (folder / TUNED).read_bytes() == before


@pytest.mark.slow
def test_stale_results_are_refused_in_one_line(built: Path) -> None:
    """By who reads them: those of an edited helper, and those of another seed."""
    with edited(built / HELPER[0], *HELPER[1:]):
        refused = [invented.dpbandits_command(built, "draw", PAPER, "fig2")]
    refused.append(invented.dpbandits_command(built, "draw", PAPER, "fig2", "--seed", "5"))
    for done in refused:
        assert done.returncode == 2
        assert done.stdout.count("\n") == 1
        assert "by-pulls.parquet: is stale" in done.stdout
        assert f"moved; run snakemake --cores 2 {TUNED}" in done.stdout
    assert HELPER[0] in refused[0].stdout
    assert "is stale: seed moved" in refused[1].stdout


@pytest.mark.slow
@pytest.mark.parametrize("moved", ["deleted", "another machine"])
def test_nothing_is_simulated_again(built: Path, tmp_path: Path, moved: str) -> None:
    """Outputs deleted, the cache kept; or results copied, with new times and without records."""
    folder = tmp_path / "project"
    if moved == "deleted":
        forget(copied(built, folder))
    else:
        make_project(folder, sources=True)
        for name in ("results", "figures"):
            shutil.copytree(built / name, folder / name, copy_function=shutil.copyfile)
    # These read all results.
    snakemake(folder, FIG1, FIG2, CLAIMS)
    assert invented.computed(built), "else the next line holds of nothing"
    assert invented.computed(folder) == []
    again, whole = outputs(folder), outputs(built)
    assert {f"results/{PAPER}/claims.csv", TUNED} <= again.keys()
    assert again == {path: whole[path] for path in again}


@pytest.mark.slow
def test_a_wrong_config_or_target_ends_a_run_in_one_line(built: Path) -> None:
    for words, config, line in (
        ([], "scale=huge", "config/config.yaml: scale is 'huge'; Input should be 'paper'"),
        ([f"results/{PAPER}/nope.parquet"], "scale=paper", "No rule to produce"),
    ):
        done = invented.run(built, invented.command("--dry-run", *words, config=config))
        assert done.returncode != 0
        assert done.stdout.count(line) == 1
        assert not re.search(r'^Traceback|^ +File "', done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_one_figure_plans_what_it_reads_and_says_why(tmp_path: Path) -> None:
    dry = snakemake(make_project(tmp_path), "--dry-run", f"figures/{PAPER}/fig2.pdf")
    assert re.findall(r"wildcards: result=(\S+)", dry) == [f"{PAPER}/by-pulls"]
    [rule] = re.findall(rf"^(?:local)?rule {FIG2}:\n((?:    .*\n)+)", dry, flags=re.MULTILINE)
    for part in ("input: results", "output: figures", "reason: Missing output files"):
        assert part in rule
