"""What `make faults` runs: all that `make test` runs of the faults, and what that leaves out."""

import subprocess
import sys

import pytest

from reliability import ELSEWHERE, ROOT, words


def collected(part: bool) -> set[str]:
    """Return the tests that are run, by their ids."""
    chosen = [word for word in words(part) if word not in ELSEWHERE]
    command = [sys.executable, "-m", "pytest", *chosen, "-n", "0", "--collect-only"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_the_whole_suite_has_the_part_and_every_kill() -> None:
    whole, part = collected(part=False), collected(part=True)
    assert part < whole
    assert any("test_killed_runs.py" in each for each in whole - part)
    assert not any("test_page.py" in each for each in whole)
