"""The largest privacy loss over pairs of neighbouring tables, from chances by table and output."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """The largest privacy loss over the pairs of neighbouring tables and the outputs considered.

    Attributes:
        value: the largest |log ratio| of an output's chances under both tables.
        log_chance: log of the smaller one of these two chances.
        place: of the first of both tables, and its output, in the array of chances.
    """

    value: float
    log_chance: float
    place: tuple[int, ...] = ()


def largest_loss(
    log_chances: Values, axes: tuple[int, ...], least_log_chance: float = -math.inf
) -> Loss:
    """Return the loss between tables that are neighbours along these axes.

    Args:
        log_chances: log chance of an output, by table along ``axes`` and by output otherwise.
        axes: along them, tables next to each other differ in one reward.
        least_log_chance: less likely outputs, by the smaller of both chances, are left out.
    """
    losses = [Loss(0.0, 0.0)]
    for axis in axes:
        ends = [np.take(log_chances, rows, axis=axis) for rows in _neighbours(log_chances, axis)]
        smaller = np.minimum(*ends)
        steps = np.where(smaller >= least_log_chance, np.abs(ends[1] - ends[0]), 0.0)
        place = np.unravel_index(steps.argmax(), steps.shape)
        at = tuple(int(coordinate) for coordinate in place)
        losses.append(Loss(float(steps[place]), float(smaller[place]), at))
    return max(losses, key=lambda loss: loss.value)


def _neighbours(values: Values, axis: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of all pairs of neighbours along an axis."""
    places = np.arange(values.shape[axis])
    return places[:-1], places[1:]
