"""Statistics of Figure 8 and of the claims beside plain Thompson sampling."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.bootstrap import Sample, from_means, ratio
from dpbandits.claims.estimates import Estimate, exact, welch_difference
from dpbandits.claims.evidence import Evidence
from dpbandits.papers.ts_is_dp.analytic import COMPARED_LEVELS
from dpbandits.privacy import modified_ts_gdp

COMPARISON = "comparison-verdicts"
SMALL_STEPS = "small-steps"
SAME_ALGORITHM = "same-algorithm"
PRICE = "price-of-privacy"

TIGHTER_PAIRS = ((2, 1), (5, 1), (10, 1), (39, 1), (1, 2))
"""Pairs (b, c) near (0, 1) with c (b + 1) above 2, whose level is below Lemma 4's of (0, 1)."""

EQUAL_PAIRS = ((1, 1), (0, 2))
"""Pairs with c (b + 1) = 2, whose level by Lemma 5 is the one of (0, 1) by Lemma 4."""

TUNED_ETAS = (1, 2, 5, 10, 20, 50, 100, 200)
"""Levels whose best pair is known."""

Values = NDArray[np.float64]


def _contender(evidence: Evidence, algorithm: str, eta: int, log: str) -> Sample:
    """Return final regret of an algorithm of Figure 8 at eta, or at the epsilon printed for it."""
    interpretations = {
        "anytime-lazy-ucb": {"log": log},
        "m-ts-gaussian": {"c_range": "at-least-1"},
    }
    tags: dict[str, Any] = {
        "algorithm": algorithm,
        "eta": eta,
        **interpretations.get(algorithm, {}),
    }
    return evidence.sample(COMPARISON, "pseudo_regret", **tags)


def regret_difference(
    evidence: Evidence,
    *,
    first: str,
    second: str,
    eta: int,
    log: str,
) -> Estimate:
    """Return the final regret of the first algorithm minus that of the second.

    Args:
        evidence: the results.
        first: id of an algorithm.
        second: id of the other one.
        eta: level of the panel.
        log: logarithm of Anytime-Lazy-UCB, ``base2`` or ``natural``.
    """
    one, other = (_contender(evidence, name, eta, log) for name in (first, second))
    return welch_difference(one.values, other.values)


def _trio(evidence: Evidence, eta: int, log: str) -> list[Sample]:
    names = ("m-ts-gaussian", "anytime-lazy-ucb", "dp-se")
    return [_contender(evidence, name, eta, log) for name in names]


def _over_best_baseline(means: Values) -> Values:
    return np.asarray(means[:, 0] / means[:, 1:3].min(axis=1))


def ratio_to_best_baseline(evidence: Evidence, *, eta: int, log: str) -> Estimate:
    """Return the final regret of tuned Modified TS over that of the better baseline."""
    return from_means(_trio(evidence, eta, log), _over_best_baseline)


def ratio_change(evidence: Evidence, *, eta: int, weaker_eta: int, log: str) -> Estimate:
    """Return the same ratio at a weaker level minus the one at ``eta``."""
    trios = _trio(evidence, eta, log) + _trio(evidence, weaker_eta, log)
    return from_means(
        trios, lambda m: _over_best_baseline(m[:, 3:]) - _over_best_baseline(m[:, :3])
    )


def differing_runs(evidence: Evidence) -> Estimate:
    """Return in how many runs TS-Gaussian and M-TS-Gaussian at (0, 1) differ on one stream."""
    names = ("ts-gaussian", "m-ts-gaussian")
    one, other = (_everything(evidence, name) for name in names)
    if np.isnan(one).any() or np.isnan(other).any():
        return exact(np.nan, len(one))
    return exact((one != other).any(axis=1).sum(), len(one))


def _everything(evidence: Evidence, algorithm: str) -> Values:
    """Return the all that is recorded of an algorithm on the shared stream, one row a run."""
    curves = [
        evidence.table(SAME_ALGORITHM, metric, algorithm=algorithm).to_numpy()
        for metric in ("pseudo_regret", "realised_regret")
    ]
    return np.hstack([*curves, evidence.per_arm(SAME_ALGORITHM, "pulls", algorithm=algorithm)])


def tighter_differences(evidence: Evidence, *, c_range: str) -> Mapping[str, Estimate]:
    """Return the final regret at every pair with a tighter level minus that at (0, 1).

    Args:
        evidence: the results.
        c_range: of the pairs that are tuned at a level, ``any`` or ``at-least-1``. The pairs near
            (0, 1) have c of at least 1.
    """
    differences = _pair_differences(evidence, TIGHTER_PAIRS)
    plain = _pair(evidence, 0, 1).values
    for eta in TUNED_ETAS:
        tuned = _tuned(evidence, eta, c_range)
        differences[f"tuned, eta={eta}"] = welch_difference(tuned.values, plain)
    return differences


def equal_differences(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the final regret at the pairs with c (b + 1) = 2 minus that at (0, 1)."""
    return _pair_differences(evidence, EQUAL_PAIRS)


def _pair_differences(evidence: Evidence, pairs: Sequence[tuple[int, int]]) -> dict[str, Estimate]:
    plain = _pair(evidence, 0, 1).values
    return {
        f"(b, c) = ({b}, {c})": welch_difference(_pair(evidence, b, c).values, plain)
        for b, c in pairs
    }


def price_of_privacy(evidence: Evidence, *, eta: int, c_range: str) -> Estimate:
    """Return the final regret of tuned Modified TS at a level over that of (0, 1)."""
    return ratio(_tuned(evidence, eta, c_range), _pair(evidence, 0, 1))


def price_of_pair(evidence: Evidence, *, b: int, c: int) -> Estimate:
    """Return the final regret at a pair near (0, 1) over that at (0, 1)."""
    return ratio(_pair(evidence, b, c), _pair(evidence, 0, 1))


def level_of_pair(evidence: Evidence, *, b: int, c: float) -> Estimate:
    """Return the GDP parameter of a pair over the horizon of the simulation (Lemma 5)."""
    return exact(modified_ts_gdp(b, c, evidence.horizon(SMALL_STEPS)))


def _pair(evidence: Evidence, b: int, c: int) -> Sample:
    return evidence.sample(SMALL_STEPS, "pseudo_regret", b=b, c=c)


def _tuned(evidence: Evidence, eta: int, c_range: str) -> Sample:
    simulation = COMPARISON if eta in COMPARED_LEVELS else PRICE
    tags: dict[str, Any] = {"algorithm": "m-ts-gaussian", "eta": eta, "c_range": c_range}
    return evidence.sample(simulation, "pseudo_regret", **tags)
