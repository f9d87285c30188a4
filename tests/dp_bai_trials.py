"""Shares of simulated trials against exact chances."""

import math

TRIALS = 200_000


def near(found: float, expected: float, trials: int = TRIALS) -> bool:
    """Whether a share of trials is within 4.5 standard errors of a chance.

    A right number is missed once in 150000 times.
    """
    return abs(found - expected) < 4.5 * math.sqrt(expected * (1.0 - expected) / trials)
