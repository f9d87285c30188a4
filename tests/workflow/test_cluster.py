"""The profiles of clusters, and what is told of jobs that failed; `make slurm-test` runs them."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpbandits.project.config import Project
from dpbandits.project.costs import COSTS, RESULTS, Costs, memory_to_ask_for
from dpbandits.project.resources import Jobs

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "profiles"
LAST_LINES = ROOT / "workflow/last_lines.py"


def profile(name: str) -> dict[str, Any]:
    document = yaml.safe_load((PROFILES / name / "profile.yaml").read_text())
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("name", ["slurm", "slurm-test"])
def test_profiles_bound_retries_and_go_on(name: str) -> None:
    found = profile(name)
    assert found["executor"] == "slurm"
    assert found["rerun-incomplete"] is True
    assert found["keep-going"] is True
    assert found["retries"] == 2
    [path] = found["configfile"]
    changes = yaml.safe_load((ROOT / path).read_text())
    project = Project.load(ROOT, {**Project.load(ROOT).config, **changes})
    project.check()
    assert project.max_jobs_per_simulation > 1
    assert "NUMBA_CACHE_DIR" in Jobs(project).environment()


def test_real_clusters_are_asked_rarely_and_the_test_cluster_without_accounting() -> None:
    real, test = profile("slurm"), profile("slurm-test")
    assert not {key for key in real if key.startswith("slurm-")}
    assert "seconds-between-status-checks" not in real
    assert "<<" in real["default-resources"]["slurm_account"]
    assert test["slurm-status-command"] == "squeue"


def test_what_is_drawn_fits_into_the_default_resources() -> None:
    memory = profile("slurm")["default-resources"]["mem_mb"]
    assert memory.endswith(" * attempt")
    drawn = [cost for key, cost in Costs(ROOT / COSTS).rows.items() if key[2] != RESULTS]
    assert drawn
    most = max(memory_to_ask_for(cost, threads=1, attempt=1) for cost in drawn)
    assert most <= int(memory.split()[0])
    minutes = int(profile("slurm")["default-resources"]["runtime"].split()[0])
    assert 3 * max(cost.core_seconds for cost in drawn) <= 60 * minutes


def environment(folder: Path, kernels: str) -> subprocess.CompletedProcess[str]:
    """Run what a job begins with, and print where its kernels are."""
    project = Project.load(ROOT, {**Project.load(ROOT).config, "numba_cache_dir": kernels})
    return subprocess.run(
        ["bash", "-euc", Jobs(project).environment() + 'echo "$NUMBA_CACHE_DIR"'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_kernels_lie_where_the_shell_of_a_node_says(tmp_path: Path) -> None:
    done = environment(tmp_path, f"{tmp_path}/$(id -u)/kernels")
    made = Path(done.stdout.strip())
    assert made.parent.parent == tmp_path
    assert made.parent.name.isdecimal()
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """Compiled code is loaded from there. No folder is ours that cannot be made."""
    (tmp_path / "file").touch()
    done = environment(tmp_path, f"{tmp_path}/file/kernels")
    assert done.returncode != 0
    assert "belongs to another user; allowed: your own folder" in done.stderr


def test_the_page_and_the_test_of_a_cluster_name_what_is_there() -> None:
    shards = Path(Jobs(Project.load(ROOT)).shard_pattern()).relative_to(ROOT)
    assert f"`{shards.parents[2]}`" in (ROOT / "docs/cluster.md").read_text()
    named = re.findall(r'"rule_(\w+)"', (ROOT / "tests/cluster/slurm_test.py").read_text())
    rules = re.findall(r"^rule (\w+):", (ROOT / "workflow/rules/simulate.smk").read_text(), re.M)
    assert len(named) == 2
    assert set(named) <= set(rules)


LOG = """
Error in rule results:
    message: SLURM-job '1' failed, SLURM status is: 'TIMEOUT'.
    jobid: 3
    output: results/one.parquet
    log: {0}/one.log, {0}/missing.log (check log file(s) for error details)
    shell:
        dpbandits run
Trying to restart job 3.
Error in rule results:
    jobid: 4
    log: {0}/two.log (check log file(s) for error details)
Trying to restart job 4.
Finished jobid: 4 (Rule: results)
Error in rule results:
    jobid: 3
    output: results/one.parquet
    log: {0}/one.log, {0}/missing.log (check log file(s) for error details)
"""


def test_last_lines_are_told_of_jobs_that_failed_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text("".join(f"line {number}\n" for number in range(100)))
    (tmp_path / "two.log").write_text("came through\n")
    (tmp_path / "workflow.log").write_text(LOG.format(tmp_path))
    command = [sys.executable, str(LAST_LINES), str(tmp_path / "workflow.log")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert told.count("results failed:") == 1
    assert "    line 99\n" in told
    assert "    line 70\n" in told
    assert "line 69" not in told
    assert "(no such file)" in told
    assert "came through" not in told
