"""Every statistic that the claims and findings of this paper may name."""

from dpbandits.claims import audited
from dpbandits.claims.entries import statistics_of
from dpbandits.papers.ts_is_dp import (
    bound_statistics,
    comparison_statistics,
    level_statistics,
    regret_statistics,
    tuning_statistics,
)

STATISTICS = statistics_of(
    audited,
    bound_statistics,
    comparison_statistics,
    level_statistics,
    regret_statistics,
    tuning_statistics,
)
