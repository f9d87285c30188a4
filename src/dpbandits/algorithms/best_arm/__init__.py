"""Best-arm identification with a fixed budget."""

from dpbandits.algorithms.best_arm.algorithms import (
    BASELINE,
    DP_BAI,
    DP_BAI_GAUSS,
    DP_OD,
    OD_LINBAI,
    SEQUENTIAL_HALVING,
)

__all__ = ["BASELINE", "DP_BAI", "DP_BAI_GAUSS", "DP_OD", "OD_LINBAI", "SEQUENTIAL_HALVING"]
