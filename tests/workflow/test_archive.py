"""What is handed out: the archive, unpacked elsewhere, drawn again and verified; the wheel."""

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pandas as pd
import pytest

import invented
from invented import PAPER, ROOT, copy_parts, dpbandits_command, edited, run, snakemake
from support import run_python

FIGURE = f"figures/{PAPER}/fig2.png"
RESULTS = f"results/{PAPER}/by-pulls.parquet"
CHECK_SUMS = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]


def unpack(archive: Path, folder: Path) -> Path:
    assert run(folder, ["tar", "-xf", str(archive)]).returncode == 0
    [root] = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the invented paper built, and what stands for its report."""
    clone = tmp_path_factory.mktemp("checkout")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = run(ROOT, listing).stdout.split("\0")
    copy_parts(clone, *(name for name in names if (ROOT / name).is_file()))
    snakemake(invented.link_kernels(invented.add_paper(clone)))
    (clone / "results/report.html").write_text("report")
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "all of it"]):
        assert run(clone, ["git", *words]).returncode == 0
    return clone


@pytest.fixture(scope="module")
def archive(checkout: Path) -> Path:
    return checkout / dpbandits_command(checkout, "artifact").stdout.strip()


@pytest.fixture(scope="module")
def unpacked(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(archive, tmp_path_factory.mktemp("elsewhere"))


@pytest.mark.slow
def test_the_archive_has_all_of_it_and_nothing_of_this_machine(
    checkout: Path, archive: Path, unpacked: Path
) -> None:
    for name in (FIGURE, RESULTS, "Snakefile", "requirements.lock", "docs/artifact.md", "COMMIT"):
        assert (unpacked / name).is_file(), name
    sums = run(unpacked, CHECK_SUMS)
    assert sums.returncode == 0, sums.stdout
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
    assert {(each.uid, each.gid, each.uname, each.gname) for each in members} == {(0, 0, "", "")}
    summed = {line.split("  ", 1)[1] for line in (unpacked / "SHA256SUMS").read_text().splitlines()}
    assert summed == {each.name.partition("/")[2] for each in members} - {"SHA256SUMS"}
    again = dpbandits_command(checkout, "artifact", "--out", "again")
    assert (checkout / again.stdout.strip()).read_bytes() == archive.read_bytes()
    # The crate ties what was made to the workflow, its inputs and software.
    text = (unpacked / "ro-crate-metadata.json").read_text()
    assert str(checkout) not in text
    graph = {entity["@id"]: entity for entity in json.loads(text)["@graph"]}
    action = graph["#run"]
    assert action["instrument"] == graph["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert graph["./"]["mentions"] == [{"@id": "#run"}]
    read, made = ({each["@id"] for each in action[key]} for key in ("object", "result"))
    assert {FIGURE, RESULTS, "provenance.json"} <= made
    assert {invented.EXPERIMENTS, "#scale", "#seed"} <= read
    assert all((unpacked / name).is_file() for name in made)
    needed = [graph[each["@id"]]["name"] for each in graph["Snakefile"]["softwareRequirements"]]
    assert {"python", "numpy", "numba", "snakemake", "requirements.lock"} <= set(needed)
    records = json.loads((unpacked / "provenance.json").read_text())
    assert records[FIGURE.replace(".png", ".provenance.json")]["depends_on"]


@pytest.mark.slow
def test_figures_are_drawn_again_and_nothing_is_simulated(unpacked: Path) -> None:
    results = {path: path.stat().st_mtime_ns for path in (unpacked / "results").rglob("*.parquet")}
    drawn = snakemake(unpacked)
    assert "rule committing_early_fig2:" in drawn
    assert "rule results:" not in drawn
    assert {path: path.stat().st_mtime_ns for path in results} == results
    assert not run(unpacked, CHECK_SUMS).stdout


PERTURB = f"""
from pathlib import Path
from dpbandits.engine.results import write_results
from dpbandits.pipeline.project import Project
project = Project.load(Path())
frame = project.frame({PAPER!r}, "by-pulls")
frame["value"] += 1000.0
write_results(Path({RESULTS!r}), frame, project.results_fingerprint({PAPER!r}, "by-pulls"))
"""


@pytest.mark.slow
def test_a_sample_is_verified_without_the_cache(archive: Path, tmp_path: Path) -> None:
    """Numbers that were never simulated are found, though fingerprint and digest are in order."""
    root = unpack(archive, tmp_path)
    others = []
    for status in (0, 2):
        done = dpbandits_command(root, "verify", "--batches", "1", "--sample-seed", "3")
        assert done.returncode == status, done.stdout
        table = pd.read_csv(root / "results/verify.csv")
        others.append(set(table.loc[table["outcome"] != "exact", "results"]))
        assert set(table["results"]) == {"curves", "verdicts", "by-pulls"}
        assert "drawn with seed 3" in done.stdout
        assert not [*root.rglob("*.block"), *root.rglob("*.pack")]
        assert run(root, [sys.executable, "-c", PERTURB]).returncode == 0
    assert others == [set(), {"by-pulls"}]
    assert f"1 of {len(table)} batches are outside" in done.stdout


@pytest.mark.slow
def test_stale_results_and_what_is_no_checkout_are_not_packed(
    checkout: Path, unpacked: Path
) -> None:
    with edited(checkout / "src/dpbandits/algorithms/ucb1.py", "\nimport ", "\n# edited\nimport "):
        stale = dpbandits_command(checkout, "artifact", "--out", "stale")
    # A folder of the temporary ones is in no checkout.
    none = dpbandits_command(unpacked, "artifact", "--out", "stale")
    for done, words in ((stale, "stale"), (none, "is no git checkout")):
        assert done.returncode == 2
        assert done.stdout.count("\n") == 1
        assert words in done.stdout
    assert not (checkout / "stale").exists()


SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "src", "config", "docs")
EXTRAS = ("snakemake", "pyarrow", "jinja2", "rocrate", "pygments")
ARMS = "--arms 0.75 0.5 --horizon 60 --runs 3"
TRIALS = "--features '1,0; 0,1' --theta 0.5,0.4 --budget 40 --runs 3"

COMMANDS = {
    "list": "m-ts-gaussian (b, c)",
    "list claims --format csv": "\ndp-ncb,",
    f"simulate ucb1 {ARMS}": "pseudo_regret",
    f"identify sequential-halving {TRIALS}": "success",
    f"compare ucb1 {ARMS}": "ucb1",
    "audit ucb1 --horizon 4 --runs 2000 --x 0;0 --x-prime 1;0": "lower bound: epsilon >= 5.6",
    "explain NCB-C2": "  scale: paper, as published",
}
"""Command -> what is in its answer, in an empty folder with the wheel's core alone."""
QUESTIONS = (
    "choose --arms 20 --horizon 1e6 --epsilon 1",
    # Their texts have numbers from evidence, from a published table and from a figure's csv.
    *("explain TSDP-F2", "explain NCB-F1", "explain DTU-F2"),
)
"""What is answered from what is published, word for word as in the checkout."""
NEEDING = ("check", "judge ts-is-dp", "draw ts-is-dp fig2", "verify")
"""What needs a project's folder."""

RUN = """
import json, shlex, sys
for name in {extras!r}:
    sys.modules[name] = None
from dpbandits.cli import main
for words in json.loads(sys.argv[1]):
    print("\\n## status", main(shlex.split(words)), flush=True)
"""
"""Runs commands in one process, in which nothing of the extras can be imported."""


def answers(
    commands: Sequence[str], folder: Path, extras: Sequence[str] = EXTRAS, **changes: str
) -> subprocess.CompletedProcess[str]:
    words = ["-c", RUN.format(extras=extras), json.dumps(commands)]
    return run_python(*words, changes={**changes}, folder=folder)


BUILD = """
import sys
from setuptools import build_meta
print(getattr(build_meta, sys.argv[1])(sys.argv[2]))
"""


def build(kind: str, sources: Path, folder: Path) -> Path:
    """Build a distribution of sources into a folder, as ``build_wheel`` or ``build_sdist`` do."""
    done = run_python("-c", BUILD, kind, str(folder), folder=sources)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a distribution is built of, without results of one's own."""
    folder = copy_parts(tmp_path_factory.mktemp("sources"), *SOURCES)
    for path in folder.glob("src/*.egg-info"):
        shutil.rmtree(path)
    return folder


@pytest.mark.slow
def test_what_is_published_is_answered_without_the_extras(sources: Path) -> None:
    done = answers(QUESTIONS, sources)
    assert done.stdout.count("## status 0\n") == len(QUESTIONS), done.stderr


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    unpacked = unpack(build("build_sdist", sources, folder), tmp_path_factory.mktemp("sdist"))
    return build("build_wheel", unpacked, folder)


@pytest.mark.slow
def test_the_wheel_is_that_of_the_checkout_and_has_what_belongs_there(
    wheel: Path, sources: Path, tmp_path: Path
) -> None:
    def contents(wheel: Path) -> dict[str, bytes]:
        with ZipFile(wheel) as packed:
            return {name: packed.read(name) for name in packed.namelist()}

    assert contents(wheel) == contents(build("build_wheel", sources, tmp_path))
    checked = run_python("-m", "check_wheel_contents", str(wheel))
    assert checked.returncode == 0, checked.stdout


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """A folder with the wheel."""
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    done = run_python(*install, "--target", str(tmp_path / "installed"), str(wheel))
    assert done.returncode == 0, done.stderr[-2000:]
    return tmp_path / "installed"


@pytest.mark.slow
def test_the_wheel_is_of_use_in_an_empty_folder(
    installed: Path, sources: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert (installed / "dpbandits/cli/__init__.py").is_file(), "else the checkout's is imported"
    run = answers([*COMMANDS, *QUESTIONS, *NEEDING], empty, PYTHONPATH=str(installed))
    assert not [*empty.iterdir()]
    printed = dict(zip(COMMANDS, run.stdout.split("## status "), strict=False))
    for command, part in COMMANDS.items():
        assert part in printed[command]
    published = pd.read_csv(ROOT / "docs/figures/dp-ncb/claims.csv")
    assert printed["list claims --format csv"].count("\ndp-ncb,") == len(published)
    here = answers(QUESTIONS, sources, extras=()).stdout
    assert here.count("## status 0\n") == len(QUESTIONS)
    assert here in run.stdout
    lines = [line for line in run.stderr.splitlines() if line.startswith("dpbandits: ")]
    assert len(lines) == len(NEEDING)
    assert all("in the project's folder, or with --project" in line for line in lines)
    script = str(installed / "bin/dpbandits")
    assert run_python(script, "--version", folder=empty).returncode == 0
    plot = answers([f"compare ucb1 {ARMS} --out plot"], empty, PYTHONPATH=str(installed))
    assert "## status 0" in plot.stdout, plot.stderr
    assert {path.suffix for path in (empty / "plot").iterdir()} == {".csv", ".pdf", ".png"}
