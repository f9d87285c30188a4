"""The archive as an evaluator has it: packed, unpacked elsewhere, drawn again, verified."""

import json
import subprocess
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from invented import (
    DPBANDITS,
    EXPERIMENTS,
    PAPER,
    ROOT,
    SNAKEMAKE,
    add_paper,
    copy_parts,
    edited,
    environment,
    link_kernels,
)

pytestmark = pytest.mark.slow

FIGURE = f"figures/{PAPER}/fig2.png"
RESULTS = f"results/{PAPER}/by-pulls.parquet"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with that folder's own package."""
    return subprocess.run(
        words, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )


def dpbandits(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, *DPBANDITS, *words)


def unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    [root] = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the invented paper built, and what stands for its report."""
    clone = tmp_path_factory.mktemp("checkout")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, run(ROOT, *listing).stdout.split("\0")):
        if (ROOT / name).is_file():
            copy_parts(clone, name)
    link_kernels(add_paper(clone))
    done = run(clone, *SNAKEMAKE, "--cores", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    for suffix in ("tex", "pdf", "html"):
        (clone / f"results/report.{suffix}").write_text("report")
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "all of it"]):
        assert run(clone, "git", *words).returncode == 0
    return clone


@pytest.fixture(scope="module")
def archive(checkout: Path) -> Path:
    done = dpbandits(checkout, "artifact")
    assert done.returncode == 0, done.stderr
    return checkout / done.stdout.strip()


@pytest.fixture(scope="module")
def unpacked(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(archive, tmp_path_factory.mktemp("elsewhere"))


def test_the_archive_has_all_of_it_and_nothing_of_this_machine(
    checkout: Path, archive: Path, unpacked: Path
) -> None:
    for name in (FIGURE, RESULTS, "Snakefile", "requirements.lock", "docs/artifact.md", "COMMIT"):
        assert (unpacked / name).is_file(), name
    sums = run(unpacked, "sha256sum", "--check", "--quiet", "SHA256SUMS")
    assert sums.returncode == 0, sums.stdout
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
    assert {(each.uid, each.gid, each.uname, each.gname) for each in members} == {(0, 0, "", "")}
    summed = {line.split("  ", 1)[1] for line in (unpacked / "SHA256SUMS").read_text().splitlines()}
    assert summed == {each.name.partition("/")[2] for each in members} - {"SHA256SUMS"}
    again = dpbandits(checkout, "artifact", "--out", "again")
    assert (checkout / again.stdout.strip()).read_bytes() == archive.read_bytes()


def test_the_crate_ties_what_was_made_to_the_workflow_its_inputs_and_software(
    checkout: Path, unpacked: Path
) -> None:
    text = (unpacked / "ro-crate-metadata.json").read_text()
    assert str(checkout) not in text
    graph = {entity["@id"]: entity for entity in json.loads(text)["@graph"]}
    action = graph["#run"]
    assert action["instrument"] == graph["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert graph["./"]["mentions"] == [{"@id": "#run"}]
    assert action["startTime"] <= action["endTime"]
    read, made = ({each["@id"] for each in action[key]} for key in ("object", "result"))
    assert {FIGURE, RESULTS, "provenance.json"} <= made
    assert {EXPERIMENTS, "#scale", "#seed"} <= read
    assert all((unpacked / name).is_file() for name in made)
    needed = [graph[each["@id"]]["name"] for each in graph["Snakefile"]["softwareRequirements"]]
    assert {"python", "numpy", "numba", "snakemake", "requirements.lock"} <= set(needed)
    assert graph["#scale"]["value"] == "paper"
    records = json.loads((unpacked / "provenance.json").read_text())
    assert records[FIGURE.replace(".png", ".provenance.json")]["depends_on"]


def test_figures_are_drawn_again_and_nothing_is_simulated(unpacked: Path) -> None:
    results = {path: path.stat().st_mtime_ns for path in (unpacked / "results").rglob("*.parquet")}
    done = run(unpacked, *SNAKEMAKE, "--cores", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    assert "rule committing_early_fig2:" in done.stderr
    assert "rule results:" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in results} == results
    assert not run(unpacked, "sha256sum", "--check", "--quiet", "SHA256SUMS").stdout


PERTURB = f"""
from pathlib import Path
from dpbandits.engine.results import write_results
from dpbandits.pipeline.project import Project
project = Project.load(Path())
frame = project.frame({PAPER!r}, "by-pulls")
frame["value"] += 1000.0
write_results(Path({RESULTS!r}), frame, project.results_fingerprint({PAPER!r}, "by-pulls"))
"""


def test_a_sample_is_verified_without_the_cache(archive: Path, tmp_path: Path) -> None:
    """Numbers that were never simulated are found, though fingerprint and digest are in order."""
    root = unpack(archive, tmp_path)
    others = []
    for status in (0, 2):
        done = dpbandits(root, "verify", "--cells", "1", "--sample-seed", "3")
        assert done.returncode == status, done.stderr
        table = pd.read_csv(root / "results/verify.csv")
        others.append(set(table.loc[table["outcome"] != "exact", "results"]))
        assert set(table["results"]) == {"curves", "verdicts", "by-pulls"}
        assert "drawn with seed 3" in done.stdout
        assert not [*root.rglob("*.block"), *root.rglob("*.pack")]
        assert run(root, DPBANDITS[0], "-c", PERTURB).returncode == 0
    assert others == [set(), {"by-pulls"}]
    assert f"1 of {len(table)} cells are outside" in done.stderr


def test_stale_results_and_what_is_no_checkout_are_not_packed(
    checkout: Path, unpacked: Path
) -> None:
    with edited(checkout / "src/dpbandits/algorithms/ucb1.py", "\nimport ", "\n# edited\nimport "):
        stale = dpbandits(checkout, "artifact", "--out", "stale")
    # A folder of the temporary ones is in no checkout.
    none = dpbandits(unpacked, "artifact", "--out", "stale")
    for done, words in ((stale, "stale"), (none, "is no git checkout")):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert words in done.stderr
    assert not (checkout / "stale").exists()
