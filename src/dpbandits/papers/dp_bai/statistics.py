"""Every statistic that the claims and findings of this paper may name."""

from dpbandits.claims import audited
from dpbandits.claims.entries import statistics_of
from dpbandits.papers.dp_bai import (
    beyond_statistics,
    budget_statistics,
    error_statistics,
    exact_statistics,
    success_statistics,
    trend_statistics,
)

STATISTICS = statistics_of(
    audited,
    beyond_statistics,
    budget_statistics,
    error_statistics,
    exact_statistics,
    success_statistics,
    trend_statistics,
)
