"""GDP-NCB, AdaP-UCB, NCB and UCB1: the numbers of the specification, and their switches.

Values to ten digits were computed with mpmath from its formulas; the instance is that of dp-ncb,
Experiments.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import REGRET, Algorithm, adap_ucb, gdp_ncb
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import arm_of_largest
from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.instances import fifty_arms
from support import Decision, agree, interpretations_to_draw, kernel_decisions, settings_of

GDP, ADAP, NCB, UCB1 = (REGRET[each] for each in ("gdp-ncb", "adap-ucb", "ncb", "ucb1"))
EPSILON = {"epsilon": 0.2}

FIFTY_ARMS = fifty_arms()
"""dp-ncb, Experiments, the arms of every panel but (a)."""


def told(
    algorithm: Algorithm, horizon: int, variant: str = "as-written", **interpretations: str
) -> Any:
    """Return what the kernel is told of a run on the fifty arms."""
    parameters = EPSILON if "epsilon" in algorithm.example else {}
    chosen = algorithm.interpretations_from(interpretations, variant)
    return settings_of(algorithm, parameters, chosen, FIFTY_ARMS, horizon)


def decisions_of(
    algorithm: Algorithm, settings: Any, bandit: Bandit, seed: int = 1
) -> list[Decision]:
    """Return the chunks of one run."""
    return list(kernel_decisions(algorithm, settings, bandit, np.random.default_rng(seed)))


# AdaP-UCB


def test_index_of_adap_ucb() -> None:
    for variant, interpretations, expected in [
        # Mean 0.4, h = 1 and 8, t = 100 the coming round: Azize and Basu (2022) step 2; 3.1; A14;
        # D12.
        ("as-written", {}, (74.4518440397, 10.2671080058)),
        ("as-written", {"log_argument": "2t"}, (74.6458650013, 10.3357047746)),
        ("as-coded", {}, (32.7304182347, 5.3048599725)),
    ]:
        settings = told(ADAP, 10**6, variant, **interpretations)
        state = ADAP.state(2)
        state.clock[0] = 99
        state.pulls[:], state.lengths[:], state.private_means[:] = (1, 16), (1, 8), 0.4
        assert adap_ucb._indices(settings, state) == pytest.approx(expected, rel=1e-9)


def test_random_ties_are_uniform() -> None:
    # A20: of three equal arms each with probability 1/3; 3000 draws, five standard deviations.
    indices, generator = np.array([0.1, 0.7, 0.7, 0.2, 0.7]), np.random.default_rng(1)
    drawn = [arm_of_largest(indices, True, generator) for _ in range(3000)]
    counts = np.bincount(drawn, minlength=5)
    assert counts[[0, 3]].sum() == 0
    assert np.abs(counts[[1, 2, 4]] - 1000).max() < 5 * np.sqrt(3000 * 2 / 9)
    before = generator.bit_generator.state
    assert arm_of_largest(indices, False, generator) == 1
    assert arm_of_largest(np.array([np.inf, 1.0]), True, generator) == 0
    assert generator.bit_generator.state == before


def test_the_longest_horizon() -> None:
    for algorithm, variant in ((each, name) for each in (GDP, ADAP) for name in each.variants):
        blocks = {"exploration": "blocks"} if algorithm is GDP else {}
        decisions = decisions_of(algorithm, told(algorithm, 2**53, variant, **blocks), FIFTY_ARMS)
        assert sum(length for _, length, _ in decisions) == 2**53
        assert all(0 <= total <= length for _, length, total in decisions)
        assert len(decisions) < 200_000
        # In the last episodes nothing but the best arm is left; with zeros not always, see below.
        zeros_lock_in = algorithm is GDP and variant != "as-written"
        assert zeros_lock_in or decisions[-1][0] == 11


# GDP-NCB

TWO_ARMS = dpbandits.bernoulli([0.9, 0.3])


def test_thresholds() -> None:
    for horizon, as_written, as_coded in [
        (10**6, 1.73e6, 481333.2096),
        (10**8, 2.98e6, 8.1e5),
        (10**10, 4.57e6, 1226167.735),
    ]:
        for variant, expected in (("as-written", as_written), ("as-coded", as_coded)):
            window = gdp_ncb.open_window(told(GDP, horizon, variant), horizon)
            assert window.threshold == pytest.approx(expected, rel=5e-3)
            # No W rounds reach it (the released code).
            assert window.threshold > np.sqrt(horizon) + 1
    # Panel (a), the released code: 55 at T = 1000 and epsilon = 2, above W = 32.
    chosen = GDP.interpretations_from({"threshold": "1", "threshold_log": "mixed"}, "as-coded")
    window = gdp_ncb.open_window(settings_of(GDP, {"epsilon": 2.0}, chosen, TWO_ARMS, 1000), 1000)
    assert window.threshold == pytest.approx(55.05016462, rel=1e-9)
    assert window.cap == 32


def test_index_of_gdp_ncb() -> None:
    for interpretations, expected in [
        # p = 1/2, N1 = 100 and one pseudo-pull at T = 1e6: Algorithm 1, step 4a; D4; A3; A10.
        ({}, 43.3339783119),
        ({"index_log": "window"}, 13.3985129590),
        ({"root": "inside"}, 47.8909378145),
        ({"root": "inside", "index_log": "window"}, 18.8377166572),
    ]:
        pulls = {"counted": 100, "left-out": 101}
        for pseudo_pull, explored in pulls.items():
            settings = told(GDP, 10**6, pseudo_pull=pseudo_pull, **interpretations)
            window = gdp_ncb.open_window(settings, 10**6)
            state = GDP.state(3)
            state.private_means[:] = 0.5
            state.explored[:] = explored, 85, 0
            state.episodes[:] = 1, 16, 1
            indices = gdp_ncb._indices(settings, window, state)
            assert indices[:2] == pytest.approx([expected, expected], rel=1e-10)
            assert np.isinf(indices[2]) == (pseudo_pull == "left-out")


@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 2**63), buffer=st.integers(1, 60))
def test_any_interpretations_agree_where_blocks_matter(
    data: st.DataObject, seed: int, buffer: int
) -> None:
    # Small epsilon and the constant 1 put the end of phase I in the blocks or near them.
    chosen = data.draw(interpretations_to_draw(GDP)["any"]) | {"exploration": "blocks"}
    horizon = 1000 if chosen["refreshed"] == "all" else data.draw(st.integers(1000, 30_000))
    parameters = {"epsilon": data.draw(st.floats(1e-3, 0.1))}
    bandit = dpbandits.bernoulli(data.draw(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=5)))
    told_kernel = settings_of(GDP, parameters, chosen, bandit, horizon)
    decisions = agree(GDP, told_kernel, bandit, seed, buffer)
    assert sum(length for _, length, _ in decisions) == horizon


def test_the_stop_test_of_the_code_never_fires() -> None:
    """Repaired and the code with base-2 noise alone take the same decisions by the same draws."""
    coded = GDP.interpretations_from({"release_log": "base2"}, "as-coded")
    repaired = GDP.interpretations_from({}, "repaired")
    for horizon, epsilon, bandit in [
        *((10**each, 0.2, FIFTY_ARMS) for each in (2, 3, 4, 5, 6)),
        *((10**each, 2.0, TWO_ARMS) for each in (2, 3, 4, 5, 6)),
        *((10**6, epsilon, dpbandits.bernoulli([1.0, 1.0])) for epsilon in (1e-3, 1e3, 1e9)),
    ]:
        one, other = (
            settings_of(GDP, {"epsilon": epsilon}, each, bandit, horizon)
            for each in (coded, repaired)
        )
        for seed in range(3):
            assert decisions_of(GDP, one, bandit, seed) == decisions_of(GDP, other, bandit, seed)
    # Were every reward of W rounds 1 and one arm's, and epsilon infinite: beyond 3e10.
    for horizon, reached in ((3 * 10**10, False), (31 * 10**9, True)):
        chosen = GDP.interpretations_from({}, "as-coded")
        settings = settings_of(GDP, {"epsilon": 1e12}, chosen, TWO_ARMS, horizon)
        window = gdp_ncb.open_window(settings, horizon)
        assert (window.cap > window.threshold) == reached


HORIZONS = [10**each for each in range(3, 11)]


def test_repaired_composes_to_less_than_epsilon() -> None:
    # How many releases are at most is in test_auditing_gdp_ncb.py.
    for horizon in HORIZONS:
        loss = partial(theory.composed_loss, horizon, theory.capped_phase_one(horizon))
        assert 0.80 <= loss(release_log="base2") <= 0.97
        # With carried means there is one release more, and that is enough, too.
        assert 0.9 <= loss(1.0, "base2") <= 0.994
        # Not so with the natural logarithm, nor with three releases more.
        assert loss(release_log="natural") > 1.15
        assert loss(3.0, "base2") > 1.0


def test_no_run_releases_more_often_than_composition_counts() -> None:
    # Where all play goes to one arm, its releases are as many as can be: the bound is attained.
    for horizon in HORIZONS:
        single = dpbandits.bernoulli([1.0, 0.0])
        most = theory.releases(horizon, theory.capped_phase_one(horizon))
        interpretations = GDP.interpretations_from({}, "repaired")
        settings = settings_of(GDP, {"epsilon": 1e6}, interpretations, single, horizon)
        window = gdp_ncb.open_window(settings, horizon)
        assert window.noise == pytest.approx(np.log2(horizon) / 1e6, rel=1e-12)
        found = []
        for seed in range(20):
            episodes = decisions_of(GDP, settings, single, seed)[window.cap :]
            releases = {arm: [n for i, n, _ in episodes if i == arm] for arm in (0, 1)}
            whole = [[n for n in own if n & (n - 1) == 0] for own in releases.values()]
            found.append(max(map(len, whole)))
        assert max(found) == most
