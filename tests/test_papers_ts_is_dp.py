"""Analytic results of ts-is-dp: their numbers against printed values and other computations."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpbandits.papers.ts_is_dp import quantities
from dpbandits.papers.ts_is_dp.analytic import MANY, RATES, deltas, two_armed_choice
from dpbandits.papers.ts_is_dp.quantities import ROUND_DELTAS
from dpbandits.privacy import epsilon, ts_round_epsilon, ts_round_gdp
from shared import ExactResults
from support import ROOT

FRAMES = ExactResults("ts-is-dp")
BY_PARAMETER = FRAMES["privacy-by-b-and-c"]
BY_ANALYSIS = FRAMES["privacy-by-analysis"]


def at(frame: pd.DataFrame, x: float, **where: object) -> float:
    """The one y at x of the rows with these tags."""
    kept = frame[frame["x"] == x]
    for key, value in where.items():
        kept = kept[kept[key] == value]
    return float(kept["y"].item())


TABLE = [
    (1e-10, 391.364, 401.743, 11477.8, 11871.7, 12881.5, 13301.3),
    (1e-8, 374.596, 385.723, 8773.7, 9112.8, 9999.8, 10362.8),
    (1e-6, 355.383, 367.539, 6425.0, 6712.4, 7483.9, 7793.3),
    (1e-4, 332.235, 345.971, 4411.2, 4649.3, 5312.0, 5570.3),
    (1e-2, 301.068, 317.861, 2715.8, 2905.3, 3465.3, 3673.1),
    (1e-1, 277.685, 297.985, 1983.7, 2147.6, 2658.9, 2839.7),
]


def test_figure_6_has_the_tabulated_numbers() -> None:
    for row in TABLE:
        delta, gdp, rdp, *standard = row
        for arms in (2, 10):
            # Half a unit of the last printed digit.
            assert at(BY_ANALYSIS, delta, analysis="gdp", arms=arms) == pytest.approx(gdp, abs=5e-4)
            assert at(BY_ANALYSIS, delta, analysis="rdp", arms=arms) == pytest.approx(rdp, abs=5e-4)
        cases = itertools.product((2, 10), ("best", "half"))
        for (arms, split), expected in zip(cases, standard, strict=True):
            found = at(BY_ANALYSIS, delta, analysis="standard-dp", arms=arms, split=split)
            assert found == pytest.approx(expected, abs=0.05)


def test_the_corrected_bound_has_the_tabulated_numbers_for_any_n() -> None:
    """Theorems 3 to 8: about 9.5e5, 5.4e5, 2.86e5, 1.35e5, 5.3e4, 2.97e4 on a grid of splits."""
    expected = {1e-10: 9.5e5, 1e-8: 5.4e5, 1e-6: 2.86e5, 1e-4: 1.35e5, 1e-2: 5.3e4, 1e-1: 2.97e4}
    for delta, value in expected.items():
        found = {
            at(BY_ANALYSIS, delta, analysis="standard-dp-advanced", arms=arms) for arms in (2, 10)
        }
        assert len(found) == 1
        # Printed to two or three digits.
        assert found.pop() == pytest.approx(value, rel=0.01)


def test_the_printed_curve_meets_the_basic_composition_of_exact_rounds() -> None:
    """TSDP-F2: with two arms it is above up to about 2.9e-3, with ten on the whole axis."""
    for arms, low, high in ((2, 2.8e-3, 2.9e-3), (10, 0.26, 0.27)):
        crossing = quantities.crossing_delta(arms=arms).value
        assert low < crossing < high
        printed, basic = (
            BY_ANALYSIS[(BY_ANALYSIS["analysis"] == name) & (BY_ANALYSIS["arms"] == arms)]
            for name in ("standard-dp", "standard-dp-basic")
        )
        best = printed[printed["split"] == "best"]
        above = best["y"].to_numpy() >= basic["y"].to_numpy()
        np.testing.assert_array_equal(above, basic["x"].to_numpy() <= crossing)


@pytest.mark.parametrize(("baseline", "expected"), [("lemma5", 1.835), ("theorem3", 3.782)])
def test_a_guarantee_is_dramatically_tighter_from_this_product_on(
    baseline: str, expected: float
) -> None:
    """TSDP-C4: the ratio of epsilon to (0, 1) at the worst delta, here by bisection over b."""
    found = quantities.turning_product(baseline=baseline).value
    assert found == pytest.approx(expected, abs=5e-4)
    factor = {"lemma5": 1.0, "theorem3": 2.0}[baseline]
    standard = epsilon(deltas(), np.sqrt(1000 / factor))
    ratio = epsilon(deltas(), np.sqrt(1000 / found)) / standard
    assert ratio.max() == pytest.approx(0.6, rel=1e-9)


def test_figure_1_has_the_tabulated_numbers() -> None:
    """ts-is-dp, Theorems 3 to 8: epsilon at delta 1e-6 and 1e-1 by c (b + 1)."""
    for product, small, large in [
        (1, 649.39, 539.55),
        (2, 355.38, 277.68),
        (6, 143.85, 98.93),
        (11, 89.97, 56.74),
        (51, 30.18, 14.61),
    ]:
        for family, tags in (("b", {"b": product - 1}), ("c", {"c": product})):
            assert at(BY_PARAMETER, 1e-6, family=family, **tags) == pytest.approx(small, abs=5e-3)
            assert at(BY_PARAMETER, 1e-1, family=family, **tags) == pytest.approx(large, abs=5e-3)


def test_levels_are_those_of_the_spec() -> None:
    """Claim TSDP-C1 and TSDP-C3."""
    levels = [quantities.epsilon_of_level(eta=eta).value for eta in (1, 5, 10)]
    assert levels == pytest.approx([4.88655, 35.56634, 96.71727], abs=5e-6)
    for accounting, level in (("lemma5", np.sqrt(1e5)), ("lemma4", np.sqrt(5e4))):
        found = quantities.level_of_pair(b=0, c=1, accounting=accounting)
        assert found.value == pytest.approx(level)


def test_arm_means_are_the_integrals() -> None:
    """Conditional law: density rate e^{-rate x}/(1 - e^{-rate}) on [0, 1]; clipped: min(X, 1)."""
    for rate in RATES:
        weight, _ = quad(lambda x: rate * np.exp(-rate * x), 0, 1)
        partial, _ = quad(lambda x: x * rate * np.exp(-rate * x), 0, 1)
        found, clipped = (
            quantities.arm_mean_deviation(law=law, printed=[0.0] * 5)[f"rate {rate:g}"].value
            for law in ("conditional", "clipped")
        )
        # quad's own error is below 1e-12 for these smooth integrands.
        assert found == pytest.approx(partial / weight, abs=1e-10)
        assert clipped == pytest.approx(partial + np.exp(-rate), abs=1e-10)


def test_the_two_pull_counts_of_the_spec() -> None:
    """Claim TSDP-C28a: a = 1/sqrt 2 for n = (1, large), 1/2 for n = (1, 1)."""
    assert two_armed_choice(1, MANY)[0] == pytest.approx(np.sqrt(0.5), rel=1e-8)
    assert two_armed_choice(1, 1)[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("pulls", "others"), [(1, 1), (1, 4), (3, 2)])
def test_reachable_means_are_those_of_rewards_in_the_unit_interval(pulls: int, others: int) -> None:
    """Over all 0/1 rewards, of both arms and for both choices; shrunk means S/(n + 1)."""
    deviation = np.sqrt(1 / (pulls + 1) + 1 / (others + 1))
    reached = [
        sign * (one / (pulls + 1) - other / (others + 1)) / deviation
        for one, other, sign in itertools.product(range(pulls + 1), range(others + 1), (1, -1))
    ]
    assert two_armed_choice(pulls, others)[1] == pytest.approx(min(reached))


NAMES = {
    ("any", MANY): "second function of vanishing noise",
    ("any", 1): "both noisy",
    ("reachable", MANY): "pulls (1, many)",
    ("reachable", 1): "pulls (1, 1)",
}


def true_delta(calibration: str, means: str, others: int, delta: float) -> float:
    """The exact delta of one choice."""
    found = quantities.true_over_claimed_delta(calibration=calibration, means=means)
    return found[f"{NAMES[means, others]}, delta {delta:g}"].value * delta


def test_true_deltas_are_suprema_over_a_grid_of_mean_differences() -> None:
    """Claim TSDP-C28a: sup over x of Phi(x + a) - e^eps0 Phi(x), here on a grid of step 1e-4."""
    for calibration, others, delta in itertools.product(
        ["printed", "corrected"], [MANY, 1], ROUND_DELTAS
    ):
        printed, valid = ts_round_epsilon(delta, 2), epsilon(delta, ts_round_gdp(1))
        claimed = printed if calibration == "printed" else valid
        shift, lowest = two_armed_choice(1, others)
        for means, start in (("any", -30.0), ("reachable", lowest)):
            x = np.arange(start, 5.0, 1e-4)
            excess = norm.cdf(x + shift) - np.exp(claimed) * norm.cdf(x)
            found = true_delta(calibration, means, others, delta)
            # The maximum is flat: half a step off costs below 1e-8 of it; 0 is the empty event.
            assert found == pytest.approx(max(excess.max(), 0.0), rel=1e-6, abs=1e-12)


def test_true_deltas_of_the_printed_calibration() -> None:
    """TSDP-E8: 0.0177 and 0.0015 at delta0 = 1e-6, where eps0 is 1.281, needed 3.308."""
    assert true_delta("printed", "any", MANY, 1e-6) == pytest.approx(0.0177, abs=5e-5)
    assert true_delta("printed", "any", 1, 1e-6) == pytest.approx(0.0015, abs=5e-5)
    assert ts_round_epsilon(1e-6, 2) == pytest.approx(1.281, abs=5e-4)
    assert epsilon(1e-6, ts_round_gdp(1)) == pytest.approx(3.308, abs=5e-4)


def test_the_note_on_theorem_7_names_the_smallest_drawn_delta_that_is_exceeded() -> None:
    frame = FRAMES["report-noisy-max"]
    seen = frame[(frame["means"] == "reachable") & (frame["y"] > 0.0)]
    text = (ROOT / "config/papers/ts-is-dp/experiments.yaml").read_text(encoding="utf-8")
    assert f"{seen['x'].min():.1e}" == "2.5e-05"
    assert "Theorem 7: below $\\\\delta$ = 2.5×10⁻⁵" in text
