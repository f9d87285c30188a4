"""Audit of DP-BAI-Gauss: the delta that it needs at its epsilon, exactly (claim BAI-C24, BAI-E9).

The witness has three arms with features u, u/2 and u/4 in the plane. Its sizes are 3, 2 and 1: the
first phase pulls arm 1 alone and keeps arms 1 and 2 if that one noisy mean is above 0, else arms 2
and 3. The second phase pulls the longest of them, so that the sequence of pulls shows the sign.
With two arms, of which the paper does not speak (it has K > 2), the recommendation shows a sign:
in one dimension that of the longer arm's noisy sum, in two that of the difference of both sums.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.errors import InputError

CALIBRATIONS = ("classical", "analytic")

WITNESS = ((1.0, 0.0), (0.5, 0.0), (0.25, 0.0))
"""Features u, u/2, u/4; theta = u makes the means 1, 1/2 and 1/4, with arm 1 the one best arm."""

INSTANCES = {"witness": (3, 2), "line": (2, 1), "plane": (2, 2)}
"""Instance -> arms and dimension."""


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


@dataclass(frozen=True)
class GaussianWitness:
    """The output and the neighbouring tables that need the largest delta.

    Attributes:
        delta: P - exp(epsilon) P', or 0 where no output needs any.
        log_likely: log P, of the output under the table that makes it more likely.
        log_unlikely: log P'.
        total: s, sum (one) or difference (two) of the rewards under the first table.
    """

    delta: float
    log_likely: float
    log_unlikely: float
    total: float


def gaussian_witness(
    epsilon: float, deviation: float, pulls: int, *, two_sums: bool, binary: bool
) -> GaussianWitness:
    """Return the output that needs the largest delta, over neighbouring tables.

    In units of the noise's deviation (m = 1 / deviation) its delta is the largest
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
    likely, unlikely = log_ndtr(-s * shift), log_ndtr(-(s + 1.0) * shift)
    with np.errstate(over="ignore"):
        excess = np.exp(likely) - np.exp(epsilon + unlikely)
    at = int(excess.argmax())
    delta = max(float(excess[at]), 0.0)
    return GaussianWitness(delta, float(likely[at]), float(unlikely[at]), float(s[at]))


def needed_delta(
    epsilon: float, deviation: float, pulls: int, *, two_sums: bool, binary: bool
) -> float:
    """Return the largest P - exp(epsilon) P' over neighbouring tables and both outputs.

    Args:
        epsilon: as in ``gaussian_witness``, likewise the others.
        deviation: of the noise on one sum.
        pulls: n, of each pulled arm.
        two_sums: whether two noisy sums are compared, or one with 0.
        binary: whether rewards are 0 or 1, or anything between as well.
    """
    return gaussian_witness(epsilon, deviation, pulls, two_sums=two_sums, binary=binary).delta


def witness_pulls(budget: int) -> int:
    """Return how often the first phase of the witness pulls arm 1.

    Raises:
        InputError: a budget that leaves the first phase no pull of its own.
    """
    schedule = phase_schedule(len(WITNESS), len(WITNESS[0]))
    effective = budget - schedule.reserved
    if effective < 1:
        raise InputError(f"budget is {budget!r}; allowed: above {schedule.reserved}")
    return -(-effective // schedule.phases)


def pulls_of(instance: str, budget: int) -> int:
    """Return how often each arm is pulled whose noisy sum decides, by instance."""
    if instance == "witness":
        return witness_pulls(budget)
    return budget - 1 if instance == "line" else -(-(budget - 2) // 2)
