"""Statistics of the claims on identical decisions: trials that come out otherwise on one stream."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate, Evidence, exact
from dpbandits.papers.dp_bai.points import BUDGETS, MORE_RATIOS, RATIOS

PAIRED_EPSILONS = (0.1, 0.5)
PAIRED_BUDGETS = (200, 1000)


def ratio_mismatches(evidence: Evidence) -> dict[str, Estimate]:
    """Trials in which DP-BAI returns another arm than at y/x = 1, for each y/x, T and epsilon."""
    found = {}
    for epsilon, budget in itertools.product(PAIRED_EPSILONS, PAIRED_BUDGETS):
        tags: dict[str, Any] = {"epsilon": epsilon, "horizon": budget}
        first = evidence.values("common-stream", "recommended", ratio=1, **tags)
        for ratio in sorted({*RATIOS, *MORE_RATIOS} - {1}):
            other = evidence.values("common-stream", "recommended", ratio=ratio, **tags)
            label = f"y/x={ratio:g}, T={budget}, epsilon={epsilon:g}"
            found[label] = _mismatches(first, other)
    return found


def noiseless_mismatches(evidence: Evidence, *, schedule: str) -> dict[str, Estimate]:
    """Trials in which DP-BAI without noise and OD-LinBAI return different arms, at each T."""
    found = {}
    for budget in BUDGETS:
        tags: dict[str, Any] = {"epsilon": math.inf, "schedule": schedule}
        private = evidence.values(
            "noiseless", "recommended", algorithm="dp-bai", horizon=budget, **tags
        )
        other = evidence.values("noiseless", "recommended", algorithm="od-linbai", horizon=budget)
        found[f"T={budget}"] = _mismatches(private, other)
    return found


def _mismatches(first: NDArray[np.float64], second: NDArray[np.float64]) -> Estimate:
    is_lost = first.size == 0 or np.isnan(first).any() or np.isnan(second).any()
    return exact(math.nan if is_lost else float((first != second).sum()), first.size)
