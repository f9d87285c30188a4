"""The instances of dp-ncb against the numbers of its specification; the table of deviations."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpbandits.errors import InputError
from dpbandits.pages.site.switches import CHANGES
from dpbandits.papers.dp_ncb.instances import (
    INSTANCES,
    drawn_means,
    fifty_arms,
    mixed_arms,
    vanishing_arm,
    weak_arms,
)
from dpbandits.papers.dp_ncb.tables import DEVIATIONS, TOGETHER, deviations
from synthetic_results import FOURTH, NOISE

ROOT = Path(__file__).resolve().parents[1]
TABLE = FOURTH.tables["extra-deviations"]
QUANTILE = stats.t.ppf(0.975, 49)

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


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    return deviations({name: FOURTH.frame(name) for name in TABLE["reads"]})


def test_every_switch_that_is_played_has_a_row_and_every_row_its_results() -> None:
    """The differences that are switches of algorithms or of the scoring."""
    curves = {
        curve for each in DEVIATIONS for curve in (each.coded.simulation, each.changed.simulation)
    }
    assert curves == set(TABLE["reads"])
    for name in ("switches", TOGETHER):
        played = set(FOURTH.frame(name)["switch"].dropna())
        assert played == {each.id for each in DEVIATIONS if each.changed.simulation == name}
    ids = {part for each in DEVIATIONS for part in each.id.split()}
    numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 24, 33, 34}
    assert {f"D{number}" for number in numbers} <= ids


@pytest.mark.parametrize("algorithm", ["gdp-ncb", "ldp-ncb", "adap-ucb", "ldp-ucb-l"])
def test_large_switches_of_an_algorithm_are_played_together(algorithm: str) -> None:
    """All combinations of them; D12 and D12 epsilon are two values of one interpretation."""
    published = pd.read_csv(ROOT / "docs/tables/dp-ncb/extra-deviations.csv")
    own = published[published["algorithm"] == algorithm]
    is_large = (own["factor"] - 1).abs() > CHANGES
    large = [name for name in own["id"][is_large] if " and " not in name]
    wanted = {
        frozenset(names)
        for size in range(2, len(large) + 1)
        for names in combinations(large, size)
        if not {"D12", "D12 epsilon"} <= set(names)
    }
    rows = [each for each in DEVIATIONS if each.algorithm == algorithm]
    assert wanted <= {frozenset(each.id.split(" and ")) for each in rows}


def test_the_change_of_two_samples_has_the_interval_of_both(found: pd.DataFrame) -> None:
    """Variances of independent curves add; t of 49 degrees of freedom, as each of them has."""
    row = found[(found["id"] == "D4") & (found["algorithm"] == "gdp-ncb")].iloc[0]
    # Made-up curves have a standard error of NOISE times the regret before it was perturbed, and
    # a bias of a tenth of it, which is subtracted.
    errors = [(row[f"{name}_hi"] - row[name]) / QUANTILE for name in ("coded", "changed")]
    for name, error in zip(("coded", "changed"), errors, strict=True):
        assert error / row[name] == pytest.approx(NOISE / 0.9, rel=4 * NOISE)
    assert row["change"] == pytest.approx(row["changed"] - row["coded"])
    half = QUANTILE * math.hypot(*errors)
    assert row["change_hi"] - row["change"] == pytest.approx(half, rel=1e-9)
    assert row["change"] - row["change_lo"] == pytest.approx(half, rel=1e-9)
    assert row["factor"] == pytest.approx(row["changed"] / row["coded"])


def test_another_best_mean_is_an_exact_change(found: pd.DataFrame) -> None:
    """D17: 1 - 0.9700603."""
    [row] = found[found["id"] == "D17"].to_dict("records")
    assert row["change"] == pytest.approx(-0.0299397, abs=1e-7)
    assert row["change_lo"] == row["change_hi"] == row["change"]
