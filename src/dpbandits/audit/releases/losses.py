"""The largest privacy loss over pairs of neighbouring tables, from chances by table and output."""

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
    """

    value: float
    log_chance: float


def largest_loss(log_chances: Values, axes: tuple[int, ...]) -> Loss:
    """Return the loss between tables that are neighbours along these axes.

    Args:
        log_chances: log chance of an output, by table along ``axes`` and by output otherwise.
        axes: along them, tables next to each other differ in one reward.
    """
    losses = []
    for axis in axes:
        steps = np.diff(log_chances, axis=axis)
        place = np.unravel_index(np.abs(steps).argmax(), steps.shape)
        after = tuple(np.add(place, np.eye(log_chances.ndim, dtype=int)[axis]))
        smaller = min(log_chances[place], log_chances[after])
        losses.append(Loss(float(np.abs(steps[place])), float(smaller)))
    return max(losses, key=lambda loss: loss.value)
