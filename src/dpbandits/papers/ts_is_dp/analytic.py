"""Exactly computed curves and numbers behind the analytic figures and claims.

Every frame has the columns series, its tags, x, y, lo, hi, with lo = hi = y.
"""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpbandits import privacy
from dpbandits.bandits import clipped_exponential, truncated_exponential
from dpbandits.papers.curves import curve, joined, number

ANALYSIS_HORIZON = 1_000
"""T of Figures 1, 6 and 7."""

CURVE_B = (0, 1, 5, 10, 50)
"""Pre-pulls of Figure 1, left, at c = 1."""

CURVE_C = (1, 2, 6, 11, 51)
"""Variance factors of Figure 1, right, at b = 0."""

ARM_NUMBERS = (2, 10)
"""Numbers of arms of the two panels of Figures 6 and 7."""

EXPERIMENT_HORIZON = 100_000
"""T of Section 5."""

RATES = (0.1, 1.0, 2.0, 5.0, 10.0)
"""Rates of the truncated exponential arms of Section 5.2."""

COMPARED_LEVELS = (1, 5, 10)
"""eta of the three panels of Figure 8."""

FIXED_ORDER = 1.15
"""One Renyi order for a whole curve of Figures 6 and 7, whose order the paper does not state."""

ROUND_DELTAS = (1e-6, 1e-4, 1e-2)
"""Delta of one choice at which Theorems 6 and 7 are checked."""

QUOTED_EPSILON, QUOTED_DELTA = 1.0, 1e-6
"""Epsilon and delta at which Lemma 13 is checked."""

DRAMATIC_RATIO = 0.6
"""Epsilon over that of (0, 1) up to which TSDP-C4 calls a guarantee dramatically tighter."""

MANY = 10**9
"""Pulls of an arm whose mean and draw are as good as fixed."""


def deltas() -> NDArray[np.float64]:
    """Return the delta axis: 61 log-spaced points 1e-10 .. 1e-1 and the tabulated decades."""
    grid, decades = np.geomspace(1e-10, 1e-1, 61), np.array([1e-8, 1e-6, 1e-4, 1e-2])
    # A decade that is on the grid but for rounding takes its place.
    repeated = np.isclose(grid[:, None], decades, rtol=1e-9, atol=0.0).any(axis=1)
    return np.union1d(grid[~repeated], decades)


def privacy_by_b_and_c() -> pd.DataFrame:
    """Return epsilon over delta (Figure 1) of Theorem 4, with b or c away from (0, 1); T = 1000.

    Tags: family (``b``, left, or ``c``, right), b, c. x: delta. y: epsilon.
    """
    x = deltas()
    pairs = [("b", b, 1) for b in CURVE_B] + [("c", 0, c) for c in CURVE_C]
    return joined(
        curve(
            f"{family}: b={b}, c={c}",
            {"family": family, "b": b, "c": c},
            x,
            privacy.epsilon(x, privacy.modified_ts_gdp(b, c, ANALYSIS_HORIZON)),
        )
        for family, b, c in pairs
    )


def privacy_by_analysis() -> pd.DataFrame:
    """Return epsilon over delta of plain Thompson sampling by each analysis (Figures 6 and 7).

    Tags: analysis (``gdp``, Theorem 3; ``rdp``, Theorem 8 at its best order; ``rdp-fixed-order``,
    Theorem 8 at the order 1.15; ``standard-dp``, Corollary 1 as printed; exact rounds composed by
    the theorem of Corollary 1, ``standard-dp-advanced``, or by adding up,
    ``standard-dp-basic``), split of delta (``best`` or ``half``; ``none`` where there is none),
    arms (2 or 10; only the printed standard-DP bound depends on it). x: delta. y: epsilon.
    """
    x, horizon = deltas(), ANALYSIS_HORIZON
    curves = []
    for arms in ARM_NUMBERS:
        by_analysis = {
            ("gdp", "none"): privacy.epsilon(x, privacy.ts_gaussian_gdp(horizon)),
            ("rdp", "none"): privacy.ts_gaussian_rdp_epsilon(x, horizon),
            ("rdp-fixed-order", "none"): privacy.ts_gaussian_rdp_epsilon(x, horizon, FIXED_ORDER),
            ("standard-dp", "best"): privacy.ts_standard_epsilon(x, horizon, arms),
            ("standard-dp", "half"): privacy.ts_standard_epsilon(x, horizon, arms, "half"),
            ("standard-dp-advanced", "best"): privacy.ts_corrected_standard_epsilon(x, horizon),
            ("standard-dp-basic", "none"): privacy.ts_basic_standard_epsilon(x, horizon),
        }
        for (analysis, split), y in by_analysis.items():
            tags = {"analysis": analysis, "split": split, "arms": arms}
            name = analysis if split == "none" else f"{analysis}, {split} split"
            curves.append(curve(f"{name}, N={arms}", tags, x, y))
    return joined(curves)


def delta_by_analysis() -> pd.DataFrame:
    """Return delta by Renyi DP over the one by Gaussian DP, at the latter's epsilon; T = 1000.

    x: delta by Gaussian DP (Theorem 3). y: the smallest delta of Theorem 8 over all orders, at the
    epsilon that Theorem 3 gives at x, divided by x.
    """
    x = deltas()
    epsilons = privacy.epsilon(x, privacy.ts_gaussian_gdp(ANALYSIS_HORIZON))
    return curve("rdp over gdp", {}, x, renyi_delta(epsilons, ANALYSIS_HORIZON) / x)


def renyi_delta(epsilon: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """Return the smallest delta of plain Thompson sampling by Renyi DP at an epsilon.

    Theorem 8 inverted: the minimum of exp((alpha - 1)(alpha T/4 - epsilon)) over the orders
    alpha > 1; 1 where epsilon is at most T/4.

    Args:
        epsilon: 0 or above. Any shape.
        horizon: number of rounds T, 1 or above.
    """
    slope = horizon / 4
    return np.asarray(np.exp(-(np.maximum(epsilon - slope, 0.0) ** 2) / (4 * slope)))


def report_noisy_max() -> pd.DataFrame:
    """Return the true over claimed delta of report-noisy-max with two functions (Theorems 6 and 7).

    Tags: means (``any``, Theorem 6; ``reachable``, those of two arms with rewards in [0, 1],
    Theorem 7; ``claimed``, the level 1). x: claimed delta. y: exact delta over the claimed one,
    with a second function (arm) of vanishing noise.
    """
    x = np.geomspace(1e-8, 1e-1, 71)
    shift, lowest = two_armed_choice(1, MANY)
    epsilons = privacy.ts_round_epsilon(x, 2)
    curves = [curve("claimed delta", {"means": "claimed"}, x, np.ones_like(x))]
    for means, bound in (("any", -np.inf), ("reachable", lowest)):
        true = privacy.report_noisy_max_true_delta(epsilons, shift, bound)
        curves.append(curve(f"{means} means", {"means": means}, x, true / x))
    return joined(curves)


def constants() -> pd.DataFrame:
    """Return every other number that a claim or a finding needs, one a row.

    Tags: quantity, and by quantity: ``epsilon``: eta (delta = 1e-6); ``gdp``: accounting, of
    (b, c) = (0, 1) at T = 1e5; ``arm-mean``: law; ``turning-order``: measure, the Renyi order up
    to which the advantage of Gaussian DP is larger at the smallest delta; ``least-epsilon``: arms,
    epsilon of Corollary 1 at the largest delta below 1; ``crossing-delta``: arms, the delta at
    which Corollary 1 meets the basic composition of exact rounds; ``turning-product``: baseline,
    the c (b + 1) at which a guarantee is dramatically tighter than that of (0, 1); ``quoted-shift``
    and ``quoted-delta``: the longest shift of a unit normal variable that Lemma 13 admits, and its
    exact delta; ``true-delta``: calibration, means, pulls, round_delta, the exact delta of an
    action of two-armed sampling at the epsilon claimed for it. y: the number.
    """
    return joined([*_levels(), *_turns(), *_true_deltas()])


def _levels() -> Iterator[pd.DataFrame]:
    for eta in COMPARED_LEVELS:
        tags = {"quantity": "epsilon", "eta": eta}
        yield number(f"epsilon, eta={eta}", tags, privacy.epsilon(1e-6, float(eta)), eta)
    for accounting in ("lemma5", "lemma4"):
        tags = {"quantity": "gdp", "accounting": accounting}
        level = privacy.modified_ts_gdp(0, 1, EXPERIMENT_HORIZON, interpretation=accounting)
        yield number(f"gdp, {accounting}", tags, level, EXPERIMENT_HORIZON)
    for law, make in (("conditional", truncated_exponential), ("clipped", clipped_exponential)):
        tags = {"quantity": "arm-mean", "law": law}
        yield curve(f"arm means, {law}", tags, RATES, make(RATES).means)
    for arms in ARM_NUMBERS:
        least = privacy.ts_standard_epsilon(float(np.nextafter(1.0, 0.0)), ANALYSIS_HORIZON, arms)
        of_arms = {"quantity": "least-epsilon", "arms": arms}
        yield number(f"least epsilon, N={arms}", of_arms, least, arms)
    shift = 2 * QUOTED_EPSILON / np.sqrt(-np.log(2 * QUOTED_DELTA))
    true = privacy.delta(QUOTED_EPSILON, float(shift))
    for quantity, value in (("quoted-shift", shift), ("quoted-delta", true)):
        yield number(quantity, {"quantity": quantity}, value, QUOTED_DELTA)


def _turns() -> Iterator[pd.DataFrame]:
    """Return the parameters at which one guarantee passes another."""
    ends = np.array([1e-10, 1e-1])
    gdp = privacy.epsilon(ends, privacy.ts_gaussian_gdp(ANALYSIS_HORIZON))
    for measure, compare in (("difference", np.subtract), ("ratio", np.divide)):

        def turned(order: float, compare: np.ufunc = compare) -> float:
            renyi = privacy.ts_gaussian_rdp_epsilon(ends, ANALYSIS_HORIZON, order)
            small, large = compare(renyi, gdp)
            return float(small - large)

        tags = {"quantity": "turning-order", "measure": measure}
        order = brentq(turned, 1.01, 2.0, xtol=1e-12)
        yield number(f"turning order, {measure}", tags, order, ANALYSIS_HORIZON)
    for arms in ARM_NUMBERS:

        def excess(logarithm: float, arms: int = arms) -> float:
            delta = math.exp(logarithm)
            printed = privacy.ts_standard_epsilon(delta, ANALYSIS_HORIZON, arms)
            return printed - privacy.ts_basic_standard_epsilon(delta, ANALYSIS_HORIZON)

        delta = math.exp(brentq(excess, math.log(1e-10), math.log(0.9), xtol=1e-12))
        of_arms = {"quantity": "crossing-delta", "arms": arms}
        yield number(f"crossing delta, N={arms}", of_arms, delta, arms)
    x = deltas()
    levels = {
        "lemma5": privacy.modified_ts_gdp(0, 1, ANALYSIS_HORIZON),
        "theorem3": privacy.ts_gaussian_gdp(ANALYSIS_HORIZON),
    }
    for baseline, level in levels.items():
        standard = privacy.epsilon(x, level)

        def above(product: float, standard: NDArray[np.float64] = standard) -> float:
            raised = privacy.epsilon(x, privacy.modified_ts_gdp(0, product, ANALYSIS_HORIZON))
            return float((raised / standard).max()) - DRAMATIC_RATIO

        tags = {"quantity": "turning-product", "baseline": baseline}
        product = brentq(above, 1.0, 10.0, xtol=1e-12)
        yield number(f"turning product, {baseline}", tags, product, ANALYSIS_HORIZON)


def _true_deltas() -> Iterator[pd.DataFrame]:
    claims = {"printed": printed_epsilon, "corrected": valid_epsilon}
    for (named, others), calibration in itertools.product((("1,many", MANY), ("1,1", 1)), claims):
        shift, lowest = two_armed_choice(1, others)
        for means, bound in (("any", -np.inf), ("reachable", lowest)):
            for delta in ROUND_DELTAS:
                tags = {
                    "quantity": "true-delta",
                    "calibration": calibration,
                    "means": means,
                    "pulls": named,
                    "round_delta": delta,
                }
                claimed = claims[calibration](delta)
                true = privacy.report_noisy_max_true_delta(claimed, shift, bound)
                name = f"true delta, {calibration}, {means} means, {named} pulls, {delta:g}"
                yield number(name, tags, true, delta)


def printed_epsilon(delta: float) -> float:
    """Return the epsilon that Theorem 7 claims for one action with two arms."""
    return privacy.ts_round_epsilon(delta, 2)


def valid_epsilon(delta: float) -> float:
    """Return the exact epsilon of one action, 1/sqrt(2)-GDP (Lemma 3 with the duality)."""
    return privacy.epsilon(delta, privacy.ts_round_gdp(1))


def two_armed_choice(pulls: int, others: int) -> tuple[float, float]:
    """Return what one changed reward of an arm does to the choice between it and another arm.

    The choice is a threshold on a normal variable whose mean over its standard deviation is x.

    Args:
        pulls: pulls of the arm with the changed reward, 1 or above.
        others: pulls of the other arm, 1 or above.

    Returns:
        How far x moves, and the smallest x that rewards in [0, 1] can produce.
    """
    deviation = np.sqrt(1 / (pulls + 1) + 1 / (others + 1))
    furthest = max(pulls / (pulls + 1), others / (others + 1))
    return float(1 / (pulls + 1) / deviation), float(-furthest / deviation)


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "privacy-by-b-and-c": privacy_by_b_and_c,
    "privacy-by-analysis": privacy_by_analysis,
    "delta-by-analysis": delta_by_analysis,
    "report-noisy-max": report_noisy_max,
    "constants": constants,
}
"""Analytic results by name, as the experiments file lists them."""
