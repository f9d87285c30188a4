"""A wheel made from a source distribution is of use outside the checkout, with the core alone."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from support import run_python

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "src", "config", "docs")
EXTRAS = ("snakemake", "pyarrow", "jinja2", "griffe", "rocrate", "pygments")

QUESTIONS = (
    ["choose", "--arms", "20", "--horizon", "1e6", "--epsilon", "1"],
    # Their texts have numbers from evidence, from a published table and from a figure's csv.
    ["explain", "TSDP-F2"],
    ["explain", "NCB-F1"],
    ["explain", "DTU-F2"],
)
"""What is answered from what is published."""

COMMANDS = """
import json, sys
for name in {extras!r}:
    sys.modules[name] = None
from dpbandits.cli import main
for words in json.loads(sys.argv[1]):
    print("##", words[0], flush=True)
    print("## status", main(words), flush=True)
"""
"""Runs commands in one process, in which nothing of the extras can be imported."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from a source distribution of a copy: building leaves files beside sources."""
    folder = tmp_path_factory.mktemp("sources")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.png")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder)
    source = build("sdist", folder)
    unpacked = tmp_path_factory.mktemp("unpacked")
    shutil.unpack_archive(source, unpacked, filter="data")
    [folder] = unpacked.iterdir()
    return build("wheel", folder)


def build(kind: str, folder: Path) -> Path:
    """Return the ``sdist`` or ``wheel`` of a folder of sources, as pip builds it."""
    code = f"from setuptools.build_meta import build_{kind} as build; build('out')"
    run = run_python("-c", code, folder=folder)
    assert run.returncode == 0, run.stderr[-2000:]
    [built] = (folder / "out").iterdir()
    return built


def told(wheel: Path, place: Path, commands: list[list[str]]) -> tuple[list[str], str]:
    """Return what each command prints in an empty folder, and standard error."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "package")
    (place / "empty").mkdir()
    code = COMMANDS.format(extras=EXTRAS)
    run = run_python(
        *("-c", code, json.dumps(commands)),
        changes={"PYTHONPATH": str(place / "package")},
        folder=place / "empty",
    )
    assert run.returncode == 0, run.stderr
    assert not [*(place / "empty").iterdir()]
    return run.stdout.split("## status ")[:-1], run.stderr


@pytest.mark.slow
def test_the_wheel_is_of_use_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    arms = ["--arms", "0.75", "0.5", "--horizon", "60", "--runs", "3"]
    features = ["--features", "1,0; 0,1", "--theta", "0.5,0.4", "--budget", "40", "--runs", "3"]
    needing = [["check"], ["judge", "ts-is-dp"], ["draw", "ts-is-dp", "fig2"], ["verify"]]
    outputs, errors = told(
        wheel,
        tmp_path,
        [
            ["list"],
            ["list", "claims", "--format", "csv"],
            ["simulate", "ucb1", *arms],
            ["identify", "sequential-halving", *features],
            ["compare", "ucb1", *arms],
            ["explain", "NCB-C2"],
            *QUESTIONS,
            *needing,
        ],
    )
    assert "## simulate" in outputs[2]
    listed, claims, simulated, identified, compared, explained, *answers = outputs[: -len(needing)]
    assert "m-ts-gaussian (b, c)" in listed
    published = pd.read_csv(ROOT / "docs/figures/dp-ncb/claims.csv")
    assert claims.count("\ndp-ncb,") == len(published)
    assert "pseudo_regret" in simulated
    assert "success" in identified
    assert "ucb1" in compared
    assert "In short, repaired: asked whether" in explained
    assert "; see docs/figures/dp-ncb/fig1b-repaired.png." in explained
    for words, answer in zip(QUESTIONS, answers, strict=True):
        here = run_python("-m", "dpbandits", *words, folder=ROOT).stdout
        assert here
        assert here in answer
    lines = [line for line in errors.splitlines() if line.startswith("dpbandits: ")]
    assert len(lines) == len(needing)
    for line in lines:
        assert "in the project's folder, or with --project" in line


@pytest.mark.slow
def test_the_wheel_installs(wheel: Path, tmp_path: Path) -> None:
    """With the libraries of this environment: nothing is fetched."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    [packages] = (tmp_path / "venv/lib").glob("*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(here))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for words in (["--version"], ["explain", "BAI-C1"], ["list", "claims"], *QUESTIONS):
        done = subprocess.run(
            [tmp_path / "venv/bin/dpbandits", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
