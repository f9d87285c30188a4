"""Nash regret along time, with its standard error, its bias and its companions.

A mean over R runs is inside a logarithm, so that the plain average over runs is too high by
about one standard error at R = 50, and its intervals miss too often. Here it is an estimate: the
bias of first order in 1/R is subtracted, unless a caller keeps it, as published curves do.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import COVERAGE, Curve
from dpbandits.text_tables import aligned, html_table, interval_text

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.float64]

BIASES = ("subtracted", "kept")
"""What is done with the bias of the mean over runs inside the logarithm; the default first."""


def require_bias(bias: object) -> str:
    """Return what is done with the bias; InputError unless it is one of ``BIASES``."""
    if bias not in BIASES:
        raise InputError.unknown("bias", bias, BIASES)
    return str(bias)


@dataclass(frozen=True, eq=False)
class NashCurve:
    """Nash regret of R runs at G times; as an array it is the Nash regret itself.

    Make one with ``Simulation.nash_regret``. Printed, or shown by a notebook, it is its table.

    Attributes:
        times: rounds t, shape (G,).
        best_mean: mu*, which regrets are taken from; ``against`` takes another.
        log_mean: log G_t, the mean over time of log e_s, e_s the mean over runs; shape (G,).
        log_error: standard error of ``log_mean`` by the infinitesimal jackknife over runs, shape
            (G,).
        log_bias: what ``log_mean`` is too low by on average, to first order in 1/R; shape (G,).
        average_mean: mean over time of e_s, shape (G,).
        trajectory_mean: mean over runs of the geometric mean along each run, shape (G,).
        binned_log_mean: ``log_mean`` from means over runs and 2,000 bins of time, shape (G,).
        runs: number of runs R.
        influences: influence of each run on ``log_mean``, with mean 0 over runs; shape (R, G), or
            (0, G) where they are not recorded.
        keeps_bias: whether ``nash_regret`` is the plain average over runs, bias and all.
    """

    times: NDArray[np.int64]
    best_mean: float
    log_mean: Values
    log_error: Values
    log_bias: Values
    average_mean: Values
    trajectory_mean: Values
    binned_log_mean: Values
    runs: int
    influences: Values
    keeps_bias: bool = False

    def __post_init__(self) -> None:
        """Keep arrays that stay as they are: curves against another mu* share them."""
        for name, value in [*vars(self).items()]:
            if isinstance(value, np.ndarray) and value.flags.writeable:
                # Not ``bandits.read_only``: drawing does without numba, which that imports.
                kept = value.copy()
                kept.setflags(write=False)
                object.__setattr__(self, name, kept)

    @classmethod
    def of_parts(
        cls,
        times: NDArray[np.int64],
        quantities: Values,
        runs: int,
        influences: Values | None = None,
    ) -> "NashCurve":
        """Return the curve of ``metrics.nash.quantities`` and influences at the same times."""
        mean, error, bias, average, trajectory, binned, best = quantities
        known = np.empty((0, times.size)) if influences is None else influences
        means = mean, error, bias, average, trajectory, binned
        return cls(times, float(best[0]), *means, runs, known)

    def against(self, best_mean: float) -> "NashCurve":
        """Return the same curve with regrets from another mu* (DP-NCB, D17 takes 1)."""
        return replace(self, best_mean=float(best_mean))

    def with_bias(self, bias: str) -> "NashCurve":
        """Return the same curve with its bias ``subtracted`` or ``kept``."""
        return replace(self, keeps_bias=require_bias(bias) == "kept")

    @property
    def geometric_mean(self) -> Values:
        """G_t of the plain averages over runs, shape (G,)."""
        return np.exp(self.log_mean)

    @property
    def nash_regret(self) -> Values:
        """mu* - G_t with the bias of log G_t subtracted, unless it is kept; shape (G,).

        Raises:
            InputError: the bias is to be subtracted and not known, since there is one run only.
        """
        if self.keeps_bias:
            return np.asarray(self.best_mean - self.geometric_mean)
        self._require_bias()
        return np.asarray(self.best_mean - np.exp(self.log_mean + self.log_bias))

    @property
    def average_regret(self) -> Values:
        """mu* minus the mean over time of e_s, shape (G,); never above the plain Nash regret."""
        return np.asarray(self.best_mean - self.average_mean)

    @property
    def trajectory_regret(self) -> Values:
        """mu* minus the mean over runs of each run's own geometric mean, shape (G,)."""
        return np.asarray(self.best_mean - self.trajectory_mean)

    @property
    def binned_regret(self) -> Values:
        """Nash regret from means over bins of time, nearly free of the bias in 1/R, shape (G,)."""
        return np.asarray(self.best_mean - np.exp(self.binned_log_mean))

    @property
    def standard_error(self) -> Values:
        """Standard error of the Nash regret by the infinitesimal jackknife over runs, shape (G,).

        Raises:
            InputError: there is one run only.
        """
        self._require_runs("a standard error")
        return np.asarray(self.geometric_mean * self.log_error)

    @property
    def bias(self) -> Values:
        """By how much the plain Nash regret is too high because log G_t is biased, shape (G,).

        The bias of log G_t is known to first order in 1/R. The Nash regret of a corrected logarithm
        is still off by half the squared standard error of log G_t, a small part of its standard
        error.
        """
        self._require_bias()
        return np.asarray(self.geometric_mean * np.expm1(self.log_bias))

    def _require_bias(self) -> None:
        if np.isnan(self.log_bias).any():
            raise InputError("runs is 1; allowed: at least 2 for a bias, or bias='kept'")

    def half_width(self, level: float = COVERAGE) -> Values:
        """Return half the width of the t interval at a level in (0, 1); infinite for one run."""
        if self.runs < 2:
            return np.full(len(self), np.inf)
        return np.asarray(stdtrit(self.runs - 1, 0.5 + level / 2) * self.standard_error)

    def interval(self, level: float = COVERAGE) -> tuple[Values, Values]:
        """Return the ends of the t interval of the Nash regret, each of shape (G,).

        Args:
            level: coverage, in (0, 1).

        Raises:
            InputError: there is one run only, or the level is out of range.
        """
        if not 0.0 < level < 1.0:
            raise InputError(f"level is {level!r}; allowed: above 0 and below 1")
        self._require_runs("an interval")
        half = self.half_width(level)
        return self.nash_regret - half, self.nash_regret + half

    def _require_runs(self, wanted: str) -> None:
        if self.runs < 2:
            raise InputError(f"runs is {self.runs}; allowed: at least 2 for {wanted}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the Nash regret as an array, which is computed when it is asked for."""
        if copy is False:
            raise ValueError("an array of a Nash curve is a copy; allowed: copy=None or True")
        return np.array(self.nash_regret, dtype=dtype)

    def mean_curve(self, label: str = "", algorithm: str = "") -> Curve:
        """Return the Nash regret with its 95 % interval.

        Args:
            label: text in the legend.
            algorithm: id of the algorithm, for its look.
        """
        mean, half = self.nash_regret, self.half_width()
        return Curve(label, algorithm, "nash_regret", self.times, mean, mean - half, mean + half)

    def frame(self) -> "pd.DataFrame":
        """Return a row for each time: t, metric, value, low and high (95 % interval)."""
        import pandas as pd  # Takes a third of a second, and only tables need it.

        curve = self.mean_curve()
        values = {"value": curve.mean, "low": curve.low, "high": curve.high}
        return pd.DataFrame({"t": curve.times, "metric": "nash_regret", **values})

    def __repr__(self) -> str:
        """Return one line with the Nash regret at the last time."""
        curve = self.mean_curve()
        last = int(np.argmax(curve.times))
        value = interval_text(curve.mean[last], curve.low[last], curve.high[last])
        return f"<NashCurve of {self.runs:,} runs: {value} at t = {curve.times[last]:,}>"

    def __str__(self) -> str:
        """Return the table."""
        return aligned(self.frame())

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return html_table(self.frame())

    def __len__(self) -> int:
        """Return the number of times."""
        return int(self.times.size)

    def __iter__(self) -> Iterator[float]:
        """Go through the Nash regret at each time."""
        return iter(self.nash_regret.tolist())

    def __getitem__(self, index: Any) -> Any:
        """Return the Nash regret at some of the times."""
        return self.nash_regret[index]
