"""Exactly computed curves and numbers behind the paper's analytic figures and claims.

Every frame has the columns series, its tags, x, y, lo, hi, with lo = hi = y.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dpbandits import privacy
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_ts_ucb.optimism import counts, misses_by_count, waits_by_count
from dpbandits.papers.dp_ts_ucb.trace import trace
from dpbandits.privacy.thompson import BUDGET_FACTOR, GDP_INTERPRETATIONS

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Trade-off parameters of Figure 4."""

HORIZONS = (10_000, 31_622, 100_000, 316_227, 1_000_000)
"""T of Figure 3."""

HORIZON = 1_000_000
"""T of Figures 4 to 7."""

PRE_PULLS = (0, 1, 500, 1000, 2000, 5000, 100_000)
"""b of Figure 6."""

SMALLEST_B_BETWEEN = 2
"""Smallest b of the finer grid at alpha = 0 that Figure 6 does not have."""

TABLE_HORIZONS = (10_000, 100_000, 1_000_000)
"""T of Table 1 and of the composed draws."""

LEMMA_HORIZONS = TABLE_HORIZONS
"""T at which Lemmas 4.1 and C.1 are checked."""

MISS_BOUND = 3.0
"""T times the chance that the proof of Lemma 4.1 leaves to a miss."""

WAIT_BOUND = 12.34
"""The bound of Lemma C.1, Equation 7."""

DELTA = 1e-6
"""Delta at which levels of Gaussian DP are given as epsilon."""

EQUAL_BOUND_FACTOR = 5.0
"""c over ln(T)^alpha in Section 5.2."""

LONG_HORIZONS = tuple(round(10 ** (step / 20)) for step in range(80, 161))
"""T from 1e4 to 1e8, log-spaced with the decades among them."""

LEVELS: dict[str, Callable[[int], float]] = {
    "TS-Gaussian": privacy.ts_gaussian_gdp,
    "M-TS-Gaussian, b = 0, c = 5": lambda horizon: privacy.modified_ts_gdp(0, 5.0, horizon),
    "M-TS-Gaussian, b + 1 = c = T^(1/4)": lambda horizon: horizon**0.25,
    "M-TS-Gaussian, b + 1 = c = ln T": lambda horizon: math.sqrt(horizon) / math.log(horizon),
    "DP-TS-UCB, α = 1/2": lambda horizon: privacy.dp_ts_ucb_gdp(0.5, horizon),
    "DP-TS-UCB, α = 0": lambda horizon: privacy.dp_ts_ucb_gdp(0.0, horizon),
    "DP-TS-UCB, α = 1": lambda horizon: privacy.dp_ts_ucb_gdp(1.0, horizon),
}
"""By algorithm: from T to eta, at an example of each row of Table 1.

Where b and c grow with T, b is not rounded: the level of M-TS-Gaussian is sqrt(T / (c (b + 1))).
"""


def privacy_by_horizon() -> pd.DataFrame:
    """Return eta (Figure 3b) of DP-TS-UCB over the horizon, by alpha and accounting.

    Tags: algorithm, accounting (``theorem4.4``, ``theorem4.6`` or ``tight``), alpha, horizon.
    x: T. y: eta.
    """
    return joined(
        curve(
            f"{accounting}, alpha={alpha:g}",
            {
                "algorithm": "dp-ts-ucb",
                "accounting": accounting,
                "alpha": alpha,
                "horizon": HORIZONS,
            },
            HORIZONS,
            [
                privacy.dp_ts_ucb_gdp(alpha, horizon, interpretation=accounting)
                for horizon in HORIZONS
            ],
        )
        for accounting in GDP_INTERPRETATIONS
        for alpha in ALPHAS
    )


def privacy_by_alpha() -> pd.DataFrame:
    """Return eta (Figure 4b) over alpha, of DP-TS-UCB and of Modified TS at (0, 5 ln(T)^alpha).

    Tags: algorithm, accounting (as in Figure 3b; ``lemma5`` for Modified TS). x: alpha. y: eta.
    """
    alphas = np.linspace(0.0, 1.0, 41)
    curves = {
        ("dp-ts-ucb", accounting): [
            privacy.dp_ts_ucb_gdp(alpha, HORIZON, interpretation=accounting) for alpha in alphas
        ]
        for accounting in GDP_INTERPRETATIONS
    }
    factors = EQUAL_BOUND_FACTOR * math.log(HORIZON) ** alphas
    curves["m-ts-gaussian", "lemma5"] = [privacy.modified_ts_gdp(0, c, HORIZON) for c in factors]
    return joined(
        curve(f"{algorithm}, {accounting}", _named(algorithm, accounting), alphas, y)
        for (algorithm, accounting), y in curves.items()
    )


def crossover() -> pd.DataFrame:
    """Return eta over the horizon of DP-TS-UCB(0), of plain Thompson sampling and Modified TS.

    Tags: algorithm (``dp-ts-ucb``, alpha = 0; ``ts-gaussian``; ``m-ts-gaussian``, b = 0, c = 5),
    accounting (``theorem4.4`` or ``tight``; ``lemma4``; ``lemma5``). x: T. y: eta.
    """
    levels: dict[tuple[str, str], Callable[[int], float]] = {
        ("dp-ts-ucb", "theorem4.4"): lambda horizon: privacy.dp_ts_ucb_gdp(0, horizon),
        ("dp-ts-ucb", "tight"): lambda horizon: privacy.dp_ts_ucb_gdp(
            0, horizon, interpretation="tight"
        ),
        ("ts-gaussian", "lemma4"): privacy.ts_gaussian_gdp,
        ("m-ts-gaussian", "lemma5"): lambda horizon: privacy.modified_ts_gdp(
            0, EQUAL_BOUND_FACTOR, horizon
        ),
    }
    return joined(
        curve(
            f"{algorithm}, {accounting}",
            _named(algorithm, accounting),
            LONG_HORIZONS,
            [level(horizon) for horizon in LONG_HORIZONS],
        )
        for (algorithm, accounting), level in levels.items()
    )


def privacy_conversion() -> pd.DataFrame:
    """Return the epsilon at delta = 1e-6 of each level in Figure 3b.

    Tags: algorithm, accounting, alpha, horizon, delta, eta. x: T. y: epsilon.
    """
    frame = privacy_by_horizon().rename(columns={"y": "eta"}).drop(columns=["x", "lo", "hi"])
    epsilons = [privacy.epsilon(DELTA, eta) for eta in frame["eta"]]
    frame.insert(5, "delta", DELTA)
    return frame.assign(x=frame["horizon"], y=epsilons, lo=epsilons, hi=epsilons)


def lemma_4_1() -> pd.DataFrame:
    """Return T times the chance that every draw misses the mean, the largest over the means.

    Tags: quantity (``chance``, or ``bound``, the constant of the proof), alpha, rounding (of the
    budget phi), horizon. x: number s of rewards in the estimate. y: T times the chance.
    """
    return joined(_misses())


def lemma_c1() -> pd.DataFrame:
    """Return the expectation of Lemma C.1, the largest over the means.

    Tags: quantity (``expectation`` or ``bound``), alpha, horizon. x: number s of rewards in the
    estimate. y: E[1/P(draw above the mean) - 1].
    """
    return joined(_waits())


def constants() -> pd.DataFrame:
    """Return every other number that a claim needs, one a row.

    Tags: quantity, and by quantity: ``c`` (of equal privacy): alpha, root; x is b. ``root``
    (sqrt(2 c0)): x is alpha = 1. ``crossover`` (smallest horizon from which eta of DP-TS-UCB(0)
    is below): algorithm, accounting; the other's eta is sqrt(T/x). ``composed`` (eta of plain
    Thompson sampling, from the draws of every round): x is T.
    """
    return joined([*_factors(), *_levels(), *_composed()])


def _named(algorithm: str, accounting: str) -> dict[str, Any]:
    return {"algorithm": algorithm, "accounting": accounting}


def _factors() -> Iterator[pd.DataFrame]:
    for alpha in (0.0, 1.0):
        for root in ("no", "yes"):
            tags = {"quantity": "c", "alpha": alpha, "root": root}
            pulls = sorted({*PRE_PULLS, SMALLEST_B_BETWEEN})
            factors = [
                privacy.equal_privacy_c(alpha, b, HORIZON, root=root == "yes") for b in pulls
            ]
            yield curve(f"c, alpha={alpha:g}, root={root}", tags, pulls, factors)


def _levels() -> Iterator[pd.DataFrame]:
    yield curve("sqrt(2 c0)", {"quantity": "root"}, [1.0], [math.sqrt(2.0 * BUDGET_FACTOR)])
    for accounting, phases in (("theorem4.4", 2), ("tight", 1)):
        for algorithm, divisor in (("ts-gaussian", 2.0), ("m-ts-gaussian", EQUAL_BOUND_FACTOR)):
            tags = {"quantity": "crossover", **_named(algorithm, accounting)}
            horizon = crossover_horizon(phases, divisor)
            yield curve(f"crossover, {accounting}, {algorithm}", tags, [divisor], [horizon])


def _composed() -> Iterator[pd.DataFrame]:
    levels = [
        float(privacy.compose_gdp(np.full(horizon, draw_level()))) for horizon in TABLE_HORIZONS
    ]
    yield curve("composed draws", {"quantity": "composed"}, TABLE_HORIZONS, levels)


def draw_level() -> float:
    """Return the largest eta of one draw of plain Thompson sampling, over the pulls of the arm.

    The draw after n pulls with rewards of sum S is N(S/(n + 1), 1/(n + 1)) (Ou et al., 2024,
    Algorithm 1). A reward in [0, 1] that is changed moves its centre by 1/(n + 1) at most.
    """
    pulls = np.arange(1, 1001)
    shifts, deviations = 1.0 / (pulls + 1.0), np.sqrt(1.0 / (pulls + 1.0))
    return float((shifts / deviations).max())


def crossover_horizon(phases: int, divisor: float) -> float:
    """Return the T from which phases * phi(0, T) stays below T / divisor.

    phi = c0 sqrt(T) ln(T)^1.5, so that the two are equal where sqrt(T) = phases * divisor * c0 *
    ln(T)^1.5. sqrt(T) / ln(T)^1.5 falls until T = e^3 and rises from there on.

    Args:
        phases: 2 by Theorem 4.4, 1 for the tight level.
        divisor: 2 for plain Thompson sampling, c for Modified TS without pre-pulls.
    """
    factor = phases * divisor * BUDGET_FACTOR

    def excess(log_horizon: float) -> float:
        return log_horizon / 2.0 - 1.5 * math.log(log_horizon) - math.log(factor)

    return math.exp(brentq(excess, 3.0, 100.0, xtol=1e-13))


def _misses() -> Iterator[pd.DataFrame]:
    for horizon in LEMMA_HORIZONS:
        x = counts(horizon)
        for alpha, rounding in itertools.product(ALPHAS, ("floor", "ceil")):
            tags = {"quantity": "chance", "alpha": alpha, "rounding": rounding, "horizon": horizon}
            name = f"chance, alpha={alpha:g}, {rounding}, T={horizon}"
            yield curve(name, tags, x, misses_by_count(alpha, horizon, rounding))
        yield curve(f"bound, T={horizon}", _bound(horizon), x, np.full(len(x), MISS_BOUND))


def _waits() -> Iterator[pd.DataFrame]:
    for horizon in LEMMA_HORIZONS:
        x = counts(horizon)
        for alpha in ALPHAS:
            tags = {"quantity": "expectation", "alpha": alpha, "horizon": horizon}
            name = f"expectation, alpha={alpha:g}, T={horizon}"
            yield curve(name, tags, x, waits_by_count(alpha, horizon))
        yield curve(f"bound, T={horizon}", _bound(horizon), x, np.full(len(x), WAIT_BOUND))


def _bound(horizon: int) -> dict[str, Any]:
    return {"quantity": "bound", "horizon": horizon}


def summary() -> pd.DataFrame:
    """Return eta (Table 1) of each algorithm at three horizons. Tags: algorithm. x: T. y: eta."""
    x = TABLE_HORIZONS
    return joined(
        curve(algorithm, {"algorithm": algorithm}, x, [level(horizon) for horizon in x])
        for algorithm, level in LEVELS.items()
    )


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "privacy-by-horizon": privacy_by_horizon,
    "privacy-by-alpha": privacy_by_alpha,
    "crossover": crossover,
    "privacy-conversion": privacy_conversion,
    "constants": constants,
    "lemma-4-1": lemma_4_1,
    "lemma-c1": lemma_c1,
    "trace": trace,
    "summary": summary,
}
"""Analytic results by name, as the experiments file lists them."""
