"""Statistics of Figure 8 and of the claims beside plain Thompson sampling."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate, Evidence, exact, welch_difference
from dpbandits.claims.bootstrap import Sample, from_means, ratio

COMPARISON = "comparison-verdicts"
SMALL_STEPS = "small-steps"
SAME_ALGORITHM = "same-algorithm"
PRICE = "price-of-privacy"

PAIRS = ((1, 1), (2, 1), (5, 1), (10, 1), (0, 2), (1, 2))
"""Small steps (b, c) away from (0, 1) (TSDP-C25)."""

Values = NDArray[np.float64]


def _contender(evidence: Evidence, algorithm: str, eta: int, log: str, c_range: str) -> Sample:
    """Final regret of one algorithm of Figure 8 at the level eta, or the epsilon printed for it."""
    readings = {"anytime-lazy-ucb": {"log": log}, "m-ts-gaussian": {"c_range": c_range}}
    tags: dict[str, Any] = {"algorithm": algorithm, "eta": eta, **readings.get(algorithm, {})}
    return evidence.sample(COMPARISON, "pseudo_regret", **tags)


def regret_difference(
    evidence: Evidence,
    *,
    first: str,
    second: str,
    eta: int,
    log: str = "base2",
    c_range: str = "any",
) -> Estimate:
    """Final regret of the first algorithm minus that of the second.

    Args:
        evidence: the results.
        first: id of an algorithm.
        second: id of the other one.
        eta: level of the panel.
        log: logarithm of Anytime-Lazy-UCB, ``base2`` or ``natural``.
        c_range: pairs that Modified TS is tuned over, ``any`` or ``at-least-1`` (E10).
    """
    one, other = (_contender(evidence, name, eta, log, c_range) for name in (first, second))
    return welch_difference(one.values, other.values)


def _trio(evidence: Evidence, eta: int, log: str, c_range: str) -> list[Sample]:
    names = ("m-ts-gaussian", "anytime-lazy-ucb", "dp-se")
    return [_contender(evidence, name, eta, log, c_range) for name in names]


def _over_best_baseline(means: Values) -> Values:
    return np.asarray(means[:, 0] / means[:, 1:3].min(axis=1))


def ratio_to_best_baseline(evidence: Evidence, *, eta: int, log: str, c_range: str) -> Estimate:
    """Final regret of tuned Modified TS over that of the better baseline."""
    return from_means(_trio(evidence, eta, log, c_range), _over_best_baseline)


def ratio_change(
    evidence: Evidence, *, eta: int, weaker_eta: int, log: str, c_range: str
) -> Estimate:
    """The same ratio at a weaker level minus the one at ``eta``."""
    trios = _trio(evidence, eta, log, c_range) + _trio(evidence, weaker_eta, log, c_range)
    return from_means(
        trios, lambda m: _over_best_baseline(m[:, 3:]) - _over_best_baseline(m[:, :3])
    )


def differing_runs(evidence: Evidence) -> Estimate:
    """Number of runs in which TS-Gaussian and M-TS-Gaussian at (0, 1) differ on one stream."""
    names = ("ts-gaussian", "m-ts-gaussian")
    one, other = (_everything(evidence, name) for name in names)
    if np.isnan(one).any() or np.isnan(other).any():
        return exact(np.nan, len(one))
    return exact((one != other).any(axis=1).sum(), len(one))


def _everything(evidence: Evidence, algorithm: str) -> Values:
    """All that is recorded of an algorithm on the shared stream, one row a run."""
    curves = [
        evidence.table(SAME_ALGORITHM, metric, algorithm=algorithm).to_numpy()
        for metric in ("pseudo_regret", "realised_regret")
    ]
    return np.hstack([*curves, evidence.per_arm(SAME_ALGORITHM, "pulls", algorithm=algorithm)])


def small_step_differences(evidence: Evidence) -> Mapping[str, Estimate]:
    """Final regret at small (b, c) minus that at (0, 1)."""
    plain = evidence.values(SMALL_STEPS, "pseudo_regret", b=0, c=1)
    return {
        f"(b,c)=({b},{c})": welch_difference(
            evidence.values(SMALL_STEPS, "pseudo_regret", b=b, c=c), plain
        )
        for b, c in PAIRS
    }


def price_of_privacy(evidence: Evidence, *, eta: int, c_range: str) -> Estimate:
    """Final regret of tuned Modified TS at the level eta over that of plain Thompson sampling."""
    simulation = COMPARISON if eta in (1, 5, 10) else PRICE
    tags: dict[str, Any] = {"algorithm": "m-ts-gaussian", "eta": eta, "c_range": c_range}
    tuned = evidence.sample(simulation, "pseudo_regret", **tags)
    return ratio(tuned, evidence.sample(SMALL_STEPS, "pseudo_regret", b=0, c=1))
