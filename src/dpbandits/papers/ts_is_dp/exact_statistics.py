"""Statistics of the analytic claims: numbers of the exactly computed curves.

A NaN anywhere in what a statistic reads makes its number NaN.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Estimate, exact
from dpbandits.errors import InputError

CURVES = "privacy-by-b-and-c"
ANALYSES = "privacy-by-analysis"
DELTAS = "delta-by-analysis"
CONSTANTS = "constants"

POINTS_OF_CHOICE = {
    "any": {"1,many": "second function of vanishing noise", "1,1": "both noisy"},
    "reachable": {"1,many": "pulls (1, many)", "1,1": "pulls (1, 1)"},
}
"""By means: pulls of the two arms in the results -> the two functions, or arms, that they are."""

Values = NDArray[np.float64]


def standard_level_over(evidence: Evidence, *, accounting: str, eta: float) -> Estimate:
    """Return the GDP parameter of (b, c) = (0, 1) at T = 1e5 by Lemma 4 or 5, over a level eta."""
    return exact(evidence.number(CONSTANTS, quantity="gdp", accounting=accounting) / eta)


def arm_mean_deviation(
    evidence: Evidence, *, law: str, printed: Sequence[float]
) -> Mapping[str, Estimate]:
    """Return the mean of each exponential arm minus the printed one (Section 5.2).

    Args:
        evidence: the results.
        law: of "exponential on [0, 1]", ``conditional`` or ``clipped``.
        printed: the printed means, by increasing rate.
    """
    arms = evidence.analytic(CONSTANTS, quantity="arm-mean", law=law)
    return {
        f"rate {rate:g}": exact(mean - value)
        for rate, mean, value in zip(arms["x"], arms["y"], printed, strict=True)
    }


def largest_step(evidence: Evidence, *, family: str) -> Estimate:
    """Return the largest change of epsilon from one b (or c) to the next, over all deltas."""
    return exact(np.diff(_figure1(evidence, family), axis=1).max())


def largest_asymmetry(evidence: Evidence) -> Estimate:
    """Return the largest relative difference of epsilon at (b, 1) and (0, b + 1), over deltas."""
    by_b, by_c = _figure1(evidence, "b"), _figure1(evidence, "c")
    return exact(np.abs(by_b / by_c - 1.0).max())


def largest_ratio_to_standard(
    evidence: Evidence, *, family: str, product: int, baseline: str
) -> Estimate:
    """Return the largest ratio, over deltas, of epsilon at a value of c (b + 1) to (0, 1).

    Args:
        evidence: the results.
        family: which parameter is raised, ``b`` or ``c``.
        product: the value of c (b + 1).
        baseline: what gives epsilon of (0, 1): ``lemma5``, as in Figure 1, or ``theorem3``.
    """
    raised = {"b": {"b": product - 1}, "c": {"c": product}}[family]
    standard = {"b": {"b": 0}, "c": {"c": 1}}[family]
    above = evidence.analytic(CURVES, family=family, **raised)["y"].to_numpy()
    by_lemma5 = evidence.analytic(CURVES, family=family, **standard)["y"].to_numpy()
    below = {"lemma5": by_lemma5, "theorem3": _gdp(evidence)}[baseline]
    return exact((above / below).max())


def small_delta_advantage(
    evidence: Evidence, *, order: str | float, measure: str
) -> Mapping[str, Estimate]:
    """Return the advantage of GDP over RDP at the smallest delta relative to the largest one.

    Args:
        evidence: the results.
        order: of Theorem 8, ``best`` at every delta or one number for the curve.
        measure: ``epsilon``, for the difference of the epsilons at a delta and for their ratio
            minus 1, or ``delta``, for the ratio of the deltas at the epsilon of GDP.
    """
    if measure == "delta":
        advantages = {"ratio of delta": _rdp_over_gdp(evidence, order, measure)}
    else:
        ratio = _rdp_over_gdp(evidence, order, measure)
        difference = (ratio - 1.0) * _gdp(evidence)
        advantages = {"difference of epsilon": difference, "ratio of epsilon minus 1": ratio - 1.0}
    return {name: exact(values[0] / values[-1]) for name, values in advantages.items()}


def advantage_at_ends(
    evidence: Evidence, *, order: str | float, measure: str
) -> Mapping[str, Estimate]:
    """Return the ratio of RDP to GDP at the smallest and at the largest delta."""
    ratio = _rdp_over_gdp(evidence, order, measure)
    return {"delta 1e-10": exact(ratio[0]), "delta 1e-1": exact(ratio[-1])}


def independence_of_arms(evidence: Evidence, *, analysis: str, split: str) -> Estimate:
    """Return the largest absolute relative change of epsilon, over deltas, from N = 2 to 10."""
    return exact(np.abs(_change_with_arms(evidence, analysis, split)).max())


def share_weaker(
    evidence: Evidence, *, analysis: str, split: str, arms: int, factor: float
) -> Estimate:
    """Return the share of the deltas at which epsilon is at least ``factor`` times that of GDP."""
    return _share(_ratios(evidence, analysis, "gdp", split, arms), factor)


def factor_on_half(evidence: Evidence, *, analysis: str, split: str, arms: int) -> Estimate:
    """Return the largest factor that epsilon over that of GDP reaches on half of the deltas."""
    return _on_half(_ratios(evidence, analysis, "gdp", split, arms))


def rdp_share_weaker(evidence: Evidence, *, measure: str, factor: float) -> Estimate:
    """Return the share of the deltas at which RDP is ``factor`` times weaker than GDP.

    ``measure`` is ``epsilon`` at a delta or ``delta`` at the epsilon of GDP, at the best order.
    """
    return _share(_rdp_over_gdp(evidence, "best", measure), factor)


def largest_rdp_ratio(evidence: Evidence, *, order: str | float, measure: str) -> Estimate:
    """Return the largest ratio of RDP to GDP over the deltas; arguments as above."""
    return exact(_rdp_over_gdp(evidence, order, measure).max())


def smallest_rdp_ratio(evidence: Evidence, *, order: str | float, measure: str) -> Estimate:
    """Return the smallest ratio of RDP to GDP over the deltas; arguments as above."""
    return exact(_rdp_over_gdp(evidence, order, measure).min())


def pooled_share_weaker(evidence: Evidence, *, split: str, factor: float) -> Estimate:
    """Return that share over standard DP and RDP at once, with two arms and with ten."""
    ratios = [
        _ratios(evidence, analysis, "gdp", kind, arms)
        for analysis, kind in (("standard-dp", split), ("rdp", "none"))
        for arms in (2, 10)
    ]
    return _share(np.concatenate(ratios), factor)


def true_over_claimed_delta(
    evidence: Evidence, *, calibration: str, means: str
) -> Mapping[str, Estimate]:
    """Return the exact delta of one choice between two over the delta claimed for it.

    Args:
        evidence: the results.
        calibration: epsilon ``printed`` (Theorems 6 and 7) or ``corrected`` (1/sqrt(2)-GDP).
        means: ``any`` two functions (Theorem 6), or the means of two arms that are ``reachable``
            with rewards in [0, 1] (Theorem 7).
    """
    where = {"quantity": "true-delta", "calibration": calibration, "means": means}
    frame = evidence.analytic(CONSTANTS, **where)
    names = POINTS_OF_CHOICE[means]
    return {
        f"{names[pulls]}, delta {claimed:g}": exact(true / claimed)
        for pulls, claimed, true in zip(frame["pulls"], frame["x"], frame["y"], strict=True)
    }


def _figure1(evidence: Evidence, family: str) -> Values:
    """Return the epsilon, shape (deltas, values of the family), both increasing."""
    frame = evidence.analytic(CURVES, family=family)
    return frame.pivot(index="x", columns=family, values="y").to_numpy()


def _analysis(evidence: Evidence, analysis: str, split: str, arms: int) -> Values:
    frame = evidence.analytic(ANALYSES, analysis=analysis, split=split, arms=arms)
    return np.asarray(frame["y"], dtype=np.float64)


def _gdp(evidence: Evidence) -> Values:
    return _analysis(evidence, "gdp", "none", 2)


def _ratios(evidence: Evidence, analysis: str, over: str, split: str, arms: int) -> Values:
    weaker = _analysis(evidence, analysis, split, arms)
    return np.asarray(weaker / _analysis(evidence, over, "none", arms))


def _rdp_over_gdp(evidence: Evidence, order: str | float, measure: str) -> Values:
    """Return the ratio of RDP to GDP by increasing delta, of epsilon or of delta."""
    if measure == "delta" and order != "best":
        raise InputError(f"order is {order!r} with measure 'delta'; allowed: best")
    if measure == "delta":
        return evidence.analytic(DELTAS)["y"].to_numpy(np.float64)
    analysis = "rdp" if order == "best" else "rdp-fixed-order"
    return _ratios(evidence, analysis, "gdp", "none", 2)


def _change_with_arms(evidence: Evidence, analysis: str, split: str) -> Values:
    few, many = (_analysis(evidence, analysis, split, arms) for arms in (2, 10))
    return np.asarray(many / few - 1.0)


def _share(ratios: Values, factor: float) -> Estimate:
    return exact(np.nan if np.isnan(ratios).any() else (ratios >= factor).mean())


def _on_half(ratios: Values) -> Estimate:
    ordered = np.sort(ratios)[::-1]
    return exact(np.nan if np.isnan(ratios).any() else ordered[(ratios.size + 1) // 2 - 1])
