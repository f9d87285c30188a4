"""Every statistic that the claims and findings of this paper may name."""

from dpbandits.claims import Statistic
from dpbandits.claims.audited import AUDITED
from dpbandits.papers.dp_ts_ucb import bound_statistics, regret_statistics

STATISTICS: dict[str, Statistic] = {
    **AUDITED,
    "largest_level_step": bound_statistics.largest_level_step,
    "constant_level": bound_statistics.constant_level,
    "level_spread": bound_statistics.level_spread,
    "root_deviation": bound_statistics.root_deviation,
    "level_ratio": bound_statistics.level_ratio,
    "level_ratio_over_time": bound_statistics.level_ratio_over_time,
    "largest_ratio_step": bound_statistics.largest_ratio_step,
    "smallest_level_ratio": bound_statistics.smallest_level_ratio,
    "plain_level_deviation": bound_statistics.plain_level_deviation,
    "crossover_horizon": bound_statistics.crossover_horizon,
    "printed_factor": bound_statistics.printed_factor,
    "largest_misses": bound_statistics.largest_misses,
    "largest_waits": bound_statistics.largest_waits,
    "alpha_difference": regret_statistics.alpha_difference,
    "alpha_trend": regret_statistics.alpha_trend,
    "steps_down": regret_statistics.steps_down,
    "equal_bound_difference": regret_statistics.equal_bound_difference,
    "is_best_b": regret_statistics.is_best_b,
    "best_b_margin": regret_statistics.best_b_margin,
    "pre_pull_difference": regret_statistics.pre_pull_difference,
    "best_between_margin": regret_statistics.best_between_margin,
    "pre_pull_regret": regret_statistics.pre_pull_regret,
    "regret_over_pre_pulled": regret_statistics.regret_over_pre_pulled,
    "regret_difference": regret_statistics.regret_difference,
    "regret_ratio": regret_statistics.regret_ratio,
    "gap_share": regret_statistics.gap_share,
}
