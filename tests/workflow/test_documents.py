"""Commands of make, snakemake and dpbandits, snippets and notebooks of documents do as they say.

Snippets and short commands are run; those of make and of snakemake, which take minutes, as dry
runs; overlays at the quick scale, on what is built for them.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import nbformat
import pytest

from dpbandits.cli import main
from dpbandits.pipeline.jobs import build_results
from dpbandits.pipeline.overlay import find_panels
from dpbandits.pipeline.targets import rule_name
from found_papers import PROJECT
from invented import DPBANDITS, ROOT, SNAKEMAKE, copy_parts, run
from notebooks import NOTEBOOKS, executed
from support import DOCUMENTS, mostly_slow

SPOKEN = ("artifact", "compare", "explain", "identify", "overlay", "publish", "simulate", "verify")
"""Commands that alone take minutes, or arguments, without which they are spoken of."""


def fenced(language: str) -> list[tuple[str, str]]:
    """Return (document, text) of every fenced block of a language."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [(name, block) for name, text in DOCUMENTS.items() for block in pattern.findall(text)]


def typed() -> list[str]:
    """Return every command of the shell blocks, and those that stand in running text.

    Those with a placeholder in capitals (``explain CLAIM``) are names of commands, not commands.
    """
    blocks = [block.replace("\\\n", " ") for _, block in fenced("sh")]
    found = [shlex.split(line, comments=True) for b in blocks for line in b.splitlines()]
    for text in DOCUMENTS.values():
        outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for command in re.findall(r"`((?:make|snakemake|dpbandits)\s[^`]+)`", outside):
            words = shlex.split(command)
            if not any(re.fullmatch(r"[A-Z]{4,}|\.\.\.", word) for word in words):
                found.append(words)
    return list(dict.fromkeys(map(shlex.join, filter(None, found))))


TYPED, PYTHON = typed(), fenced("python")
MAKE = [line for line in TYPED if line.startswith("make ")]
# `snakemake extras` and the like are spoken of: a command says how many cores, and of what.
PLANNED = [
    line
    for line in TYPED
    if line.startswith("snakemake ") and " --cores " in line and "NAME" not in line
]
OWN = [line for line in TYPED if line.startswith("dpbandits ")]
OVERLAID = [line for line in OWN if line.startswith("dpbandits overlay ")]
ASKED = [line for line in OWN if line not in {*OVERLAID, *(f"dpbandits {name}" for name in SPOKEN)}]


def test_there_are_commands_of_every_kind_and_none_is_unknown() -> None:
    """Else the tests below would hold of nothing, or leave one untried."""
    programs = {"make", "snakemake", "dpbandits", "python", "conda", "source"}
    assert {line.split()[0] for line in TYPED} <= programs
    assert {"make figures", "make quick", "make test"} <= set(MAKE)
    assert {"audit", "check", "compare", "explain"} <= {line.split()[1] for line in ASKED}
    assert all((PYTHON, PLANNED, NOTEBOOKS, OVERLAID))


FAST = [each for each in PYTHON if each[0] != "docs/usage.md"]


SNIPPETS = [f"{name}-{number}" for number, (name, _) in enumerate(PYTHON)]


@pytest.mark.parametrize("snippet", mostly_slow(PYTHON, *FAST), ids=SNIPPETS)
def test_python_snippets_run(
    snippet: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the project's folder, where they read what is published; warnings are errors."""
    monkeypatch.chdir(ROOT)
    exec(compile(snippet[1], snippet[0], "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out


def test_make_targets_exist() -> None:
    """Run dry: `make figures` takes minutes, `make test` would not end."""
    listed = {line.split()[0] for line in run(ROOT, ["make", "help"]).stdout.splitlines()}
    for line in MAKE:
        words = [re.sub(r"=\.\.\.$", "=python3", word) for word in shlex.split(line)]
        done = run(ROOT, [words[0], "--dry-run", *words[1:]])
        assert done.returncode == 0, done.stdout
        target = next(word for word in words[1:] if "=" not in word)
        # Environments are targets too, which `make help` does not list.
        assert target in {".venv/installed", *listed}


CHECKOUT = ("Snakefile", "config", "workflow", "profiles", "examples", "docs")
"""What a build reads, and what commands are given, but no results."""


@pytest.mark.slow
@pytest.mark.parametrize("line", PLANNED)
def test_snakemake_commands_find_their_jobs(line: str, tmp_path: Path) -> None:
    """Run dry: they take minutes. In a folder without results, so that there is something to do."""
    words = [*SNAKEMAKE, *shlex.split(line)[1:], "--dry-run", "--quiet"]
    done = run(copy_parts(tmp_path, *CHECKOUT), words)
    assert done.returncode == 0, done.stdout
    assert "Nothing to be done" not in done.stdout


LONG = re.compile(r"dpbandits (check .|compare|identify|audit (?!ucb1)|simulate (?!ucb1))")
BRIEF = [line for line in ASKED if not LONG.match(line)]


@pytest.mark.parametrize("line", mostly_slow(ASKED, *BRIEF))
def test_commands_run(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    if line.startswith("dpbandits cache"):
        # The folder of compiled kernels is every test's: it is not to be cleared under them.
        monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path))
    assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("line", OVERLAID)
def test_overlays_are_drawn(line: str, tmp_path: Path) -> None:
    """At the quick scale: what the documents say is of the papers' own."""
    folder, words = copy_parts(tmp_path, *CHECKOUT), shlex.split(line)[1:]
    paper, _, figure = words[2].partition("/")
    target = rule_name(paper, figure.rstrip("abc"))
    config = ["--config", "scale=quick", f"papers=[{paper}]"]
    build = [*SNAKEMAKE, target, "--cores", "2", *config]
    for command in (build, [*DPBANDITS, *words, "--scale", "quick"]):
        done = run(folder, command)
        assert done.returncode == 0, done.stdout
    assert all((folder / path).is_file() for path in done.stdout.splitlines()[-3:])


@pytest.fixture(scope="module")
def read_by_notebooks() -> None:
    """Play what `make notebooks` builds first, where it is not there."""
    project = PROJECT.at(scale="quick")
    for name in ("dp-ts-ucb/fig7", "dp-ncb/fig1"):
        for read in {read for panel in find_panels(project, name) for read in panel.spec.reads}:
            paper = name.split("/")[0]
            if not project.results_path(paper, read).is_file():
                build_results(project, paper, read, workers=2)


@pytest.mark.slow
@pytest.mark.usefixtures("read_by_notebooks")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_is_committed(path: Path) -> None:
    """Where this fails: `make notebooks` writes the outputs anew."""

    def said(notebook: Any) -> list[tuple[Any, ...]]:
        outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", [])]
        return [(sorted(out.get("data", {})), out.get("text")) for out in outputs]

    assert said(executed(path)) == said(nbformat.read(path, nbformat.NO_CONVERT))
