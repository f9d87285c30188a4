"""Every statistic that the claims of this paper may name."""

from dpbandits.claims import Statistic
from dpbandits.papers.dp_bai import (
    bound_statistics,
    budget_statistics,
    pairing_statistics,
    success_statistics,
    trend_statistics,
)
from dpbandits.papers.dp_bai.exact_statistics import EXACT_STATISTICS

STATISTICS: dict[str, Statistic] = {
    "advantage": success_statistics.advantage,
    "corner_advantage": success_statistics.corner_advantage,
    "ratio_advantage": success_statistics.ratio_advantage,
    "lead_of_private": success_statistics.lead_of_private,
    "gap_at_weak_privacy": success_statistics.gap_at_weak_privacy,
    "gap_by_epsilon": success_statistics.gap_by_epsilon,
    "smallest_similar_epsilon": success_statistics.smallest_similar_epsilon,
    "gauss_advantage": success_statistics.gauss_advantage,
    "halving_difference": success_statistics.halving_difference,
    "success_trends": trend_statistics.success_trends,
    "success_steps": trend_statistics.success_steps,
    "ratio_trends": trend_statistics.ratio_trends,
    "ratio_mismatches": pairing_statistics.ratio_mismatches,
    "noiseless_mismatches": pairing_statistics.noiseless_mismatches,
    "inflation_quality": budget_statistics.inflation_quality,
    "inflation_slope": budget_statistics.inflation_slope,
    "inflation_by_epsilon": budget_statistics.inflation_by_epsilon,
    "budget_change": budget_statistics.budget_change,
    "budget_spread": budget_statistics.budget_spread,
    "hardness_quality": budget_statistics.hardness_quality,
    "hardness_coefficients": budget_statistics.hardness_coefficients,
    "error_excess": bound_statistics.error_excess,
    "largest_bound_over_error": bound_statistics.largest_bound_over_error,
    "smallest_bound": bound_statistics.smallest_bound,
    "first_budget_of_theorem": bound_statistics.first_budget_of_theorem,
    "error_quality": budget_statistics.error_quality,
    "error_curvature": budget_statistics.error_curvature,
    "error_slope_change": budget_statistics.error_slope_change,
    **EXACT_STATISTICS,
}
