"""Ctrl-C on the command line: one line and status 130, with one process and with workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/my_kernel.py"
BEGIN = "    t, written = state.clock[0], 0\n"
SLEEP = "    import pathlib, time\n    pathlib.Path('began').touch()\n    time.sleep(60)\n"


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_simulation_ends_in_one_line(workers: int, tmp_path: Path) -> None:
    text = EXAMPLE.read_text().replace("@numba.njit(nogil=True)\n", "")
    assert text.count(BEGIN) == 1
    # Playing starts at 100 rounds: kernels are compiled with that horizon before workers begin.
    own = text.replace(BEGIN, f"    if settings.horizon > 100:\n{indented(SLEEP)}{BEGIN}")
    (tmp_path / "own_slow.py").write_text(own)
    words = ["simulate", "own_slow.py", "--params", "epsilon=1", "pulls=2", "--arms", "0.7", "0.5"]
    numbers = ["--horizon", "200", "--runs", "40", "--workers", str(workers)]
    command = [sys.executable, "-m", "dpbandits", *words, *numbers]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for _ in range(600):
        if (tmp_path / "began").exists():
            break
        time.sleep(0.1)
    # As a terminal does: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert err == "dpbandits: interrupted\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
