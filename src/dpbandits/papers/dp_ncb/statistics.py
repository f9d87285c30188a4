"""Every statistic that the claims and findings of this paper may name."""

from dpbandits.claims import audited
from dpbandits.claims.entries import statistics_of
from dpbandits.papers.dp_ncb import (
    comparison_statistics,
    exact_statistics,
    panel_statistics,
    slope_statistics,
)

STATISTICS = statistics_of(
    audited,
    comparison_statistics,
    exact_statistics,
    panel_statistics,
    slope_statistics,
)
