"""Nash regret along time, with a table, a plot and a display."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpbandits.metrics import nash_curve
from dpbandits.play.curves import Curve
from dpbandits.play.runs import html_table, interval_text
from dpbandits.text_tables import aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METRIC = "nash_regret"


class NashCurve(nash_curve.NashCurve):
    """Nash regret of R runs at G times; as an array it is the Nash regret itself.

    Make one with ``Simulation.nash_regret``. Printed, or shown by a notebook, it is its table.

    Attributes:
        times: rounds t, shape (G,).
        best_mean: mu*, which regrets are taken from; ``against`` takes another.
        log_mean: log G_t, the mean over time of log e_s, e_s the mean over runs; shape (G,).
        influences: influence of each run on ``log_mean``, with mean 0 over runs; shape (R, G).
        log_bias: what ``log_mean`` is too low by on average, to first order in 1/R; shape (G,).
        average_mean: mean over time of e_s, shape (G,).
        trajectory_mean: mean over runs of the geometric mean along each run, shape (G,).
        binned_log_mean: ``log_mean`` from means over runs and 2,000 bins of time, shape (G,).
        keeps_bias: whether ``nash_regret`` is the plain average over runs, bias and all.
    """

    def mean_curve(self, label: str = "", algorithm: str = "") -> Curve:
        """Return the Nash regret with its 95 % interval, as ``plot`` shows it.

        Args:
            label: text in the legend.
            algorithm: id of the algorithm, for its look.
        """
        ends = np.full(len(self), -np.inf), np.full(len(self), np.inf)
        low, high = self.interval() if self.runs > 1 else ends
        return Curve(label, algorithm, METRIC, self.times, self.nash_regret, low, high)

    def frame(self) -> pd.DataFrame:
        """Return a row for each time: t, metric, value, low and high (95 % interval)."""
        curve = self.mean_curve()
        return pd.DataFrame(
            {
                "t": curve.times,
                "metric": METRIC,
                "value": curve.mean,
                "low": curve.low,
                "high": curve.high,
            }
        )

    def plot(self, *, axes: "Axes | None" = None) -> "Axes":
        """Draw the Nash regret along time, over its 95 % interval.

        Args:
            axes: where to draw; by default new ones.
        """
        # Simulating does without the plotting libraries.
        from dpbandits.play.plots import plot_curves

        return plot_curves([self.mean_curve()], axes)

    def __repr__(self) -> str:
        """Return one line with the Nash regret at the last time."""
        curve = self.mean_curve()
        last = int(np.argmax(curve.times))
        found = interval_text(curve.mean[last], curve.low[last], curve.high[last])
        return f"<NashCurve of {self.runs:,} runs: {found} at t = {curve.times[last]:,}>"

    def __str__(self) -> str:
        """Return the table."""
        return aligned(self.frame())

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return html_table(self.frame())
