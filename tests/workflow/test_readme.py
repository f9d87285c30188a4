"""The commands and snippets of the README do what it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpbandits.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_python_snippets_run(snippet: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", snippet]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_make_targets_exist() -> None:
    named = set(re.findall(r"`?make ([a-z]+)`?", README)) - {"are"}
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert named
    assert {word.split()[0] for word in listed.splitlines()} >= named


def test_dpbandits_commands_of_the_readme_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = re.findall(r"`dpbandits ((?:list|simulate|identify|check)[^`]*)`", README)
    assert len(commands) >= 4
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path))
    for command in commands:
        assert main(shlex.split(command)) == 0, command
        assert capsys.readouterr().out
