"""The commands `dpbandits list` and `dpbandits simulate`: what they print, and how they refuse."""

import io
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY
from dpbandits.cli import cli, main
from dpbandits.cli.options import pairs
from dpbandits.metrics.intervals import mean_interval
from dpbandits.text_tables import aligned
from support import run_python

ROOT = Path(__file__).resolve().parents[2]
SIMULATE = ["simulate", "m-ts-gaussian", "--params", "b=2", "c=1.5", "--arms", "0.75", "0.5"]
SHORT = ["--horizon", "50", "--runs", "4"]


def test_list_names_every_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    for algorithm in REGISTRY.values():
        assert f"{algorithm.id} (" in printed.out
        assert algorithm.name in printed.out
        for interpretation, values in algorithm.interpretations.items():
            assert (
                f"interpretation {interpretation}: {', '.join(values)} (default {values[0]})"
                in printed.out
            )


@pytest.mark.parametrize("words", [[], ["simulate"], ["explain"], ["ledger"], ["judge"]])
def test_help_says_what_each_command_does(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--help"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Usage: dpbandits")
    assert words or all(f"\n  {each} " in printed for each in ("simulate", "explain", "ledger"))


def test_simulate_prints_what_the_api_returns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIMULATE, *SHORT, "--seed", "3", "--interpretations", "count=n"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    printed = {line[0]: line[1:] for line in lines}
    simulation = dpbandits.simulate(
        algorithm="m-ts-gaussian",
        params={"b": 2, "c": 1.5},
        interpretations={"count": "n"},
        bandit=dpbandits.bernoulli([0.75, 0.5]),
        horizon=50,
        runs=4,
        seed=3,
    )
    for metric in ("pseudo_regret", "realised_regret"):
        expected = mean_interval(getattr(simulation, metric))
        assert printed[metric] == [f"{float(each):.6g}" for each in expected]
    pulls = [float(line[4]) for line in lines if line[:3] == ["pulls", "of", "arm"]]
    assert pulls == pytest.approx(simulation.pulls.mean(axis=0), rel=1e-5)


def rows_printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return what a command prints as JSON, once csv is seen to say the same."""
    assert main([*words, "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert main([*words, "--format", "csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)
    assert list(table.columns) == list(rows[0])
    assert len(table) == len(rows)
    return rows


def test_every_digit_is_in_csv_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_printed([*SIMULATE, *SHORT], capsys)
    simulation = dpbandits.simulate(
        algorithm="m-ts-gaussian",
        b=2,
        c=1.5,
        bandit=dpbandits.bernoulli([0.75, 0.5]),
        horizon=50,
        runs=4,
    )
    assert rows[0]["metric"] == "pseudo_regret"
    assert rows[0]["mean"] == simulation.pseudo_regret.mean()
    assert [row["metric"] for row in rows[2:]] == [
        "pulls of arm 0",
        "pulls of arm 1",
        "nash_regret",
    ]
    [row] = rows_printed(["guarantee", "dp-se", "--params", "epsilon=1", "--horizon", "9"], capsys)
    assert (row["kind"], row["parameter"]) == ("pure", 1.0)


def test_other_tables_have_formats(capsys: pytest.CaptureFixture[str]) -> None:
    algorithms = rows_printed(["list"], capsys)
    assert {row["algorithm"] for row in algorithms} == set(REGISTRY)
    verdicts = {row["verdict"] for row in rows_printed(["list", "claims"], capsys)}
    assert {"holds", "fails"} <= verdicts
    [row, _] = rows_printed(["convert", "renyi=1", "order=8", "--to", "approximate", "delta=1e-6"],
                            capsys)[:2]  # fmt: skip
    assert row["delta"] == 1e-6


COMPARE = ["compare", "--arms", "0.75", "0.5", "--horizon", "60", "--runs", "3"]


def test_compare_prints_what_the_api_returns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "files"
    words = [*COMPARE, "--params", "epsilon=1", "--out", str(out), "--", "ucb1,dp-se"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    comparison = dpbandits.compare(
        ["ucb1", "dp-se"],
        bandit=dpbandits.bernoulli([0.75, 0.5]),
        horizon=60,
        runs=3,
        epsilon=1,
    )
    assert printed == f"{aligned(comparison.summary())}\n"
    assert {path.name for path in out.iterdir()} == {
        f"comparison.{s}" for s in ("csv", "pdf", "png")
    }
    kept = pd.read_csv(out / "comparison.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(kept, comparison.frame())


def test_lists_take_commas_and_spaces_alike(capsys: pytest.CaptureFixture[str]) -> None:
    identify = ["identify", "dp-bai-gauss", "--budget", "400", "--runs", "5"]
    printed = []
    for arms, params, theta, features in (
        (["0.75,0.5"], ["b=2,c=1.5"], ["0.045,0.5"], ["0,1; 0,0.9; 10,0"]),
        (["0.75", "0.5"], ["b=2", "c=1.5"], ["0.045", "0.5"], ["0", "1;", "0", "0.9;", "10", "0"]),
        (["0.75, 0.5"], ["b=2, c=1.5"], ["0.045 0.5"], ["0 1; 0 0.9; 10 0"]),
    ):
        words = ["simulate", "m-ts-gaussian", "--params", *params, "--arms", *arms]
        assert main([*words, "--horizon", "5e1", "--runs", "4"]) == 0
        words = [*identify, "--params", "epsilon=1,delta=0.1", "--theta", *theta]
        assert main([*words, "--features", *features]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]


def test_a_value_may_have_a_comma() -> None:
    assert pairs("interpretations", "log=natural,constants=4,5") == {
        "log": "natural",
        "constants": "4,5",
    }


def test_every_option_has_a_help_text() -> None:
    assert len(cli.commands) > 20
    for name, command in cli.commands.items():
        options = [each for each in command.params if isinstance(each, click.Option)]
        assert options
        assert [each.name for each in options if not each.help] == [], name
        assert str(command.help).splitlines()[0].endswith(".")


@pytest.mark.parametrize(
    ("name", "extra"), [("pyarrow.parquet", "workflow"), ("rocrate", "artifact")]
)
def test_a_missing_library_names_its_extra(
    name: str, extra: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("dpbandits.cli.answers.show", fail)
    assert main(["list"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(f"pip install 'dpbandits[{extra}]'")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(each.startswith(name[:6]) for each in extras["optional-dependencies"][extra])


def test_the_core_and_the_extras_share_no_library() -> None:
    """So that what a library is for stands in one place."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {
        group: {re.split(r"[<>=]", each)[0] for each in libraries}
        for group, libraries in project["optional-dependencies"].items()
    }
    core = {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}
    assert not any(core & libraries for libraries in named.values())
    assert not core & {"snakemake", "snakemake-executor-plugin-slurm", "rocrate"}


def test_the_shell_completes_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed, expected in (("dpbandits li", "list"), ("dpbandits simulate --ho", "--horizon")):
        monkeypatch.setenv("_DPBANDITS_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        assert main([]) == 0
        assert capsys.readouterr().out == f"plain,{expected}\n"


def test_other_laws(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "ucb1", "--law", "truncated-exponential", "--arms", "0.1", "10"]
    assert main([*words, *SHORT]) == 0
    assert "\npseudo_regret " in capsys.readouterr().out


WRONG = [
    (["nonsense"], "'nonsense'"),
    (["simulate"], "Missing argument 'ALGORITHM' (see dpbandits simulate --help)"),
    ([*SIMULATE, *SHORT, "--hozion", "9"], "No such option '--hozion'. Did you mean '--ho"),
    ([*SIMULATE, *SHORT, "--", "more"], "unexpected extra argument (more)"),
    ([*SIMULATE, *SHORT, "--format", "cvs"], "--format is 'cvs'; allowed: table, csv, json; did"),
    ([*SIMULATE, "--runs", "1", "--horizon"], "Option '--horizon' requires an argument"),
    (["convert", "gdp=1", "--to"], "kind=''"),
    (["simulate", "ucb-9", "--arms", "0.7", "0.5", *SHORT], "algorithm is 'ucb-9'; allowed: "),
    (["simulate", "ucb1", "--arms", "0.7", *SHORT], "1 arms; allowed: 2"),
    (["simulate", "ucb1", "--arms", "0.7", "1.5", *SHORT], "mean is 1.5; allowed: 0 to 1"),
    (["simulate", "ucb1", "--arms", "0.7", "x", *SHORT], "arms is 'x'; allowed: a number"),
    (["simulate", "ucb1", "--arms", "0.7", "nan", *SHORT], "mean is nan; allowed: "),
    (["simulate", "ucb1", "--law", "cauchy", "--arms", "1", "2", *SHORT], "law is 'cauchy'"),
    ([*SIMULATE, "--horizon", "0", "--runs", "1"], "horizon is 0; allowed: "),
    (
        [*SIMULATE, "--horizon", "1.5", "--runs", "1"],
        "--horizon is '1.5'; allowed: a whole number",
    ),
    ([*SIMULATE, "--horizon", "1e400", "--runs", "1"], "--horizon is '1e400'; allowed: "),
    ([*SIMULATE, "--horizon", "1e16", "--runs", "1"], "horizon is 10000000000000000; allowed: "),
    ([*SIMULATE, "--horizon", "9", "--runs", "0"], "runs is 0; allowed: "),
    ([*SIMULATE, *SHORT, "--seed", "-1"], "seed is -1; allowed: "),
    ([*SIMULATE, *SHORT, "--workers", "0"], "workers is 0; allowed: "),
    ([*SIMULATE, *SHORT, "--variant", "repaired"], "variant is 'repaired'; allowed: as-written"),
    (
        [*SIMULATE, *SHORT, "--interpretations", "count"],
        "interpretations is 'count'; allowed: NAME=VALUE",
    ),
    (
        [*SIMULATE, *SHORT, "--interpretations", "log=2"],
        "interpretation is 'log'; allowed: count",
    ),
    ([*SIMULATE, *SHORT, "--params", "=1"], "params is '=1'; allowed: NAME=VALUE"),
    (["artifact", "--out", ""], "--out is ''; allowed: a path"),
    (["compare", "ucb1", "--runs", "9"], "there are no arms; allowed: --arms, or --features and"),
    ([*COMPARE, "--theta", "1", "--", "ucb1"], "--theta is given beside --arms; allowed: --arms, "),
    (["compare", "ucb1", "--runs", "9", "--features", "1,0;0,1"], "--theta is missing; allowed: "),
    ([*COMPARE, "--budget", "9", "--", "ucb1"], "budget is given; allowed: horizon"),
    (["compare", "ucb1", "--arms", "0.7", "0.5", "--horizon", "9"], "Missing option '--runs'"),
    (["overlay", "x.py", "dp-ts-ucb/fig7", "--out", ""], "--out is ''; allowed: a path"),
    (["overlay", "x.py", "dp-ts-ucb/fig7", "--runs", "9"], "No such option '--runs'"),
    (["overlay", "", "dp-ts-ucb/fig7"], "FILE.py is ''; allowed: a path"),
    (["check", ""], "FILE.py is ''; allowed: a path"),
    (["check", "--project", ""], "--project is ''; allowed: a path"),
    (["run", "ts-is-dp", "tuning", "--workers", "0"], "workers is 0; allowed: a whole number"),
    (
        ["convert", "foo=1", "--to", "gdp"],
        "given is foo=1; allowed: one of pure=VALUE, gdp=VALUE, zcdp=VALUE, renyi=VALUE, "
        "approximate=VALUE",
    ),
    ([*SIMULATE, *SHORT, "--params", "b=2"], "parameters are b; allowed: b, c"),
    ([*SIMULATE, *SHORT, "--params", "b=2", "b=3", "c=1"], "allowed: every NAME once"),
    ([*SIMULATE, *SHORT, "--params", "b=2", "c=-1"], "c is -1; allowed: "),
    ([*SIMULATE, *SHORT, "--params", "b=2.5", "c=1"], "b is 2.5; allowed: an integer"),
    ([*SIMULATE, *SHORT, "--params", "b=2", "c=two"], "c is 'two'; allowed: a number"),
]


@pytest.mark.parametrize(("words", "expected"), WRONG, ids=lambda value: str(value)[-40:])
def test_wrong_input_ends_in_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("dpbandits: ")
    assert expected in printed.err
    assert len(printed.err.splitlines()) == 1


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("Usage: dpbandits")
    assert "\n  simulate " in printed.out


def test_the_version_is_printed_and_the_package_runs_as_a_module() -> None:
    run = run_python("-m", "dpbandits", "--version")
    assert (run.returncode, run.stdout) == (0, f"dpbandits {dpbandits.__version__}\n")


def test_the_process_ends_with_status_2() -> None:
    words = ["simulate", "ucb-9", "--arms", "0.7", "0.5", *SHORT]
    run = run_python("-m", "dpbandits", *words)
    assert run.returncode == 2
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert "algorithm is 'ucb-9'; allowed: " in run.stderr


@pytest.mark.parametrize("words", [["list"], ["guarantee", "ucb1", "--horizon", "9"]])
def test_a_full_disk_of_the_output_is_one_line(words: list[str]) -> None:
    """The output of the second command fits into the buffer, which is written at the end."""
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "dpbandits", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    [line] = run.stderr.splitlines()
    assert line.startswith("dpbandits: the output cannot be written (No space left on device); ")
