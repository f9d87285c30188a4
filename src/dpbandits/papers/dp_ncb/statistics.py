"""Every statistic that the claims of this paper may name."""

from dpbandits.claims import Statistic
from dpbandits.papers.dp_ncb import (
    comparison_statistics,
    exact_statistics,
    panel_statistics,
    slope_statistics,
)

STATISTICS: dict[str, Statistic] = {
    "regret": comparison_statistics.regret,
    "regret_ratio": comparison_statistics.regret_ratio,
    "crossing_time": comparison_statistics.crossing_time,
    "time_below": comparison_statistics.time_below,
    "time_below_ratio": comparison_statistics.time_below_ratio,
    "two_arm_regret": panel_statistics.two_arm_regret,
    "two_arm_difference": panel_statistics.two_arm_difference,
    "two_arm_growth": panel_statistics.two_arm_growth,
    "epsilon_ratios": panel_statistics.epsilon_ratios,
    "ncb_ratios": panel_statistics.ncb_ratios,
    "order_ratios": panel_statistics.order_ratios,
    "falls": panel_statistics.falls,
    "slope_of_regret": slope_statistics.slope_of_regret,
    "slope_difference": slope_statistics.slope_difference,
    "cost_steps": slope_statistics.cost_steps,
    "cost_at_epsilon": slope_statistics.cost_at_epsilon,
    "slope_in_epsilon": slope_statistics.slope_in_epsilon,
    "anytime_cost": slope_statistics.anytime_cost,
    "anytime_growth": slope_statistics.anytime_growth,
    "smallest_difference": exact_statistics.smallest_difference,
    "bound_excess": exact_statistics.bound_excess,
    "smallest_bound": exact_statistics.smallest_bound,
    "first_informative_horizon": exact_statistics.first_informative_horizon,
    "term_ratios": exact_statistics.term_ratios,
    "balances": exact_statistics.balances,
    "phase_one_outside": exact_statistics.phase_one_outside,
    "phase_one_ratios": exact_statistics.phase_one_ratios,
    "predicted_phase_one": exact_statistics.predicted_phase_one,
    "composed_losses": exact_statistics.composed_losses,
    "noise_scales": exact_statistics.noise_scales,
    "violating_runs": exact_statistics.violating_runs,
    "runs_with_weak_pulls": exact_statistics.runs_with_weak_pulls,
}
