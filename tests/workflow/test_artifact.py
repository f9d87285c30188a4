"""The archive as an evaluator has it: packed, unpacked elsewhere, drawn again, verified."""

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from quick_clone import ROOT, SNAKEMAKE, built_paper, edit, environment
from shared import copied

pytestmark = pytest.mark.slow

PYTHON = ROOT / ".venv-metadata/bin/python"
FIGURE = "figures/quick/ts-is-dp/fig8.png"
CURVES = "results/quick/ts-is-dp/comparison-curves.parquet"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with that folder's own package."""
    return subprocess.run(
        words, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )


def dpbandits(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, "-m", "dpbandits", *words)


def git(folder: Path, *words: str) -> None:
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one paper built at the quick scale, and what stands for its report."""
    clone = copied(built_paper(), tmp_path_factory.mktemp("checkout"))
    edit(clone / "config/config.yaml", "scale: paper", "scale: quick")
    for suffix in ("tex", "pdf", "html"):
        (clone / f"results/quick/report.{suffix}").write_text("report")
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "as it stands")
    return clone


@pytest.fixture(scope="module")
def archive(checkout: Path) -> Path:
    done = dpbandits(checkout, "artifact")
    assert done.returncode == 0, done.stderr
    return checkout / done.stdout.strip()


@pytest.fixture(scope="module")
def unpacked(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    [root] = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def graph(unpacked: Path) -> dict[str, Any]:
    """The entities of the crate, by their names."""
    document = json.loads((unpacked / "ro-crate-metadata.json").read_text())
    return {entity["@id"]: entity for entity in document["@graph"]}


def sums_that_fail(folder: Path) -> str:
    done = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SHA256SUMS"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.stdout


def names(entity: dict[str, Any], key: str) -> list[str]:
    value = entity[key]
    return [each["@id"] for each in (value if isinstance(value, list) else [value])]


def test_the_archive_has_all_of_it_and_nothing_of_this_machine(
    checkout: Path, archive: Path, unpacked: Path
) -> None:
    for name in (FIGURE, CURVES, "Snakefile", "requirements.lock", "docs/artifact.md", "COMMIT"):
        assert (unpacked / name).is_file(), name
    assert sums_that_fail(unpacked) == ""
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
    assert {(each.uid, each.gid, each.uname, each.gname) for each in members} == {(0, 0, "", "")}
    stated = {line.split("  ", 1)[1] for line in (unpacked / "SHA256SUMS").read_text().splitlines()}
    there = {each.name.partition("/")[2] for each in members}
    assert stated == there - {"SHA256SUMS"}
    assert str(checkout) not in (unpacked / "ro-crate-metadata.json").read_text()


def test_the_same_checkout_gives_the_same_bytes(checkout: Path, archive: Path) -> None:
    done = dpbandits(checkout, "artifact", "--out", "again")
    assert done.returncode == 0, done.stderr
    assert (checkout / done.stdout.strip()).read_bytes() == archive.read_bytes()


def test_every_file_made_is_tied_to_rule_inputs_parameters_and_software(
    unpacked: Path, graph: dict[str, Any]
) -> None:
    made = [name for name in graph if name.startswith(("figures/", "results/"))]
    assert FIGURE in made
    assert CURVES in made
    actions = [each for each in graph.values() if each["@type"] == "CreateAction"]
    for name in made:
        [action] = [a for a in actions if name in names(a, "result") and a["@id"] != "#run"]
        tool = graph[action["instrument"]["@id"]]
        libraries = {graph[each].get("name") for each in names(tool, "softwareRequirements")}
        assert {"python", "numpy", "numba", "snakemake"} <= libraries
        [control] = [
            each
            for each in graph.values()
            if each["@type"] == "ControlAction" and names(each, "object") == [action["@id"]]
        ]
        source, _, rule = control["instrument"]["@id"].partition("#")
        assert (unpacked / source).is_file()
        assert rule
        told = {graph[each]["name"] for each in names(action, "object") if "value" in graph[each]}
        assert {"scale", "seed", "entry"} <= told
        assert any(each.startswith("fingerprint of ") for each in told)
    drawn = graph[f"#made-{FIGURE}"]
    assert CURVES in names(drawn, "object")
    assert drawn["startTime"] <= drawn["endTime"]
    assert "results/quick/ts-is-dp/tuning.parquet" in names(graph[f"#made-{CURVES}"], "object")


def test_the_figure_is_drawn_again_and_nothing_is_simulated(unpacked: Path) -> None:
    (unpacked / FIGURE).unlink()
    results = {path: path.stat().st_mtime_ns for path in (unpacked / "results").rglob("*.parquet")}
    done = run(unpacked, *SNAKEMAKE, "--cores", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    assert "rule ts_is_dp_fig8:" in done.stderr
    assert "rule results:" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in results} == results
    assert sums_that_fail(unpacked) == ""


def test_figures_that_are_all_there_are_drawn_again_too(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    [root] = tmp_path.iterdir()
    dry = run(root, *SNAKEMAKE, "--cores", "2", "--dry-run")
    assert "rule ts_is_dp_fig8:" in dry.stdout + dry.stderr
    assert "rule results:" not in dry.stdout + dry.stderr


def verified(folder: Path) -> tuple[subprocess.CompletedProcess[str], pd.DataFrame]:
    done = dpbandits(folder, "verify", "--cells", "1", "--sample-seed", "3")
    return done, pd.read_csv(folder / "results/quick/verify.csv")


def test_a_sample_is_verified_without_the_cache(unpacked: Path) -> None:
    done, table = verified(unpacked)
    assert done.returncode == 0, done.stderr
    assert set(table["outcome"]) == {"exact"}
    assert {"tuning", "comparison-curves"} <= set(table["results"])
    assert "sample: 1 cells of each set of results" in done.stdout
    assert "drawn with seed 3" in done.stdout
    assert not [*unpacked.rglob("*.block"), *unpacked.rglob("*.pack")]


@pytest.fixture
def perturbed(unpacked: Path) -> Iterator[Path]:
    """The archive with numbers that were never simulated, fingerprint and digest in order."""
    path = unpacked / CURVES
    kept = path.read_bytes()
    program = f"""
from pathlib import Path
from dpbandits.engine.results import write_results
from dpbandits.pipeline.project import Project
project = Project.load(Path())
frame = project.frame("ts-is-dp", "comparison-curves")
frame["value"] += 1000.0
fingerprint = project.results_fingerprint("ts-is-dp", "comparison-curves")
write_results(Path({CURVES!r}), frame, fingerprint)
"""
    done = run(unpacked, sys.executable, "-c", program)
    assert done.returncode == 0, done.stderr
    yield unpacked
    path.write_bytes(kept)


def test_results_that_were_never_simulated_are_found(perturbed: Path) -> None:
    done, table = verified(perturbed)
    assert done.returncode == 2
    assert f"1 of {len(table)} cells are outside" in done.stderr
    outside = table.loc[table["outcome"] != "exact", "results"]
    assert list(outside) == ["comparison-curves"]


def test_stale_results_are_not_packed(checkout: Path) -> None:
    undo = edit(checkout / "src/dpbandits/algorithms/dp_se.py", "\nimport ", "\n# edited\nimport ")
    done = dpbandits(checkout, "artifact", "--out", "stale")
    undo()
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "stale" in done.stderr
    assert not (checkout / "stale").exists()


def test_what_is_no_checkout_is_not_packed(unpacked: Path) -> None:
    """Unless git finds one around it: a folder of the temporary ones is in none."""
    done = dpbandits(unpacked, "artifact")
    assert done.returncode == 2
    assert "is no git checkout" in done.stderr


@pytest.mark.skipif(not PYTHON.exists(), reason="`make metadata` sets up the validator")
def test_the_crate_is_valid_and_a_broken_one_is_not(archive: Path, tmp_path: Path) -> None:
    check = [PYTHON, ROOT / "workflow/artifact/check_crate.py"]
    done = subprocess.run([*check, archive], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    [root] = tmp_path.iterdir()
    path = root / "ro-crate-metadata.json"
    document = json.loads(path.read_text())
    drawn = next(each for each in document["@graph"] if each["@id"] == f"#made-{FIGURE}")
    del drawn["instrument"]
    drawn["colour"] = "red"
    path.write_text(json.dumps(document))
    done = subprocess.run([*check, root], capture_output=True, text=True)
    assert done.returncode == 1
    assert "MUST have an instrument" in done.stderr
    assert "colour: is no term of the context" in done.stderr
    shutil.rmtree(root)
