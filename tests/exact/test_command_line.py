"""The commands `dpbandits list` and `dpbandits simulate`: what they print, and how they refuse."""

from pathlib import Path

import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY
from dpbandits.cli import main
from dpbandits.metrics import mean_interval
from dpbandits.project.config import Project
from support import digits_printed, run_python

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
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith("usage: dpbandits")
    assert words or all(f"\n    {each} " in printed for each in ("simulate", "explain", "ledger"))


def test_simulate_prints_what_the_api_returns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIMULATE, *SHORT, "--seed", "3", "--interpretations", "count=n"]) == 0
    lines = capsys.readouterr().out.splitlines()
    simulation = dpbandits.simulate(
        algorithm="m-ts-gaussian",
        params={"b": 2, "c": 1.5},
        interpretations={"count": "n"},
        bandit=dpbandits.bernoulli([0.75, 0.5]),
        horizon=50,
        runs=4,
        seed=3,
    )
    for line, metric in zip(lines, ("pseudo_regret", "realised_regret"), strict=False):
        mean, low, high = mean_interval(getattr(simulation, metric))
        assert line.startswith(f"{metric}: ")
        # Six significant digits are printed; 95 is the level.
        printed = digits_printed(line.partition(": ")[2])
        assert printed == pytest.approx([mean, 95.0, low, high], rel=1e-5)
    assert digits_printed(lines[2]) == pytest.approx(simulation.pulls.mean(axis=0), rel=1e-5)


def test_other_laws(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "ucb1", "--law", "truncated-exponential", "--arms", "0.1", "10"]
    assert main([*words, *SHORT]) == 0
    assert "pseudo_regret: " in capsys.readouterr().out


WRONG = [
    (["nonsense"], "'nonsense'"),
    (["simulate"], "required"),
    (["simulate", "ucb-9", "--arms", "0.7", "0.5", *SHORT], "algorithm is 'ucb-9'; allowed: "),
    (["simulate", "ucb1", "--arms", "0.7", *SHORT], "1 arms; allowed: 2"),
    (["simulate", "ucb1", "--arms", "0.7", "1.5", *SHORT], "mean is 1.5; allowed: 0 to 1"),
    (["simulate", "ucb1", "--arms", "0.7", "x", *SHORT], "arms is 'x'; allowed: a number"),
    (["simulate", "ucb1", "--arms", "0.7", "nan", *SHORT], "mean is nan; allowed: "),
    (["simulate", "ucb1", "--law", "cauchy", "--arms", "1", "2", *SHORT], "law is 'cauchy'"),
    ([*SIMULATE, "--horizon", "0", "--runs", "1"], "horizon is 0; allowed: "),
    ([*SIMULATE, "--horizon", "1e3", "--runs", "1"], "--horizon"),
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
        "interpretation 'log' is unknown; allowed: count",
    ),
    ([*SIMULATE, *SHORT, "--params", "=1"], "params is '=1'; allowed: NAME=VALUE"),
    (["artifact", "--out", ""], "argument --out: is ''; allowed: a path"),
    (["compare", "dp-ts-ucb/fig7", "--with", "x.py", "--out", ""], "argument --out: is ''"),
    (["compare", "dp-ts-ucb/fig7", "--with", ""], "argument --with: is ''; allowed: a path"),
    (["check", ""], "argument FILE.py: is ''; allowed: a path"),
    (["check", "--project", ""], "argument --project: is ''; allowed: a path"),
    (["check", "--log", ""], "argument --log: is ''; allowed: a path"),
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
    assert printed.out.startswith("usage: dpbandits")
    assert "\n    simulate " in printed.out


def test_the_version_is_printed_and_the_package_runs_as_a_module() -> None:
    run = run_python("-m", "dpbandits", "--version")
    assert (run.returncode, run.stdout) == (0, f"dpbandits {dpbandits.__version__}\n")


def test_the_process_ends_with_status_2() -> None:
    words = ["simulate", "ucb-9", "--arms", "0.7", "0.5", *SHORT]
    run = run_python("-m", "dpbandits.cli", *words)
    assert run.returncode == 2
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert "algorithm is 'ucb-9'; allowed: " in run.stderr


def test_the_log_of_a_job_ends_with_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["check", "--project", str(ROOT), "--log", str(tmp_path / "check.log")]

    def ended() -> str:
        return (tmp_path / "check.log").read_text().splitlines()[-1]

    assert main(words) == 0
    assert ended() == "done"
    assert main([*words, "--seed", "-1"]) == 2
    assert "seed" in ended()

    def fail(_: Project) -> None:
        raise MemoryError("no more of it")

    monkeypatch.setattr(Project, "check", fail)
    with pytest.raises(MemoryError):
        main(words)
    assert ended() == "MemoryError: no more of it"
