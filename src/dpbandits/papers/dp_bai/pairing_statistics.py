"""Statistics of the claims on identical decisions: trials that come out otherwise on one stream."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate, Evidence, exact, mean
from dpbandits.papers.dp_bai.points import BUDGETS, MORE_RATIOS, RATIOS

Values = NDArray[np.float64]

PAIRED_EPSILONS = (0.1, 0.5)
PAIRED_BUDGETS = (200, 1000)


def ratio_gaps(evidence: Evidence) -> dict[str, Estimate]:
    """Success of DP-BAI minus that at y/x = 1 on the same stream, for each y/x, T and epsilon.

    Arm 0 is the better one.
    """
    found: dict[str, Estimate] = {}
    for label, first, other in _paired(evidence):
        is_lost = np.isnan(first).any() or np.isnan(other).any()
        gap = (other == 0.0).astype(float) - (first == 0.0)
        found[label] = exact(math.nan, gap.size) if is_lost else mean(gap)
    return found


def ratio_mismatches(evidence: Evidence) -> dict[str, Estimate]:
    """Trials in which DP-BAI returns another arm than at y/x = 1, for each y/x, T and epsilon."""
    return {label: _mismatches(first, other) for label, first, other in _paired(evidence)}


def _paired(evidence: Evidence) -> Iterator[tuple[str, Values, Values]]:
    """Return label, arms returned at y/x = 1, and arms returned at another y/x."""
    for epsilon, budget in itertools.product(PAIRED_EPSILONS, PAIRED_BUDGETS):
        tags: dict[str, Any] = {"epsilon": epsilon, "horizon": budget}
        first = evidence.values("common-stream", "recommended", ratio=1, **tags)
        for ratio in sorted({*RATIOS, *MORE_RATIOS} - {1}):
            other = evidence.values("common-stream", "recommended", ratio=ratio, **tags)
            yield f"y/x={ratio:g}, T={budget}, epsilon={epsilon:g}", first, other


def noiseless_mismatches(evidence: Evidence) -> dict[str, Estimate]:
    """Trials in which DP-BAI without noise and OD-LinBAI return different arms, at each T."""
    found = {}
    for budget in BUDGETS:
        private = evidence.values(
            "noiseless", "recommended", algorithm="dp-bai", horizon=budget, epsilon=math.inf
        )
        other = evidence.values("noiseless", "recommended", algorithm="od-linbai", horizon=budget)
        found[f"T={budget}"] = _mismatches(private, other)
    return found


def _mismatches(first: Values, second: Values) -> Estimate:
    is_lost = first.size == 0 or np.isnan(first).any() or np.isnan(second).any()
    return exact(math.nan if is_lost else float((first != second).sum()), first.size)
