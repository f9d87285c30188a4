"""From intervals to words: the function that decides, and the one that combines decisions."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from dpbandits.config.claims import SHOWN, ComparisonSpec, Stated

if TYPE_CHECKING:
    from dpbandits.claims.estimates import Estimate


@dataclass(frozen=True)
class Region:
    """The numbers with which a comparison supports the claim.

    ``is_open``: a strict comparison, of which finite ends lie outside. ``equal`` is the number at
    which the two sides of a strict comparison are equal; NaN where it has no two sides.
    """

    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False
    equal: float = math.nan

    def describe(self) -> str:
        """Return it in words, such as ``less than 0.8``."""
        strict = "less than {:.6g}", "greater than {:.6g}"
        wide = "at most {:.6g}", "at least {:.6g}"
        below, above = strict if self.is_open else wide
        if self.low == -math.inf and self.high == math.inf:
            return ""
        if self.low == -math.inf:
            return below.format(self.high)
        if self.high == math.inf:
            return above.format(self.low)
        if self.low == self.high:
            return f"exactly {self.low:.6g}"
        return f"within [{self.low:.6g}, {self.high:.6g}]"


def region_of(comparison: ComparisonSpec, estimate: "Estimate") -> Region:
    """Return where the number of a comparison has to lie; everywhere without a kind.

    A number of kind ``alike`` may be off equality by half the width of the interval that the
    ``estimate`` would have at the number of runs that the comparison names.
    """
    kind, threshold = comparison.kind, comparison.threshold
    if kind == SHOWN:
        return Region()
    steps = [options for name, options in comparison.pick if name == "steps"]
    is_ratio = bool(comparison.ratio) or any(each.get("by") == "ratio" for each in steps)
    # Two sides are equal where their ratio is 1 or their difference 0.
    equal, is_open = float(is_ratio), kind in ("less", "greater")
    if isinstance(threshold, tuple):
        low, high = threshold
    elif kind == "alike":
        half = half_width(estimate, threshold / max(estimate.runs, 1))
        low, high = equal - half, equal + half
    else:
        low = -math.inf if kind in ("less", "at_most") else threshold
        high = math.inf if kind in ("greater", "at_least") else threshold
    are_sides = is_ratio or comparison.difference or steps
    if not (is_open and are_sides and threshold == equal):
        equal = math.nan
    return Region(low - comparison.tolerance, high + comparison.tolerance, is_open, equal)


PLAIN = 0.05
"""Level of an interval that is not shared with other comparisons."""

ALPHA = 0.05
"""Level of a reading: the chance that one of its comparisons is decided wrongly."""


def interval_at(estimate: "Estimate", runs_ratio: float) -> tuple[float, float]:
    """Return the plain 95 % interval that ``runs_ratio`` times the runs would give.

    A ratio, not a number of runs, because the unit of an estimate may be a Nash curve.
    """
    value, (lo, hi) = estimate.value, estimate.interval(PLAIN)
    widened = math.sqrt(1.0 / runs_ratio)
    return value - (value - lo) * widened, value + (hi - value) * widened


def half_width(estimate: "Estimate", runs_ratio: float) -> float:
    """Return half the width of that interval; NaN where infinite."""
    lo, hi = interval_at(estimate, runs_ratio)
    half = (hi - lo) / 2.0
    return half if half < math.inf else math.nan


Decision = Literal["for", "against", "equal", "undecided", "shown"]


def decide(lo: float, hi: float, region: Region) -> Decision:
    """Decide a comparison by its interval [lo, hi] and the region that the claim asks for.

    ``for`` where the interval lies inside the region, ``against`` where it lies outside on one
    side; ``undecided`` where it straddles an end, is empty (lo > hi), has a NaN or is the whole
    line. Both sides are ``equal`` where the interval is the point of equality alone.
    """
    if not lo <= hi or (lo == -math.inf and hi == math.inf):
        return "undecided"
    if lo == hi == region.equal and region.is_open:
        return "equal"
    low, high = region.low, region.high
    if region.is_open:
        # The ends of a strict comparison lie outside.
        low = math.nextafter(low, math.inf) if low > -math.inf else low
        high = math.nextafter(high, -math.inf) if high < math.inf else high
    if hi < low or lo > high:
        return "against"
    return "for" if lo >= low and hi <= high else "undecided"


def are_alike(
    lo: float, hi: float, estimate: "Estimate", region: Region, runs_ratio: float
) -> bool:
    """Return whether both sides are alike at the paper's number of runs, this ratio to those read.

    The whole interval lies within half the width of a 95 % interval at that number of runs.
    """
    if not runs_ratio or math.isnan(region.equal) or not lo <= hi:
        return False
    half = half_width(estimate, runs_ratio)
    return region.equal - half <= lo and hi <= region.equal + half


Verdict = Literal[
    "as stated",
    "in part",
    "not as stated",
    "undecided",
    "depends on the reading",
    "cannot be tested here",
    "size only",
    "not contradicted",
    "counterexample",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

OPEN_POINTS = 1 / 20
"""Share of the points that may be open where a sentence without a quantifier is as stated."""

SEEN_FROM = 2.0
"""A guarantee cannot be tested where an excess by more than this factor would not be seen."""


def verdict_of(
    claim: Stated, decisions: Iterable[Decision], seen_from: float = math.nan
) -> Verdict:
    """Combine the decisions on the points of one reading; those with equal sides are not counted.

    ``every``: one point against is ``not as stated``, one that is open ``undecided``. ``exists``:
    one point for is ``as stated``, none ``undecided``. ``points``: one against is ``in part``
    where another one is for; up to one in twenty may be open. ``seen_from`` is by how much a
    guarantee would have to be exceeded to be seen.
    """
    several, quantifier = list(decisions), claim.quantifier
    if claim.cannot:
        return "cannot be tested here"
    if claim.kind == "privacy" or claim.bound:
        if "against" in several:
            return "not as stated" if claim.kind == "experiment" else "counterexample"
        if seen_from > SEEN_FROM:
            return "cannot be tested here"
        return "not contradicted" if several else "size only"
    counted = [each for each in several if each in ("for", "against", "undecided")]
    if not [each for each in several if each != "shown"]:
        return "size only"
    if quantifier == "exists":
        return "as stated" if "for" in counted else "undecided"
    if "against" in counted:
        return "in part" if quantifier == "points" and "for" in counted else "not as stated"
    most = OPEN_POINTS * len(counted) if quantifier == "points" else 0
    is_open = not counted or counted.count("undecided") > most
    return "undecided" if is_open else "as stated"


def decides_alone(claim: Stated) -> Decision | None:
    """Return the decision of which one point settles the verdict, whatever the others are."""
    if claim.kind == "privacy" or claim.bound or claim.quantifier == "every":
        return "against"
    return "for" if claim.quantifier == "exists" else None


def of_readings(words: Iterable[str]) -> str:
    """Combine the verdicts on the readings of a claim."""
    different = set(words)
    return different.pop() if len(different) == 1 else "depends on the reading"
