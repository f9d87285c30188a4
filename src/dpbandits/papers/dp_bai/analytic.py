"""Everything of the paper that is computed exactly.

Every frame has the columns series, its tags, x, y, lo, hi, with lo = hi = y.
"""

from collections.abc import Callable

import pandas as pd

from dpbandits.papers.dp_bai.feature_checks import instances, max_det_table, rounds
from dpbandits.papers.dp_bai.hardness import bounds
from dpbandits.papers.dp_bai.overshoot import overshoot
from dpbandits.papers.dp_bai.privacy_tables import gauss_privacy, privacy_loss
from dpbandits.papers.dp_bai.pure_noise import pure_noise
from dpbandits.papers.dp_bai.regimes import regime_map, table1_grid
from dpbandits.papers.dp_bai.schedules import appendix_b, baseline_structure, phase_counts

ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "appendix-b": appendix_b,
    "regimes": regime_map,
    "bounds": bounds,
    "overshoot": overshoot,
    "max-det": max_det_table,
    "table1-grid": table1_grid,
    "rounds": rounds,
    "privacy-loss": privacy_loss,
    "gauss-privacy": gauss_privacy,
    "pure-noise": pure_noise,
    "phase-counts": phase_counts,
    "instances": instances,
    "baseline-structure": baseline_structure,
}
"""Analytic results by name, as the experiments file lists them."""
