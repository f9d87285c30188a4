"""From the recorded quantities of Nash curves to points: Nash regret with its interval.

Nash regret is mu* - exp(mean logarithm); ``dpbandits.metrics.nash`` says what is recorded.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from dpbandits.metrics.intervals import mean_interval
from dpbandits.metrics.names import QUANTITIES
from dpbandits.reporting.series_specs import NASH_REGRET

Values = NDArray[np.float64]


def nash_quantities(metric: str) -> list[str]:
    """Return the names of the recorded quantities of a metric out of ``NASH_METRICS``."""
    return [metric.removesuffix(NASH_REGRET) + name for name in QUANTITIES]


def nash_regrets(
    rows: pd.DataFrame, estimate: str = "corrected", best: float | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Return Nash regret at every recorded t, over one or more curves of one series.

    Of one curve the interval is that of the infinitesimal jackknife over its runs, of several the
    t interval of their mean.

    Args:
        rows: the quantities of ``nash_quantities``, in the long form of ``engine.results``.
        estimate: one of ``series_specs.Estimate``.
        best: mu*; None for the largest of the means by which the curves are scored.
        level: coverage, in (0, 1).

    Returns:
        Columns x (the times t, ascending), y, lo, hi and runs (of all curves together).
    """
    short = rows.assign(metric=rows["metric"].str.removeprefix("nominal_"))
    wide = short.pivot(index="run", columns=["metric", "t"], values="value").sort_index(axis=1)
    quantity: dict[str, Values] = {name: wide[name].to_numpy() for name in QUANTITIES}
    runs = int(short.drop_duplicates("run")["trials"].sum())
    log_mean = quantity["binned_log_mean" if estimate == "binned" else "nash_log_mean"]
    if estimate == "corrected":
        log_mean = log_mean + quantity["nash_bias"]
    regret = (quantity["best_mean"] if best is None else best) - np.exp(log_mean)
    if len(regret) > 1:
        y, low, high = mean_interval(regret, level)
    else:
        y = regret[0]
        geometric = np.exp(quantity["nash_log_mean"][0])
        half = _half_width(geometric * quantity["nash_standard_error"][0], runs, level)
        low, high = y - half, y + half
    times: Any = wide[QUANTITIES[0]].columns.to_numpy()
    return pd.DataFrame({"x": times, "y": y, "lo": low, "hi": high, "runs": runs})


def _half_width(error: Values, runs: int, level: float) -> Values:
    """Return half the t interval; one run has the whole line."""
    if runs < 2:
        return np.full(error.shape, np.inf)
    return np.asarray(stdtrit(runs - 1, 0.5 + level / 2) * error)
