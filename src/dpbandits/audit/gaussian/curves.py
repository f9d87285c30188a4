"""Curves behind the figures of the audit of Gaussian Thompson sampling.

Every frame has the columns series, its tags, x, y, lo, hi, as the exact results of the papers do.
Lower bounds are one-sided, so that lo = hi = y; ``runs`` is 0 where they are exact. Small chances
are a tag, since witnesses that cannot be observed are drawn apart.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from dpbandits import privacy
from dpbandits.audit.bounds import clopper_pearson
from dpbandits.audit.gaussian.competitor import ideal_mu
from dpbandits.audit.gaussian.lattice import loss_law
from dpbandits.audit.gaussian.pairs import hold_pair
from dpbandits.audit.gaussian.sampled import simulate
from dpbandits.audit.gaussian.scale import FULL, Scale
from dpbandits.audit.gaussian.scores import ts_gaussian
from dpbandits.audit.gaussian.thompson_rows import DELTAS, SAMPLED_ZETA
from dpbandits.audit.gaussian.tradeoff import OBSERVABLE, tradeoff_curve
from dpbandits.audit.rows import AuditRow
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key

TRADEOFF_HORIZON = 100
"""T of the trade-off curve."""

_MEASURED = ("x", "y", "lo", "hi")
_POINTS = 200


def _curve(series: str, tags: dict[str, Any], x: ArrayLike, y: ArrayLike) -> pd.DataFrame:
    return pd.DataFrame({"series": series, **tags, "x": x, "y": y, "lo": y, "hi": y})


def _joined(curves: Iterable[pd.DataFrame]) -> pd.DataFrame:
    frame = pd.concat(list(curves), ignore_index=True)
    return frame[[name for name in frame if name not in _MEASURED] + list(_MEASURED)]


def _bounds(rows: list[AuditRow], x: list[float], series: str, **tags: Any) -> pd.DataFrame:
    """Return lower bounds with the log10 of their events' chances, the smaller of both errors."""
    tags["runs"] = [row.runs for row in rows]
    tags["log10_chance"] = [min(row.log10_alpha, row.log10_beta) for row in rows]
    tags["claimed"] = [row.claimed for row in rows]
    return _curve(series, tags, x, [row.lower for row in rows])


def _parameter(row: AuditRow, name: str) -> float:
    """Return a number from the parameters of a row, such as ``b=10, c=2``."""
    return float(dict(part.split("=") for part in row.parameters.split(", "))[name])


def theorem_3_curves(rows: list[AuditRow]) -> pd.DataFrame:
    """Return how tight Theorem 3 of ts-is-dp is.

    Tags: kind (``claimed`` or ``lower``), engine, arms, runs, log10_chance, claimed. x: T. y: mu.

    Args:
        rows: with those of AUD-2.
    """
    chosen = [row for row in rows if row.statement == "AUD-2"]
    horizons = np.array(sorted({row.horizon for row in chosen}), np.float64)

    def curves() -> Iterator[pd.DataFrame]:
        for name, levels in (("sqrt(T/2)", horizons / 2.0), ("sqrt(T)", horizons)):
            tags = {"kind": "claimed", "engine": "", "arms": 0, "runs": 0}
            yield _curve(f"claimed, {name}", tags, horizons, np.sqrt(levels))
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

    Args:
        rows: with those of AUD-4.
    """
    chosen = [row for row in rows if row.statement == "AUD-4"]

    def curves() -> Iterator[pd.DataFrame]:
        for delta in DELTAS:
            part = [row for row in chosen if _parameter(row, "delta") == delta]
            x = [float(row.horizon) for row in part]
            tags = {"kind": "claimed", "delta": delta, "runs": 0}
            yield _curve(f"claimed, delta={delta:g}", tags, x, [row.claimed for row in part])
            yield _bounds(part, x, f"A lattice, delta={delta:g}", kind="lower", delta=delta)

    return _joined(curves())


def tradeoff_curves(scale: Scale = FULL, root: int = DEFAULT_ROOT_SEED) -> pd.DataFrame:
    """Return the trade-off between both errors at T = 100, two arms.

    Series ``exact``; ``claimed``, the Gaussian curve of sqrt(T/2); ``simulated``, thresholds on the
    ratio in simulated outputs, with 95 % intervals x_lo to x_hi and lo to hi (Clopper and Pearson).
    Tags: runs. x: alpha. y: beta.

    Args:
        scale: ``FULL``, or ``QUICK`` with fewer runs.
        root: seed of the simulated outputs.
    """
    horizon = TRADEOFF_HORIZON
    sampler, pair = ts_gaussian(horizon), hold_pair(SAMPLED_ZETA, horizon)
    alpha, beta = tradeoff_curve(loss_law(sampler, pair.tables))
    seen = (np.minimum(alpha, beta) >= OBSERVABLE) & (np.maximum(alpha, beta) <= 1.0 - OBSERVABLE)
    x, y = _thinned(alpha[seen], beta[seen])
    level = privacy.ts_gaussian_gdp(horizon)
    runs = max(runs for arms, _, runs in scale.sampled if arms == 2)
    streams = [
        run_generator(root, stream_key(["audit", "trade-off", horizon, runs, law]), 0)
        for law in ("x", "x'")
    ]
    first, second = (
        simulate(sampler, pair.tables, runs, stream, under=law).ratios
        for law, stream in enumerate(streams)
    )
    return _joined(
        [
            _curve("exact", {"runs": 0}, x, y),
            _curve("claimed", {"runs": 0}, x, ndtr(-ndtri(x) - level)),
            _boxes(first, second),
        ]
    )


def _thinned(
    alpha: NDArray[np.float64], beta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points evenly spread in the probits of alpha and of beta."""
    place = ndtri(alpha) - ndtri(beta)
    wanted = np.linspace(place[0], place[-1], _POINTS)
    index = np.unique(np.searchsorted(place, wanted).clip(0, place.size - 1))
    return alpha[index], beta[index]


def _boxes(first: NDArray[np.float64], second: NDArray[np.float64]) -> pd.DataFrame:
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

    Args:
        rows: with those of AUD-3.
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

    Args:
        rows: with those of AUD-7 and AUD-8.
    """
    names = {"AUD-7": "Theorem 4.4", "AUD-8": "tight version"}

    def curves() -> Iterator[pd.DataFrame]:
        for horizon in dict.fromkeys(row.horizon for row in rows if row.statement == "AUD-7"):
            tags = {"horizon": horizon, "runs": 0}
            for statement, name in names.items():
                part = _budget_part(rows, statement, horizon, "A lattice")
                x = [_parameter(row, "alpha") for row in part]
                y = [row.claimed for row in part]
                yield _curve(f"{name}, T={horizon}", {"kind": "claimed", **tags}, x, y)
            for engine in ("A lattice", "A far tail"):
                part = _budget_part(rows, "AUD-7", horizon, engine)
                x = [_parameter(row, "alpha") for row in part]
                series = f"{engine}, T={horizon}"
                yield _bounds(part, x, series, kind="lower", horizon=horizon)
            ideal = [ideal_mu(alpha, horizon) for alpha in x]
            yield _curve(f"ideal competitor, T={horizon}", {"kind": "ideal", **tags}, x, ideal)

    return _joined(curves())


def _budget_part(rows: list[AuditRow], statement: str, horizon: int, engine: str) -> list[AuditRow]:
    wanted = (statement, horizon, engine)
    return [row for row in rows if (row.statement, row.horizon, row.engine) == wanted]
