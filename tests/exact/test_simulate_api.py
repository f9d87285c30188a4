"""dpbandits.simulate: validated at once, computed at first access, one line for bad input."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits import Simulation
from dpbandits.engine.cells import Cell, make_cell
from support import message_of

BANDIT = dpbandits.bernoulli([0.75, 0.5, 0.25])
NOT_WHOLE = (math.nan, math.inf, 1.5, "10", True, None, [10])


def simulate(**changes: Any) -> Simulation:
    base: dict[str, Any] = {
        "algorithm": "m-ts-gaussian",
        "params": {"b": 2, "c": 1.5},
        "bandit": BANDIT,
        "horizon": 80,
        "runs": 12,
    }
    return dpbandits.simulate(**(base | changes))


def test_nothing_is_computed_before_it_is_asked_for(cache_folder: Path) -> None:
    simulation = simulate()
    cells = cache_folder / "cells"
    assert not cells.exists()
    _ = simulation.pulls
    assert len(list(cells.rglob("*.block"))) == 2, "12 runs are two blocks"


def test_results_come_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = simulate().pseudo_regret

    def refuse(self: Cell, root_seed: int) -> None:
        raise AssertionError("played again")

    monkeypatch.setattr(Cell, "play", refuse)
    np.testing.assert_array_equal(simulate().pseudo_regret, expected)
    with pytest.raises(AssertionError, match="played again"):
        _ = simulate(seed=1).pseudo_regret


def test_shapes() -> None:
    simulation = simulate()
    assert simulation.pseudo_regret.shape == (12,)
    assert simulation.realised_regret.shape == (12,)
    assert simulation.pulls.shape == (12, 3)
    assert simulation.pulls.dtype == np.int64
    assert simulation.curve(metric="pseudo_regret", at=[1, 80]).shape == (12, 2)


def test_metrics_fit_together() -> None:
    simulation = simulate(horizon=200)
    assert (simulation.pulls.sum(axis=1) == 200).all()
    # Dyadic gaps and counts: exact.
    np.testing.assert_array_equal(simulation.pseudo_regret, simulation.pulls @ BANDIT.gaps)
    rewards = 0.75 * 200 - simulation.realised_regret
    np.testing.assert_array_equal(rewards, rewards.round())
    for metric in ("pseudo_regret", "realised_regret"):
        last = simulation.curve(metric=metric, at=[200])[:, 0]
        np.testing.assert_array_equal(last, getattr(simulation, metric))


def test_curves_at_unsorted_and_repeated_times() -> None:
    simulation = simulate()
    for metric in ("pseudo_regret", "realised_regret"):
        whole = simulation.curve(metric=metric, at=range(1, 81))
        times = [40, 3, 80, 3, 1]
        part = simulation.curve(metric=metric, at=times)
        np.testing.assert_array_equal(part, whole[:, np.array(times) - 1])
        also = simulation.curve(metric=metric, at=np.array(times, np.uint16))  # type: ignore[arg-type]
        np.testing.assert_array_equal(also, part)


def test_engine_and_api_give_the_same_numbers() -> None:
    cell = make_cell(
        algorithm="m-ts-gaussian",
        parameters={"b": 2, "c": 1.5},
        bandit=BANDIT,
        horizon=80,
        runs=12,
    )
    expected = cell.play(99)["pseudo_regret"][:, 0]
    np.testing.assert_array_equal(simulate(seed=99).pseudo_regret, expected)


def test_defaults_may_be_said() -> None:
    said = simulate(
        variant="as-written", interpretations={"count": "n+1"}, params={"c": 1.5, "b": 2}, workers=1
    )
    np.testing.assert_array_equal(said.realised_regret, simulate().realised_regret)
    other = simulate(interpretations={"count": "n"})
    assert (other.realised_regret != simulate().realised_regret).any()


def test_whole_numbers_do_for_floats() -> None:
    whole, real = simulate(params={"b": 2, "c": 2}), simulate(params={"b": 2, "c": 2.0})
    np.testing.assert_array_equal(whole.realised_regret, real.realised_regret)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"algorithm": "ucb-9"}, "algorithm is 'ucb-9'; allowed: ts-gaussian, "),
        ({"algorithm": None}, "algorithm is None; allowed: "),
        ({"algorithm": ["ucb1"]}, "algorithm is ['ucb1']; allowed: "),
        ({"bandit": [0.5, 0.4]}, "bandit is [0.5, 0.4]; allowed: a Bandit"),
        ({"params": {"b": 2}}, "m-ts-gaussian: parameters are b; allowed: b, c"),
        ({"params": {"b": 2, "c": 1, "d": 1}}, "parameter is 'd'; allowed: b, c"),
        ({"params": {"b": 2, 3: 1}}, "parameter is 3; allowed: b, c"),
        ({"params": None}, "parameters are none; allowed: b, c"),
        ({"algorithm": "ucb1"}, "ucb1: parameter is 'b'; allowed: none"),
        (
            {"interpretations": {"clock": "n"}},
            "interpretation is 'clock'; allowed: count, long_pre_pull",
        ),
        ({"interpretations": {"count": "n+2"}}, "interpretation count is 'n+2'; allowed: n+1, n"),
        ({"interpretations": {"count": ["n"]}}, "interpretation count is ['n']; allowed: n+1, n"),
        ({"variant": "repaired"}, "variant is 'repaired'; allowed: as-written"),
        ({"variant": None}, "variant is None; allowed: as-written"),
    ],
    ids=str,
)
def test_unknown_names_are_refused_at_once(changes: dict[str, Any], expected: str) -> None:
    assert expected in message_of(lambda: simulate(**changes))


@pytest.mark.parametrize("value", [0, -1, 2**53 + 1, *NOT_WHOLE], ids=str)
def test_bad_horizons_are_refused_at_once(value: Any) -> None:
    message = message_of(lambda: simulate(horizon=value))
    assert message == f"horizon is {value!r}; allowed: an integer from 1 to {2**53}"


@pytest.mark.parametrize("value", [0, -1, *NOT_WHOLE], ids=str)
def test_bad_numbers_of_runs_are_refused_at_once(value: Any) -> None:
    message = message_of(lambda: simulate(runs=value))
    assert message.startswith(f"runs is {value!r}; allowed: an integer from 1 to ")


@pytest.mark.parametrize("value", [-1, 10.0, *NOT_WHOLE], ids=str)
def test_bad_seeds_are_refused_at_once(value: Any) -> None:
    message = message_of(lambda: simulate(seed=value))
    assert message.startswith(f"seed is {value!r}; allowed: ")


@pytest.mark.parametrize("value", [0, -1, 10.0, *NOT_WHOLE], ids=str)
def test_bad_workers_are_refused_at_once(value: Any) -> None:
    message = message_of(lambda: simulate(workers=value))
    assert message.startswith(f"workers is {value!r}; allowed: ")


@pytest.mark.parametrize("value", [-1, 10.0, *NOT_WHOLE], ids=str)
def test_bad_b_is_refused_at_once(value: Any) -> None:
    message = message_of(lambda: simulate(params={"b": value, "c": 1.0}))
    assert message == f"m-ts-gaussian: b is {value!r}; allowed: an integer, at least 0"


@pytest.mark.parametrize(
    "value", [0, -1.0, math.nan, math.inf, -math.inf, 10**400, "1", True, None, [1.0]], ids=str
)
@pytest.mark.parametrize(
    ("algorithm", "key", "rest"),
    [
        ("m-ts-gaussian", "c", {"b": 1}),
        ("dp-se", "epsilon", {}),
        ("anytime-lazy-ucb", "epsilon", {}),
    ],
)
def test_values_that_are_not_positive_are_refused_at_once(
    algorithm: str, key: str, rest: dict[str, Any], value: Any
) -> None:
    message = message_of(lambda: simulate(algorithm=algorithm, params={key: value, **rest}))
    assert message.startswith(f"{algorithm}: {key} is {value!r}; allowed: a ")
    assert message.endswith("number above 0")


def test_long_pre_pulls_are_refused_at_once_where_asked() -> None:
    interpretations = {"long_pre_pull": "error"}
    message = message_of(
        lambda: simulate(params={"b": 27, "c": 1.0}, interpretations=interpretations)
    )
    assert "m-ts-gaussian: b is 27, so that 3 arms use up the horizon 80" in message


@pytest.mark.parametrize(
    ("metric", "at", "expected"),
    [
        ("pulls", [1], "metric is 'pulls'; allowed: pseudo_regret, realised_regret"),
        ("nash", [1], "metric is 'nash'; allowed: "),
        ("pseudo_regret", [0], "at is [0]; allowed: times from 1 to 80"),
        ("pseudo_regret", [1, 81], "at is [1, 81]; allowed: times from 1 to 80"),
        ("pseudo_regret", [], "at is []; allowed: a list of whole numbers"),
        ("pseudo_regret", 5, "at is 5; allowed: a list of whole numbers"),
        ("pseudo_regret", [1.5], "at is [1.5]; allowed: a list of whole numbers"),
        ("pseudo_regret", [math.nan], "at is [nan]; allowed: a list of whole numbers"),
        ("pseudo_regret", [True], "at is [True]; allowed: a list of whole numbers"),
        ("pseudo_regret", ["1"], "at is ['1']; allowed: a list of whole numbers"),
        ("pseudo_regret", [[1]], "at is [[1]]; allowed: a list of whole numbers"),
    ],
    ids=str,
)
def test_wrong_curves_are_refused(metric: str, at: Any, expected: str) -> None:
    simulation = simulate()
    assert expected in message_of(lambda: simulation.curve(metric=metric, at=at))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"metrics": ["regret"]}, "metric is 'regret'; allowed: "),
        ({"grid": [0]}, "grid time is 0; allowed: an integer from 1 to 80"),
        ({"grid": [81]}, "grid time is 81; allowed: an integer from 1 to 80"),
        ({"grid": [1.0]}, "grid time is 1.0; allowed: an integer from 1 to 80"),
        ({"first_run": -1}, "first run is -1; allowed: an integer from 0 to "),
    ],
    ids=str,
)
def test_wrong_cells_are_refused(changes: dict[str, Any], expected: str) -> None:
    base: dict[str, Any] = {"algorithm": "ucb1", "bandit": BANDIT, "horizon": 80, "runs": 1}
    assert expected in message_of(lambda: make_cell(**(base | changes)))


def test_whole_floats_do_for_counts() -> None:
    simulation = simulate(horizon=8e1, runs=12.0)
    np.testing.assert_array_equal(simulation.pulls, simulate().pulls)
    curve = simulation.curve(metric="pseudo_regret", at=[2e1, 8e1])  # type: ignore[list-item]
    np.testing.assert_array_equal(curve, simulate().curve(metric="regret", at=[20, 80]))


def test_parameters_may_be_given_by_keyword() -> None:
    by_keyword = simulate(params=None, b=2, c=1.5)
    np.testing.assert_array_equal(by_keyword.pulls, simulate().pulls)
    mixed = simulate(params={"b": 2}, c=1.5)
    np.testing.assert_array_equal(mixed.pulls, simulate().pulls)


def test_wrong_keywords_are_refused_with_what_is_near() -> None:
    message = message_of(lambda: simulate(params=None, b=2, c=1.5, worker=2))
    assert "argument is 'worker'; allowed: b, c, algorithm, bandit, " in message
    assert message.endswith("did you mean 'workers'?")
    assert "b is given twice" in message_of(lambda: simulate(b=3))
    assert "params is [1]; allowed: a mapping" in message_of(lambda: simulate(params=[1]))


def test_numbers_of_numpy_do_for_counts() -> None:
    simulation = simulate(horizon=np.int64(80), runs=np.int32(12))
    np.testing.assert_array_equal(simulation.pulls, simulate().pulls)
