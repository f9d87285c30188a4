"""Curves of the delta that DP-BAI-Gauss needs at its epsilon, exactly (C24, E9)."""

import itertools

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dpbandits.audit.releases.gaussian_means import (
    CALIBRATIONS,
    INSTANCES,
    deviation,
    needed_delta,
    pulls_of,
    witness_pulls,
)
from dpbandits.papers.dp_bai.curves import curve, joined

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
LARGER_EPSILONS = (8.0, 10.0, 20.0)
DELTAS = (1e-5, 0.01, 0.1, 0.2, 0.3, 0.38, 0.42, 0.5, 0.9)
BUDGETS = (12, 10_002)
TABLES = ("binary", "all")

CURVE_EPSILONS = tuple(np.linspace(0.5, 12.0, 93).tolist())
"""Where the witness is drawn."""

CURVE_DELTAS = (0.1, 0.2, 0.3, 0.38, 0.42, 0.5)

_SEARCHED_DELTAS = np.arange(0.3, 0.55, 0.002)
"""Where the smallest epsilon that refutes is looked for; elsewhere it is larger."""


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
