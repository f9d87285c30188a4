"""Exactly computed curves and numbers behind the paper's analytic figures and claims.

Lemmas 4.1 and C.1: an estimate of s rewards is k/s with k binomial, and a draw from it is N(k/s,
v/s).

Figures 1 and 2 are drawn from one short run. The compiled kernel plays the run, a step at a time.
The kernel keeps the largest draw of an arm and not the draws; they are read off a copy of the
random stream taken before the step.
"""

import copy
import itertools
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import binom

from dpbandits import privacy
from dpbandits.algorithms.dp_ts_ucb import ALGORITHM, Settings, State
from dpbandits.bandits import bernoulli
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.kernels import new_segments
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_ts_ucb.formulas import EQUAL_BOUND_FACTOR
from dpbandits.privacy import dp_ts_ucb_budget
from dpbandits.privacy.thompson import BUDGET_FACTOR, GDP_INTERPRETATIONS

Values = NDArray[np.float64]

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Trade-off parameters of Figure 4."""

HORIZONS = (10_000, 31_622, 100_000, 316_227, 1_000_000)
"""T of Figure 3."""

HORIZON = 1_000_000
"""T of Figures 4 to 7."""

DECADES = (10_000, 100_000, 1_000_000)
"""T of Table 1, of the composed draws and of Lemmas 4.1 and C.1."""

LONG_HORIZONS = tuple(round(10 ** (step / 20)) for step in range(80, 161))
"""T from 1e4 to 1e8, log-spaced with the decades among them."""

DELTA = 1e-6
"""Delta at which levels of Gaussian DP are given as epsilon."""


def _equal_bound_gdp(horizon: int) -> float:
    """Return the level of Modified TS at b = 0, c = 5, whose regret bound is that of alpha = 0."""
    return privacy.modified_ts_gdp(0, EQUAL_BOUND_FACTOR, horizon)


def _tight_gdp(horizon: int) -> float:
    return privacy.dp_ts_ucb_gdp(0.0, horizon, interpretation="tight")


def _gdp_of(alpha: float) -> Callable[[int], float]:
    return lambda horizon: privacy.dp_ts_ucb_gdp(alpha, horizon)


LEVELS: dict[str, Callable[[int], float]] = {
    "TS-Gaussian": privacy.ts_gaussian_gdp,
    "M-TS-Gaussian, b = 0, c = 5": _equal_bound_gdp,
    "M-TS-Gaussian, b + 1 = c = T^(1/4)": lambda horizon: horizon**0.25,
    "M-TS-Gaussian, b + 1 = c = ln T": lambda horizon: math.sqrt(horizon) / math.log(horizon),
    "DP-TS-UCB, α = 1/2": _gdp_of(0.5),
    "DP-TS-UCB, α = 0": _gdp_of(0.0),
    "DP-TS-UCB, α = 1": _gdp_of(1.0),
}
"""By algorithm: from T to eta, at an example of each row of Table 1.

Where b and c grow with T, b is not rounded: the level of M-TS-Gaussian is sqrt(T / (c (b + 1))).
"""


def summary() -> pd.DataFrame:
    """Return eta (Table 1) of each algorithm at three horizons. Tags: algorithm. x: T. y: eta."""
    return joined(
        curve(algorithm, {"algorithm": algorithm}, DECADES, [*map(level, DECADES)])
        for algorithm, level in LEVELS.items()
    )


def privacy_by_horizon() -> pd.DataFrame:
    """Return eta (Figure 3b) of DP-TS-UCB over the horizon, by alpha and accounting."""
    return joined(
        curve(
            f"{accounting}, alpha={alpha:g}",
            {"algorithm": "dp-ts-ucb", "accounting": accounting, "alpha": alpha},
            HORIZONS,
            [
                privacy.dp_ts_ucb_gdp(alpha, horizon, interpretation=accounting)
                for horizon in HORIZONS
            ],
        )
        for accounting in GDP_INTERPRETATIONS
        for alpha in ALPHAS
    )


def privacy_conversion() -> pd.DataFrame:
    """Return the epsilon at delta = 1e-6 of each level in Figure 3b. Tags: its own and eta."""
    frame = privacy_by_horizon()
    epsilons = [privacy.epsilon(DELTA, eta) for eta in frame["y"]]
    frame.insert(4, "eta", frame["y"])
    return frame.assign(y=epsilons, lo=epsilons, hi=epsilons)


def privacy_by_alpha() -> pd.DataFrame:
    """Return eta (Figure 4b) over alpha, of DP-TS-UCB and of Modified TS at (0, 5 ln(T)^alpha)."""
    alphas = np.linspace(0.0, 1.0, 41)
    levels = {
        ("dp-ts-ucb", accounting): [
            privacy.dp_ts_ucb_gdp(alpha, HORIZON, interpretation=accounting) for alpha in alphas
        ]
        for accounting in GDP_INTERPRETATIONS
    }
    factors = EQUAL_BOUND_FACTOR * math.log(HORIZON) ** alphas
    levels["m-ts-gaussian", "lemma5"] = [privacy.modified_ts_gdp(0, c, HORIZON) for c in factors]
    return joined(_named(*names, alphas, y) for names, y in levels.items())


def crossover() -> pd.DataFrame:
    """Return eta over the horizon of DP-TS-UCB(0), of plain Thompson sampling and Modified TS."""
    levels: dict[tuple[str, str], Callable[[int], float]] = {
        ("dp-ts-ucb", "theorem4.4"): _gdp_of(0.0),
        ("dp-ts-ucb", "tight"): _tight_gdp,
        ("ts-gaussian", "lemma4"): privacy.ts_gaussian_gdp,
        ("m-ts-gaussian", "lemma5"): _equal_bound_gdp,
    }
    return joined(
        _named(*names, LONG_HORIZONS, [*map(level, LONG_HORIZONS)])
        for names, level in levels.items()
    )


def _named(algorithm: str, accounting: str, x: Any, y: Any) -> pd.DataFrame:
    tags = {"algorithm": algorithm, "accounting": accounting}
    return curve(f"{algorithm}, {accounting}", tags, x, y)


def crossover_horizon(phases: int, divisor: float) -> float:
    """Return the T from which phases * phi(0, T) stays below T / divisor.

    phi = c0 sqrt(T) ln(T)^1.5, so that the two are equal where sqrt(T) = phases * divisor * c0 *
    ln(T)^1.5. sqrt(T) / ln(T)^1.5 falls until T = e^3 and rises from there on.
    """
    factor = phases * divisor * BUDGET_FACTOR

    def excess(log_horizon: float) -> float:
        return log_horizon / 2.0 - 1.5 * math.log(log_horizon) - math.log(factor)

    return math.exp(brentq(excess, 3.0, 100.0, xtol=1e-13))


MEANS: Values = np.arange(1, 100) / 100.0
"""Means of the arm, 0.01 to 0.99."""

# By Hoeffding's inequality k/s leaves the window with a chance of at most 2 exp(-2 * 100) < 1e-86:
# the chances of Lemma 4.1 go down to 1e-30, and estimates far from the mean make up most of them.
_WINDOW = 100.0

MISS_BOUND = 3.0
"""T times the chance that the proof of Lemma 4.1 leaves to a miss."""

WAIT_BOUND = 12.34
"""The bound of Lemma C.1, Equation 7."""


def counts(horizon: int) -> list[int]:
    """Return the numbers of rewards that an estimate can rest on: 1, 2, 4, ... up to T/2."""
    return [2**power for power in range(int(math.log2(horizon / 2)) + 1)]


@lru_cache(maxsize=32)
def estimates(count: int) -> tuple[Values, Values]:
    """Return the law of the mean of s rewards, for each mean of `MEANS`.

    Chance of each estimate k/s, and (mu - k/s) sqrt(s), both of shape (means, estimates). Rare
    estimates, of total chance below 1e-86, are left out.
    """
    reach = math.ceil(math.sqrt(_WINDOW * count))
    successes = np.round(count * MEANS)[:, None] + np.arange(-reach, reach + 1)
    chances = np.asarray(binom.pmf(successes, count, MEANS[:, None]))
    return chances, (MEANS[:, None] - successes / count) * math.sqrt(count)


def miss_chances(count: int, variance: float, draws: int) -> Values:
    """Return the chance that the largest of the draws stays below the mean (Lemma 4.1)."""
    chances, shortfalls = estimates(count)
    missed = np.exp(draws * log_ndtr(shortfalls / math.sqrt(variance)))
    return np.asarray((chances * missed).sum(axis=1))


def expected_waits(count: int, variance: float) -> Values:
    """Return E[1/P(draw > mu) - 1], the draws wasted until one exceeds the mean (Lemma C.1)."""
    chances, shortfalls = estimates(count)
    exceeded = ndtr(-shortfalls / math.sqrt(variance))
    # Counts below 0 or above s have chance 0, and may lie where no draw exceeds the mean.
    waits = np.divide(1.0 - exceeded, exceeded, out=np.zeros_like(exceeded), where=chances > 0.0)
    return np.asarray((chances * waits).sum(axis=1))


def lemma_4_1() -> pd.DataFrame:
    """Return T times the chance that every draw misses the mean, the largest over the means."""
    curves = []
    for horizon in DECADES:
        x = counts(horizon)
        for alpha, rounding in itertools.product(ALPHAS, ("floor", "ceil")):
            draws = getattr(math, rounding)(dp_ts_ucb_budget(alpha, horizon))
            variance = math.log(horizon) ** alpha
            misses = [horizon * miss_chances(count, variance, draws).max() for count in x]
            tags = {"quantity": "chance", "alpha": alpha, "rounding": rounding, "horizon": horizon}
            name = f"chance, alpha={alpha:g}, {rounding}, T={horizon}"
            curves.append(curve(name, tags, x, misses))
        curves.append(_bound(horizon, MISS_BOUND))
    return joined(curves)


def lemma_c1() -> pd.DataFrame:
    """Return the expectation of Lemma C.1, the largest over the means."""
    curves = []
    for horizon in DECADES:
        x = counts(horizon)
        for alpha in ALPHAS:
            waits = [expected_waits(count, math.log(horizon) ** alpha).max() for count in x]
            tags = {"quantity": "expectation", "alpha": alpha, "horizon": horizon}
            curves.append(curve(f"expectation, alpha={alpha:g}, T={horizon}", tags, x, waits))
        curves.append(_bound(horizon, WAIT_BOUND))
    return joined(curves)


def _bound(horizon: int, bound: float) -> pd.DataFrame:
    x, tags = counts(horizon), {"quantity": "bound", "horizon": horizon}
    return curve(f"bound, T={horizon}", tags, x, np.full(len(x), bound))


RUN_MEANS = (0.75, 0.55, 0.35)
ALPHA = 1.0
RUN_HORIZON = 100
STREAM = "dp-ts-ucb: a run to look at"


def trace() -> pd.DataFrame:
    """Return a run of three Bernoulli arms at alpha = 1, T = 100: a row for each round and arm."""
    bandit = bernoulli(RUN_MEANS)
    interpretations = ALGORITHM.interpretations_from({})
    settings = ALGORITHM.settings(RUN_HORIZON, len(RUN_MEANS), alpha=ALPHA, **interpretations)
    generator = run_generator(DEFAULT_ROOT_SEED, stream_key(STREAM), 0)
    state, out = ALGORITHM.state(len(bandit.arms)), new_segments(1)
    rows: list[dict[str, Any]] = []
    while state.clock[0] < RUN_HORIZON:
        before, stream = copy.deepcopy(state), copy.deepcopy(generator)
        ALGORITHM.advance(settings, state, bandit.arrays, generator, out)
        values = _values(settings, before, stream)
        rows += _rows(before, state, values, int(out.arms[0]), int(out.lengths[0]))
    return pd.DataFrame(rows).sort_values(["arm", "x"], ignore_index=True)


def _values(settings: Settings, state: State, stream: np.random.Generator) -> Values:
    """Return what the kernel compares in this state, of the numbers that it is about to draw."""
    if state.clock[0] < state.counts.size:
        return np.where(state.counts > 0, state.reward_sums, np.nan)
    values = state.largest_draws.copy()
    for arm in np.flatnonzero(state.budgets > 0):
        deviation = np.sqrt(settings.variance / state.counts[arm])
        mean = state.reward_sums[arm] / state.counts[arm]
        values[arm] = mean + deviation * stream.standard_normal()
    return values


def _rows(
    before: State, after: State, values: Values, pulled_arm: int, length: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for each round and arm of a step, which compared these values."""
    first = int(before.clock[0]) + 1
    start = first <= before.counts.size
    for t, arm in itertools.product(range(first, first + length), range(before.counts.size)):
        pulled, is_last = arm == pulled_arm, t == first + length - 1
        known = after if start and pulled else before
        count = int(known.counts[arm])
        value = float(known.reward_sums[arm] if start else values[arm])
        fresh = "fresh" if before.budgets[arm] > 0 else "reuse"
        yield {
            "series": f"arm {arm + 1}",
            "arm": arm + 1,
            "event": "start" if start else fresh,
            "pulled": int(pulled),
            "completed": int(pulled and is_last and after.waiting[arm] == 0),
            "batch": 2 * int(before.counts[arm]) or 1,
            "estimate": float(known.reward_sums[arm] / count) if count else 0.0,
            "count": count,
            "budget": int(before.budgets[arm]),
            "x": t,
            "y": value,
            "lo": value,
            "hi": value,
        }


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "privacy-by-horizon": privacy_by_horizon,
    "privacy-by-alpha": privacy_by_alpha,
    "crossover": crossover,
    "privacy-conversion": privacy_conversion,
    "lemma-4-1": lemma_4_1,
    "lemma-c1": lemma_c1,
    "trace": trace,
    "summary": summary,
}
