"""Nash regret as evidence: the curves of a series, and their numbers with every run's influence."""

import math
from typing import Any

import numpy as np

from dpbandits.claims.evidence import Evidence, Recorded
from dpbandits.claims.jackknife import Measure, average
from dpbandits.errors import InputError
from dpbandits.metrics.names import NOMINAL, QUANTITIES
from dpbandits.metrics.nash_curve import NashCurve

Sample = tuple[str, str, int]
"""Names the runs of a curve: simulation, series, and number of runs of the series before them."""

Curves = dict[Sample, NashCurve]


def nash_curves(
    evidence: Evidence, simulation: str, *, nominal: bool = False, **where: Any
) -> Curves:
    """Return the Nash curves of the one series with these tags.

    Where runs are limited, these are the curves that begin among the runs read: the runs of a curve
    cannot be parted. Without recorded influences a curve has none, of shape (0, G).

    Args:
        evidence: the results.
        simulation: where they are recorded.
        nominal: whether they are scored by nominal means.
        where: the tags; None for no value of a tag.

    Raises:
        InputError: not exactly one series has these tags, or no Nash regret is recorded of it.
    """
    recorded = evidence.recorded(simulation)
    series = recorded.find(where)
    curves = all_curves(recorded, series, NOMINAL if nominal else "")
    end = math.inf if evidence.limit is None else evidence.skip + evidence.limit
    return {
        (simulation, series, start): curve
        for start, curve in curves.items()
        if evidence.skip <= start < end
    }


def all_curves(recorded: Recorded, series: str, prefix: str = "") -> dict[int, NashCurve]:
    """Return every Nash curve of a series, by the number of runs before its own.

    Raises:
        InputError: no Nash regret is recorded under this prefix.
    """
    blocks = [recorded.block(series, prefix + name) for name in QUANTITIES]
    times = blocks[0].times
    quantities = np.stack([block.values[:, :, 0] for block in blocks], axis=1)
    starts = blocks[0].runs - blocks[0].runs[0]
    try:
        influences = recorded.block(series, prefix + "nash_influence").values[:, :, 0]
    except InputError:
        influences = np.empty((0, times.size))
    parts = np.split(influences, starts[1:])
    return {
        int(start): NashCurve.of_parts(times, each, part)
        for start, each, part in zip(starts, quantities, parts, strict=True)
    }


def nash_regret(curves: Curves, index: int, *, subtract_bias: bool = True) -> Measure:
    """Return the Nash regret at one recorded time, the mean over curves; NaN without any.

    Args:
        curves: of one series, from ``nash_curves``.
        index: position of the time in ``times``.
        subtract_bias: whether to take off what the bias of first order in 1/R makes it too high by.
    """
    return average(_regret(sample, curve, index, subtract_bias) for sample, curve in curves.items())


def _regret(sample: Sample, curve: NashCurve, index: int, subtract_bias: bool) -> Measure:
    geometric_mean = float(curve.geometric_mean[index])
    bias = geometric_mean * math.expm1(float(curve.log_bias[index])) if subtract_bias else 0.0
    influences = -geometric_mean * curve.influences[:, index]
    return Measure(curve.best_mean - geometric_mean - bias, {sample: influences})
