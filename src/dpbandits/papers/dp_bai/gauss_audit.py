"""Audit of DP-BAI-Gauss: the delta that it needs at its epsilon, exactly (C24, E9).

With two arms the output is decided by one comparison of a noisy sum with 0: in one dimension of the
sum of the longer arm, in two of the difference of both sums.
"""

import itertools
import math

import numpy as np
import pandas as pd
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.errors import InputError
from dpbandits.papers.dp_bai.curves import curve, joined

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
LARGER_EPSILONS = (8.0, 10.0, 20.0)
DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)
BUDGETS = (12, 10_002)
CALIBRATIONS = ("classical", "analytic")
TABLES = ("binary", "all")


def deviation(epsilon: float, delta: float, calibration: str) -> float:
    """Return the standard deviation of the noise on a sum of rewards.

    Args:
        epsilon: above 0.
        delta: strictly between 0 and 1.
        calibration: ``classical``, sqrt(2 log(1.25/delta)) / epsilon, as the paper has it, or
            ``analytic``, the smallest one that makes a released sum (epsilon, delta)-DP.

    Raises:
        InputError: another calibration.
    """
    if calibration not in CALIBRATIONS:
        raise InputError(f"calibration is {calibration!r}; allowed: {', '.join(CALIBRATIONS)}")
    if calibration == "classical":
        return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    return 1.0 / privacy.eta_from(epsilon, delta)


def needed_delta(
    epsilon: float, deviation: float, pulls: int, *, two_sums: bool, binary: bool
) -> float:
    """Return the largest P - exp(epsilon) P' over neighbouring tables and both outputs.

    In units of the noise's deviation (m = 1 / deviation), that is the largest
    Phi(-s m) - exp(epsilon) Phi(-(s + 1) m), where s runs from 0 to n - 1 (one sum), or from -n
    to n - 1 (two). It has one maximum, at s = epsilon / m^2 - 1/2. A reward that changes by less
    than 1 leaks less, and so does the other output of one sum, where s runs from -n to -1.

    Args:
        epsilon: above 0.
        deviation: of the noise on one sum.
        pulls: n, of each pulled arm.
        two_sums: whether two noisy sums are compared, or one with 0.
        binary: whether rewards are 0 or 1, or anything between as well.
    """
    shift = 1.0 / (deviation * math.sqrt(2.0)) if two_sums else 1.0 / deviation
    best = epsilon / shift**2 - 0.5
    places = [math.floor(best), math.ceil(best)] if binary else [best]
    s = np.clip(places, -pulls if two_sums else 0, pulls - 1)
    with np.errstate(over="ignore"):
        excess = np.exp(log_ndtr(-s * shift)) - np.exp(epsilon + log_ndtr(-(s + 1.0) * shift))
    return max(float(excess.max()), 0.0)


def gauss_privacy() -> pd.DataFrame:
    """Return the delta that DP-BAI-Gauss needs for two arms (C24).

    Tags: calibration; dimension, 1 (one sum) or 2 (a difference of two); tables, ``binary``
    (rewards 0 or 1) or ``all`` (anything between, too); budget; delta; needed, the delta that is
    needed; epsilons, ``asked`` (up to 5) or ``larger``. x: epsilon. y: needed over delta; it
    is (epsilon, delta)-DP on these tables where that is at most 1.
    """
    kinds = itertools.product(CALIBRATIONS, (1, 2), TABLES, BUDGETS, DELTAS)
    return joined(_of_kind(*kind) for kind in kinds)


def _of_kind(
    calibration: str, dimension: int, tables: str, budget: int, delta: float
) -> pd.DataFrame:
    pulls = budget - 1 if dimension == 1 else -(-(budget - 2) // 2)
    epsilons = np.array([*EPSILONS, *LARGER_EPSILONS])
    needed = [
        needed_delta(
            epsilon,
            deviation(epsilon, delta, calibration),
            pulls,
            two_sums=dimension == 2,
            binary=tables == "binary",
        )
        for epsilon in epsilons.tolist()
    ]
    tags = {
        "calibration": calibration,
        "dimension": dimension,
        "tables": tables,
        "budget": budget,
        "delta": delta,
        "needed": needed,
        "epsilons": np.where(epsilons <= max(EPSILONS), "asked", "larger"),
    }
    series = f"{calibration}, d={dimension}, {tables}, T={budget}, delta={delta:g}"
    return curve(series, tags, epsilons, np.array(needed) / delta)
