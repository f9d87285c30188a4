"""`Simulation.nash_regret` and the curve that it returns; wrong input in one line."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpbandits
from dpbandits import NashCurve, Simulation
from dpbandits.cli import main
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.metrics.nash import MAXIMAL_PULLS, MAXIMAL_RUNS, quantities
from nash_by_hand import by_hand, entered, random_runs
from support import digits_printed, message_of

MEANS = np.array([0.9, 0.3, 0.3, 0.05, 0.001])
BANDIT = dpbandits.bernoulli([0.75, 0.5, 0.25])


def curve(runs: int = 5) -> NashCurve:
    ledger = entered(random_runs(10, runs, 50, 2.0, MEANS.size), MEANS, [10, 50])
    return NashCurve.of_parts(np.array([10, 50]), quantities(ledger), ledger.records.influences)


def test_a_curve_is_read_off_its_parts() -> None:
    one = curve()
    assert one.best_mean == 0.9
    np.testing.assert_allclose(one.nash_regret, 0.9 - np.exp(one.log_mean + one.log_bias), 1e-13)
    plain = one.with_bias("kept")
    np.testing.assert_array_equal(plain.nash_regret, 0.9 - np.exp(one.log_mean))
    np.testing.assert_array_equal(plain.with_bias("subtracted").nash_regret, one.nash_regret)
    np.testing.assert_allclose(plain.nash_regret - one.nash_regret, one.bias, rtol=1e-10)
    np.testing.assert_array_equal(np.asarray(one), one.nash_regret)
    assert list(one) == one.nash_regret.tolist()
    assert len(one) == 2
    assert one[1] == one.nash_regret[1]
    assert one.runs == 5
    assert (one.average_regret <= plain.nash_regret).all()
    assert (plain.nash_regret <= one.trajectory_regret).all()
    assert (one.bias > 0).all()


def test_another_best_mean_moves_the_regrets_alone() -> None:
    one = curve()
    other = one.against(1.0)
    for name in ("nash_regret", "average_regret", "trajectory_regret", "binned_regret"):
        np.testing.assert_allclose(getattr(other, name) - getattr(one, name), 0.1, rtol=1e-13)
    np.testing.assert_array_equal(other.standard_error, one.standard_error)
    np.testing.assert_array_equal(other.bias, one.bias)


def test_intervals_are_those_of_student() -> None:
    one = curve()
    for each in (one, one.with_bias("kept")):
        low, high = each.interval(0.9)
        for index in range(2):
            expected = stats.t.interval(0.9, 4, each.nash_regret[index], one.standard_error[index])
            np.testing.assert_allclose((low[index], high[index]), expected, rtol=1e-12)


@pytest.mark.parametrize("bias", ["", "Kept", None, True])
def test_wrong_biases_are_refused(bias: Any) -> None:
    expected = f"bias is {bias!r}; allowed: subtracted, kept"
    assert message_of(lambda: curve().with_bias(bias)).startswith(expected)
    assert message_of(lambda: simulate().nash_regret(at=[80], bias=bias)).startswith(expected)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, math.nan])
def test_wrong_levels_are_refused(level: float) -> None:
    assert "level is " in message_of(lambda: curve().interval(level))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("standard_error", "a standard error"),
        ("bias", "a bias, or bias='kept'"),
        ("nash_regret", "a bias, or bias='kept'"),
        ("interval", "an interval"),
    ],
)
def test_one_run_has_no_bias_and_no_interval(name: str, wanted: str) -> None:
    one = curve(runs=1)
    assert np.isfinite(one.with_bias("kept").nash_regret).all()
    message = message_of(lambda: one.interval() if name == "interval" else getattr(one, name))
    assert message == f"runs is 1; allowed: at least 2 for {wanted}"


def simulate(**changes: Any) -> Simulation:
    base: dict[str, Any] = {
        "algorithm": "m-ts-gaussian",
        "params": {"b": 2, "c": 1.5},
        "bandit": BANDIT,
        "horizon": 80,
        "runs": 12,
    }
    return dpbandits.simulate(**(base | changes))


@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("m-ts-gaussian", {"b": 2, "c": 1.5}),
        ("ucb1", {}),
        ("dp-se", {"epsilon": 1.0}),
        ("dp-ts-ucb", {"alpha": 1.0}),
        ("lazy-dp-ts", {"epsilon": 0.5}),
    ],
)
def test_curves_are_those_of_the_reference_s_decisions(
    algorithm: str, params: dict[str, Any]
) -> None:
    """By segments from kernels, round by round from the plain references on the same streams."""
    simulation = simulate(algorithm=algorithm, params=params, seed=8)
    cell = simulation.cell
    key = stream_key(cell.stream_description)
    played = []
    for run in range(12):
        generator = run_generator(8, key, run)
        chunks = cell.definition.reference(cell.settings, BANDIT, generator)
        played.append([arm for arm, length, _ in chunks for _ in range(length)])
    found = simulation.nash_regret(at=[80, 3, 40, 3])
    assert found.times.tolist() == [80, 3, 40, 3]
    for index, t in enumerate(found.times):
        expected = by_hand(np.array(played), np.log(BANDIT.means), int(t))
        # Exact but for rounding: the means are dyadic.
        close = {"rtol": 1e-13, "atol": 1e-14}
        np.testing.assert_allclose(found.log_mean[index], expected["nash_log_mean"], **close)
        np.testing.assert_allclose(found.influences[:, index], expected["influences"], **close)
        geometric = math.exp(expected["nash_log_mean"])
        error = geometric * expected["nash_standard_error"]
        np.testing.assert_allclose(found.standard_error[index], error, **close)
        bias = geometric * math.expm1(expected["nash_bias"])
        np.testing.assert_allclose(found.bias[index], bias, **close)
        average = 0.75 - expected["average_mean"]
        np.testing.assert_allclose(found.average_regret[index], average, **close)


def test_a_run_alone_is_its_own_trajectory() -> None:
    found = simulate(runs=1).nash_regret(at=[1, 30, 80], bias="kept")
    np.testing.assert_allclose(found.nash_regret, found.trajectory_regret, rtol=1e-13)
    message = message_of(lambda: simulate(runs=1).nash_regret(at=[80]))
    assert message == "runs is 1; allowed: at least 2 for a bias, or bias='kept'"


def test_average_regret_is_the_pseudo_regret_of_a_round() -> None:
    simulation = simulate()
    pseudo = simulation.curve(metric="pseudo_regret", at=[20, 80]).mean(axis=0) / [20, 80]
    found = simulation.nash_regret(at=[20, 80]).average_regret
    np.testing.assert_allclose(found, pseudo, rtol=1e-13)


def test_nominal_means_score_the_same_runs() -> None:
    nominal = dpbandits.Bandit(BANDIT.arms, nominal=(0.5, 0.75, 0.25))
    plain, scored = simulate(), simulate(bandit=nominal)
    np.testing.assert_array_equal(scored.pulls, plain.pulls)
    for_true = scored.nash_regret(at=[80])
    np.testing.assert_array_equal(for_true.nash_regret, plain.nash_regret(at=[80]).nash_regret)
    found = scored.nash_regret(at=[80], nominal=True)
    assert found.best_mean == 0.75
    expected = 0.75 - (scored.pulls @ np.array([0.5, 0.75, 0.25])).mean() / 80
    np.testing.assert_allclose(found.average_regret, [expected], rtol=1e-13)
    without = plain.nash_regret(at=[80], nominal=True)
    np.testing.assert_array_equal(without.nash_regret, for_true.nash_regret)


def test_logarithms_stand_in_for_tiny_means() -> None:
    """Panel (a), DP-NCB: a mean of (2e)^-700 is 0 in a double, its logarithm is not."""
    logarithm = -700 * math.log(2 * math.e)
    arms = dpbandits.bernoulli([0.0, 1.0]).arms
    exact = dpbandits.Bandit(arms, logarithms=(logarithm, 0.0))
    # UCB1 begins with arm 0 in every run.
    found = simulate(algorithm="ucb1", params={}, bandit=exact, horizon=700)
    assert found.nash_regret(at=[1]).log_mean[0] == pytest.approx(logarithm, rel=1e-14)
    floored = simulate(algorithm="ucb1", params={}, bandit=dpbandits.Bandit(arms), horizon=700)
    assert floored.nash_regret(at=[1]).log_mean[0] == pytest.approx(math.log(1e-300))
    np.testing.assert_array_equal(found.pulls, floored.pulls)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"nominal": (0.5,)}, "bandit: 1 nominal for 3 arms; allowed: one an arm"),
        ({"nominal": (0.5, 1.5, 0.0)}, "bandit: nominal mean is 1.5; allowed: 0 to 1"),
        ({"nominal": (0.5, math.nan, 0.0)}, "bandit: nominal mean is nan; allowed: 0 to 1"),
        ({"logarithms": (0.0, 0.0, 0.0)}, "bandit: logarithm is 0.0; allowed: that of the mean"),
        ({"logarithms": (-math.inf,) * 3}, "bandit: logarithm is -inf; allowed: that of the mean"),
    ],
)
def test_wrong_scores_are_refused(changes: dict[str, Any], expected: str) -> None:
    assert message_of(lambda: dpbandits.Bandit(BANDIT.arms, **changes)).startswith(expected)


def test_what_would_overflow_is_refused() -> None:
    many = simulate(algorithm="ucb1", params={}, runs=MAXIMAL_RUNS + 1)
    message = message_of(lambda: many.nash_regret(at=[80]))
    assert message == "runs of one Nash curve is 8192; allowed: a whole number from 1 to 8191"
    # 2^13 - 1 means of 1 in units of 2^-50 still fit.
    assert MAXIMAL_RUNS * 2**50 < 2**63 <= (MAXIMAL_RUNS + 1) * 2**50
    long = simulate(algorithm="ucb1", params={}, runs=1000, horizon=2**53)
    message = message_of(lambda: long.nash_regret(at=[80]))
    longest = MAXIMAL_PULLS // 1000
    assert message.startswith(f"horizon is {2**53}, for a Nash curve of 1000 runs; allowed: at ")
    assert f"most {longest}, so that pulls are counted without overflow" in message


def test_runs_that_make_no_curves_are_refused() -> None:
    message = message_of(
        lambda: Series(
            "a",
            {},
            make_cell(algorithm="ucb1", bandit=BANDIT, horizon=80, metrics=["nash_regret"]),
            range(10),
            runs_per_curve=4,
        )
    )
    assert message == "runs is 10, 4 of them together; allowed: a multiple of it"


def test_the_command_line_prints_the_final_value(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "ucb1", "--arms", "0.75", "0.5", "0.25", "--horizon", "80"]
    assert main([*words, "--runs", "12"]) == 0
    *_, printed, bias, _ = capsys.readouterr().out.splitlines()
    found = simulate(algorithm="ucb1", params={}).nash_regret(at=[80])
    ends = [float(end[0]) for end in found.interval()]
    assert printed.startswith("nash_regret ")
    # Six significant digits are printed.
    expected = [found.nash_regret[0], *ends]
    assert digits_printed(printed) == pytest.approx(expected, rel=1e-5)
    assert bias == "bias of nash_regret: subtracted"
    assert main([*words, "--runs", "1"]) == 0
    *_, printed, bias, _ = capsys.readouterr().out.splitlines()
    assert printed.split()[-2:] == ["-inf", "inf"]
    assert bias == "bias of nash_regret: kept"
