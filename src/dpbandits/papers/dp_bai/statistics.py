"""Every statistic that the claims and findings of this paper may name."""

from dpbandits.claims import Statistic
from dpbandits.claims.audited import audited_share
from dpbandits.papers.dp_bai import (
    beyond_statistics,
    bound_statistics,
    budget_statistics,
    error_statistics,
    pairing_statistics,
    success_statistics,
    trend_statistics,
)
from dpbandits.papers.dp_bai.exact_statistics import EXACT_STATISTICS

_SIMULATED: tuple[Statistic, ...] = (
    success_statistics.advantage,
    success_statistics.advantage_summary,
    success_statistics.ratio_advantage,
    success_statistics.ratio_advantage_summary,
    success_statistics.lead_of_private,
    success_statistics.largest_lead,
    success_statistics.gap_at_weak_privacy,
    success_statistics.largest_gap_at_weak_privacy,
    success_statistics.gap_on_common_rewards,
    success_statistics.gap_by_epsilon,
    success_statistics.smallest_similar_epsilon,
    beyond_statistics.corner_advantage,
    beyond_statistics.sphere_rate,
    beyond_statistics.sphere_difference,
    beyond_statistics.basis_difference,
    beyond_statistics.gauss_advantage,
    beyond_statistics.halving_difference,
    beyond_statistics.omega_range,
    trend_statistics.success_trends,
    trend_statistics.success_steps,
    trend_statistics.lowest_step,
    trend_statistics.ratio_trends,
    pairing_statistics.ratio_gaps,
    pairing_statistics.ratio_mismatches,
    pairing_statistics.noiseless_mismatches,
    budget_statistics.inflation_quality,
    budget_statistics.inflation_slope,
    budget_statistics.budget_change,
    budget_statistics.ratio_growth,
    budget_statistics.hardness_quality,
    budget_statistics.hardness_coefficients,
    budget_statistics.privacy_growth,
    budget_statistics.gap_growth,
    bound_statistics.error_excess,
    bound_statistics.largest_bound_over_error,
    bound_statistics.smallest_bound,
    bound_statistics.first_budget,
    error_statistics.error_decay,
    error_statistics.error_quality,
    error_statistics.error_slope_change,
    audited_share,
)

STATISTICS: dict[str, Statistic] = {
    **{statistic.__name__: statistic for statistic in _SIMULATED},
    **EXACT_STATISTICS,
}
