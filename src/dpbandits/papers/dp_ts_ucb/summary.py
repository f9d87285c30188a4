"""Levels of Gaussian DP beside the orders of growth of Table 1."""

import math
from collections.abc import Callable

import pandas as pd

from dpbandits import privacy
from dpbandits.papers.curves import curve, joined

HORIZONS = (10_000, 100_000, 1_000_000)

LEVELS: dict[str, Callable[[int], float]] = {
    "TS-Gaussian": privacy.ts_gaussian_gdp,
    "M-TS-Gaussian, b = 0, c = 5": lambda horizon: privacy.modified_ts_gdp(0, 5.0, horizon),
    "M-TS-Gaussian, b + 1 = c = T^(1/4)": lambda horizon: horizon**0.25,
    "M-TS-Gaussian, b + 1 = c = ln T": lambda horizon: math.sqrt(horizon) / math.log(horizon),
    "DP-TS-UCB, α = 1/2": lambda horizon: privacy.dp_ts_ucb_gdp(0.5, horizon),
    "DP-TS-UCB, α = 0": lambda horizon: privacy.dp_ts_ucb_gdp(0.0, horizon),
    "DP-TS-UCB, α = 1": lambda horizon: privacy.dp_ts_ucb_gdp(1.0, horizon),
}
"""By algorithm: from T to eta, at an example of each row of Table 1.

Where b and c grow with T, b is not rounded: the level of M-TS-Gaussian is sqrt(T / (c (b + 1))).
"""


def summary() -> pd.DataFrame:
    """Return eta (Table 1) of each algorithm at three horizons. Tags: algorithm. x: T. y: eta."""
    return joined(
        curve(algorithm, {"algorithm": algorithm}, HORIZONS, [level(t) for t in HORIZONS])
        for algorithm, level in LEVELS.items()
    )
