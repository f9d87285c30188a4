"""Guarantees where users meet them: in Python, in the list, and on the command line."""

import math
from dataclasses import replace
from typing import Any

import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import positive
from dpbandits.algorithms.guarantees import at_delta, conversion
from dpbandits.cli import main
from dpbandits.engine.custom import load_algorithm
from dpbandits.errors import InputError
from dpbandits.privacy import Guarantee

GDP_NCB = ["guarantee", "gdp-ncb", "--params", "epsilon=0.2", "--horizon", "100000000"]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints, one line."""
    assert main([*words]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return out.rstrip("\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "stated by dp-ncb, Theorem 2; refuted (NCB-C15)"),
        (["--variant", "repaired"], "stated by dp-ncb, Theorem 2; proved (NCB-C15)"),
        (
            ["--variant", "repaired", "--delta", "1e-2"],
            "stated by dp-ncb, Theorem 2; proved (NCB-C15); (0.181645, 0.01)-DP",
        ),
        (
            ["--delta", "1e-6"],
            "stated by dp-ncb, Theorem 2; refuted (NCB-C15); nothing follows at delta=1e-06",
        ),
    ],
)
def test_a_guarantee_in_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, *GDP_NCB, *words)
    assert found == f"0.2-DP (pure), central model; {expected}"


def test_an_algorithm_that_names_the_best_arm_has_a_budget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["guarantee", "dp-od", "--params", "epsilon=1"]
    of_budget = printed(capsys, *words, "--budget", "200")
    assert of_budget == printed(capsys, *words, "--horizon", "200")


def test_epsilon_at_delta_is_that_of_randomised_response() -> None:
    grown = math.exp(0.2)
    assert math.log(grown - 0.01 * (1 + grown)) == pytest.approx(0.181645, abs=1e-6)


def test_what_follows_at_delta_depends_on_the_status() -> None:
    assert at_delta(Guarantee("none"), 0.1) == "no privacy guarantee"
    only_stated = at_delta(Guarantee("gdp", 1.0), 1e-6)
    assert only_stated == "1-GDP; (4.88655, 1e-06)-DP, if it holds"
    short = Guarantee("approximate", 1.0, 0.1, "proved", "here")
    assert at_delta(short, 0.01).endswith("; nothing follows at delta=0.01")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["gdp=1", "--to", "approximate", "delta=1e-6"],
            "1-GDP implies (4.88655, 1e-06)-DP [Dong, Roth and Su (2022), tight]",
        ),
        (
            ["renyi=0.5", "order=8", "--to", "approximate", "delta=1e-6"],
            "(8, 0.5)-Renyi DP implies (2.47364, 1e-06)-DP [Mironov (2017)]; (2.04305, 1e-06)-DP "
            "[Canonne, Kamath and Steinke (2020)]; (2.03867, 1e-06)-DP [Asoodeh, Liao, Calmon, "
            "Kosut and Sankar (2021), tight]",
        ),
        (
            ["approximate=1", "delta=1e-9", "--to", "approximate", "delta=1e-6"],
            "(1, 1e-09)-DP implies (0.999999, 1e-06)-DP [Kairouz, Oh and Viswanath (2015), tight]",
        ),
    ],
)
def test_a_conversion_in_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "convert", *words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["convert", "gdp=1", "--to", "pure"], "pure: does not follow from gdp"),
        (["convert", "gdp=1", "--to", "approximate"], "delta or epsilon is wanted"),
        (["convert", "gdp=1", "--to", "zcdp", "delta=0.1"], "allowed: none"),
        (["convert", "gdp=-1", "--to", "zcdp"], "gdp=-1"),
        (["convert", "gdp=nan", "--to", "zcdp"], "gdp=nan"),
        (["convert", "gdp=inf", "--to", "zcdp"], "gdp=inf"),
        (["convert", "gdp=x", "--to", "zcdp"], "allowed: a number"),
        (["convert", "gdp=1", "pure=1", "--to", "zcdp"], "allowed: one of"),
        (["convert", "eta=1", "--to", "zcdp"], "allowed: one of"),
        (["convert", "gdp=1", "--to", "gauss"], "kind='gauss'"),
        (["convert", "gdp=1", "--to", "zcdp", "x=1"], "to is 'x'; allowed: order"),
        (["convert", "renyi=1", "--to", "zcdp"], "order is missing"),
        (["convert", "renyi=1", "order=1", "--to", "approximate", "delta=0.1"], "order=1"),
        (["convert", "renyi=1", "order=2", "--to", "renyi", "order=3"], "order is 3"),
        (["convert", "approximate=1", "--to", "approximate", "delta=0.1"], "delta is missing"),
        (["convert", "pure=1e100", "--to", "zcdp"], "is not allowed"),
        (["convert", "gdp=1e100", "--to", "approximate", "epsilon=1"], "no delta below 1"),
        (["convert", "gdp=1"], "--to"),
        (["guarantee", "nothing", "--horizon", "10"], "algorithm is 'nothing'"),
        (["guarantee", "ts-gaussian", "--horizon", "0"], "horizon is 0"),
        (["guarantee", "ts-gaussian", "--horizon", "99999999999999999999"], "horizon is 9999"),
        (["guarantee", "ts-gaussian", "--horizon", "9", "--variant", "as-coded"], "variant is"),
        (["guarantee", "ts-gaussian", "--horizon", "9", "--delta", "2"], "delta=2.0"),
        (["guarantee", "ucb1", "--horizon", "9", "--delta", "nan"], "delta=nan"),
        (["guarantee", "dp-ts", "--horizon", "9"], "parameters are none"),
        (
            ["guarantee", "dp-od", "--params", "epsilon=1"],
            "option '--horizon' / '--budget'",
        ),
    ],
)
def test_what_is_impossible_ends_in_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert expected in error


def test_the_list_shows_the_guarantee_of_every_variant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("    guarantee ")]
    assert len(shown) == sum(len(each.variants) for each in REGISTRY.values())
    assert sum("refuted (NCB-C15)" in line for line in shown) == 2
    assert any("local model" in line for line in shown)


def test_simulations_and_trials_show_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "ldp-ncb", "--params", "epsilon=0.2", "--variant", "as-coded"]
    assert main([*words, "--arms", "0.7", "0.5", "--horizon", "20", "--runs", "2"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("guarantee: 0.2-DP (pure), local model;")
    assert "refuted (NCB-C16)" in last
    words = ["identify", "dp-bai", "--params", "epsilon=1", "--features", "1,0;0,1;0.7,0.7"]
    assert main([*words, "--theta", "0.9,0.2", "--budget", "400", "--runs", "2"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("guarantee: no privacy guarantee; rewards reach 1.8")


def test_the_api_sees_variant_interpretations_horizon_and_instance() -> None:
    common: dict[str, Any] = {"algorithm": "gdp-ncb", "params": {"epsilon": 0.2}, "runs": 1}
    arms = dpbandits.bernoulli([0.7, 0.5])
    for horizon, variant, status in (
        (10**8, "as-written", "refuted"),
        (10**6, "as-written", "stated"),
        (10**8, "repaired", "proved"),
    ):
        made = dpbandits.simulate(**common, bandit=arms, horizon=horizon, variant=variant)
        assert made.guarantee.status == status
        params = {"epsilon": 0.2}
        alone = dpbandits.guarantee("gdp-ncb", params=params, horizon=horizon, variant=variant)
        assert alone == made.guarantee
    changed = dpbandits.simulate(
        **common, bandit=arms, horizon=10**8, variant="repaired", interpretations={"cap": "none"}
    )
    assert changed.guarantee.status == "stated"


def test_a_custom_guarantee_is_shown_as_stated() -> None:
    mine = load_algorithm("examples/my_algorithm.py")
    found = dpbandits.guarantee(mine, params={"epsilon": 0.5, "pulls": 100}, horizon=1000)
    assert found == Guarantee("pure", 0.5)
    assert at_delta(found, 0.01).endswith(", if it holds")


@pytest.mark.parametrize(
    ("fault", "expected"), [(lambda: 1 / 0, "guarantee fails: Zero"), (lambda: 3, "guarantee is 3")]
)
def test_a_custom_guarantee_that_fails(fault: Any, expected: str) -> None:
    example = load_algorithm("examples/my_algorithm.py")
    mine = replace(example, guarantee=lambda *ignored, **names: fault())
    made = dpbandits.simulate(
        algorithm=mine,
        params={"epsilon": 0.5, "pulls": 5},
        bandit=dpbandits.bernoulli([0.7, 0.5]),
        horizon=20,
        runs=1,
    )
    with pytest.raises(InputError, match=expected):
        _ = made.guarantee


def test_a_conversion_needs_one_kind() -> None:
    with pytest.raises(InputError, match="given is nothing"):
        conversion({}, "gdp", {})


def test_parameters_that_have_a_default_may_be_left_out() -> None:
    ours = REGISTRY["ucb1"]
    mine = replace(
        ours,
        id="mine",
        parameters={"first": positive, "second": positive(default=3.0)},
        guarantee=lambda parameters, horizon: Guarantee("pure", parameters.second),
    )
    found = dpbandits.guarantee(mine, params={"first": 1.0}, horizon=10)
    assert (found.kind, found.parameter) == ("pure", 3.0)
