"""Telling what is built imports no numerics, and a job imports only what it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from dpbandits.metrics import names, regret

ROOT = Path(__file__).parents[2]
NUMERICS = ("numpy", "pandas", "scipy", "numba", "matplotlib", "seaborn", "pyarrow", "joblib")

TELLING = """
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import targets

for scale in ("paper", "quick"):
    assert targets(Project.load().at(scale=scale))
"""
HELP = "from dpbandits.cli import main; main(['--help'])"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        pytest.param(TELLING, NUMERICS, id="targets"),
        pytest.param(HELP, NUMERICS, id="help"),
        pytest.param(
            "import dpbandits.pipeline.jobs, dpbandits.reporting.figures, dpbandits.engine.results",
            ("numba", "scipy.stats", "seaborn"),
            id="draw",
        ),
        pytest.param("import dpbandits.pipeline.jobs", NUMERICS, id="jobs"),
    ],
)
def test_what_is_not_imported(code: str, absent: tuple[str, ...]) -> None:
    told = f"{code}\nimport sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", told], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert not set(absent) & set(run.stdout.split())


def test_names_are_those_of_the_functions() -> None:
    assert tuple(regret.REGRET) == (*names.CURVES, *names.PER_ARM)
    assert tuple(regret.IDENTIFICATION) == names.IDENTIFIED
