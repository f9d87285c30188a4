"""The commands and snippets of the documents do what they say.

Snippets and short commands are run. Commands that take minutes are not: those of make and of
snakemake are run as dry runs. Commands on results are run at the quick scale, on what is built for
them.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from documents import (
    BY_ITSELF,
    ON_RESULTS,
    ROOT,
    blocks,
    dpbandits_commands,
    inline_commands,
    shell_lines,
)
from dpbandits.cli import main
from dpbandits.pipeline.targets import rule_name
from found_papers import PAPERS
from invented import DPBANDITS, run
from support import mostly_slow

SET_UP = {
    "source .venv/bin/activate",
    "conda activate dpbandits",
    "conda env create -f environment.yml",
}
"""Set an environment up, as this test's own is: not run."""

PYTHON = blocks("python")


RUN_EACH = """
import sys

for number, snippet in enumerate(sys.argv[1:]):
    exec(compile(snippet, f"snippet {number}", "exec"), {"__name__": "__main__"})
    print("end of snippet")
"""
"""Runs snippets one after the other, none of which sees what another has defined."""


WITH_PYTHON = list(dict.fromkeys(name for name, _ in PYTHON))


@pytest.mark.parametrize(
    "document", mostly_slow(WITH_PYTHON, *(each for each in WITH_PYTHON if each != "docs/usage.md"))
)
def test_python_snippets_run(document: str) -> None:
    """In the project's folder, where they read what is published; warnings are errors."""
    snippets = [snippet for name, snippet in PYTHON if name == document]
    command = [sys.executable, "-W", "error", "-c", RUN_EACH, *snippets]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *printed, rest = done.stdout.split("end of snippet\n")
    assert len(printed) == len(snippets)
    assert all(printed)
    assert not rest


def test_every_line_of_a_shell_block_is_known() -> None:
    """So that none is left untried."""
    programs = {"make", "snakemake", "dpbandits", "python"}
    for document, line in [*shell_lines()]:
        assert line.split()[0] in programs or line in SET_UP, f"{document}: {line}"
    known = {*BY_ITSELF, *ON_RESULTS, "artifact", "publish", "verify"}
    for document, line in [*shell_lines(), *inline_commands("dpbandits")]:
        if line.startswith("dpbandits "):
            assert line.split()[1] in known, f"{document}: {line}"


def make_lines() -> list[str]:
    lines = [line for _, line in [*shell_lines(), *inline_commands("make")]]
    return list(dict.fromkeys(line for line in lines if line.startswith("make ")))


@pytest.mark.parametrize("line", make_lines())
def test_make_targets_exist(line: str) -> None:
    """Run dry: `make figures` takes minutes, `make test` would not end."""
    words = [re.sub(r"=\.\.\.$", "=python3", word) for word in shlex.split(line)]
    dry = [words[0], "--dry-run", *words[1:]]
    done = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    target = next(word for word in words[1:] if "=" not in word)
    # Environments are targets too, which `make help` does not list.
    assert target in {".venv/installed", *(each.split()[0] for each in listed.splitlines())}


def snakemake_lines() -> list[str]:
    lines = [line for _, line in [*shell_lines(), *inline_commands("snakemake")]]
    # `snakemake extras` and the like are spoken of: a command says how many cores.
    return list(dict.fromkeys(line for line in lines if " --cores " in line))


@pytest.mark.parametrize("line", mostly_slow(snakemake_lines(), *snakemake_lines()[:1]))
def test_snakemake_commands_find_their_jobs(line: str, tmp_path: Path) -> None:
    """Run dry: they take minutes. In a folder without results, so that there is something to do."""
    for name in ("config", "workflow"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "Snakefile", tmp_path)
    words = shlex.split(line)
    command = [sys.executable, "-m", *words, "--dry-run", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing to be done" not in done.stdout + done.stderr


LONG = re.compile(r"dpbandits check$|dpbandits audit gdp-ncb")
BRIEF = [each for each in dpbandits_commands(BY_ITSELF) if not LONG.match(each)]


@pytest.mark.parametrize("command", mostly_slow(dpbandits_commands(BY_ITSELF), *BRIEF))
def test_commands_run(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("command", dpbandits_commands(ON_RESULTS))
def test_commands_on_results_run(command: str, tmp_path: Path) -> None:
    """At the quick scale: what the documents say is of the papers' own."""
    for name in ("Snakefile", "config", "workflow", "profiles", "examples", "docs"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, tmp_path / name)
    words = shlex.split(command)[1:]
    for word in words:
        paper, _, figure = word.partition("/")
        if paper in PAPERS:
            target = rule_name(paper, figure.rstrip("abc"))
            build = [sys.executable, "-m", "snakemake", target, "--cores", "2", "--config"]
            done = run(tmp_path, [*build, "scale=quick", f"papers=[{paper}]"])
            assert done.returncode == 0, done.stdout
    # What is published is of the papers' own scale, and so is what `explain` tells.
    words += ["--scale", "quick"] if words[0] == "overlay" else []
    done = run(tmp_path, [*DPBANDITS, *words])
    assert done.returncode == 0, done.stdout
    if words[0] == "overlay":
        assert all((tmp_path / line).is_file() for line in done.stdout.splitlines()[-3:])


def test_there_are_commands_of_every_kind() -> None:
    """Else the tests above would hold of nothing."""
    assert len(PYTHON) >= 8
    assert {"make figures", "make quick", "make test"} <= set(make_lines())
    assert len(snakemake_lines()) >= 3
    assert {each.split()[1] for each in dpbandits_commands(BY_ITSELF)} == set(BY_ITSELF)
    assert {each.split()[1] for each in dpbandits_commands(ON_RESULTS)} >= {"overlay", "explain"}
