"""Every statistic that the claims and findings of this paper may name."""

from dpbandits.claims import audited
from dpbandits.claims.entries import statistics_of
from dpbandits.papers.dp_ts_ucb import (
    bound_statistics,
    regret_statistics,
)

STATISTICS = statistics_of(
    audited,
    bound_statistics,
    regret_statistics,
)
