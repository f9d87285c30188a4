"""Commands import what they need, and no more: a cluster starts them a thousand times."""

from pathlib import Path

import pytest

from support import run_python

ROOT = Path(__file__).resolve().parents[2]

LOADED = """
import sys
from dpbandits.cli import main

status = main(sys.argv[1:])
print("loaded:", *sys.modules)
sys.exit(status)
"""
"""Runs a command in a fresh process, then prints the modules that it imported."""

CLAIMS, FIGURES, PICTURES = "dpbandits.claims", "dpbandits.reporting", "matplotlib"
WORKFLOW, PROJECT, NUMBERS = "snakemake", "dpbandits.pipeline", "numpy"
SIMULATE = ["simulate", "ucb1", "--arms", "0.7", "0.5", "--horizon", "9", "--runs", "2"]
OWN = ROOT / "examples/my_algorithm.py"
RUN = ["run", "ts-is-dp", "small-steps", "--scale", "quick", "--project"]


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        (["--help"], [CLAIMS, FIGURES, PICTURES, WORKFLOW, PROJECT, NUMBERS]),
        (SIMULATE, [CLAIMS, FIGURES, PICTURES, WORKFLOW, PROJECT]),
        (RUN, [CLAIMS, FIGURES, PICTURES, WORKFLOW]),
        (["check", "--papers", "dp-ts-ucb", "--project"], [PICTURES, WORKFLOW]),
        # A core install has no library of pages.
        (["check", str(OWN), "--params", "epsilon=1", "pulls=2"], ["jinja2", PICTURES, WORKFLOW]),
    ],
    ids=lambda value: value[0],
)
def test_commands_import_no_more_than_they_need(
    words: list[str], unused: list[str], tmp_path: Path
) -> None:
    for part in ("config", "workflow"):
        (tmp_path / part).symlink_to(ROOT / part)
    run = run_python("-c", LOADED, *words, *([str(tmp_path)] if words[-1] == "--project" else []))
    assert run.returncode == 0, run.stderr
    loaded = run.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    found = [each for each in loaded if any(f"{each}.".startswith(f"{name}.") for name in unused)]
    assert found == []
