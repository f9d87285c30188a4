"""What figures derive from simulations: slopes, the price of privacy, Nash regret over epsilon.

Nash regret has its bias of first order in 1/runs subtracted, intervals are 95 % intervals by the
infinitesimal jackknife. Every frame has the columns series, its tags, x, y, lo, hi and runs.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims import Evidence
from dpbandits.claims.jackknife import Measure, ratio_of, slope
from dpbandits.claims.nash import Curves, nash_curves, nash_regret
from dpbandits.papers.dp_ncb.instances import drawn_means

Frames = Callable[[str], pd.DataFrame]

VARIANTS = ("as-coded", "repaired")
"""As written both algorithms play uniformly at these horizons, whatever epsilon is."""

PAPER = "as-written"
"""Stands for the variant of what is not simulated."""

EPSILON = 0.2
"""Epsilon of Figures 1(b) and 1(e)."""

ALPHA = 0.05

WINDOW = tuple(float(share) for share in np.geomspace(0.3, 1.0, 20))
"""Times of a fitted slope, as shares of the horizon."""

NAMES = {"ncb": "NCB", "gdp-ncb": "GDP-NCB", "ldp-ncb": "LDP-NCB"}

_BY_HORIZON = {10**6: "one-million", 10**7: "panels-c-to-e", 10**8: "panel-b"}
_EPSILONS = {0.1: "ten-million", 0.2: "panels-c-to-e", 0.5: "panels-c-to-e", 1.0: "panels-c-to-e"}
_EPSILONS |= {2.0: "panels-c-to-e", 10.0: "ten-million", 100.0: "ten-million"}


@dataclass(frozen=True, eq=False)
class _Curve:
    """The Nash curves of one algorithm in one simulation."""

    curves: Curves

    @property
    def times(self) -> np.ndarray:
        """The recorded times, increasing."""
        times: np.ndarray = next(iter(self.curves.values())).times
        return times

    def regret(self, share: float = 1.0) -> Measure:
        """Return the Nash regret at the recorded time nearest to a share of the horizon."""
        index = int(np.abs(self.times - share * self.times[-1]).argmin())
        return nash_regret(self.curves, index, subtract_bias=True)

    def regrets(self) -> list[Measure]:
        """Return the Nash regret at every recorded time."""
        indices = range(self.times.size)
        return [nash_regret(self.curves, index, subtract_bias=True) for index in indices]


def _curve(
    frames: Frames, simulation: str, algorithm: str, variant: str, epsilon: float = EPSILON
) -> _Curve:
    tags: dict[str, Any] = {"algorithm": algorithm, "variant": variant}
    if algorithm != "ncb":
        tags["epsilon"] = epsilon
    return _Curve(nash_curves(Evidence.of(frames, root_seed=0), simulation, **tags))


def _points(x: Iterable[float], y: Iterable[Any], **tags: Any) -> pd.DataFrame:
    """Return rows of estimates with their intervals; of the same x the first."""
    rows = []
    for place, estimate in zip(x, y, strict=True):
        low, high = estimate.interval(ALPHA)
        numbers = {"x": float(place), "y": estimate.value, "lo": low, "hi": high}
        rows.append({**tags, **numbers, "runs": estimate.runs})
    return pd.DataFrame(rows).drop_duplicates("x")


def _exact(x: Iterable[float], y: Iterable[float], **tags: Any) -> pd.DataFrame:
    places, values = list(x), list(y)
    frame = pd.DataFrame({"x": places, "y": values, "lo": values, "hi": values, "runs": 0})
    return frame.drop_duplicates("x").assign(**tags)


def slopes(frames: Frames) -> pd.DataFrame:
    """Return the curves of Figure 1(e) with slopes fitted on [0.3 T, T] (claims C9, C10).

    Tags: variant, algorithm, part (``curve``; ``fit``, a straight line from 0.1 T to T, with
    slope, slope_lo and slope_hi; ``guide``, a line of slope -1/2 or -1 through LDP-NCB at 0.3 T).
    Slopes are of log Nash regret over log t, by least squares.
    """
    found = []
    for variant in VARIANTS:
        for algorithm, name in NAMES.items():
            curve = _curve(frames, "panels-c-to-e", algorithm, variant)
            tags = {"variant": variant, "algorithm": algorithm}
            estimates = [regret.estimate() for regret in curve.regrets()]
            named = {"series": f"{name}, {variant}", "part": "curve", **tags}
            found.append(_points(curve.times, estimates, **named))
            found.append(_fit(curve, series=f"fit of {name}, {variant}", **tags))
        # The last one is LDP-NCB's.
        found += [_guide(curve, each, variant) for each in (-0.5, -1.0)]
    return pd.concat(found, ignore_index=True)


def _fit(curve: _Curve, **tags: Any) -> pd.DataFrame:
    logs = [curve.regret(share).log() for share in WINDOW]
    fitted = slope(np.log(WINDOW), logs)
    low, high = fitted.estimate().interval(ALPHA)
    level = float(np.mean([each.value for each in logs]) - fitted.value * np.mean(np.log(WINDOW)))
    shares = np.array([0.1, 1.0])
    line = np.exp(level + fitted.value * np.log(shares))
    slopes_of = {"slope": fitted.value, "slope_lo": low, "slope_hi": high}
    return _exact(shares * curve.times[-1], line, part="fit", **slopes_of, **tags)


def _guide(curve: _Curve, exponent: float, variant: str) -> pd.DataFrame:
    shares = np.array([0.3, 1.0])
    line = curve.regret(0.3).value * (shares / 0.3) ** exponent
    tags = {"series": f"slope {exponent:g}, {variant}", "variant": variant, "part": "guide"}
    return _exact(shares * curve.times[-1], line, slope=exponent, **tags)


def price_over_horizons(frames: Frames) -> pd.DataFrame:
    """Return Nash regret of GDP-NCB over that of NCB, epsilon = 0.2 (claim C18), against T.

    Tags: variant, part (``measured``; ``bound``, the ratio of the two terms of Theorem 1's bound).
    """
    found = []
    for variant in VARIANTS:
        pairs = [
            [_curve(frames, name, each, variant) for each in ("gdp-ncb", "ncb")]
            for name in _BY_HORIZON.values()
        ]
        horizons = [float(private.times[-1]) for private, _ in pairs]
        ratios = [ratio_of(private.regret(), plain.regret()) for private, plain in pairs]
        named = _measured(variant, "gdp-ncb")
        found.append(_points(horizons, ratios, **named))
    bound = [ratio_of_terms(each, EPSILON) for each in horizons]
    return pd.concat([*found, _bound(horizons, bound)])


def price_over_epsilon(frames: Frames) -> pd.DataFrame:
    """Return the same ratio at T = 1e7 against epsilon from 0.2 to 100 (claim C20)."""
    epsilons = [each for each in _EPSILONS if each >= EPSILON]
    found = []
    for variant in VARIANTS:
        plain = _curve(frames, _EPSILONS[EPSILON], "ncb", variant)
        private = [_curve(frames, _EPSILONS[e], "gdp-ncb", variant, e) for e in epsilons]
        ratios = [ratio_of(each.regret(), plain.regret()) for each in private]
        named = _measured(variant, "gdp-ncb")
        found.append(_points(epsilons, ratios, **named))
    bound = [ratio_of_terms(float(plain.times[-1]), each) for each in epsilons]
    return pd.concat([*found, _bound(epsilons, bound)])


def _measured(variant: str, algorithm: str) -> dict[str, str]:
    series = f"measured, {variant}"
    return {"series": series, "variant": variant, "part": "measured", "algorithm": algorithm}


def _bound(x: Iterable[float], y: Iterable[float]) -> pd.DataFrame:
    return _exact(x, y, series="bound", variant=PAPER, part="bound")


def ratio_of_terms(horizon: float, epsilon: float) -> float:
    """Return the privacy term of Theorem 1's bound over the other, on the fifty arms.

    They are k L^2 / (epsilon T) and sqrt(k L / T), with L = ln T, without constants.
    """
    log = math.log(horizon)
    return math.sqrt(len(drawn_means()) / horizon) * math.pow(log, 1.5) / epsilon


def regret_over_epsilon(frames: Frames) -> pd.DataFrame:
    """Return the Nash regret of LDP-NCB at T = 1e7 against epsilon from 0.1 to 2 (claim C21).

    Tags: variant, part (``measured``, with slope, slope_lo and slope_hi from epsilon = 0.2 to 0.5;
    ``guide``, slope -1 through the value of the code at 0.2).
    """
    epsilons = [each for each in _EPSILONS if each <= 2.0]
    found = []
    for variant in VARIANTS:
        curves = [_curve(frames, _EPSILONS[e], "ldp-ncb", variant, e) for e in epsilons]
        regrets = dict(zip(epsilons, (each.regret() for each in curves), strict=True))
        steep = slope(np.log([0.2, 0.5]), [regrets[0.2].log(), regrets[0.5].log()]).estimate()
        low, high = steep.interval(ALPHA)
        named = _measured(variant, "ldp-ncb")
        tags = {**named, "slope": steep.value, "slope_lo": low, "slope_hi": high}
        found.append(_points(epsilons, [each.estimate() for each in regrets.values()], **tags))
    first = found[0].set_index("x")["y"]
    line = [first[EPSILON] * EPSILON / each for each in epsilons]
    return pd.concat([*found, _exact(epsilons, line, series="guide", variant=PAPER, part="guide")])


DERIVED: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "slopes": slopes,
    "price-over-horizons": price_over_horizons,
    "price-over-epsilon": price_over_epsilon,
    "regret-over-epsilon": regret_over_epsilon,
}
"""Functions by name, as the key ``compute`` of a panel names them."""
