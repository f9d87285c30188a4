"""Bandits: exact means of laws, draws and their sums, linear instances, and what is refused."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import dpbandits
from dpbandits.bandits import (
    Bandit,
    Bernoulli,
    ClippedExponential,
    TruncatedExponential,
    TwoPoint,
    bandit_from,
)
from dpbandits.bandits.draws import (
    BERNOULLI,
    BINOMIAL_FROM,
    CLIPPED_EXPONENTIAL,
    FOURTH_ROOT,
    TRUNCATED_EXPONENTIAL,
    TWO_POINT,
    UNIFORM,
    draw_reward,
    draw_reward_sum,
)
from dpbandits.papers.dp_bai.instances import two_armed
from support import FIVE_ARMS, bandits, message_of

PAPER_RATES = (0.1, 1.0, 2.0, 5.0, 10.0)


def drawn(code: int, parameter: float, uniform: float) -> float:
    """Return the reward that is drawn where the generator's uniform is given."""
    generator: Any = SimpleNamespace(random=lambda: uniform)
    return float(draw_reward.py_func(code, parameter, generator))


def test_means_and_gaps_of_the_papers_families() -> None:
    truncated = dpbandits.truncated_exponential(PAPER_RATES)
    # Printed in TS-is-DP, Section 5.2: three digits, the last arm 0.1.
    assert [float(f"{mean:.3g}") for mean in truncated.means] == [0.492, 0.418, 0.343, 0.193, 0.1]
    # Spec, TSDP-C2, five digits; the alternative min(X, 1), four digits.
    five = [0.49167, 0.41802, 0.34348, 0.19322, 0.09995]
    np.testing.assert_allclose(truncated.means, five, atol=5e-6)
    clipped = dpbandits.clipped_exponential(PAPER_RATES)
    np.testing.assert_allclose(clipped.means, [0.9516, 0.6321, 0.4323, 0.1987, 0.1], atol=5e-5)
    # ts-is-dp, Section 5.1: gaps and the slope of uniform play.
    gaps = [0, 0.07364, 0.14819, 0.29845, 0.39171]
    np.testing.assert_allclose(truncated.gaps, gaps, atol=5e-6)
    assert truncated.gaps.mean() == pytest.approx(0.182399, abs=5e-7)
    assert FIVE_ARMS.gaps.mean() == 0.25


@given(st.floats(-9.0, 2.84).map(lambda power: 10.0**power))
def test_means_are_integrals(rate: float) -> None:
    # Figures 1 to 8: density rate e^(-rate x) / (1 - e^-rate) on [0, 1]; clipped, the survival
    # function. Where the rate is large the mass sits in the first hundred of 1/rate, so the
    # integrals are cut there (error e^-100).
    top, mass = min(1.0, 100.0 / rate), -math.expm1(-rate)
    mean, _ = integrate.quad(lambda x: x * rate * math.exp(-rate * x) / mass, 0, top, epsabs=1e-14)
    # Where rates are small, 1/rate - 1/(e^rate - 1) would cancel.
    assert TruncatedExponential(rate).mean == pytest.approx(mean, rel=1e-11)
    mean, _ = integrate.quad(lambda x: math.exp(-rate * x), 0, top, epsabs=1e-14)
    assert ClippedExponential(rate).mean == pytest.approx(mean, rel=1e-11)


@given(st.floats(1e-3, 30.0), st.floats(0.0, 1.0, exclude_max=True))
def test_draws_invert_the_distribution_function(rate: float, uniform: float) -> None:
    # truncexpon(b, scale=1/rate) with b = rate is the conditional law on [0, 1]. Rates up to 30:
    # beyond, 1 - e^-rate rounds and scipy's own quantile loses its last digits.
    law = stats.truncexpon(rate, scale=1.0 / rate)
    draw = drawn(TRUNCATED_EXPONENTIAL, rate, uniform)
    assert draw == pytest.approx(law.ppf(uniform), rel=1e-6, abs=1e-9)
    clipped = min(float(stats.expon(scale=1.0 / rate).ppf(uniform)), 1.0)
    assert drawn(CLIPPED_EXPONENTIAL, rate, uniform) == pytest.approx(clipped, rel=1e-12)


@given(st.floats(1e-15, 1e-6), st.floats(0.0, 1.0, exclude_max=True))
def test_small_rates_draw_almost_uniformly(rate: float, uniform: float) -> None:
    # The quantile is u - rate u (1 - u) / 2 + O(rate^2).
    assert abs(drawn(TRUNCATED_EXPONENTIAL, rate, uniform) - uniform) <= rate / 8 + 1e-15


@given(
    st.sampled_from([TRUNCATED_EXPONENTIAL, CLIPPED_EXPONENTIAL]),
    st.floats(1e-300, 700.0),
    st.one_of(
        st.floats(0.0, 1.0, exclude_max=True),
        st.sampled_from([0.0, math.ulp(0.5), 1.0 - math.ulp(0.5)]),
    ),
)
def test_draws_stay_within_the_unit_interval(code: int, rate: float, uniform: float) -> None:
    assert 0.0 <= drawn(code, rate, uniform) <= 1.0


def test_instances_from_mappings() -> None:
    whole = dpbandits.bernoulli([np.int64(1), np.float32(0)])
    assert whole.means.dtype == whole.gaps.dtype == np.float64
    assert whole.describe() == dpbandits.bernoulli([1.0, 0.0]).describe()
    made = bandit_from({"law": "truncated-exponential", "rates": [0.1, 1]})
    assert made == dpbandits.truncated_exponential([0.1, 1.0])
    arms = (Bernoulli(0.5), Bernoulli(0.25))
    assert bandit_from({"law": "bernoulli", "means": np.array([0.5, 0.25])}).arms == arms
    assert bandit_from(LINEAR) == dpbandits.linear(AXES, [0.5, 0.4])
    assert bandit_from({**LINEAR, "rewards": "bernoulli"}).arms[0].mean == 0.5


def test_inversion_of_the_laws_without_a_rate() -> None:
    for uniform in (0.0, 0.2, 0.5, 0.99):
        assert drawn(UNIFORM, 0.9, uniform) == 0.9 * uniform
        # P(U^(1/4) < x) = x^4, the law Beta(4, 1) of DP-NCB, panel f.
        assert drawn(FOURTH_ROOT, 1.0, uniform) ** 4 == pytest.approx(uniform)
        assert drawn(TWO_POINT, 1.0, uniform) == (0.4 if uniform < 0.5 else 1.0)
    for mean, uniform, reward in (
        *((0.3, 0.3 - math.ulp(0.3), 1.0), (0.3, 0.3, 0.0)),
        *((0.0, 0.0, 0.0), (1.0, 1.0 - math.ulp(0.5), 1.0)),
    ):
        assert drawn(BERNOULLI, mean, uniform) == reward


# Sums of rewards: compiled, uncompiled, and one by one, on one stream.


@given(bandit=bandits(2), count=st.integers(0, 3000), seed=st.integers(0, 2**63))
def test_compiled_and_uncompiled_sums_agree(bandit: Bandit, count: int, seed: int) -> None:
    compiled, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    law = bandit.arms[0]
    total = draw_reward_sum(law.code, law.parameter, count, compiled)
    assert total == bandit.draw_sum(0, count, plain)
    assert 0 <= total <= count
    assert compiled.bit_generator.state == plain.bit_generator.state


def test_binomials_are_numpys_bit_for_bit() -> None:
    for count in [BINOMIAL_FROM, 64, 1000, 10**5, 10**7, 10**12]:
        for mean in [0.0, 0.001, 0.05, 0.3, 0.5, 0.75, 0.95, 1.0]:
            compiled, plain = np.random.default_rng(1), np.random.default_rng(1)
            drawn = [draw_reward_sum(BERNOULLI, mean, count, compiled) for _ in range(300)]
            assert drawn == plain.binomial(count, mean, 300).tolist()


@given(
    bandit=st.one_of(bandits(2), st.just(Bandit((TwoPoint(), Bernoulli(0.5))))),
    count=st.integers(0, 300),
    seed=st.integers(0, 2**63),
)
def test_other_sums_are_drawn_reward_by_reward(bandit: Bandit, count: int, seed: int) -> None:
    together, single = np.random.default_rng(seed), np.random.default_rng(seed)
    if bandit.arms[0].code in (BERNOULLI, TWO_POINT):
        count %= BINOMIAL_FROM
    total = 0.0
    for _ in range(count):
        total += bandit.draw(0, single)
    assert bandit.draw_sum(0, count, together) == total
    assert together.bit_generator.state == single.bit_generator.state


# Linear bandits.


def test_means_are_products_of_features_and_theta() -> None:
    bandit = dpbandits.linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    np.testing.assert_allclose(bandit.means, [0.5, 0.45, 0.45], rtol=1e-15)
    assert bandit.best_arm == 0
    assert [arm.largest for arm in bandit.arms] == pytest.approx([1.0, 0.9, 0.9])
    assert not bandit.feature_matrix.flags.writeable


# What is refused: what is made, and words of the line.

NO_NUMBERS = (math.nan, math.inf, -math.inf, 10**400, "0.5", None, True, [0.5], 1j)
LINEAR = {"law": "linear", "features": [[1, 0], [0, 1]], "theta": [0.5, 0.4]}
AXES = [[1, 0], [0, 1]]
make_linear = dpbandits.linear


def played(bandit: Bandit) -> Any:
    return dpbandits.simulate(algorithm="ucb1", bandit=bandit, horizon=10, runs=1)


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    *(
        (dpbandits.bernoulli, ([0.5, wrong],), "bernoulli: mean is ")
        for wrong in (-0.1, 1.1, 2, *NO_NUMBERS)
    ),
    *(
        (make, ([0.5, wrong],), "exponential: rate is ")
        for make in (dpbandits.truncated_exponential, dpbandits.clipped_exponential)
        for wrong in (0, -1.0, 700.1, *NO_NUMBERS)
    ),
    *(
        (dpbandits.bernoulli, (wrong,), "allowed: a list of numbers")
        for wrong in (0.5, "0.5", None, {0.5, 0.4}, {"a": 0.5}, iter([0.5, 0.4]))
    ),
    (dpbandits.bernoulli, ([],), "bandit: 0 arms; allowed: 2 to 1000000"),
    (dpbandits.bernoulli, ([0.5],), "bandit: 1 arms; allowed: 2 to 1000000"),
    (dpbandits.uniform, ([2.5, 1],), "high is 2.5; allowed: 0 to 2"),
    (bandit_from, ({"law": "cauchy", "means": [1]},), "law is 'cauchy'; allowed: bernoulli, "),
    (bandit_from, ({"law": ["bernoulli"], "means": [1]},), "law is ['bernoulli']; allowed: "),
    (bandit_from, ({"means": [0.5, 0.4]},), "law is None; allowed: bernoulli"),
    (bandit_from, ({"law": "bernoulli", "rates": [1]},), "keys ['law', 'rates']; allowed for bern"),
    (bandit_from, ({"law": "bernoulli"},), "allowed for bernoulli: law, means"),
    (bandit_from, ({"law": "bernoulli", "means": [1], 3: 4},), "keys ['3', 'law', 'means']; allo"),
    (bandit_from, ([("law", "bernoulli")],), "allowed: a mapping"),
    (bandit_from, ({**LINEAR, "means": [1]},), "allowed for linear"),
    (make_linear, ([[1, 0]], [1, 0]), "1 x 2; allowed: at least 2 arms"),
    (make_linear, ([1, 2], [1]), "features have 1 axes"),
    (make_linear, (AXES, [1]), "theta has 1 entries; allowed: 2"),
    (make_linear, ([[1, 0], [0]], [1, 0]), "features are no numbers"),
    (make_linear, ([["a", 0], [0, 1]], [1, 0]), "features are no numbers"),
    (make_linear, ([[math.nan, 0], [0, 1]], [1, 0]), "features are not all finite"),
    (make_linear, ([[0, 0], [0, 0]], [1, 0]), "rank 0"),
    (make_linear, (AXES, [0.4, 0.4]), "arms 0, 1 share the largest mean"),
    (make_linear, (AXES, [1.4, 0.4]), "mean of arm 0 is 1.4; allowed: 0 to 1"),
    (make_linear, (AXES, [0.4, -0.4], "bernoulli"), "mean of arm 1 is -0.4; allowed: 0 to 1"),
    (make_linear, (AXES, [0.5, 0.4], "gauss"), "law is 'gauss'; allowed: uniform, bernoulli"),
    (two_armed, (0,), "ratio is 0"),
    (two_armed, (2, 0.6), "gap is 0.6"),
    (played, (dpbandits.uniform([1.1, 0.5]),), "rewards reach 1.1; allowed: at most 1"),
]


def test_what_is_no_bandit_is_refused_in_one_line() -> None:
    for make, words, expected in REFUSED:
        message = message_of(lambda: make(*words))
        assert expected in message, (words, message)
