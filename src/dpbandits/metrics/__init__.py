"""Accumulators fed with segments, the metrics read off them, and intervals over runs.

Here are the names of what is recorded, for configs, without numerics; functions: `regret`, `nash`.
"""

from dpbandits.errors import InputError

CURVES = ("pseudo_regret", "realised_regret")
"""Metrics with one value for each time of the grid."""

PER_ARM = ("pulls", "inverse_counts")
"""Metrics with one value for each arm, at the horizon."""

COUNTED = ("success", "total_pulls")
"""Metrics that results keep as sums over blocks of trials."""

IDENTIFIED = (*COUNTED, "recommended")
"""Metrics of identification."""

NOMINAL = "nominal_"
"""Begins the names of what is scored by a bandit's nominal means instead of its true ones."""

NASH_REGRET = "nash_regret"
PARTS = (NASH_REGRET, "nash_influence", "nash_bins")
"""What is recorded of a curve: its quantities, the influences of its runs, their means in bins."""

NASH = (*PARTS, *(NOMINAL + part for part in PARTS))
"""Every metric of Nash regret. A cell that has one is played in lockstep, all its runs together."""

NASH_QUANTITIES = (
    "nash_log_mean",
    "nash_standard_error",
    "nash_bias",
    "average_mean",
    "trajectory_mean",
    "binned_log_mean",
    "best_mean",
)
"""What is known of a curve at each time of the grid, in the order of ``quantities``."""

METRICS = (*CURVES, *PER_ARM, *IDENTIFIED, *NASH)
"""What a simulation may record."""


def require_metric(name: str, allowed: tuple[str, ...]) -> str:
    """Return ``name`` if it is allowed; InputError otherwise."""
    if name not in allowed:
        raise InputError.unknown("metric", name, allowed)
    return name
