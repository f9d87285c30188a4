"""The archive as an evaluator has it: packed, unpacked elsewhere, drawn again, verified."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from quick_clone import SNAKEMAKE, copy_checkout, edit, environment

pytestmark = pytest.mark.slow

FIGURE = "figures/quick/ts-is-dp/fig8.png"
CURVES = "results/quick/ts-is-dp/comparison-curves.parquet"
"""Tuned by other results, so that the archive has both."""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with that folder's own package."""
    variables = environment(folder)
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True)


def dpbandits(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, "-m", "dpbandits", *words)


def unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    [root] = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one paper built at the quick scale, and what stands for its report."""
    clone = copy_checkout(tmp_path_factory.mktemp("checkout"))
    edit(clone / "config/config.yaml", "scale: paper", "scale: quick")
    done = run(clone, *SNAKEMAKE, "all", "extras", "--cores", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    for suffix in ("tex", "pdf", "html"):
        (clone / f"results/quick/report.{suffix}").write_text("report")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all of it"]):
        name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        subprocess.run(["git", *name, *words], cwd=clone, check=True, capture_output=True)
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
    for name in (FIGURE, CURVES, "Snakefile", "requirements.lock", "docs/artifact.md", "COMMIT"):
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
    assert {FIGURE, CURVES, "provenance.json"} <= made
    assert {"config/papers/ts-is-dp/experiments.yaml", "#scale", "#seed"} <= read
    assert all((unpacked / name).is_file() for name in made)
    needed = [graph[each["@id"]]["name"] for each in graph["Snakefile"]["softwareRequirements"]]
    assert {"python", "numpy", "numba", "snakemake", "requirements.lock"} <= set(needed)
    assert graph["#scale"]["value"] == "quick"
    records = json.loads((unpacked / "provenance.json").read_text())
    assert records[FIGURE.replace(".png", ".provenance.json")]["depends_on"]


def test_figures_are_drawn_again_and_nothing_is_simulated(unpacked: Path) -> None:
    results = {path: path.stat().st_mtime_ns for path in (unpacked / "results").rglob("*.parquet")}
    done = run(unpacked, *SNAKEMAKE, "--cores", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    assert "rule ts_is_dp_fig8:" in done.stderr
    assert "rule results:" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in results} == results
    assert not run(unpacked, "sha256sum", "--check", "--quiet", "SHA256SUMS").stdout


PERTURB = f"""
from pathlib import Path
from dpbandits.engine.results import write_results
from dpbandits.pipeline.project import Project
project = Project.load(Path())
frame = project.frame("ts-is-dp", "comparison-curves")
frame["value"] += 1000.0
fingerprint = project.results_fingerprint("ts-is-dp", "comparison-curves")
write_results(Path({CURVES!r}), frame, fingerprint)
"""


def test_a_sample_is_verified_without_the_cache(archive: Path, tmp_path: Path) -> None:
    """Numbers that were never simulated are found, though fingerprint and digest are in order."""
    root = unpack(archive, tmp_path)
    others = []
    for status in (0, 2):
        done = dpbandits(root, "verify", "--cells", "1", "--sample-seed", "3")
        assert done.returncode == status, done.stderr
        table = pd.read_csv(root / "results/quick/verify.csv")
        others.append(set(table.loc[table["outcome"] != "exact", "results"]))
        assert {"tuning", "comparison-curves"} <= set(table["results"])
        assert "drawn with seed 3" in done.stdout
        assert not [*root.rglob("*.block"), *root.rglob("*.pack")]
        assert run(root, sys.executable, "-c", PERTURB).returncode == 0
    assert others == [set(), {"comparison-curves"}]
    assert f"1 of {len(table)} cells are outside" in done.stderr


def test_stale_results_and_what_is_no_checkout_are_not_packed(
    checkout: Path, unpacked: Path
) -> None:
    undo = edit(checkout / "src/dpbandits/algorithms/dp_se.py", "\nimport ", "\n# edited\nimport ")
    stale = dpbandits(checkout, "artifact", "--out", "stale")
    undo()
    # A folder of the temporary ones is in no checkout.
    none = dpbandits(unpacked, "artifact", "--out", "stale")
    for done, words in ((stale, "stale"), (none, "is no git checkout")):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert words in done.stderr
    assert not (checkout / "stale").exists()
