"""The commands that answer anywhere: what they print, in which forms, and how they refuse."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Any
from unittest.mock import Mock

import click
import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY
from dpbandits.cli import cli, main
from dpbandits.cli.options import pairs
from dpbandits.metrics.intervals import mean_interval
from dpbandits.pages.explain import explanation
from dpbandits.pipeline.project import Project, published_table
from dpbandits.text_tables import aligned
from invented import PAPER, ROOT, add_paper, copy_parts
from made_tables import made_project
from shared import shared_folder
from support import replace_in, run_python

ARMS = "--arms 0.75 0.5"
SIMULATE = f"simulate m-ts-gaussian --params b=2 c=1.5 {ARMS} --horizon 50 --runs 4"
COMPARE = f"compare {ARMS} --horizon 60 --runs 3"
UCB1 = "simulate ucb1 --horizon 50 --runs 4"
IDENTIFY = "identify dp-bai --params epsilon=1 --features '1,0;0,1;0.7,0.7' --theta 0.9,0.2"
IDENTIFY += " --budget 400 --runs 2"
GDP_NCB = "guarantee gdp-ncb --params epsilon=0.2 --horizon 100000000"
COINS = dpbandits.bernoulli([0.75, 0.5])
TOLD: dict[str, Any] = {"algorithm": "m-ts-gaussian", "b": 2, "c": 1.5, "horizon": 50, "runs": 4}
simulate = partial(dpbandits.simulate, bandit=COINS, **TOLD)
"""Simulate what SIMULATE does."""


Printed = Callable[[str], str]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """What a command prints that is seen to work."""

    def run(line: str) -> str:
        assert main(shlex.split(line)) == 0
        out, err = capsys.readouterr()
        shown = ("compiling ", "playing ", "simulating ")
        assert all(each.startswith(shown) for each in err.splitlines())
        return out

    return run


def test_list_and_help_have_every_algorithm_and_command(printed: Printed) -> None:
    shown = printed("list")
    for algorithm in REGISTRY.values():
        assert f"{algorithm.id} (" in shown
        for name, values in algorithm.interpretations.items():
            assert f"interpretation {name}: {', '.join(values)} (default {values[0]})" in shown
    guarantees = [line for line in shown.splitlines() if line.startswith("    guarantee ")]
    assert len(guarantees) == sum(len(each.variants) for each in REGISTRY.values())
    assert sum("refuted (NCB-C15)" in line for line in guarantees) == 2
    helped = printed("--help")
    assert printed("") == helped
    headings = re.findall(r"^(Play|Ask|Build):$", helped, re.MULTILINE)
    assert headings == ["Play", "Ask", "Build"]
    shown = re.findall(r"^  ([a-z-]+)  ", helped.partition("Play")[2], re.MULTILINE)
    assert shown == [name for name, command in cli.commands.items() if not command.hidden]
    for name, command in cli.commands.items():
        assert printed(f"{name} --help").startswith(f"Usage: dpbandits {name}")
        options = [each for each in command.params if isinstance(each, click.Option)]
        assert all(each.help for each in options), name


@pytest.mark.slow
def test_an_algorithm_of_a_published_paper_is_known_by_its_id(
    tmp_path: Path,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copy_parts(tmp_path, "config/config.yaml", "config/comparisons")
    add_paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    line = f"simulate my-kernel --params epsilon=1 pulls=2 {ARMS} --horizon 50 --runs 4"
    assert "my-kernel" not in printed("list")
    assert main(shlex.split(line)) == 2
    replace_in(tmp_path / "config/papers" / PAPER / "paper.yaml", "draft", "published")
    capsys.readouterr()
    assert "my-kernel (epsilon, pulls): Private explore-then-commit" in printed("list")
    assert "1-DP (pure)" in printed(line)
    assert main(shlex.split(line.replace("kernel", "kernl"))) == 2
    assert capsys.readouterr().err.rstrip().endswith("did you mean 'my-kernel'?")


def test_simulate_prints_what_the_api_returns(printed: Printed) -> None:
    shown = printed(f"{SIMULATE} --seed 3 --interpretations count=n")
    simulation = simulate(interpretations={"count": "n"}, seed=3)
    values = {name: getattr(simulation, name) for name in ("pseudo_regret", "realised_regret")}
    values |= {f"pulls of arm {arm}": each for arm, each in enumerate(simulation.pulls.T)}
    for name, each in values.items():
        expected = " ".join(f"{float(number):.6g}" for number in mean_interval(each))
        assert f"{name} {expected}" in " ".join(shown.split())


def test_compare_prints_what_the_api_returns(printed: Printed, tmp_path: Path) -> None:
    shown = printed(f"{COMPARE} --params epsilon=1 --out {tmp_path / 'out'} -- ucb1,dp-se")
    comparison = dpbandits.compare(["ucb1", "dp-se"], bandit=COINS, horizon=60, runs=3, epsilon=1)
    assert shown == f"{aligned(comparison.summary())}\n"
    files = {path.name: path for path in (tmp_path / "out").iterdir()}
    assert set(files) == {f"comparison.{suffix}" for suffix in ("csv", "pdf", "png")}
    kept = pd.read_csv(files["comparison.csv"], keep_default_na=False)
    pd.testing.assert_frame_equal(kept, comparison.frame())


CHOOSE = "choose --arms 20 --horizon 1e6 --epsilon 1"
TABLES = {
    SIMULATE: ("metric", "pseudo_regret"),
    IDENTIFY: ("metric", "success"),
    f"compare ucb1 {ARMS} --horizon 60 --runs 3": ("algorithm", "ucb1"),
    "list": ("algorithm", next(iter(REGISTRY))),
    "list claims": ("claim", "TSDP-C1"),
    "guarantee dp-se --params epsilon=1 --horizon 9": ("kind", "pure"),
    "convert renyi=1 order=8 --to approximate delta=1e-6": ("delta", 1e-6),
    f"{CHOOSE} --project {ROOT}": ("place", 1),
}
"""Command -> a column of its table, and what its first row has there."""


@pytest.mark.parametrize("line", TABLES)
def test_every_table_has_formats_for_programs(line: str, printed: Printed) -> None:
    rows = json.loads(printed(f"{line} --format json"))
    table = pd.read_csv(io.StringIO(printed(f"{line} --format csv")), keep_default_na=False)
    assert (list(table.columns), len(table)) == (list(rows[0]), len(rows))
    column, value = TABLES[line]
    assert rows[0][column] == value
    if line == SIMULATE:
        assert rows[0]["mean"] == simulate().pseudo_regret.mean(), "every digit"


def test_a_missing_library_names_its_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, extra in (("pyarrow.parquet", "workflow"), ("rocrate", "artifact")):
        missing = ModuleNotFoundError(f"No module named {name!r}", name=name)
        monkeypatch.setattr("dpbandits.cli.answers.show", Mock(side_effect=missing))
        assert main(["list"]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.endswith(f"pip install 'dpbandits[{extra}]'")


def test_the_shell_completes_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_DPBANDITS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setenv("COMP_WORDS", "dpbandits li")
    assert main([]) == 0
    assert capsys.readouterr().out == "plain,list\n"


REFUTED = "0.2-DP (pure), central model; stated by dp-ncb, Theorem 2; refuted (NCB-C15)"
LOCAL = f"simulate ldp-ncb --params epsilon=0.2 --variant as-coded {ARMS} --horizon 20 --runs 2"
LINES = {
    "guarantee ucb1 --horizon 9 --delta 0.1": "no privacy guarantee",
    f"{GDP_NCB} --delta 1e-6": f"{REFUTED}; nothing follows at delta=1e-06",
    f"{GDP_NCB} --variant repaired --delta 1e-2": "0.2-DP (pure), central model; stated by "
    "dp-ncb, Theorem 2; proved (NCB-C15); (0.181645, 0.01)-DP",
    "convert renyi=0.5 order=8 --to approximate delta=1e-6": "(8, 0.5)-Renyi DP implies (2.47364, "
    "1e-06)-DP [Mironov (2017)]; (2.04305, 1e-06)-DP [Canonne, Kamath and Steinke (2020)]",
    "convert approximate=1 delta=1e-9 --to approximate delta=1e-6": "(1, 1e-09)-DP implies "
    "(0.999999, 1e-06)-DP [Kairouz, Oh and Viswanath (2015), tight]",
    LOCAL: "guarantee: 0.2-DP (pure), local model; stated by dp-ncb",
    IDENTIFY: "guarantee: no privacy guarantee; rewards reach 1.8",
}


def test_guarantees_and_conversions_are_one_line(printed: Printed) -> None:
    for words, line in LINES.items():
        assert printed(words).splitlines()[-1].startswith(line)
    lines = {
        printed(f"simulate m-ts-gaussian --params {params} --arms {arms} --horizon 5e1 --runs 4")
        for arms, params in (("0.75,0.5", "b=2,c=1.5"), ("'0.75, 0.5'", "b=2 c=1.5"))
    }
    assert len(lines) == 1, "lists take commas and spaces alike, and a value may have a comma"
    assert pairs("x", "log=natural,constants=4,5") == {"log": "natural", "constants": "4,5"}


# Words that come first -> words, and what the one line says.
WRONG = {
    "": [
        ("simulat", "; did you mean 'simulate'?"),
        ("simulate", "Missing argument 'ALGORITHM' (see dpbandits simulate --help)"),
        ("artifact --out ''", "--out is ''; allowed: a path"),
        ("check ''", "config/config.yaml: does not exist; allowed: this command in"),
        ("check --project ''", "--project is ''; allowed: a path"),
        ("check --project nowhere", "nowhere/config/config.yaml: does not exist; allowed: "),
        ("explain X --project no", "in the project's folder, or with --project"),
        ("run ts-is-dp tuning --workers 0", "workers is 0; allowed: a whole number"),
        (f"compare ucb1 {ARMS} --horizon 9", "Missing option '--runs'"),
        ("compare ucb1 --runs 9", "there are no arms; allowed: --arms, or --features and"),
        ("compare ucb1 --runs 9 --features '1,0;0,1'", "--theta is missing; allowed: "),
        (f"{COMPARE} --theta 1 -- ucb1", "--theta is given beside --arms; allowed: --arms, "),
    ],
    SIMULATE: [
        ("--hozion 9", "No such option '--hozion'. Did you mean '--ho"),
        ("-- more", "unexpected extra argument (more)"),
        ("--format cvs", "--format is 'cvs'; allowed: table, csv, json; did you mean 'csv'"),
        ("--horizon 1.5", "--horizon is '1.5'; allowed: a whole number"),
        ("--horizon 1e16", "horizon is 10000000000000000; allowed: "),
        ("--interpretations count", "interpretations is 'count'; allowed: NAME=VALUE"),
        ("--params =1", "params is '=1'; allowed: NAME=VALUE"),
        ("--params b=2 b=3 c=1", "allowed: every NAME once"),
        ("--params b=2 c=two", "c is 'two'; allowed: a finite number above 0"),
    ],
    UCB1: [
        ("--arms 0.7 1.5", "mean is 1.5; allowed: 0 to 1"),
        ("--arms 0.7 x", "arms is 'x'; allowed: a number"),
    ],
    "convert": [
        ("gdp=1", "--to"),
        ("gdp=1 --to approximate", "delta or epsilon is wanted"),
        ("gdp=1 --to zcdp x=1", "to is 'x'; allowed: order"),
        ("eta=1 --to zcdp", "given is eta=1; allowed: one of pure=VALUE, gdp=VALUE, zcdp=VALUE"),
        ("gdp=x --to zcdp", "allowed: a number"),
    ],
    "guarantee": [
        ("ts-gaussian --horizon 9 --delta 2", "delta=2.0"),
        ("dp-od --params epsilon=1", "option '--horizon' / '--budget'"),
    ],
    f"--project {ROOT}": [
        ("check --seed -1", "seed is -1; Input should be greater than or equal"),
        ("check --scale tiny", "--scale is 'tiny'; allowed: paper, quick"),
        ("judge equal-privacy", "which has no claims; allowed: ts-is-dp"),
        ("tabulate equal-privacy claims", "table is 'claims'; allowed: extra-equal"),
        ("draw equal-privacy fig1", "figure is 'fig1'; allowed: extra-equal-privacy"),
        ("explain dtu-c90", "claim is 'dtu-c90'; nearest ids: DTU-C9, DTU-C20, DTU-"),
        ("choose --arms 1 --horizon 9 --epsilon 1", "arms is 1; allowed: a whole number from 2"),
        (f"{CHOOSE} --trust none", "--trust is 'none'; allowed: central, local"),
    ],
}


def test_wrong_input_ends_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for first, table in WRONG.items():
        for line, expected in table:
            words = f"{line} {first}" if "--project" in first else f"{first} {line}"
            assert main(shlex.split(words)) == 2, words
            printed = capsys.readouterr()
            assert printed.out == ""
            [shown] = printed.err.splitlines()
            assert shown.startswith("dpbandits: ")
            assert expected in shown, words


BRIEF = "guarantee ucb1 --horizon 9"


@pytest.mark.parametrize(
    ("redirected", "status"),
    [(f"{BRIEF} >&-", 0), (f"{BRIEF} >&- 2>&-", 0), ("nope >&- 2>&-", 2)],
)
def test_closed_streams_are_no_fault(redirected: str, status: int) -> None:
    script = f"{shlex.quote(sys.executable)} -m dpbandits {redirected}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@pytest.mark.slow
def test_a_letter_that_a_terminal_has_not_is_escaped() -> None:
    whole, plain = (
        run_python("-m", "dpbandits", "list", changes={"PYTHONIOENCODING": encoding})
        for encoding in ("utf-8", "ascii")
    )
    assert plain.returncode == 0, plain.stderr
    assert "\\xe9" in plain.stdout
    assert plain.stdout.encode().decode("unicode_escape") == whole.stdout


@pytest.mark.parametrize("words", ["list", BRIEF])
def test_a_full_disk_of_the_output_is_one_line(words: str) -> None:
    """The output of the second command fits into the buffer, which is written at the end."""
    command = [sys.executable, "-m", "dpbandits", *words.split()]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 2
    [line] = run.stderr.splitlines()
    assert line.startswith("dpbandits: the output cannot be written (No space left on device); ")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_simulation_ends_in_one_line(workers: int, tmp_path: Path) -> None:
    begin = "    t, written = state.clock[0], 0\n"
    sleep = (
        "import os, pathlib, time\npathlib.Path(f'began-{os.getpid()}').touch()\ntime.sleep(60)\n"
    )
    text = (ROOT / "examples/my_kernel.py").read_text().replace("@numba.njit(nogil=True)\n", "")
    assert text.count(begin) == 1
    # Playing starts at 100 rounds: kernels are compiled with that horizon before workers begin.
    slow = "    if settings.horizon > 100:\n" + indent(sleep, " " * 8)
    (tmp_path / "own_slow.py").write_text(text.replace(begin, slow + begin))
    words = "simulate own_slow.py --params epsilon=1 pulls=2 --arms 0.7 0.5 --horizon 200 --runs 40"
    options: Any = {"cwd": tmp_path, "text": True, "start_new_session": True}
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # What a shell runs in the background ignores it otherwise.
    options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-m", "dpbandits", *words.split(), "--workers", str(workers)]
    process = subprocess.Popen(command, **options)
    for _ in range(600):
        # A worker that is interrupted while Python starts prints what Python prints.
        if len([*tmp_path.glob("began-*")]) == workers:
            break
        time.sleep(0.1)
    # As a terminal does: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert err == "dpbandits: interrupted\n"


# `dpbandits explain`: what came of a claim.


@pytest.mark.slow
def test_a_checkout_without_verdicts_prints_what_is_published(
    printed: Printed, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared_folder("made", made_project)
    words = f"explain NCB-C2 --project {folder}"
    published = printed(f"{words} --published")
    assert "  scale: paper, as published\n" in published
    assert printed(words) == published
    for other in (["--scale", "quick"], ["--seed", "7"]):
        assert main([*words.split(), *other]) == 2
        assert "run snakemake --cores 2 dp_ncb_claims --config " in capsys.readouterr().err
    # A finding, with its numbers.
    project = Project.load(folder)
    [finding] = [each for each in project.study("ts-is-dp").findings if each.id == "TSDP-F2"]
    lines = printed(f"explain tsdp-f2 --project {folder}").splitlines()
    assert lines[:2] == [f"TSDP-F2 ({finding.place})", f"  {finding.title}"]
    assert "{" not in lines[2]
    assert lines[-1] == "  scale: paper, as published"
    # An id that is a row no more says where it went.
    [withdrawn, *_] = project.study("dp-ncb").withdrawn
    assert main(["explain", withdrawn, "--project", str(folder)]) == 2
    assert f"{withdrawn} is a row no more: " in capsys.readouterr().err


@pytest.mark.slow
def test_every_claim_is_explained_with_its_word_and_every_comparison() -> None:
    project = Project.load(shared_folder("made", made_project))
    for paper in project.chosen:
        verdicts, compared = (
            published_table(project, paper, name) for name in ("claims", "evidence")
        )
        for claim in project.study(paper).claims:
            lines = explanation(project, claim.id, is_published=True).splitlines()
            rows = verdicts[verdicts["claim"] == claim.id]
            [word] = [line for line in lines if line.startswith("  word: ")]
            assert word.startswith(f"  word: {rows['verdict'].iloc[0]}")
            shown = [
                line for line in lines if re.match("    (for|against|equal|undecided|shown) ", line)
            ]
            assert len(shown) == (compared["claim"] == claim.id).sum(), claim.id
            for detail in rows["detail"]:
                assert not detail or f"    {detail}" in lines, claim.id
