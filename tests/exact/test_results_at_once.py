"""Tables, plots and displays of what was simulated, and several algorithms compared."""

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import dpbandits
from dpbandits.engine.cells import Cell
from dpbandits.metrics.intervals import mean_interval, rate_interval
from dpbandits.play.plots import looks_of
from dpbandits.play.runs import is_computed
from dpbandits.reporting.own_look import OWN_COLOUR
from dpbandits.reporting.style import algorithm_look
from support import digits_printed, message_of

ARMS = dpbandits.bernoulli([0.75, 0.5])
LINEAR = dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
COLUMNS = ["algorithm", "parameters", "run", "t", "metric", "value"]


def simulate(**changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {"algorithm": "dp-se", "epsilon": 1.0, "bandit": ARMS, "horizon": 300}
    return dpbandits.simulate(**(base | {"runs": 6} | changes))


def identify(**changes: Any) -> dpbandits.Identification:
    base: dict[str, Any] = {"algorithm": "dp-bai", "epsilon": 1.0, "bandit": LINEAR, "budget": 400}
    return dpbandits.identify(**(base | {"runs": 30} | changes))


def compare(*algorithms: Any, **changes: Any) -> dpbandits.Comparison:
    base: dict[str, Any] = {"bandit": ARMS, "horizon": 300, "runs": 6, "epsilon": 1.0}
    return dpbandits.compare(list(algorithms), **(base | changes))


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_the_table_is_tidy_and_has_the_numbers_of_the_curve() -> None:
    simulation = simulate()
    frame = simulation.frame(metric=["regret", "realised_regret"], at=[10, 300])
    assert list(frame.columns) == COLUMNS
    assert set(frame["algorithm"]) == {"dp-se"}
    assert set(frame["parameters"]) == {"epsilon=1"}
    for metric in ("pseudo_regret", "realised_regret"):
        rows = frame[frame["metric"] == metric]
        table = rows.pivot_table(index="run", columns="t", values="value")
        assert table.columns.tolist() == [10, 300]
        np.testing.assert_array_equal(table, simulation.curve(metric=metric, at=[10, 300]))


@pytest.mark.parametrize("horizon", [1, 7, 100, 101, 12_345])
def test_the_default_times_are_different_rounds_up_to_the_horizon(horizon: int) -> None:
    times = simulate(horizon=horizon).times
    assert times == sorted(set(times))
    assert len(times) == min(100, horizon)
    assert times[0] >= 1
    assert times[-1] == horizon


def test_parameters_name_variant_and_interpretations_that_depart() -> None:
    plain = simulate(algorithm="gdp-ncb", variant="as-coded")
    assert plain.parameters == "epsilon=1, as-coded"
    changed = simulate(algorithm="anytime-lazy-ucb", interpretations={"log": "natural"})
    assert changed.parameters == "epsilon=1, log=natural"
    [first] = compare("ucb1", "dp-se").simulations[:1]
    assert first.parameters == ""


def test_representations_have_mean_and_interval() -> None:
    simulation = simulate()
    mean, low, high = (float(each) for each in mean_interval(simulation.pseudo_regret))
    assert is_computed(simulation)
    *_, shown_mean, shown_low, shown_high = digits_printed(repr(simulation))
    assert [shown_mean, shown_low, shown_high] == pytest.approx([mean, low, high], rel=1e-3)
    assert f"{mean:.6g}" in simulation._repr_html_()
    assert "<table" in simulation._repr_html_()
    assert "guarantee: 1-DP (pure)" in str(simulation)
    trials = identify()
    share = rate_interval(trials.success.sum(), 30)
    *_, shown_mean, shown_low, shown_high = digits_printed(repr(trials))
    assert [shown_mean, shown_low, shown_high] == pytest.approx([*map(float, share)], rel=1e-3)
    assert "success" in trials._repr_html_()


def test_one_run_has_a_mean_and_no_interval() -> None:
    simulation = simulate(runs=1)
    assert f"{simulation.pseudo_regret[0]:.4g}>" in repr(simulation)
    assert not simulation.plot().collections


def test_a_representation_computes_nothing() -> None:
    for runs, compute in (
        (simulate(), lambda simulation: simulation.pulls),
        (identify(), lambda trials: trials.success),
    ):
        before = repr(runs)
        assert before.endswith(": not computed yet>")
        assert repr(runs) == before
        compute(runs)
        assert repr(runs).startswith(before.removesuffix("not computed yet>"))
        assert repr(runs) != before
    assert repr(simulate()) == (
        "<Simulation of dp-se (epsilon=1) on 2 arms, T = 300, 6 runs: not computed yet>"
    )


def test_the_representation_of_a_comparison_computes_nothing() -> None:
    comparison = compare("ucb1", "dp-se")
    begin = "<Comparison of 2 algorithms on 2 arms, T = 300, 6 runs: "
    assert repr(comparison) == f"{begin}0 of 2 computed>"
    next(iter(comparison)).summary()
    assert repr(comparison) == f"{begin}1 of 2 computed>"
    assert "ucb1" in str(comparison)
    assert repr(comparison) == f"{begin}2 of 2 computed>"


def test_a_frame_that_is_too_large_is_refused_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Cell, "play", lambda *_: pytest.fail("is played"))
    message = message_of(lambda: simulate(horizon=10**5, runs=1000).frame(at=range(1, 10**5 + 1)))
    assert message.startswith("memory limit is 8589934592; allowed: at least 9600000000 bytes")


def test_the_plot_has_the_mean_its_interval_and_the_look_of_the_algorithm() -> None:
    simulation = simulate()
    axes = simulation.plot(at=[100, 200, 300])
    mean, low, high = mean_interval(simulation.curve(metric="pseudo_regret", at=[100, 200, 300]))
    [line] = axes.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), mean)
    assert line.get_color() == algorithm_look("dp-se").colour
    [band] = axes.collections
    assert isinstance(band, PolyCollection)
    ends = band.get_paths()[0].get_extents()
    assert (ends.y0, ends.y1) == pytest.approx((low.min(), high.max()))
    assert simulation.plot(axes=axes) is axes
    assert axes.get_ylabel() == "pseudo-regret"


def test_nash_regret_has_a_table_a_plot_and_a_display() -> None:
    simulation = simulate()
    nash = simulation.nash_regret(at=[100, 300])
    frame = nash.frame()
    assert list(frame.columns) == ["t", "metric", "value", "low", "high"]
    np.testing.assert_array_equal(frame["value"], nash.nash_regret)
    np.testing.assert_array_equal(frame[["low", "high"]].T, nash.interval())
    np.testing.assert_array_equal(nash.plot().get_lines()[0].get_ydata(), nash.nash_regret)
    assert f"{nash.nash_regret[1]:.4g}" in repr(nash)
    assert "<table" in nash._repr_html_()
    assert simulation.plot(metric="nash_regret", at=[100, 300]).get_ylabel() == "Nash regret"
    assert isinstance(nash.against(1.0).with_bias("kept"), dpbandits.NashCurve)


def test_trials_have_a_table_and_a_plot_of_the_arms_returned() -> None:
    trials = identify()
    frame = trials.frame()
    assert list(frame.columns) == COLUMNS
    success = frame[frame["metric"] == "success"]
    np.testing.assert_array_equal(success["value"], trials.success)
    assert set(frame["t"]) == {400}
    points = [container[0].get_xdata()[0] for container in trials.plot().containers]
    np.testing.assert_allclose(points, np.bincount(trials.recommended, minlength=3) / 30)


def test_algorithms_compared_are_those_simulated_alone() -> None:
    own = {"algorithm": "dp-se", "params": {"epsilon": 0.1}}
    comparison = compare("ucb1", "dp-se", own)
    summary = comparison.summary()
    assert summary["parameters"].tolist() == ["", "epsilon=1", "epsilon=0.1"]
    assert summary["guarantee"][0] == "no privacy guarantee"
    assert summary["guarantee"][2].startswith("0.1-DP (pure), central, ")
    alone = simulate(epsilon=0.1)
    assert summary["mean"][2] == alone.pseudo_regret.mean()
    frame = comparison.frame(at=[300])
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 3 * 6
    np.testing.assert_array_equal(frame["value"][-6:], alone.pseudo_regret)
    lines = comparison.plot(at=[100, 300]).get_lines()
    assert [each.get_label() for each in lines] == [
        "UCB1",
        "DP-SE, epsilon=1",
        "DP-SE, epsilon=0.1",
    ]
    assert len({each.get_markerfacecolor() for each in lines[1:]}) == 2, "one colour, other marks"
    assert "3 algorithms on 2 arms, T = 300, 6 runs" in str(comparison)
    assert "<table" in comparison._repr_html_()


def test_best_arm_algorithms_compared() -> None:
    comparison = compare("dp-bai", "od-linbai", bandit=LINEAR, horizon=None, budget=400)
    assert comparison.summary()["metric"].tolist() == ["success", "success"]
    assert set(comparison.frame()["metric"]) == {"success", "recommended", "total_pulls"}
    assert len(comparison.plot().containers) == 2
    message = message_of(lambda: comparison.frame(metric="regret", at=[3]))
    assert message.startswith("metric, at: are given for best arms")


def test_a_user_defined_algorithm_has_the_look_of_one() -> None:
    looks = looks_of(["mine", "ucb1", "another", "mine"])
    assert [look.colour == OWN_COLOUR for look in looks] == [True, False, True, True]
    assert len(set(looks)) == 4


@pytest.mark.parametrize(
    ("algorithms", "changes", "expected"),
    [
        (["ucb1", "dp-bai"], {}, "algorithms are ucb1, dp-bai; allowed: those judged by regret"),
        (["ucb1"], {}, "compare: parameter is 'epsilon'; allowed: none"),
        (["dp-se"], {"alpha": 1}, "compare: parameter is 'alpha'; allowed: epsilon"),
        (["dp-se"], {"horizon": None}, "horizon is missing; allowed: "),
        (["dp-se"], {"budget": 3}, "budget is given; allowed: horizon"),
        (["dp-se"], {"horizon": 1.5}, "horizon is 1.5; allowed: "),
        (["dp-sea"], {}, "did you mean 'dp-se'?"),
        ([], {}, "algorithms is []; allowed: a list of algorithms"),
        ([{"algorithm": "dp-se", "seed": 3}], {}, "keys are algorithm, seed; allowed: algorithm, "),
        ([{"params": {}}], {}, "keys are params; allowed: algorithm, "),
    ],
    ids=str,
)
def test_wrong_comparisons_are_refused_at_once(
    algorithms: list[Any], changes: dict[str, Any], expected: str
) -> None:
    assert expected in message_of(lambda: compare(*algorithms, **changes))
