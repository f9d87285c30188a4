"""Statistics of the analytic claims: numbers read off the exactly computed curves.

A NaN anywhere in what a statistic reads makes its number NaN.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate, Evidence, exact

CURVES = "privacy-by-b-and-c"
ANALYSES = "privacy-by-analysis"
CONSTANTS = "constants"

Values = NDArray[np.float64]


def claimed_epsilon(evidence: Evidence, *, eta: float) -> Estimate:
    """Epsilon at delta = 1e-6 of eta-GDP (Appendix D)."""
    return _constant(evidence, quantity="epsilon", eta=eta)


def standard_level(evidence: Evidence, *, accounting: str) -> Estimate:
    """GDP parameter of (b, c) = (0, 1) at T = 1e5 by Lemma 4 or Lemma 5 (Section 5.1)."""
    return _constant(evidence, quantity="gdp", accounting=accounting)


def arm_mean_deviation(
    evidence: Evidence, *, law: str, printed: Sequence[float]
) -> Mapping[str, Estimate]:
    """Mean of each exponential arm minus the printed one (Section 5.2); law: spec erratum E11."""
    arms = evidence.analytic(CONSTANTS, quantity="arm-mean", law=law)
    return {
        f"rate {rate:g}": exact(mean - value)
        for rate, mean, value in zip(arms["x"], arms["y"], printed, strict=True)
    }


def largest_step(evidence: Evidence, *, family: str) -> Estimate:
    """Largest change of epsilon from one value of b (or c) to the next, over all deltas."""
    return exact(np.diff(_figure1(evidence, family), axis=1).max())


def largest_asymmetry(evidence: Evidence) -> Estimate:
    """Largest relative difference of epsilon at (b, 1) and at (0, b + 1), over all deltas."""
    by_b, by_c = _figure1(evidence, "b"), _figure1(evidence, "c")
    return exact(np.abs(by_b / by_c - 1.0).max())


def largest_small_step_ratio(evidence: Evidence, *, family: str) -> Estimate:
    """Largest ratio, over deltas, of epsilon at c (b + 1) = 2 to epsilon at (0, 1)."""
    curves = _figure1(evidence, family)
    return exact((curves[:, 1] / curves[:, 0]).max())


def smallest_advantage(
    evidence: Evidence, *, over: str, analysis: str, split: str, arms: int
) -> Estimate:
    """Smallest ratio, over deltas, of epsilon by ``analysis`` to epsilon by ``over`` (GDP, RDP)."""
    weaker = _analysis(evidence, analysis, split, arms)
    return exact((weaker / _analysis(evidence, over, "none", arms)).min())


def largest_excess_over_rdp(evidence: Evidence) -> Estimate:
    """Largest excess, over deltas, of epsilon by GDP over epsilon by RDP."""
    return exact((_gdp(evidence) - _rdp(evidence)).max())


def largest_ratio_to_gdp(evidence: Evidence) -> Estimate:
    """Largest ratio, over deltas, of epsilon by RDP to epsilon by GDP."""
    return exact((_rdp(evidence) / _gdp(evidence)).max())


def small_delta_advantage(evidence: Evidence) -> Mapping[str, Estimate]:
    """GDP's advantage over RDP at the smallest delta relative to the one at the largest delta.

    Once for the difference of the epsilons and once for their ratio minus 1.
    """
    gdp, rdp = _gdp(evidence), _rdp(evidence)
    measures = {"difference": rdp - gdp, "ratio minus 1": rdp / gdp - 1.0}
    return {name: exact(values[0] / values[-1]) for name, values in measures.items()}


def dependence_on_arms(evidence: Evidence, *, analysis: str, split: str) -> Estimate:
    """Smallest relative change of epsilon, over deltas, from N = 2 to N = 10."""
    few, many = (_analysis(evidence, analysis, split, arms) for arms in (2, 10))
    return exact((many / few - 1.0).min())


def independence_of_arms(evidence: Evidence, *, analysis: str, split: str) -> Estimate:
    """Largest absolute relative change of epsilon, over deltas, from N = 2 to N = 10."""
    few, many = (_analysis(evidence, analysis, split, arms) for arms in (2, 10))
    return exact(np.abs(many / few - 1.0).max())


def share_weaker(
    evidence: Evidence, *, analysis: str, split: str, arms: int, factor: float
) -> Estimate:
    """Share of the deltas at which epsilon is at least ``factor`` times that of GDP."""
    ratio = _analysis(evidence, analysis, split, arms) / _gdp(evidence)
    return exact(np.nan if np.isnan(ratio).any() else (ratio >= factor).mean())


def true_over_claimed_delta(
    evidence: Evidence, *, calibration: str, means: str
) -> Mapping[str, Estimate]:
    """Exact delta of one action at the epsilon claimed for it, over the delta claimed (Theorem 7).

    Args:
        evidence: the results.
        calibration: epsilon ``printed`` (Theorem 7) or ``corrected`` (1/sqrt(2)-GDP).
        means: ``any`` differences of means, or those that are ``reachable`` with rewards in [0, 1].
    """
    found = evidence.analytic(
        CONSTANTS, quantity="true-delta", calibration=calibration, means=means
    )
    return {
        f"pulls {pulls}, delta {claimed:g}": exact(true / claimed)
        for pulls, claimed, true in zip(found["pulls"], found["x"], found["y"], strict=True)
    }


def _constant(evidence: Evidence, **where: object) -> Estimate:
    return exact(evidence.analytic(CONSTANTS, **where)["y"].item())


def _figure1(evidence: Evidence, family: str) -> Values:
    """Epsilon, shape (deltas, values of the family), both increasing."""
    frame = evidence.analytic(CURVES, family=family)
    return frame.pivot(index="x", columns=family, values="y").to_numpy()


def _analysis(evidence: Evidence, analysis: str, split: str, arms: int) -> Values:
    frame = evidence.analytic(ANALYSES, analysis=analysis, split=split, arms=arms)
    return np.asarray(frame["y"], dtype=np.float64)


def _gdp(evidence: Evidence) -> Values:
    return _analysis(evidence, "gdp", "none", 2)


def _rdp(evidence: Evidence) -> Values:
    return _analysis(evidence, "rdp", "none", 2)
