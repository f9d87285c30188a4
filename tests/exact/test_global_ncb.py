"""GDP-NCB, AdaP-UCB, NCB and UCB1 as coded: their switches, and the numbers of the specification.

Values to ten digits were computed with mpmath from its formulas; the instance is that of dp-ncb,
Experiments. GDP-NCB by itself is in test_gdp_ncb.py.
"""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import Algorithm, adap_ucb
from dpbandits.bandits.draws import arm_of_largest
from fifty_arms import ADAP, EPSILON, FIFTY_ARMS, GDP, NCB, UCB1, decisions_of, run_to_the_end, told
from support import Decision, mostly_slow, settings_of

OURS = (GDP, ADAP, NCB, UCB1)


def test_the_instance() -> None:
    # dp-ncb, Experiments.
    means = FIFTY_ARMS.means
    assert means.argmax() == 11
    assert means.max() == pytest.approx(0.9700603, abs=5e-8)
    assert means.min() == pytest.approx(0.0254816, abs=5e-8)


def lengths_by_arm(decisions: list[Decision]) -> dict[int, list[int]]:
    found = defaultdict(list)
    for arm, length, _ in decisions:
        found[arm].append(length)
    return found


@pytest.mark.parametrize(
    ("algorithm", "variant", "first"),
    [
        # Algorithm 1: episodes of 2, 4, 8, ...; Azize and Basu (2022): of 1, 1, 2, 4, ..., as coded
        # of 1, 2, 4.
        (GDP, "as-coded", [2, 4, 8, 16]),
        (ADAP, "as-written", [1, 1, 2, 4, 8]),
        (ADAP, "as-coded", [1, 2, 4, 8, 16]),
    ],
)
def test_episode_lengths(algorithm: Algorithm, variant: str, first: list[int]) -> None:
    settings = told(algorithm, 10**6, variant)
    decisions = decisions_of(algorithm, settings, FIFTY_ARMS)
    if algorithm is GDP:
        decisions = decisions[1001:]
    for lengths in lengths_by_arm(decisions[:-1]).values():
        assert lengths[: len(first)] == first[: len(lengths)]
        assert all(later == 2 * earlier for earlier, later in pairwise(lengths[2:]))
    assert max(len(each) for each in lengths_by_arm(decisions).values()) > 10


# AdaP-UCB


@pytest.mark.parametrize(
    ("variant", "interpretations", "expected"),
    [
        # Mean 0.4, h = 1 and 8, t = 100 the coming round: Azize and Basu (2022) step 2; 3.1; A14;
        # D12.
        ("as-written", {}, (74.4518440397, 10.2671080058)),
        ("as-written", {"log_argument": "2t"}, (74.6458650013, 10.3357047746)),
        ("as-coded", {}, (32.7304182347, 5.3048599725)),
    ],
)
def test_index_of_adap_ucb(
    variant: str, interpretations: dict[str, str], expected: tuple[float, float]
) -> None:
    settings = told(ADAP, 10**6, variant, **interpretations)
    state = ADAP.state(2)
    state.clock[0] = 99
    state.pulls[:], state.lengths[:], state.private_means[:] = (1, 16), (1, 8), 0.4
    assert adap_ucb._indices(settings, state) == pytest.approx(expected, rel=1e-9)


def test_half_a_pull_and_the_privacy_term() -> None:
    # Azize and Basu (2022) step 2 (h = 1/2, literally) and D12 (2 alpha log / (epsilon n)), the
    # rest as above.
    clock, state = 99, ADAP.state(2)
    state.clock[0] = clock
    state.pulls[:], state.lengths[:] = (1, 2), (1, 1)
    log, alpha = np.log(100), 3.1
    settings = told(ADAP, 10**6, first_h="half", privacy_term="doubled-over-epsilon")
    expected = [np.sqrt(alpha * log / (2 * h)) + 2 * alpha * log / (0.2 * h) for h in (0.5, 1.0)]
    assert adap_ucb._indices(settings, state) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("variant", "shown"), [("as-written", False), ("as-coded", True)])
def test_first_rewards_are_protected_but_in_the_code(variant: str, shown: bool) -> None:
    # D15: as coded the private means after 50 rounds are the first rewards themselves.
    settings = told(ADAP, 50, variant)
    state = run_to_the_end(ADAP, settings, FIFTY_ARMS)
    rewards = [total for _, _, total in decisions_of(ADAP, settings, FIFTY_ARMS)]
    assert (state.private_means.tolist() == rewards) == shown
    assert len(set(state.private_means)) == (2 if shown else 50)


def test_order_of_first_pulls() -> None:
    # A15. In 200 runs every arm of five comes first about 40 times; a count is off by 20 or more
    # with a probability of 0.0005 (binomial), so that five are with less than 0.005.
    five = dpbandits.bernoulli([0.5] * 5)
    settings = settings_of(ADAP, EPSILON, {"order": "random"}, five, 5)
    orders = [[arm for arm, _, _ in decisions_of(ADAP, settings, five, s)] for s in range(200)]
    assert all(sorted(each) == [0, 1, 2, 3, 4] for each in orders)
    for place in (0, 4):
        counts = np.bincount([each[place] for each in orders], minlength=5)
        assert np.abs(counts - 40).max() < 20
    settings = told(ADAP, 50)
    assert [arm for arm, _, _ in decisions_of(ADAP, settings, FIFTY_ARMS)] == list(range(50))


# All


def test_ucb1_as_coded_hides_first_means() -> None:
    # The released code: the mean of an arm is shown as 0 until its second pull. Arms that always
    # pay 0 and 1:
    # round 3 sees two equal indices and plays the lowest arm, where the textbook plays the other.
    bandit = dpbandits.bernoulli([0.0, 1.0])
    for variant, third in (("as-written", 1), ("as-coded", 0)):
        settings = settings_of(UCB1, {}, UCB1.interpretations_from({}, variant), bandit, 50)
        played = [arm for arm, _, _ in decisions_of(UCB1, settings, bandit)]
        assert played[:3] == [0, 1, third]
        assert played.count(1) > 30


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


@pytest.mark.parametrize("horizon", mostly_slow([10**10, 2**53], 2**53))
@pytest.mark.parametrize("algorithm", [GDP, ADAP], ids=lambda each: each.id)
@pytest.mark.parametrize("variant", ["as-written", "as-coded", "repaired"])
def test_the_longest_horizons(algorithm: Algorithm, variant: str, horizon: int) -> None:
    blocks = {"exploration": "blocks"} if algorithm is GDP else {}
    settings = told(algorithm, horizon, variant, **blocks)
    decisions = decisions_of(algorithm, settings, FIFTY_ARMS)
    assert sum(length for _, length, _ in decisions) == horizon
    assert all(0 <= total <= length for _, length, total in decisions)
    assert len(decisions) < 200_000
    # In the last episodes nothing but the best arm is left; test_gdp_ncb.py says why not always.
    zeros_lock_in = algorithm is GDP and variant != "as-written" and horizon > 10**10
    assert zeros_lock_in or decisions[-1][0] == 11
