"""Statistics of the simulated claims: final regrets of DP-TS-UCB, Modified TS and the baselines.

``count`` is the reading of Modified TS (spec erratum E9), ``lazy_ucb_log`` and ``lazy_dp_ts_log``
the logarithms of the two lazy baselines (E15), ``base2`` or ``natural``. Algorithms go by their id.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate, Evidence, smallest, welch_difference
from dpbandits.claims.bootstrap import Sample, argmin, from_means, ratio
from dpbandits.papers.dp_ts_ucb.analytic import ALPHAS, PRE_PULLS

OWN = "final-verdicts"
EQUAL_BOUND = "equal-bound-verdicts"
EQUAL_PRIVACY = "equal-privacy-verdicts"
FINER = "finer-verdicts"
BASELINES = "baseline-verdicts"

CHOSEN_B: dict[float, int] = {0: 1, 1: 2000}
"""Pre-pulls that the paper finds best, by alpha (Section 5.3)."""

FINER_B: dict[float, tuple[int, ...]] = {
    0: (2, 5, 10, 20, 50, 100),
    1: (1500, 2500, 3000, 4000),
}
"""Pre-pulls around them that it does not try, by alpha (spec erratum E21)."""

CONTENDERS = ("dp-ts-ucb", "m-ts-gaussian", "dp-se", "anytime-lazy-ucb", "lazy-dp-ts")
"""The algorithms of Figure 7."""

Values = NDArray[np.float64]


def _own(evidence: Evidence, alpha: float, horizon: int | None = None) -> Sample:
    """Final regret of DP-TS-UCB at a horizon (None: the longest)."""
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
    """Final regret of one algorithm of Figure 7."""
    if algorithm == "dp-ts-ucb":
        return _own(evidence, alpha)
    if algorithm == "m-ts-gaussian":
        return _equally_private(evidence, alpha, CHOSEN_B[alpha], count)
    logs = {"anytime-lazy-ucb": lazy_ucb_log, "lazy-dp-ts": lazy_dp_ts_log}
    tags: dict[str, Any] = {"log": logs[algorithm]} if algorithm in logs else {}
    return evidence.sample(BASELINES, "pseudo_regret", algorithm=algorithm, **tags)


def alpha_rise(evidence: Evidence, *, horizon: int) -> Estimate:
    """Final regret of DP-TS-UCB at alpha = 1 minus that at alpha = 0."""
    ends = (_own(evidence, alpha, horizon).values for alpha in (ALPHAS[-1], ALPHAS[0]))
    return welch_difference(*ends)


def alpha_steps(evidence: Evidence, *, horizon: int) -> Mapping[str, Estimate]:
    """Change of the final regret of DP-TS-UCB from one alpha to the next."""
    return {
        f"alpha={alpha:g} to {higher:g}": welch_difference(
            _own(evidence, higher, horizon).values, _own(evidence, alpha, horizon).values
        )
        for alpha, higher in itertools.pairwise(ALPHAS)
    }


def equal_bound_difference(evidence: Evidence, *, alpha: float, count: str) -> Estimate:
    """Final regret of DP-TS-UCB minus that of Modified TS at (0, 5 ln(T)^alpha)."""
    other = evidence.values(EQUAL_BOUND, "pseudo_regret", alpha=alpha, count=count)
    return welch_difference(_own(evidence, alpha).values, other)


def is_best_b(evidence: Evidence, *, alpha: float, b: int, count: str) -> Estimate:
    """1 where b has the lowest final regret of the seven pre-pulls of Figure 6, otherwise 0.

    Its bootstrap interval is [1, 1] where b wins in all resamples but a share of half the level.
    """
    regrets = [_equally_private(evidence, alpha, each, count) for each in PRE_PULLS]
    place = PRE_PULLS.index(b)

    def wins(means: Values) -> Values:
        best = argmin(means)
        return np.where(np.isnan(best), np.nan, best == place)

    return from_means(regrets, wins)


def best_b_margin(evidence: Evidence, *, alpha: float, b: int, count: str) -> Estimate:
    """Final regret of the best other of the seven pre-pulls minus that of b."""
    chosen = _equally_private(evidence, alpha, b, count).values
    return smallest(
        welch_difference(_equally_private(evidence, alpha, each, count).values, chosen)
        for each in PRE_PULLS
        if each != b
    )


def finer_differences(evidence: Evidence, *, alpha: float, b: int) -> Mapping[str, Estimate]:
    """Final regret of each pre-pull around b minus that of b, centre and variance by n + 1."""
    chosen = _equally_private(evidence, alpha, b, "n+1").values
    return {
        f"b={each}": welch_difference(
            evidence.values(FINER, "pseudo_regret", alpha=alpha, b=each), chosen
        )
        for each in FINER_B[alpha]
    }


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
    """Final regret of the first algorithm of Figure 7 minus that of the second."""
    one, other = (
        _contender(evidence, name, alpha, count, lazy_ucb_log, lazy_dp_ts_log)
        for name in (first, second)
    )
    return welch_difference(one.values, other.values)


def regret_ratio(
    evidence: Evidence, *, first: str, second: str, alpha: float, count: str
) -> Estimate:
    """Final regret of DP-TS-UCB over that of Modified TS at equal privacy, or the inverse."""
    one, other = (
        _contender(evidence, name, alpha, count, "base2", "natural") for name in (first, second)
    )
    return ratio(one, other)


def ranking_steps(
    evidence: Evidence, *, alpha: float, count: str, lazy_ucb_log: str, lazy_dp_ts_log: str
) -> Mapping[str, Estimate]:
    """Step of the final regret from each algorithm of Figure 7 to the next in their order."""
    samples = {
        name: _contender(evidence, name, alpha, count, lazy_ucb_log, lazy_dp_ts_log)
        for name in CONTENDERS
    }
    ranked = sorted(samples, key=lambda name: samples[name].mean)
    return {
        f"{better} to {worse}": welch_difference(samples[worse].values, samples[better].values)
        for better, worse in itertools.pairwise(ranked)
    }
