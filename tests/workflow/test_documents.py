"""The commands, snippets and notebooks of the documents do what they say.

Snippets and short commands are run. Commands that take minutes are not: those of make and of
snakemake are run as dry runs. Commands on results are run at the quick scale, on what is built for
them.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpbandits.cli import main
from dpbandits.pipeline.targets import rule_name
from found_papers import PAPERS
from invented import DPBANDITS, ROOT, SNAKEMAKE, copy_parts, run
from notebooks import NOTEBOOKS, code_cells, executed
from support import DOCUMENTS, mostly_slow

ON_RESULTS = {"compare", "draw", "explain", "judge", "digitised", "overlay", "run", "tabulate"}
"""Commands that need results which are built, or build some."""
BY_ITSELF = {"audit", "cache", "check", "choose", "convert", "guarantee", "identify", "list"}
BY_ITSELF |= {"simulate"}
"""Commands that need nothing, or what is published alone."""
PROGRAMS = {"make", "snakemake", "dpbandits", "python", "conda", "source"}
"""Those that set an environment up (conda, source) are not run."""


def fenced(language: str) -> list[tuple[str, str]]:
    """Return (document, text) of every fenced block of a language."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [(name, block) for name, text in DOCUMENTS.items() for block in pattern.findall(text)]


def typed() -> list[str]:
    """Return every command of the shell blocks, and those that stand in running text.

    Those with a placeholder in capitals (``explain CLAIM``) are names of commands, not commands.
    """
    blocks = [block.replace("\\\n", " ") for _, block in fenced("sh")]
    lines = [
        shlex.join(shlex.split(line, comments=True)) for b in blocks for line in b.splitlines()
    ]
    for text in DOCUMENTS.values():
        outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for command in re.findall(r"`((?:make|snakemake|dpbandits)\s[^`]+)`", outside):
            words = shlex.split(command)
            if not any(re.fullmatch(r"[A-Z]{4,}|\.\.\.", word) for word in words):
                lines.append(shlex.join(words))
    return list(dict.fromkeys(filter(None, lines)))


TYPED, PYTHON = typed(), fenced("python")
MAKE = [line for line in TYPED if line.startswith("make ")]
# `snakemake extras` and the like are spoken of: a command says how many cores, and of what.
PLANNED = [
    line
    for line in TYPED
    if line.startswith("snakemake ") and " --cores " in line and "NAME" not in line
]
OWN = [line for line in TYPED if line.startswith("dpbandits ")]
# A name alone that takes arguments is spoken of, not typed.
ALONE = {f"dpbandits {name}" for name in ON_RESULTS | {"simulate", "identify"}}
ASKED, BUILT = (
    [line for line in OWN if line.split()[1] in names and line not in ALONE]
    for names in (BY_ITSELF, ON_RESULTS)
)


def test_there_are_commands_of_every_kind_and_none_is_unknown() -> None:
    """Else the tests below would hold of nothing, or leave one untried."""
    assert {line.split()[0] for line in TYPED} <= PROGRAMS
    known = BY_ITSELF | ON_RESULTS | {"artifact", "publish", "verify"}
    assert {line.split()[1] for line in OWN} <= known
    assert {"make figures", "make quick", "make test"} <= set(MAKE)
    assert all((PYTHON, PLANNED, NOTEBOOKS))
    assert {line.split()[1] for line in ASKED} == BY_ITSELF
    assert {line.split()[1] for line in BUILT} >= {"overlay", "explain"}


RUN_EACH = """
import sys

for number, snippet in enumerate(sys.argv[1:]):
    exec(compile(snippet, f"snippet {number}", "exec"), {"__name__": "__main__"})
    print("end of snippet")
"""
"""Runs snippets one after the other, none of which sees what another has defined."""
USAGE = "docs/usage.md"


@pytest.mark.parametrize("is_usage", mostly_slow([False, True], False))
def test_python_snippets_run(is_usage: bool) -> None:
    """In the project's folder, where they read what is published; warnings are errors."""
    snippets = [snippet for name, snippet in PYTHON if (name == USAGE) == is_usage]
    command = [sys.executable, "-W", "error", "-c", RUN_EACH, *snippets]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *printed, rest = done.stdout.split("end of snippet\n")
    assert len(printed) == len(snippets)
    assert all(printed)
    assert not rest


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


@pytest.mark.parametrize("line", mostly_slow(PLANNED, *PLANNED[:1]))
def test_snakemake_commands_find_their_jobs(line: str, tmp_path: Path) -> None:
    """Run dry: they take minutes. In a folder without results, so that there is something to do."""
    words = [*SNAKEMAKE, *shlex.split(line)[1:], "--dry-run", "--quiet"]
    done = run(copy_parts(tmp_path, *CHECKOUT), words)
    assert done.returncode == 0, done.stdout
    assert "Nothing to be done" not in done.stdout


LONG = re.compile(r"dpbandits (check$|identify|audit (gdp-ncb|dp-se))")
BRIEF = [line for line in ASKED if not LONG.match(line)]


@pytest.mark.parametrize("line", mostly_slow(ASKED, *BRIEF))
def test_commands_run(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    if line.startswith("dpbandits cache"):
        # The folder of compiled kernels is every test's: it is not to be cleared under them.
        monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path))
    assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("line", BUILT)
def test_commands_on_results_run(line: str, tmp_path: Path) -> None:
    """At the quick scale: what the documents say is of the papers' own."""
    folder, words = copy_parts(tmp_path, *CHECKOUT), shlex.split(line)[1:]
    for word in words:
        paper, _, figure = word.partition("/")
        if paper in PAPERS:
            target = rule_name(paper, figure.rstrip("abc"))
            build = [*SNAKEMAKE, target, "--cores", "2", "--config", "scale=quick"]
            done = run(folder, [*build, f"papers=[{paper}]"])
            assert done.returncode == 0, done.stdout
    # What is published is of the papers' own scale, and so is what `explain` tells.
    words += ["--scale", "quick"] if words[0] == "overlay" else []
    done = run(folder, [*DPBANDITS, *words])
    assert done.returncode == 0, done.stdout
    if words[0] == "overlay":
        assert all((folder / path).is_file() for path in done.stdout.splitlines()[-3:])


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_is_committed(path: Path) -> None:
    """Where this fails: `make notebooks` writes the outputs anew."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    found, committed = executed(notebook), [cell["outputs"] for cell in cells]
    # What they say, pictures left out.
    said, written = (
        [[each.get("text") or each["data"].get("text/plain") for each in cell] for cell in outputs]
        for outputs in (found, committed)
    )
    assert said == written
    kinds = [each for cell in found for output in cell for each in output.get("data", ())]
    assert {"text/html", "image/png"} <= set(kinds)
