"""Simulating, identifying and comparing: lazy, played once, one line for bad input."""

import itertools
import math
import pickle
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGISTRY, REGRET
from dpbandits.bandits import Bandit, Bernoulli
from dpbandits.engine import compute as compute_module
from dpbandits.engine import progress as progress_module
from dpbandits.engine.cells import Work, make_cell
from dpbandits.engine.compute import compute
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.metrics.intervals import mean_interval, rate_interval
from dpbandits.play import simulation as playing
from dpbandits.reporting.palette import look_of
from support import digits_printed, message_of

ARMS = dpbandits.bernoulli([0.75, 0.5, 0.25])
LINEAR = dpbandits.linear([[0, 1], [0, 0.9], [10, 0], [1, 0.3], [1, 0.7]], [0.045, 0.5])
COLUMNS = ["algorithm", "parameters", "run", "t", "metric", "value"]
NOT_WHOLE = (math.nan, math.inf, 1.5, "10", True, None, [10])


TS: dict[str, Any] = {"algorithm": "m-ts-gaussian", "params": {"b": 2, "c": 1.5}}
simulate = partial(dpbandits.simulate, **TS, bandit=ARMS, horizon=80, runs=12)
BAI: dict[str, Any] = {"algorithm": "dp-bai", "params": {"epsilon": 1.0}}
identify = partial(dpbandits.identify, **BAI, bandit=LINEAR, budget=200, runs=30)
cell = partial(make_cell, algorithm="ucb1", bandit=ARMS, horizon=80)
SE: dict[str, Any] = {"algorithms": ["dp-se"], "epsilon": 1.0}
compared = partial(dpbandits.compare, **SE, bandit=ARMS, horizon=300, runs=6)


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The metrics of every set of runs that is asked of the engine."""
    played: list[tuple[str, ...]] = []

    def counted(works: Any, **options: Any) -> Any:
        played.extend(work.cell.metrics for work in works)
        return compute(works, **options)

    monkeypatch.setattr(playing, "compute", counted)
    return played


def test_one_set_of_runs_answers_everything(plays: list[tuple[str, ...]]) -> None:
    simulation = simulate(cache=False)
    assert repr(simulation).endswith("not computed yet>")
    assert not plays
    simulation.summary()
    simulation.frame()
    simulation.frame(metric=["regret", "realised_regret"], at=[3, 80])
    simulation.curve(metric="realised_regret", at=[40, 80])
    simulation.plot()
    assert simulation.pulls.shape == (12, 3)
    assert "pseudo_regret" in f"{simulation} {simulation!r} {simulation._repr_html_()}"
    assert len(plays) == 1
    nash = simulation.nash_regret(at=[80])
    simulation.plot(metric="nash_regret")
    np.testing.assert_array_equal(
        simulation.nash_regret(at=[80], bias="kept").influences, nash.influences
    )
    assert plays[1:] == [("nash_regret", "nash_influence")]
    trials = identify(cache=False)
    trials.summary()
    trials.frame()
    trials.plot()
    assert len(plays) == 3


def test_other_times_play_the_same_runs_again_and_are_then_known(
    plays: list[tuple[str, ...]],
) -> None:
    simulation = simulate(cache=False, horizon=1000)
    before = simulation.pulls
    values = simulation.curve(metric="regret", at=[3, 1000, 3])
    assert len(plays) == 2
    np.testing.assert_array_equal(simulation.curve(metric="regret", at=[3]), values[:, :1])
    np.testing.assert_array_equal(values[:, 1], simulation.pseudo_regret)
    np.testing.assert_array_equal(simulation.pulls, before)
    assert len(plays) == 2


def test_metrics_fit_together() -> None:
    simulation = simulate(horizon=200)
    assert [*simulation.times] == sorted({*simulation.times})
    assert (len(simulation.times), simulation.times[-1]) == (100, 200)
    assert simulation.pulls.dtype == np.int64
    assert (simulation.pulls.sum(axis=1) == 200).all()
    # Dyadic gaps and counts: exact.
    np.testing.assert_array_equal(simulation.pseudo_regret, simulation.pulls @ ARMS.gaps)
    rewards = 0.75 * 200 - simulation.realised_regret
    np.testing.assert_array_equal(rewards, rewards.round())
    for metric in ("pseudo_regret", "realised_regret"):
        whole = simulation.curve(metric=metric, at=range(1, 201))
        np.testing.assert_array_equal(whole[:, -1], getattr(simulation, metric))
        times = np.array([40, 3, 80, 3, 1], np.uint16)
        part = simulation.curve(metric=metric, at=times)  # type: ignore[arg-type]
        np.testing.assert_array_equal(part, whole[:, times - 1])


def test_what_is_said_counts_and_may_be_said_in_other_words() -> None:
    expected = simulate().realised_regret
    for said in [
        {"variant": "as-written", "interpretations": {"count": "n+1"}, "workers": 1},
        {"params": None, "b": 2, "c": 1.5},
        {"params": {"b": 2}, "c": 1.5},
        {"horizon": 8e1, "runs": 12.0},
        {"horizon": np.int64(80), "runs": np.int32(12)},
        {"horizon": np.float32(80), "runs": np.float64(12), "seed": float(DEFAULT_ROOT_SEED)},
        {"workers": np.uint8(1), "params": {"b": np.int8(2), "c": np.float32(1.5)}},
        {"params": {"b": 2.0, "c": np.float64(1.5)}},
    ]:
        np.testing.assert_array_equal(simulate(**said).realised_regret, expected)
    for other in ({"interpretations": {"count": "n"}}, {"seed": 1}, {"c": 2, "params": {"b": 2}}):
        assert (simulate(**other).realised_regret != expected).any()
    played = Work(simulate().cell, range(12)).play(99)["pseudo_regret"][:, 0]
    np.testing.assert_array_equal(simulate(seed=99).pseudo_regret, played)


def test_frames_and_plots_have_the_numbers_of_the_curve() -> None:
    simulation = simulate(algorithm="dp-se", params={"epsilon": 1.0})
    frame = simulation.frame(metric=["regret", "realised_regret"], at=[10, 80])
    assert list(frame.columns) == COLUMNS
    assert set(frame["algorithm"]) == {"dp-se"}
    assert set(frame["parameters"]) == {"epsilon=1"}
    for metric in ("pseudo_regret", "realised_regret"):
        rows = frame[frame["metric"] == metric]
        table = rows.pivot_table(index="run", columns="t", values="value")
        assert table.columns.tolist() == [10, 80]
        np.testing.assert_array_equal(table, simulation.curve(metric=metric, at=[10, 80]))
    # DP-SE has pulled all arms alike so early, so that its runs agree and there is no interval.
    assert not simulation.plot(at=[20, 40, 80]).collections
    simulation = simulate()
    axes = simulation.plot(at=[20, 40, 80])
    mean, low, high = mean_interval(simulation.curve(metric="pseudo_regret", at=[20, 40, 80]))
    [line] = axes.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), mean)
    assert line.get_color() == look_of("m-ts-gaussian").colour
    [band] = axes.collections
    assert isinstance(band, PolyCollection)
    ends = band.get_paths()[0].get_extents()
    assert (ends.y0, ends.y1) == pytest.approx((low.min(), high.max()))
    assert simulation.plot(axes=axes) is axes
    assert axes.get_ylabel() == "pseudo-regret"


def test_representations_have_mean_and_interval() -> None:
    simulation, trials, one = simulate(), identify(), simulate(runs=1)
    for runs, expected in (
        (simulation, mean_interval(simulation.pseudo_regret)),
        (trials, rate_interval(trials.success.sum(), 30)),
    ):
        printed = digits_printed(repr(runs))[-3:]
        assert printed == pytest.approx([*map(float, expected)], rel=1e-3)
        assert f"{float(expected[0]):.6g}" in runs._repr_html_()
    assert "guarantee: 1-DP (pure)" in str(trials)
    assert f"{one.pseudo_regret[0]:.4g} (no interval)>" in repr(one)
    assert not one.plot().collections, "one run has no interval"


def test_trials_of_every_algorithm() -> None:
    for name in IDENTIFICATION:
        trials = identify(algorithm=name, params=IDENTIFICATION[name].example, budget=400)
        assert trials.success.shape == (30,)
        assert trials.pulls.shape == (30, 5)
        np.testing.assert_array_equal(trials.pulls.sum(axis=1), trials.total_pulls)
        np.testing.assert_array_equal(trials.success, trials.recommended == LINEAR.best_arm)
        assert trials.exact.all()
        assert trials.trace.recommended == trials.recommended[0]
        np.testing.assert_array_equal(trials.trace.pulls(5), trials.pulls[0])
        frame = trials.frame()
        assert list(frame.columns) == COLUMNS
        np.testing.assert_array_equal(frame[frame["metric"] == "success"]["value"], trials.success)
        assert set(frame["t"]) == {400}
        points = [container[0].get_xdata()[0] for container in trials.plot().containers]
        np.testing.assert_allclose(points, np.bincount(trials.recommended, minlength=5) / 30)


def test_algorithms_compared_are_those_simulated_alone() -> None:
    comparison = compared(
        algorithms=["ucb1", "dp-se", {"algorithm": "dp-se", "params": {"epsilon": 0.1}}]
    )
    begin = "<Comparison of 3 algorithms on 3 arms, T = 300, 6 runs: "
    assert repr(comparison) == f"{begin}0 of 3 computed>"
    next(iter(comparison)).summary()
    assert repr(comparison) == f"{begin}1 of 3 computed>"
    summary = comparison.summary()
    assert repr(comparison) == f"{begin}3 of 3 computed>"
    assert summary["parameters"].tolist() == ["", "epsilon=1", "epsilon=0.1"]
    assert summary["guarantee"][2].startswith("0.1-DP (pure), central, ")
    alone = simulate(algorithm="dp-se", params={"epsilon": 0.1}, horizon=300, runs=6)
    assert summary["mean"][2] == alone.pseudo_regret.mean()
    frame = comparison.frame(at=[300])
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 3 * 6
    np.testing.assert_array_equal(frame["value"][-6:], alone.pseudo_regret)
    lines = comparison.plot(at=[100, 300]).get_lines()
    labels = ["UCB1", "DP-SE, epsilon=1", "DP-SE, epsilon=0.1"]
    assert [line.get_label() for line in lines] == labels
    assert len({line.get_markerfacecolor() for line in lines[1:]}) == 2, "one colour, other marks"
    assert "<table" in comparison._repr_html_()
    comparison = compared(
        algorithms=["dp-bai", "od-linbai"], bandit=LINEAR, horizon=None, budget=400
    )
    assert comparison.summary()["metric"].tolist() == ["success", "success"]
    assert set(comparison.frame()["metric"]) == {"success", "recommended", "total_pulls"}
    assert len(comparison.plot().containers) == 2
    message = message_of(lambda: comparison.frame(metric="regret", at=[3]))
    assert message.startswith("metric, at: are given for best arms")


def test_wrong_numbers_are_refused_at_once() -> None:
    for play, key, wrong, expected in [
        (simulate, "horizon", (0, -1, 2**53 + 1), f"allowed: a whole number from 1 to {2**53}"),
        (simulate, "runs", (0, -1), "allowed: a whole number from 1 to "),
        (simulate, "seed", (-1,), "allowed: a whole number of at least 0"),
        (simulate, "workers", (0, -1), "allowed: a whole number of at least 1"),
        (identify, "budget", (0, 10**400), "allowed: a whole number from 1 to "),
        (identify, "runs", (0,), "allowed: a whole number from 1 to "),
    ]:
        for value in (*wrong, *NOT_WHOLE):
            message = message_of(lambda: play(**{key: value}))
            assert message.startswith(f"{key} is {value!r}; {expected}")


def test_a_wrong_epsilon_is_refused_at_once() -> None:
    for name in [n for n, each in REGISTRY.items() if "epsilon" in each.example]:
        bandit = ARMS if name in REGRET else LINEAR
        for epsilon in (0, -1.0, math.nan, -math.inf, "1", True, None, [1.0], 1e-310, 9.9e-101):
            told = {**REGISTRY[name].example, "epsilon": epsilon}
            message = message_of(
                lambda: make_cell(algorithm=name, parameters=told, bandit=bandit, horizon=10**4)
            )
            # An anytime algorithm passes it on to its core, whose message it is.
            assert f"{name.removeprefix('anytime-')}: epsilon is {epsilon!r}; allowed: " in message


def test_what_cannot_be_played_is_refused_at_once() -> None:
    alpha = {"algorithm": "dp-ts-ucb", "params": {"alpha": 1}}
    refuses_pulls = {"params": {"b": 27, "c": 1.0}, "interpretations": {"long_pre_pull": "error"}}
    for play, changes, expected in [
        (simulate, {"algorithm": "ucb-9"}, "algorithm is 'ucb-9'; allowed: ts-gaussian, "),
        (simulate, {"bandit": [0.5, 0.4]}, "bandit is [0.5, 0.4]; allowed: a Bandit"),
        (simulate, {"params": {"b": 2}}, "m-ts-gaussian: parameters are b; allowed: b, c"),
        (simulate, {"params": {"b": 2, "c": 1, "d": 1}}, "parameter is 'd'; allowed: b, c"),
        (simulate, {"params": None}, "parameters are none; allowed: b, c"),
        (simulate, {"params": [1]}, "params is [1]; allowed: a mapping"),
        (simulate, {"params": {"b": -1, "c": 1.0}}, "b is -1; allowed: an integer, at least 0"),
        (simulate, {"params": {"b": 2.5, "c": 1.0}}, "b is 2.5; allowed: an integer, at least 0"),
        (simulate, {"params": {"b": 10**400, "c": 1.0}}, "allowed: an integer, at least 0 (at mo"),
        (identify, {"params": {"epsilon": 10**400}}, "or infinity for no noise"),
        (simulate, {"b": 3}, "b is given twice"),
        (simulate, {"worker": 2}, "argument is 'worker'; allowed: b, c, algorithm, bandit, "),
        (simulate, {"interpretations": {"clock": "n"}}, "interpretation is 'clock'; allowed: "),
        (simulate, {"interpretations": {"count": "n+2"}}, "count is 'n+2'; allowed: n+1, n"),
        (simulate, {"variant": "repaired"}, "variant is 'repaired'; allowed: as-written"),
        (simulate, {"runs": 10**9}, "runs and times make 80,000,000,000 values; allowed: at most"),
        (simulate, refuses_pulls, "m-ts-gaussian: b is 27, so that 3 arms use up the horizon 80"),
        (simulate, alpha | {"horizon": 2}, "horizon is 2, with 3 arms; allowed: at least 3"),
        (simulate, alpha | {"params": {"alpha": 1.01}}, "alpha is 1.01; allowed: a number from 0"),
        (identify, {"algorithm": "ucb1"}, "'ucb1', which names no best arm; allowed: dp-bai"),
        (identify, {"algorithm": "dp-bai-gauss", "delta": 1}, "delta is 1; "),
        (identify, {"bandit": dpbandits.bernoulli([0.5, 0.4])}, "allowed: a linear bandit"),
        (identify, {"budget": 2}, "budget is 2; allowed: at least "),
        (cell, {"metrics": ["regret"]}, "metric is 'regret'; allowed: "),
        *((cell, {"grid": [t]}, f"grid time is {t}; allowed: a whole n") for t in (0, 81, 1.5)),
        (compared, {"algorithms": ["ucb1", "dp-bai"]}, "are ucb1, dp-bai; allowed: those judged"),
        (compared, {"algorithms": ["ts-beta"]}, "compare: parameter is 'epsilon'; allowed: none"),
        (compared, {"alpha": 1}, "compare: parameter is 'alpha'; allowed: epsilon"),
        (compared, {"horizon": None}, "horizon is missing; allowed: "),
        (compared, {"budget": 3}, "budget is given; allowed: horizon"),
        (compared, {"horizon": 1.5}, "horizon is 1.5; allowed: "),
        (compared, {"algorithms": ["dp-sea"]}, "did you mean 'dp-se'?"),
        (compared, {"algorithms": []}, "algorithms is []; allowed: a list of algorithms"),
        (compared, {"algorithms": [{"params": {}}]}, "keys are params; allowed: algorithm, "),
    ]:
        assert expected in message_of(lambda: play(**changes))


def test_wrong_curves_and_frames_are_refused_before_anything_is_played(
    plays: list[tuple[str, ...]],
) -> None:
    simulation = simulate()
    for wrong in ("pulls", "nash"):
        message = message_of(lambda: simulation.curve(metric=wrong, at=[1]))
        assert message.startswith(f"metric is {wrong!r}; allowed: pseudo_regret, realised_regret")
    whole = ([], 5, [1.5], [math.nan], [True], ["1"], [[1]])
    for values, allowed in ((([0], [1, 81]), "times from 1 to 80"), (whole, "a list of whole num")):
        for at in values:
            for asked in (simulation.nash_regret, partial(simulation.curve, metric="regret")):
                expected = f"at is {at!r}; allowed: {allowed}"
                assert expected in message_of(lambda: asked(at=at))
    expected = "runs and times make 2,000,000,000 values; allowed: at most 1,073,741,824"
    for runs, metrics in (2000, "regret"), (1000, ["regret", "realised_regret"]):
        long = simulate(horizon=10**6, runs=runs)
        assert message_of(lambda: long.frame(metric=metrics, at=range(1, 10**6 + 1))) == expected
    assert not plays


FEATURES = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
LAWS, LOGARITHMS = (Bernoulli(0.5), Bernoulli(0.25)), (math.log(0.5), math.log(0.25))


def arrays_of(bandit: Any) -> list[Any]:
    held = [bandit, *(arm for arm in bandit.arms if hasattr(arm, "recorded"))]
    values = (getattr(each, name) for each in held for name in dir(each))
    return [value for value in values if isinstance(value, np.ndarray)]


def test_without_worker_processes_it_plays_here_with_one_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where /dev/shm is read-only, or full from the second result on."""
    expected = simulate(cache=False, runs=40).realised_regret
    processes = compute_module._in_processes

    def full(*arguments: Any) -> Iterator[Any]:
        parts, root_seed, *_ = arguments
        number, part = parts[-1]
        yield number, part.runs.start, part.play(root_seed)
        raise OSError(28, "No space left on device")

    for fault, reason in ((full, "No space left on device"), (processes, "joblib has no process")):
        capsys.readouterr()
        monkeypatch.setattr(compute_module, "_in_processes", fault)
        monkeypatch.setattr(compute_module, "effective_n_jobs", lambda workers: 1)
        found = simulate(cache=False, runs=40, workers=2).realised_regret
        np.testing.assert_array_equal(found, expected)
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith(f"warning: worker processes cannot be started ({reason}")


def test_a_killed_worker_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> Iterator[Any]:
        raise BrokenProcessPool("SIGKILL(-9)")
        yield

    monkeypatch.setattr(compute_module, "_in_processes", killed)
    message = message_of(lambda: simulate(cache=False, runs=40, workers=2).realised_regret)
    assert message.startswith("workers is 2: a worker process was killed")


def test_what_takes_over_a_minute_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    """DP-SE plays round by round, AdaP-UCB in episodes that are done at once."""
    for name, is_long in (("dp-se", True), ("adap-ucb", False)):
        cell = make_cell(algorithm=name, parameters={"epsilon": 1.0}, bandit=ARMS, horizon=10**13)
        capsys.readouterr()
        progress_module.announce_time([Work(cell, range(1))], 0, 1, f"simulating {name}")
        err = capsys.readouterr().err
        assert err.startswith("simulating dp-se: about ") == is_long, err
        assert bool(err) == is_long
    assert progress_module._duration(19.2 * 3600) == "19 hours"


def test_arrays_of_a_bandit_are_read_only() -> None:
    every: dict[str, Any] = {
        "bernoulli": dpbandits.bernoulli([0.2, 0.7, 0.5]),
        "nominal": Bandit(LAWS, nominal=(0.5, 0.125), logarithms=LOGARITHMS),
        "linear": dpbandits.linear(FEATURES, [0.5, 0.3]),
        "recorded": dpbandits.replay([[1, 0, 1], [0, 0.5]]),
        "drawn": dpbandits.arms([lambda rng: 0.5, lambda rng: 0.25], means=[0.5, 0.25]),
    }
    for name, bandit in every.items():
        bandits = [bandit]
        assert len(arrays_of(bandit)) >= 6
        if name != "drawn":  # Functions travel by the engine's own way.
            bandits.append(pickle.loads(pickle.dumps(bandit)))
            for array, expected in zip(*map(arrays_of, bandits), strict=True):
                np.testing.assert_array_equal(array, expected)
        for array in itertools.chain.from_iterable(map(arrays_of, bandits)):
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.setflags(write=True)


def test_what_a_caller_gave_may_change_later() -> None:
    means, rows = np.array([0.2, 0.7]), [np.array([1.0, 0.0]), np.array([0.5, 0.5, 0.0])]
    features, laws = np.array(FEATURES), [Bernoulli(0.2), Bernoulli(0.7)]
    made = [
        dpbandits.bernoulli(means),
        dpbandits.replay(rows),
        dpbandits.linear(features, [0.5, 0.3]),
        Bandit(laws),  # type: ignore[arg-type]
    ]
    before = [bandit.describe() for bandit in made]
    for given in (means, *rows, features):
        given[...] = 0.25
    laws.reverse()
    assert [bandit.describe() for bandit in made] == before


def test_results_that_are_asked_for_again_are_the_same() -> None:
    simulation, trials = simulate(), identify()
    nash = simulation.nash_regret(at=[10, 60])

    def answers() -> list[Any]:
        phase = trials.trace.phases[0]
        return [
            *(simulation.pulls, simulation.pseudo_regret, simulation.realised_regret),
            simulation.curve(metric="regret", at=[10, 60]),
            *(trials.recommended, trials.success, trials.pulls, trials.exact, trials.total_pulls),
            *(phase.estimates, phase.active),
            *(nash.log_mean, nash.influences, nash.nash_regret, nash.standard_error),
        ]

    before = [np.array(each) for each in answers()]
    for array in answers():
        if array.flags.writeable:
            array[...] = 0
    for found, expected in zip(answers(), before, strict=True):
        np.testing.assert_array_equal(found, expected)
