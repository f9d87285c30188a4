"""From intervals to verdicts: the function that decides, Holm's levels, how parts combine.

Comparisons are a closed set: each kind asks whether a number lies in a region.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.claims.numbers import Estimate

Threshold = float | tuple[float, float]


@dataclass(frozen=True)
class Region:
    """The numbers for which a comparison comes out for the claim.

    Finite ends lie outside where it is open (a strict comparison). A presumed one is for the claim
    unless the interval excludes it ("no significant increase"): it can refute a claim, never carry
    it. Within the indifference beyond an end a number speaks neither for nor against the claim.
    """

    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False
    is_presumed: bool = False
    indifference: float = 0.0

    @property
    def wider(self) -> "Region":
        """The region with its indifference."""
        ends = self.low - self.indifference, self.high + self.indifference
        return Region(*ends, self.is_open)

    def contains(self, lo: float, hi: float) -> bool:
        """Whether the whole interval lies inside."""
        if self.is_open:
            return self._above(lo) and self._below(hi)
        return lo >= self.low and hi <= self.high

    def excludes(self, lo: float, hi: float) -> bool:
        """Whether the whole interval lies outside, on one side."""
        if self.is_open:
            return not (self._above(hi) and self._below(lo))
        return hi < self.low or lo > self.high

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


def _below(threshold: float) -> tuple[float, float]:
    return -math.inf, threshold


def _above(threshold: float) -> tuple[float, float]:
    return threshold, math.inf


REPORT = "report"

KINDS: dict[str, Callable[[Any], tuple[float, float]]] = {
    "less": _below,
    "greater": _above,
    "at_most": _below,
    "at_least": _above,
    "ratio_within": lambda pair: pair,
    "equivalent": lambda margin: (-abs(margin), abs(margin)),
    "trend": lambda tau: _above(tau) if tau > 0.0 else _below(tau),
    "interior_optimum": _above,
    "below_bound": _below,
    "identity": lambda expected: (expected, expected),
    "no_counterexample": lambda zero: (zero, zero),
    "no_increase": _below,
    "no_decrease": _above,
    REPORT: lambda zero: (-math.inf, math.inf),
}
"""Kind of a comparison -> from its threshold to the ends of the region of the number:

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

_OPEN = ("less", "greater", "interior_optimum")
_PRESUMED = ("no_increase", "no_decrease")


def region_of(
    kind: str, threshold: Threshold, tolerance: float = 0.0, indifference: float = 0.0
) -> Region:
    """Return the region of a key of ``KINDS``.

    Raises:
        InputError: a threshold, or a tolerance, that the kind does not take.
    """
    allowed = None
    if kind == "ratio_within":
        if not isinstance(threshold, tuple) or not 0.0 <= threshold[0] <= threshold[1]:
            allowed = "[low, high], 0 <= low <= high"
    elif isinstance(threshold, tuple):
        allowed = "one number"
    elif kind == "trend" and not 0.0 < abs(threshold) <= 1.0:
        allowed = "[-1, 0) decreasing, (0, 1] increasing"
    elif kind in ("no_counterexample", REPORT) and (threshold or tolerance):
        allowed = "0, without a tolerance"
    if allowed:
        given = list(threshold) if isinstance(threshold, tuple) else threshold
        raise InputError(f"{kind}: threshold is {given}; allowed: {allowed}")
    low, high = KINDS[kind](threshold)
    ends = low - tolerance, high + tolerance
    return Region(*ends, kind in _OPEN, kind in _PRESUMED, indifference)


Decision = Literal["for", "against", "neither", "undecided", "reported"]
Word = Literal["holds", "fails", "mixed", "not contradicted"]
Verdict = Literal[
    "holds",
    "fails",
    "mixed",
    "undecided",
    "not contradicted",
    "not testable",
    "not applicable",
    "shown",
    "not shown",
    "reported",
]
Rule = Literal["all", "any", "most"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)[:7]
"""The verdicts on a claim. The other three words say what became of a finding."""

ALPHA = 0.05
"""Level of a claim: the chance that one of its comparisons is decided wrongly."""

MOST = 0.9
"""Share of the comparisons that a claim about most points needs on its side."""

_FEWEST_OF_MOST = 3
_SMALLEST_ALPHA = 1e-12
_BISECTIONS = 50


def decide(lo: float, hi: float, region: Region) -> Decision:
    """Decide a comparison by its interval [lo, hi] and the region that the claim asks for.

    ``for`` where the interval lies inside the region, ``against`` where it lies outside on one
    side, beyond the indifference, ``neither`` where it lies within the indifference;
    ``undecided`` where it straddles an end, is empty (lo > hi), has a NaN or is the whole line. A
    presumed region needs no interval inside: it is ``for`` unless excluded.
    """
    if not lo <= hi or (lo == -math.inf and hi == math.inf):
        return "undecided"
    wider = region.wider
    if wider.excludes(lo, hi):
        return "against"
    if region.is_presumed or region.contains(lo, hi):
        return "for"
    is_within = region.excludes(lo, hi) and wider.low <= lo and hi <= wider.high
    return "neither" if is_within else "undecided"


def deciding_alpha(estimate: "Estimate", region: Region) -> float:
    """Return the smallest alpha at which the interval decides, its p-value; 1 where none does.

    Found by bisection on the logarithm: intervals are nested, so that what is decided at some
    alpha is decided at every larger one. For a presumed region only ``against`` counts.
    """

    def decides(alpha: float) -> bool:
        lo, hi = estimate.interval(alpha)
        decision = decide(lo, hi, region)
        return decision in ("against", "neither") or (decision == "for" and not region.is_presumed)

    if not decides(1.0):
        return 1.0
    if decides(_SMALLEST_ALPHA):
        return _SMALLEST_ALPHA
    low, high = math.log(_SMALLEST_ALPHA), 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if decides(math.exp(middle)) else (middle, high)
    return math.exp(high)


def holm_levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the level at which each comparison of a family is judged (Holm, 1979).

    In ascending order of the p-values, the k-th smallest of m is held against alpha/(m - k + 1);
    from the first that exceeds its level on, all are judged at that level, which decides none.
    """
    levels = [alpha] * len(p_values)
    level, before = alpha, 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if before <= level:
            level = alpha / (len(p_values) - rank)
        levels[index], before = level, p_values[index]
    return levels


def combine_comparisons(decisions: Sequence[Decision], rule: Rule = "all") -> Verdict:
    """Combine the comparisons of one part of a claim; none at all is ``undecided``.

    ``all`` (a claim about all points) holds if all are for and fails if one is against; ``any`` (a
    claim that there is one) holds if one is for and fails if all are against. Where all are decided
    and one is for neither side, both may be ``not contradicted``. ``most`` fails if one is against,
    and holds if at least 90 % of at least three are for.
    """
    if rule == "most":
        is_enough = len(decisions) >= _FEWEST_OF_MOST
        is_for = is_enough and decisions.count("for") >= MOST * len(decisions)
        return "fails" if "against" in decisions else "holds" if is_for else "undecided"
    outcomes: dict[Decision, Verdict] = {"for": "holds", "against": "fails"}
    settles, others = reversed(outcomes) if rule == "all" else outcomes
    if settles in decisions:
        return outcomes[settles]
    if not decisions or "undecided" in decisions:
        return "undecided"
    return outcomes[others] if set(decisions) == {others} else "not contradicted"


def combine_parts(parts: Mapping[str, Verdict]) -> Verdict:
    """Combine separately stated parts: ``mixed`` if one fails and another one does not."""
    verdicts = set(parts.values())
    if "mixed" in verdicts or ("fails" in verdicts and verdicts & {"holds", "not contradicted"}):
        return "mixed"
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return "not contradicted" if verdicts == {"holds", "not contradicted"} else "undecided"


def in_words(verdict: Verdict, words: Collection[Word]) -> Verdict:
    """Return the verdict in the words that a claim may end in.

    Without ``holds`` results can contradict the claim but never establish it, without ``fails``
    establish but never refute it; without ``mixed`` it fails with any of its parts.
    """
    if verdict == "mixed" and "mixed" not in words:
        verdict = "fails"
    if verdict == "holds" and "holds" not in words:
        verdict = "not contradicted"
    return "undecided" if verdict in get_args(Word) and verdict not in words else verdict


def runs_needed(estimate: "Estimate", alpha: float, region: Region) -> float:
    """Return about how many runs would decide a comparison, if its estimate stayed where it is.

    Half widths shrink like 1/sqrt(runs). Infinite where the estimate lies on an end of the
    region or of its indifference, where the level cannot be resolved, or where nothing is known
    of the spread.
    """
    lo, hi = estimate.interval(alpha)
    value, indifference = estimate.value, region.indifference
    if estimate.runs < 1 or not (math.isfinite(lo) and math.isfinite(hi) and lo <= value <= hi):
        return math.inf
    # Half widths, and the distances that they have to shrink to.
    if region.contains(value, value):
        pairs = [(value - lo, value - region.low), (hi - value, region.high - value)]
    else:
        is_below = value <= region.low
        inner, outer = (hi - value, value - lo) if is_below else (value - lo, hi - value)
        distance = region.low - value if is_below else value - region.high
        pairs = [(inner, distance - indifference)]
        if distance < indifference:
            pairs = [(inner, distance), (outer, indifference - distance)]
    factors = [half / distance if distance > 0.0 else math.inf for half, distance in pairs]
    return estimate.runs * max(1.0, *factors) ** 2


def slack(lo: float, hi: float, region: Region) -> float:
    """Return how far a decided interval stays from the ends of its region, free of units.

    The distance between the nearest ends over the region's scale, or over the interval's
    largest end where the region has none (a threshold of 0).
    """
    outside = max(region.low - hi, lo - region.high)
    if region.is_presumed:
        distance = max(abs(outside), 0.0)
    else:
        distance = max(outside, min(lo - region.low, region.high - hi), 0.0)
    scale = region.scale or max(abs(end) for end in (lo, hi))
    return distance / scale if scale > 0.0 else 0.0
