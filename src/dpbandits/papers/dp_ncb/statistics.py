"""Every statistic that the claims of this paper may name."""

from dpbandits.claims import Statistic
from dpbandits.papers.dp_ncb import (
    comparison_statistics,
    exact_statistics,
    panel_statistics,
    slope_statistics,
)

STATISTICS: dict[str, Statistic] = {
    "lead": comparison_statistics.lead,
    "lead_at_best": comparison_statistics.lead_at_best,
    "regret_ratio": comparison_statistics.regret_ratio,
    "crossing_time": comparison_statistics.crossing_time,
    "two_arm_regret": panel_statistics.two_arm_regret,
    "two_arm_change": panel_statistics.two_arm_change,
    "epsilon_leads": panel_statistics.epsilon_leads,
    "ncb_leads": panel_statistics.ncb_leads,
    "rival_leads": panel_statistics.rival_leads,
    "order_leads": panel_statistics.order_leads,
    "slope_of_regret": slope_statistics.slope_of_regret,
    "slope_difference": slope_statistics.slope_difference,
    "cost_of_privacy": slope_statistics.cost_of_privacy,
    "cost_steps": slope_statistics.cost_steps,
    "cost_at_epsilon": slope_statistics.cost_at_epsilon,
    "epsilon_cost_steps": slope_statistics.epsilon_cost_steps,
    "slope_in_epsilon": slope_statistics.slope_in_epsilon,
    "anytime_cost": slope_statistics.anytime_cost,
    "anytime_growth": slope_statistics.anytime_growth,
    "smallest_difference": exact_statistics.smallest_difference,
    "bound_excess": exact_statistics.bound_excess,
    "smallest_bound": exact_statistics.smallest_bound,
    "phase_one_outside": exact_statistics.phase_one_outside,
    "phase_one_ratios": exact_statistics.phase_one_ratios,
    "composed_losses": exact_statistics.composed_losses,
    "noise_scales": exact_statistics.noise_scales,
    "violating_runs": exact_statistics.violating_runs,
}
