"""From intervals to verdicts: the function that decides, Holm's levels, how parts combine."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from dpbandits.claims.regions import Region

if TYPE_CHECKING:
    from dpbandits.claims.estimates import Estimate

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
    if region.excludes(lo, hi):
        return "against"
    if region.is_presumed or region.contains(lo, hi):
        return "for"
    return "neither" if region.is_indifferent_to(lo, hi) else "undecided"


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

    Args:
        p_values: the smallest alpha at which each comparison is decided.
        alpha: chance allowed of deciding any of them wrongly.
    """
    levels = [alpha] * len(p_values)
    stopped = False
    level = alpha
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if not stopped:
            level = alpha / (len(p_values) - rank)
            stopped = p_values[index] > level
        levels[index] = level
    return levels


def combine_comparisons(decisions: Sequence[Decision], rule: Rule = "all") -> Verdict:
    """Combine the comparisons of one part of a claim.

    Args:
        decisions: one for each comparison that counts; none at all is ``undecided``.
        rule: ``all`` (a claim about all points) holds if all are for and fails if one is against;
            ``any`` (a claim that there is one) holds if one is for and fails if all are against;
            ``most`` fails if one is against, and holds if at least 90 % of at least three are
            for. Where all are decided and a comparison is for neither side, ``all`` and ``any``
            may be ``not contradicted``.
    """
    if rule == "most":
        return _combine_most(decisions)
    helps, harms = ("for", "against") if rule == "all" else ("against", "for")
    outcomes: tuple[Verdict, Verdict] = ("holds", "fails") if rule == "all" else ("fails", "holds")
    if harms in decisions:
        return outcomes[1]
    if decisions and all(decision == helps for decision in decisions):
        return outcomes[0]
    if decisions and "undecided" not in decisions:
        return "not contradicted"
    return "undecided"


def _combine_most(decisions: Sequence[Decision]) -> Verdict:
    if "against" in decisions:
        return "fails"
    enough = len(decisions) >= _FEWEST_OF_MOST
    return "holds" if enough and decisions.count("for") >= MOST * len(decisions) else "undecided"


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

    Args:
        verdict: what the comparisons come to.
        words: the words allowed. Without ``holds`` results can contradict the claim but never
            establish it: what would hold is ``not contradicted``. Without ``fails`` they can
            establish it but never refute it: what would fail is ``undecided``. Without ``mixed``
            the paper does not state the parts separately: it fails with any of them.
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
    value = estimate.value
    if estimate.runs < 1 or not (math.isfinite(lo) and math.isfinite(hi) and lo <= value <= hi):
        return math.inf
    if region.contains(value, value):
        pairs = [(value - lo, value - region.low), (hi - value, region.high - value)]
    elif value <= region.low:
        pairs = _pairs_outside(hi - value, value - lo, region.low - value, region.indifference)
    else:
        pairs = _pairs_outside(value - lo, hi - value, value - region.high, region.indifference)
    factors = [half / distance if distance > 0.0 else math.inf for half, distance in pairs]
    return estimate.runs * max(1.0, *factors) ** 2


def _pairs_outside(
    inner: float, outer: float, distance: float, indifference: float
) -> list[tuple[float, float]]:
    """Pair half widths with the distances that they have to shrink to, outside a region.

    Args:
        inner: half width towards the region.
        outer: half width away from it.
        distance: from the estimate to the end of the region.
        indifference: how far it reaches beyond that end.
    """
    if distance < indifference:
        return [(inner, distance), (outer, indifference - distance)]
    return [(inner, distance - indifference)]


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
