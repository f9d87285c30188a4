"""Statistics of the analytic claims, and of final regrets beside the baselines.

Levels eta of DP-TS-UCB are those of Theorem 4.4. Where a finding needs another one, ``accounting``
asks for it: ``tight`` leaves out the factor 2. A NaN in what a statistic reads makes its number
NaN.

``count`` is the interpretation of Modified TS, n + 1 or n in its centre and variance;
``lazy_ucb_log`` and ``lazy_dp_ts_log`` are the logarithms of the two lazy baselines, ``base2`` or
``natural``. Algorithms are named by their id.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Evidence, Sample, from_means
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    exact,
    is_lowest,
    mean,
    rank_correlation,
    smallest,
    welch_difference,
)
from dpbandits.papers.dp_ts_ucb.analytic import ALPHAS, PRE_PULLS

HORIZONS = "privacy-by-horizon"
PRIVACY_BY_ALPHA = "privacy-by-alpha"
CROSSOVER = "crossover"
CONSTANTS = "constants"
MISSES = "lemma-4-1"
WAITS = "lemma-c1"

PRINTED = "theorem4.4"
"""The accounting of the paper."""

Values = NDArray[np.float64]


def largest_level_step(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the largest change of eta from one alpha to the next, at each horizon."""
    frame = evidence.analytic(HORIZONS, accounting=PRINTED)
    levels = frame.pivot(index="x", columns="alpha", values="y")
    steps = np.diff(levels.to_numpy(), axis=1).max(axis=1)
    return {f"T={horizon}": exact(step) for horizon, step in zip(levels.index, steps, strict=True)}


def constant_level(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return eta at alpha = 1, at each horizon."""
    frame = evidence.analytic(HORIZONS, accounting=PRINTED, alpha=1.0)
    return {f"T={horizon}": exact(y) for horizon, y in zip(frame["x"], frame["y"], strict=True)}


def level_spread(evidence: Evidence) -> Estimate:
    """Return the largest over smallest eta at alpha = 1, over the horizons, minus 1."""
    levels = _y(evidence, HORIZONS, accounting=PRINTED, alpha=1.0)
    return exact(levels.max() / levels.min() - 1.0)


def root_deviation(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return eta at alpha = 1 over sqrt(2 c0), minus 1, at each horizon."""
    root = evidence.number(CONSTANTS, quantity="root")
    levels = constant_level(evidence)
    return {horizon: exact(level.value / root - 1.0) for horizon, level in levels.items()}


def level_ratio(evidence: Evidence, *, alpha: float, accounting: str = PRINTED) -> Estimate:
    """Return eta of DP-TS-UCB over that of Modified TS at (0, 5 ln(T)^alpha), T = 1e6."""
    proposed = _y(evidence, PRIVACY_BY_ALPHA, algorithm="dp-ts-ucb", accounting=accounting, x=alpha)
    modified = _y(evidence, PRIVACY_BY_ALPHA, algorithm="m-ts-gaussian", x=alpha)
    return exact(proposed.item() / modified.item())


def level_ratio_over_time(evidence: Evidence, *, horizon: int, over: str) -> Estimate:
    """Return eta of DP-TS-UCB(0) at a horizon over that of ``over``, an id of an algorithm."""
    proposed = _y(evidence, CROSSOVER, algorithm="dp-ts-ucb", accounting=PRINTED, x=horizon)
    return exact(proposed.item() / evidence.number(CROSSOVER, algorithm=over, x=horizon))


def largest_ratio_step(evidence: Evidence, *, over: str) -> Estimate:
    """Return the largest change of that ratio from one horizon to the next, over T = 1e4 .. 1e8."""
    return exact(np.diff(_ratios(evidence, over)).max())


def smallest_level_ratio(evidence: Evidence, *, over: str) -> Estimate:
    """Return the smallest value of the same ratio over T = 1e4 .. 1e8."""
    return exact(_ratios(evidence, over).min())


def plain_level_deviation(evidence: Evidence) -> Estimate:
    """Return the largest relative difference of sqrt(T/2) and the composed draws of TS-Gaussian."""
    frame = evidence.analytic(CONSTANTS, quantity="composed")
    deviations = frame["y"].to_numpy() / np.sqrt(frame["x"].to_numpy() / 2.0) - 1.0
    return exact(np.abs(deviations).max())


def crossover_horizon(evidence: Evidence, *, over: str, accounting: str = PRINTED) -> Estimate:
    """Return the horizon from which eta of DP-TS-UCB(0) is below that of ``over``."""
    tags = {"quantity": "crossover", "algorithm": over, "accounting": accounting}
    return exact(evidence.number(CONSTANTS, **tags))


def printed_factor(evidence: Evidence, *, alpha: float, b: int, root: str = "no") -> Estimate:
    """Return the factor c of equal privacy at b pre-pulls, T = 1e6.

    root: ``yes`` takes the square root that Section 5.3 prints and Appendix E.1 does not.
    """
    return exact(evidence.number(CONSTANTS, quantity="c", alpha=alpha, root=root, x=b))


def largest_misses(evidence: Evidence, *, rounding: str) -> Mapping[str, Estimate]:
    """Return T times the largest chance that all draws miss the mean (Lemma 4.1)."""
    return _largest(evidence, MISSES, quantity="chance", rounding=rounding)


def largest_waits(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the largest expectation of Lemma C.1, at each alpha and T."""
    return _largest(evidence, WAITS, quantity="expectation")


def _ratios(evidence: Evidence, over: str) -> Values:
    proposed = _y(evidence, CROSSOVER, algorithm="dp-ts-ucb", accounting=PRINTED)
    return proposed / _y(evidence, CROSSOVER, algorithm=over)


def _largest(evidence: Evidence, name: str, **where: object) -> Mapping[str, Estimate]:
    """Return the largest y over x, at each alpha and T."""
    frame = evidence.analytic(name, **where)
    return {
        f"alpha={alpha:g}, T={horizon:.0f}": exact(rows["y"].max(skipna=False))
        for (alpha, horizon), rows in frame.groupby(["alpha", "horizon"])
    }


def _y(evidence: Evidence, name: str, **where: object) -> Values:
    return np.asarray(evidence.analytic(name, **where)["y"], dtype=np.float64)


OWN = "final-verdicts"
EQUAL_BOUND = "equal-bound-verdicts"
EQUAL_PRIVACY = "equal-privacy-verdicts"
FINER = "finer-verdicts"
BASELINES = "baseline-verdicts"

CHOSEN_B: dict[float, int] = {0: 1, 1: 2000}
"""Pre-pulls that the paper finds best, by alpha (Section 5.3)."""


def _proposed(evidence: Evidence, alpha: float, horizon: int | None = None) -> Sample:
    """Return the final regret of DP-TS-UCB at a horizon (None: the longest)."""
    rounds = evidence.horizon(OWN) if horizon is None else horizon
    return evidence.sample(OWN, "pseudo_regret", alpha=alpha, horizon=rounds)


def _equally_private(evidence: Evidence, alpha: float, b: int, count: str) -> Sample:
    return evidence.sample(EQUAL_PRIVACY, "pseudo_regret", alpha=alpha, b=b, count=count)


def _contender(
    evidence: Evidence,
    algorithm: str,
    alpha: float,
    count: str,
    lazy_ucb_log: str,
    lazy_dp_ts_log: str,
) -> Sample:
    """Return the final regret of one algorithm of Figure 7."""
    if algorithm == "dp-ts-ucb":
        return _proposed(evidence, alpha)
    if algorithm == "m-ts-gaussian":
        return _equally_private(evidence, alpha, CHOSEN_B[alpha], count)
    logs = {"anytime-lazy-ucb": lazy_ucb_log, "lazy-dp-ts": lazy_dp_ts_log}
    tags: dict[str, Any] = {"log": logs[algorithm]} if algorithm in logs else {}
    return evidence.sample(BASELINES, "pseudo_regret", algorithm=algorithm, **tags)


def alpha_difference(evidence: Evidence, *, horizon: int, alpha: float, minus: float) -> Measured:
    """Return the final regret of DP-TS-UCB at one alpha minus that at another."""
    return welch_difference(
        _proposed(evidence, alpha, horizon).values, _proposed(evidence, minus, horizon).values
    )


def alpha_trend(evidence: Evidence, *, horizon: int) -> Estimate:
    """Return Kendall's tau between alpha and the final regret of DP-TS-UCB."""
    regrets = [_proposed(evidence, alpha, horizon).measured for alpha in ALPHAS]
    return rank_correlation(ALPHAS, regrets)


def steps_down(evidence: Evidence, *, horizons: tuple[int, ...]) -> Estimate:
    """Return the number of steps from an alpha to the next with a 95 % interval below 0."""
    steps = [
        alpha_difference(evidence, horizon=horizon, alpha=higher, minus=alpha)
        for horizon, (alpha, higher) in itertools.product(horizons, itertools.pairwise(ALPHAS))
    ]
    if any(math.isnan(step.value) for step in steps):
        return exact(math.nan)
    return exact(sum(step.interval(0.05)[1] < 0.0 for step in steps), steps[0].runs)


def equal_bound_difference(evidence: Evidence, *, alpha: float, count: str) -> Estimate:
    """Return the final regret of DP-TS-UCB minus that of Modified TS at (0, 5 ln(T)^alpha)."""
    other = evidence.values(EQUAL_BOUND, "pseudo_regret", alpha=alpha, count=count)
    return welch_difference(_proposed(evidence, alpha).values, other)


def is_best_b(evidence: Evidence, *, alpha: float, b: int, count: str) -> Estimate:
    """Return 1 where b has the lowest final regret of the seven of Figure 6, otherwise 0."""
    regrets = [_equally_private(evidence, alpha, pulls, count).measured for pulls in PRE_PULLS]
    return is_lowest(PRE_PULLS.index(b), regrets)


def best_b_margin(evidence: Evidence, *, alpha: float, b: int, count: str) -> Estimate:
    """Return the final regret of the best other of the seven pre-pulls minus that of b."""
    chosen = _equally_private(evidence, alpha, b, count).values
    return smallest(
        welch_difference(_equally_private(evidence, alpha, other, count).values, chosen)
        for other in PRE_PULLS
        if other != b
    )


def pre_pull_difference(evidence: Evidence, *, alpha: float, b: int, minus: int) -> Estimate:
    """Return the final regret of b pre-pulls minus that of another number, both with n + 1."""
    return welch_difference(
        _pre_pulled(evidence, alpha, b).values, _pre_pulled(evidence, alpha, minus).values
    )


def best_between_margin(
    evidence: Evidence, *, alpha: float, b: int, between: Sequence[int]
) -> Estimate:
    """Return the smallest difference of final regret between other numbers of pre-pulls and b."""
    return smallest(
        pre_pull_difference(evidence, alpha=alpha, b=other, minus=b) for other in between
    )


def pre_pull_regret(evidence: Evidence, *, alpha: float, b: int) -> Estimate:
    """Return the final regret of Modified TS at equal privacy with b pre-pulls, n + 1."""
    return mean(_pre_pulled(evidence, alpha, b).values)


def regret_over_pre_pulled(evidence: Evidence, *, alpha: float, b: int) -> Estimate:
    """Return the final regret of DP-TS-UCB over that of Modified TS with b pre-pulls, n + 1."""
    return _proposed(evidence, alpha).measured / _pre_pulled(evidence, alpha, b).measured


def _pre_pulled(evidence: Evidence, alpha: float, b: int) -> Sample:
    """Return the final regret of b pre-pulls, of the seven of Figure 6 or of the finer grid."""
    if b in PRE_PULLS:
        return _equally_private(evidence, alpha, b, "n+1")
    return evidence.sample(FINER, "pseudo_regret", alpha=alpha, b=b)


def regret_difference(
    evidence: Evidence,
    *,
    first: str,
    second: str,
    alpha: float,
    count: str = "n+1",
    lazy_ucb_log: str = "base2",
    lazy_dp_ts_log: str = "natural",
) -> Estimate:
    """Return the final regret of the first algorithm of Figure 7 minus that of the second."""
    one, other = (
        _contender(evidence, name, alpha, count, lazy_ucb_log, lazy_dp_ts_log)
        for name in (first, second)
    )
    return welch_difference(one.values, other.values)


def regret_ratio(
    evidence: Evidence, *, first: str, second: str, alpha: float, count: str
) -> Estimate:
    """Return final regret of DP-TS-UCB over that of Modified TS at equal privacy or inversely."""
    one, other = (
        _contender(evidence, name, alpha, count, "base2", "natural") for name in (first, second)
    )
    return one.measured / other.measured


def gap_share(evidence: Evidence, *, count: str) -> Estimate:
    """Return the lead of Modified TS at the level of alpha = 0 over DP-TS-UCB's at alpha = 1."""
    regrets = [
        _contender(evidence, algorithm, alpha, count, "base2", "natural")
        for alpha in (0, 1)
        for algorithm in ("dp-ts-ucb", "m-ts-gaussian")
    ]
    return from_means(
        regrets, lambda means: (means[:, 0] - means[:, 1]) / (means[:, 3] - means[:, 2])
    )
