"""Every kernel against its reference, decision for decision, on the same random stream."""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.bandits import Bandit, Bernoulli, FourthRoot, TwoPoint, Uniform
from dpbandits.engine.cells import Work, make_cell
from dpbandits.errors import InputError
from dpbandits.papers.dp_ncb.instances import fifty_arms
from support import (
    FAMILIES,
    FIVE_ARMS,
    PARAMETERS,
    agree,
    all_interpretations,
    bandits,
    interpretations_to_draw,
    mostly_slow,
    settings_of,
)

# Horizons in reach of an elimination of DP-SE; its first epoch takes about 1000 pulls an arm.
LONGEST = {"dp-se": 6000}
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])


EXAMPLES = 150
"""Of each algorithm, spread over combinations of its interpretations, of each at most 30."""


@pytest.mark.parametrize("name", mostly_slow(REGRET, *FAMILIES))
def test_kernel_and_reference_agree(name: str) -> None:
    algorithm = REGRET[name]
    buffers = st.one_of(st.just(1), st.integers(1, 900))
    drawn = interpretations_to_draw(algorithm)
    for interpretations_drawn in drawn.values():

        @settings(max_examples=min(30, max(8, EXAMPLES // len(drawn))))
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


def test_long_pre_pull_is_cut_at_the_horizon() -> None:
    # ts-is-dp, Algorithm 2: where b N >= T the phase is cut at T.
    for b, horizon, pulls in [
        (30, 100, [30, 30, 30, 10, 0]),
        (20, 100, [20, 20, 20, 20, 20]),
        (100, 100, [100, 0, 0, 0, 0]),
        (2**53 - 1, 100, [100, 0, 0, 0, 0]),
    ]:
        cell = make_cell(
            algorithm="m-ts-gaussian",
            parameters={"b": b, "c": 1.0},
            bandit=FIVE_ARMS,
            horizon=horizon,
            metrics=["pulls"],
        )
        assert Work(cell, range(1)).play(1)["pulls"].tolist() == [pulls]


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
        in_a_row = [
            (arm, sum(length for _, length, _ in stretch))
            for arm, stretch in groupby(decisions, key=itemgetter(0))
        ]
        assert in_a_row == [(0, first), (1, first), (0, second), *rest]


# Runs on which every constant and operator of a kernel decides something.


Scenario = tuple[Bandit, int, str, Iterable[int], dict[str, Any]]


def runs(
    bandit: Bandit,
    horizon: int,
    variant: str = "as-written",
    seeds: Iterable[int] = (1,),
    **values: Any,
) -> Scenario:
    """Return one scenario; of values, those that are no parameters are other interpretations."""
    return bandit, horizon, variant, seeds, values


def agree_on(name: str, scenario: Scenario, buffer: int = 256) -> None:
    """Compare kernel and reference on the runs of a scenario."""
    algorithm, (bandit, horizon, variant, seeds, values) = REGRET[name], scenario
    parameters = {key: value for key, value in values.items() if key in algorithm.parameters}
    changes = {key: value for key, value in values.items() if key not in parameters}
    interpretations = algorithm.interpretations_from(changes, variant)
    told = settings_of(algorithm, parameters, interpretations, bandit, horizon)
    for seed in seeds:
        agree(algorithm, told, bandit, seed, buffer)


BERNOULLI = dpbandits.bernoulli([0.75, 0.625, 0.5])
EQUAL = dpbandits.bernoulli([0.5, 0.5])
TWO = dpbandits.bernoulli([0.9, 0.3])
APART = dpbandits.bernoulli([0.95, 0.5, 0.05])
HIGH = dpbandits.bernoulli([1.0] * 10)
CLOSE = dpbandits.bernoulli([0.5 + 0.156, 0.5])
CLOSER = dpbandits.bernoulli([0.5 + 0.07, 0.5])
"""Of thousands of seeds the scenarios have the three on which the arm lags by least more than
DP-SE allows in epoch 1 (2 where they are closer), and the three on which by least less."""
FIFTY_ARMS = fifty_arms()
MIXED = Bandit((Bernoulli(0.8), FourthRoot(), TwoPoint(), Uniform(1.0)))
TINY = dpbandits.bernoulli([0.05, 0.04, 0.03, 0.02, 0.01])


NO_TEST = {"cap": "root", "stop_test": "off"}
CARRIED = {"stop_test": "off", "start": "carried", "release_log": "base2"}
BLOCKS = {"exploration": "blocks", "threshold": "1600"}
MATCHED = {"phase_one": "root", "log": "window", "ties": "random"}
RECURSIVE = {"clip": "recursive", "clipped_phases": "both"}
TENTH = {"cap": "tenth", "pseudo_pull": "left-out", "root": "inside", **CARRIED}
RANDOM = {"order": "random", "first_h": "half", "log_argument": "2t", "ties": "random"}
CLEAN = {"stop_test": "clean", "threshold": "1"}
FLOORED = {"stop_test": "floored", "clipped_phases": "both", "threshold": "1"}
EXTREMES = [runs(FIVE_ARMS, 200, epsilon=epsilon) for epsilon in (1e-100, 1e300)]
WINDOWS = [
    runs(BERNOULLI, 15, "as-coded", range(12), epsilon=5.0),
    runs(BERNOULLI, 700, "as-coded", epsilon=5.0),
]
"""Over several windows, some of them uniform."""
LONG = [
    runs(FIVE_ARMS, 60_000, "as-coded", seeds=[7], epsilon=2.0),
    runs(FIFTY_ARMS, 15_000, "repaired", seeds=[7], epsilon=0.2),
    runs(MIXED, 60_000, "as-coded", seeds=[7], epsilon=0.5),
]
"""Long enough for the bounds to hold by which kernels leave arms out."""


def scenarios() -> dict[str, list[Scenario]]:
    """Return runs beside those of every algorithm, by algorithm."""
    return {
        "dp-se": [
            # An epoch of any length.
            runs(TWO, 100, epsilon=1e-100),
            runs(TWO, 100, epsilon=1e-20, order="sequential"),
            runs(BERNOULLI, 5000, epsilon=1.0, order="sequential"),
            runs(BERNOULLI, 5000, epsilon=0.05, order="sequential"),
            runs(CLOSE, 4000, seeds=[1766, 577, 115, 374, 1935, 1704], epsilon=0.5),
            # Two whole epochs and more, as long as the first, then the second term of R.
            runs(EQUAL, 11_000, epsilon=1.0, order="sequential"),
            runs(EQUAL, 30_000, epsilon=0.03, order="sequential"),
            runs(CLOSER, 18_000, seeds=[469, 121, 305, 277, 860, 729], epsilon=0.5),
        ],
        "anytime-lazy-ucb": [
            runs(APART, 4000, epsilon=100.0),
            runs(EXPONENTIAL_ARMS, 6000, epsilon=20.0),
        ],
        "kl-ucb": [
            runs(BERNOULLI, 600),
            runs(dpbandits.bernoulli([1.0, 0.5, 0.0]), 300),
            runs(dpbandits.bernoulli([0.06, 0.05, 0.04, 0.03]), 1500),
            runs(EQUAL, 1500),
        ],
        "dp-ts-ucb": [runs(EXPONENTIAL_ARMS, 1500, alpha=0.9), runs(BERNOULLI, 3000, alpha=1.0)],
        "lazy-dp-ts": [runs(APART, 1500, epsilon=100.0), *EXTREMES],
        "dp-ts": [
            runs(EXPONENTIAL_ARMS, 1500, epsilon=200.0),
            runs(BERNOULLI, 1500, epsilon=50.0, log="natural"),
            # The first rounds, where the logarithm of t + 1 and of t + 2 are apart.
            runs(EXPONENTIAL_ARMS, 60, seeds=range(20), epsilon=300.0),
            *EXTREMES,
        ],
        # Phase II begins in time; blocks have exceeding noises and none.
        "gdp-ncb": [
            runs(EXPONENTIAL_ARMS, 3000, epsilon=50.0, threshold="1"),
            runs(EXPONENTIAL_ARMS, 3000, epsilon=5.0, threshold="1", refreshed="all"),
            runs(BERNOULLI, 3000, "as-coded", epsilon=1.0),
            runs(HIGH, 1000, epsilon=1.0, refreshed="all", **BLOCKS),
            runs(BERNOULLI, 3000, epsilon=2.0, **TENTH),
            runs(TINY, 12, "as-coded", epsilon=1.0, pseudo_pull="left-out", ties="random"),
            # Private means above 1, and arms pulled once in phase I.
            runs(HIGH, 400, "as-coded", range(10), epsilon=1.0, start="zeros"),
            runs(HIGH, 400, "as-coded", range(10), epsilon=1.0, start="carried"),
            runs(EXPONENTIAL_ARMS, 3000, epsilon=20.0, threshold_log="window", **CLEAN),
            runs(EXPONENTIAL_ARMS, 3000, epsilon=20.0, threshold_log="mixed", **CLEAN),
            runs(BERNOULLI, 3000, epsilon=1.0, cap="root", exploration="blocks", **CARRIED),
            runs(TWO, 10**6, epsilon=1000.0, **BLOCKS),
            runs(TWO, 10**6, epsilon=1000.0, stop_test="clean", **BLOCKS),
            runs(TWO, 10**7, seeds=range(6), epsilon=0.1, **BLOCKS),
            # Phase I ends inside a block; a noise is drawn anew since it exceeds the bound.
            runs(TWO, 10**6, seeds=[8], epsilon=1e-4, exploration="blocks", threshold="1"),
            runs(HIGH, 10**6, seeds=[2], epsilon=1e-4, exploration="blocks", threshold="1"),
        ],
        # The original, the released code, and what neither has.
        "adap-ucb": [
            runs(EXPONENTIAL_ARMS, 3000, epsilon=1.0),
            runs(EXPONENTIAL_ARMS, 300, seeds=range(10), epsilon=5.0, **RANDOM),
            runs(TWO, 200, "as-coded", range(3), epsilon=0.05, ties="random"),
            # The first rounds, where the logarithms of t + 1 and of t + 2 are apart.
            runs(BERNOULLI, 60, seeds=range(50), epsilon=5.0),
        ],
        # Each end of phase I; with few rounds some arms are not pulled in it.
        "ncb": [
            runs(EXPONENTIAL_ARMS, 40_000),
            runs(BERNOULLI, 3000, "as-coded"),
            runs(TINY, 100, "as-coded", range(10), **MATCHED),
            runs(EXPONENTIAL_ARMS, 100, "as-coded", range(10), **MATCHED),
            runs(dpbandits.bernoulli([1.0, 1.0]), 100_000, "as-coded", phase_one="420"),
        ],
        # Phase II begins in time, with every clip and both ends of phase I.
        "ldp-ncb": [
            runs(EXPONENTIAL_ARMS, 3000, epsilon=20.0, threshold="1"),
            runs(EXPONENTIAL_ARMS, 3000, epsilon=5.0, **FLOORED),
            runs(BERNOULLI, 1500, "as-coded", epsilon=1.0),
            runs(BERNOULLI, 1500, epsilon=0.2, **NO_TEST),
            runs(BERNOULLI, 1500, epsilon=2.0, cap="tenth", stop_test="off", **RECURSIVE),
            runs(BERNOULLI, 1500, epsilon=0.2, clip="recursive", **NO_TEST),
            runs(EXPONENTIAL_ARMS, 1500, epsilon=2.0, clip="none", **NO_TEST),
            # Phase II in reach of d <= 0, where the arm has passed the rest of the stop test.
            runs(BERNOULLI, 3000, epsilon=0.5, threshold="1"),
            runs(TINY, 40, "as-coded", range(3), epsilon=1.0, ties="random"),
            runs(TINY, 40, seeds=range(6), epsilon=1.0, **NO_TEST),
            # Blocks of every kind of noise, the last of them of any length; Phase I ends in time.
            runs(TWO, 10**6, seeds=range(3), epsilon=1.0, **BLOCKS),
            runs(MIXED, 20_000, "as-coded", cap="tenth", epsilon=0.5, exploration="blocks"),
            runs(TWO, 20_000, epsilon=2.0, exploration="blocks", threshold="1"),
            LONG[0],
        ],
        # Forced pulls, stretches, and ties of clipped rewards.
        "ldp-ucb-l": [
            runs(EXPONENTIAL_ARMS, 3000, epsilon=20.0),
            runs(BERNOULLI, 3000, "as-coded", epsilon=1.0),
            runs(EXPONENTIAL_ARMS, 800, "as-coded", epsilon=2.0),
            runs(TINY, 300, "as-coded", epsilon=0.05, ties="random", start="pseudo-pull"),
            # Some of them end with the lowest arm.
            runs(TINY, 40, seeds=range(4), epsilon=5.0),
            # A run of 800 in which the width of the next round makes a difference to a bound.
            runs(dpbandits.bernoulli([0.6, 0.5]), 60, seeds=[5], epsilon=20.0),
            LONG[0],
        ],
        "anytime-gdp-ncb": [
            *WINDOWS,
            runs(BERNOULLI, 700, epsilon=5.0, release_log="base2", **NO_TEST),
        ],
        "anytime-ldp-ncb": [
            *WINDOWS,
            runs(BERNOULLI, 700, epsilon=5.0, **NO_TEST),
            runs(EXPONENTIAL_ARMS, 1500, epsilon=20.0, threshold="1", data="carry"),
        ],
    }


@pytest.mark.parametrize("name", mostly_slow(REGRET, *FAMILIES))
def test_scenarios_agree(name: str) -> None:
    for scenario in scenarios().get(name, []):
        agree_on(name, scenario)
    algorithm = REGRET[name]
    less_noise = {"epsilon": 20.0} if "epsilon" in algorithm.parameters else {}
    for bandit, horizon, changes in (
        (FIVE_ARMS, 1, {}),
        (FIVE_ARMS, 4, {}),
        (EXPONENTIAL_ARMS, 1500, less_noise),
    ):
        for interpretations in all_interpretations(algorithm):
            # DP-TS-UCB needs more rounds, see test_play.py.
            is_error = name == "dp-ts-ucb" or interpretations.get("long_pre_pull") == "error"
            if horizon > 4 or not is_error:
                values = {**algorithm.example, **changes, **interpretations}
                agree_on(name, runs(bandit, horizon, seeds=[2], **values), buffer=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ldp-ncb", "ldp-ucb-l"])
def test_longer_scenarios_agree(name: str) -> None:
    for scenario in LONG[1:]:
        agree_on(name, scenario)
