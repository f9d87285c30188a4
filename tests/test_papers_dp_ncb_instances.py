"""The instances of dp-ncb against the numbers of its specification (sections 1.2, 1.3, 7, 10.1)."""

import math

import numpy as np
import pytest

from dpbandits.errors import InputError
from dpbandits.papers.dp_ncb.instances import (
    INSTANCES,
    drawn_means,
    fifty_arms,
    mixed_arms,
    vanishing_arm,
    weak_arms,
)

# Half a unit of the last digit that the specification prints.
PRINTED = 5.1e-8


def test_the_fifty_means_are_those_of_the_released_code() -> None:
    """Section 1.2: check values of the first 50 draws of numpy's legacy generator at seed 42."""
    means = np.array(drawn_means())
    assert means.shape == (50,)
    assert means.argmax() == 11
    assert np.sort(means)[::-1][:4] == pytest.approx(
        [0.9700603, 0.9658039, 0.9509607, 0.9491411], abs=PRINTED
    )
    assert means.min() == pytest.approx(0.0254816, abs=PRINTED)
    assert means.mean() == pytest.approx(0.4486943, abs=PRINTED)
    assert np.exp(np.log(means).mean()) == pytest.approx(0.3323319, abs=PRINTED)
    # Uniform play, which section 1.2 gives to five digits.
    assert means.max() - means.mean() == pytest.approx(0.52137, abs=5.1e-6)
    assert fifty_arms().means.tolist() == means.tolist()


def test_the_means_change_with_the_seed_and_reach_down_to_the_lower_end() -> None:
    assert drawn_means(43) != drawn_means(42)
    # One uniform number u stands behind each mean: low + (1 - low) u.
    first, second = np.array(drawn_means(42, 0.0)), np.array(drawn_means(42, 0.5))
    np.testing.assert_allclose(second, 0.5 + 0.5 * first, rtol=1e-12)


def test_the_nominal_mean_chooses_the_law_of_panel_f() -> None:
    """Section 1.3, the table of laws; a mean of None is the nominal one."""
    for low, high, law, mean in [
        (0.75, 1.0, "bernoulli", None),
        (0.5, 0.75, "fourth-root", 0.8),
        (0.25, 0.5, "two-point", 0.7),
        (0.0, 0.25, "uniform", 0.5),
    ]:
        bandit = mixed_arms()
        nominal = np.array(bandit.nominal)
        assert nominal.tolist() == list(drawn_means())
        arms = np.flatnonzero((nominal >= low) & (nominal < high))
        assert arms.size > 5
        for arm in arms:
            assert bandit.arms[arm].name == law
            assert bandit.means[arm] == (nominal[arm] if mean is None else mean)


def test_the_best_arm_of_panel_f_is_the_nominal_one() -> None:
    bandit = mixed_arms()
    assert bandit.means.max() == bandit.nominal_means.max() == max(drawn_means())


def test_the_bad_arm_of_panel_a_keeps_its_logarithm() -> None:
    """Section 7: means (2e)^-T and 1, arm 0 the bad one; D23: 0 in doubles from T = 441 on."""
    for horizon in [3, 100, 419, 440, 441, 1002]:
        bandit = vanishing_arm(horizon)
        assert bandit.log_means[0] == pytest.approx(-horizon * math.log(2 * math.e), rel=1e-15)
        assert bandit.log_means[1] == 0.0
        assert bandit.means[1] == 1.0
        assert (bandit.means[0] > 0.0) == (horizon <= 440)
        if horizon <= 400:
            # A relative error of the logarithm, near 700 at most, by a rounding or two.
            assert bandit.means[0] == pytest.approx((2 * math.e) ** -horizon, rel=1e-12)


def test_weak_arms_lie_below_a_256th_of_the_best_mean() -> None:
    """Section 10.1, NCB-C22."""
    means = weak_arms().means
    assert means.size == 50
    assert (means[:45] == 0.002).all()
    assert (means[:45] < means.max() / 256).all()
    assert means[45:].tolist() == [0.5, 0.6, 0.7, 0.8, 0.9]


def test_arguments_out_of_range_are_one_line() -> None:
    with pytest.raises(InputError, match=r"vanishing-arm: horizon is 0; allowed: at least 1"):
        vanishing_arm(0)
    with pytest.raises(InputError, match=r"fifty-arms: low is 2; allowed: 0 to 1"):
        INSTANCES["mixed-arms"](low=2)
