"""A mean along time with its interval: what plots show of a simulation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """The mean of a metric over runs at G times.

    Attributes:
        label: text in the legend.
        algorithm: id of the algorithm, which has one look in every figure; "" for none.
        metric: what it is.
        times: rounds t, shape (G,).
        mean: mean over runs, shape (G,).
        low: lower end of its 95 % interval, shape (G,); minus infinity for one run.
        high: its upper end.
    """

    label: str
    algorithm: str
    metric: str
    times: NDArray[np.int64]
    mean: Values
    low: Values
    high: Values
