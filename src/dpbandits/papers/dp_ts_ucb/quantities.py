"""Numbers that claims ask for and no operation on series gives, exact ones among them."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dpbandits import privacy
from dpbandits.claims.evidence import Series
from dpbandits.claims.numbers import Estimate, Measured, as_measured, difference, exact, smooth
from dpbandits.papers.dp_ts_ucb.analytic import (
    ALPHAS,
    DECADES,
    EQUAL_BOUND_FACTOR,
    HORIZON,
    crossover_horizon,
    draw_level,
)
from dpbandits.privacy.thompson import BUDGET_FACTOR


def spread(levels: Series) -> Estimate:
    """Return the largest over the smallest number of an exact result, minus 1."""
    numbers = levels.rows["y"].to_numpy()
    return exact(numbers.max() / numbers.min() - 1.0)


def composed_deviation() -> Estimate:
    """Return the largest relative difference of sqrt(T/2) and the composed draws of TS-Gaussian."""
    composed = [privacy.compose_gdp(np.full(horizon, draw_level())) for horizon in DECADES]
    return exact(np.abs(np.array(composed) / np.sqrt(np.array(DECADES) / 2.0) - 1.0).max())


def deviation_from_root(level: Series) -> Estimate:
    """Return a level of alpha = 1 over sqrt(2 c0), minus 1."""
    return exact(level.number().value / math.sqrt(2.0 * BUDGET_FACTOR) - 1.0)


def equal_privacy_c(*, alpha: float, b: int, root: bool = False) -> Estimate:
    """Return the c by which b pre-pulls have the level of alpha; ``root``: as in Section 5.3."""
    return exact(privacy.equal_privacy_c(float(alpha), b, HORIZON, root=root))


def crossover(*, over: str, phases: int = 2) -> Estimate:
    """Return the T from which on the level of alpha = 0 is below another algorithm's.

    ``phases``: 2 by Theorem 4.4, 1 for the tight level.
    """
    divisor = {"ts-gaussian": 2.0, "m-ts-gaussian": EQUAL_BOUND_FACTOR}[over]
    return exact(crossover_horizon(phases, divisor))


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
