"""The profiles of clusters; `make slurm-test` runs them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "profiles"


def profile(name: str) -> dict[str, Any]:
    document = yaml.safe_load((PROFILES / name / "config.yaml").read_text())
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("name", ["slurm", "slurm-test"])
def test_profiles_bound_retries_and_go_on(name: str) -> None:
    found = profile(name)
    assert found["executor"] == "slurm"
    assert found["rerun-incomplete"] is True
    assert found["keep-going"] is True
    assert found["retries"] == 2
    # What decides whether something is built again is the same everywhere.
    for key in ("rerun-triggers", "show-failed-logs"):
        assert found[key] == profile("default")[key]


def test_real_clusters_are_asked_rarely_and_the_test_cluster_without_accounting() -> None:
    real, test = profile("slurm"), profile("slurm-test")
    assert not {key for key in real if key.startswith("slurm-")}
    assert "seconds-between-status-checks" not in real
    assert "<<" in real["default-resources"]["slurm_account"]
    assert test["slurm-status-command"] == "squeue"
