"""Every kernel against its reference, decision for decision, on the same random stream."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import REGISTRY, REGRET, Algorithm
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Work, make_cell
from dpbandits.errors import InputError
from support import (
    FIVE_ARMS,
    PARAMETERS,
    all_interpretations,
    bandits,
    interpretations_to_draw,
    joined,
    kernel_decisions,
    message_of,
    settings_of,
)

# Horizons in reach of an elimination of DP-SE; its first epoch takes about 1000 pulls an arm.
LONGEST = {"dp-se": 6000}
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])


def test_every_algorithm_has_parameters_to_draw() -> None:
    assert set(PARAMETERS) == set(REGRET)


def agree(
    algorithm: Algorithm, told: Any, bandit: Bandit, seed: int, buffer: int
) -> list[tuple[int, int, float]]:
    """Compare kernel and reference, the use of the stream included, and return the decisions."""
    fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    decisions = list(kernel_decisions(algorithm, told, bandit, fast, buffer))
    assert decisions == list(joined(algorithm.reference(told, bandit, plain), decisions))
    assert fast.bit_generator.state == plain.bit_generator.state
    return decisions


@pytest.mark.parametrize("name", REGRET)
def test_kernel_and_reference_agree(name: str) -> None:
    algorithm = REGRET[name]
    buffers = st.one_of(st.just(1), st.integers(1, 900))
    for drawn in interpretations_to_draw(algorithm).values():

        @settings(max_examples=40)
        @given(data=st.data(), seed=st.integers(0, 2**63), buffer=buffers)
        def check(data: st.DataObject, seed: int, buffer: int) -> None:
            interpretations = data.draw(drawn)
            bandit = data.draw(bandits(3 if name in LONGEST else 6))
            horizon = data.draw(st.integers(1, LONGEST.get(name, 500)))
            parameters = data.draw(PARAMETERS[name])
            try:
                told = settings_of(algorithm, parameters, interpretations, bandit, horizon)
            except InputError:
                if name == "dp-ts-ucb":
                    assert horizon < max(3, len(bandit.arms))
                    return
                assert interpretations.get("long_pre_pull") == "error"
                assert parameters["b"] * len(bandit.arms) >= horizon
                return
            decisions = agree(algorithm, told, bandit, seed, buffer)
            assert sum(length for _, length, _ in decisions) == horizon
            assert all(0 <= total <= length for _, length, total in decisions)

        check()


def test_resuming_changes_nothing() -> None:
    for buffer in [1, 7, 333]:
        for algorithm in REGRET.values():
            told = settings_of(algorithm, dict(algorithm.example), {}, FIVE_ARMS, 2000)
            whole = kernel_decisions(algorithm, told, FIVE_ARMS, np.random.default_rng(5), 2000)
            pieces = kernel_decisions(algorithm, told, FIVE_ARMS, np.random.default_rng(5), buffer)
            assert list(whole) == list(pieces)


def test_ts_gaussian_is_the_modified_one_at_0_and_1() -> None:
    # ts-is-dp, Algorithm 2: (b, c) = (0, 1) gives the arm sequence of 2.1 on the same stream.
    for count in ["n+1", "n"]:
        plain, modified = REGRET["ts-gaussian"], REGRET["m-ts-gaussian"]
        interpretations = {"count": count}
        told = settings_of(plain, {}, interpretations, EXPONENTIAL_ARMS, 1500)
        told_modified = settings_of(
            modified, {"b": 0, "c": 1}, interpretations, EXPONENTIAL_ARMS, 1500
        )
        decisions = list(plain.reference(told, EXPONENTIAL_ARMS, np.random.default_rng(3)))
        for run in (
            kernel_decisions(modified, told_modified, EXPONENTIAL_ARMS, np.random.default_rng(3)),
            modified.reference(told_modified, EXPONENTIAL_ARMS, np.random.default_rng(3)),
        ):
            assert list(run) == decisions


@given(b=st.integers(1, 200), c=st.floats(0.1, 1e5))
def test_pre_pull_regret_is_exact(b: int, c: float) -> None:
    # Algorithm 2: b times the sum of the gaps at round b N, which is 1.25 b for the Bernoulli arms
    # (dyadic, so exactly) and 0.911996 b for the truncated exponential ones (six digits).
    for bandit, slope, tolerance in ((FIVE_ARMS, 1.25, 0.0), (EXPONENTIAL_ARMS, 0.911996, 5e-7)):
        parameters = {"b": b, "c": c}
        cell = make_cell(
            algorithm="m-ts-gaussian",
            parameters=parameters,
            bandit=bandit,
            horizon=5 * b + 3,
            grid=[5 * b],
        )
        regret = Work(cell, range(1)).play(1)["pseudo_regret"].item()
        assert regret == pytest.approx(b * bandit.gaps.sum(), rel=1e-14)
        assert abs(regret - slope * b) <= tolerance * b


def test_long_pre_pull_is_cut_at_the_horizon() -> None:
    # ts-is-dp, Algorithm 2 and TSDP-E15: where b N >= T the phase is cut at T.
    for b, horizon, pulls in [
        (30, 100, [30, 30, 30, 10, 0]),
        (20, 100, [20, 20, 20, 20, 20]),
        (100, 100, [100, 0, 0, 0, 0]),
        (2**62, 100, [100, 0, 0, 0, 0]),
        (10**30, 100, [100, 0, 0, 0, 0]),
    ]:
        cell = make_cell(
            algorithm="m-ts-gaussian",
            parameters={"b": b, "c": 1.0},
            bandit=FIVE_ARMS,
            horizon=horizon,
            metrics=["pulls"],
        )
        assert Work(cell, range(1)).play(1)["pulls"].tolist() == [pulls]


def test_long_pre_pull_is_refused_where_asked() -> None:
    for b, refused in [(19, False), (20, True), (30, True)]:
        algorithm, interpretations = REGRET["m-ts-gaussian"], {"long_pre_pull": "error"}
        parameters = {"b": b, "c": 1.0}
        if not refused:
            assert (
                settings_of(algorithm, parameters, interpretations, FIVE_ARMS, 100).forced_pulls
                == b
            )
            return
        message = message_of(
            lambda: settings_of(algorithm, parameters, interpretations, FIVE_ARMS, 100)
        )
        assert f"m-ts-gaussian: b is {b}, so that 5 arms use up the horizon 100" in message


def run_lengths(decisions: list[tuple[int, int, float]]) -> list[tuple[int, int]]:
    """Return (arm, number of rounds in a row) along a run."""
    found: list[tuple[int, int]] = []
    for arm, length, _ in decisions:
        if found and found[-1][0] == arm:
            found[-1] = (arm, found[-1][1] + length)
        else:
            found.append((arm, length))
    return found


def test_dp_se_epochs_have_the_lengths_of_the_formula() -> None:
    # Sajed and Sheffet (2019) by hand: K = 2, T = 10000, beta = 1/T, equal means. Epoch 1: D = 1/2,
    # L8 = ln(16 T) = 11.98293, L4 = ln(8 T) = 11.28978. eps = 1: 32 L8 / D^2 = 1533.8, so
    # R = 1534; eps = 0.1: 8 L4 / (eps D) = 1806.4, so R = 1807. Epoch 2: D = 1/4,
    # L8 = ln(64 T) = 13.36922, 32 L8 / D^2 = 6845.04, so R = 6846 (8 L4 / (eps D) is less).
    algorithm, bandit = REGRET["dp-se"], dpbandits.bernoulli([0.5, 0.5])
    for epsilon, first in ((1.0, 1534), (0.1, 1807)):
        told = settings_of(algorithm, {"epsilon": epsilon}, {"order": "sequential"}, bandit, 10_000)
        decisions = agree(algorithm, told, bandit, seed=1, buffer=1000)
        second = min(6846, 10_000 - 2 * first)
        rest = [(1, 10_000 - 2 * first - second)] if second == 6846 else []
        assert run_lengths(decisions) == [(0, first), (1, first), (0, second), *rest]


def test_dp_se_eliminates_and_plays_the_survivor() -> None:
    # Sajed and Sheffet (2019): T = 4000, eps = 1: R = floor(128 ln(16 T)) + 1 = 1417 pulls of both
    # arms in turn;
    # 2h + 2c = 0.14, far below the gap of 0.8.
    algorithm, bandit = REGRET["dp-se"], dpbandits.bernoulli([0.1, 0.9])
    pulls = math.floor(128 * math.log(16 * 4000)) + 1
    assert pulls == 1417
    told = settings_of(algorithm, {"epsilon": 1.0}, {}, bandit, 4000)
    decisions = agree(algorithm, told, bandit, seed=1, buffer=1000)
    assert [arm for arm, _, _ in decisions] == [0, 1] * pulls + [1] * (4000 - 2 * pulls)


def test_dp_se_survives_an_epoch_of_any_length() -> None:
    for epsilon in [1e-3, 1e-20, 1e-100]:
        for order in ["round-robin", "sequential"]:
            algorithm, bandit = REGRET["dp-se"], dpbandits.bernoulli([0.9, 0.1])
            told = settings_of(algorithm, {"epsilon": epsilon}, {"order": order}, bandit, 100)
            decisions = agree(algorithm, told, bandit, seed=1, buffer=64)
            expected = [0, 1] * 50 if order == "round-robin" else [0] * 100
            assert [arm for arm, _, _ in decisions] == expected


def test_fewer_rounds_than_arms() -> None:
    for algorithm in REGRET.values():
        for horizon in (1, 4):
            if algorithm.id == "dp-ts-ucb":  # refuses, see test_algorithms_dp_ts_ucb.py
                continue
            for interpretations in all_interpretations(algorithm):
                if interpretations.get("long_pre_pull") != "error":
                    parameters = dict(algorithm.example)
                    told = settings_of(algorithm, parameters, interpretations, FIVE_ARMS, horizon)
                    decisions = agree(algorithm, told, FIVE_ARMS, seed=2, buffer=3)
                    assert sum(length for _, length, _ in decisions) == horizon


def test_guarantees_are_those_of_the_papers() -> None:
    for name, algorithm in REGISTRY.items():
        if "epsilon" in algorithm.example:
            parameters = algorithm.parameters_from({**algorithm.example, "epsilon": 0.3})
            guarantee = guarantee_of(algorithm, parameters, 10**6)
            kind, slack = ("approximate", 0.01) if name == "dp-bai-gauss" else ("pure", 0.0)
            assert (guarantee.kind, guarantee.parameter, guarantee.slack) == (kind, 0.3, slack)


def test_delta_outside_its_range() -> None:
    for delta in (0, 1, -0.1, True, "0.1", math.nan):
        values = {"epsilon": 1.0, "delta": delta}
        message = message_of(lambda: REGISTRY["dp-bai-gauss"].parameters_from(values))
        assert message.startswith(f"dp-bai-gauss: delta is {delta!r}; allowed: a number strictly ")
