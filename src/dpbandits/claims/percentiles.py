"""Percentile bootstrap estimates: functions of several means, with the function's resamples."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from dpbandits.claims.estimates import Estimate, StudentEstimate, Values


@dataclass(frozen=True, eq=False)
class PercentileEstimate(Estimate):
    """A function of means with a percentile bootstrap interval.

    Attributes:
        resamples: the function's values on the resamples, sorted, NaN last.
        linear: the function to first order, as a t estimate of its own; percentiles of the
            bootstrap make up for half of the skewness only. Left out for what has no derivative.
    """

    resamples: Values = field(default_factory=lambda: np.empty(0))
    linear: StudentEstimate | None = None

    @property
    def is_random(self) -> bool:
        """True: the resamples are of runs."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return order statistics of the resamples, rounded outwards, or the linear ends beyond.

        The whole line where the resamples are too few to resolve alpha. A NaN counts as minus
        infinity for the lower end and as plus infinity for the upper one.
        """
        return self._widened(self._percentiles(alpha), alpha)

    def _widened(self, ends: tuple[float, float], alpha: float) -> tuple[float, float]:
        if self.linear is None:
            return ends
        low, high = self.linear.interval(alpha)
        return min(ends[0], low), max(ends[1], high)

    def _percentiles(self, alpha: float) -> tuple[float, float]:
        count = self.resamples.size
        rank = math.floor(alpha / 2.0 * (count + 1))
        if rank < 1:
            return -math.inf, math.inf
        undefined = int(np.isnan(self.resamples).sum())
        low = self.resamples[rank - 1 - undefined] if rank > undefined else -math.inf
        high = self.resamples[count - rank] if rank > undefined else math.inf
        return float(low), float(high)

    def with_tails(self) -> Estimate:
        """Return the same resamples with normal tails beyond what they resolve."""
        return TailedEstimate(self.value, self.runs, self.resamples, self.linear)


_RANK_RESOLVED = 10


@dataclass(frozen=True, eq=False)
class TailedEstimate(PercentileEstimate):
    """A percentile bootstrap interval that goes on with normal tails.

    Down to the level at which ten resamples lie beyond each end these are the percentiles; below
    it the distance of each end from the value grows like the quantile of the normal law. An end
    that coincides with the value, as where all resamples agree, tells nothing of a tail: there
    the interval has no end.
    """

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the interval of coverage 1 - alpha."""
        resolved = 2.0 * _RANK_RESOLVED / (self.resamples.size + 1)
        if alpha >= resolved or resolved >= 1.0:
            return super().interval(alpha)
        lo, hi = self._percentiles(resolved)
        growth = float(ndtri(alpha / 2.0) / ndtri(resolved / 2.0))
        below, above = growth * (self.value - lo), growth * (hi - self.value)
        low = self.value - below if below > 0.0 else -math.inf
        high = self.value + above if above > 0.0 else math.inf
        return self._widened((low, high), alpha)

    def with_tails(self) -> Estimate:
        """Return itself."""
        return self


def from_resamples(
    value: float, resamples: Values, runs: int, linear: StudentEstimate | None = None
) -> PercentileEstimate:
    """Return an estimate with the percentile interval of its resamples.

    Args:
        value: the estimate on the runs themselves.
        resamples: its values on the resamples, shape (resamples,), in any order; left unused
            where there are fewer than two runs, which tell nothing of their spread.
        runs: number of runs.
        linear: the value to first order; left out where it has no derivative.
    """
    kept = np.sort(resamples) if runs >= 2 else np.empty(0)
    return PercentileEstimate(float(value), runs, kept, linear)
