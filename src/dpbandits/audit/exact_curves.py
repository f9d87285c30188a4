"""Curves of exact bounds: bounds over claims, GDP-NCB over T and M, DP-OD over the angle.

Columns: series, tags, x, y, lo, hi, with lo = hi = y, the bound over the claim.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpbandits.audit.releases.best_arm import difference_loss
from dpbandits.audit.releases.dp_od import ANGLES, DIAGONAL, NORMS, dp_od_scales, unit_vectors
from dpbandits.audit.releases.gdp_ncb_rows import FIXED_LENGTH
from dpbandits.audit.releases.stop_test import exploration_witness
from dpbandits.audit.rows import AuditRow

LEAST_LOG10 = -6.0
"""log10 of the chance from which on an event is called observable."""

ANGLE_BUDGET = 1002
"""T of the curves over the angle."""

STOP_HORIZON, STOP_EPSILON = 64, 1.0
"""T and epsilon of the curves over the rounds of alternation."""

NAMES = {
    ("AUD-13", ""): "as coded",
    ("AUD-14", FIXED_LENGTH): "Phase I of fixed length, natural logarithm",
    ("AUD-15", ""): "repaired",
}
"""(Statement, interpretation) of the curves over T -> their names."""


def _curve(series: str, x: ArrayLike, y: ArrayLike, **tags: object) -> pd.DataFrame:
    return pd.DataFrame({"series": series, **tags, "x": x, "y": y, "lo": y, "hi": y})


def largest_ratios(rows: Iterable[AuditRow]) -> pd.DataFrame:
    """Return the largest bound over its claim by statement, algorithm, variant, interpretation.

    Tags: algorithm, variant, interpretation, statement, scaled and log10_alpha. Series: ``exact``,
    over all events, or ``observable``, over those with a chance of 1e-6 and more under both inputs.
    x: number of the group in their order, from 0. Rows that claim
    nothing or that no finite epsilon covers are left out.

    Args:
        rows: of pure differential privacy; those of another measure are left out.
    """
    groups: dict[tuple[str, ...], list[AuditRow]] = {}
    for row in rows:
        if row.measure == "epsilon" and math.isfinite(row.ratio) and math.isfinite(row.claimed):
            scaled = "scaled" if row.scaled else ""
            key = (row.statement, row.algorithm, row.variant, row.interpretation, scaled)
            groups.setdefault(key, []).append(row)
    bars = []
    for place, group in enumerate(groups.values()):
        observable = [row for row in group if row.log10_alpha >= LEAST_LOG10]
        for series, candidates in (("exact", group), ("observable", observable)):
            if candidates:
                bars.append(_bar(series, place, max(candidates, key=lambda row: row.ratio)))
    return pd.concat(bars, ignore_index=True)


def _bar(series: str, place: int, row: AuditRow) -> pd.DataFrame:
    return _curve(
        series,
        [place],
        [row.ratio],
        algorithm=row.algorithm,
        variant=row.variant,
        interpretation=row.interpretation,
        statement=row.statement,
        scaled=row.scaled,
        log10_alpha=row.log10_alpha,
    )


def ratios_by_horizon(rows: Iterable[AuditRow], epsilon: float) -> pd.DataFrame:
    """Return the bound of GDP-NCB's releases over its claim, by T.

    Tags: variant, scaled, log10_alpha. x: T. Beside them stands what all releases would cost if
    each lost the whole of its share, floor(log2((T - W)/2 + 1)) / ln T.

    Args:
        rows: of ``gdp_ncb_rows``.
        epsilon: of the rows that are drawn.
    """
    chosen = [
        row
        for row in rows
        if row.algorithm == "gdp-ncb"
        and row.claimed == epsilon
        and (row.statement, row.interpretation) in NAMES
    ]
    curves = []
    for key, name in NAMES.items():
        for scaled in (False, True):
            points = [
                row
                for row in chosen
                if (row.statement, row.interpretation) == key and row.scaled == scaled
            ]
            points.sort(key=lambda row: row.horizon)
            if points:
                curves.append(
                    _curve(
                        f"{name}, {'small' if scaled else 'published'} constants",
                        [row.horizon for row in points],
                        [row.ratio for row in points],
                        variant=points[0].variant,
                        scaled=scaled,
                        log10_alpha=[row.log10_alpha for row in points],
                    )
                )
    horizons = sorted({row.horizon for row in chosen if not row.scaled})
    return pd.concat([*curves, _formula(horizons)], ignore_index=True)


def _formula(horizons: Sequence[int]) -> pd.DataFrame:
    """Return the number of releases times epsilon / ln T, over epsilon."""
    left = [horizon - math.isqrt(horizon) - 1 for horizon in horizons]
    ratios = [
        math.floor(math.log2(rounds / 2 + 1)) / math.log(horizon)
        for rounds, horizon in zip(left, horizons, strict=True)
    ]
    return _curve("number of releases / ln T", horizons, ratios, variant="formula", scaled=False)


def ratios_by_alternation(thresholds: Sequence[float] = (0.5, 1.0, 2.0, 4.0)) -> pd.DataFrame:
    """Return the bound from GDP-NCB's stop test as written over its claim, by the rounds M.

    Tags: threshold, log10_alpha. x: M = 2 n + 1. T = 64 and epsilon = 1.

    Args:
        thresholds: small ones; for n below them the event is not exact and left out.
    """
    scale = math.log(STOP_HORIZON) / STOP_EPSILON
    curves = []
    for threshold in thresholds:
        pulls = range(math.ceil(threshold), (STOP_HORIZON - 1) // 2 + 1)
        witnesses = [exploration_witness(threshold, scale, n) for n in pulls]
        curves.append(
            _curve(
                f"threshold {threshold:g}",
                [2 * n + 1 for n in pulls],
                [witness.log_ratio / STOP_EPSILON for witness in witnesses],
                threshold=threshold,
                log10_alpha=[
                    (witness.log_probability + witness.log_arms) / math.log(10.0)
                    for witness in witnesses
                ],
            )
        )
    return pd.concat(curves, ignore_index=True)


def ratios_by_angle(epsilon: float = 1.0) -> pd.DataFrame:
    """Return the loss of DP-OD over epsilon by the angle of the second of two unit vectors.

    Tags: norm, and log10_alpha of the event. x: degrees; the first vector is at 46 degrees.

    Args:
        epsilon: above 0.
    """
    pulls = -(-(ANGLE_BUDGET - 2) // 2)
    independent = np.abs(np.sin(np.radians(ANGLES - DIAGONAL[0]))) > 1e-9
    curves = []
    for norm in NORMS:
        angles = ANGLES[independent]
        losses = [
            difference_loss(
                pulls, epsilon, scales=dp_od_scales(unit_vectors(DIAGONAL[0], float(angle)), norm)
            )
            for angle in angles
        ]
        curves.append(
            _curve(
                f"noise by the {norm} norm",
                angles,
                [loss.value / epsilon for loss in losses],
                norm=norm,
                log10_alpha=[loss.log_chance / math.log(10.0) for loss in losses],
            )
        )
    return pd.concat(curves, ignore_index=True)
