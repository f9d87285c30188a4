"""The workflow as a newcomer runs it: a fresh clone, the quick scale, no caches.

One clone is built once and serves all tests of this file, in their order; `make test` gives each
file to one worker.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from dpbandits.outputs import Outputs
from dpbandits.project import Project

ROOT = Path(__file__).resolve().parents[2]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
QUICK = ["--cores", "2", "--config", "scale=quick"]
ONE = "ts-is-dp"
ONE_PAPER = f"papers=[{ONE}] ours=[]"
"""What holds of one paper's outputs holds of all; a rebuild of all would cost minutes."""


def environment(clone: Path) -> dict[str, str]:
    """Return an environment in which the clone's own package is imported."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DPBANDITS", "NUMBA"))}
    return kept | {"PYTHONPATH": str(clone / "src")}


def run(clone: Path, *words: str, config: str = "") -> subprocess.CompletedProcess[str]:
    """Run snakemake in the clone and return what it printed, both streams in one."""
    return subprocess.run(
        [*SNAKEMAKE, *words, *QUICK, *config.split()],
        cwd=clone,
        env=environment(clone),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def copy_checkout(target: Path) -> Path:
    """Copy every file that git tracks, or would, to an empty folder."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def built_files(clone: Path) -> dict[str, bytes]:
    """Return the bytes of every figure, table and verdict of one paper."""
    results = clone / "results/quick"
    folders = [clone / "figures/quick" / ONE, results / ONE, results / "tables" / ONE]
    suffixes = {".csv", ".tex", ".pdf", ".png"}
    paths = [path for folder in folders for path in sorted(folder.rglob("*"))]
    return {
        str(path.relative_to(clone)): path.read_bytes() for path in paths if path.suffix in suffixes
    }


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone, nothing built."""
    return copy_checkout(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def built(clone: Path) -> Path:
    """The clone after one undisturbed quick run of everything."""
    done = run(clone, "all", "extras")
    assert done.returncode == 0, done.stdout[-4000:]
    return clone


def test_a_dry_run_of_a_fresh_clone_has_jobs(clone: Path) -> None:
    dry = run(clone, "--dry-run")
    assert dry.returncode == 0, dry.stdout[-4000:]
    assert "ts_is_dp_fig8" in dry.stdout
    assert "Nothing to be done" not in dry.stdout


def test_every_target_is_built_and_marked_as_quick(built: Path) -> None:
    outputs = Outputs(Project.load(built).at(scale="quick"))
    for path in [*outputs.targets(), *outputs.extra_targets()]:
        assert (built / path).stat().st_size > 0, path
    claims = pd.read_csv(built / "results/quick/ts-is-dp/claims.csv")
    assert set(claims["scale"]) == {"quick"}
    assert claims["detail"].str.contains("no evidence").all()
    assert claims["claim"].nunique() == 28
    rates = pd.read_csv(built / "results/quick/dp-bai/claims.csv")
    assert rates["claim"].nunique() == 24
    assert not (built / "results/ts-is-dp").exists(), "the quick scale disturbed the paper's"


def test_a_second_run_has_nothing_to_do(built: Path) -> None:
    assert "Nothing to be done" in run(built, "all", "extras").stdout


def test_a_rebuild_from_the_cache_computes_nothing_and_gives_the_same_bytes(built: Path) -> None:
    before = built_files(built)
    for folder in ("results/quick", "results/quick/tables", "figures/quick"):
        shutil.rmtree(built / folder / ONE)
    again = run(built, "all", "extras", config=ONE_PAPER)
    assert again.returncode == 0, again.stdout[-4000:]
    assert "blocks computed" not in again.stdout
    assert built_files(built) == before


def edit(path: Path, old: str, new: str) -> Callable[[], None]:
    """Replace a text in a file; return what undoes it."""
    text = path.read_text()
    times = path.stat().st_mtime_ns
    assert old in text
    path.write_text(text.replace(old, new))

    def undo() -> None:
        path.write_text(text)
        os.utime(path, ns=(times, times))

    return undo


def planned(clone: Path, *words: str) -> set[str]:
    """Return what a dry run would compute, draw, judge or write, by name."""
    text = run(clone, "all", "extras", "--dry-run", *words).stdout
    message = r"^Job \d+: [a-z-]+: (?:computing|drawing|judging|writing the table) ([\w-]+)"
    return set(re.findall(message, text, flags=re.MULTILINE))


def test_an_edited_plot_redraws_that_plot_only(built: Path) -> None:
    config = built / "config/experiments/ts-is-dp.yaml"
    undo = edit(config, 'x: {label: "$\\\\delta$", limits: [0, null]}', 'x: {label: "delta"}')
    try:
        assert planned(built) == {"extra-fig1-linear"}
    finally:
        undo()


def test_an_edited_helper_recomputes_what_depends_on_it(built: Path) -> None:
    """The helper stands in another file than the kernels that call it."""
    undo = edit(built / "src/dpbandits/algorithms/noise.py", "scale * (", "1.5 * scale * (")
    try:
        jobs = planned(built)
        assert {"comparison-curves", "comparison-verdicts"} <= jobs
        assert not {"bernoulli-curves", "tuning", "small-steps"} & jobs
        before = (built / "results/quick/ts-is-dp/comparison-curves.parquet").read_bytes()
        done = run(built, "results/quick/ts-is-dp/comparison-curves.parquet")
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


def test_a_killed_run_resumes_to_the_same_bytes(
    built: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = copy_checkout(tmp_path_factory.mktemp("killed"))
    with subprocess.Popen(
        [*SNAKEMAKE, "all", "extras", *QUICK, *ONE_PAPER.split()],
        cwd=other,
        env=environment(other),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 300
        cells = other / ".cache/dpbandits/cells"
        while len(list(cells.rglob("*.block"))) < 50 and time.monotonic() < deadline:
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    computed = {path: path.stat().st_mtime_ns for path in cells.rglob("*.block")}
    assert len(computed) >= 50
    assert run(other, "--unlock").returncode == 0
    done = run(other, "all", "extras", config=ONE_PAPER)
    assert done.returncode == 0, done.stdout[-4000:]
    assert built_files(other) == built_files(built)
    assert all(path.stat().st_mtime_ns == at for path, at in computed.items()), "computed twice"


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("scale", "huge", "paper, quick"),
        ("papers", "[no-paper]", "ts-is-dp"),
        ("seed", "-1", "a whole number from 0"),
        ("only", "no-paper/fig1", "one of ts-is-dp"),
        ("no_such_key", "1", "papers, scale, seed, cache, only"),
    ],
)
def test_a_bad_config_ends_in_one_line(clone: Path, key: str, value: str, allowed: str) -> None:
    done = run(clone, "--dry-run", config=f"{key}={value}")
    assert done.returncode != 0
    [line] = [each for each in done.stdout.splitlines() if each.startswith("config/config.yaml:")]
    assert key in line
    assert allowed in line
    assert "Traceback" not in done.stdout
