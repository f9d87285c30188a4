"""Reward laws: exact means, draws by inversion, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import dpbandits
from dpbandits.bandits import Bernoulli, ClippedExponential, TruncatedExponential, bandit_from
from dpbandits.bandits.draws import CLIPPED_EXPONENTIAL, TRUNCATED_EXPONENTIAL, draw_reward
from support import bandits, message_of

PAPER_RATES = (0.1, 1.0, 2.0, 5.0, 10.0)
rates = st.floats(1e-6, 700.0)


class OneUniform:
    """A generator whose uniform is given."""

    def __init__(self, uniform: float) -> None:
        self.uniform = uniform

    def random(self) -> float:
        return self.uniform


def drawn(code: int, parameter: float, uniform: float) -> float:
    generator: Any = OneUniform(uniform)
    return float(draw_reward.py_func(code, parameter, generator))


def test_truncated_exponential_means_of_the_paper() -> None:
    means = dpbandits.truncated_exponential(PAPER_RATES).means
    # Printed in TS-is-DP, Section 5.2: three digits, the last arm 0.1.
    assert [float(f"{mean:.3g}") for mean in means] == [0.492, 0.418, 0.343, 0.193, 0.1]
    # Spec, TSDP-C2, five digits.
    np.testing.assert_allclose(means, [0.49167, 0.41802, 0.34348, 0.19322, 0.09995], atol=5e-6)


def test_clipped_exponential_means() -> None:
    means = dpbandits.clipped_exponential(PAPER_RATES).means
    # Spec, TSDP-C2: the alternative min(X, 1), four digits.
    np.testing.assert_allclose(means, [0.9516, 0.6321, 0.4323, 0.1987, 0.1000], atol=5e-5)


def test_mean_gaps_of_the_two_families() -> None:
    # ts-is-dp, Section 5.1: gaps and the slope of uniform play.
    exponential = dpbandits.truncated_exponential(PAPER_RATES)
    np.testing.assert_allclose(exponential.gaps, [0, 0.07364, 0.14819, 0.29845, 0.39171], atol=5e-6)
    assert exponential.gaps.mean() == pytest.approx(0.182399, abs=5e-7)
    assert dpbandits.bernoulli([0.75, 0.625, 0.5, 0.375, 0.25]).gaps.mean() == 0.25


@given(rates)
def test_mean_is_the_integral_of_the_density(rate: float) -> None:
    # Figures 1 to 8: density rate e^(-rate x) / (1 - e^-rate) on [0, 1]. Where the rate is large
    # the mass sits in the first hundred of 1/rate, so the integral is cut there (error e^-100).
    top = min(1.0, 100.0 / rate)
    mass = -math.expm1(-rate)
    mean, _ = integrate.quad(lambda x: x * rate * math.exp(-rate * x) / mass, 0, top)
    # quad states a relative error of 1.5e-8.
    assert TruncatedExponential(rate).mean == pytest.approx(mean, rel=1e-7)


@given(st.floats(1e-6, 1.0))
def test_small_rates_do_not_cancel(rate: float) -> None:
    # Series of 1/r - 1/(e^r - 1) in Bernoulli numbers; its next term is r^7/1209600 < 1e-6 r^6.
    series = 0.5 - rate / 12 + rate**3 / 720 - rate**5 / 30240
    assert TruncatedExponential(rate).mean == pytest.approx(series, abs=1e-6 * rate**6 + 1e-11)


@given(rates)
def test_clipped_mean_is_the_integral_of_the_survival_function(rate: float) -> None:
    top = min(1.0, 100.0 / rate)
    mean, _ = integrate.quad(lambda x: math.exp(-rate * x), 0, top)
    assert ClippedExponential(rate).mean == pytest.approx(mean, rel=1e-7)


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


def test_bernoulli_draws_compare_the_uniform_with_the_mean() -> None:
    assert drawn(0, 0.3, 0.3 - math.ulp(0.3)) == 1.0
    assert drawn(0, 0.3, 0.3) == 0.0
    assert drawn(0, 0.0, 0.0) == 0.0
    assert drawn(0, 1.0, 1.0 - math.ulp(0.5)) == 1.0


@given(bandits(), st.integers(0, 2**32))
def test_compiled_and_uncompiled_draws_are_one(bandit: dpbandits.Bandit, seed: int) -> None:
    compiled, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    for arm, law in enumerate(bandit.arms):
        assert draw_reward(law.code, law.parameter, compiled) == bandit.draw(arm, plain)


def test_whole_means_are_floats() -> None:
    whole = dpbandits.bernoulli([1, 0])
    assert whole.means.dtype == whole.gaps.dtype == np.float64
    assert whole.describe() == dpbandits.bernoulli([1.0, 0.0]).describe()


@given(bandits())
def test_descriptions_name_the_instance(bandit: dpbandits.Bandit) -> None:
    for law, entry in zip(bandit.arms, bandit.describe(), strict=True):
        assert entry == {"law": law.name, "parameter": law.parameter}


def test_instances_from_mappings() -> None:
    made = bandit_from({"law": "truncated-exponential", "rates": [0.1, 1]})
    assert made == dpbandits.truncated_exponential([0.1, 1.0])
    assert bandit_from({"law": "bernoulli", "means": np.array([0.5, 0.25])}).arms == (
        Bernoulli(0.5),
        Bernoulli(0.25),
    )


BAD_NUMBERS = (math.nan, math.inf, -math.inf, 10**400, "0.5", None, True, [0.5], 1j)


@pytest.mark.parametrize("value", [-0.1, 1.1, 2, *BAD_NUMBERS])
def test_bernoulli_refuses(value: Any) -> None:
    message = message_of(lambda: dpbandits.bernoulli([0.5, value]))
    assert message.startswith("bernoulli: mean is ")
    assert "allowed: " in message


@pytest.mark.parametrize("value", [0, -1.0, 700.1, *BAD_NUMBERS])
@pytest.mark.parametrize("make", [dpbandits.truncated_exponential, dpbandits.clipped_exponential])
def test_exponential_laws_refuse(make: Any, value: Any) -> None:
    message = message_of(lambda: make([0.5, value]))
    assert "exponential: rate is " in message
    assert "allowed: " in message


@pytest.mark.parametrize("values", [0.5, "0.5", None, {0.5, 0.4}, {"a": 0.5}, iter([0.5, 0.4])])
def test_arms_stand_in_a_list(values: Any) -> None:
    assert "allowed: a list of numbers" in message_of(lambda: dpbandits.bernoulli(values))


@pytest.mark.parametrize("values", [[], [0.5]])
def test_one_arm_is_no_bandit(values: list[float]) -> None:
    expected = f"bandit: {len(values)} arms; allowed: 2 to 1000000"
    assert message_of(lambda: dpbandits.bernoulli(values)) == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ({"law": "cauchy", "means": [0.5, 0.4]}, "law is 'cauchy'; allowed: bernoulli, "),
        ({"law": ["bernoulli"], "means": [0.5, 0.4]}, "law is ['bernoulli']; allowed: "),
        ({"means": [0.5, 0.4]}, "law is None; allowed: bernoulli"),
        ({"law": "bernoulli", "rates": [1, 2]}, "keys ['law', 'rates']; allowed for bernoulli: "),
        ({"law": "bernoulli"}, "allowed for bernoulli: law, means"),
        ({"law": "bernoulli", "means": [0.5, 0.4], 3: 4}, "keys ['3', 'law', 'means']; allowed"),
        ([("law", "bernoulli")], "allowed: a mapping"),
    ],
)
def test_wrong_descriptions_are_refused(description: Any, expected: str) -> None:
    assert expected in message_of(lambda: bandit_from(description))
