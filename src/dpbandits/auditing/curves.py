"""Curves of exact bounds, as the figures of the audit draw them.

Every frame has the columns series, its tags, x, y, lo, hi, as the exact results of the papers do; y
is a bound or a bound over its claim. Lower bounds are one-sided, so that lo = hi = y; ``runs`` is 0
where they are exact. Small chances are a tag, since witnesses that cannot be observed are drawn
apart.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpbandits import privacy
from dpbandits.auditing.best_arm import (
    ANGLES,
    DIAGONAL,
    NORMS,
    difference_loss,
    dp_od_scales,
    unit_vectors,
)
from dpbandits.auditing.events import LOG10, Values, clopper_pearson
from dpbandits.auditing.gdp_ncb import exploration_witness
from dpbandits.auditing.inputs import hold
from dpbandits.auditing.lattice import LEAST, ideal_mu, loss_law, tradeoff_curve
from dpbandits.auditing.likelihood import simulate
from dpbandits.auditing.rows import AuditRow
from dpbandits.auditing.statements import FIXED_LENGTH
from dpbandits.auditing.thompson import ts_gaussian
from dpbandits.auditing.thompson_statements import DELTAS, SAMPLED_ZETA
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key

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


def ratios_by_horizon(rows: Iterable[AuditRow], epsilon: float) -> pd.DataFrame:
    """Return the bound of GDP-NCB's releases over its claim, by T.

    Tags: variant, scaled, log10_alpha. x: T. Beside them stands what all releases would cost if
    each lost the whole of its share, floor(log2((T - W)/2 + 1)) / ln T.
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
                [witness.epsilon / STOP_EPSILON for witness in witnesses],
                threshold=threshold,
                log10_alpha=[witness.log_unlikely / LOG10 for witness in witnesses],
            )
        )
    return pd.concat(curves, ignore_index=True)


def ratios_by_angle(epsilon: float = 1.0) -> pd.DataFrame:
    """Return the loss of DP-OD over epsilon by the angle of the second of two unit vectors.

    Tags: norm, and log10_alpha of the event. x: degrees; the first vector is at 46 degrees.
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
                [loss.epsilon / epsilon for loss in losses],
                norm=norm,
                log10_alpha=[loss.log_unlikely / LOG10 for loss in losses],
            )
        )
    return pd.concat(curves, ignore_index=True)


TRADEOFF_HORIZON = 100
"""T of the trade-off curve."""

_MEASURED = ("x", "y", "lo", "hi")
_POINTS = 200


def _joined(curves: Iterable[pd.DataFrame]) -> pd.DataFrame:
    frame = pd.concat(list(curves), ignore_index=True)
    return frame[[name for name in frame if name not in _MEASURED] + list(_MEASURED)]


def _bounds(rows: list[AuditRow], x: list[float], series: str, **tags: Any) -> pd.DataFrame:
    """Return lower bounds with the log10 of their events' chances, the smaller of both errors."""
    tags["runs"] = [row.runs for row in rows]
    tags["log10_chance"] = [min(row.log10_alpha, row.log10_beta) for row in rows]
    tags["claimed"] = [row.claimed for row in rows]
    return _curve(series, x, [row.lower for row in rows], **tags)


def _parameter(row: AuditRow, name: str) -> float:
    """Return a number from the parameters of a row, such as ``b=10, c=2``."""
    return float(dict(part.split("=") for part in row.parameters.split(", "))[name])


def theorem_3_curves(rows: list[AuditRow]) -> pd.DataFrame:
    """Return how tight Theorem 3 of ts-is-dp is.

    Tags: kind (``claimed`` or ``lower``), engine, arms, runs, log10_chance, claimed. x: T. y: mu.
    """
    chosen = [row for row in rows if row.statement == "AUD-2"]
    horizons = np.array(sorted({row.horizon for row in chosen}), np.float64)

    def curves() -> Iterator[pd.DataFrame]:
        for name, levels in (("sqrt(T/2)", horizons / 2.0), ("sqrt(T)", horizons)):
            tags = {"kind": "claimed", "engine": "", "arms": 0, "runs": 0}
            yield _curve(f"claimed, {name}", horizons, np.sqrt(levels), **tags)
        keys = dict.fromkeys((row.engine, row.arms) for row in chosen)
        for engine, arms in keys:
            part = [row for row in chosen if (row.engine, row.arms) == (engine, arms)]
            x = [float(row.horizon) for row in part]
            series = f"{engine}, K={arms}"
            yield _bounds(part, x, series, kind="lower", engine=engine, arms=arms)

    return _joined(curves())


def epsilon_curves(rows: list[AuditRow]) -> pd.DataFrame:
    """Return epsilon at delta by Theorem 3 of ts-is-dp and its lower bounds.

    Tags: kind, delta, runs, log10_chance, claimed. x: T. y: epsilon.
    """
    chosen = [row for row in rows if row.statement == "AUD-4"]

    def curves() -> Iterator[pd.DataFrame]:
        for delta in DELTAS:
            part = [row for row in chosen if _parameter(row, "delta") == delta]
            x = [float(row.horizon) for row in part]
            tags = {"kind": "claimed", "delta": delta, "runs": 0}
            yield _curve(f"claimed, delta={delta:g}", x, [row.claimed for row in part], **tags)
            yield _bounds(part, x, f"exact lattice, delta={delta:g}", kind="lower", delta=delta)

    return _joined(curves())


def tradeoff_curves(runs: int, seed: int = DEFAULT_ROOT_SEED) -> pd.DataFrame:
    """Return the trade-off between both errors at T = 100, two arms.

    Series ``exact``; ``claimed``, the Gaussian curve of sqrt(T/2); ``simulated``, thresholds on the
    ratio in simulated outputs, with 95 % intervals x_lo to x_hi and lo to hi (Clopper and Pearson).
    Tags: runs. x: alpha. y: beta.
    """
    horizon = TRADEOFF_HORIZON
    sampler, pair = ts_gaussian(horizon), hold(SAMPLED_ZETA, horizon)
    alpha, beta = tradeoff_curve(loss_law(sampler, pair))
    seen = (np.minimum(alpha, beta) >= LEAST) & (np.maximum(alpha, beta) <= 1.0 - LEAST)
    x, y = _thinned(alpha[seen], beta[seen])
    level = privacy.ts_gaussian_gdp(horizon)
    streams = [
        run_generator(seed, stream_key(["audit", "trade-off", horizon, runs, law]), 0)
        for law in ("x", "x'")
    ]
    first, second = (
        simulate(sampler, pair, runs, stream, second=bool(law))
        for law, stream in enumerate(streams)
    )
    return _joined(
        [
            _curve("exact", x, y, runs=0),
            _curve("claimed", x, ndtr(-ndtri(x) - level), runs=0),
            _boxes(first, second),
        ]
    )


def _thinned(alpha: Values, beta: Values) -> tuple[Values, Values]:
    """Return points evenly spread in the probits of alpha and of beta."""
    place = ndtri(alpha) - ndtri(beta)
    wanted = np.linspace(place[0], place[-1], _POINTS)
    index = np.unique(np.searchsorted(place, wanted).clip(0, place.size - 1))
    return alpha[index], beta[index]


def _boxes(first: Values, second: Values) -> pd.DataFrame:
    """Return thresholds on simulated ratios with the intervals of both errors."""
    lines = []
    for tau in np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0.05, 0.95, 13))):
        rejected, missed = int((first >= tau).sum()), int((second < tau).sum())
        x_lo, x_hi = clopper_pearson(rejected, first.size, 0.05)
        lo, hi = clopper_pearson(missed, second.size, 0.05)
        x, y = rejected / first.size, missed / second.size
        lines.append({"x": x, "x_lo": x_lo, "x_hi": x_hi, "y": y, "lo": lo, "hi": hi})
    return pd.DataFrame(lines).assign(series="simulated", runs=first.size)


def modified_curves(rows: list[AuditRow]) -> pd.DataFrame:
    """Return lower bounds on mu of Modified TS over the pre-pulls, at fixed eta.

    Tags: engine, horizon, eta, c, runs, log10_chance, claimed. x: b. y: mu over eta.
    """
    chosen = [row for row in rows if row.statement == "AUD-3"]
    keys = dict.fromkeys((row.engine, row.horizon, round(row.claimed, 9)) for row in chosen)

    def curves() -> Iterator[pd.DataFrame]:
        for engine, horizon, eta in keys:
            part = [
                row
                for row in chosen
                if (row.engine, row.horizon, round(row.claimed, 9)) == (engine, horizon, eta)
            ]
            series = f"{engine}, T={horizon}, eta={eta:g}"
            x = [_parameter(row, "b") for row in part]
            factors = [_parameter(row, "c") for row in part]
            tags = {"engine": engine, "horizon": horizon, "eta": eta, "c": factors}
            curve = _bounds(part, x, series, **tags)
            curve[["y", "lo", "hi"]] = curve[["y", "lo", "hi"]] / eta
            yield curve

    return _joined(curves())


def budget_curves(rows: list[AuditRow]) -> pd.DataFrame:
    """Return the bounds of DP-TS-UCB and lower bounds over alpha, at several T.

    Tags: kind (``claimed``, ``lower``, or ``ideal``: the best that the first epoch can leak against
    a known threshold), horizon, runs, log10_chance, claimed. x: alpha. y: mu.
    """
    names = {"AUD-7": "Theorem 4.4", "AUD-8": "tight version"}

    def curves() -> Iterator[pd.DataFrame]:
        for horizon in dict.fromkeys(row.horizon for row in rows if row.statement == "AUD-7"):
            tags = {"horizon": horizon, "runs": 0}
            for statement, name in names.items():
                part = _budget_part(rows, statement, horizon, "exact lattice")
                x = [_parameter(row, "alpha") for row in part]
                y = [row.claimed for row in part]
                yield _curve(f"{name}, T={horizon}", x, y, kind="claimed", **tags)
            for engine in ("exact lattice", "exact sequence"):
                part = _budget_part(rows, "AUD-7", horizon, engine)
                x = [_parameter(row, "alpha") for row in part]
                series = f"{engine}, T={horizon}"
                yield _bounds(part, x, series, kind="lower", horizon=horizon)
            ideal = [ideal_mu(alpha, horizon) for alpha in x]
            yield _curve(f"ideal competitor, T={horizon}", x, ideal, kind="ideal", **tags)

    return _joined(curves())


def _budget_part(rows: list[AuditRow], statement: str, horizon: int, engine: str) -> list[AuditRow]:
    wanted = (statement, horizon, engine)
    return [row for row in rows if (row.statement, row.horizon, row.engine) == wanted]
