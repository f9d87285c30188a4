"""The closed set of comparisons: each kind asks whether a number lies in a region."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from dpbandits.errors import InputError

Threshold = float | tuple[float, float]


@dataclass(frozen=True)
class Region:
    """The numbers for which a comparison comes out for the claim.

    Attributes:
        low: lower end, minus infinity for none.
        high: upper end, infinity for none.
        is_open: whether finite ends lie outside (a strict comparison).
        is_presumed: whether the comparison is for the claim unless the interval excludes the
            region ("no significant increase"): it can refute a claim, never carry it.
        indifference: how far beyond an end a number speaks neither for nor against the claim.
    """

    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False
    is_presumed: bool = False
    indifference: float = 0.0

    def contains(self, lo: float, hi: float) -> bool:
        """Whether the whole interval lies inside."""
        if self.is_open:
            return self._above(lo) and self._below(hi)
        return lo >= self.low and hi <= self.high

    def excludes(self, lo: float, hi: float) -> bool:
        """Whether the whole interval lies outside, on one side, beyond the indifference."""
        if self.indifference:
            wider = Region(self.low - self.indifference, self.high + self.indifference)
            return replace(wider, is_open=self.is_open).excludes(lo, hi)
        if self.is_open:
            return not (self._above(hi) and self._below(lo))
        return hi < self.low or lo > self.high

    def is_indifferent_to(self, lo: float, hi: float) -> bool:
        """Whether the whole interval lies outside, but within the indifference."""
        wider = Region(self.low - self.indifference, self.high + self.indifference)
        strict = replace(self, indifference=0.0)
        return self.indifference > 0.0 and strict.excludes(lo, hi) and wider.contains(lo, hi)

    def _above(self, value: float) -> bool:
        return value > self.low or self.low == -math.inf

    def _below(self, value: float) -> bool:
        return value < self.high or self.high == math.inf

    @property
    def scale(self) -> float:
        """What distances from the ends are compared with; 0 where nothing offers itself."""
        ends = [abs(end) for end in (self.low, self.high) if math.isfinite(end)]
        if len(ends) == 2 and self.high > self.low:
            return (self.high - self.low) / 2.0
        return max(ends, default=0.0)

    def describe(self) -> str:
        """Say it in a few words, such as ``less than 0.8``."""
        strict = "less than {:.6g}", "greater than {:.6g}"
        wide = "at most {:.6g}", "at least {:.6g}"
        below, above = strict if self.is_open else wide
        if self.low == -math.inf and self.high == math.inf:
            return ""
        if self.low == -math.inf:
            words = below.format(self.high)
        elif self.high == math.inf:
            words = above.format(self.low)
        elif self.low == self.high:
            words = f"exactly {self.low:.6g}"
        else:
            words = f"within [{self.low:.6g}, {self.high:.6g}]"
        if self.indifference:
            words += f", against from {self.indifference:.6g} beyond"
        return f"not significantly outside: {words}" if self.is_presumed else words


def _number(kind: str, threshold: Threshold) -> float:
    if isinstance(threshold, tuple):
        raise InputError(f"{kind}: threshold is {list(threshold)}; allowed: one number")
    return float(threshold)


def _less(threshold: Threshold, tolerance: float) -> Region:
    return Region(high=_number("less", threshold) + tolerance, is_open=True)


def _greater(threshold: Threshold, tolerance: float) -> Region:
    return Region(low=_number("greater", threshold) - tolerance, is_open=True)


def _at_most(threshold: Threshold, tolerance: float) -> Region:
    return Region(high=_number("at_most", threshold) + tolerance)


def _at_least(threshold: Threshold, tolerance: float) -> Region:
    return Region(low=_number("at_least", threshold) - tolerance)


def _ratio_within(threshold: Threshold, tolerance: float) -> Region:
    if not isinstance(threshold, tuple) or not 0.0 <= threshold[0] <= threshold[1]:
        raise InputError(
            f"ratio_within: threshold is {threshold}; allowed: [low, high], 0 <= low <= high"
        )
    return Region(threshold[0] - tolerance, threshold[1] + tolerance)


def _equivalent(threshold: Threshold, tolerance: float) -> Region:
    margin = abs(_number("equivalent", threshold)) + tolerance
    return Region(-margin, margin)


def _identity(threshold: Threshold, tolerance: float) -> Region:
    expected = _number("identity", threshold)
    return Region(expected - tolerance, expected + tolerance)


def _trend(threshold: Threshold, tolerance: float) -> Region:
    tau = _number("trend", threshold)
    if not 0.0 < abs(tau) <= 1.0:
        raise InputError(
            f"trend: threshold is {tau}; allowed: [-1, 0) decreasing, (0, 1] increasing"
        )
    return _at_least(tau, tolerance) if tau > 0.0 else _at_most(tau, tolerance)


def _no_counterexample(threshold: Threshold, tolerance: float) -> Region:
    if _number("no_counterexample", threshold) != 0.0 or tolerance != 0.0:
        raise InputError("no_counterexample: threshold and tolerance are not 0; allowed: 0")
    return Region(0.0, 0.0)


def _no_increase(threshold: Threshold, tolerance: float) -> Region:
    return Region(high=_number("no_increase", threshold) + tolerance, is_presumed=True)


def _no_decrease(threshold: Threshold, tolerance: float) -> Region:
    return Region(low=_number("no_decrease", threshold) - tolerance, is_presumed=True)


def _report(threshold: Threshold, tolerance: float) -> Region:
    if threshold != 0.0 or tolerance != 0.0:
        raise InputError("report: threshold and tolerance are not 0; allowed: none")
    return Region()


REPORT = "report"

KINDS: dict[str, Callable[[Threshold, float], Region]] = {
    "less": _less,
    "greater": _greater,
    "at_most": _at_most,
    "at_least": _at_least,
    "ratio_within": _ratio_within,
    "equivalent": _equivalent,
    "trend": _trend,
    "interior_optimum": _greater,
    "below_bound": _at_most,
    "identity": _identity,
    "no_counterexample": _no_counterexample,
    "no_increase": _no_increase,
    "no_decrease": _no_decrease,
    REPORT: _report,
}
"""Kind -> region of the number that its statistic returns. The number and its region:

less, greater, at_most, at_least: anything, on one side of the threshold (the first two strictly).
ratio_within: a ratio, in [low, high]. equivalent: a difference, in [-threshold, threshold].
trend: Kendall's tau, at most a negative or at least a positive threshold.
interior_optimum: best end of a grid minus best interior point, above the threshold (usually 0).
below_bound: largest excess of a quantity over its bound over all points, at most the threshold.
identity: in [threshold - tolerance, threshold + tolerance].
no_counterexample: number of counterexamples found, exactly 0.
no_increase, no_decrease: a step; for the claim unless significantly above (below) the threshold.
report: any number; it is shown and decides nothing.
A tolerance widens the region; it is there for rounding.
"""


def region_of(
    kind: str, threshold: Threshold, tolerance: float = 0.0, indifference: float = 0.0
) -> Region:
    """Return the region of a kind of comparison.

    Args:
        kind: a key of ``KINDS``.
        threshold: a number; for ``ratio_within`` the pair (low, high).
        tolerance: 0 or above.
        indifference: 0 or above; see ``Region``.

    Raises:
        InputError: unknown kind, or a threshold that it does not take.
    """
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}; allowed: {', '.join(KINDS)}")
    if not tolerance >= 0.0:
        raise InputError(f"{kind}: tolerance is {tolerance}; allowed: 0 or above")
    if not indifference >= 0.0:
        raise InputError(f"{kind}: indifference is {indifference}; allowed: 0 or above")
    return replace(KINDS[kind](threshold, tolerance), indifference=indifference)
