"""A wheel made from a source distribution is of use outside the checkout, with the core alone."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from support import ROOT, run_python

SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "src", "config", "docs")
EXTRAS = ("snakemake", "pyarrow", "jinja2", "pdoc", "rocrate", "pygments")
ARMS = "--arms 0.75 0.5 --horizon 60 --runs 3"
TRIALS = "--features '1,0; 0,1' --theta 0.5,0.4 --budget 40 --runs 3"

COMMANDS = {
    "list": "m-ts-gaussian (b, c)",
    "list claims --format csv": "\ndp-ncb,",
    f"simulate ucb1 {ARMS}": "pseudo_regret",
    f"identify sequential-halving {TRIALS}": "success",
    f"compare ucb1 {ARMS}": "ucb1",
    "explain NCB-C2": "; see docs/figures/dp-ncb/fig1b-repaired.png.",
}
"""Command -> what is in its answer."""
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


def test_what_is_published_is_told_without_the_extras() -> None:
    run = run_python("-c", RUN.format(extras=EXTRAS), json.dumps(QUESTIONS), folder=ROOT)
    assert run.stdout.count("## status 0\n") == len(QUESTIONS), run.stderr


def build(kind: str, folder: Path) -> Path:
    """Return the ``sdist`` or ``wheel`` of a folder of sources, as pip builds it."""
    code = f"from setuptools.build_meta import build_{kind} as build; build('out')"
    run = run_python("-c", code, folder=folder)
    assert run.returncode == 0, run.stderr[-2000:]
    [built] = (folder / "out").iterdir()
    return built


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of an environment with the wheel of a source distribution of a copy.

    Libraries are those of this environment: nothing is fetched.
    """
    folder = tmp_path / "sources"
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.png")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder)
    shutil.unpack_archive(build("sdist", folder), tmp_path / "unpacked", filter="data")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([python, *install, build("wheel", unpacked)], check=True)
    [packages] = (tmp_path / "venv/lib").glob("*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(here))
    return python


@pytest.mark.slow
def test_the_wheel_is_of_use_in_an_empty_folder(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    words = json.dumps([*COMMANDS, *QUESTIONS, *NEEDING])
    run = subprocess.run(
        [python, "-c", RUN.format(extras=EXTRAS), words],
        cwd=empty,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not [*empty.iterdir()]
    answers = dict(zip([*COMMANDS, *QUESTIONS], run.stdout.split("## status ")[:-1], strict=False))
    for command, part in COMMANDS.items():
        assert part in answers[command]
    published = pd.read_csv(ROOT / "docs/figures/dp-ncb/claims.csv")
    assert answers["list claims --format csv"].count("\ndp-ncb,") == len(published)
    for command in QUESTIONS:
        here = run_python("-m", "dpbandits", *command.split(), folder=ROOT).stdout
        assert here
        assert here.rstrip() in answers[command]
    lines = [line for line in run.stderr.splitlines() if line.startswith("dpbandits: ")]
    assert len(lines) == len(NEEDING)
    assert all("in the project's folder, or with --project" in line for line in lines)
    script = python.with_name("dpbandits")
    subprocess.run([script, "--version"], cwd=empty, check=True, capture_output=True)
