"""Values that figures derive: slopes, the price of privacy, Nash regret over epsilon.

Nash regret has its bias of first order in 1/runs subtracted, intervals are 95 % intervals by the
infinitesimal jackknife. Every frame has the columns series, its tags, x, y, lo, hi and runs.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims.estimates import as_measured, ratio, slope
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.metrics import NASH_REGRET
from dpbandits.papers.dp_ncb.instances import ARMS
from dpbandits.papers.dp_ncb.theory import EPSILON, GLOBAL, LOCAL, term_ratio
from dpbandits.reporting.lines import nash_quantities, nash_regrets

Loader = Callable[[str], pd.DataFrame]

VARIANTS = ("as-coded", "repaired")
"""As written both algorithms play uniformly at the horizons and epsilons of these figures."""

PAPER = "as-written"
"""Stands for the variant of what is not simulated."""

LEVEL = 0.05
"""Chance that an interval misses."""

SHARES = tuple(float(share) for share in np.geomspace(0.3, 1.0, 20))
"""Times of a slope over time, as shares of the horizon."""

TEN_MILLION = ("panels-c-to-e", "ten-million")
HORIZONS = {"one-million": 10**6, TEN_MILLION: 10**7, "panel-b": 10**8}
"""Results -> horizon; each has runs of its own."""

NAMES = {"ncb": "NCB", "gdp-ncb": "GDP-NCB", "ldp-ncb": "LDP-NCB"}

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 10.0, 100.0)
"""Epsilon of the simulations with T = 1e7."""


def _series(frames: Loader, algorithm: str, variant: str, **tags: Any) -> SeriesQuery:
    own = {"epsilon": None, "version": None} if algorithm == "ncb" else {"epsilon": EPSILON}
    tags = {"in": TEN_MILLION, "metric": "nash_regret", "algorithm": algorithm, **own, **tags}
    return SeriesQuery(Evidence(frames), {**tags, "variant": variant})


def _points(x: Iterable[float], y: Iterable[Any], **tags: Any) -> pd.DataFrame:
    """Return rows of estimates with their intervals; of the same x the first."""
    rows = []
    for place, estimate in zip(x, y, strict=True):
        low, high = estimate.interval(LEVEL)
        numbers = {"x": float(place), "y": estimate.value, "lo": low, "hi": high}
        rows.append({**tags, **numbers, "runs": estimate.runs})
    return pd.DataFrame(rows).drop_duplicates("x")


def _exact(x: Iterable[float], y: Iterable[float], **tags: Any) -> pd.DataFrame:
    places, values = list(x), list(y)
    frame = pd.DataFrame({"x": places, "y": values, "lo": values, "hi": values, "runs": 0})
    return frame.drop_duplicates("x").assign(**tags)


def slopes(frames: Loader) -> pd.DataFrame:
    """Return the curves of Figure 1(e) with slopes fitted on [0.3 T, T] (claims C9, C10)."""
    rows = []
    for variant in VARIANTS:
        for algorithm, name in NAMES.items():
            curve = _series(frames, algorithm, variant)
            tags = {"variant": variant, "algorithm": algorithm}
            times, regrets = curve.regrets
            named = {"series": f"{name}, {variant}", "part": "curve", **tags}
            rows.append(_points(times, regrets, **named))
            fit = {"series": f"fit of {name}, {variant}", **tags}
            rows.append(_fit(curve, times[-1], **fit))
        # The last one is LDP-NCB's.
        level = curve.having(share=0.3).number().value
        rows += [_guide(level, times[-1], exponent, variant) for exponent in (-0.5, -1.0)]
    return pd.concat(rows, ignore_index=True)


def _fit(curve: SeriesQuery, horizon: float, **tags: Any) -> pd.DataFrame:
    logs = [as_measured(curve.having(share=share).number()).log() for share in SHARES]
    fitted = slope(np.log(SHARES), logs)
    low, high = fitted.interval(LEVEL)
    level = float(np.mean([log.value for log in logs]) - fitted.value * np.mean(np.log(SHARES)))
    ends = np.array([0.1, 1.0])
    line = np.exp(level + fitted.value * np.log(ends))
    slopes_of = {"slope": fitted.value, "slope_lo": low, "slope_hi": high}
    return _exact(ends * horizon, line, part="fit", **slopes_of, **tags)


def _guide(level: float, horizon: float, exponent: float, variant: str) -> pd.DataFrame:
    shares = np.array([0.3, 1.0])
    tags = {"series": f"slope {exponent:g}, {variant}", "variant": variant, "part": "guide"}
    line = level * (shares / 0.3) ** exponent
    return _exact(shares * horizon, line, slope=exponent, **tags)


def price_over_horizons(frames: Loader) -> pd.DataFrame:
    """Return Nash regret of GDP-NCB over that of NCB, epsilon = 0.2 (claim C18), against T."""
    measured = []
    for variant in VARIANTS:
        private, plain = (
            [_series(frames, algorithm, variant, **{"in": name}) for name in HORIZONS]
            for algorithm in (GLOBAL, "ncb")
        )
        # At the quick scale the runs are shorter than their names say.
        ends = [curve.times[-1] for curve in private]
        regrets = [[curve.number() for curve in curves] for curves in (private, plain)]
        measured.append(_measured(variant, GLOBAL, ends, map(ratio, *regrets)))
    return pd.concat([*measured, _bound(ends, [term_ratio(end, EPSILON, ARMS) for end in ends])])


def price_over_epsilon(frames: Loader) -> pd.DataFrame:
    """Return the same ratio at T = 1e7 against epsilon from 0.2 to 100 (claim C20)."""
    epsilons = [epsilon for epsilon in EPSILONS if epsilon >= EPSILON]
    measured = []
    for variant in VARIANTS:
        plain = _series(frames, "ncb", variant)
        private = [_series(frames, GLOBAL, variant, epsilon=epsilon) for epsilon in epsilons]
        prices = [ratio(cost.number(), plain.number()) for cost in private]
        measured.append(_measured(variant, GLOBAL, epsilons, prices))
    # The last one is the repaired NCB.
    end = plain.times[-1]
    bound = [term_ratio(end, epsilon, ARMS) for epsilon in epsilons]
    return pd.concat([*measured, _bound(epsilons, bound)])


def _measured(
    variant: str, algorithm: str, x: Iterable[float], y: Iterable[Any], **tags: Any
) -> pd.DataFrame:
    named = {"series": f"measured, {variant}", "variant": variant, "part": "measured"}
    return _points(x, y, **named, algorithm=algorithm, **tags)


def _bound(x: Iterable[float], y: Iterable[float]) -> pd.DataFrame:
    return _exact(x, y, series="bound", variant=PAPER, part="bound")


def regret_over_epsilon(frames: Loader) -> pd.DataFrame:
    """Return the Nash regret of LDP-NCB at T = 1e7 against epsilon from 0.1 to 2 (claim C21)."""
    epsilons = [epsilon for epsilon in EPSILONS if epsilon <= 2.0]
    measured = []
    for variant in VARIANTS:
        regrets = {
            epsilon: as_measured(_series(frames, LOCAL, variant, epsilon=epsilon).number())
            for epsilon in epsilons
        }
        steep = slope(np.log([0.2, 0.5]), [regrets[0.2].log(), regrets[0.5].log()])
        low, high = steep.interval(LEVEL)
        tags = {"slope": steep.value, "slope_lo": low, "slope_hi": high}
        measured.append(_measured(variant, LOCAL, epsilons, regrets.values(), **tags))
    first = measured[0].set_index("x")["y"]
    line = [first[EPSILON] * EPSILON / epsilon for epsilon in epsilons]
    return pd.concat(
        [*measured, _exact(epsilons, line, series="guide", variant=PAPER, part="guide")]
    )


def price_of_anytime(frames: Loader) -> pd.DataFrame:
    """Return Nash regret of the anytime versions over that of runs given the horizon (F11)."""
    rows = []
    for algorithm, variant in product((GLOBAL, LOCAL), VARIANTS):
        anytime = _series(frames, f"anytime-{algorithm}", variant, **{"in": "anytime"})
        given = _series(frames, algorithm, variant, **{"in": "known-horizon"})
        # A small scale ends between two windows.
        played = {*frames("known-horizon")["horizon"]}
        ends = [end for end in anytime.times if end in played]
        known = [given.having(horizon=int(end)).number() for end in ends]
        prices = [
            ratio(anytime.having(t=int(end)).number(), at)
            for end, at in zip(ends, known, strict=True)
        ]
        tags = {"series": f"{NAMES[algorithm]}, {variant}", "variant": variant}
        rows.append(_points(ends, prices, algorithm=algorithm, **tags))
    return pd.concat(rows, ignore_index=True)


def bias(frames: Loader) -> pd.DataFrame:
    """Return Nash regret of curves of few runs minus that of 50 runs by means over bins."""
    rows = {runs: _nash_rows(frames(f"curves-of-{runs}")) for runs in (2, 10, 50)}
    reference = nash_regrets(rows[50], "binned")
    tables = []
    for runs, estimate in [
        (2, "plain"),
        (10, "plain"),
        (50, "plain"),
        (2, "corrected"),
        (10, "corrected"),
    ]:
        curve = nash_regrets(rows[runs], estimate)
        y = curve["y"] - reference["y"]
        own, other = ((table["hi"] - table["lo"]) / 2 for table in (curve, reference))
        # Other curves have other runs. Of the same 50 the noise is the same: the bias is left.
        half = np.sqrt(own**2 + other**2) if runs != 50 else own
        tags: dict[str, Any] = {
            "series": f"{runs} runs, {estimate}",
            "runs_per_curve": runs,
            "estimate": estimate,
        }
        tables.append(curve.assign(y=y, lo=y - half, hi=y + half, **tags))
    return pd.concat(tables, ignore_index=True)


def _nash_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["metric"].isin(nash_quantities(NASH_REGRET))]


DERIVED: dict[str, Callable[[Loader], pd.DataFrame]] = {
    "slopes": slopes,
    "price-over-horizons": price_over_horizons,
    "price-over-epsilon": price_over_epsilon,
    "regret-over-epsilon": regret_over_epsilon,
    "price-of-anytime": price_of_anytime,
    "bias": bias,
}
