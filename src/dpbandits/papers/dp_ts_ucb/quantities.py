"""Numbers that claims ask for and no operation on series gives."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dpbandits.claims.evidence import Series
from dpbandits.claims.numbers import Estimate, Measured, as_measured, difference, exact, smooth
from dpbandits.papers.dp_ts_ucb.analytic import ALPHAS


def spread(levels: Series) -> Estimate:
    """Return the largest over the smallest number of an exact result, minus 1."""
    numbers = levels.rows["y"].to_numpy()
    return exact(numbers.max() / numbers.min() - 1.0)


def composed_deviation(composed: Series) -> Estimate:
    """Return the largest relative difference of sqrt(T/2) and the composed draws of TS-Gaussian."""
    rows = composed.rows
    deviations = rows["y"].to_numpy() / np.sqrt(rows["x"].to_numpy() / 2.0) - 1.0
    return exact(np.abs(deviations).max())


def steps_down(regret: Series, *, horizons: Sequence[int]) -> Estimate:
    """Return the number of steps from an alpha to the next with a 95 % interval below 0."""
    steps = [
        difference(
            regret.having(horizon=horizon, alpha=higher).number(),
            regret.having(horizon=horizon, alpha=alpha).number(),
        )
        for horizon, (alpha, higher) in itertools.product(horizons, itertools.pairwise(ALPHAS))
    ]
    if any(math.isnan(step.value) for step in steps):
        return exact(math.nan)
    return exact(sum(step.interval(0.05)[1] < 0.0 for step in steps), steps[0].runs)


def gap_share(*regrets: Series) -> Measured:
    """Return the gap of the first and the second regret over that of the fourth and the third."""
    return smooth(
        lambda means: (means[:, 0] - means[:, 1]) / (means[:, 3] - means[:, 2]),
        [as_measured(regret.number()) for regret in regrets],
    )
