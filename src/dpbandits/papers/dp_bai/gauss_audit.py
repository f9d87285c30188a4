"""Audit of DP-BAI-Gauss: the delta that it needs at its epsilon, exactly (C24, BAI-E9).

The witness has three arms with features u, u/2 and u/4 in the plane. Its sizes are 3, 2 and 1: the
first phase pulls arm 1 alone and keeps arms 1 and 2 if that one noisy mean is above 0, else arms 2
and 3. The second phase pulls the longest of them, so that the sequence of pulls shows the sign.
With two arms, of which the paper does not speak (it has K > 2), the recommendation shows a sign:
in one dimension that of the longer arm's noisy sum, in two that of the difference of both sums.
"""

import itertools
import math

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.algorithms.best_arm.schedule import phase_schedule
from dpbandits.errors import InputError
from dpbandits.papers.dp_bai.curves import curve, joined

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
LARGER_EPSILONS = (8.0, 10.0, 20.0)
DELTAS = (1e-5, 0.01, 0.1, 0.2, 0.3, 0.38, 0.42, 0.5, 0.9)
BUDGETS = (12, 10_002)
CALIBRATIONS = ("classical", "analytic")
TABLES = ("binary", "all")

WITNESS = ((1.0, 0.0), (0.5, 0.0), (0.25, 0.0))
"""Features u, u/2, u/4; theta = u makes the means 1, 1/2 and 1/4, with arm 1 the one best arm."""

INSTANCES = {"witness": (3, 2), "line": (2, 1), "plane": (2, 2)}
"""Instance -> arms and dimension."""

CURVE_EPSILONS = tuple(np.linspace(0.5, 12.0, 93).tolist())
"""Where the witness is drawn."""

CURVE_DELTAS = (0.1, 0.2, 0.3, 0.38, 0.42, 0.5)

_SEARCHED_DELTAS = np.arange(0.3, 0.55, 0.002)
"""Where the smallest epsilon that refutes is looked for; elsewhere it is larger."""


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


def witness_pulls(budget: int) -> int:
    """Return how often the first phase of the witness pulls arm 1.

    Raises:
        InputError: a budget that leaves the first phase no pull of its own.
    """
    schedule = phase_schedule(len(WITNESS), len(WITNESS[0]))
    effective = schedule.effective_budget(budget)
    if effective < 1:
        raise InputError(f"budget is {budget!r}; allowed: above {schedule.reserved}")
    return -(-effective // schedule.phases)


def pulls_of(instance: str, budget: int) -> int:
    """Return how often each arm is pulled whose noisy sum decides, by instance."""
    if instance == "witness":
        return witness_pulls(budget)
    return budget - 1 if instance == "line" else -(-(budget - 2) // 2)


def gauss_privacy() -> pd.DataFrame:
    """Return the delta that DP-BAI-Gauss needs (C24).

    Tags: calibration; instance, ``witness`` (three arms, as the paper asks for), ``line`` (two arms
    in one dimension) or ``plane`` (two in two); arms; dimension; tables, ``binary`` (rewards 0 or
    1) or ``all`` (anything between, too); budget; delta; needed, the delta that is needed;
    epsilons, ``asked`` (up to 5), ``larger``, ``curve`` (a finer grid for the witness) or ``from``
    (the smallest epsilon at which the witness refutes some delta). x: epsilon. y: needed over
    delta; above 1 it is not (epsilon, delta)-DP.
    """
    kinds = itertools.product(CALIBRATIONS, INSTANCES, TABLES, BUDGETS, DELTAS)
    found = [_of_kind(*kind, (*EPSILONS, *LARGER_EPSILONS)) for kind in kinds]
    curves = [
        _of_kind("classical", "witness", "all", BUDGETS[0], delta, CURVE_EPSILONS)
        for delta in CURVE_DELTAS
    ]
    finer = [each.assign(series="curve, " + each["series"], epsilons="curve") for each in curves]
    return joined([*found, *finer, _smallest()])


def smallest_refuted() -> tuple[float, float]:
    """Return the smallest epsilon at which the witness refutes some delta, and that delta."""

    def excess(epsilon: float) -> tuple[float, float]:
        found = (
            needed_delta(
                epsilon,
                deviation(epsilon, delta, "classical"),
                witness_pulls(BUDGETS[0]),
                two_sums=False,
                binary=False,
            )
            / delta
            for delta in _SEARCHED_DELTAS.tolist()
        )
        return max(zip(found, _SEARCHED_DELTAS.tolist(), strict=True))

    root = float(brentq(lambda epsilon: excess(epsilon)[0] - 1.0, 2.0, 5.0, xtol=1e-6))
    return root, excess(root)[1]


def _smallest() -> pd.DataFrame:
    epsilon, delta = smallest_refuted()
    tags = {
        "calibration": "classical",
        "instance": "witness",
        "tables": "all",
        "delta": delta,
        "epsilons": "from",
    }
    return curve("smallest epsilon refuted", tags, [epsilon], [1.0])


def _of_kind(
    calibration: str,
    instance: str,
    tables: str,
    budget: int,
    delta: float,
    epsilons: tuple[float, ...],
) -> pd.DataFrame:
    arms, dimension = INSTANCES[instance]
    needed = [
        needed_delta(
            epsilon,
            deviation(epsilon, delta, calibration),
            pulls_of(instance, budget),
            two_sums=instance == "plane",
            binary=tables == "binary",
        )
        for epsilon in epsilons
    ]
    tags = {
        "calibration": calibration,
        "instance": instance,
        "arms": arms,
        "dimension": dimension,
        "tables": tables,
        "budget": budget,
        "delta": delta,
        "needed": needed,
        "epsilons": np.where(np.array(epsilons) <= max(EPSILONS), "asked", "larger"),
    }
    series = f"{calibration}, {instance}, {tables}, T={budget}, delta={delta:g}"
    return curve(series, tags, epsilons, np.array(needed) / delta)
