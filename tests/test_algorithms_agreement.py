"""Every kernel against its reference, decision for decision, on the same random stream."""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import REGRET, Algorithm, dp_se
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Work, make_cell
from dpbandits.errors import InputError
from dpbandits.kernels import new_segments
from found_papers import PLAYED
from support import (
    FIVE_ARMS,
    PARAMETERS,
    all_interpretations,
    bandits,
    interpretations_to_draw,
    joined,
    kernel_decisions,
    settings_of,
)

# Horizons in reach of an elimination of DP-SE; its first epoch takes about 1000 pulls an arm.
LONGEST = {"dp-se": 6000}
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])


def agree(
    algorithm: Algorithm, told: Any, bandit: Bandit, seed: int, buffer: int
) -> list[tuple[int, int, float]]:
    """Compare kernel and reference, the use of the stream included, and return the decisions."""
    fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    decisions = list(kernel_decisions(algorithm, told, bandit, fast, buffer))
    assert decisions == list(joined(algorithm.reference(told, bandit, plain), decisions))
    assert fast.bit_generator.state == plain.bit_generator.state
    return decisions


EXAMPLES = 200
"""Of each algorithm, spread over combinations of its interpretations, of each at most 40."""


@pytest.mark.parametrize("name", REGRET)
def test_kernel_and_reference_agree(name: str) -> None:
    algorithm = REGRET[name]
    buffers = st.one_of(st.just(1), st.integers(1, 900))
    drawn = interpretations_to_draw(algorithm)
    for interpretations_drawn in drawn.values():

        @settings(max_examples=min(40, max(8, EXAMPLES // len(drawn))))
        @given(data=st.data(), seed=st.integers(0, 2**63), buffer=buffers)
        def check(data: st.DataObject, seed: int, buffer: int) -> None:
            interpretations = data.draw(interpretations_drawn)
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


def test_dp_se_survives_an_epoch_of_any_length() -> None:
    for epsilon in [1e-3, 1e-20, 1e-100]:
        for order in ["round-robin", "sequential"]:
            algorithm, bandit = REGRET["dp-se"], dpbandits.bernoulli([0.9, 0.1])
            told = settings_of(algorithm, {"epsilon": epsilon}, {"order": order}, bandit, 100)
            decisions = agree(algorithm, told, bandit, seed=1, buffer=64)
            expected = [0, 1] * 50 if order == "round-robin" else [0] * 100
            assert [arm for arm, _, _ in decisions] == expected


# Runs on which every constant and operator of a kernel decides something.


@dataclass(frozen=True)
class Scenario:
    """One run on which kernel and reference are compared."""

    bandit: Bandit
    horizon: int
    parameters: tuple[tuple[str, Any], ...] = ()
    interpretations: tuple[tuple[str, str], ...] = ()
    seed: int = 1


BERNOULLI = dpbandits.bernoulli([0.75, 0.625, 0.5])
EQUAL = dpbandits.bernoulli([0.5, 0.5])
SEQUENTIAL = (("order", "sequential"),)


def variant(algorithm: str, name: str, **changes: str) -> tuple[tuple[str, str], ...]:
    """Return the interpretations of a variant, some of them changed."""
    return tuple(REGRET[algorithm].interpretations_from(changes, name).items())


def private(
    algorithm: str,
    bandit: Bandit,
    horizon: int,
    epsilon: float,
    name: str = "as-written",
    **changes: str,
) -> Scenario:
    """Return a run of a variant, some of its interpretations changed."""
    interpretations = variant(algorithm, name, **changes)
    return Scenario(bandit, horizon, (("epsilon", epsilon),), interpretations)


def prepared(algorithm: str, scenario: Scenario) -> tuple[Any, Bandit]:
    """Return the settings and the bandit."""
    told = settings_of(
        REGRET[algorithm],
        dict(scenario.parameters),
        dict(scenario.interpretations),
        scenario.bandit,
        scenario.horizon,
    )
    return told, scenario.bandit


def close_calls(epsilon: float, gap: float, epoch: int, horizon: int, seeds: int) -> list[Scenario]:
    """Return runs of DP-SE on two arms whose elimination in an epoch is close.

    Of the given number of seeds, the three on which the arm lags by least more than the allowance
    2h + 2c, and the three on which by least less: there every constant of the rule decides.
    """
    algorithm, bandit = REGRET["dp-se"], dpbandits.bernoulli([0.5 + gap, 0.5])
    scenario = Scenario(bandit, horizon, (("epsilon", epsilon),))
    told, _ = prepared("dp-se", scenario)
    pulls, allowance = zip(
        *(dp_se.reference_epoch(told, e, 2) for e in range(1, epoch + 1)), strict=True
    )
    rounds = 2 * sum(pulls)
    chunks = new_segments(rounds)
    excess = {}
    for seed in range(seeds):
        state, generator = algorithm.state(2), np.random.default_rng(seed)
        algorithm.advance(told, state, bandit.arrays, generator, chunks)
        if state.epoch[0] == epoch:
            excess[seed] = abs(state.sums[0] - state.sums[1]) - allowance[-1]
    ordered = sorted(excess, key=excess.__getitem__)
    kept = sum(lag <= 0 for lag in excess.values())
    assert 3 <= kept <= len(ordered) - 3, "both outcomes occur"
    return [replace(scenario, seed=seed) for seed in ordered[kept - 3 : kept + 3]]


TWO = dpbandits.bernoulli([0.9, 0.3])
HIGH = dpbandits.bernoulli([1.0] * 10)
TINY = dpbandits.bernoulli([0.05, 0.04, 0.03, 0.02, 0.01])


def gdp_ncb_scenarios() -> list[Scenario]:
    """Return runs whose phase II begins in time, and blocks with and without exceeding noises."""
    run = partial(private, "gdp-ncb")
    no_test = {"stop_test": "off", "start": "carried", "release_log": "base2"}
    wide = {"exploration": "blocks", "threshold": "1600"}
    return [
        run(EXPONENTIAL_ARMS, 3000, 50.0, threshold="1"),
        run(EXPONENTIAL_ARMS, 3000, 5.0, threshold="1", refreshed="all"),
        run(BERNOULLI, 3000, 1.0, "as-coded"),
        run(HIGH, 1000, 1.0, refreshed="all", **wide),
        run(BERNOULLI, 3000, 2.0, cap="tenth", pseudo_pull="left-out", root="inside", **no_test),
        run(TINY, 12, 1.0, "as-coded", pseudo_pull="left-out", ties="random"),
        # Private means above 1, and arms pulled once in phase I.
        *(
            replace(run(HIGH, 400, 1.0, "as-coded", start=start), seed=seed)
            for start in ("zeros", "carried")
            for seed in range(10)
        ),
        *(
            run(EXPONENTIAL_ARMS, 3000, 20.0, threshold="1", stop_test="clean", threshold_log=logs)
            for logs in ("window", "mixed")
        ),
        run(BERNOULLI, 3000, 1.0, cap="root", exploration="blocks", **no_test),
        run(TWO, 10**6, 1000.0, **wide),
        run(TWO, 10**6, 1000.0, stop_test="clean", **wide),
        *(replace(run(TWO, 10**7, 0.1, **wide), seed=seed) for seed in range(6)),
        # Phase I ends inside a block; a noise is drawn anew since it exceeds the bound.
        *(
            replace(run(bandit, 10**6, 1e-4, exploration="blocks", threshold="1"), seed=seed)
            for bandit, seed in ((TWO, 8), (HIGH, 2))
        ),
    ]


def adap_ucb_scenarios() -> list[Scenario]:
    """Return runs of the original, of the released code, and of what neither has."""
    other = {"order": "random", "first_h": "half", "log_argument": "2t", "ties": "random"}
    coded = variant("adap-ucb", "as-coded", ties="random")
    return [
        Scenario(EXPONENTIAL_ARMS, 3000, (("epsilon", 1.0),)),
        *(
            Scenario(EXPONENTIAL_ARMS, 300, (("epsilon", 5.0),), tuple(other.items()), seed)
            for seed in range(10)
        ),
        *(Scenario(TWO, 200, (("epsilon", 0.05),), coded, seed) for seed in range(3)),
        # The first rounds, where the logarithms of t + 1 and of t + 2 are apart.
        *(Scenario(BERNOULLI, 60, (("epsilon", 5.0),), seed=seed) for seed in range(50)),
    ]


def ncb_scenarios() -> list[Scenario]:
    """Return runs of each end of phase I; with few rounds some arms are not pulled in it."""
    matched = {"phase_one": "root", "log": "window", "ties": "random"}
    return [
        Scenario(EXPONENTIAL_ARMS, 3000),
        Scenario(EXPONENTIAL_ARMS, 40_000),
        Scenario(BERNOULLI, 3000, (), variant("ncb", "as-coded")),
        *(
            Scenario(bandit, 100, (), variant("ncb", "as-coded", **matched), seed)
            for seed in range(10)
            for bandit in (TINY, EXPONENTIAL_ARMS)
        ),
        Scenario(
            dpbandits.bernoulli([1.0, 1.0]),
            100_000,
            (),
            variant("ncb", "as-coded", phase_one="420"),
        ),
    ]


def ldp_ncb_scenarios() -> list[Scenario]:
    """Return runs whose phase II begins in time, with every clip and both ends of phase I."""
    run = partial(private, "ldp-ncb")
    root = {"cap": "root", "stop_test": "off"}
    tenth = {"cap": "tenth", "stop_test": "off"}
    return [
        run(EXPONENTIAL_ARMS, 3000, 20.0, threshold="1"),
        run(EXPONENTIAL_ARMS, 3000, 5.0, threshold="1", stop_test="floored", clipped_phases="both"),
        run(BERNOULLI, 1500, 1.0, "as-coded"),
        run(BERNOULLI, 1500, 0.2, **root),
        run(BERNOULLI, 1500, 2.0, clip="recursive", clipped_phases="both", **tenth),
        run(BERNOULLI, 1500, 0.2, clip="recursive", **root),
        run(EXPONENTIAL_ARMS, 1500, 2.0, clip="none", **root),
        # Phase II in reach of d <= 0, where the arm has passed the rest of the stop test.
        run(BERNOULLI, 3000, 0.5, threshold="1"),
        *(replace(run(TINY, 40, 1.0, "as-coded", ties="random"), seed=seed) for seed in range(3)),
        *(replace(run(TINY, 40, 1.0, **root), seed=seed) for seed in range(6)),
    ]


def ldp_ucb_l_scenarios() -> list[Scenario]:
    """Return runs with forced pulls, with stretches, and with ties of clipped rewards."""
    coded = variant("ldp-ucb-l", "as-coded", ties="random", start="pseudo-pull")
    return [
        Scenario(EXPONENTIAL_ARMS, 3000, (("epsilon", 20.0),)),
        Scenario(BERNOULLI, 3000, (("epsilon", 1.0),), variant("ldp-ucb-l", "as-coded")),
        Scenario(EXPONENTIAL_ARMS, 800, (("epsilon", 2.0),), variant("ldp-ucb-l", "as-coded")),
        Scenario(TINY, 300, (("epsilon", 0.05),), coded),
        # Some of them end with the lowest arm.
        *(Scenario(TINY, 40, (("epsilon", 5.0),), seed=seed) for seed in range(4)),
        # A run of 800 in which the width of the next round makes a difference to a bound.
        Scenario(dpbandits.bernoulli([0.6, 0.5]), 60, (("epsilon", 20.0),), seed=5),
    ]


def anytime_scenarios(algorithm: str) -> list[Scenario]:
    """Return runs over several windows, some of them uniform."""
    run = partial(private, algorithm)
    noise = {"release_log": "base2"} if algorithm == "anytime-gdp-ncb" else {}
    scenarios = [replace(run(BERNOULLI, 15, 5.0, "as-coded"), seed=seed) for seed in range(12)]
    scenarios.append(run(BERNOULLI, 700, 5.0, "as-coded"))
    scenarios.append(run(BERNOULLI, 700, 5.0, cap="root", stop_test="off", **noise))
    if algorithm == "anytime-ldp-ncb":
        scenarios.append(run(EXPONENTIAL_ARMS, 1500, 20.0, threshold="1", data="carry"))
    return scenarios


EXTREMES = [Scenario(FIVE_ARMS, 200, (("epsilon", epsilon),)) for epsilon in (1e-100, 1e300)]


@cache
def scenarios() -> dict[str, list[Scenario]]:
    """Return the runs of each algorithm, long ones last."""
    return {
        "ts-gaussian": [
            Scenario(EXPONENTIAL_ARMS, 600),
            Scenario(EXPONENTIAL_ARMS, 600, interpretations=(("count", "n"),)),
        ],
        "m-ts-gaussian": [
            Scenario(EXPONENTIAL_ARMS, 600, (("b", 7), ("c", 1.5))),
            Scenario(EXPONENTIAL_ARMS, 600, (("b", 0), ("c", 3.0)), (("count", "n"),)),
        ],
        "dp-se": [
            Scenario(BERNOULLI, 5000, (("epsilon", 1.0),), SEQUENTIAL),
            Scenario(BERNOULLI, 5000, (("epsilon", 0.05),), SEQUENTIAL),
            *close_calls(epsilon=0.5, gap=0.156, epoch=1, horizon=4000, seeds=3000),
            # Two whole epochs and more, as long as the first, then the second term of R.
            Scenario(EQUAL, 11_000, (("epsilon", 1.0),), SEQUENTIAL),
            Scenario(EQUAL, 30_000, (("epsilon", 0.03),), SEQUENTIAL),
            *close_calls(epsilon=0.5, gap=0.07, epoch=2, horizon=18_000, seeds=1000),
        ],
        "anytime-lazy-ucb": [
            Scenario(EXPONENTIAL_ARMS, 1500, (("epsilon", 0.5),)),
            Scenario(dpbandits.bernoulli([0.95, 0.5, 0.05]), 4000, (("epsilon", 100.0),)),
            Scenario(EXPONENTIAL_ARMS, 6000, (("epsilon", 20.0),)),
            Scenario(
                BERNOULLI, 1500, (("epsilon", 5.0),), (("log", "natural"), ("constants", "4,5"))
            ),
        ],
        "ucb1": [
            Scenario(EXPONENTIAL_ARMS, 1500),
            Scenario(BERNOULLI, 1500, interpretations=(("clock", "coming"),)),
            Scenario(EXPONENTIAL_ARMS, 100, interpretations=(("first_mean", "zero"),)),
        ],
        "kl-ucb": [
            Scenario(EXPONENTIAL_ARMS, 600),
            Scenario(BERNOULLI, 600),
            Scenario(dpbandits.bernoulli([1.0, 0.5, 0.0]), 300),
            Scenario(dpbandits.bernoulli([0.06, 0.05, 0.04, 0.03]), 1500),
            Scenario(EQUAL, 1500),
        ],
        "ts-beta": [Scenario(EXPONENTIAL_ARMS, 600), Scenario(BERNOULLI, 600)],
        "dp-ts-ucb": [
            Scenario(EXPONENTIAL_ARMS, 1500, (("alpha", 0.9),)),
            Scenario(BERNOULLI, 3000, (("alpha", 1.0),)),
            Scenario(EXPONENTIAL_ARMS, 600, (("alpha", 1.0),), (("renewal", "pull"),)),
        ],
        "lazy-dp-ts": [
            Scenario(EXPONENTIAL_ARMS, 1500, (("epsilon", 20.0),)),
            Scenario(BERNOULLI, 1500, (("epsilon", 5.0),), (("log", "base2"),)),
            Scenario(dpbandits.bernoulli([0.95, 0.5, 0.05]), 1500, (("epsilon", 100.0),)),
            *EXTREMES,
        ],
        "dp-ts": [
            Scenario(EXPONENTIAL_ARMS, 1500, (("epsilon", 200.0),)),
            Scenario(BERNOULLI, 1500, (("epsilon", 50.0),), (("log", "natural"),)),
            # The first rounds, where the logarithm of t + 1 and of t + 2 are apart.
            *(
                Scenario(EXPONENTIAL_ARMS, 60, (("epsilon", 300.0),), seed=seed)
                for seed in range(20)
            ),
            *EXTREMES,
        ],
        "gdp-ncb": gdp_ncb_scenarios(),
        "adap-ucb": adap_ucb_scenarios(),
        "ncb": ncb_scenarios(),
        "ldp-ncb": ldp_ncb_scenarios(),
        "ldp-ucb-l": ldp_ucb_l_scenarios(),
        "anytime-gdp-ncb": anytime_scenarios("anytime-gdp-ncb"),
        "anytime-ldp-ncb": anytime_scenarios("anytime-ldp-ncb"),
    }


def test_the_algorithms_that_papers_play_have_scenarios() -> None:
    assert {*REGRET} & PLAYED <= set(scenarios()) <= {*REGRET}


@pytest.mark.parametrize("name", REGRET)
def test_scenarios_agree(name: str) -> None:
    for scenario in scenarios().get(name, []):
        agree(REGRET[name], *prepared(name, scenario), seed=scenario.seed, buffer=256)
    if name != "dp-ts-ucb":  # It needs more rounds, see test_play.py.
        for horizon in (1, 4):
            short = Scenario(FIVE_ARMS, horizon, tuple(REGRET[name].example.items()))
            for interpretations in all_interpretations(REGRET[name]):
                if interpretations.get("long_pre_pull") != "error":
                    told = replace(short, interpretations=tuple(interpretations.items()))
                    agree(REGRET[name], *prepared(name, told), seed=2, buffer=3)
