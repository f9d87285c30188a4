"""Statistics of realised privacy levels: what a run's own counts charge (Remark 2, Lemma 5).

A level that depends on the rewards describes a run and is no guarantee.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, exact, mean
from dpbandits.claims.evidence import Evidence
from dpbandits.papers.ts_is_dp.regret_statistics import horizon_of
from dpbandits.privacy import instance_specific_gdp, modified_ts_gdp, ts_gaussian_gdp

PLAIN = "plain-levels"

Values = NDArray[np.float64]


def plain_levels(sums: Values, horizon: int) -> Values:
    """Return the realised level of runs of plain Thompson sampling over sqrt(T/2) (Lemma 4).

    Args:
        sums: for each run and arm the sum of 1/(n + 1) over the rounds after the arm's first pull,
            shape (runs, arms).
        horizon: number of rounds T, 1 or above.
    """
    return np.atleast_1d(instance_specific_gdp(sums, 1.0)) / ts_gaussian_gdp(horizon)


def plain_level(evidence: Evidence, *, horizon: int) -> Estimate:
    """Return the mean over runs of the realised level of plain Thompson sampling over Lemma 4's."""
    return mean(_plain(evidence, horizon))


def largest_plain_level(evidence: Evidence, *, horizon: int) -> Estimate:
    """Return the largest realised level of any run over Lemma 4's."""
    levels = _plain(evidence, horizon)
    return exact(levels.max() if levels.size else np.nan, levels.size)


def _plain(evidence: Evidence, horizon: int) -> Values:
    return plain_levels(evidence.per_arm(PLAIN, "inverse_counts", horizon=horizon), horizon)


def realised_levels(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the mean realised level of the rounds that sample over Lemma 5's, for each b.

    Args:
        evidence: the results.
        family: the arms.
        eta: the level that set c.
        b_grid: pre-pulls. Their rounds depend on no reward and are left out.
    """
    return {f"b={b}": mean(_modified(evidence, family, eta, b)) for b in b_grid}


def largest_realised_levels(
    evidence: Evidence, *, family: str, eta: int, b_grid: Sequence[int]
) -> Mapping[str, Estimate]:
    """Return the largest realised level of any run over Lemma 5's, for each b."""
    levels = {b: _modified(evidence, family, eta, b) for b in b_grid}
    return {f"b={b}": exact(level.max(), level.size) for b, level in levels.items()}


def _modified(evidence: Evidence, family: str, eta: int, b: int) -> Values:
    simulation, horizon = f"{family}-verdicts", horizon_of(evidence, family)
    where: dict[str, Any] = {"eta": eta, "b": b}
    sums = evidence.per_arm(simulation, "inverse_counts", **where)
    sampled = np.maximum(sums - prepull_sums(b, sums.shape[1], horizon), 0.0)
    c = evidence.parameter(simulation, "c", **where)
    return np.atleast_1d(instance_specific_gdp(sampled, c)) / modified_ts_gdp(b, c, horizon)


def prepull_sums(b: int, arms: int, horizon: int) -> Values:
    """Return the part of the sums of 1/(n + 1) that the pre-pulls add, for each arm."""
    index = np.arange(arms)
    first = np.clip(horizon - b * index, 0, b)
    later = np.clip(horizon - b * (index + 1), 0, b * (arms - 1 - index))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, b + 1.0))])
    return np.asarray(np.maximum(harmonic[first] - 1.0, 0.0) + later / (b + 1))
