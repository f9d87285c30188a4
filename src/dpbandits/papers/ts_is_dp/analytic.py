"""Exactly computed curves behind the analytic figures and claims, and realised privacy levels."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits import privacy
from dpbandits.papers.curves import curve, joined

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

FIXED_ORDER = 1.15
"""One Renyi order for a whole curve of Figures 6 and 7, whose order the paper does not state."""

MANY = 10**9
"""Pulls of an arm whose mean and draw are as good as fixed."""


def deltas() -> NDArray[np.float64]:
    """Return the delta axis: 61 log-spaced points 1e-10 .. 1e-1 and the tabulated decades."""
    grid, decades = np.geomspace(1e-10, 1e-1, 61), np.array([1e-8, 1e-6, 1e-4, 1e-2])
    # A decade that is on the grid but for rounding takes its place.
    repeated = np.isclose(grid[:, None], decades, rtol=1e-9, atol=0.0).any(axis=1)
    return np.union1d(grid[~repeated], decades)


def privacy_by_b_and_c() -> pd.DataFrame:
    """Return epsilon over delta (Figure 1) of Theorem 4, with b or c away from (0, 1); T = 1000."""
    x = deltas()
    pairs = [("b", b, 1) for b in CURVE_B] + [("c", 0, c) for c in CURVE_C]
    return joined(
        curve(
            f"{family}: b={b}, c={c}",
            {"family": family, "b": b, "c": c, "factor": c * (b + 1)},
            x,
            privacy.epsilon(x, privacy.modified_ts_gdp(b, c, ANALYSIS_HORIZON)),
        )
        for family, b, c in pairs
    )


def privacy_by_analysis() -> pd.DataFrame:
    """Return epsilon over delta of plain Thompson sampling by each analysis (Figures 6 and 7)."""
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
    """Return delta by Renyi DP over the one by Gaussian DP, at the latter's epsilon; T = 1000."""
    x = deltas()
    epsilons = privacy.epsilon(x, privacy.ts_gaussian_gdp(ANALYSIS_HORIZON))
    return curve("rdp over gdp", {}, x, renyi_delta(epsilons, ANALYSIS_HORIZON) / x)


def renyi_delta(epsilon: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """Return the smallest delta of plain Thompson sampling by Renyi DP at an epsilon.

    Theorem 8 inverted: the minimum of exp((alpha - 1)(alpha T/4 - epsilon)) over the orders
    alpha > 1; 1 where epsilon is at most T/4.
    """
    slope = horizon / 4
    return np.asarray(np.exp(-(np.maximum(epsilon - slope, 0.0) ** 2) / (4 * slope)))


def report_noisy_max() -> pd.DataFrame:
    """Return true over claimed delta of report-noisy-max of two functions (Theorems 6 and 7)."""
    x = np.geomspace(1e-8, 1e-1, 71)
    shift, lowest = two_armed_choice(1, MANY)
    epsilons = privacy.ts_round_epsilon(x, 2)
    curves = [curve("claimed delta", {"means": "claimed"}, x, np.ones_like(x))]
    for means, bound in (("any", -np.inf), ("reachable", lowest)):
        true = privacy.report_noisy_max_true_delta(epsilons, shift, bound)
        curves.append(curve(f"{means} means", {"means": means}, x, true / x))
    return joined(curves)


def two_armed_choice(pulls: int, others: int) -> tuple[float, float]:
    """Return what one changed reward of an arm does to the choice between it and another arm.

    The choice is a threshold on a normal variable whose mean over its standard deviation is x.
    """
    deviation = np.sqrt(1 / (pulls + 1) + 1 / (others + 1))
    furthest = max(pulls / (pulls + 1), others / (others + 1))
    return float(1 / (pulls + 1) / deviation), float(-furthest / deviation)


def plain_levels(sums: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """Return the realised level of runs of plain Thompson sampling over sqrt(T/2) (Lemma 4)."""
    levels = np.atleast_1d(privacy.instance_specific_gdp(sums, 1.0))
    return levels / privacy.ts_gaussian_gdp(horizon)


def sampled_levels(
    sums: NDArray[np.float64], b: int, c: float, horizon: int
) -> NDArray[np.float64]:
    """Return the realised level of the rounds that sample, of runs with (b, c), over Lemma 5's."""
    sampled = np.maximum(sums - prepull_sums(b, sums.shape[1], horizon), 0.0)
    levels = np.atleast_1d(privacy.instance_specific_gdp(sampled, c))
    return levels / privacy.modified_ts_gdp(b, c, horizon)


def prepull_sums(b: int, arms: int, horizon: int) -> NDArray[np.float64]:
    """Return the part of the sums of 1/(n + 1) that the pre-pulls add, for each arm."""
    index = np.arange(arms)
    first = np.clip(horizon - b * index, 0, b)
    later = np.clip(horizon - b * (index + 1), 0, b * (arms - 1 - index))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, b + 1.0))])
    return np.asarray(np.maximum(harmonic[first] - 1.0, 0.0) + later / (b + 1))


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "privacy-by-b-and-c": privacy_by_b_and_c,
    "privacy-by-analysis": privacy_by_analysis,
    "delta-by-analysis": delta_by_analysis,
    "report-noisy-max": report_noisy_max,
}
