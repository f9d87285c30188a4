"""Everything of the paper that is computed exactly.

Every frame has the columns series, its tags, x, y, lo, hi, with lo = hi = y.
"""

from collections.abc import Callable

import pandas as pd

from dpbandits.papers.dp_bai.baseline_checks import baseline_structure
from dpbandits.papers.dp_bai.bound_tables import bounds
from dpbandits.papers.dp_bai.gauss_tables import gauss_privacy
from dpbandits.papers.dp_bai.instance_checks import instances, rounds
from dpbandits.papers.dp_bai.max_det_checks import max_det_table
from dpbandits.papers.dp_bai.overshoot import overshoot
from dpbandits.papers.dp_bai.privacy_tables import privacy_loss
from dpbandits.papers.dp_bai.pure_noise import pure_noise
from dpbandits.papers.dp_bai.regime_tables import regime_map, table1_grid
from dpbandits.papers.dp_bai.schedule_tables import appendix_b, phase_counts

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
